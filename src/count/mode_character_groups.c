/* SPDX-License-Identifier: MIT */
/* Groups of characters: each general category of Unicode, or each block, is a bin, and what is not
 * well-formed UTF-8 is in a row of its own. */
#include "characters.h"
#include "statistics.h"
#include "histogram.h"

#include <stdio.h>

/* Characters have 1 to 4 bytes. */
static size_t groups_sample_size(const struct histogram *histogram)
{
    (void)histogram;
    return 0;
}

/* Each byte may be a character, or invalid by itself. */
static uint64_t groups_most(const struct histogram *histogram, size_t len)
{
    (void)histogram;
    return len;
}

static enum row_kind group_row_kind(const struct histogram *histogram, size_t row)
{
    return row == histogram->groups->count ? ROW_KIND_INVALID : ROW_KIND_BIN;
}

static void groups_label_row(const struct histogram *histogram, size_t row, struct row_label *label)
{
    const struct character_groups *groups = histogram->groups;
    if (row == groups->count) {
        *label = (struct row_label){.kind = ROW_KIND_INVALID, .name = "invalid"};
        return;
    }
    label->kind = ROW_KIND_BIN;
    snprintf(label->name, sizeof label->name, "%s", groups->names[row]);
    snprintf(label->note, sizeof label->note, "%s", groups->notes[row]);
}

static void groups_add_statistics(const struct histogram *histogram, const struct tally *tally,
                                  struct statistics *statistics)
{
    const size_t groups = histogram->groups->count;
    const uint64_t invalid = tally->counts[groups];
    uint64_t distinct = 0;
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < groups; row++)
        distinct++;
    statistics_add_count(statistics, "bytes", tally->bytes);
    statistics_add_count(statistics, "characters", tally->samples - invalid);
    statistics_add_count(statistics, "distinct", distinct);
    statistics_add_count(statistics, "invalid", invalid);
    statistics_add_rounded(statistics, "entropy", statistics_entropy(tally->counts, groups), 6);
}

const struct mode mode_categories = {
    .id = MODE_CATEGORIES,
    .name = "categories",
    .has_characters = true,
    .counts_every = true,
    .is_sparse = true,
    .columns = {"bin", "count", "category"},
    .sample_size = groups_sample_size,
    .samples_most = groups_most,
    .row_kind = group_row_kind,
    .label_row = groups_label_row,
    .add_statistics = groups_add_statistics,
};

const struct mode mode_blocks = {
    .id = MODE_BLOCKS,
    .name = "blocks",
    .has_characters = true,
    .counts_every = true,
    .is_sparse = true,
    .columns = {"bin", "count", "range"},
    .sample_size = groups_sample_size,
    .samples_most = groups_most,
    .row_kind = group_row_kind,
    .label_row = groups_label_row,
    .add_statistics = groups_add_statistics,
};

static void lay(struct histogram *histogram, const struct mode *mode,
                const struct character_groups *groups)
{
    *histogram =
        (struct histogram){.mode = mode, .width = 1, .bins = groups->count + 1, .groups = groups};
}

void histogram_categories(struct histogram *histogram)
{
    lay(histogram, &mode_categories, &character_categories);
}

void histogram_blocks(struct histogram *histogram)
{
    lay(histogram, &mode_blocks, &character_blocks);
}
