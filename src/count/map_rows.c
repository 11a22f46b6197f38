/* SPDX-License-Identifier: MIT */
#include "map_rows.h"
#include "number.h"

/* Adds the rows of one channel, which begin at the row `begin` of the one and `to` of the other. */
static void map_channel(const struct binning *fine, const struct tally *tally, size_t begin,
                        const struct binning *coarse, uint64_t *to)
{
    const bool is_shown = !coarse->digits.scales; /* edges are decimals, not the nearest floats */
    const uint64_t *counts = tally->counts + begin;
    for (size_t row = 1;; row++) {
        row = tally_next_counted(tally, begin + row) - begin;
        if (row > fine->bins)
            break;
        const double edge =
            is_shown ? digits_shown_edge(&fine->digits, row - 1) : binning_edge(fine, row - 1);
        to[binning_row(coarse, edge)] += counts[row];
    }
    to[ROW_BELOW] += counts[ROW_BELOW];
    to[ROW_ABOVE(coarse)] += counts[ROW_ABOVE(fine)];
    to[ROW_INVALID(coarse)] += counts[ROW_INVALID(fine)];
}

void map_rows(const struct histogram *fine, const struct tally *tally,
              const struct histogram *coarse, struct tally *into)
{
    const size_t rows = histogram_rows(fine), wide_rows = histogram_rows(coarse);
    number_prepare();
    for (size_t channel = 0; channel < histogram_channels(fine); channel++)
        map_channel(&fine->binning, tally, channel * rows, &coarse->binning,
                    into->counts + channel * wide_rows);
    into->samples += tally->samples;
    into->bytes += tally->bytes;
    into->newlines += tally->newlines;
}
