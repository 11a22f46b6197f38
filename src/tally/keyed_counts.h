/* SPDX-License-Identifier: MIT */
/* Counts by key of one thread at a time: a small table, which is moved to those of all threads
 * (src/tally/key_tallies.h) whenever it is full, and at the end. */
#ifndef GPUHISTO_KEYED_COUNTS_H
#define GPUHISTO_KEYED_COUNTS_H

#include "src/text/field_parser.h"
#include "src/text/key.h"
#include "key_tallies.h"
#include "src/bins/sums.h"

/* Records that are counted together, at most. */
#define KEYED_MAX 1024

struct keyed_counts {
    struct key_tallies *keys; /* of all threads */
    struct key_table table;
    struct key_samples samples; /* of its keys */
    struct quick_sums quick;    /* of its keys, beside those of the table */
    uint64_t rows;              /* counted since keys were moved last */
    bool is_spread;             /* keys hardly repeated when they were moved last */
    size_t wide_max;            /* more keys whose sums are moments are moved */
    size_t wide;                /* keys whose sums became moments */
    unsigned char *scratch;     /* for keys that are not in the text; NULL until one is counted */
    size_t scratch_used;        /* bytes of it */
    unsigned parts;             /* of each name */
    struct key_span (*spans)[KEYED_MAX];  /* for the caller: where key i of record k is, [i][k];
                                           * behind them where its weight is */
    uint64_t *weights;                    /* of the records; NULL: they have none */
    struct weight_total *weight_total;    /* if they have; of all threads */
    struct key_memo memos[KEY_PARTS_MAX]; /* of the last part that was made for each */
    uint64_t invalid; /* records without a key, and numbers that are none, so far */
};

/* Makes counts to be moved to `keys`, as so many `tables` are. `total` is NULL unless records have
 * weights. 0, or -1 if memory is short: keyed_close is due in any case. */
int keyed_open(struct keyed_counts *keyed, struct key_tallies *keys, unsigned tables,
               struct weight_total *total);

/* Frees them. Does nothing with all-zero ones. */
void keyed_close(struct keyed_counts *keyed);

/* Moves what was counted. */
void keyed_move(struct keyed_counts *keyed);

/* Sets the spans of the second and further keys of the n records from text.at on that count as
 * records of the field, and their weights; those of the first keys are known. A record without a
 * weight becomes invalid: its value, or without `values` its key. */
void keyed_find_others(struct keyed_counts *keyed, const struct number_parser *parser,
                       const struct field *field, const struct key *keys, struct record_text text,
                       double *values, size_t n);

/* Counts n records, KEYED_MAX at most, by their keys, whose spans are set, and sets the numbers of
 * these, which hold until this is called again. */
void keyed_count(struct keyed_counts *keyed, const struct key *keys, size_t n, uint32_t *numbers);

/* Counts their rows. */
void keyed_count_rows(struct keyed_counts *keyed, const uint32_t *numbers, const uint32_t *rows,
                      size_t n);

/* Adds their values to the sums of the keys, but for NaN, which counts as invalid. `wholes` are the
 * same as whole numbers, or NULL if no value is large. */
struct listed_number;
void keyed_add_values(struct keyed_counts *keyed, const uint32_t *numbers, const double *values,
                      const struct listed_number *wholes, size_t n);

/* Whole numbers in text that are too large for a double, such as IDs of 64 bits. Parsers round them
 * to the nearest double, which has the right bin; this adds to the moments what was rounded off. It
 * is slow: batch_moments_has_large finds the batches that need it. */

/* Reads the numbers of a batch once more, in fields if there is a field, and adds them by
 * moments_add_large. */
void large_numbers_read(const struct number_parser *parser, const struct field *field,
                        struct record_text text, struct moments *moments);

struct listed_number {
    int128 number;
    bool is_whole; /* it is the one that was written, of at most 64 bits */
};

/* Lists the numbers of a batch in fields, one for each record that counts. */
void large_numbers_list(const struct number_parser *parser, const struct field *field,
                        struct record_text text, struct listed_number *numbers);

#endif
