/* SPDX-License-Identifier: MIT */
#include "coarsen.h"
#include "number.h"

#include <math.h>
#include <stdlib.h>

/* --- counting again --- */

/* Adds the rows of one channel, which begin at row `begin` of the tally, to counts of wider bins.
 */
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

/* Counts a tally again by a binning, which belongs to the rows from then on, or is freed. */
static enum coarsen_outcome count_again(const struct histogram *histogram,
                                        const struct tally *tally, struct binning *binning,
                                        struct coarse_rows *rows)
{
    rows->histogram = *histogram;
    rows->histogram.has_moments = false;
    rows->histogram.also = NULL;
    rows->histogram.binning = *binning;
    rows->histogram.bins = ROWS(binning) * histogram_channels(histogram);
    if (tally_open(&rows->tally, &rows->histogram) != 0) {
        binning_free(binning);
        return COARSEN_NO_MEMORY;
    }
    map_rows(histogram, tally, &rows->histogram, &rows->tally);
    return COARSEN_DONE;
}

/* --- what was seen --- */

/* The range of the samples in bins, in units of 10^power: the first edge rounded down and the last
 * up. Every multiple of the unit between them is an edge of the bins that were counted. */
struct seen {
    size_t first_bin, last_bin;
    size_t bins;   /* with samples */
    bool is_whole; /* all samples are whole numbers, as far as is known */
    int power;
    int64_t first, last;
    int64_t least; /* width of a bin, in units */
    bool resolves; /* narrower bins would be too many, or tell no more */
};

/* Returns a decimal times `by`, in units of 10^power, rounded down. */
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

/* True if bin k begins at a whole number. A bin narrower than 1 contains one only if it does. */
static bool begins_whole(const struct binning *binning, size_t k)
{
    struct digits_decimal edge = digits_decimal_edge(&binning->digits, k);
    for (; edge.power < 0 && edge.number % 10 == 0 && edge.number != 0; edge.power++)
        edge.number /= 10;
    return edge.power >= 0 || (edge.number == 0 && binning_is_zero_alone(binning, k));
}

/* Finds the bins with samples of any channel. False if there are none. */
static bool find_bins(const struct binning *binning, const struct tally *tally, struct seen *seen)
{
    seen->is_whole = true;
    for (size_t rows = 0; rows < tally->bins; rows += ROWS(binning))
        for (size_t row = rows;; row++) {
            row = tally_next_counted(tally, row + 1) - 1;
            if (row >= rows + binning->bins)
                break;
            const size_t bin = row - rows;
            seen->first_bin = seen->bins == 0 || bin < seen->first_bin ? bin : seen->first_bin;
            seen->last_bin = bin > seen->last_bin ? bin : seen->last_bin;
            seen->is_whole = seen->is_whole && begins_whole(binning, bin);
            seen->bins++;
        }
    return seen->bins > 0;
}

/* True if all samples seem to be whole numbers. Bins do not tell 5 from 5.001; the least and the
 * greatest sample do, or else several bins that all begin at whole numbers. */
static bool are_whole(const struct seen *seen, const struct moments *moments)
{
    if (!moments || !moments->any)
        return seen->is_whole && seen->bins > 1;
    return seen->is_whole && !(moments->min < floor(moments->min)) &&
           !(moments->min > floor(moments->min)) && !(moments->max > floor(moments->max));
}

/* Sets the unit to the width of the bins farthest from zero; nearer ones are not wider. */
static void find_unit(const struct binning *binning, size_t most, struct seen *seen)
{
    const struct digits_layout *layout = &binning->digits;
    const size_t zero = binning->bins / 2;
    const struct digits_decimal from = digits_decimal_edge(layout, seen->first_bin);
    const struct digits_decimal to = digits_decimal_edge(layout, seen->last_bin + 1);
    const struct digits_decimal below = digits_decimal_edge(layout, seen->first_bin + 1);
    const struct digits_decimal above = digits_decimal_edge(layout, seen->last_bin);
    seen->least = 1;
    if (seen->first_bin == zero && seen->last_bin == zero) {
        seen->last = seen->resolves = true; /* nothing but zero: from 0 to 1 */
        return;
    }
    seen->power = seen->last_bin > zero ? above.power : below.power;
    if (seen->first_bin < zero && below.power > seen->power)
        seen->power = below.power;
    for (int power = seen->power; seen->is_whole && power < 0; power++)
        seen->least *= 10;
    seen->first = units_of(from, 1, seen->power);
    seen->last = units_above(to, 1, seen->power) + (seen->last_bin == zero); /* which has 0 */
    const int64_t halves = units_above(to, 2, seen->power) - units_of(from, 2, seen->power);
    seen->resolves = (uint64_t)halves > most || (seen->is_whole && seen->power <= 0);
}

/* False if no sample is in a bin. */
static bool seen_find(const struct histogram *histogram, const struct tally *tally, size_t most,
                      struct seen *seen)
{
    *seen = (struct seen){.power = 0};
    if (!find_bins(&histogram->binning, tally, seen))
        return false;
    seen->is_whole = are_whole(seen, tally->moments);
    find_unit(&histogram->binning, most, seen);
    return true;
}

/* Widens the bins to 1, 2 or 5 times a power of ten until they are wide and few enough, and makes
 * first and last multiples of that. Returns the width, in units. */
static int64_t choose_width(struct seen *seen, size_t most)
{
    const int64_t from = seen->first, to = seen->last;
    const int64_t wanted = from < 0 && to > 0 && most < 2 ? 2 : (int64_t)most;
    int64_t width = 1, ten = 1;
    for (unsigned step = 0; seen->last - seen->first > wanted || width < seen->least; step++) {
        ten *= step % 3 == 2 ? 10 : 1;
        width = step % 3 == 0 ? 2 * ten : step % 3 == 1 ? 5 * ten : ten;
        seen->first = from / width - (from % width < 0);
        seen->last = to / width + (to % width > 0);
    }
    return width;
}

static enum binning_error lay_equal(const struct seen *seen, int64_t width, struct binning *binning)
{
    const size_t count = (size_t)(seen->last - seen->first) + 1;
    double *edges = malloc(count * sizeof *edges);
    if (!edges)
        return BINNING_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        edges[i] = digits_nearest(
            (struct digits_decimal){(seen->first + (int64_t)i) * width, seen->power});
    const enum binning_error error = binning_edges(binning, edges, count);
    free(edges);
    return error;
}

enum coarsen_outcome coarsen_equal(const struct histogram *histogram, const struct tally *tally,
                                   size_t most, struct coarse_rows *rows)
{
    struct seen seen;
    struct binning binning;
    if (!seen_find(histogram, tally, most, &seen))
        return COARSEN_AS_COUNTED;
    const int64_t width = choose_width(&seen, most);
    if (lay_equal(&seen, width, &binning) != BINNING_OK)
        return COARSEN_NO_MEMORY;
    return count_again(histogram, tally, &binning, rows);
}

enum coarsen_outcome coarsen_decades(const struct histogram *histogram, const struct tally *tally,
                                     unsigned parts, struct coarse_rows *rows)
{
    struct binning binning;
    if (binning_decades(&binning, parts) != BINNING_OK)
        return COARSEN_NO_MEMORY;
    return count_again(histogram, tally, &binning, rows);
}

void coarse_rows_free(struct coarse_rows *rows)
{
    binning_free(&rows->histogram.binning);
    tally_close(&rows->tally);
}

/* --- pictures --- */

/* How the samples of all channels spread over bins. */
struct spread {
    uint64_t samples, largest; /* in all bins, and in the fullest */
    size_t bins;               /* with samples */
};

static struct spread spread_of(const struct histogram *histogram, const struct tally *tally)
{
    struct spread spread = {.bins = 0};
    const size_t rows = histogram_rows(histogram);
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < tally->bins; row++) {
        if (histogram_row_kind(histogram, row % rows) != ROW_KIND_BIN)
            continue;
        const uint64_t count = tally->counts[row];
        spread.samples += count;
        spread.largest = count > spread.largest ? count : spread.largest;
        spread.bins++;
    }
    return spread;
}

/* Returns how many rows of decades are shown. */
static size_t decades_shown(const struct coarse_rows *rows, size_t bins)
{
    struct row_range seen[2];
    size_t shown = bins;
    tally_seen_decades(&rows->tally, &rows->histogram, seen);
    for (unsigned side = 0; side < 2; side++)
        for (size_t row = seen[side].begin; row < seen[side].end; row++)
            shown += rows->tally.counts[row] == 0;
    return shown;
}

/* Replaces equal bins by decades if these are few enough and spread the samples more. */
static enum coarsen_outcome try_decades(const struct histogram *histogram,
                                        const struct tally *tally, size_t most,
                                        struct coarse_rows *rows)
{
    const uint64_t largest = spread_of(&rows->histogram, &rows->tally).largest;
    for (unsigned parts = DECADE_PARTS; parts > 0; parts -= 2) {
        struct coarse_rows decades;
        const enum coarsen_outcome outcome = coarsen_decades(histogram, tally, parts, &decades);
        if (outcome != COARSEN_DONE) {
            coarse_rows_free(rows);
            return outcome;
        }
        const struct spread spread = spread_of(&decades.histogram, &decades.tally);
        if (decades_shown(&decades, spread.bins) <= most && spread.largest < largest) {
            coarse_rows_free(rows);
            *rows = decades;
            return COARSEN_DONE;
        }
        coarse_rows_free(&decades);
    }
    return COARSEN_DONE;
}

enum coarsen_outcome coarsen_picture(const struct histogram *histogram, const struct tally *tally,
                                     size_t most, struct coarse_rows *rows)
{
    const struct spread counted = spread_of(histogram, tally);
    if (counted.bins <= most)
        return COARSEN_AS_COUNTED;
    const enum coarsen_outcome outcome = coarsen_equal(histogram, tally, most, rows);
    if (outcome != COARSEN_DONE)
        return outcome;
    const uint64_t largest = spread_of(&rows->histogram, &rows->tally).largest;
    if (counted.samples - largest >= counted.samples / 10)
        return COARSEN_DONE;
    return try_decades(histogram, tally, most, rows);
}

/* --- the range that narrower bins need --- */

/* Returns the range of the samples in bins, by the edges of these if moments do not tell. */
static struct seen_range samples_range(const struct histogram *histogram, const struct tally *tally,
                                       const struct seen *seen)
{
    const struct binning *binning = &histogram->binning;
    const struct moments *moments = tally->moments;
    struct seen_range range = {
        digits_shown_edge(&binning->digits, seen->first_bin),
        nextafter(digits_shown_edge(&binning->digits, seen->last_bin + 1), -HUGE_VAL)};
    if (moments && moments->any && moments->min >= range.min)
        range.min = moments->min;
    if (moments && moments->any && moments->max < range.max)
        range.max = moments->max;
    return range;
}

/* Returns a number in units of 10^power, rounded down. */
static int64_t floor_units(double value, int power)
{
    return (int64_t)floor(power < 0 ? value * pow(10, -power) : value / pow(10, power));
}

/* Returns the power of ten of which bins of the range are a multiple wide: about a hundredth of
 * their width, but no finer than doubles are. */
static int range_power(const struct seen_range *range, size_t most, bool is_whole)
{
    const double farthest = fmax(fabs(range->min), fabs(range->max));
    const int of_width = (int)floor(log10((range->max - range->min) / (double)most)) - 2;
    const int least = (int)floor(log10(farthest)) - 16;
    const int power = of_width > least ? of_width : least;
    return is_whole && power < 0 ? 0 : power;
}

bool coarsen_range(const struct histogram *histogram, const struct tally *tally, size_t most,
                   struct seen_range *range)
{
    struct seen seen;
    if (!seen_find(histogram, tally, most, &seen) || seen.resolves)
        return false;
    const struct seen_range samples = samples_range(histogram, tally, &seen);
    if (!(samples.min < samples.max))
        return false;
    const int power = range_power(&samples, most, seen.is_whole);
    const int64_t bins = (int64_t)most, last = floor_units(samples.max, power);
    int64_t first = floor_units(samples.min, power);
    range->min = digits_nearest((struct digits_decimal){first, power});
    while (range->min > samples.min) /* scaling has rounded it up */
        range->min = digits_nearest((struct digits_decimal){--first, power});
    for (int64_t width = (last - first) / bins + 1;; width++) {
        range->max = digits_nearest((struct digits_decimal){first + width * bins, power});
        if (range->max > samples.max)
            return true;
    }
}
