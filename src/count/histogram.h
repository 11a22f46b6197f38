/* SPDX-License-Identifier: MIT */
/* What is counted: a mode, the bins laid for it, and the counts themselves. */
#ifndef GPUHISTO_HISTOGRAM_H
#define GPUHISTO_HISTOGRAM_H

#include "binning.h"
#include "field.h"
#include "mode.h"
#include "moments.h"
#include "value_type.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LETTERS 26 /* in the alphabet */
#define CHANNELS_MAX 64
#define PAIR_ROWS 65536 /* a row for each pair: the first byte times 256, and the second */
#define NO_BIN 0xffffu  /* in histogram.bin_of: the byte is counted nowhere */

/* A mode with its bins. Never changes once it is laid, so that any number of threads may count by
 * it. Members that the mode has no use for are 0. */
struct histogram {
    const struct mode *mode;
    size_t bins; /* rows, each with a count: 1 to 256, CHARACTER_ROWS, groups and one, PAIR_ROWS,
                  * or ROWS of the binning for each channel, one channel after the other */
    unsigned channels; /* whose samples come in turn, up to CHANNELS_MAX; of values only */
    unsigned width;    /* letters in a bin; of bytes and pairs 1 */
    bool is_aligned;   /* pairs: no byte is in two of them */
    bool fold;         /* upper case counts as lower case */
    const struct character_groups *groups; /* of characters; NULL: each has a row of its own */
    uint16_t bin_of[256];         /* bytes and letters: the bin of every byte value, or NO_BIN */
    struct value_type type;       /* if mode->is_binned; of numbers f64 */
    struct binning binning;       /* likewise */
    bool has_moments;             /* tallies have moments; only if mode->is_binned */
    struct field field;           /* of numbers: where in a line they stand */
    const struct histogram *also; /* another one that the same input is counted by, and so on */
};

/* Lays one bin for each byte value. */
void histogram_bytes(struct histogram *histogram);

/* Lays bins of `width` (1 to 26) lower-case letters each; the last may be shorter. */
void histogram_letters(struct histogram *histogram, unsigned width, bool fold);

/* Lays a row for each character of Unicode, and one for what is invalid (characters.h). */
void histogram_characters(struct histogram *histogram);

/* The same for each general category, or each block, of characters. */
void histogram_categories(struct histogram *histogram);
void histogram_blocks(struct histogram *histogram);

/* Lays a bin for each pair of bytes. Samples are each byte with the one after it; or, if aligned,
 * bytes 0 and 1, 2 and 3, and so on. */
void histogram_pairs(struct histogram *histogram, bool is_aligned);

/* Counts values of a type by a binning, which is the histogram's from then on. */
void histogram_values(struct histogram *histogram, const struct value_type *type,
                      const struct binning *binning);

/* Has values of so many channels, 1 to CHANNELS_MAX, come in turn, each counted in rows of its own.
 */
void histogram_split(struct histogram *histogram, unsigned channels);

/* How many channels there are, at least one, and how many rows each of them has. */
unsigned histogram_channels(const struct histogram *histogram);
size_t histogram_rows(const struct histogram *histogram);

/* Returns the histogram of a channel alone, which shares what the histogram has. */
struct histogram histogram_of_channel(const struct histogram *histogram);

/* Counts numbers in text by a binning of doubles, which is the histogram's from then on. They are
 * tokens between white space, unless `field` is set afterwards. */
void histogram_numbers(struct histogram *histogram, const struct binning *binning);

/* Bytes of a sample, or of one of each channel, or 0 if that varies: struct mode has more. */
size_t histogram_sample_size(const struct histogram *histogram);

/* Whether rows without a sample are left out of a table: there may be more than a hundred thousand.
 */
bool histogram_is_sparse(const struct histogram *histogram);

/* Whether each value that a sample can have is a bin of its own, as each byte is: most may never
 * occur. */
bool histogram_counts_values(const struct histogram *histogram);

/* Whether counts whose sum is `counted` can be those of so many samples: as many, or no more where
 * samples may belong to no bin. */
bool histogram_adds_up(const struct histogram *histogram, uint64_t counted, uint64_t samples);

/* Adds a table of byte totals to bin counts: counts[bin_of[v]] += bytes[v]. `counts` has
 * histogram->bins entries. For bytes and letters. */
void histogram_map(const struct histogram *histogram, const uint64_t bytes[256], uint64_t *counts);

/* Exact counts. */
struct row_blocks;

struct tally {
    size_t bins;
    uint64_t samples;          /* all that were looked at, in a bin or not */
    uint64_t bytes;            /* of input, that the samples came in */
    uint64_t newlines;         /* of text; 0 otherwise */
    uint64_t *counts;          /* one for each bin */
    struct moments *moments;   /* of the samples that are numbers, for each channel; NULL unless
                                * histogram.has_moments */
    unsigned channels;         /* of the histogram, at least one; 0: there are no moments */
    struct tally *also;        /* of histogram.also; NULL: there is none */
    struct row_blocks *blocks; /* all rows of blocks that are not marked are known to be 0; NULL:
                                * none is. Whoever counts without marking leaves it NULL. */
};

/* Makes *tally an all-zero one for a histogram, and for those that are counted with it: all further
 * functions do what they say to their tallies too, but for those about rows. 0; or -1 if memory is
 * short, and nothing to free. */
int tally_open(struct tally *tally, const struct histogram *histogram);

/* Returns the tally of one channel, from 0, of a histogram that has several: its samples, rows and
 * moments, which stay the tally's. */
struct tally tally_of_channel(const struct tally *tally, unsigned channel);

/* Frees what tally_open made. */
void tally_close(struct tally *tally);

/* Makes it all zeros again. */
void tally_clear(struct tally *tally);

/* Adds `from` to `into`; both have the same bins. */
void tally_add(struct tally *into, const struct tally *from);

/* The first row from `row` on whose count is not 0, or tally->bins. Fast where most are 0, and
 * faster with blocks. */
size_t tally_next_counted(const struct tally *tally, size_t row);

/* The rows from `row` on, in parts: returns the first row of the next one that may have a count
 * other than 0, or tally->bins, and sets *end to the row after its last one. A part begins at
 * `row`, or later only if all rows before it are 0. */
size_t tally_next_part(const struct tally *tally, size_t row, size_t *end);

/* The sum of the counts of rows [from, to). */
uint64_t tally_sum(const struct tally *tally, size_t from, size_t to);

/* The rows of a channel's decades (binning_decades) on either side of zero, below and above: from
 * the first to the last that has samples of any channel. Both are empty if there are none, or if
 * the bins are others. */
struct row_range {
    size_t begin, end; /* without `end` */
};
void tally_seen_decades(const struct tally *tally, const struct histogram *histogram,
                        struct row_range seen[2]);

/* The samples that were counted in a row: the sum of the counts. */
uint64_t tally_counted(const struct tally *tally);

/* Forgets samples that were invalid. */
void tally_skip_invalid(struct tally *tally, const struct histogram *histogram);

/* Whether the counts can be what tally->samples samples give (histogram_adds_up). */
bool tally_adds_up(const struct tally *tally, const struct histogram *histogram);

#endif
