/* SPDX-License-Identifier: MIT */
/* Values: binary numbers of a fixed size, in bins laid over them. */
#include "binned_rows.h"

static size_t value_sample_size(const struct histogram *histogram)
{
    return histogram->type.size * histogram_channels(histogram);
}

static uint64_t values_most(const struct histogram *histogram, size_t len)
{
    return len / histogram->type.size;
}

const struct mode mode_values = {
    .id = MODE_VALUES,
    .name = "values",
    .is_binned = true,
    .counts_every = true,
    .has_types = true,
    .columns = BINNED_COLUMNS,
    .sample_size = value_sample_size,
    .samples_most = values_most,
    .row_kind = binned_row_kind,
    .label_row = binned_label_row,
    .add_statistics = binned_add_statistics,
};

void histogram_values(struct histogram *histogram, const struct value_type *type,
                      const struct binning *binning)
{
    *histogram = (struct histogram){.mode = &mode_values,
                                    .bins = ROWS(binning),
                                    .channels = 1,
                                    .type = *type,
                                    .binning = *binning};
}
