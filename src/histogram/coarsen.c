/* SPDX-License-Identifier: MIT */
#include "coarsen.h"

#include <stdlib.h>

/* What was seen, in units of 10^power: from the first to the last edge of the bins that hold
 * samples, the first rounded down and the last up. Every multiple of the unit between them is an
 * edge of the bins that were counted. */
struct seen {
    size_t first_bin, last_bin;
    int power;
    int64_t first, last;
    bool resolves; /* half a unit would make more bins than are wanted */
};

/* A decimal times `by`, in units of 10^power, rounded down. */
static int64_t units_of(struct digits_decimal decimal, int64_t by, int power)
{
    int64_t units = by * decimal.number, divisor = 1;
    for (; decimal.power > power; decimal.power--)
        units *= 10;
    for (; decimal.power < power && divisor < 1000000000; decimal.power++)
        divisor *= 10;
    return units / divisor - (units % divisor < 0);
}

/* Rounded up. */
static int64_t units_above(struct digits_decimal decimal, int64_t by, int power)
{
    return -units_of((struct digits_decimal){-decimal.number, decimal.power}, by, power);
}

/* Finds the first and the last bin that hold samples of any channel; false if there are none. */
static bool find_bins(const struct binning *binning, const struct tally *tally, struct seen *seen)
{
    size_t first = binning->bins, last = 0;
    for (size_t rows = 0; rows < tally->bins; rows += ROWS(binning)) {
        size_t low = tally_next_counted(tally, rows + 1) - rows - 1, high = binning->bins;
        if (low >= binning->bins)
            continue;
        while (tally->counts[rows + high] == 0)
            high--;
        first = low < first ? low : first;
        last = high > last ? high : last;
    }
    seen->first_bin = first;
    seen->last_bin = last - 1;
    return first < last;
}

/* The unit is the width of the bins farthest from zero; those nearer to it are as wide as a part of
 * that, or as wide. */
static void find_unit(const struct binning *binning, size_t most, struct seen *seen)
{
    const struct digits_layout *layout = &binning->digits;
    const size_t zero = binning->bins / 2;
    const struct digits_decimal from = digits_decimal_edge(layout, seen->first_bin);
    const struct digits_decimal to = digits_decimal_edge(layout, seen->last_bin + 1);
    const struct digits_decimal below = digits_decimal_edge(layout, seen->first_bin + 1);
    const struct digits_decimal above = digits_decimal_edge(layout, seen->last_bin);
    if (seen->first_bin == zero && seen->last_bin == zero) {
        seen->last = seen->resolves = true; /* nothing but zero: from 0 to 1 */
        return;
    }
    seen->power = seen->last_bin > zero ? above.power : below.power;
    if (seen->first_bin < zero && below.power > seen->power)
        seen->power = below.power;
    seen->first = units_of(from, 1, seen->power);
    seen->last = units_above(to, 1, seen->power);
    const int64_t halves = units_above(to, 2, seen->power) - units_of(from, 2, seen->power);
    seen->resolves = (uint64_t)halves > most;
}

/* Widens the bins to 1, 2 or 5 times a power of ten until there are not too many. Then first and
 * last are in widths. Returns the width, in units. */
static int64_t choose_width(struct seen *seen, size_t most)
{
    const int64_t from = seen->first, to = seen->last;
    const int64_t wanted = from < 0 && to > 0 && most < 2 ? 2 : (int64_t)most;
    int64_t width = 1, ten = 1;
    for (unsigned step = 0; seen->last - seen->first > wanted; step++) {
        ten *= step % 3 == 2 ? 10 : 1;
        width = step % 3 == 0 ? 2 * ten : step % 3 == 1 ? 5 * ten : ten;
        seen->first = from / width - (from % width < 0);
        seen->last = to / width + (to % width > 0);
    }
    return width;
}

/* The edges, as doubles; NULL if memory is short. */
static double *make_edges(const struct seen *seen, int64_t width)
{
    const size_t count = (size_t)(seen->last - seen->first) + 1;
    double *edges = malloc(count * sizeof *edges);
    for (size_t i = 0; edges && i < count; i++)
        edges[i] = digits_nearest(
            (struct digits_decimal){(seen->first + (int64_t)i) * width, seen->power});
    return edges;
}

/* Adds up the bins of a channel, whose lower edges ascend as those they are compared with. */
static void add_up_channel(const struct binning *fine, const struct tally *tally, size_t channel,
                           const struct seen *seen, const double *edges, const struct binning *wide,
                           struct tally *sums)
{
    const size_t begin = channel * ROWS(fine);
    const uint64_t *counts = tally->counts + begin;
    uint64_t *to = sums->counts + channel * ROWS(wide);
    size_t row = 0; /* how many of the edges are not above the bin's */
    for (size_t from = 1 + seen->first_bin;; from++) {
        from = tally_next_counted(tally, begin + from) - begin;
        if (from > 1 + seen->last_bin)
            break;
        const double edge = digits_shown_edge(&fine->digits, from - 1);
        while (row <= wide->bins && edges[row] <= edge)
            row++;
        to[row] += counts[from];
    }
    to[ROW_BELOW] = counts[ROW_BELOW];
    to[ROW_ABOVE(wide)] = counts[ROW_ABOVE(fine)];
    to[ROW_INVALID(wide)] = counts[ROW_INVALID(fine)];
}

static void add_up(const struct histogram *histogram, const struct tally *tally,
                   const struct seen *seen, const double *edges, const struct histogram *coarse,
                   struct tally *sums)
{
    for (size_t channel = 0; channel < histogram_channels(histogram); channel++)
        add_up_channel(&histogram->binning, tally, channel, seen, edges, &coarse->binning, sums);
    sums->samples = tally->samples;
    sums->bytes = tally->bytes;
    sums->newlines = tally->newlines;
}

enum coarsen_outcome coarsen(const struct histogram *histogram, const struct tally *tally,
                             size_t most, struct histogram *coarse, struct tally *sums)
{
    struct seen seen = {.power = 0};
    if (!find_bins(&histogram->binning, tally, &seen))
        return COARSEN_EMPTY;
    find_unit(&histogram->binning, most, &seen);
    double *edges = make_edges(&seen, choose_width(&seen, most));
    *coarse = *histogram;
    coarse->has_moments = false;
    if (!edges ||
        binning_edges(&coarse->binning, edges, (size_t)(seen.last - seen.first) + 1) != BINNING_OK)
        goto no_memory;
    coarse->bins = ROWS(&coarse->binning) * histogram_channels(histogram);
    if (tally_open(sums, coarse) != 0) {
        binning_free(&coarse->binning);
        goto no_memory;
    }
    add_up(histogram, tally, &seen, edges, coarse, sums);
    free(edges);
    return seen.resolves ? COARSEN_DONE : COARSEN_LIMITED;
no_memory:
    free(edges);
    return COARSEN_NO_MEMORY;
}
