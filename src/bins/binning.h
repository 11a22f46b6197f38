/* SPDX-License-Identifier: MIT */
/* Bins over numbers: which row of the table a value belongs to, exactly.
 *
 * Bins of decimal digits come first, with the functions that loops of the CPU and kernels of the
 * GPU are compiled with. Then come bins of any kind: a struct binning is built, looked up, shown
 * and freed. */
#ifndef GPUHISTO_BINNING_H
#define GPUHISTO_BINNING_H

#include "src/text/number.h"
#include "src/base/byte_word.h"

/* --- bins of decimal digits --- */

/* Bins of so many significant decimal digits: 12.3 to 12.4, 0.0499 to 0.05.
 *
 * A decade, from a power of ten to the next, has 9 * 10^(digits - 1) bins, whose edges are decimals
 * of so many digits. There are decades from 1e-38 to 1e39 on both sides of zero, a bin between them
 * and zero on either side, and one for zero alone. An edge is the double nearest to its decimal
 * (half way the even one), or the nearest float if values are floats. So a value that was written
 * with so many digits begins a bin.
 *
 *     row   1 ...    P      P + 1        P + 2   P + 3        P + 4 ...     2 P + 3   2 P + 4
 *     from  -1e39   ...     -1e-38       0       5e-324       1e-38 ...               1e39
 *
 * with P bins of the decades on a side. Row 0 is below, and NaN belongs to row 2 P + 5.
 *
 * Whole values below 10^digits are bins of their own; with three digits 1000 to 1009, 1010 to 1019
 * and so on follow. Below zero they are mirrored: -1 has the bin before that of 0, and -1010 to
 * -1001 are one bin. */

#define DIGITS_MIN 1
#define DIGITS_MAX 5
#define DIGITS_DEFAULT 3

#define DECADE_FIRST (-38) /* the first one begins at 1e-38 */
#define DECADES 77

/* Binary exponents of the decades, from below 1e-38 to above 1e39. */
#define DIGITS_EXPONENT_FIRST (-127)
#define DIGITS_EXPONENTS 257

/* The numbers of bins that the decades have on one side of zero, and of all bins. */
#define DIGITS_SIDE(per_decade) ((uint32_t)DECADES * (per_decade))
#define DIGITS_BINS(digits_per_decade) (2 * (size_t)DIGITS_SIDE(digits_per_decade) + 3)

/* A factor that turns a double into its number among the bins: a power of ten times a power of two,
 * rounded up, 128 bits. */
struct digits_scale {
    uint64_t high, low;
};

/* Shorter factors for positive values of one binary exponent that are neither very small nor very
 * large: 64 bits are enough, as no edge is just in the middle between two values. (Floats have such
 * edges from 2^24 on.) */
struct digits_step {
    uint64_t next;     /* where the next decade begins, as bits of a double */
    uint64_t scale[2]; /* before next, from next on */
    uint32_t row[2];   /* that number 0 of the decade would have, modulo 2^32 */
};

/* Binary exponents with steps. Others, and the step after the last one, give DIGITS_NO_ROW. */
#define DIGITS_STEP_FIRST (-66)
#define DIGITS_STEPS 132
#define DIGITS_STEPS_OF_SINGLES (24 - DIGITS_STEP_FIRST)
#define DIGITS_NO_ROW UINT32_MAX

struct digits_layout {
    const struct digits_scale *scales; /* by binary exponent; NULL: whole values, or other bins */
    const struct digits_step *steps;   /* by binary exponent; in the same memory */
    uint32_t digits;                   /* DIGITS_MIN to DIGITS_MAX */
    uint32_t per_decade;               /* bins: 9 * 10^(digits - 1) */
    uint32_t next;                     /* 10^digits: larger numbers are in the next decade */
    uint32_t shift;                    /* of a scaled value to its number */
    bool singles;                      /* edges are the nearest floats, and so are values */
};

/* Returns floor(log10(2^exponent)) for a double's exponent. */
static inline ON_BOTH int digits_decade(int exponent)
{
    return (exponent * 1262611) >> 22;
}

/* Returns the bin among the decades over zero, from 0, of a double with these bits: -1 below all,
 * DIGITS_SIDE above. `exponent` is its own less DIGITS_EXPONENT_FIRST, below DIGITS_EXPONENTS.
 *
 * An edge is not above the value if its decimal is not above the middle between the value and the
 * next one: then it is rounded to the value, or lies below it. So that middle is scaled by a power
 * of ten to a number from 10^(digits - 1) to 20 * 10^(digits - 1), as a binary exponent's values
 * begin in one decade and may end in the next. The scale is rounded up, which makes the 128 bits of
 * the product too large by less than 2 of the last bit: so an edge just in the middle is
 * recognised, and of two values the even one is the nearest. All other edges are farther from all
 * middles: tests/unit/test_digits.c goes through them. */
static inline ON_BOTH int32_t digits_bin(const struct digits_layout *layout, uint64_t bits,
                                         uint32_t exponent)
{
    const bool subnormal = layout->singles && exponent == 0;          /* of a float */
    const unsigned unit = layout->singles ? subnormal ? 41 : 40 : 11; /* the value's last bit */
    const struct digits_scale scale = layout->scales[exponent];
    const uint64_t mantissa = bits << 11 | UINT64_C(1) << 63;
    const uint64_t middle = mantissa | UINT64_C(1) << (unit - 1);
    uint64_t low, unused, high = number_product(middle, scale.high, &low);
    const uint64_t more = number_product(middle, scale.low, &unused);
    low += more;
    high += low < more;
    high -= (mantissa >> unit & 1) & (low < 2);
    const uint32_t number = (uint32_t)(high >> layout->shift);
    const int decade = digits_decade((int)exponent + DIGITS_EXPONENT_FIRST) - DECADE_FIRST;
    const int32_t first = decade * (int32_t)layout->per_decade - (int32_t)layout->next / 10;
    const uint32_t carried = number / 10 + layout->per_decade;
    return first + (int32_t)(number < layout->next ? number : carried);
}

/* Returns the row of a double with these bits; of a float if the layout is for floats. A negative
 * one, counted from zero, belongs to the bin of the next value towards zero, as bins begin with
 * their lower edge. */
static inline ON_BOTH uint32_t digits_row(const struct digits_layout *layout, uint64_t bits)
{
    const uint32_t side = DIGITS_SIDE(layout->per_decade);
    const uint64_t infinity = (uint64_t)0x7ff << NUMBER_STORED, negative = bits >> 63;
    uint64_t magnitude = bits & INT64_MAX;
    if (magnitude == 0)
        return side + 2;
    if (magnitude > infinity)
        return 2 * side + 5;
    /* Floats up to the least normal one are as far apart as floats get. */
    const uint64_t min = (uint64_t)(NUMBER_EXPONENT_BIAS - 126) << NUMBER_STORED;
    const unsigned unit = layout->singles ? magnitude <= min ? 30 : 29 : 0;
    magnitude -= negative << unit;
    const int exponent =
        (int)(magnitude >> NUMBER_STORED) - NUMBER_EXPONENT_BIAS - DIGITS_EXPONENT_FIRST;
    int32_t bin = exponent < 0 ? -1 : (int32_t)side;
    if (exponent >= 0 && exponent < DIGITS_EXPONENTS)
        bin = digits_bin(layout, magnitude, (uint32_t)exponent);
    bin = bin < -1 ? -1 : bin;
    bin = bin < (int32_t)side ? bin : (int32_t)side;
    return negative ? side - (uint32_t)bin : side + 4 + (uint32_t)bin;
}

/* A number as people write it: number * 10^power. */
struct digits_decimal {
    int64_t number;
    int power;
};

/* Returns the nearest double; half way the even one. After number_prepare. Any thread. */
double digits_nearest(struct digits_decimal decimal);

/* Returns edge k, from 0 to the number of bins: as a decimal, where the edge between zero and the
 * numbers over it is zero; as it is shown, the nearest double; and as values are compared with it.
 * After number_prepare. Any thread. */
struct digits_decimal digits_decimal_edge(const struct digits_layout *layout, size_t k);
double digits_shown_edge(const struct digits_layout *layout, size_t k);
double digits_edge(const struct digits_layout *layout, size_t k);

/* Writes the edge as show_double would, but faster. */
void digits_show_edge(const struct digits_layout *layout, size_t k, char *text);

/* Returns the bin, from 0, of a whole value, and edge k of bins for whole values. */
size_t digits_whole_bin(const struct digits_layout *layout, int128 value);
int128 digits_whole_edge(const struct digits_layout *layout, size_t k);

/* --- bins of any kind --- */

#define BINS_MAX ((size_t)1 << 24)

enum binning_kind {
    BINNING_EQUAL,
    BINNING_EDGES,      /* given one by one */
    BINNING_DECADES,    /* given one by one by binning_decades */
    BINNING_LOG_LINEAR, /* binning_log_linear; no member but `bins` is used */
    BINNING_DIGITS,
};

/* The edges of the bins, ascending: bin k, from 0, contains the values from edge k on that are
 * below edge k + 1. With is_right bins include their upper edge instead, as tables show it: then
 * these edges are the next numbers above those that are shown. Values are either whole, or doubles.
 * Never changes once it is built, so any number of threads may look values up. Members that a kind
 * does not use are 0. */
struct binning {
    enum binning_kind kind;
    bool is_whole;
    bool is_right; /* EQUAL and EDGES */
    size_t bins;   /* 1 to BINS_MAX */

    int128 *whole_edges; /* bins + 1; of EDGES and DECADES that are whole */
    double *edges;       /* of those that are doubles */
    bool powers_of_two;  /* EDGES of --log=2 */
    size_t decade_bins;  /* DECADES: bins over zero between powers */

    int128 first, span;  /* EQUAL, whole: of all bins together */
    uint64_t reciprocal; /* see binning_of_offset; 0: each value is its own bin, or it is divided */
    bool exact;          /* the reciprocal alone tells the bin */

    double min, max, step; /* EQUAL, doubles */
    double per_step;       /* about 1 / step, for a guess */

    struct digits_layout digits; /* DIGITS */
};

/* A table has a row for each bin, and these: */
#define ROW_BELOW 0                                /* values below the first edge */
#define ROW_ABOVE(binning) ((binning)->bins + 1)   /* values from the last edge on */
#define ROW_INVALID(binning) ((binning)->bins + 2) /* no number at all */
#define ROWS(binning) ((binning)->bins + 3)

/* The reasons why bins cannot be built. */
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
    BINNING_UNDECIDED,     /* internal: powers need more precision */
};

/* A decimal number as it was typed, digits / 10^places: 1.1 is {11, 1}, which no double is. */
struct decimal {
    uint64_t digits; /* below 10^DECIMAL_DIGITS */
    unsigned places;
};

#define DECIMAL_DIGITS 18

/* Each of these builds bins for whole values or for doubles, given finite numbers. On an error
 * there is nothing to free. */

/* Builds `bins` equal bins, 1 to BINS_MAX, over [min, max). Whole values: bin k begins at the first
 * whole number that is not below min + k * (max - min) / bins. Doubles: at k * step + min with step
 * = (max - min) / bins, each operation rounded by itself, as in numpy's linspace; the last edge is
 * max. */
enum binning_error binning_equal_whole(struct binning *binning, int128 min, int128 max,
                                       size_t bins);
enum binning_error binning_equal(struct binning *binning, double min, double max, size_t bins);

/* Builds a bin for each whole value from 0 to bins - 1. */
void binning_own(struct binning *binning, size_t bins);

/* Builds bins between the given edges, which are copied; count is BINS_MAX + 1 at most. */
enum binning_error binning_edges_whole(struct binning *binning, const int128 *edges, size_t count);
enum binning_error binning_edges(struct binning *binning, const double *edges, size_t count);

/* Builds bins between the powers of a base, from the last that is not above min, which is over 0,
 * to the first that is not below max. Each is base^n rounded once: up to a whole number, or to the
 * nearest double (half way to the even one). Powers that round to the same number are one edge. */
enum binning_error binning_log_whole(struct binning *binning, int128 min, int128 max,
                                     struct decimal base);
enum binning_error binning_log(struct binning *binning, double min, double max,
                               struct decimal base);

/* Does what binning_log does, beginning with `limbs` limbs of 64 bits. For tests. */
enum binning_error binning_log_limbs(struct binning *binning, double min, double max,
                                     struct decimal base, size_t limbs);

/* Builds bins over all finite doubles, each power of two in LOG_LINEAR_PARTS: edges are where the
 * leading bits of a double change. Zero, of either sign, has a bin of its own; the first edge is
 * -inf, the last inf. */
void binning_log_linear(struct binning *binning);

#define LOG_LINEAR_PARTS 32
#define LOG_LINEAR_SHIFT 47 /* bits of a double below those that tell the bin */
#define LOG_LINEAR_HALF ((size_t)0x7ff << (52 - LOG_LINEAR_SHIFT)) /* bins of one sign */
#define LOG_LINEAR_BINS (2 * LOG_LINEAR_HALF + 1)
#define ROW_ABOVE_ZERO (LOG_LINEAR_HALF + 2) /* of the least double over zero */

/* Builds bins of DIGITS_MIN to DIGITS_MAX significant decimal digits. Doubles:
 * from -1e39 to 1e39. `singles`: values are floats, and edges the floats nearest to the decimals.
 * Whole values: all of 64 bits, signed or not. The only error is BINNING_NO_MEMORY. */
enum binning_error binning_digits(struct binning *binning, unsigned digits, bool singles);
void binning_digits_whole(struct binning *binning, unsigned digits);

/* Builds bins of decades in `parts` each: 1, or DECADE_PARTS with edges at 1, 2 and 5 times the
 * power of ten, on both sides of zero. Doubles: from -1e39 to 1e39; those of binning_digits nest in
 * them, and the three bins around zero are the same. For doubles, `parts` may also be
 * DECADE_PARTS_FINE, whose bins are nearly equally wide on a logarithmic scale; those of
 * binning_digits with 3 digits or more nest in them. Whole values: all of `bits` bits, 8 to 64;
 * zero is a bin. The only error is BINNING_NO_MEMORY. */
#define DECADE_PARTS 3
#define DECADE_PARTS_FINE 10
enum binning_error binning_decades(struct binning *binning, unsigned parts);
enum binning_error binning_decades_whole(struct binning *binning, unsigned parts, unsigned bits,
                                         bool is_signed);

/* Makes edges of equal bins of doubles the decimals of at most 12 digits that they would be without
 * rounding, as people write them: 0.3 instead of 0.30000000000000004. Edges that are no such
 * decimals stay. The only error is BINNING_NO_MEMORY. */
enum binning_error binning_use_decimals(struct binning *binning);

/* Makes bins, EQUAL or EDGES, include their upper edge instead of the lower. The only error is
 * BINNING_NO_MEMORY. */
enum binning_error binning_include_upper(struct binning *binning);

/* Frees the edges. */
void binning_free(struct binning *binning);

/* Returns the bin of a whole value in equal bins with a reciprocal, given its offset, below the
 * span, from the first edge. Where that is not exact the product may tell the bin before. */
static inline uint64_t binning_of_offset(const struct binning *binning, uint64_t offset)
{
    uint64_t bin = (uint64_t)((uint128)offset * binning->reciprocal >> 64);
    if (!binning->exact)
        bin += (uint128)(bin + 1) * (uint128)binning->span <= (uint128)offset * binning->bins;
    return bin;
}

/* Returns the row of a double in log-linear bins. A negative one, counted from zero, belongs to the
 * bin of the next double towards zero, as bins begin with their lower edge. */
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

/* Returns the row of a value. */
size_t binning_row_whole(const struct binning *binning, int128 value);
size_t binning_row(const struct binning *binning, double value);

/* Returns edge k, from 0 to bins. */
int128 binning_whole_edge(const struct binning *binning, size_t k);
double binning_edge(const struct binning *binning, size_t k);

/* Returns the edge as it is shown. */
int128 binning_shown_whole_edge(const struct binning *binning, size_t k);
double binning_shown_edge(const struct binning *binning, size_t k);

/* Writes edge k, from 0 to bins, as text of at most SHOW_NUMBER bytes. */
void binning_show_edge(const struct binning *binning, size_t k, char *text);

/* True if bin k, from 0, contains zero and nothing else. */
bool binning_is_zero_alone(const struct binning *binning, size_t k);

/* --- the way in which the rows of binary numbers are found quickly. The CPU's loops and the GPU's
 * kernels have this choice in common; src/cpu/batch.h and gpu/count/sample_map.c refine it. --- */

enum row_plan_way {
    PLAN_OFFSETS,       /* equal bins of whole numbers: by the offset from the first edge */
    PLAN_WHOLE_EDGES,   /* whole numbers: by comparing with edges */
    PLAN_WHOLE_DIGITS,  /* whole numbers: by dividing by a power of ten; on the CPU only */
    PLAN_EQUAL_DOUBLES, /* equal bins of doubles: by a guess that the edges beside it prove */
    PLAN_DOUBLE_EDGES,  /* doubles: by comparing with edges */
    PLAN_LOG_LINEAR,    /* doubles: by their leading bits */
    PLAN_DIGITS,        /* doubles: by scaling them by a power of ten */
};

struct row_plan {
    enum row_plan_way way;
    /* PLAN_OFFSETS: offsets are computed modulo 2^bits. All edges and all values of the type are
     * numbers of so many bits, so no value outside the edges gets an offset within the span. */
    unsigned bits; /* 32 or 64 */
    bool is_signed;
};

/* Returns the least whole number of so many bits, 1 to 64. */
static inline int128 row_plan_min(unsigned bits, bool is_signed)
{
    return is_signed ? -((int128)1 << (bits - 1)) : 0;
}

#endif
