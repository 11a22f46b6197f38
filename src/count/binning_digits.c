/* SPDX-License-Identifier: MIT */
#include "binning.h"
#include "number.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What takes doubles of a binary exponent to numbers of a decade: the power of ten, and the power
 * of two that puts numbers above `shift` bits of the product's upper 64. */
static struct digits_scale digits_scale_of(const struct digits_layout *layout, int exponent,
                                           int decade)
{
    const int power = (int)layout->digits - 1 - decade;
    const struct power bits = number_power_above(power);
    __extension__ unsigned __int128 scale = bits.high;
    const int drop = 62 - (int)layout->shift - exponent - number_exponent(power);
    scale = scale << 64 | bits.low;
    if (drop > 0)
        scale = ((scale - 1) >> drop) + 1;
    return (struct digits_scale){.high = (uint64_t)(scale >> 64), .low = (uint64_t)scale};
}

static struct digits_step digits_step_of(const struct digits_layout *layout, int exponent)
{
    struct digits_step step;
    const int first = digits_decade(exponent);
    const double next = digits_nearest((struct digits_decimal){1, first + 1});
    memcpy(&step.next, &next, sizeof next);
    for (int i = 0; i < 2; i++) {
        const struct digits_scale scale = digits_scale_of(layout, exponent, first + i);
        step.scale[i] = scale.high + (scale.low != 0);
        step.row[i] = DIGITS_SIDE(layout->per_decade) + 4 - layout->next / 10 +
                      (uint32_t)(first + i - DECADE_FIRST) * layout->per_decade;
    }
    return step;
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
    for (int i = 0; i <= DIGITS_STEPS; i++)
        steps[i] =
            i < (singles ? DIGITS_STEPS_OF_SINGLES : DIGITS_STEPS)
                ? digits_step_of(&layout, i + DIGITS_STEP_FIRST)
                : (struct digits_step){.next = UINT64_MAX, .row = {DIGITS_NO_ROW, DIGITS_NO_ROW}};
    *binning = (struct binning){.bins = DIGITS_BINS(layout.per_decade), .digits = layout};
    return BINNING_OK;
}

double digits_nearest(struct digits_decimal decimal)
{
    const bool negative = decimal.number < 0;
    const uint64_t mantissa = (uint64_t)(negative ? -decimal.number : decimal.number);
    double value;
    char text[48];
    if (!number_nearest(number_powers(), mantissa, decimal.power, &value)) {
        snprintf(text, sizeof text, "%" PRIu64 "e%d", mantissa, decimal.power);
        value = strtod(text, NULL);
    }
    return negative ? -value : value;
}

/* Edge k of the decades over zero, the first one being 0. */
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

/* Rounding twice, to a double and then to a float, is rounding once here: no decimal of up to
 * DIGITS_MAX digits is so near to a middle between two floats. Beyond the greatest float, where
 * there are no values but infinity, doubles will do. */
double digits_edge(const struct digits_layout *layout, size_t k)
{
    const double edge = digits_shown_edge(layout, k);
    const bool is_least = k == DIGITS_SIDE(layout->per_decade) + 2;
    return layout->singles && !is_least && fabs(edge) <= (double)FLT_MAX ? (double)(float)edge
                                                                         : edge;
}
