/* SPDX-License-Identifier: MIT */
/* Characters: each code point of Unicode is a bin, and what is not well-formed UTF-8 is in a row of
 * its own. */
#include "characters.h"
#include "statistics.h"
#include "histogram.h"

#include <stdio.h>

/* Characters have 1 to 4 bytes. */
static size_t character_sample_size(const struct histogram *histogram)
{
    (void)histogram;
    return 0;
}

/* Each byte may be a character, or invalid by itself. */
static uint64_t characters_most(const struct histogram *histogram, size_t len)
{
    (void)histogram;
    return len;
}

static enum row_kind character_row_kind(const struct histogram *histogram, size_t row)
{
    (void)histogram;
    return row == CHARACTER_INVALID ? ROW_KIND_INVALID : ROW_KIND_BIN;
}

static void characters_label_row(const struct histogram *histogram, size_t row,
                                 struct row_label *label)
{
    (void)histogram;
    if (row == CHARACTER_INVALID) {
        *label = (struct row_label){.kind = ROW_KIND_INVALID, .name = "invalid"};
        return;
    }
    uint32_t character = (uint32_t)row;
    label->kind = ROW_KIND_BIN;
    snprintf(label->name, sizeof label->name, "U+%04X", (unsigned)character);
    snprintf(label->lo, sizeof label->lo, "%u", (unsigned)character);
    snprintf(label->hi, sizeof label->hi, "%u", (unsigned)character);
    character_show(character, label->note);
}

static void characters_add_statistics(const struct histogram *histogram, const struct tally *tally,
                                      struct statistics *statistics)
{
    (void)histogram;
    const uint64_t invalid = tally->counts[CHARACTER_INVALID];
    uint64_t distinct = 0, ascii = 0, valid_bytes = 0;
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < CHARACTER_INVALID; row++) {
        const uint64_t count = tally->counts[row];
        distinct++;
        ascii += row < 0x80 ? count : 0;
        valid_bytes += count * character_size((uint32_t)row);
    }
    const uint64_t characters = tally->samples - invalid;
    statistics_add_count(statistics, "bytes", tally->bytes);
    statistics_add_count(statistics, "characters", characters);
    statistics_add_count(statistics, "distinct", distinct);
    statistics_add_count(statistics, "invalid", invalid);
    statistics_add_count(statistics, "invalid-bytes", tally->bytes - valid_bytes);
    statistics_add_rounded(statistics, "entropy",
                           statistics_entropy(tally->counts, CHARACTER_INVALID), 6);
    statistics_add_rounded(statistics, "ascii", (double)ascii / (double)characters, 6);
}

const struct mode mode_characters = {
    .id = MODE_CHARACTERS,
    .name = "characters",
    .has_characters = true,
    .counts_every = true,
    .is_sparse = true,
    .columns = {"bin", "count", "char"},
    .sample_size = character_sample_size,
    .samples_most = characters_most,
    .row_kind = character_row_kind,
    .label_row = characters_label_row,
    .add_statistics = characters_add_statistics,
};

void histogram_characters(struct histogram *histogram)
{
    *histogram = (struct histogram){.mode = &mode_characters, .width = 1, .bins = CHARACTER_ROWS};
}
