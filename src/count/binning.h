/* SPDX-License-Identifier: MIT */
/* Bins laid over numbers: which row of the table a value belongs to, exactly. */
#ifndef GPUHISTO_BINNING_H
#define GPUHISTO_BINNING_H

#include "binning_digits.h"
#include "binning_whole_digits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BINS_MAX ((size_t)1 << 24)

/* The edges of the bins, ascending: bin k, from 0, holds the values from edge k on that are below
 * edge k + 1. Values are either all whole, or all doubles. Never changes once it is laid, so that
 * any number of threads may look values up. */
struct binning {
    bool is_whole;
    size_t bins; /* 1 to BINS_MAX */

    /* As given one by one, bins + 1 of the kind; both NULL where the bins are equal. */
    whole *whole_edges;
    double *edges;

    /* Equal bins of whole values: */
    whole first, span;   /* of all bins together */
    uint64_t reciprocal; /* see binning_of_offset; 0: each value is its own bin, or it is divided */
    bool exact;          /* the reciprocal alone tells the bin */

    /* Equal bins of doubles: */
    double min, max, step;
    double per_step; /* about 1 / step, for a guess */

    bool powers_of_two; /* edges are given one by one, and are those of --log=2 */

    size_t decade_bins; /* of binning_decades, whose edges are given one by one: bins of powers over
                         * zero; 0: other bins */

    bool log_linear; /* the bins of binning_log_linear; nothing else is in use but `bins` */

    struct digits_layout digits; /* those of binning_digits, if it has scales; likewise */

    struct whole_digits
        whole_digits; /* those of binning_digits_whole, if it has digits; likewise */
};

/* A table has a row for each bin, and these: */
#define ROW_BELOW 0                                /* values below the first edge */
#define ROW_ABOVE(binning) ((binning)->bins + 1)   /* values from the last edge on */
#define ROW_INVALID(binning) ((binning)->bins + 2) /* no number at all */
#define ROWS(binning) ((binning)->bins + 3)

/* Why bins cannot be laid. */
enum binning_error {
    BINNING_OK = 0,
    BINNING_NO_MEMORY,
    BINNING_NOT_ASCENDING, /* an edge is not above the one before it, or max not above min */
    BINNING_TOO_FEW,       /* fewer than two edges */
    BINNING_TOO_WIDE,      /* max - min is too large for a double */
    BINNING_TOO_NARROW,    /* an equal bin is narrower than the least normal double */
    BINNING_NOT_POSITIVE,  /* min of powers is not above 0 */
    BINNING_BAD_BASE,      /* base of powers is not from 1.0001 to 1000000 */
    BINNING_TOO_LARGE,     /* the power that covers max is too large for a double */
    BINNING_UNDECIDED,     /* never given to callers: powers need more precision */
};

/* A decimal number as it was typed: digits / 10^places. 1.1 is {11, 1}, which no double is. */
struct decimal {
    uint64_t digits; /* below 10^DECIMAL_DIGITS */
    unsigned places;
};

#define DECIMAL_DIGITS 18

/* Each of these lays bins for whole values or for doubles, and takes numbers that are finite. On an
 * error there is nothing to free. */

/* `bins` equal bins, 1 to BINS_MAX, over [min, max). Whole values: bin k begins at the first whole
 * number that is not below min + k * (max - min) / bins. Doubles: at k * step + min with step =
 * (max - min) / bins, each operation rounded by itself, as numpy's linspace has it; the last edge
 * is max. */
enum binning_error binning_equal_whole(struct binning *binning, whole min, whole max, size_t bins);
enum binning_error binning_equal(struct binning *binning, double min, double max, size_t bins);

/* Whole values 0 to bins - 1, each of which is its own bin. */
void binning_own(struct binning *binning, size_t bins);

/* The edges themselves, which are copied; count is BINS_MAX + 1 at most. */
enum binning_error binning_edges_whole(struct binning *binning, const whole *edges, size_t count);
enum binning_error binning_edges(struct binning *binning, const double *edges, size_t count);

/* The powers of base, from the last one that is not above min to the first one that is not below
 * max; min is over 0. Each is exactly base^n rounded once: up to a whole number, or to the nearest
 * double (to the even one half way). Those that round to the same number are one edge. */
enum binning_error binning_log_whole(struct binning *binning, whole min, whole max,
                                     struct decimal base);
enum binning_error binning_log(struct binning *binning, double min, double max,
                               struct decimal base);

/* The same, computed with so many limbs of 64 bits at first (see power.h). For tests. */
enum binning_error binning_log_limbs(struct binning *binning, double min, double max,
                                     struct decimal base, size_t limbs);

/* Bins over all finite doubles, each power of two cut into LOG_LINEAR_PARTS: edges are where the
 * leading bits of a double change. Zero, of either sign, has a bin of its own; the first edge is
 * -inf, the last inf. */
void binning_log_linear(struct binning *binning);

#define LOG_LINEAR_PARTS 32
#define LOG_LINEAR_SHIFT 47 /* bits of a double below those that tell the part */
#define LOG_LINEAR_HALF ((size_t)0x7ff << (52 - LOG_LINEAR_SHIFT)) /* bins of one sign */
#define LOG_LINEAR_BINS (2 * LOG_LINEAR_HALF + 1)
#define ROW_ABOVE_ZERO (LOG_LINEAR_HALF + 2) /* of the least double over zero */

/* Bins of so many significant decimal digits, DIGITS_MIN to DIGITS_MAX, of doubles from -1e39 to
 * below 1e39: each decade from 1e-38 on, on both sides of zero, in 9 * 10^(digits - 1) of them, a
 * bin from there to zero on either side, and one for zero of either sign. `singles`: edges are the
 * floats nearest to the decimals, and values are floats; otherwise the nearest doubles. The only
 * error is BINNING_NO_MEMORY. */
enum binning_error binning_digits(struct binning *binning, unsigned digits, bool singles);

/* Bins of so many digits for whole values of up to 64 bits, all of which are in one. */
void binning_digits_whole(struct binning *binning, unsigned digits);

/* Bins of a decade in `parts`: 1, or DECADE_PARTS with edges at 1, 2 and 5 times the power of ten,
 * on both sides of zero. Doubles: from -1e39 to 1e39 as those of binning_digits, in which these
 * nest, with the same three around zero. Whole values: all of so many bits, 8 to 64; zero is a bin.
 * The only error is BINNING_NO_MEMORY. */
#define DECADE_PARTS 3
enum binning_error binning_decades(struct binning *binning, unsigned parts);
enum binning_error binning_decades_whole(struct binning *binning, unsigned parts, unsigned bits,
                                         bool is_signed);

/* Frees the edges. */
void binning_free(struct binning *binning);

/* The bin of a whole value in equal bins with a reciprocal: `offset`, below the span, from the
 * first edge. Where it is not exact the product may tell the bin before. */
static inline uint64_t binning_of_offset(const struct binning *binning, uint64_t offset)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t bin = (uint64_t)((wide)offset * binning->reciprocal >> 64);
    if (!binning->exact)
        bin += (wide)(bin + 1) * (wide)binning->span <= (wide)offset * binning->bins;
    return bin;
}

/* The row of a double in log-linear bins. A negative one, counted from zero, belongs to the part in
 * which the next double towards zero is, as bins begin with their lower edge. */
static inline uint32_t binning_row_log_linear(double value)
{
    const uint64_t infinity = (uint64_t)0x7ff << 52, zero_row = ROW_ABOVE_ZERO - 1;
    uint64_t bits, magnitude;
    memcpy(&bits, &value, sizeof bits);
    magnitude = bits & INT64_MAX;
    uint64_t above = zero_row + 1 + (magnitude >> LOG_LINEAR_SHIFT); /* also of infinity */
    uint64_t below = zero_row - 1 - ((magnitude - 1) >> LOG_LINEAR_SHIFT);
    below = magnitude == infinity ? ROW_BELOW : below;
    uint64_t row = bits >> 63 ? below : above;
    row = magnitude == 0 ? zero_row : row;
    return (uint32_t)(magnitude > infinity ? LOG_LINEAR_BINS + 2 : row);
}

/* The row of a double in bins of decimal digits; of a float if they are laid for these. */
static inline uint32_t binning_row_digits(const struct binning *binning, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return digits_row(&binning->digits, bits);
}

/* Edge k, from 0 to bins, of bins of doubles. */
double binning_edge(const struct binning *binning, size_t k);

/* Whether bin k, from 0, holds zero and nothing else. */
bool binning_is_zero_alone(const struct binning *binning, size_t k);

/* The row of a value. */
size_t binning_row_whole(const struct binning *binning, whole value);
size_t binning_row(const struct binning *binning, double value);

/* Edge k, from 0 to bins, of bins of whole values. */
whole binning_whole_edge(const struct binning *binning, size_t k);

/* A whole value, as text of at most SHOW_NUMBER bytes. */
void show_whole(whole value, char *text);

/* Edge k, from 0 to bins, as text of at most SHOW_NUMBER bytes. */
void binning_show_edge(const struct binning *binning, size_t k, char *text);

#endif
