/* SPDX-License-Identifier: MIT */
/* The memory of the tables of counts. */
#include "count_tables.h"
#include "count.h"

#include <stdlib.h>

#define TABLES_SIZE ((size_t)32 << 20) /* of all tables, bytes */

/* Makes the counts of the tables, `step` bytes each. Returns 0 or -1. */
static int open_counts(struct count_tables *tables, size_t step)
{
    tables->counts = calloc(tables->count * step + CACHE_LINE, 1);
    if (!tables->counts)
        return -1;
    char *counts = tables->counts;
    counts += cache_lines((uintptr_t)counts) - (uintptr_t)counts;
    for (size_t i = 0; i < tables->count; i++)
        tables->tables[i].tally.counts = (uint64_t *)(void *)(counts + i * step);
    return 0;
}

/* Makes the pages of the tables, beside one table that is whole. Returns 0 or -1. */
static int open_pages(struct count_tables *tables, size_t rows)
{
    const size_t shared = rows * sizeof(uint64_t), half = TABLES_SIZE / 2;
    const size_t size = shared < half ? TABLES_SIZE - shared : half;
    tables->paged = paged_open(rows, (unsigned)tables->count, size);
    for (size_t i = 0; tables->paged && i < tables->count; i++)
        tables->tables[i].paged = paged_member(tables->paged, (unsigned)i);
    return tables->paged ? 0 : -1;
}

int count_tables_open(struct count_tables *tables, const struct histogram_spec *spec,
                      unsigned chunks, unsigned threads, bool each_file)
{
    const size_t bins = spec->bins, step = cache_lines(bins * sizeof(uint64_t));
    const size_t fit = TABLES_SIZE / step;
    const bool paged = fit < chunks && !each_file && count_can_page(spec);
    const size_t count = paged ? threads : fit < 1 ? 1 : fit < chunks ? fit : chunks;
    const unsigned channels = histogram_spec_channels(spec);
    *tables = (struct count_tables){.tables = cache_lines_open(count * sizeof *tables->tables)};
    if (!tables->tables)
        return -1;
    if (spec->has_moments)
        tables->moments = calloc(count * channels, sizeof *tables->moments);
    tables->count = count;
    for (size_t i = 0; i < count; i++) {
        struct tally *tally = &tables->tables[i].tally;
        *tally = (struct tally){.bins = bins, .channels = channels};
        tally->moments = tables->moments ? &tables->moments[i * channels] : NULL;
        pthread_mutex_init(&tables->tables[i].lock, NULL);
    }
    if (spec->has_moments && !tables->moments)
        return -1;
    return paged ? open_pages(tables, bins) : open_counts(tables, step);
}

int count_tables_open_keyed(struct count_tables *tables, struct key_tallies *keys, unsigned chunks)
{
    int rc = 0;
    *tables = (struct count_tables){.tables = cache_lines_open(chunks * sizeof *tables->tables)};
    if (!tables->tables)
        return -1;
    tables->count = chunks;
    for (size_t i = 0; i < chunks; i++) {
        pthread_mutex_init(&tables->tables[i].lock, NULL);
        rc |= keyed_open(&tables->tables[i].keyed, keys, chunks);
    }
    return rc;
}

void count_tables_close(struct count_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        pthread_mutex_destroy(&tables->tables[i].lock);
        keyed_close(&tables->tables[i].keyed);
    }
    free(tables->counts);
    paged_close(tables->paged);
    free(tables->tables);
    free(tables->moments);
}

void count_table_add(const struct count_table *table, struct tally *tally)
{
    const size_t bins = tally->bins;
    if (!table->used)
        return;
    tally->bytes += table->moved_bytes;
    tally->bins = table->tally.counts ? bins : 0;
    tally_add(tally, &table->tally);
    tally->bins = bins;
}
