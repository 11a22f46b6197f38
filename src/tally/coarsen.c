/* SPDX-License-Identifier: MIT */
#include "coarsen.h"
#include "src/text/number.h"
#include "src/bins/sums.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define CLOSE_BINS 3     /* that samples may fill and be called close, */
#define CLOSE_SAMPLES 10 /* if they are at least as many */

/* --- counting again --- */

void map_rows(const struct histogram_spec *fine, const struct tally *tally,
              const struct histogram_spec *coarse, struct tally *into)
{
    const struct binning *from = &fine->binning, *wide = &coarse->binning;
    const bool is_shown = !wide->digits.scales; /* edges are decimals, not the nearest floats */
    number_prepare();
    for (size_t channel = 0; channel < histogram_spec_channels(fine); channel++) {
        const size_t begin = channel * histogram_spec_rows(fine);
        const uint64_t *counts = tally->counts + begin;
        uint64_t *to = into->counts + channel * histogram_spec_rows(coarse);
        for (size_t row = 1;; row++) {
            row = tally_next_counted(tally, begin + row) - begin;
            if (row > from->bins)
                break;
            const double edge =
                is_shown ? digits_shown_edge(&from->digits, row - 1) : binning_edge(from, row - 1);
            to[binning_row(wide, edge)] += counts[row];
        }
        to[ROW_BELOW] += counts[ROW_BELOW];
        to[ROW_ABOVE(wide)] += counts[ROW_ABOVE(from)];
        to[ROW_INVALID(wide)] += counts[ROW_INVALID(from)];
    }
    into->samples += tally->samples;
    into->bytes += tally->bytes;
    into->newlines += tally->newlines;
}

/* Counts a tally again by a binning, which belongs to the rows from then on, or is freed. */
static enum coarsen_outcome count_again(const struct histogram_spec *spec,
                                        const struct tally *tally, struct binning *binning,
                                        struct coarse_rows *rows)
{
    rows->spec = *spec;
    rows->spec.has_moments = false;
    rows->spec.also = NULL;
    rows->spec.binning = *binning;
    rows->spec.bins = ROWS(binning) * histogram_spec_channels(spec);
    if (tally_open(&rows->tally, &rows->spec) != 0) {
        binning_free(binning);
        return COARSEN_NO_MEMORY;
    }
    map_rows(spec, tally, &rows->spec, &rows->tally);
    return COARSEN_DONE;
}

/* --- what was seen --- */

/* Bins with samples of any channel. */
struct seen_bins {
    size_t count, first, last;
    bool is_whole; /* all of them begin at whole numbers */
};

/* True if bin k begins at a whole number. A bin narrower than 1 contains one only if it does. */
static bool begins_whole(const struct binning *binning, size_t k)
{
    struct digits_decimal edge = digits_decimal_edge(&binning->digits, k);
    for (; edge.power < 0 && edge.number % 10 == 0 && edge.number != 0; edge.power++)
        edge.number /= 10;
    return edge.power >= 0 || (edge.number == 0 && binning_is_zero_alone(binning, k));
}

static struct seen_bins seen_bins_of(const struct binning *binning, const struct tally *tally)
{
    struct seen_bins seen = {.is_whole = true};
    for (size_t rows = 0; rows < tally->bins; rows += ROWS(binning))
        for (size_t row = rows;; row++) {
            row = tally_next_counted(tally, row + 1) - 1;
            if (row >= rows + binning->bins)
                break;
            const size_t bin = row - rows;
            seen.first = seen.count == 0 || bin < seen.first ? bin : seen.first;
            seen.last = bin > seen.last ? bin : seen.last;
            seen.is_whole = seen.is_whole && begins_whole(binning, bin);
            seen.count++;
        }
    return seen;
}

/* --- equal bins --- */

/* Edges are the multiples of width * 10^power from the first to the last. */
struct equal_bins {
    int64_t first, last, width;
    int power;
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

/* Returns bins over what was seen that are as wide as the counted bins farthest from zero. Nearer
 * ones are not wider, so all edges between the first and the last are edges of counted bins. */
static struct equal_bins narrowest_bins(const struct binning *binning, const struct seen_bins *seen)
{
    const struct digits_layout *layout = &binning->digits;
    const size_t zero = binning->bins / 2;
    const struct digits_decimal below = digits_decimal_edge(layout, seen->first + 1);
    const struct digits_decimal above = digits_decimal_edge(layout, seen->last);
    struct equal_bins bins = {.last = 1, .width = 1};
    if (seen->first == zero && seen->last == zero)
        return bins;
    bins.power = seen->last > zero ? above.power : below.power;
    if (seen->first < zero && below.power > bins.power)
        bins.power = below.power;
    bins.first = units_of(digits_decimal_edge(layout, seen->first), 1, bins.power);
    bins.last = units_above(digits_decimal_edge(layout, seen->last + 1), 1, bins.power) +
                (seen->last == zero); /* which contains 0 */
    return bins;
}

/* Widens bins to 1, 2 or 5 times a power of ten until they are at most `max`, or two if zero is
 * between them, and no narrower than 1 if `is_whole`. */
static void widen_bins(struct equal_bins *bins, size_t max, bool is_whole)
{
    const int64_t from = bins->first, to = bins->last;
    const int64_t wanted = from < 0 && to > 0 && max < 2 ? 2 : (int64_t)max;
    int64_t min = 1, width = 1, ten = 1;
    for (int power = bins->power; is_whole && power < 0; power++)
        min *= 10;
    for (unsigned step = 0; bins->last - bins->first > wanted || width < min; step++) {
        ten *= step % 3 == 2 ? 10 : 1;
        width = step % 3 == 0 ? 2 * ten : step % 3 == 1 ? 5 * ten : ten;
        bins->first = from / width - (from % width < 0);
        bins->last = to / width + (to % width > 0);
    }
    bins->width = width;
}

enum coarsen_outcome coarsen_equal(const struct histogram_spec *spec, const struct tally *tally,
                                   size_t max, struct coarse_rows *rows)
{
    const struct seen_bins seen = seen_bins_of(&spec->binning, tally);
    struct binning binning;
    if (seen.count == 0)
        return COARSEN_AS_COUNTED;
    struct equal_bins bins = narrowest_bins(&spec->binning, &seen);
    widen_bins(&bins, max, seen.is_whole && seen.count > 1);
    const size_t count = (size_t)(bins.last - bins.first) + 1;
    double *edges = malloc(count * sizeof *edges);
    for (size_t i = 0; edges && i < count; i++)
        edges[i] = digits_nearest(
            (struct digits_decimal){(bins.first + (int64_t)i) * bins.width, bins.power});
    const bool is_built = edges && binning_edges(&binning, edges, count) == BINNING_OK;
    free(edges);
    if (!is_built)
        return COARSEN_NO_MEMORY;
    return count_again(spec, tally, &binning, rows);
}

enum coarsen_outcome coarsen_decades(const struct histogram_spec *spec, const struct tally *tally,
                                     unsigned parts, struct coarse_rows *rows)
{
    struct binning binning;
    if (binning_decades(&binning, parts) != BINNING_OK)
        return COARSEN_NO_MEMORY;
    return count_again(spec, tally, &binning, rows);
}

void coarse_rows_free(struct coarse_rows *rows)
{
    binning_free(&rows->spec.binning);
    tally_close(&rows->tally);
}

/* --- pictures --- */

/* The spread of the samples of all channels over bins. */
struct spread {
    uint64_t samples, largest; /* in all bins, and in the fullest */
    size_t bins;               /* with samples */
};

static struct spread spread_of(const struct histogram_spec *spec, const struct tally *tally)
{
    struct spread spread = {.bins = 0};
    const size_t rows = histogram_spec_rows(spec);
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < tally->bins; row++) {
        if (histogram_spec_row_kind(spec, row % rows) != ROW_KIND_BIN)
            continue;
        const uint64_t count = tally->counts[row];
        spread.samples += count;
        spread.largest = count > spread.largest ? count : spread.largest;
        spread.bins++;
    }
    return spread;
}

/* Returns the samples of the fullest equal bin of a channel, or of the two that meet at zero if
 * these have more: values around zero fill both. */
static uint64_t crowd_of(const struct coarse_rows *rows)
{
    const struct binning *binning = &rows->spec.binning;
    const size_t zero = binning_row(binning, 0), channel = histogram_spec_rows(&rows->spec);
    uint64_t crowd = spread_of(&rows->spec, &rows->tally).largest;
    if (zero < 2 || zero > binning->bins || binning_edge(binning, zero - 1) != 0)
        return crowd;
    for (const uint64_t *at = rows->tally.counts + zero, *end = at + rows->tally.bins; at < end;
         at += channel)
        crowd = at[0] + at[-1] > crowd ? at[0] + at[-1] : crowd;
    return crowd;
}

/* Replaces equal bins by decades if these are few enough and spread the samples more. */
static enum coarsen_outcome try_decades(const struct histogram_spec *spec,
                                        const struct tally *tally, const struct picture_bins *bins,
                                        struct coarse_rows *rows)
{
    static const unsigned ways[] = {DECADE_PARTS_FINE, DECADE_PARTS, 1};
    const uint64_t largest = spread_of(&rows->spec, &rows->tally).largest;
    /* The counted bins nest in fine parts of a decade, and no part between two whole numbers is
     * empty because there are no others. */
    const struct digits_layout *digits = &spec->binning.digits;
    const struct seen_bins seen = seen_bins_of(&spec->binning, tally);
    const bool can_be_fine =
        digits->digits >= 3 && (!seen.is_whole || digits_shown_edge(digits, seen.first) >= 10 ||
                                digits_shown_edge(digits, seen.last) <= -10);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const unsigned parts = ways[i];
        struct coarse_rows decades;
        if (parts > bins->parts || (parts == DECADE_PARTS_FINE && !can_be_fine))
            continue;
        const enum coarsen_outcome outcome = coarsen_decades(spec, tally, parts, &decades);
        if (outcome != COARSEN_DONE) {
            coarse_rows_free(rows);
            return outcome;
        }
        const struct spread spread = spread_of(&decades.spec, &decades.tally);
        struct row_range shown[2];
        size_t count = spread.bins; /* with empty ones between others */
        tally_seen_decades(&decades.tally, &decades.spec, shown);
        for (unsigned side = 0; side < 2; side++)
            for (size_t row = shown[side].begin; row < shown[side].end; row++)
                count += decades.tally.counts[row] == 0;
        if (count <= bins->max && spread.largest < largest) {
            coarse_rows_free(rows);
            *rows = decades;
            return COARSEN_DONE;
        }
        coarse_rows_free(&decades);
    }
    return COARSEN_DONE;
}

enum coarsen_outcome coarsen_picture(const struct histogram_spec *spec, const struct tally *tally,
                                     const struct picture_bins *bins, struct coarse_rows *rows)
{
    const struct spread counted = spread_of(spec, tally);
    if (counted.bins <= bins->max)
        return COARSEN_AS_COUNTED;
    const enum coarsen_outcome outcome = coarsen_equal(spec, tally, bins->max, rows);
    if (outcome != COARSEN_DONE)
        return outcome;
    if ((double)crowd_of(rows) <= (double)counted.samples * bins->crowded / 100)
        return COARSEN_DONE;
    return try_decades(spec, tally, bins, rows);
}

/* --- the range that narrower bins need --- */

/* True if all samples are whole numbers, as far as is known. Bins do not tell 5 from 5.001; the
 * least and the greatest sample do, or else several bins that all begin at whole numbers. Only some
 * engines have moments, so this is for messages: tables are the same without. */
static bool are_whole(const struct seen_bins *seen, const struct moments *moments)
{
    if (!moments || !moments->any)
        return seen->is_whole && seen->count > 1;
    return seen->is_whole && !(moments->min < floor(moments->min)) &&
           !(moments->min > floor(moments->min)) && !(moments->max > floor(moments->max));
}

/* Returns a number in units of 10^power, rounded down. */
static int64_t floor_units(double value, int power)
{
    if (power < -DBL_MAX_10_EXP) /* of subnormal numbers: 10^-power is no double */
        return (int64_t)floorl((long double)value / powl(10, power));
    return (int64_t)floor(power < 0 ? value * pow(10, -power) : value / pow(10, power));
}

bool coarsen_range(const struct histogram_spec *spec, const struct tally *tally, size_t max,
                   struct seen_range *range)
{
    const struct binning *binning = &spec->binning;
    const struct moments *moments = tally->moments;
    struct seen_bins seen = seen_bins_of(binning, tally);
    seen.is_whole = are_whole(&seen, moments);
    if (seen.count == 0)
        return false;
    /* Narrower bins than those of coarsen_equal may be too many, or tell no more. */
    const struct digits_decimal from = digits_decimal_edge(&binning->digits, seen.first);
    const struct digits_decimal to = digits_decimal_edge(&binning->digits, seen.last + 1);
    int power = narrowest_bins(binning, &seen).power;
    if ((uint64_t)(units_above(to, 2, power) - units_of(from, 2, power)) > max ||
        (seen.is_whole && power <= 0))
        return false;
    /* The range of the samples in bins, by the edges of these if moments do not tell. */
    struct seen_range samples = {
        digits_shown_edge(&binning->digits, seen.first),
        nextafter(digits_shown_edge(&binning->digits, seen.last + 1), -HUGE_VAL)};
    if (moments && moments->any && moments->min >= samples.min)
        samples.min = moments->min;
    if (moments && moments->any && moments->max < samples.max)
        samples.max = moments->max;
    if (!(samples.min < samples.max))
        return false;
    /* Bins are a multiple of a power of ten wide, of about a hundredth of their width, but no
     * finer than doubles are. */
    const double farthest = fmax(fabs(samples.min), fabs(samples.max));
    const int finest = (int)floor(log10(farthest)) - 16;
    power = (int)floor(log10((samples.max - samples.min) / (double)max)) - 2;
    power = power > finest ? power : finest;
    power = seen.is_whole && power < 0 ? 0 : power;
    const int64_t bins = (int64_t)max, last = floor_units(samples.max, power);
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

bool coarsen_is_close(const struct histogram_spec *spec, const struct tally *tally)
{
    const struct moments *moments = tally->moments;
    const struct seen_bins seen = seen_bins_of(&spec->binning, tally);
    const bool differ = moments && moments->any ? moments->min < moments->max : !seen.is_whole;
    return differ && seen.count > 0 && seen.last - seen.first < CLOSE_BINS &&
           tally->samples >= CLOSE_SAMPLES;
}

unsigned coarsen_digits(const struct histogram_spec *spec, const struct tally *tally, size_t max)
{
    const struct binning *binning = &spec->binning;
    const struct moments *moments = tally->moments;
    const size_t channel = histogram_spec_rows(spec);
    const struct seen_bins seen = seen_bins_of(binning, tally);
    const bool is_one = moments && moments->any && !(moments->min < moments->max);
    unsigned digits = 0;
    bool is_shared = false;
    if (seen.count == 0 || seen.count > max || is_one || !seen.is_whole ||
        (moments && !are_whole(&seen, moments)))
        return 0;
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < tally->bins; row++) {
        const size_t bin = row % channel - 1;
        if (bin < binning->bins && tally->counts[row] > 1 &&
            digits_shown_edge(&binning->digits, bin + 1) -
                    digits_shown_edge(&binning->digits, bin) >
                1)
            is_shared = true;
    }
    double farthest = fmax(fabs(digits_shown_edge(&binning->digits, seen.first)),
                           fabs(digits_shown_edge(&binning->digits, seen.last)));
    for (; farthest >= 1; farthest /= 10)
        digits++;
    return is_shared && digits <= DIGITS_MAX ? digits : 0;
}
