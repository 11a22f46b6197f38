/* SPDX-License-Identifier: MIT */
/* A histogram: a mode and its rows. tally.h has the counts. */
#ifndef GPUHISTO_HISTOGRAM_SPEC_H
#define GPUHISTO_HISTOGRAM_SPEC_H

#include "src/bins/binning.h"
#include "src/text/key.h"
#include "src/text/line_filter.h"
#include "mode.h"
#include "src/bins/value_type.h"

#define LETTERS 26 /* in the alphabet */
#define BYTE_VALUES 256
#define CHANNELS_MAX 64
#define PAIR_ROWS 65536 /* a row for each pair: the first byte times 256, and the second */
#define NO_BIN 0xffffu  /* in spec.bin_of: the byte is counted nowhere */

/* A mode with its rows. Never changes once it is built, so any number of threads may count by it.
 * Members that the mode does not use are 0. */
struct histogram_spec {
    const struct mode *mode;
    size_t sample_size; /* bytes; 0: varies, or samples overlap */
    size_t bins;        /* rows, each with a count: 1 to 256, CHARACTER_ROWS, groups and one,
                         * PAIR_ROWS, or ROWS of the binning for each channel, channel by channel */
    unsigned channels;  /* whose samples alternate, up to CHANNELS_MAX; of values only */
    unsigned width;     /* letters in a bin; of bytes and pairs 1 */
    bool is_aligned;    /* pairs: no byte is in two of them */
    bool fold;          /* upper case counts as lower case */
    const struct character_groups *groups; /* of characters; NULL: each has a row of its own */
    uint16_t bin_of[BYTE_VALUES];          /* bytes and letters: the bin of each byte, or NO_BIN */
    struct value_type type;                /* if mode->is_binned; of numbers f64 */
    struct binning binning;                /* if mode->is_binned */
    bool has_moments;                      /* tallies have moments; only if mode->is_binned */
    struct field field;                    /* of numbers and lines: where in a line they stand */
    struct key key;                        /* of numbers and lines: what they are counted by */
    struct line_filter filter;             /* of numbers and lines: which lines count */
    const struct histogram_spec *also;     /* the next one by which the same input is counted */
};

/* Builds one bin for each byte value. */
void histogram_spec_bytes(struct histogram_spec *spec);

/* Builds bins of `width` (1 to 26) lower-case letters each; the last may be shorter. */
void histogram_spec_letters(struct histogram_spec *spec, unsigned width, bool fold);

/* Builds a row for each character of Unicode, general category or block, and one for what is
 * invalid (characters.h). */
void histogram_spec_characters(struct histogram_spec *spec);
void histogram_spec_categories(struct histogram_spec *spec);
void histogram_spec_blocks(struct histogram_spec *spec);

/* Counts lines by a key, which is set afterwards; the field is that of the key. */
void histogram_spec_lines(struct histogram_spec *spec);

/* Builds a bin for each pair of bytes. */
void histogram_spec_pairs(struct histogram_spec *spec, bool is_aligned);

/* Counts values of a type by a binning, which belongs to the histogram from then on. */
void histogram_spec_values(struct histogram_spec *spec, const struct value_type *type,
                           const struct binning *binning);

/* Counts numbers in text by a binning of doubles, which belongs to the histogram from then on. They
 * are tokens between white space of all lines, unless `field` and `filter` are set afterwards. */
void histogram_spec_numbers(struct histogram_spec *spec, const struct binning *binning);

/* Makes values those of 1 to CHANNELS_MAX alternating channels, each with rows of its own. */
void histogram_spec_split(struct histogram_spec *spec, unsigned channels);

/* Returns the number of channels, at least one, and of the rows of each. */
unsigned histogram_spec_channels(const struct histogram_spec *spec);
size_t histogram_spec_rows(const struct histogram_spec *spec);

/* Returns the histogram of one channel, which shares what the histogram owns. */
struct histogram_spec histogram_spec_of_channel(const struct histogram_spec *spec);

/* Returns the bytes of a sample, or of one of each channel. 0: they vary, and only the counts tell
 * how many samples there are. */
size_t histogram_spec_sample_size(const struct histogram_spec *spec);

/* Returns the most samples that a chunk of len bytes can contain; the exact number, of pairs and of
 * samples of a fixed size. */
uint64_t histogram_spec_samples_max(const struct histogram_spec *spec, size_t len);

/* Returns what a row, below spec->bins, counts. */
enum row_kind histogram_spec_row_kind(const struct histogram_spec *spec, size_t row);

/* Sets a label, which is all 0 or was set for another row of the histogram. Going from a row to the
 * next is fastest. */
void histogram_spec_label_row(const struct histogram_spec *spec, size_t row,
                              struct row_label *label);

/* True if rows without a sample are left out of a table, as there may be a hundred thousand. */
bool histogram_spec_is_sparse(const struct histogram_spec *spec);

/* True if each possible value of a sample is a bin of its own; most may never occur. */
bool histogram_spec_counts_values(const struct histogram_spec *spec);

/* True if counts whose sum is `counted` can be those of `samples` samples. */
bool histogram_spec_adds_up(const struct histogram_spec *spec, uint64_t counted, uint64_t samples);

/* Adds counts of bytes to counts of bins: counts[bin_of[v]] += bytes[v]. For bytes and letters. */
void histogram_spec_map(const struct histogram_spec *spec, const uint64_t bytes[BYTE_VALUES],
                        uint64_t *counts);

#endif
