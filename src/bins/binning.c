/* SPDX-License-Identifier: MIT */
/* Builds bins and looks values up in them: equal bins, edges that are given one by one, bins of
 * decimal digits, and decades. (binning_log.c builds powers.) Every edge is a number that can be
 * stated without knowing how it was computed, so rows are exact. */
#include "binning.h"
#include "src/text/number.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define VALUES_64_BITS ((int128)1 << 64) /* how many values 64 bits have */

/* --- equal bins --- */

/* The reciprocal bins * 2^64 / span makes d * bins / span one multiplication, d * reciprocal >> 64.
 *
 * Up to a span of 2^32 it is rounded up. That errs by less than d / 2^64, so by less than 1 / span,
 * as d is below the span. A quotient that is not whole lies at least 1 / span below the next whole
 * number, so the result is exact.
 *
 * Up to 2^64 it is rounded down. That errs by less than 1, so the result may be one too small. */
static void set_reciprocal(struct binning *binning)
{
    uint128 dividend = (uint128)binning->bins << 64;
    uint128 divisor = (uint128)binning->span;
    if ((int128)binning->bins >= binning->span || binning->span > VALUES_64_BITS)
        return;
    binning->exact = binning->span <= (int128)1 << 32;
    binning->reciprocal = (uint64_t)((dividend + (binning->exact ? divisor - 1 : 0)) / divisor);
}

static void build_whole(struct binning *binning, int128 first, int128 span, size_t bins)
{
    *binning = (struct binning){.is_whole = true, .bins = bins, .first = first, .span = span};
    set_reciprocal(binning);
}

void binning_own(struct binning *binning, size_t bins)
{
    build_whole(binning, 0, (int128)bins, bins);
}

enum binning_error binning_equal_whole(struct binning *binning, int128 min, int128 max, size_t bins)
{
    if (min >= max)
        return BINNING_NOT_ASCENDING;
    build_whole(binning, min, max - min, bins);
    return BINNING_OK;
}

enum binning_error binning_equal(struct binning *binning, double min, double max, size_t bins)
{
    if (!(min < max))
        return BINNING_NOT_ASCENDING;
    if (isinf(max - min))
        return BINNING_TOO_WIDE;
    *binning = (struct binning){.bins = bins, .min = min, .max = max};
    binning->step = (max - min) / (double)bins;
    binning->per_step = (double)bins / (max - min);
    /* A narrower step would be rounded so much that edges do not ascend. */
    return binning->step >= DBL_MIN ? BINNING_OK : BINNING_TOO_NARROW;
}

int128 binning_whole_edge(const struct binning *binning, size_t k)
{
    if (binning->whole_edges)
        return binning->whole_edges[k];
    if (binning->kind == BINNING_DIGITS)
        return digits_whole_edge(&binning->digits, k);
    int128 bins = (int128)binning->bins;
    return binning->first + ((int128)k * binning->span + bins - 1) / bins;
}

/* Returns the double whose bits from LOG_LINEAR_SHIFT on are these. */
static double leading(size_t leading_bits)
{
    uint64_t bits = (uint64_t)leading_bits << LOG_LINEAR_SHIFT;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double binning_edge(const struct binning *binning, size_t k)
{
    if (binning->kind == BINNING_LOG_LINEAR) {
        if (k == LOG_LINEAR_HALF + 1)
            return DBL_TRUE_MIN; /* where zero's bin ends */
        return k < LOG_LINEAR_HALF    ? -leading(LOG_LINEAR_HALF - k)
               : k == LOG_LINEAR_HALF ? 0
                                      : leading(k - LOG_LINEAR_HALF - 1);
    }
    if (binning->kind == BINNING_DIGITS)
        return digits_edge(&binning->digits, k);
    if (binning->edges)
        return binning->edges[k];
    if (k == binning->bins)
        return binning->max;
    return (double)k * binning->step + binning->min;
}

bool binning_is_zero_alone(const struct binning *binning, size_t bin)
{
    return !binning->is_whole && binning->kind >= BINNING_DECADES && bin == binning->bins / 2;
}

/* --- edges one by one --- */

enum binning_error binning_edges_whole(struct binning *binning, const int128 *edges, size_t count)
{
    if (count < 2)
        return BINNING_TOO_FEW;
    for (size_t k = 1; k < count; k++)
        if (edges[k - 1] >= edges[k])
            return BINNING_NOT_ASCENDING;
    *binning = (struct binning){.kind = BINNING_EDGES, .is_whole = true, .bins = count - 1};
    binning->whole_edges = malloc(count * sizeof edges[0]);
    if (!binning->whole_edges)
        return BINNING_NO_MEMORY;
    memcpy(binning->whole_edges, edges, count * sizeof edges[0]);
    return BINNING_OK;
}

enum binning_error binning_edges(struct binning *binning, const double *edges, size_t count)
{
    if (count < 2)
        return BINNING_TOO_FEW;
    for (size_t k = 1; k < count; k++)
        if (!(edges[k - 1] < edges[k]))
            return BINNING_NOT_ASCENDING;
    *binning = (struct binning){.kind = BINNING_EDGES, .bins = count - 1};
    binning->edges = malloc(count * sizeof edges[0]);
    if (!binning->edges)
        return BINNING_NO_MEMORY;
    memcpy(binning->edges, edges, count * sizeof edges[0]);
    return BINNING_OK;
}

/* Makes equal bins of doubles those between given edges. */
static enum binning_error list_edges(struct binning *binning)
{
    double *edges = malloc((binning->bins + 1) * sizeof edges[0]);
    if (!edges)
        return BINNING_NO_MEMORY;
    for (size_t k = 0; k <= binning->bins; k++)
        edges[k] = binning_edge(binning, k);
    *binning = (struct binning){.kind = BINNING_EDGES, .bins = binning->bins, .edges = edges};
    return BINNING_OK;
}

/* Steps are rounded, multiplied and added to a minimum, all of which may be off by half a unit. */
#define EDGE_ERROR (5 * DBL_EPSILON)

enum binning_error binning_use_decimals(struct binning *binning)
{
    const double min = binning->min, step = binning->step;
    const double largest = fmax(fabs(min), fabs(binning->max));
    if (binning->is_whole || binning->kind != BINNING_EQUAL || step < 4 * EDGE_ERROR * largest)
        return BINNING_OK;
    if (list_edges(binning) != BINNING_OK)
        return BINNING_NO_MEMORY;
    for (size_t k = 1; k < binning->bins; k++) {
        const double edge = binning->edges[k];
        char text[32];
        snprintf(text, sizeof text, "%.12g", edge);
        const double decimal = strtod(text, NULL);
        if (fabs(decimal - edge) <= EDGE_ERROR * fmax(fabs(min), fabs(edge)))
            binning->edges[k] = decimal + 0.0; /* not -0 */
    }
    return BINNING_OK;
}

enum binning_error binning_include_upper(struct binning *binning)
{
    if (!binning->is_whole && !binning->edges && list_edges(binning) != BINNING_OK)
        return BINNING_NO_MEMORY;
    for (size_t k = 0; binning->edges && k <= binning->bins; k++)
        binning->edges[k] = nextafter(binning->edges[k], HUGE_VAL);
    for (size_t k = 0; binning->whole_edges && k <= binning->bins; k++)
        binning->whole_edges[k]++;
    binning->first += binning->is_whole && !binning->whole_edges;
    binning->is_right = true;
    return BINNING_OK;
}

void binning_log_linear(struct binning *binning)
{
    *binning = (struct binning){.kind = BINNING_LOG_LINEAR, .bins = LOG_LINEAR_BINS};
}

/* --- looking up --- */

/* Returns the row of a whole value among edges that are given, or of a double. */
static size_t search(const struct binning *binning, int128 whole, double value)
{
    size_t low = 0, high = binning->bins + 1; /* edges [0, low) are not above it, [high, ...) are */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (binning->whole_edges ? binning->whole_edges[middle] <= whole
                                 : binning_edge(binning, middle) <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t binning_row_whole(const struct binning *binning, int128 value)
{
    if (binning->whole_edges)
        return search(binning, value, 0);
    if (binning->kind == BINNING_DIGITS)
        return 1 + digits_whole_bin(&binning->digits, value);
    int128 offset = value - binning->first;
    if (offset < 0)
        return ROW_BELOW;
    if (offset >= binning->span)
        return ROW_ABOVE(binning);
    if (binning->reciprocal)
        return 1 + (size_t)binning_of_offset(binning, (uint64_t)offset);
    return 1 + (size_t)((uint128)offset * binning->bins / (uint128)binning->span);
}

/* In equal bins a row is guessed, and searched if the edges do not prove it. */
size_t binning_row(const struct binning *binning, double value)
{
    if (binning->kind == BINNING_LOG_LINEAR)
        return binning_row_log_linear(value);
    if (binning->kind == BINNING_DIGITS) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        return digits_row(&binning->digits, bits);
    }
    if (isnan(value))
        return ROW_INVALID(binning);
    double guess = (value - binning->min) * binning->per_step; /* also NaN */
    if (binning->edges || !(guess >= 0 && guess < (double)binning->bins))
        return search(binning, 0, value);
    size_t bin = (size_t)guess;
    bool right = value >= binning_edge(binning, bin) && value < binning_edge(binning, bin + 1);
    return right ? 1 + bin : search(binning, 0, value);
}

/* --- showing --- */

int128 binning_shown_whole_edge(const struct binning *binning, size_t k)
{
    return binning_whole_edge(binning, k) - binning->is_right;
}

double binning_shown_edge(const struct binning *binning, size_t k)
{
    if (binning->kind == BINNING_DIGITS)
        return digits_shown_edge(&binning->digits, k);
    const double edge = binning_edge(binning, k);
    return binning->is_right ? nextafter(edge, -HUGE_VAL) + 0.0 : edge; /* not -0 */
}

void binning_show_edge(const struct binning *binning, size_t k, char *text)
{
    if (binning->is_whole)
        show_whole(binning_shown_whole_edge(binning, k), text);
    else if (binning->kind == BINNING_DIGITS)
        digits_show_edge(&binning->digits, k, text);
    else
        show_double(binning_shown_edge(binning, k), text);
}

void binning_free(struct binning *binning)
{
    free(binning->whole_edges);
    free(binning->edges);
    free((void *)binning->digits.scales);
    *binning = (struct binning){0};
}

/* --- digits of doubles --- */

/* Returns the scale of a binary exponent for a decade: a power of ten, times the power of two that
 * puts numbers above `shift` bits of the product's upper 64. */
static struct digits_scale digits_scale_of(const struct digits_layout *layout, int exponent,
                                           int decade)
{
    const int power = (int)layout->digits - 1 - decade;
    const struct power bits = number_power_above(power);
    uint128 scale = bits.high;
    const int drop = 62 - (int)layout->shift - exponent - number_exponent(power);
    scale = scale << 64 | bits.low;
    if (drop > 0)
        scale = ((scale - 1) >> drop) + 1;
    return (struct digits_scale){.high = (uint64_t)(scale >> 64), .low = (uint64_t)scale};
}

enum binning_error binning_digits(struct binning *binning, unsigned digits, bool singles)
{
    struct digits_scale *scales =
        malloc(DIGITS_EXPONENTS * sizeof *scales + (DIGITS_STEPS + 1) * sizeof(struct digits_step));
    struct digits_step *steps = (struct digits_step *)(void *)(scales + DIGITS_EXPONENTS);
    struct digits_layout layout = {
        .scales = scales, .steps = steps, .digits = digits, .next = 10, .singles = singles};
    if (!scales)
        return BINNING_NO_MEMORY;
    for (unsigned digit = 1; digit < digits; digit++)
        layout.next *= 10;
    layout.per_decade = layout.next / 10 * 9;
    layout.shift = (unsigned)__builtin_clzll((uint64_t)layout.next * 2);
    number_prepare();
    for (int i = 0; i < DIGITS_EXPONENTS; i++) {
        const int exponent = i + DIGITS_EXPONENT_FIRST;
        scales[i] = digits_scale_of(&layout, exponent, digits_decade(exponent));
    }
    for (int i = 0; i <= DIGITS_STEPS; i++) {
        struct digits_step *step = &steps[i];
        *step = (struct digits_step){.next = UINT64_MAX, .row = {DIGITS_NO_ROW, DIGITS_NO_ROW}};
        if (i >= (singles ? DIGITS_STEPS_OF_SINGLES : DIGITS_STEPS))
            continue;
        const int exponent = i + DIGITS_STEP_FIRST, decade = digits_decade(exponent);
        const double next = digits_nearest((struct digits_decimal){1, decade + 1});
        memcpy(&step->next, &next, sizeof next);
        for (int k = 0; k < 2; k++) {
            const struct digits_scale scale = digits_scale_of(&layout, exponent, decade + k);
            step->scale[k] = scale.high + (scale.low != 0);
            step->row[k] = DIGITS_SIDE(layout.per_decade) + 4 - layout.next / 10 +
                           (uint32_t)(decade + k - DECADE_FIRST) * layout.per_decade;
        }
    }
    *binning = (struct binning){
        .kind = BINNING_DIGITS, .bins = DIGITS_BINS(layout.per_decade), .digits = layout};
    return BINNING_OK;
}

double digits_nearest(struct digits_decimal decimal)
{
    const bool negative = decimal.number < 0;
    const uint64_t mantissa = (uint64_t)(negative ? -decimal.number : decimal.number);
    double value;
    char text[48];
    if (!decimal_to_double(number_powers(), mantissa, decimal.power, &value)) {
        snprintf(text, sizeof text, "%" PRIu64 "e%d", mantissa, decimal.power);
        value = strtod(text, NULL);
    }
    return negative ? -value : value;
}

/* Returns edge k, from 0, of the decades over zero. */
static struct digits_decimal digits_edge_over_zero(const struct digits_layout *layout, size_t k)
{
    const size_t first = layout->next / 10;
    int power = (int)(k / layout->per_decade) + DECADE_FIRST;
    for (size_t rest = first; rest > 1; rest /= 10)
        power--;
    return (struct digits_decimal){(int64_t)(first + k % layout->per_decade), power};
}

struct digits_decimal digits_decimal_edge(const struct digits_layout *layout, size_t k)
{
    const size_t side = DIGITS_SIDE(layout->per_decade);
    struct digits_decimal edge = {0, DECADE_FIRST};
    if (k <= side) {
        edge = digits_edge_over_zero(layout, side - k);
        edge.number = -edge.number;
    } else if (k > side + 2) {
        edge = digits_edge_over_zero(layout, k - side - 3);
    }
    return edge;
}

double digits_shown_edge(const struct digits_layout *layout, size_t k)
{
    const bool is_least = k == DIGITS_SIDE(layout->per_decade) + 2;
    return is_least ? DBL_TRUE_MIN : digits_nearest(digits_decimal_edge(layout, k));
}

void digits_show_edge(const struct digits_layout *layout, size_t k, char *text)
{
    const struct digits_decimal edge = digits_decimal_edge(layout, k);
    char digits[SHOW_NUMBER];
    size_t len = show_unsigned((uint64_t)(edge.number < 0 ? -edge.number : edge.number), digits);
    if (edge.number == 0) {
        show_double(digits_shown_edge(layout, k), text);
        return;
    }
    const int exponent = edge.power + (int)len;
    while (digits[len - 1] == '0')
        digits[--len] = '\0';
    if (edge.number < 0)
        *text++ = '-';
    show_decimal(digits, exponent, text);
}

/* Rounding to a double and then to a float is the same as rounding once: no decimal of up to
 * DIGITS_MAX digits is so near to a middle between two floats. Beyond the greatest float, where
 * infinity is the only value, doubles will do. */
double digits_edge(const struct digits_layout *layout, size_t k)
{
    const double edge = digits_shown_edge(layout, k);
    const bool is_least = k == DIGITS_SIDE(layout->per_decade) + 2;
    return layout->singles && !is_least && fabs(edge) <= (double)FLT_MAX ? (double)(float)edge
                                                                         : edge;
}

/* --- digits of whole values --- */

#define VALUE_DIGITS 20 /* of the greatest value of 64 bits */

static const uint64_t ten_to[VALUE_DIGITS] = {UINT64_C(1),
                                              UINT64_C(10),
                                              UINT64_C(100),
                                              UINT64_C(1000),
                                              UINT64_C(10000),
                                              UINT64_C(100000),
                                              UINT64_C(1000000),
                                              UINT64_C(10000000),
                                              UINT64_C(100000000),
                                              UINT64_C(1000000000),
                                              UINT64_C(10000000000),
                                              UINT64_C(100000000000),
                                              UINT64_C(1000000000000),
                                              UINT64_C(10000000000000),
                                              UINT64_C(100000000000000),
                                              UINT64_C(1000000000000000),
                                              UINT64_C(10000000000000000),
                                              UINT64_C(100000000000000000),
                                              UINT64_C(1000000000000000000),
                                              UINT64_C(10000000000000000000)};

/* Returns the number of bins on either side of the edge that is 0. */
static size_t side_of(const struct digits_layout *layout)
{
    return layout->next + (size_t)(VALUE_DIGITS - layout->digits) * layout->per_decade;
}

void binning_digits_whole(struct binning *binning, unsigned digits)
{
    const uint32_t next = (uint32_t)ten_to[digits];
    const struct digits_layout layout = {
        .digits = digits, .per_decade = next / 10 * 9, .next = next};
    *binning = (struct binning){
        .kind = BINNING_DIGITS, .is_whole = true, .bins = 2 * side_of(&layout), .digits = layout};
}

/* Returns the bin of a value from 0 on, counted from that of 0. */
static size_t bin_from_zero(const struct digits_layout *layout, uint64_t value)
{
    if (value < layout->next)
        return (size_t)value;
    /* 1233 / 4096 is a little less than log10(2), so this is floor(log10(value)), or one more. */
    unsigned power = (unsigned)(64 - __builtin_clzll(value)) * 1233 >> 12;
    power -= value < ten_to[power];
    const unsigned decade = power - layout->digits + 1; /* from 1 */
    return decade * (size_t)layout->per_decade + (size_t)(value / ten_to[decade]);
}

size_t digits_whole_bin(const struct digits_layout *layout, int128 value)
{
    const size_t side = side_of(layout);
    if (value < 0)
        return side - 1 - bin_from_zero(layout, (uint64_t)(-1 - value));
    return side + bin_from_zero(layout, (uint64_t)value);
}

int128 digits_whole_edge(const struct digits_layout *layout, size_t k)
{
    const size_t side = side_of(layout), from_zero = k < side ? side - k : k - side;
    int128 edge = (int128)from_zero;
    if (from_zero >= layout->next) {
        const size_t beyond = from_zero - layout->next;
        const size_t decade = beyond / layout->per_decade; /* from 0 */
        edge = layout->next / 10 + beyond % layout->per_decade;
        edge *= 10 * (int128)ten_to[decade];
    }
    return k < side ? -edge : edge;
}

/* --- decades --- */

#define WHOLE_EDGES_MAX (3 * 20 + 1) /* over zero: 1 to 2e19, above any 64-bit value */

static const int factors[DECADE_PARTS] = {1, 2, 5};

/* Nearly the powers of the tenth root of ten, in hundredths. */
static const int fine_factors[DECADE_PARTS_FINE] = {100, 125, 160, 200, 250,
                                                    320, 400, 500, 640, 800};

enum binning_error binning_decades(struct binning *binning, unsigned parts)
{
    const size_t side = (size_t)DECADES * parts, count = 2 * side + 4;
    double *edges = malloc(count * sizeof *edges), *above_zero;
    if (!edges)
        return BINNING_NO_MEMORY;
    number_prepare();
    above_zero = edges + side + 3;
    for (size_t k = 0; k <= side; k++) {
        struct digits_decimal edge = {factors[k % parts % DECADE_PARTS],
                                      DECADE_FIRST + (int)(k / parts)};
        if (parts == DECADE_PARTS_FINE)
            edge = (struct digits_decimal){fine_factors[k % parts], edge.power - 2};
        above_zero[k] = digits_nearest(edge);
        edges[side - k] = -above_zero[k];
    }
    edges[side + 1] = 0;
    edges[side + 2] = DBL_TRUE_MIN;
    *binning = (struct binning){
        .kind = BINNING_DECADES, .bins = count - 1, .edges = edges, .decade_bins = side};
    return BINNING_OK;
}

enum binning_error binning_decades_whole(struct binning *binning, unsigned parts, unsigned bits,
                                         bool is_signed)
{
    const int128 end = (int128)1 << (is_signed ? bits - 1 : bits);
    int128 above_zero[WHOLE_EDGES_MAX], power = 1;
    size_t over = 0, count = 0;
    do {
        above_zero[over] = factors[over % parts] * power;
        power *= ++over % parts == 0 ? 10 : 1;
    } while (above_zero[over - 1] < end);
    int128 *edges = malloc((2 * over + 1) * sizeof *edges);
    if (!edges)
        return BINNING_NO_MEMORY;
    for (size_t k = over; is_signed && k > 0; k--)
        edges[count++] = -above_zero[k - 1];
    edges[count++] = 0;
    for (size_t k = 0; k < over; k++)
        edges[count++] = above_zero[k];
    *binning = (struct binning){.kind = BINNING_DECADES,
                                .is_whole = true,
                                .bins = count - 1,
                                .whole_edges = edges,
                                .decade_bins = over - 1};
    return BINNING_OK;
}
