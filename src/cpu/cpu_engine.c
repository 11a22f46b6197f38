/* SPDX-License-Identifier: MIT */
#include "cpu_engine.h"
#include "count.h"
#include "src/base/cache_line.h"
#include "src/records/lines.h"
#include "src/records/records.h"
#include "src/count/file_tallies.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS_SIZE ((size_t)16 << 20) /* of all chunks together, bytes */
#define CHUNK_LEAST ((size_t)16 << 10) /* of one chunk, whatever CHUNKS_SIZE says */

/* Bytes of all tables of counts. There is one for each chunk. Where these would be too large, there
 * is one for each thread, whose counts are in pages; or, with a tally for each FILE, there are
 * fewer tables, which chunks share. */
#define TABLES_SIZE ((size_t)32 << 20)

/* What was counted in the chunks that use this table: nearly always one chunk, so that the lock is
 * free. */
struct table {
    _Alignas(CACHE_LINE) pthread_mutex_t lock;
    bool busy;            /* with pages, whose lock is not used: a thread counts into it */
    bool used;            /* otherwise the memory of its counts was never touched */
    uint64_t moved_bytes; /* of input, whose counts were moved to their FILEs */
    size_t file;          /* whose counts it has, if each FILE's are wanted */
    struct tally tally;
    struct paged_counts *paged; /* what tally.counts would have; NULL: they have it */
};

struct cpu_chunk {
    struct chunk chunk;
    struct cpu_chunk *next_free;
    struct table *table; /* with pages: the last one that it was counted into */
};

struct cpu_engine {
    struct engine engine;
    struct count_plan plan;
    /* The lock is for free, and with pages for whether tables are busy, and for peeking. */
    _Alignas(CACHE_LINE) pthread_mutex_t lock;
    pthread_cond_t freed, settled;
    bool peeking;           /* no table may become busy */
    struct cpu_chunk *free; /* last in, first out: the buffer that is still in a cache */
    unsigned char *memory;  /* the data of all chunks */
    void *counts_memory;    /* of all tables; NULL: their counts are in pages */
    struct paged_set *paged;
    struct table *tables;
    struct moments *moments; /* of all tables; NULL: none are wanted */
    size_t table_count;
    struct cpu_engine *also; /* counts the same chunks by the next histogram, and has none of its
                              * own, but what is known of each of them; or NULL */
    struct cpu_chunk chunks[];
};

/* A chunk that is free; NULL: none is, and !wait. */
static struct cpu_chunk *take_chunk(struct cpu_engine *cpu, bool wait)
{
    pthread_mutex_lock(&cpu->lock);
    while (!cpu->free && wait)
        pthread_cond_wait(&cpu->freed, &cpu->lock);
    struct cpu_chunk *taken = cpu->free;
    if (taken)
        cpu->free = taken->next_free;
    pthread_mutex_unlock(&cpu->lock);
    return taken;
}

static struct chunk *cpu_acquire(struct engine *engine, bool wait)
{
    struct cpu_chunk *taken = take_chunk((struct cpu_engine *)engine, wait);
    if (!taken)
        return NULL;
    taken->chunk.len = taken->chunk.begin = 0;
    return &taken->chunk;
}

/* Moves what a table has counted to its FILE, as the next chunk is of another one, or none comes.
 */
static void empty_table(struct cpu_engine *cpu, struct table *table)
{
    if (!cpu->engine.files || !table->used)
        return;
    table->moved_bytes += table->tally.bytes;
    file_tallies_move(cpu->engine.files, table->file, &table->tally);
}

static uint64_t count_of_invalid(const struct cpu_engine *cpu, const struct table *table)
{
    return table->paged ? paged_count_of_last(table->paged)
                        : table->tally.counts[ROW_INVALID(&cpu->plan.histogram->binning)];
}

/* Counts a chunk into a table, whose lock is held. By how much the newlines and the invalid tokens
 * grow is what lines_add gets. */
static void count_into_table(struct cpu_engine *cpu, const struct chunk *chunk, struct table *table)
{
    struct tally *tally = &table->tally;
    if (table->file != chunk->origin.at.file)
        empty_table(cpu, table);
    table->file = chunk->origin.at.file;
    bool tell = cpu->engine.lines != NULL && chunk->origin.name != NULL;
    uint64_t newlines = tally->newlines, invalid = tell ? count_of_invalid(cpu, table) : 0;
    table->used = true;
    count_chunk(&cpu->plan, chunk, tally, table->paged);
    if (tell)
        lines_add(cpu->engine.lines, chunk, tally->newlines - newlines,
                  count_of_invalid(cpu, table) > invalid);
}

/* A table with pages that is not busy, `last` if possible, whose pages are in this core's cache.
 * NULL if there is none. */
static struct table *find_idle_table(struct cpu_engine *cpu, struct table *last)
{
    if (!last->busy)
        return last;
    for (size_t i = 0; i < cpu->table_count; i++)
        if (!cpu->tables[i].busy)
            return &cpu->tables[i];
    return NULL;
}

/* Counts a chunk into pages. The lock is held, but not meanwhile. */
static void count_into_pages(struct cpu_engine *cpu, struct cpu_chunk *own,
                             const struct chunk *chunk)
{
    struct table *table = NULL;
    while (cpu->peeking || !(table = find_idle_table(cpu, own->table)))
        pthread_cond_wait(&cpu->settled, &cpu->lock);
    own->table = table;
    table->busy = true;
    pthread_mutex_unlock(&cpu->lock);
    count_into_table(cpu, chunk, table);
    pthread_mutex_lock(&cpu->lock);
    table->busy = false;
    pthread_cond_broadcast(&cpu->settled);
}

/* Counts a chunk, its own or that of another engine, and frees its own. */
static void count_and_free(struct cpu_engine *cpu, struct cpu_chunk *own, const struct chunk *chunk)
{
    if (!cpu->paged) {
        pthread_mutex_lock(&own->table->lock);
        count_into_table(cpu, chunk, own->table);
        pthread_mutex_unlock(&own->table->lock);
    }
    pthread_mutex_lock(&cpu->lock);
    if (cpu->paged)
        count_into_pages(cpu, own, chunk);
    own->next_free = cpu->free;
    cpu->free = own;
    pthread_cond_signal(&cpu->freed);
    pthread_mutex_unlock(&cpu->lock);
}

static int cpu_submit(struct engine *engine, struct chunk *chunk)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    for (struct cpu_engine *also = cpu->also; also; also = also->also)
        count_and_free(also, take_chunk(also, true), chunk);
    count_and_free(cpu, (struct cpu_chunk *)chunk, chunk);
    return 0;
}

/* Adds a table that no thread counts into, but not counts that are in pages. */
static void add_table(const struct table *table, struct tally *tally)
{
    struct tally rest = *tally;
    if (!table->used)
        return;
    tally->bytes += table->moved_bytes;
    if (!table->paged) {
        tally_add(tally, &table->tally);
        return;
    }
    rest.bins = 0;
    tally_add(&rest, &table->tally);
    rest.bins = tally->bins;
    *tally = rest;
}

static int cpu_finish(struct engine *engine, struct tally *tally)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    for (; cpu; cpu = cpu->also, tally = tally->also) {
        for (size_t i = 0; i < cpu->table_count; i++) {
            empty_table(cpu, &cpu->tables[i]);
            add_table(&cpu->tables[i], tally);
        }
        if (cpu->paged)
            paged_add(cpu->paged, tally->counts);
    }
    return 0;
}

/* Adds what was counted into pages. What is in the table that they share may come from any chunk,
 * so no chunk is being counted meanwhile. */
static void peek_at_pages(struct cpu_engine *cpu, struct tally *tally)
{
    pthread_mutex_lock(&cpu->lock);
    cpu->peeking = true;
    for (size_t i = 0; i < cpu->table_count; i++) {
        while (cpu->tables[i].busy)
            pthread_cond_wait(&cpu->settled, &cpu->lock);
        add_table(&cpu->tables[i], tally);
    }
    paged_add(cpu->paged, tally->counts);
    cpu->peeking = false;
    pthread_cond_broadcast(&cpu->settled);
    pthread_mutex_unlock(&cpu->lock);
}

/* A worker that wants to count into a table waits for no longer than it takes to add that one. */
static void peek_at_tables(struct cpu_engine *cpu, struct tally *tally)
{
    for (size_t i = 0; i < cpu->table_count; i++) {
        pthread_mutex_lock(&cpu->tables[i].lock);
        add_table(&cpu->tables[i], tally);
        pthread_mutex_unlock(&cpu->tables[i].lock);
    }
}

static int cpu_peek(struct engine *engine, struct tally *tally)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    for (; cpu; cpu = cpu->also, tally = tally->also)
        if (cpu->paged)
            peek_at_pages(cpu, tally);
        else
            peek_at_tables(cpu, tally);
    return 0;
}

static const char *cpu_loss(struct engine *engine)
{
    (void)engine;
    return NULL;
}

static void free_memory(struct cpu_engine *cpu)
{
    free(cpu->memory);
    free(cpu->counts_memory);
    paged_close(cpu->paged);
    free(cpu->tables);
    free(cpu->moments);
    free(cpu);
}

static void cpu_close(struct engine *engine)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    if (cpu->also)
        cpu_close(&cpu->also->engine);
    pthread_cond_destroy(&cpu->freed);
    pthread_cond_destroy(&cpu->settled);
    pthread_mutex_destroy(&cpu->lock);
    for (size_t i = 0; i < cpu->table_count; i++)
        pthread_mutex_destroy(&cpu->tables[i].lock);
    free_memory(cpu);
}

static const struct engine_ops cpu_ops = {
    .acquire = cpu_acquire,
    .submit = cpu_submit,
    .finish = cpu_finish,
    .peek = cpu_peek,
    .loss = cpu_loss,
    .close = cpu_close,
};

/* Makes the counts of as many tables as fit, `step` bytes each. 0, or -1. */
static int open_counts(struct cpu_engine *cpu, size_t step)
{
    cpu->counts_memory = calloc(cpu->table_count * step + CACHE_LINE, 1);
    if (!cpu->counts_memory)
        return -1;
    char *counts = cpu->counts_memory;
    counts += cache_lines((uintptr_t)counts) - (uintptr_t)counts;
    for (size_t i = 0; i < cpu->table_count; i++)
        cpu->tables[i].tally.counts = (uint64_t *)(void *)(counts + i * step);
    return 0;
}

/* Makes pages of counts for each table, beside one table that is whole. 0, or -1. */
static int open_pages(struct cpu_engine *cpu, size_t rows)
{
    const size_t shared = rows * sizeof(uint64_t), half = TABLES_SIZE / 2;
    const size_t size = shared < half ? TABLES_SIZE - shared : half;
    cpu->paged = paged_open(rows, (unsigned)cpu->table_count, size);
    for (size_t i = 0; cpu->paged && i < cpu->table_count; i++)
        cpu->tables[i].paged = paged_member(cpu->paged, (unsigned)i);
    return cpu->paged ? 0 : -1;
}

/* Makes the tables, of zeros whose memory is not touched before it is used. 0, or -1 with what was
 * made so far. */
static int open_tables(struct cpu_engine *cpu, unsigned chunks, unsigned threads,
                       const struct histogram *histogram)
{
    size_t bins = histogram->bins, step = cache_lines(bins * sizeof(uint64_t));
    size_t fit = TABLES_SIZE / step;
    bool paged = fit < chunks && !cpu->engine.files && count_can_page(histogram);
    cpu->table_count = paged ? threads : fit < 1 ? 1 : fit < chunks ? fit : chunks;
    cpu->tables = cache_lines_open(cpu->table_count * sizeof *cpu->tables);
    const unsigned channels = histogram_channels(histogram);
    if (histogram->has_moments)
        cpu->moments = calloc(cpu->table_count * channels, sizeof *cpu->moments);
    if (!cpu->tables || (histogram->has_moments && !cpu->moments))
        return -1;
    for (size_t i = 0; i < cpu->table_count; i++)
        cpu->tables[i].tally =
            (struct tally){.bins = bins,
                           .moments = cpu->moments ? &cpu->moments[i * channels] : NULL,
                           .channels = channels};
    return paged ? open_pages(cpu, bins) : open_counts(cpu, step);
}

/* Makes the data of the chunks, `cap` bytes each and `room` more. 0, or -1. */
static int open_data(struct cpu_engine *cpu, size_t cap, size_t room, unsigned chunks)
{
    size_t step = cache_lines(cap + room);
    cpu->memory = aligned_alloc(CACHE_LINE, step * chunks);
    for (unsigned i = 0; cpu->memory && i < chunks; i++) {
        cpu->chunks[i].chunk.data = cpu->memory + i * step;
        cpu->chunks[i].chunk.cap = cap;
    }
    return cpu->memory ? 0 : -1;
}

/* Makes the chunks, without their data, and the tables. 0, or -1 with what was made so far. */
static int open_chunks(struct cpu_engine *cpu, unsigned chunks, unsigned threads,
                       const struct histogram *histogram)
{
    if (open_tables(cpu, chunks, threads, histogram) != 0)
        return -1;
    for (unsigned i = 0; i < chunks; i++) {
        struct cpu_chunk *own = &cpu->chunks[i];
        own->chunk = (struct chunk){.engine = &cpu->engine};
        own->table = &cpu->tables[i % cpu->table_count];
        own->next_free = cpu->free;
        cpu->free = own;
    }
    return 0;
}

/* An engine for one histogram, whose chunks have no data. NULL if memory is short. */
static struct cpu_engine *open_one(const struct histogram *histogram, const struct counter *counter,
                                   unsigned chunks, unsigned threads, struct file_tallies *files)
{
    struct cpu_engine *cpu = cache_lines_open(sizeof *cpu + chunks * sizeof cpu->chunks[0]);
    if (!cpu)
        return NULL;
    cpu->engine.files = files;
    if (open_chunks(cpu, chunks, threads, histogram) != 0) {
        free_memory(cpu);
        return NULL;
    }
    cpu->engine.ops = &cpu_ops;
    cpu->plan = count_plan(counter ? counter : counter_find(NULL), histogram);
    pthread_mutex_init(&cpu->lock, NULL);
    pthread_cond_init(&cpu->freed, NULL);
    pthread_cond_init(&cpu->settled, NULL);
    for (size_t i = 0; i < cpu->table_count; i++)
        pthread_mutex_init(&cpu->tables[i].lock, NULL);
    return cpu;
}

struct engine *cpu_engine_open(const struct histogram *histogram, const struct counter *counter,
                               size_t chunk_size, unsigned chunks, unsigned threads,
                               struct file_tallies *files)
{
    /* On very many processors the chunks must be smaller, or they alone would break the bound. */
    size_t most = CHUNKS_SIZE / chunks > CPU_CHUNK_MAX ? CPU_CHUNK_MAX : CHUNKS_SIZE / chunks;
    if (most < CHUNK_LEAST)
        most = CHUNK_LEAST;
    size_t cap = chunk_size < most ? chunk_size : most & ~(size_t)63;
    const size_t size = records_size(histogram);
    if (!records_are_text(size))
        cap -= cap % size; /* a chunk holds whole samples */
    struct cpu_engine *first = open_one(histogram, counter, chunks, threads, files);
    struct cpu_engine *last = first;
    for (const struct histogram *also = histogram->also; last && also; also = also->also) {
        files = file_tallies_also(files);
        last = last->also = open_one(also, counter, chunks, threads, files);
    }
    if (first && (!last || open_data(first, cap, records_room(size), chunks) != 0)) {
        cpu_close(&first->engine);
        return NULL;
    }
    for (struct cpu_engine *cpu = first; cpu; cpu = cpu->also)
        cpu->plan.skip_repeated = size == RECORD_PAIRS && records_of(cpu->plan.histogram) != size;
    return first ? &first->engine : NULL;
}

const char *cpu_engine_counter(const struct engine *engine)
{
    return ((const struct cpu_engine *)engine)->plan.counter->about;
}
