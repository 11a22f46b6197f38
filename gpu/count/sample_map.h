/* SPDX-License-Identifier: MIT */
/* A histogram as the kernels are given it: plain numbers, and a table in the device's memory. */
#ifndef GPUHISTO_GPU_COUNT_SAMPLE_MAP_H
#define GPUHISTO_GPU_COUNT_SAMPLE_MAP_H

#include "src/bins/binning.h"
#include "src/text/field.h"

struct histogram_spec;

/* --- values: from this gpu/count/rows.cuh finds the row of one. src/tally/histogram_spec.h chooses
 * the way; the GPU's own additions are here --- */

/* The ways of finding a row. */
enum row_way {
    ROWS_OF_BYTES,       /* values of a byte: looked up */
    ROWS_BY_16_BITS,     /* equal bins of values of 2 bytes, over a span of at most 2^16 */
    ROWS_BY_32_BITS,     /* equal bins of whole values, by their offset in 32 bits */
    ROWS_BY_64_BITS,     /* and in 64 */
    ROWS_BY_128_BITS,    /* by an offset of 64 bits and a quotient that may be one too small */
    ROWS_BY_WHOLE_EDGES, /* whole values, by a binary search */
    ROWS_OF_FLOATS,      /* equal bins of floats, by a guess that is far enough from both edges */
    ROWS_OF_DOUBLES,     /* equal bins of doubles, by a guess that the edges prove */
    ROWS_BY_EDGES,       /* doubles, by a binary search */
    ROWS_LOG_LINEAR,     /* doubles, by their bits */
    ROWS_OF_DIGITS,      /* doubles, by scaling them by a power of ten */
};

/* Whole values become unsigned numbers in the same order: number = bits ^ sign, the bits of a value
 * without those above its size.
 *
 * Equal bins: offset = number - first, modulo 2^32 or 2^64, is the offset from the first edge. One
 * above `last` lies outside, and one above `beyond` below the first edge.
 *
 * By 16 bits the value itself is taken, its sign extended to 32 bits: first it is brought into
 * [first, first + offset_max], which changes no row, then row = ((value - first) * high + origin)
 * >> 32.
 *
 * Edges: the table has those that values of this type can tell apart, as numbers, and `below` is
 * how many lie below them all. */
struct row_map {
    enum row_way way;
    unsigned size;      /* bytes of a value */
    unsigned size_log;  /* its logarithm to base 2 */
    bool swapped;       /* big-endian */
    unsigned halves[2]; /* size 2: what PRMT is told to take the lower or the upper value of a word,
                           with its sign if the way is by 16 bits */
    unsigned bins;
    unsigned long long sign, first, last, beyond;
    unsigned long long
        offset_max; /* offset to look at: the span, or the last where 32 bits hold no more */
    unsigned long long reciprocal; /* bin = offset * reciprocal >> 64 >> shift; 0: bin = offset */
    unsigned high, low;            /* its halves */
    unsigned shift;
    unsigned long long origin;       /* by 16 bits */
    double min, max, step, per_step; /* as in struct binning */
    /* Floats: bin = value * scale + base, rounded, if that moves it by less than `proof`. */
    float scale, base, proof;
    unsigned edges, below;
    struct digits_layout digits; /* without its scales, which are the table */
    const void *table;           /* in the device's memory: what row_table gave */
};

/* Returns the map for a histogram whose mode is_binned, without its table. */
struct row_map row_map_of(const struct histogram_spec *spec);

/* Returns the table of the map: `size` bytes, to be freed with free; NULL with a size of 0 if it
 * needs none, with another if memory is short. */
void *row_table(const struct histogram_spec *spec, size_t *size);

/* --- the map from characters to groups (struct character_groups) --- */

struct group_map {
    unsigned shift, bits;  /* as in struct character_groups */
    unsigned units_at;     /* where the units begin in the table, after the pages */
    const uint16_t *table; /* group_table, on the device; NULL: characters have no groups */
};

/* Returns the map of a histogram, without its table; all zeros if it has no groups. */
struct group_map group_map_of(const struct histogram_spec *spec);

/* Allocates a histogram's table of groups, of *size bytes, for free(). NULL: out of memory. */
void *group_table(const struct histogram_spec *spec, size_t *size);

/* --- the field of a line that is the number: struct field without pointers --- */

/* The longest string of --after, in bytes; a longer one is left to the CPU. */
#define LINE_FIELD_AFTER_MAX 128

struct line_field {
    enum field_kind kind;
    int number;
    unsigned char separator;
    unsigned after_len;
    unsigned char after[LINE_FIELD_AFTER_MAX];
};

/* True if the kernel takes the field. Reading from the beginning of a file is needed to know where
 * records of CSV end, and each file's header to know the number of a named column. */
static inline bool line_field_takes(const struct field *field)
{
    return field->kind != FIELD_NONE && field->kind != FIELD_CSV && field->kind != FIELD_JSON &&
           field->kind != FIELD_LINE && !field->name && field->after_len <= LINE_FIELD_AFTER_MAX;
}

#endif
