/* SPDX-License-Identifier: MIT */
#include "binning.h"
#include "src/text/show_number.h"

#include <float.h>
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

static double log_linear_edge(size_t k)
{
    if (k < LOG_LINEAR_HALF)
        return -leading(LOG_LINEAR_HALF - k);
    if (k == LOG_LINEAR_HALF + 1)
        return DBL_TRUE_MIN; /* where zero's bin ends */
    return k == LOG_LINEAR_HALF ? 0 : leading(k - LOG_LINEAR_HALF - 1);
}

double binning_edge(const struct binning *binning, size_t k)
{
    if (binning->kind == BINNING_LOG_LINEAR)
        return log_linear_edge(k);
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

static size_t search_whole(const struct binning *binning, int128 value)
{
    size_t low = 0, high = binning->bins + 1; /* edges [0, low) are not above it, [high, ...) are */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (binning->whole_edges[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t search(const struct binning *binning, double value)
{
    size_t low = 0, high = binning->bins + 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (binning_edge(binning, middle) <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t binning_row_whole(const struct binning *binning, int128 value)
{
    if (binning->whole_edges)
        return search_whole(binning, value);
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
    if (binning->kind == BINNING_DIGITS)
        return binning_row_digits(binning, value);
    if (isnan(value))
        return ROW_INVALID(binning);
    double guess = (value - binning->min) * binning->per_step; /* also NaN */
    if (binning->edges || !(guess >= 0 && guess < (double)binning->bins))
        return search(binning, value);
    size_t bin = (size_t)guess;
    bool right = value >= binning_edge(binning, bin) && value < binning_edge(binning, bin + 1);
    return right ? 1 + bin : search(binning, value);
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
