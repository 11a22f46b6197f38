/* SPDX-License-Identifier: MIT */
/* Numbers: decimal numbers in text, as doubles, in bins laid over these. */
#include "binned_rows.h"

/* Tokens are as long as they are. */
static size_t token_sample_size(const struct histogram *histogram)
{
    (void)histogram;
    return 0;
}

/* Each token takes a byte, and one of white space stands between two. */
static uint64_t tokens_most(const struct histogram *histogram, size_t len)
{
    (void)histogram;
    return ((uint64_t)len + 1) / 2;
}

const struct mode mode_numbers = {
    .id = MODE_NUMBERS,
    .name = "numbers",
    .is_text = true,
    .is_binned = true,
    .counts_every = true,
    .columns = BINNED_COLUMNS,
    .sample_size = token_sample_size,
    .samples_most = tokens_most,
    .row_kind = binned_row_kind,
    .label_row = binned_label_row,
    .add_statistics = binned_add_statistics,
};

void histogram_numbers(struct histogram *histogram, const struct binning *binning)
{
    *histogram = (struct histogram){.mode = &mode_numbers,
                                    .bins = ROWS(binning),
                                    .type = *value_type_find("f64"),
                                    .binning = *binning};
}
