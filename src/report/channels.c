/* SPDX-License-Identifier: MIT */
#include "channels.h"

void channels_write_names(struct table *table, char between)
{
    unsigned channels = histogram_channels(table->histogram);
    if (channels == 1) {
        writer_text(table->out, table->histogram->mode->columns[COUNT_COLUMN]);
        return;
    }
    for (unsigned channel = 0; channel < channels; channel++) {
        if (channel > 0)
            writer_char(table->out, between);
        writer_format(table->out, "channel%u", channel + 1);
    }
}

void channels_write_keys(struct table *table, char between)
{
    if (table->file)
        writer_text(table->out, "file");
    if (table->file && table->channel)
        writer_char(table->out, between);
    if (table->channel)
        writer_text(table->out, "channel");
}

void channels_write_counts(struct table *table, const struct row *row, char between)
{
    const size_t step = histogram_rows(table->histogram);
    for (size_t at = row->index; at < table->tally->bins; at += step) {
        if (at > row->index)
            writer_char(table->out, between);
        writer_count(table->out, table->tally->counts[at]);
    }
}

struct totals channel_totals(const struct table *table, unsigned channel)
{
    const struct histogram *histogram = table->histogram;
    const size_t rows = histogram_rows(histogram);
    const uint64_t *counts = table->tally->counts + channel * rows;
    struct totals totals = {.samples = table->tally->samples / histogram_channels(histogram)};
    for (size_t row = 0; row < rows; row++)
        totals.of[histogram->mode->row_kind(histogram, row)] += counts[row];
    return totals;
}
