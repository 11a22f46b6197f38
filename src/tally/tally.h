/* SPDX-License-Identifier: MIT */
/* Exact counts by a histogram, and the texts of its rows. */
#ifndef GPUHISTO_TALLY_H
#define GPUHISTO_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct histogram_spec;
struct moments;

#define ROW_BLOCKS 4096

/* The blocks of a long table that may have counts. With it, a walk over the counts of a small file
 * takes time by its contents, and not by the length of the table. */
struct row_blocks {
    unsigned shift;                   /* a block has 1 << shift rows, at least 64 */
    uint64_t marked[ROW_BLOCKS / 64]; /* a bit for each block */
};

struct tally {
    size_t bins;
    uint64_t samples;          /* all, in a bin or not */
    uint64_t bytes;            /* of input */
    uint64_t newlines;         /* of text; 0 otherwise */
    uint64_t *counts;          /* one for each bin */
    struct moments *moments;   /* of the numbers of each channel; NULL unless has_moments */
    unsigned channels;         /* of the histogram, at least one */
    struct tally *also;        /* of histogram.also, or NULL */
    struct row_blocks *blocks; /* all rows of blocks that are not marked are 0; NULL: not known.
                                * Whoever counts without marking leaves it NULL. */
};

/* Makes *tally an all-zero one for a histogram and those counted with it: the functions below also
 * work on the tallies of these, unless they are about rows. 0; or -1 if memory is short, and there
 * is nothing to free. */
int tally_open(struct tally *tally, const struct histogram_spec *spec);

/* Frees what tally_open made. */
void tally_close(struct tally *tally);

/* Makes a tally all zeros again. */
void tally_clear(struct tally *tally);

/* Makes samples, counts and moments of a tally with blocks zero, and leaves no block marked. */
void tally_clear_blocks(struct tally *tally);

/* Adds `from` to `into`; both have the same bins. Blocks of `into` stay known if those of `from`
 * are. */
void tally_add(struct tally *into, const struct tally *from);

/* Returns the tally of one channel, from 0: its samples, rows and moments, which still belong to
 * the tally. */
struct tally tally_of_channel(const struct tally *tally, unsigned channel);

/* Returns the first row from `row` on whose count is not 0, or tally->bins. */
size_t tally_next_counted(const struct tally *tally, size_t row);

/* Returns the first row from `row` on that may have a count, or tally->bins, and sets *end to the
 * row after those that are to be read together. All rows before it are 0. */
size_t tally_next_block(const struct tally *tally, size_t row, size_t *end);

/* Returns the sum of the counts of rows [from, to), or of all rows. */
uint64_t tally_sum(const struct tally *tally, size_t from, size_t to);
uint64_t tally_counted(const struct tally *tally);

/* Sets the rows of decades (binning_decades) below and above zero, from the first to the last with
 * samples of any channel. Both are empty if there are none, or other bins. */
struct row_range {
    size_t begin, end; /* without `end` */
};
void tally_seen_decades(const struct tally *tally, const struct histogram_spec *spec,
                        struct row_range seen[2]);

/* Forgets invalid samples. */
void tally_skip_invalid(struct tally *tally, const struct histogram_spec *spec);

/* True if the counts can be those of tally->samples samples. */
bool tally_adds_up(const struct tally *tally, const struct histogram_spec *spec);

/* Makes blocks of so many rows, with none marked. */
void row_blocks_clear(struct row_blocks *blocks, size_t rows);

/* Marks the block of a row. */
static inline void row_blocks_mark(struct row_blocks *blocks, size_t row)
{
    const size_t block = row >> blocks->shift;
    blocks->marked[block / 64] |= (uint64_t)1 << block % 64;
}

/* Marks the blocks of rows [min, max], and perhaps others beside them. */
static inline void row_blocks_mark_range(struct row_blocks *blocks, size_t min, size_t max)
{
    const size_t end = (max >> blocks->shift) / 64;
    for (size_t word = (min >> blocks->shift) / 64; word <= end; word++)
        blocks->marked[word] = UINT64_MAX;
}

/* Returns the first row after the block of a row. */
static inline size_t row_blocks_end(const struct row_blocks *blocks, size_t row)
{
    return ((row >> blocks->shift) + 1) << blocks->shift;
}

/* --- the rows of a table: their kinds and texts --- */

/* The kinds of rows. All but bins are the table's "other". */
enum row_kind {
    ROW_KIND_BIN,
    ROW_KIND_BELOW,   /* numbers below the first edge */
    ROW_KIND_ABOVE,   /* numbers from the last edge on */
    ROW_KIND_INVALID, /* not a number, or not UTF-8 */
    ROW_KIND_REST,    /* keys that have no row of their own */
    ROW_KINDS,
};

#define ROW_TEXT 64 /* bytes of each text in a label, with its end; block names have up to 48 */

/* The texts of a row, empty where a row has none. */
struct row_label {
    enum row_kind kind;
    size_t next;         /* the row after this one, if the mode uses that; otherwise 0 */
    char name[ROW_TEXT]; /* column 1 of a table: "a-d", "0x41", a lower edge, "invalid" */
    char lo[ROW_TEXT];   /* the lower edge or first value: a number, or "-inf" */
    char hi[ROW_TEXT];   /* the upper edge, which is not in the row, or the last value, which is */
    char note[ROW_TEXT]; /* column 3 of a table: the upper edge; of bytes the character */
};

/* Sets the label of the byte values, or code points, from lo to hi, without name and note. */
void row_label_set(struct row_label *label, unsigned lo, unsigned hi);

/* Writes a byte as tables show it: itself, as C escapes it, or ' ' in quotes. */
void byte_show(unsigned byte, char text[ROW_TEXT]);

#endif
