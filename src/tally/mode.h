/* SPDX-License-Identifier: MIT */
/* A mode says what a sample is, what the rows of the table are called, and which counts are
 * believable. src/input and src/report use its members only; engines, src/cli and src/main_hints.c
 * also look at the identifier. doc/adding.md says how to add one. */
#ifndef GPUHISTO_MODE_H
#define GPUHISTO_MODE_H

#include "row_label.h"

#include <stdbool.h>
#include <stdint.h>

struct statistics;
struct histogram_spec;
struct tally;

/* Indices of tables that have an entry for each mode. */
enum mode_id {
#define MODE(identifier, descriptor, build) MODE_##identifier,
#include "modes.def"
#undef MODE
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

#define MODE(identifier, descriptor, build) extern const struct mode mode_##descriptor;
#include "modes.def"
#undef MODE

#endif
