/* SPDX-License-Identifier: MIT */
/* Counts by key of one thread at a time: a small table, which is moved to those of all threads
 * (src/tally/key_tallies.h) whenever it is full, and at the end. */
#ifndef GPUHISTO_KEYED_COUNTS_H
#define GPUHISTO_KEYED_COUNTS_H

#include "key_tallies.h"
#include "src/text/lines.h"

struct keyed_counts {
    struct key_tallies *keys; /* of all threads */
    struct key_table table;
    struct key_samples samples; /* of its keys */
    struct quick_sums quick;    /* of its keys, beside those of the table */
    uint64_t rows;              /* counted since keys were moved last */
    bool is_spread;             /* keys hardly repeated when they were moved last */
    struct key_shares *shares;  /* of samples of such keys; NULL before any */
    uint64_t shared;            /* samples that are still to go there, without a table */
    size_t wide_max;            /* more keys whose sums are moments are moved */
    size_t wide;                /* keys whose sums became moments */
    unsigned char *scratch;     /* for keys that are not in the text; NULL until one is counted */
    size_t scratch_used;        /* bytes of it */
    unsigned parts;             /* of each name */
    struct key_span (*spans)[LINES_MAX];  /* for the keys of a batch, and its weights; */
    uint64_t *weights;                    /* NULL: records have none */
    struct key_memo memos[KEY_PARTS_MAX]; /* of the last part that was made for each */
    uint64_t invalid; /* records without a key, and numbers that are none, so far */
};

/* Makes counts to be moved to `keys`, as so many `tables` are. 0, or -1 if memory is short:
 * keyed_close is due in any case. */
int keyed_open(struct keyed_counts *keyed, struct key_tallies *keys, unsigned tables,
               bool has_weights);

/* Frees them. Does nothing with all-zero ones. */
void keyed_close(struct keyed_counts *keyed);

/* Moves what was counted. */
void keyed_move(struct keyed_counts *keyed);

/* Counts the records of a batch by their keys: their rows, unless these are NULL, as where lines
 * are counted, and its values, of which NaN counts as invalid. `listed` are these as
 * line_reader_list has them, or NULL if none is large. */
void keyed_count(struct keyed_counts *keyed, const struct line_batch *batch, const uint32_t *rows,
                 const struct listed_number *listed);

#endif
