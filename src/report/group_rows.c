/* SPDX-License-Identifier: MIT */
#include "group_rows.h"

#include "src/tally/statistics.h"

static void label_row(const struct histogram_spec *spec, size_t row, struct row_label *label)
{
    (void)spec;
    (void)row;
    (void)label;
}

static void add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                           struct statistics *to)
{
    statistics_add_count(to, spec->mode->name, tally->samples);
    statistics_add_count(to, "invalid", tally->samples - tally_counted(tally));
    statistics_add_count(to, "keys", tally->bins);
    statistics_add_rounded(to, "entropy", statistics_entropy(tally->counts, tally->bins), 6);
}

int group_rows_make(struct group_rows *rows, const struct histogram_spec *spec,
                    const struct groups *groups)
{
    rows->mode = *spec->mode;
    rows->mode.columns[0] = groups->columns[GROUP_NAME];
    rows->mode.is_sparse = true;
    rows->mode.label_row = label_row;
    rows->mode.add_statistics = add_statistics;
    rows->spec = *spec;
    rows->spec.mode = &rows->mode;
    rows->spec.bins = groups->count;
    rows->spec.also = NULL;
    if (tally_open(&rows->tally, &rows->spec) != 0)
        return -1;
    for (size_t group = 0; group < groups->count; group++) {
        rows->tally.counts[group] = groups_samples(groups, group);
        rows->tally.samples += rows->tally.counts[group];
    }
    return 0;
}

void group_rows_free(struct group_rows *rows)
{
    tally_close(&rows->tally);
}
