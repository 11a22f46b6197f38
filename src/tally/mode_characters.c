/* SPDX-License-Identifier: MIT */
/* Characters of UTF-8: each code point is a bin, or each general category, or each block. Bytes
 * that are not well-formed are in the last row. */
#include "characters.h"
#include "statistics.h"

#include <stdio.h>

/* --- each code point --- */

static void characters_label_row(const struct histogram_spec *spec, size_t row,
                                 struct row_label *label)
{
    (void)spec;
    const unsigned character = (unsigned)row;
    row_label_set(label, character, character);
    snprintf(label->name, sizeof label->name, "U+%04X", character);
    character_show(character, label->note);
}

static void characters_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                      struct statistics *to)
{
    (void)spec;
    const uint64_t invalid = tally->counts[CHARACTER_INVALID];
    const uint64_t characters = tally->samples - invalid;
    uint64_t distinct = 0, ascii = 0, valid_bytes = 0;
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < CHARACTER_INVALID; row++) {
        const uint64_t count = tally->counts[row];
        distinct++;
        ascii += row < 0x80 ? count : 0;
        valid_bytes += count * character_size((uint32_t)row);
    }
    statistics_add_count(to, "bytes", tally->bytes);
    statistics_add_count(to, "characters", characters);
    statistics_add_count(to, "distinct", distinct);
    statistics_add_count(to, "invalid", invalid);
    statistics_add_count(to, "invalid-bytes", tally->bytes - valid_bytes);
    statistics_add_rounded(to, "entropy", statistics_entropy(tally->counts, CHARACTER_INVALID), 6);
    statistics_add_rounded(to, "ascii", (double)ascii / (double)characters, 6);
}

const struct mode mode_characters = {
    .id = MODE_CHARACTERS,
    .name = "characters",
    .has_characters = true,
    .counts_every = true,
    .is_sparse = true,
    .columns = {"bin", "count", "char"},
    .label_row = characters_label_row,
    .add_statistics = characters_add_statistics,
};

void histogram_spec_characters(struct histogram_spec *spec)
{
    *spec = (struct histogram_spec){.mode = &mode_characters, .width = 1, .bins = CHARACTER_ROWS};
}

/* --- groups of them --- */

static void groups_label_row(const struct histogram_spec *spec, size_t row, struct row_label *label)
{
    const struct character_groups *groups = spec->groups;
    snprintf(label->name, sizeof label->name, "%s", groups->names[row]);
    snprintf(label->note, sizeof label->note, "%s", groups->notes[row]);
}

static void groups_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                  struct statistics *to)
{
    const size_t groups = spec->groups->count;
    const uint64_t invalid = tally->counts[groups];
    uint64_t distinct = 0;
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < groups; row++)
        distinct++;
    statistics_add_count(to, "bytes", tally->bytes);
    statistics_add_count(to, "characters", tally->samples - invalid);
    statistics_add_count(to, "distinct", distinct);
    statistics_add_count(to, "invalid", invalid);
    statistics_add_rounded(to, "entropy", statistics_entropy(tally->counts, groups), 6);
}

const struct mode mode_categories = {
    .id = MODE_CATEGORIES,
    .name = "categories",
    .has_characters = true,
    .counts_every = true,
    .is_sparse = true,
    .columns = {"bin", "count", "category"},
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
    .label_row = groups_label_row,
    .add_statistics = groups_add_statistics,
};

static void build_groups(struct histogram_spec *spec, const struct mode *mode,
                         const struct character_groups *groups)
{
    *spec = (struct histogram_spec){
        .mode = mode, .width = 1, .bins = groups->count + 1, .groups = groups};
}

void histogram_spec_categories(struct histogram_spec *spec)
{
    build_groups(spec, &mode_categories, &character_categories);
}

void histogram_spec_blocks(struct histogram_spec *spec)
{
    build_groups(spec, &mode_blocks, &character_blocks);
}
