/* SPDX-License-Identifier: MIT */
/* The tables of counts of the CPU's engine. There is one for each chunk, which nobody else uses
 * meanwhile. If these would take too much memory, there is one for each thread, whose counts are in
 * pages; or, with a tally for each file, there are fewer tables, which chunks share. With keys,
 * tables have what keyed_counts.h says instead of counts. */
#ifndef GPUHISTO_COUNT_TABLES_H
#define GPUHISTO_COUNT_TABLES_H

#include "src/tally/keyed_counts.h"
#include "src/tally/paged_counts.h"
#include "src/tally/file_tallies.h"

#include <pthread.h>

struct count_table {
    _Alignas(CACHE_LINE) pthread_mutex_t lock; /* not used with pages */
    bool busy;                                 /* with pages: a thread counts into it */
    bool used;                  /* otherwise the memory of its counts was never touched */
    struct file_block block;    /* whose counts it has, with a tally for each file */
    uint64_t moved_bytes;       /* of input whose counts were moved to their files */
    struct tally tally;         /* its counts are unused with pages */
    struct paged_counts *paged; /* NULL without pages */
    struct keyed_counts keyed;  /* all zeros without keys */
};

struct count_tables {
    struct count_table *tables;
    size_t count;
    struct paged_set *paged; /* NULL without pages */
    void *counts;            /* memory; NULL with pages, or keys */
    struct moments *moments; /* of all tables; NULL if the histogram has none */
};

/* Makes all-zero tables for `chunks` chunks, of which up to `threads` are counted at a time. May
 * use pages unless there is a tally for each file. Memory is not touched before it is needed.
 * Returns 0, or -1 if memory is short; count_tables_close is due in either case. */
int count_tables_open(struct count_tables *tables, const struct histogram_spec *spec,
                      unsigned chunks, unsigned threads, bool each_file);

/* Makes tables as count_tables_open, for counts by key, which are moved to `keys`. */
int count_tables_open_keyed(struct count_tables *tables, struct key_tallies *keys, unsigned chunks);

/* Frees the tables. Does nothing with all-zero ones. */
void count_tables_close(struct count_tables *tables);

/* Adds a table that no thread counts into to a tally, but no counts that are in pages. */
void count_table_add(const struct count_table *table, struct tally *tally);

#endif
