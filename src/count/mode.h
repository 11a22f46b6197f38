/* SPDX-License-Identifier: MIT */
/* A mode says what a sample is, in which row of the table it is counted, and what counts can be
 * believed. A struct mode is all that input, engines and report know of it: they ask its members
 * and functions, and compare no identifiers.
 *
 * To add one: a row in modes.def, a file mode_NAME.c with its descriptor and the function that lays
 * a histogram of it (histogram.h), and an entry where engines keep a function for each mode: the
 * tables by enum mode_id in src/cpu/count.c, gpu/strategy.c and gpu/count/kernel_table.cu. */
#ifndef GPUHISTO_MODE_H
#define GPUHISTO_MODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct statistics;
struct histogram;
struct tally;

/* Indices of tables that have an entry for each mode. */
enum mode_id {
#define MODE(identifier, descriptor) MODE_##identifier,
#include "modes.def"
#undef MODE
    MODES
};

/* What a row of the table counts. All rows but bins are the table's "other". */
enum row_kind {
    ROW_KIND_BIN,
    ROW_KIND_BELOW,   /* numbers below the first edge */
    ROW_KIND_ABOVE,   /* numbers from the last edge on */
    ROW_KIND_INVALID, /* what is not a number */
    ROW_KINDS,
};

#define MODE_COLUMNS 3 /* of a table, at most */

#define ROW_TEXT 64 /* bytes of each text in a label, with its end: the name of a block has 48 */

/* What a row is called. Texts that a row does not have are empty. */
struct row_label {
    enum row_kind kind;
    size_t next;         /* the row after this one, if the mode makes use of that; otherwise 0 */
    char name[ROW_TEXT]; /* column 1 of a table: "a-d", "0x41", a lower edge, "invalid" */
    char lo[ROW_TEXT];   /* the lower edge or first value: a number, or "-inf" */
    char hi[ROW_TEXT];   /* the upper edge, which is not in the row, or the last value, which is */
    char note[ROW_TEXT]; /* column 3 of a table: the upper edge; of bytes the character */
};

/* Constant, and the same for all histograms of the mode. The functions may be called by any
 * thread; they change nothing but what they are given for their result. */
struct mode {
    enum mode_id id;
    const char *name; /* "bytes", as JSON has it */
    bool is_text;     /* samples are tokens between white space, or in fields of lines: chunks are
                       * cut between these and have room for one that is not whole
                       * (src/records/records.h), newlines are counted, and what is not a number
                       * is reported */
    bool has_characters; /* samples are characters of UTF-8: chunks are cut between these, with room
                          * for one that is not whole */
    bool has_pairs;      /* samples are pairs of bytes, PAIR_ROWS rows */
    bool is_binned;      /* samples are numbers, of histogram->type, and the rows those of
                          * histogram->binning: BELOW, the bins, ABOVE, INVALID */
    bool counts_every;   /* every sample is counted in a row; otherwise some may be in none */
    bool is_sparse;      /* rows without a sample are left out of a table, unless all are wanted */
    bool has_types;      /* JSON tells the histogram's type */

    /* The heading of a table; the last is NULL if rows have no note. */
    const char *columns[MODE_COLUMNS];

    /* Bytes of a sample, or of one of each channel; 0 if that varies, and only the counts tell how
     * many samples there are. */
    size_t (*sample_size)(const struct histogram *histogram);

    /* The most samples that a chunk of len bytes can hold; just that many if their size does not
     * vary, and of pairs. */
    uint64_t (*samples_most)(const struct histogram *histogram, size_t len);

    /* What the row, below histogram->bins, counts. */
    enum row_kind (*row_kind)(const struct histogram *histogram, size_t row);

    /* Sets *label to what the row, below histogram->bins, is called. *label is all 0, or was set
     * for another row of the same histogram: an edge that both have need not be worked out again.
     */
    void (*label_row)(const struct histogram *histogram, size_t row, struct row_label *label);

    /* Adds the statistics that --stats prints of the mode's samples, but for quantiles. The tally
     * of a mode that is_binned has moments. */
    void (*add_statistics)(const struct histogram *histogram, const struct tally *tally,
                           struct statistics *statistics);
};

/* All of them, by enum mode_id. */
extern const struct mode *const modes[MODES];

#define MODE(identifier, descriptor) extern const struct mode mode_##descriptor;
#include "modes.def"
#undef MODE

#endif
