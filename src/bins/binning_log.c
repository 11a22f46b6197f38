/* SPDX-License-Identifier: MIT */
/* Edges at the powers of a number. */
#include "long_power.h"

#include <math.h>
#include <stdlib.h>

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
    for (int128 edge;; long_power_lower(power)) {
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
        long_power_raise(power);
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

static void reverse(struct edge_list *list)
{
    for (size_t i = 0, j = list->count - 1; i < j; i++, j--) {
        const int128 edge = list->edges[i];
        list->edges[i] = list->edges[j];
        list->edges[j] = edge;
    }
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
    reverse(list);
    if (long_power_open(&power, base, limbs) != 0)
        return BINNING_NO_MEMORY;
    error = add_ascending(list, &power);
    long_power_close(&power);
    return error;
}

/* Returns the edges as a binning has them, in memory of their size, which is no longer the list's.
 * NULL if memory is short. */
static void *shrink_edges(struct edge_list *list)
{
    const size_t size = list->is_whole ? sizeof(int128) : sizeof(double);
    char *bytes = (char *)list->edges;
    for (size_t i = 0; !list->is_whole && i < list->count; i++) {
        const double edge = double_of(list->edges[i]);
        memcpy(bytes + i * sizeof edge, &edge, sizeof edge);
    }
    return realloc(bytes, list->count * size);
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
    void *edges = NULL;
    if (error == BINNING_OK && !(edges = shrink_edges(list)))
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
