/* SPDX-License-Identifier: MIT */
/* Letters: ranges of ASCII letters are bins. Other bytes are samples too, and in no bin. */
#include "statistics.h"

#include <stdio.h>

static void letters_label_row(const struct histogram_spec *spec, size_t row,
                              struct row_label *label)
{
    unsigned lo = 'a' + (unsigned)row * spec->width, hi = lo + spec->width - 1;
    hi = hi < 'z' ? hi : 'z';
    row_label_set(label, lo, hi);
    if (lo == hi)
        snprintf(label->name, sizeof label->name, "%c", (int)lo);
    else
        snprintf(label->name, sizeof label->name, "%c-%c", (int)lo, (int)hi);
}

static void letters_add_statistics(const struct histogram_spec *spec, const struct tally *tally,
                                   struct statistics *to)
{
    const uint64_t letters = tally_counted(tally);
    statistics_add_count(to, "bytes", tally->samples);
    statistics_add_count(to, "letters", letters);
    statistics_add_rounded(to, "share", (double)letters / (double)tally->samples, 6);
    statistics_add_rounded(to, "entropy", statistics_entropy(tally->counts, spec->bins), 6);
}

const struct mode mode_letters = {
    .id = MODE_LETTERS,
    .name = "letters",
    .columns = {"bin", "count", NULL},
    .label_row = letters_label_row,
    .add_statistics = letters_add_statistics,
};

void histogram_spec_letters(struct histogram_spec *spec, unsigned width, bool fold)
{
    *spec = (struct histogram_spec){
        .mode = &mode_letters, .sample_size = 1, .width = width, .fold = fold};
    spec->bins = (LETTERS + width - 1) / width;
    for (unsigned value = 0; value < BYTE_VALUES; value++)
        spec->bin_of[value] = NO_BIN;
    for (unsigned letter = 0; letter < LETTERS; letter++) {
        const uint16_t bin = (uint16_t)(letter / width);
        spec->bin_of['a' + letter] = bin;
        if (fold)
            spec->bin_of['A' + letter] = bin;
    }
}
