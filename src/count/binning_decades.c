/* SPDX-License-Identifier: MIT */
/* Edges at powers of ten, or at 1, 2 and 5 times these, on both sides of zero. */
#include "binning.h"
#include "number.h"

#include <float.h>
#include <stdlib.h>

#define WHOLE_EDGES_MAX (3 * 20 + 1) /* over zero: 1 to 2e19, which no 64-bit value reaches */

static const int factors[DECADE_PARTS] = {1, 2, 5};

enum binning_error binning_decades(struct binning *binning, unsigned parts)
{
    const size_t side = (size_t)DECADES * parts, count = 2 * side + 4;
    double *edges = malloc(count * sizeof *edges), *above_zero;
    if (!edges)
        return BINNING_NO_MEMORY;
    number_prepare();
    above_zero = edges + side + 3;
    for (size_t k = 0; k <= side; k++) {
        above_zero[k] = digits_nearest(
            (struct digits_decimal){factors[k % parts], DECADE_FIRST + (int)(k / parts)});
        edges[side - k] = -above_zero[k];
    }
    edges[side + 1] = 0;
    edges[side + 2] = DBL_TRUE_MIN;
    *binning = (struct binning){.bins = count - 1, .edges = edges, .decade_bins = side};
    return BINNING_OK;
}

enum binning_error binning_decades_whole(struct binning *binning, unsigned parts, unsigned bits,
                                         bool is_signed)
{
    const whole end = (whole)1 << (is_signed ? bits - 1 : bits);
    whole above_zero[WHOLE_EDGES_MAX], power = 1;
    size_t over = 0, count = 0;
    do {
        above_zero[over] = factors[over % parts] * power;
        power *= ++over % parts == 0 ? 10 : 1;
    } while (above_zero[over - 1] < end);
    whole *edges = malloc((2 * over + 1) * sizeof *edges);
    if (!edges)
        return BINNING_NO_MEMORY;
    for (size_t k = over; is_signed && k > 0; k--)
        edges[count++] = -above_zero[k - 1];
    edges[count++] = 0;
    for (size_t k = 0; k < over; k++)
        edges[count++] = above_zero[k];
    *binning = (struct binning){
        .is_whole = true, .bins = count - 1, .whole_edges = edges, .decade_bins = over - 1};
    return BINNING_OK;
}
