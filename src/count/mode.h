/* SPDX-License-Identifier: MIT */
/* A mode says what a sample is, what the rows of the table are called, and which counts are
 * believable. Input and report use its members and compare no identifiers; engines choose their
 * loops by the identifier.
 *
 * To add one: a row in modes.def, a descriptor and a function that lays its histogram in mode_*.c,
 * a case in src/cpu/count.c, and an entry in the tables by enum mode_id in gpu/strategy.c and
 * gpu/count/kernel_table.cu. */
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
    ROW_KIND_INVALID, /* not a number, or not UTF-8 */
    ROW_KINDS,
};

#define MODE_COLUMNS 3 /* of a table, at most */

#define ROW_TEXT 64 /* bytes of each text in a label, with its end; block names have up to 48 */

/* What a row is called. Texts that a row does not have are empty. */
struct row_label {
    enum row_kind kind;
    size_t next;         /* the row after this one, if the mode uses that; otherwise 0 */
    char name[ROW_TEXT]; /* column 1 of a table: "a-d", "0x41", a lower edge, "invalid" */
    char lo[ROW_TEXT];   /* the lower edge or first value: a number, or "-inf" */
    char hi[ROW_TEXT];   /* the upper edge, which is not in the row, or the last value, which is */
    char note[ROW_TEXT]; /* column 3 of a table: the upper edge; of bytes the character */
};

/* Constant. Any thread may call its functions. */
struct mode {
    enum mode_id id;
    const char *name;    /* "bytes", as in JSON */
    bool is_text;        /* samples are tokens or fields of lines: chunks are cut between these
                          * (src/records/records.h), newlines are counted, and what is not a number
                          * is reported */
    bool has_characters; /* samples are characters of UTF-8, between which chunks are cut; the last
                          * row is INVALID */
    bool has_pairs;      /* samples are pairs of bytes, PAIR_ROWS rows */
    bool is_binned;      /* samples are numbers of histogram->type, and the rows those of
                          * histogram->binning: BELOW, the bins, ABOVE, INVALID */
    bool counts_every;   /* every sample is counted in a row; otherwise some may be in none */
    bool is_sparse;      /* rows without a sample are left out of a table, unless all are wanted */
    bool has_types;      /* JSON contains the histogram's type */

    const char *columns[MODE_COLUMNS]; /* of a table; the last is NULL if rows have no note */

    /* Sets all of a label but its kind. The row is not INVALID. *label is all 0, or was set for
     * another row of the same histogram: an edge that both have need not be computed again. */
    void (*label_row)(const struct histogram *histogram, size_t row, struct row_label *label);

    /* Adds the statistics of a tally, without quantiles, for --stats. If the mode is_binned, the
     * tally has moments. */
    void (*add_statistics)(const struct histogram *histogram, const struct tally *tally,
                           struct statistics *to);
};

/* All modes, by enum mode_id. */
extern const struct mode *const modes[MODES];

#define MODE(identifier, descriptor) extern const struct mode mode_##descriptor;
#include "modes.def"
#undef MODE

/* Sets the label of the byte values, or code points, from lo to hi, without name and note. */
void row_label_set(struct row_label *label, unsigned lo, unsigned hi);

/* Writes a byte as tables show it: itself, as C escapes it, or ' ' in quotes. */
void byte_show(unsigned byte, char text[ROW_TEXT]);

#endif
