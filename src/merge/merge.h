/* SPDX-License-Identifier: MIT */
/* Tables that were made elsewhere, added up. */
#ifndef GPUHISTO_MERGE_MERGE_H
#define GPUHISTO_MERGE_MERGE_H

#include "src/base/error.h"
#include "src/base/memory.h"
#include "src/report/report.h"
#include "src/tally/histogram_spec.h"

#include <stdbool.h>

struct preopened;
struct preopened_list;

/* --- shard_proof.c: the shards of a job, collected table by table --- */

/* The shard of one table. */
struct joined_shard {
    struct shard_record record; /* owned */
    const char *table;          /* the name of its file */
    uint64_t order;             /* of the table: if two overlap, the later one is at fault */
};

/* The shards that were joined. All zeros: no shards yet. */
struct shard_join {
    const char *first; /* the table of the first shard */
    struct shard_job job;
    uint64_t order; /* of the next table */
    struct joined_shard *shards;
    size_t count, capacity;
};

/* Moves the shard of a table into the join, and leaves *record empty. `table` stays valid. 0; or -1
 * with an error if the record is wrong or of another job. */
int shard_join_add(struct shard_join *join, struct shard_record *record, const char *table,
                   struct error *error);

/* Moves all shards of `from` to a join of the same job. 0, or -1 if memory is short. */
int shard_join_move(struct shard_join *join, struct shard_join *from);

/* Proves at the end that every byte was counted once: that no shard is missing, unless
 * may_be_incomplete, and that none overlap. *record becomes the record of them all; free it. 0; or
 * -1 with an error. */
int shard_join_finish(const struct shard_join *join, bool may_be_incomplete,
                      struct shard_record *record, struct error *error);

void shard_join_free(struct shard_join *join);

/* --- table_rows.c: rows of the histogram that tables had --- */

/* The texts of rows in the JSON of earlier tables, up to their counts. Other tables mostly have the
 * same texts, which need not be parsed again. All zeros: none was seen. */
struct seen_rows {
    const struct seen_rows *base; /* has more of them; or NULL */
    uint32_t *at;   /* of each row: where its text begins, with its length; 0: it was not seen */
    uint8_t *texts; /* of all of them */
    size_t len, capacity;
};

void seen_rows_free(struct seen_rows *seen);

/* --- merge.c: the sum --- */

struct options;

/* Makes the histogram that a table's options describe; free its bins. Tells `run`, unless it is
 * NULL, what keys are called. 0; or -1 with an error if no table that can be added up has such
 * options. Not for two threads at once. */
typedef int merge_builder(const struct words *options, struct histogram_spec *spec,
                          struct options *run, struct error *error);

/* Sorts a table's options; free them. 0, or -1 with an error. */
typedef int merge_sorter(const struct words *options, struct table_words *sorted,
                         struct error *error);

/* Tables whose samples came from elsewhere than those of the first one. */
struct merge_others {
    uint64_t tables;
    size_t file;      /* of the first of them */
    struct error how; /* it differs; begins with its name */
};

/* The way in which tables are read. */
struct merge_form {
    merge_builder *build;
    merge_sorter *sort;
    struct options *run; /* for `build`; or NULL */
    bool has_moments;    /* --stats needs moments */
    bool has_order;      /* --sort needs them, too, by a statistic of keys */
    bool is_cumulative;  /* --format=prometheus does, and bins with their upper edge */
    size_t max_keys;     /* of tables by key, together: see key_tallies_open */
    uint64_t max_key_bytes;
};

/* The first table, with which all others must agree. */
struct merge_first {
    const char *name; /* of its file; NULL: there was no table */
    struct words options;
    struct table_words sorted; /* the options */
};

/* The last table, with which the next one in the same file must agree. */
struct merge_last {
    const char *name; /* of its file; NULL: there was no table */
    struct words options;
    uint64_t table, tables; /* numbers by key: which one of a result it is, of how many; or 0 */
};

/* The sum so far. Set the form; all else begins with zeros. */
struct merge {
    struct merge_form form;
    struct merge_first first;
    struct merge_last last;
    struct merge_others others;
    struct histogram_spec spec;
    struct tally tally;
    struct key_tallies *keys; /* of tables by key, which all forks share: then the tally has no
                               * counts; NULL: tables are of all samples */
    struct row_blocks blocks; /* of the tally, if there are numbers by key */
    uint64_t total;           /* samples of all tables: the tally's */
    uint64_t tables;
    struct shard_join shards;
    struct seen_rows seen;
    size_t file;  /* which one is being read; set it, for `others` */
    bool is_fork; /* another merge has the first table: see merge_files */
};

/* Adds the table that was read of the file `name`, which stays valid. 0; or -1 with an error,
 * without the name, and nothing to be done but merge_free. */
struct parsed_table;
int merge_add(struct merge *merge, struct parsed_table *table, const char *name,
              struct error *error);

/* Sets the error to how a table's options differ from those of the file `first`. */
void merge_show_difference(struct error *error, const struct words *options, const char *first,
                           const struct words *first_options);

/* Returns the options that all tables have: without those that say where samples came from, if
 * these differ. */
struct words *merge_options(struct merge *merge);

void merge_free(struct merge *merge);

/* --- files of tables --- */

/* Adds all tables of a file, and releases it. 0, or -1 with an error that names the file. */
int merge_file(struct preopened *file, struct merge *merge, struct error *error);

/* Adds all tables of the files, at least one, and releases these. Uses `threads` threads at most,
 * and no more than one for each `thread_bytes` of input, unless that is 0. The first file is read
 * by one thread; so are all files if any of the others is a pipe or the like, or if several threads
 * would need over 256 MiB. merge->keys tells whether there are too many keys. 0; or -1 with the
 * error of the first file, in their order, that is refused. Neither sum nor error depends on the
 * threads. */
int merge_files(const struct preopened_list *files, unsigned threads, uint64_t thread_bytes,
                struct merge *merge, struct error *error);

#endif
