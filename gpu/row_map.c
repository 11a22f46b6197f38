#include "row_map.h"

#include <stdlib.h>
#include <string.h>

static unsigned bits_of(const struct histogram *histogram)
{
    return 8 * (unsigned)histogram->type.size;
}

/* The least value of the type. */
static whole least_of(const struct histogram *histogram)
{
    return histogram->type.kind == 'i' ? -((whole)1 << (bits_of(histogram) - 1)) : 0;
}

static unsigned long long sign_of(const struct histogram *histogram)
{
    return histogram->type.kind == 'i' ? 1ull << (bits_of(histogram) - 1) : 0;
}

/* Spans over 2^32 have a reciprocal that may tell the bin before. With all of 64 bits it tells the
 * right one of most of them: bins * 2^(64 + shift) / span, rounded up, errs by less than span /
 * 2^(64 + shift), which must not be more than 1 / span. */
static void lay_reciprocal(struct row_map *map, const struct binning *binning)
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
    /* Half of the reciprocal, rounded up, is enough for a span whose square has 32 bits. */
    if (map->size == 2 && map->way == ROWS_BY_32_BITS && binning->span <= 65536) {
        map->way = ROWS_BY_16_BITS;
        map->high += map->low > 0;
    }
}

/* Equal bins by offsets modulo 2^bits, if all edges are whole numbers of so many bits, of which
 * the type's values are some: then no value outside of them comes to lie within the span. */
static bool lay_offsets(struct row_map *map, const struct histogram *histogram, unsigned bits)
{
    const struct binning *binning = &histogram->binning;
    /* Narrower values have room for a sign, whether they have one or not. */
    bool is_signed = histogram->type.kind == 'i' || bits > (histogram->type.size > 4 ? 64 : 32);
    whole least = is_signed ? -((whole)1 << (bits - 1)) : 0, most = least + ((whole)1 << bits);
    if (binning->first < least || binning->first + binning->span > most)
        return false;
    /* Numbers begin at the least value of the type. */
    unsigned long long mask = bits == 32 ? 0xffffffffull : ~0ull;
    map->way = bits == 32 ? ROWS_BY_32_BITS : ROWS_BY_64_BITS;
    map->first = (unsigned long long)(binning->first - least_of(histogram)) & mask;
    map->last = (unsigned long long)(binning->span - 1) & mask;
    map->beyond = (unsigned long long)(most - 1 - binning->first) & mask;
    map->most = bits == 32 && map->last == mask ? map->last : map->last + 1;
    lay_reciprocal(map, binning);
    return true;
}

static void lay_wholes(struct row_map *map, const struct histogram *histogram)
{
    const struct binning *binning = &histogram->binning;
    map->sign = sign_of(histogram);
    bool by_offset = binning->reciprocal || (whole)binning->bins == binning->span;
    if (by_offset && !binning->whole_edges)
        for (unsigned bits = bits_of(histogram) > 32 ? 64 : 32; bits <= 64; bits *= 2)
            if (lay_offsets(map, histogram, bits))
                return;
    map->way = ROWS_BY_WHOLE_EDGES;
    whole least = least_of(histogram), end = least + ((whole)1 << bits_of(histogram));
    for (size_t k = 0; k <= binning->bins; k++) {
        whole edge = binning_whole_edge(binning, k);
        map->below += edge < least;
        map->edges += edge >= least && edge < end;
    }
}

struct row_map row_map_of(const struct histogram *histogram)
{
    const struct binning *binning = &histogram->binning;
    struct row_map map = {
        .size = (unsigned)histogram->type.size,
        .size_log = (unsigned)__builtin_ctzl(histogram->type.size),
        .swapped = histogram->type.big_endian,
        .bins = (unsigned)binning->bins,
    };
    if (histogram->type.kind != 'f') {
        if (map.size == 1)
            map.way = ROWS_OF_BYTES;
        else
            lay_wholes(&map, histogram);
        return map;
    }
    map.way = binning->log_linear ? ROWS_LOG_LINEAR
              : binning->edges    ? ROWS_BY_EDGES
                                  : ROWS_OF_DOUBLES;
    map.edges = map.bins + 1;
    map.min = binning->min;
    map.max = binning->max;
    map.step = binning->step;
    map.per_step = binning->per_step;
    return map;
}

static void *rows_of_bytes(const struct histogram *histogram, size_t *size)
{
    unsigned *rows = malloc(*size = 256 * sizeof *rows);
    for (int byte = 0; rows && byte < 256; byte++) {
        whole value = histogram->type.kind == 'i' && byte >= 128 ? byte - 256 : byte;
        rows[byte] = (unsigned)binning_row_whole(&histogram->binning, value);
    }
    return rows;
}

static void *whole_edges(const struct histogram *histogram, const struct row_map *map, size_t *size)
{
    unsigned long long *numbers = malloc(*size = (map->edges + 1) * sizeof *numbers);
    for (size_t k = 0; numbers && k < map->edges; k++) {
        whole edge = binning_whole_edge(&histogram->binning, map->below + k);
        numbers[k] = (unsigned long long)(edge - least_of(histogram));
    }
    return numbers;
}

static void *double_edges(const struct histogram *histogram, size_t *size)
{
    double *edges = malloc(*size = (histogram->binning.bins + 1) * sizeof *edges);
    return edges ? memcpy(edges, histogram->binning.edges, *size) : NULL;
}

void *row_table(const struct histogram *histogram, size_t *size)
{
    struct row_map map = row_map_of(histogram);
    *size = 0;
    switch (map.way) {
    case ROWS_OF_BYTES:
        return rows_of_bytes(histogram, size);
    case ROWS_BY_WHOLE_EDGES:
        return whole_edges(histogram, &map, size);
    case ROWS_BY_EDGES:
        return double_edges(histogram, size);
    default:
        return NULL;
    }
}
