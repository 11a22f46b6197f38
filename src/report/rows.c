/* SPDX-License-Identifier: MIT */
#include "format.h"

#define ROWS_CUT_MAX 512 /* rows that rows_cut leaves, at most */

struct totals rows_add_up(const struct histogram_spec *spec, const struct tally *tally)
{
    const size_t rows = histogram_spec_rows(spec);
    struct totals totals = {.samples = tally->samples};
    for (size_t first = 0; first < tally->bins; first += rows) {
        /* In each channel, rows that are no bins come before all bins or after them. */
        size_t at = first, end = first + rows;
        enum row_kind kind;
        for (; at < end && (kind = histogram_spec_row_kind(spec, at)) != ROW_KIND_BIN; at++)
            totals.of[kind] += tally->counts[at];
        for (; end > at && (kind = histogram_spec_row_kind(spec, end - 1)) != ROW_KIND_BIN; end--)
            totals.of[kind] += tally->counts[end - 1];
        totals.of[ROW_KIND_BIN] += tally_sum(tally, at, end);
    }
    return totals;
}

struct totals rows_add_up_groups(const struct groups *groups, const struct tally *tally)
{
    struct totals totals = {.samples = tally->samples};
    if (groups->rest != SIZE_MAX)
        totals.of[ROW_KIND_REST] = tally->counts[groups->rest];
    if (groups->missing != SIZE_MAX)
        totals.of[ROW_KIND_INVALID] = tally->counts[groups->missing];
    totals.of[ROW_KIND_BIN] =
        tally_counted(tally) - totals.of[ROW_KIND_REST] - totals.of[ROW_KIND_INVALID];
    return totals;
}

/* True if each possible value of a sample is a bin of its own; most may never occur. */
static bool counts_values(const struct histogram_spec *spec)
{
    const struct binning *binning = &spec->binning;
    if (!spec->mode->is_binned)
        return spec->mode->counts_every && spec->width == 1;
    return binning->is_whole && binning->kind == BINNING_EQUAL &&
           binning->span == (int128)binning->bins;
}

/* Decides which rows are shown though they are empty. Kinds are looked up here, not for each of a
 * hundred thousand rows: rows that are no bins come before all bins or after them. */
static void choose_empty_rows(struct rows *rows, enum empty_rows empty)
{
    const struct histogram_spec *spec = rows->spec;
    const bool is_sparse = spec->mode->is_sparse || spec->binning.kind >= BINNING_DECADES;
    rows->bins_begin = 0;
    rows->bins_end = rows->invalid = histogram_spec_rows(spec);
    while (rows->bins_begin < rows->bins_end &&
           histogram_spec_row_kind(spec, rows->bins_begin) != ROW_KIND_BIN)
        rows->bins_begin++;
    for (; rows->bins_end > rows->bins_begin; rows->bins_end--) {
        enum row_kind kind = histogram_spec_row_kind(spec, rows->bins_end - 1);
        if (kind == ROW_KIND_BIN)
            break;
        if (kind == ROW_KIND_INVALID)
            rows->invalid = rows->bins_end - 1;
    }
    rows->empty_others = empty == EMPTY_SHOWN || (empty == EMPTY_DEFAULT && !is_sparse);
    rows->empty_invalid = empty == EMPTY_SHOWN || empty == EMPTY_DEFAULT;
    rows->empty_bins = rows->empty_others;
    if (empty == EMPTY_DEFAULT || empty == EMPTY_IN_PICTURE)
        tally_seen_decades(rows->tally, spec, rows->between);
    if (empty == EMPTY_IN_PICTURE)
        rows->empty_bins = !is_sparse && !counts_values(spec);
}

void rows_begin(struct rows *rows, const struct histogram_spec *spec, const struct tally *tally,
                const struct row_names *names, enum empty_rows empty)
{
    *rows = (struct rows){.spec = spec,
                          .tally = tally,
                          .names = *names,
                          .count = histogram_spec_rows(spec),
                          .min_count = UINT64_MAX};
    choose_empty_rows(rows, empty);
}

/* Returns the row's count in all channels. */
static uint64_t row_count(const struct rows *rows, size_t row)
{
    uint64_t sum = 0;
    for (size_t at = row; at < rows->tally->bins; at += rows->count)
        sum += rows->tally->counts[at];
    return sum;
}

static bool is_between(const struct rows *rows, size_t row)
{
    const struct row_range *below = &rows->between[0], *above = &rows->between[1];
    return (row >= below->begin && row < below->end) || (row >= above->begin && row < above->end);
}

static bool is_shown(const struct rows *rows, size_t row)
{
    if (row_count(rows, row) > 0)
        return true;
    if (row >= rows->bins_begin && row < rows->bins_end)
        return rows->empty_bins || is_between(rows, row);
    return row == rows->invalid ? rows->empty_invalid : rows->empty_others;
}

/* Returns the first row from `row` on that may be shown: empty bins are skipped at once. */
static size_t skip_empty(const struct rows *rows, size_t row)
{
    bool has_channels = histogram_spec_channels(rows->spec) > 1;
    bool has_decades = rows->spec->binning.decade_bins > 0;
    if (rows->empty_bins || has_channels || has_decades || row < rows->bins_begin ||
        row >= rows->bins_end)
        return row;
    row = tally_next_counted(rows->tally, row);
    return row < rows->bins_end ? row : rows->bins_end;
}

/* True if rows_cut leaves out a row that would be shown. */
static bool is_cut(struct rows *rows, size_t row, uint64_t count)
{
    if (row >= rows->cut.begin && row < rows->cut.end)
        return true;
    if (count != rows->min)
        return count < rows->min;
    if (rows->min_count == 0)
        return true;
    rows->min_count--;
    return false;
}

static void name_row(struct rows *rows, size_t row)
{
    const struct row_names *names = &rows->names;
    histogram_spec_label_row(rows->spec, row, &rows->row.label);
    rows->row.name = rows->row.label.name;
    if (!names->groups)
        return;
    groups_show_name(names->groups, row, names->text);
    rows->row.name = names->text;
    if (row == names->groups->rest)
        rows->row.label.kind = ROW_KIND_REST;
    if (row == names->groups->missing)
        rows->row.label.kind = ROW_KIND_INVALID;
}

const struct row *rows_next(struct rows *rows)
{
    const size_t end = rows->count;
    for (size_t row = rows->next; (row = skip_empty(rows, row)) < end; row++) {
        if (!is_shown(rows, row))
            continue;
        rows->row.count = row_count(rows, row);
        rows->row.running += rows->row.count;
        if (is_cut(rows, row, rows->row.count))
            continue;
        name_row(rows, row);
        rows->row.index = row;
        rows->next = row + 1;
        return &rows->row;
    }
    rows->next = end;
    return NULL;
}

/* Inserts a count into a list of the `max` largest ones, in descending order. */
static void insert_largest(uint64_t *largest, size_t *len, size_t max, uint64_t count)
{
    if (*len == max && count <= largest[max - 1])
        return;
    size_t at = *len < max ? (*len)++ : max - 1;
    for (; at > 0 && largest[at - 1] < count; at--)
        largest[at] = largest[at - 1];
    largest[at] = count;
}

size_t rows_cut(struct rows *rows, size_t max)
{
    struct rows walk = *rows;
    const struct row *row;
    uint64_t largest[ROWS_CUT_MAX];
    size_t shown = 0, len = 0;
    max = max < ROWS_CUT_MAX ? max : ROWS_CUT_MAX;
    for (; (row = rows_next(&walk)); shown++)
        insert_largest(largest, &len, max, row->count);
    if (shown <= max)
        return 0;
    const struct groups *groups = rows->names.groups;
    if (groups && groups->is_ordered) { /* the last ones, but neither the rest nor the missing */
        const size_t before = groups->rest < groups->missing ? groups->rest : groups->missing;
        const size_t end = before < rows->count ? before : rows->count;
        const size_t cut = shown - (max - 1) < end ? shown - (max - 1) : end;
        rows->cut = (struct row_range){end - cut, end};
        return cut;
    }
    rows->min = largest[max - 2];
    rows->min_count = 0;
    for (len = max - 1; len > 0 && largest[len - 1] == rows->min; len--)
        rows->min_count++;
    return shown - (max - 1);
}

/* --- rows that are groups --- */

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
