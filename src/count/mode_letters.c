/* SPDX-License-Identifier: MIT */
/* Letters: ranges of ASCII letters are bins, and any other byte belongs to none. */
#include "byte_rows.h"
#include "statistics.h"

#include <stdio.h>

static void letters_label_row(const struct histogram *histogram, size_t row,
                              struct row_label *label)
{
    unsigned lo = 'a' + (unsigned)row * histogram->width, hi = lo + histogram->width - 1;
    hi = hi < 'z' ? hi : 'z';
    byte_label_row(lo, hi, label);
    if (lo == hi)
        snprintf(label->name, sizeof label->name, "%c", (int)lo);
    else
        snprintf(label->name, sizeof label->name, "%c-%c", (int)lo, (int)hi);
}

static void letters_add_statistics(const struct histogram *histogram, const struct tally *tally,
                                   struct statistics *statistics)
{
    uint64_t letters = tally_counted(tally);
    statistics_add_count(statistics, "bytes", tally->samples);
    statistics_add_count(statistics, "letters", letters);
    statistics_add_rounded(statistics, "share", (double)letters / (double)tally->samples, 6);
    statistics_add_rounded(statistics, "entropy",
                           statistics_entropy(tally->counts, histogram->bins), 6);
}

const struct mode mode_letters = {
    .id = MODE_LETTERS,
    .name = "letters",
    .columns = {"bin", "count", NULL},
    .sample_size = byte_sample_size,
    .samples_most = byte_samples_most,
    .row_kind = byte_row_kind,
    .label_row = letters_label_row,
    .add_statistics = letters_add_statistics,
};

void histogram_letters(struct histogram *histogram, unsigned width, bool fold)
{
    *histogram = (struct histogram){.mode = &mode_letters, .width = width, .fold = fold};
    histogram->bins = (LETTERS + width - 1) / width;
    for (unsigned value = 0; value < 256; value++)
        histogram->bin_of[value] = NO_BIN;
    for (unsigned letter = 0; letter < LETTERS; letter++) {
        uint16_t bin = (uint16_t)(letter / width);
        histogram->bin_of['a' + letter] = bin;
        if (fold)
            histogram->bin_of['A' + letter] = bin;
    }
}
