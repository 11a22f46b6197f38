/* SPDX-License-Identifier: MIT */
/* A histogram: a mode and its rows. tally.h has the counts. */
#ifndef GPUHISTO_HISTOGRAM_SPEC_H
#define GPUHISTO_HISTOGRAM_SPEC_H

#include "src/bins/binning.h"
#include "src/text/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The types of binary numbers that --values counts. */

struct value_type {
    const char *name; /* "u8" to "f64"; big-endian ones end in "be" */
    size_t size;      /* bytes: 1 to 4, or 8 */
    char kind;        /* 'u' and 'i': whole, without and with a sign; 'f': IEEE 754 */
    bool big_endian;
};

/* All types, ended by one whose name is NULL. */
extern const struct value_type value_types[];

/* Returns the type with this name, or NULL. */
const struct value_type *value_type_find(const char *name);

/* Writes the names of all types that are not big-endian to text[0..size): "u8, u16 or u32". */
void value_types_show(char *text, size_t size);

/* The kind of a row of a table, and its texts. */

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

/* A mode says what a sample is, what the rows of the table are called, and which counts are
 * believable. src/input and src/report use its members only; engines and src/cli also
 * look at the identifier. doc/adding.md says how to add one. */

struct statistics;
struct histogram_spec;
struct tally;

/* Indices of tables that have an entry for each mode. */
enum mode_id {
    MODE_BYTES,
    MODE_LETTERS,
    MODE_VALUES,
    MODE_NUMBERS,
    MODE_CHARACTERS,
    MODE_CATEGORIES,
    MODE_BLOCKS,
    MODE_PAIRS,
    MODE_LINES,
    MODES
};

#define MODE_COLUMNS 3 /* of a table, at most */

/* A constant description of a mode. Any thread may call its functions. */
struct mode {
    enum mode_id id;
    const char *name;    /* "bytes", as in JSON */
    bool is_text;        /* samples are tokens or fields of lines: chunks are cut between these
                          * (src/input/records.h), newlines are counted, and what is not a number
                          * is reported */
    bool has_characters; /* samples are characters of UTF-8, between which chunks are cut; the last
                          * row is INVALID */
    bool has_pairs;      /* samples are pairs of bytes, PAIR_ROWS rows */
    bool is_binned;      /* samples are numbers of spec->type, and the rows those of
                          * spec->binning: BELOW, the bins, ABOVE, INVALID */
    bool counts_every;   /* every sample is counted in a row; otherwise some may be in none */
    bool is_sparse;      /* rows without a sample are left out of a table, unless all are wanted */
    bool has_types;      /* JSON contains the histogram's type */

    const char *columns[MODE_COLUMNS]; /* of a table; the last is NULL if rows have no note */

    /* Sets all of a label but its kind. The row is not INVALID. *label is all 0, or was set for
     * another row of the same histogram: an edge that both have need not be computed again. */
    void (*label_row)(const struct histogram_spec *spec, size_t row, struct row_label *label);

    /* Adds the statistics of a tally, without quantiles, for --stats. If the mode is_binned, the
     * tally has moments. */
    void (*add_statistics)(const struct histogram_spec *spec, const struct tally *tally,
                           struct statistics *to);
};

/* All modes, by enum mode_id. */
extern const struct mode *const modes[MODES];

/* --NAME chooses mode_NAME; --by without a mode chooses lines. */
extern const struct mode mode_bytes, mode_letters, mode_values, mode_numbers, mode_characters,
    mode_categories, mode_blocks, mode_pairs, mode_lines;

/* A histogram: a mode and its rows. tally.h has the counts. */

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
    struct line_spec lines;                /* of numbers and lines */
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

/* Counts lines by keys, which are set afterwards. */
void histogram_spec_lines(struct histogram_spec *spec);

/* Builds a bin for each pair of bytes. */
void histogram_spec_pairs(struct histogram_spec *spec, bool is_aligned);

/* Counts values of a type by a binning, which belongs to the histogram from then on. */
void histogram_spec_values(struct histogram_spec *spec, const struct value_type *type,
                           const struct binning *binning);

/* Counts numbers in text by a binning of doubles, which belongs to the histogram from then on. They
 * are tokens between white space of all lines, unless `lines` is set afterwards. */
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

/* True if counts whose sum is `counted` can be those of `samples` samples. */
bool histogram_spec_adds_up(const struct histogram_spec *spec, uint64_t counted, uint64_t samples);

/* Adds counts of bytes to counts of bins: counts[bin_of[v]] += bytes[v]. For bytes and letters. */
void histogram_spec_map(const struct histogram_spec *spec, const uint64_t bytes[BYTE_VALUES],
                        uint64_t *counts);

/* The way in which the rows of binary numbers are found quickly. The CPU's loops and the GPU's
 * kernels have this choice in common; src/cpu/batch.h and gpu/count/sample_map.c
 * refine it. */

enum row_plan_way {
    PLAN_OFFSETS,       /* equal bins of whole numbers: by the offset from the first edge */
    PLAN_WHOLE_EDGES,   /* whole numbers: by comparing with edges */
    PLAN_WHOLE_DIGITS,  /* whole numbers: by dividing by a power of ten; on the CPU only */
    PLAN_EQUAL_DOUBLES, /* equal bins of doubles: by a guess that the edges beside it prove */
    PLAN_DOUBLE_EDGES,  /* doubles: by comparing with edges */
    PLAN_LOG_LINEAR,    /* doubles: by their leading bits */
    PLAN_DIGITS,        /* doubles: by scaling them by a power of ten */
};

struct row_plan {
    enum row_plan_way way;
    /* PLAN_OFFSETS: offsets are computed modulo 2^bits. All edges and all values of the type are
     * numbers of so many bits, so no value outside the edges gets an offset within the span. */
    unsigned bits; /* 32 or 64 */
    bool is_signed;
};

/* Returns the plan for a histogram whose mode is_binned. */
struct row_plan row_plan_of(const struct histogram_spec *spec);

/* Returns the least whole number of so many bits, 1 to 64. */
static inline int128 row_plan_min(unsigned bits, bool is_signed)
{
    return is_signed ? -((int128)1 << (bits - 1)) : 0;
}

#endif
