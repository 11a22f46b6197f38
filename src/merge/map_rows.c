/* SPDX-License-Identifier: MIT */
#include "map_rows.h"

#include "src/histogram/number.h"

void map_rows(const struct histogram *fine, const struct tally *tally,
              const struct histogram *coarse, struct tally *into)
{
    const struct binning *from = &fine->binning, *to = &coarse->binning;
    const bool is_shown = !to->digits.scales; /* edges are decimals, and not the nearest floats */
    number_prepare();
    for (size_t row = 1; (row = tally_next_counted(tally, row)) <= from->bins; row++) {
        const double edge =
            is_shown ? digits_shown_edge(&from->digits, row - 1) : binning_edge(from, row - 1);
        into->counts[binning_row(to, edge)] += tally->counts[row];
    }
    into->counts[ROW_BELOW] += tally->counts[ROW_BELOW];
    into->counts[ROW_ABOVE(to)] += tally->counts[ROW_ABOVE(from)];
    into->counts[ROW_INVALID(to)] += tally->counts[ROW_INVALID(from)];
    into->samples += tally->samples;
}
