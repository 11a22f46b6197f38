/* SPDX-License-Identifier: MIT */
#include "sample_map.h"
#include "src/tally/characters.h"
#include "src/tally/histogram_spec.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- values --- */

static unsigned bits_of(const struct histogram_spec *spec)
{
    return 8 * (unsigned)spec->type.size;
}

/* The least value of the type. */
static int128 min_of(const struct histogram_spec *spec)
{
    return row_plan_min(bits_of(spec), spec->type.kind == 'i');
}

/* Spans over 2^32 have a reciprocal that may tell the bin before. With all of 64 bits it tells the
 * right one of most of them: bins * 2^(64 + shift) / span, rounded up, errs by less than span /
 * 2^(64 + shift), which must not be more than 1 / span. */
static void build_reciprocal(struct row_map *map, const struct binning *binning)
{
    __extension__ typedef unsigned __int128 wide;
    map->reciprocal = binning->reciprocal;
    if (binning->reciprocal && !binning->exact) {
        wide span = (wide)binning->span, part = (wide)binning->bins << 64;
        while ((part << 1) / span < (wide)1 << 63 && map->shift < 39) {
            part <<= 1;
            map->shift++;
        }
        bool enough = span <= (wide)1 << (64 + map->shift) / 2;
        if (enough)
            map->reciprocal = (unsigned long long)((part + span - 1) / span);
        else
            map->shift = 0, map->way = ROWS_BY_128_BITS;
    }
    map->high = (unsigned)(map->reciprocal >> 32);
    map->low = (unsigned)map->reciprocal;
}

static int128 clamp(int128 number, int128 min, int128 max)
{
    return number < min ? min : number > max ? max : number;
}

/* Equal bins of values of 2 bytes, over a span of at most 2^16.
 *
 * The row of a value is 1 + floor((value - first) * bins / span), down to first - 1, the last value
 * below the bins, and up to first + span, the first above. Those farther away are taken for these,
 * so that all lie in [from, to]. With value = from + x, the row is
 *
 *     floor((x * bins + span + before * bins) / span), before = from - first,
 *
 * which (x * high + origin) >> 32 gives, high being 2^32 * bins / span, and origin 2^32 * (span +
 * before * bins) / span, both rounded up. Each errs by less than 1, so that the sum errs by less
 * than x + 1 <= 2^16 <= 2^32 / span; and 2^32 / span is how far a quotient is at least from the
 * next row.
 *
 * If no value of the type lies within the bins, from = to, and `before` is set to that of the value
 * that it is taken for. */
static void build_16_bits(struct row_map *map, const struct histogram_spec *spec)
{
    const struct binning *binning = &spec->binning;
    const int128 first = binning->first, span = binning->span, bins = (int128)binning->bins;
    const int128 min = min_of(spec), one = (int128)1 << 32;
    const int128 from = clamp(first - 1, min, min + 65535);
    const int128 to = clamp(first + span, min, min + 65535);
    const int128 before = clamp(from - first, -1, span); /* where all are outside: one of them */
    map->way = ROWS_BY_16_BITS;
    map->first = (unsigned long long)from;
    map->offset_max = (unsigned long long)(to - from);
    map->origin = (unsigned long long)(((span + before * bins) * one + span - 1) / span);
    if (bins < span) {
        map->high = (unsigned)((bins * one + span - 1) / span);
    } else {
        /* Each value is its own bin: one less than 2^32, made up for by 2^16 and never too much. */
        map->high = 0xffffffff;
        map->origin += 65536;
    }
    if (spec->type.kind == 'i') {
        map->halves[0] = map->swapped ? 0x8801 : 0x9910;
        map->halves[1] = map->swapped ? 0xaa23 : 0xbb32;
    }
}

/* Equal bins by offsets modulo 2^bits of the plan. Numbers begin at the least value of the type. */
static void build_offsets(struct row_map *map, const struct histogram_spec *spec,
                          const struct row_plan *plan)
{
    const struct binning *binning = &spec->binning;
    const unsigned long long mask = plan->bits == 32 ? 0xffffffffull : ~0ull;
    const int128 max = row_plan_min(plan->bits, plan->is_signed) + (int128)mask;
    map->way = plan->bits == 32 ? ROWS_BY_32_BITS : ROWS_BY_64_BITS;
    map->first = (unsigned long long)(binning->first - min_of(spec)) & mask;
    map->last = (unsigned long long)(binning->span - 1) & mask;
    map->beyond = (unsigned long long)(max - binning->first) & mask;
    map->offset_max = plan->bits == 32 && map->last == mask ? map->last : map->last + 1;
    build_reciprocal(map, binning);
}

/* Equal bins of floats by arithmetic of floats, unless values would often be too near an edge for
 * it to tell.
 *
 * value * scale + base is the bin and where in it the value lies, less a half. Three roundings make
 * it err, each by at most 2^-24 of what is rounded: that of scale, times the value, that of base,
 * and that of the result, one operation (fmaf). In bins, a value from a bin below the edges to a
 * bin above has at most reach * per_step of the first, as much and a half of the second, and bins +
 * 2 of the third; those farther away are taken for the nearest of these, as the operation keeps
 * their order. Twice as much is allowed for: edges are what doubles make of them (binning.h), off
 * by some 2^-51 of reach * per_step. */
static void build_floats(struct row_map *map, const struct binning *binning)
{
    const double low = fabs(binning->min), high = fabs(binning->max);
    const double reach = (low > high ? low : high) + binning->step;
    const double bins = (double)binning->bins;
    const double error = (2 * reach * binning->per_step + bins + 3) * 0x1p-23;
    if (!(error < 0x1p-7) || binning->per_step < FLT_MIN || binning->per_step > FLT_MAX)
        return;
    map->way = ROWS_OF_FLOATS;
    map->scale = (float)binning->per_step;
    map->base = (float)(-binning->min * binning->per_step - 0.5);
    map->proof = (float)(0.5 - error);
}

/* Doubles, and floats, which become doubles unless their own arithmetic does. */
static void build_doubles(struct row_map *map, const struct histogram_spec *spec,
                          const struct row_plan *plan)
{
    const struct binning *binning = &spec->binning;
    map->way = plan->way == PLAN_LOG_LINEAR     ? ROWS_LOG_LINEAR
               : plan->way == PLAN_DIGITS       ? ROWS_OF_DIGITS
               : plan->way == PLAN_DOUBLE_EDGES ? ROWS_BY_EDGES
                                                : ROWS_OF_DOUBLES;
    map->digits = binning->digits;
    map->digits.scales = NULL;
    map->digits.steps = NULL;
    map->edges = map->bins + 1;
    map->min = binning->min;
    map->max = binning->max;
    map->step = binning->step;
    map->per_step = binning->per_step;
    if (map->size == 4 && map->way == ROWS_OF_DOUBLES)
        build_floats(map, binning);
}

struct row_map row_map_of(const struct histogram_spec *spec)
{
    const struct row_plan plan = row_plan_of(spec);
    struct row_map map = {
        .size = (unsigned)spec->type.size,
        .size_log = (unsigned)__builtin_ctzl(spec->type.size),
        .swapped = spec->type.big_endian,
        .halves = {spec->type.big_endian ? 0x4401 : 0x4410,
                   spec->type.big_endian ? 0x4423 : 0x4432},
        .bins = (unsigned)spec->binning.bins,
        .sign = spec->type.kind == 'i' ? 1ull << (bits_of(spec) - 1) : 0,
    };
    if (spec->type.kind == 'f')
        build_doubles(&map, spec, &plan);
    else if (map.size == 1)
        map.way = ROWS_OF_BYTES;
    else if (plan.way == PLAN_WHOLE_EDGES) {
        const int128 min = min_of(spec), end = min + ((int128)1 << bits_of(spec));
        map.way = ROWS_BY_WHOLE_EDGES;
        for (size_t k = 0; k <= spec->binning.bins; k++) { /* those that the type can tell apart */
            int128 edge = binning_whole_edge(&spec->binning, k);
            map.below += edge < min;
            map.edges += edge >= min && edge < end;
        }
    } else if (map.size == 2 && spec->binning.span <= 65536)
        build_16_bits(&map, spec);
    else
        build_offsets(&map, spec, &plan);
    return map;
}

void *row_table(const struct histogram_spec *spec, size_t *size)
{
    struct row_map map = row_map_of(spec);
    const void *from;
    *size = 0;
    switch (map.way) {
    case ROWS_OF_BYTES: {
        unsigned *rows = malloc(*size = 256 * sizeof *rows);
        for (int byte = 0; rows && byte < 256; byte++) {
            int128 value = spec->type.kind == 'i' && byte >= 128 ? byte - 256 : byte;
            rows[byte] = (unsigned)binning_row_whole(&spec->binning, value);
        }
        return rows;
    }
    case ROWS_BY_WHOLE_EDGES: {
        unsigned long long *numbers = malloc(*size = (map.edges + 1) * sizeof *numbers);
        for (size_t k = 0; numbers && k < map.edges; k++) {
            int128 edge = binning_whole_edge(&spec->binning, map.below + k);
            numbers[k] = (unsigned long long)(edge - min_of(spec));
        }
        return numbers;
    }
    case ROWS_BY_EDGES:
        *size = (spec->binning.bins + 1) * sizeof(double);
        from = spec->binning.edges;
        break;
    case ROWS_OF_DIGITS:
        *size = DIGITS_EXPONENTS * sizeof(struct digits_scale);
        from = spec->binning.digits.scales;
        break;
    default:
        return NULL;
    }
    void *copy = malloc(*size);
    return copy ? memcpy(copy, from, *size) : NULL;
}

/* --- groups of characters --- */

static size_t pages_of(const struct character_groups *groups)
{
    return CHARACTER_INVALID >> groups->shift >> groups->bits;
}

struct group_map group_map_of(const struct histogram_spec *spec)
{
    const struct character_groups *groups = spec->groups;
    if (!groups)
        return (struct group_map){0};
    return (struct group_map){
        .shift = groups->shift, .bits = groups->bits, .units_at = (unsigned)pages_of(groups)};
}

void *group_table(const struct histogram_spec *spec, size_t *size)
{
    const struct character_groups *groups = spec->groups;
    const size_t pages = pages_of(groups);
    size_t last = 0; /* page of units */
    for (size_t page = 0; page < pages; page++)
        if (groups->pages[page] > last)
            last = groups->pages[page];
    const size_t units = (last + 1) << groups->bits;
    *size = (pages + units) * sizeof(uint16_t);
    uint16_t *table = malloc(*size);
    if (!table)
        return NULL;
    memcpy(table, groups->pages, pages * sizeof *table);
    memcpy(table + pages, groups->units, units * sizeof *table);
    return table;
}
