/* SPDX-License-Identifier: MIT */
/* Bins between the powers of a number: the powers, each with a bound on its error, and the edges
 * that they are rounded to. */
#include "binning.h"

#include <math.h>
#include <stdlib.h>

/* --- powers --- */

/* Powers of a decimal number that can be rounded without error.
 *
 * A power is an interval: a long mantissa that is rounded down at each step, and a bound on what
 * was lost. Rounding succeeds only if all of the interval rounds to the same number; otherwise
 * powers are computed again with more limbs. That ends: a power exactly on a boundary has few bits
 * and is exact once they fit; any other has some distance to the boundary, and the interval gets
 * smaller. */

/* Steps that a power may be away from 1. */
#define POWER_STEPS_MAX (1 << 24)

/* base^n for one n, which a step changes by one. */
struct long_power {
    uint64_t up, down; /* base = up / down * 2^shift; both odd, without a common divisor */
    int shift;
    size_t limbs;       /* of the mantissa, 64 bits each */
    uint64_t *mantissa; /* the least limb first, the highest bit set; a spare limb on each side */
    int64_t exponent;   /* the value is in [2^exponent, 2^(exponent + 1)) */
    uint64_t lossy;     /* steps taken since bits were first lost; 0: the value is exact */
};

/* Divides *number by all its factors of two. Returns how many there were. */
static int divide_by_twos(uint64_t *number)
{
    int twos = __builtin_ctzll(*number);
    *number >>= twos;
    return twos;
}

/* Makes *power base^0, which is 1, with so many limbs, 1 or more. The base is over 0, and its
 * digits and 10^places are below 2^60. 0; or -1: out of memory, and there is nothing to free. */
static int long_power_open(struct long_power *power, struct decimal base, size_t limbs)
{
    uint64_t scale = 1;
    for (unsigned i = 0; i < base.places; i++)
        scale *= 10;
    uint64_t common = base.digits; /* the greatest common divisor */
    for (uint64_t b = scale, rest; b != 0; b = rest) {
        rest = common % b;
        common = b;
    }
    *power =
        (struct long_power){.up = base.digits / common, .down = scale / common, .limbs = limbs};
    power->shift = divide_by_twos(&power->up) - divide_by_twos(&power->down);
    power->mantissa = calloc(limbs + 2, sizeof *power->mantissa);
    if (!power->mantissa)
        return -1;
    power->mantissa[limbs] = (uint64_t)1 << 63;
    return 0;
}

static void long_power_close(struct long_power *power)
{
    free(power->mantissa);
    *power = (struct long_power){0};
}

/* Multiplies the mantissa, which overflows into the spare limb above it. */
static void multiply(struct long_power *power, uint64_t factor)
{
    uint64_t *limb = power->mantissa;
    uint128 carry = 0;
    for (size_t i = 1; i <= power->limbs; i++) {
        carry += (uint128)limb[i] * factor;
        limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    limb[power->limbs + 1] = (uint64_t)carry;
}

/* Divides the mantissa and both spare limbs, rounding down. True if there is a remainder. */
static bool divide(struct long_power *power, uint64_t divisor)
{
    uint64_t *limb = power->mantissa;
    uint128 rest = 0;
    for (size_t i = power->limbs + 2; i-- > 0;) {
        rest = rest << 64 | limb[i];
        limb[i] = (uint64_t)(rest / divisor);
        rest %= divisor;
    }
    return rest != 0;
}

/* Shifts so that the mantissa's highest bit is set again, and clears the spare limbs. True if bits
 * were lost. */
static bool normalize(struct long_power *power)
{
    uint64_t *limb = power->mantissa, high = limb[power->limbs + 1], lost = limb[0];
    if (high != 0) {
        int right = 64 - __builtin_clzll(high);
        for (size_t i = 0; i <= power->limbs; i++)
            limb[i] = (uint64_t)(((uint128)limb[i + 1] << 64 | limb[i]) >> right);
        lost |= limb[0];
        power->exponent += right;
    } else {
        int left = __builtin_clzll(limb[power->limbs]);
        for (size_t i = power->limbs; i > 0; i--)
            limb[i] = (uint64_t)(((uint128)limb[i] << 64 | limb[i - 1]) << left >> 64);
        lost = limb[0] << left;
        power->exponent -= left;
    }
    limb[0] = limb[power->limbs + 1] = 0;
    return lost != 0;
}

/* Makes base^n the power base^(n + 1), by up / down and the shift, or base^(n - 1), by the reverse.
 * A power is either raised or lowered, never both, and POWER_STEPS_MAX times at most.
 *
 * As factor and divisor are below 2^60, the quotient's highest bit stays in the mantissa's highest
 * limb or above, so only normalize loses bits. */
static void step(struct long_power *power, uint64_t factor, uint64_t divisor, int shift)
{
    bool lost = false;
    if (factor != 1)
        multiply(power, factor);
    if (divisor != 1)
        lost = divide(power, divisor);
    lost |= normalize(power);
    power->exponent += shift;
    power->lossy += lost || power->lossy > 0;
}

/* Sets *low to the highest 128 bits of the mantissa, and *high to those of a mantissa that the
 * power is below, or exactly at if nothing was lost. False if that one has more bits.
 *
 * Let M be the true mantissa, in units of the last place, so 2^(64 * limbs - 1) and more, and m the
 * one kept. Each step multiplies both by the same number and rounds m down, so (M - m) / M grows by
 * less than 2^-(64 * limbs - 1). After n steps M - m is less than n * M / 2^(64 * limbs - 1), which
 * is at most 2 * n and a rest below 1 that comes from M - m itself. */
static bool highest_bits(const struct long_power *power, uint128 *low, uint128 *high)
{
    const uint64_t *limb = power->mantissa;
    size_t limbs = power->limbs;
    uint128 error = power->lossy ? 2 * (uint128)power->lossy + 1 : 0;
    *low = (uint128)limb[limbs] << 64 | (limbs > 1 ? limb[limbs - 1] : 0);
    if (limbs == 1)
        error <<= 64;
    if (limbs > 2) {
        for (size_t i = 1; i < limbs - 1; i++)
            error = (error + limb[i]) >> 64;
    }
    *high = *low + error;
    return *high >= *low;
}

/* True if a mantissa has a bit set below its highest 128 - `skipped` ones. */
static bool has_bits_below(const struct long_power *power, uint128 highest, int skipped)
{
    bool set = skipped > 0 && (highest << (128 - skipped)) != 0;
    for (size_t i = 1; i + 1 < power->limbs; i++)
        set |= power->mantissa[i] != 0;
    return set;
}

#define DOUBLE_BITS 53
#define DOUBLE_MIN (-1074) /* exponent of the least double over zero */

/* Sets *value to the nearest double, half way to the even one, or to infinity if the power is too
 * large. False if more limbs are needed. */
static bool long_power_nearest(const struct long_power *power, double *value)
{
    uint128 low, high;
    int64_t exponent = power->exponent;
    int64_t bits = exponent - DOUBLE_MIN + 1; /* that a double of this size has */
    bits = bits > DOUBLE_BITS ? DOUBLE_BITS : bits;
    if (exponent > 1023 || bits < 0) { /* beyond half the least one, or the largest and a half */
        *value = bits < 0 ? 0 : HUGE_VAL;
        return true;
    }
    if (!highest_bits(power, &low, &high))
        return false;
    /* One more bit than a double has: the one that decides. */
    int skipped = 127 - (int)bits;
    uint64_t kept = (uint64_t)(low >> skipped);
    if (kept != (uint64_t)(high >> skipped))
        return false;
    bool more = power->lossy || has_bits_below(power, low, skipped);
    uint64_t rounded = kept >> 1;
    rounded += (kept & 1) && (more || (rounded & 1));
    *value = ldexp((double)rounded, (int)(exponent - bits + 1));
    return true;
}

/* Sets *value to the power, from 1 to below 2^100, rounded up to a whole number. False if more
 * limbs are needed. */
static bool long_power_round_up(const struct long_power *power, int128 *value)
{
    uint128 low, high;
    if (!highest_bits(power, &low, &high))
        return false;
    int skipped = 127 - (int)power->exponent;
    if (low >> skipped != high >> skipped)
        return false;
    *value = (int128)(low >> skipped);
    *value += power->lossy || has_bits_below(power, low, skipped);
    return true;
}

/* --- edges --- */

/* Limbs at first. Rounding needs more for about one edge in 2^100, even after POWER_STEPS_MAX. */
#define LIMBS 3

/* The bounds of a base, times 10000. Even the least one has fewer powers between the least double
 * and the largest than BINS_MAX, and all are fewer than POWER_STEPS_MAX away from 1. */
#define SCALE 10000
#define BASE_MIN 10001
#define BASE_MAX ((int128)1000000 * SCALE)

/* Edges as they are found. Those that are doubles are kept as their bits, which ascend as doubles
 * over zero do. */
struct edge_list {
    bool is_whole;
    int128 min, max;
    size_t count, capacity;
    int128 *edges;
};

static int128 bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int128)bits;
}

static double double_of(int128 edge)
{
    uint64_t bits = (uint64_t)edge;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Adds an edge, unless it is the last one again: that bin would have no width. */
static enum binning_error add_edge(struct edge_list *list, int128 edge)
{
    if (list->count > 0 && edge == list->edges[list->count - 1])
        return BINNING_OK;
    if (list->count == list->capacity) {
        const size_t capacity = 2 * list->capacity + 64;
        int128 *edges = realloc(list->edges, capacity * sizeof *edges);
        if (!edges)
            return BINNING_NO_MEMORY;
        list->edges = edges;
        list->capacity = capacity;
    }
    list->edges[list->count++] = edge;
    return BINNING_OK;
}

static bool round_edge(const struct edge_list *list, const struct long_power *power, int128 *edge)
{
    double value = 0;
    if (list->is_whole)
        return long_power_round_up(power, edge);
    if (!long_power_nearest(power, &value))
        return false;
    *edge = bits_of(value);
    return true;
}

/* Adds powers from 1 down to the first that is not above min; of those not below max only the last.
 */
static enum binning_error add_descending(struct edge_list *list, struct long_power *power)
{
    for (int128 edge;; step(power, power->down, power->up, -power->shift)) {
        if (!round_edge(list, power, &edge))
            return BINNING_UNDECIDED;
        if (edge >= list->max)
            list->count = 0;
        enum binning_error error = add_edge(list, edge);
        if (error || edge <= list->min)
            return error;
    }
}

/* Adds powers from above 1 to the first that is not below max; of those not above min only the
 * last. */
static enum binning_error add_ascending(struct edge_list *list, struct long_power *power)
{
    const int128 infinity = bits_of(HUGE_VAL);
    while (list->edges[list->count - 1] < list->max) {
        int128 edge;
        step(power, power->up, power->down, power->shift);
        if (!round_edge(list, power, &edge))
            return BINNING_UNDECIDED;
        if (!list->is_whole && edge == infinity)
            return BINNING_TOO_LARGE;
        if (edge <= list->min)
            list->count = 0;
        enum binning_error error = add_edge(list, edge);
        if (error)
            return error;
    }
    return BINNING_OK;
}

/* Both ways begin at 1, so that a power that can be exact is. (Whole values are above 0 and need no
 * power below 1.) */
static enum binning_error add_powers(struct edge_list *list, struct decimal base, size_t limbs)
{
    struct long_power power;
    if (long_power_open(&power, base, limbs) != 0)
        return BINNING_NO_MEMORY;
    enum binning_error error = add_descending(list, &power);
    long_power_close(&power);
    if (error)
        return error;
    for (size_t i = 0, j = list->count - 1; i < j; i++, j--) {
        const int128 edge = list->edges[i];
        list->edges[i] = list->edges[j];
        list->edges[j] = edge;
    }
    if (long_power_open(&power, base, limbs) != 0)
        return BINNING_NO_MEMORY;
    error = add_ascending(list, &power);
    long_power_close(&power);
    return error;
}

static enum binning_error build_powers(struct binning *binning, struct edge_list *list,
                                       struct decimal base, size_t limbs)
{
    int128 scale = 1;
    for (unsigned i = 0; i < base.places && i <= DECIMAL_DIGITS; i++)
        scale *= 10;
    int128 scaled = (int128)base.digits * SCALE;
    if (base.places > DECIMAL_DIGITS || scaled < BASE_MIN * scale || scaled > BASE_MAX * scale)
        return BINNING_BAD_BASE;
    if (list->min <= 0)
        return BINNING_NOT_POSITIVE;
    if (list->min >= list->max)
        return BINNING_NOT_ASCENDING;
    enum binning_error error;
    while ((error = add_powers(list, base, limbs)) == BINNING_UNDECIDED) {
        limbs *= 2;
        list->count = 0;
    }
    /* The edges as a binning has them, in memory of their size. */
    char *bytes = (char *)list->edges;
    void *edges = NULL;
    for (size_t i = 0; !list->is_whole && !error && i < list->count; i++) {
        const double edge = double_of(list->edges[i]);
        memcpy(bytes + i * sizeof edge, &edge, sizeof edge);
    }
    const size_t size = list->is_whole ? sizeof(int128) : sizeof(double);
    if (!error && !(edges = realloc(bytes, list->count * size)))
        error = BINNING_NO_MEMORY;
    if (error) {
        free(list->edges);
        return error;
    }
    *binning = (struct binning){.kind = BINNING_EDGES,
                                .is_whole = list->is_whole,
                                .bins = list->count - 1,
                                .powers_of_two = scaled == 2 * scale * SCALE,
                                .whole_edges = list->is_whole ? edges : NULL,
                                .edges = list->is_whole ? NULL : edges};
    return BINNING_OK;
}

enum binning_error binning_log_whole(struct binning *binning, int128 min, int128 max,
                                     struct decimal base)
{
    struct edge_list list = {.is_whole = true, .min = min, .max = max};
    return build_powers(binning, &list, base, LIMBS);
}

enum binning_error binning_log(struct binning *binning, double min, double max, struct decimal base)
{
    return binning_log_limbs(binning, min, max, base, LIMBS);
}

enum binning_error binning_log_limbs(struct binning *binning, double min, double max,
                                     struct decimal base, size_t limbs)
{
    struct edge_list list = {.min = bits_of(min), .max = bits_of(max)};
    if (!(min > 0))
        return BINNING_NOT_POSITIVE;
    if (!(min < max))
        return BINNING_NOT_ASCENDING;
    return build_powers(binning, &list, base, limbs);
}
