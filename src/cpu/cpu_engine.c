/* SPDX-License-Identifier: MIT */
/* The CPU engine: tables of counts, and chunks that threads fill, count into a table at once and
 * give back. */
#include "count.h"
#include "src/base/memory.h"
#include "src/base/system.h"
#include "src/input/engine.h"
#include "src/input/records.h"
#include "src/tally/file_tallies.h"
#include "src/tally/keyed_counts.h"
#include "src/tally/paged_counts.h"
#include "src/text/weight.h"
#include "src/bins/sums.h"
#include "src/tally/histogram_spec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A table of counts. There is one for each chunk, which nobody else uses meanwhile. If these would
 * take too much memory, there is one for each thread, whose counts are in pages; or, with a tally
 * for each file, there are fewer tables, which chunks share. With keys, tables have what
 * keyed_counts.h says instead of counts. */
struct count_table {
    _Alignas(CACHE_LINE) pthread_mutex_t lock; /* not used with pages */
    bool busy;                                 /* with pages: a thread counts into it */
    bool used;                  /* otherwise the memory of its counts was never touched */
    struct file_block block;    /* whose counts it has, with a tally for each file */
    uint64_t moved_bytes;       /* of input whose counts were moved to their files */
    struct tally tally;         /* its counts are unused with pages */
    struct row_blocks blocks;   /* of the tally, if what counts marks them (count_marks_blocks) */
    struct paged_counts *paged; /* NULL without pages */
    struct keyed_counts keyed;  /* all zeros without keys */
};

#define TABLES_SIZE ((size_t)32 << 20) /* of all tables, bytes */
#define CHUNKS_SIZE ((size_t)16 << 20) /* of all chunks together, bytes */
#define CHUNK_MIN ((size_t)16 << 10)   /* of one chunk, whatever CHUNKS_SIZE says */

struct cpu_chunk {
    struct chunk chunk;
    unsigned char *data; /* its own */
    struct cpu_chunk *next_free;
    struct count_table *table; /* with pages: the last one that a thread counted it into */
};

struct cpu_engine {
    struct engine engine;
    struct count_plan plan;
    struct count_table *tables;
    size_t table_count;
    unsigned threads;        /* that count at a time */
    struct paged_set *paged; /* NULL without pages */
    void *counts;            /* memory; NULL with pages, or keys */
    struct moments *moments; /* of all tables; NULL if the histogram has none */
    /* Guards `free`; with pages also `peeking`, and which tables are busy. */
    _Alignas(CACHE_LINE) pthread_mutex_t lock;
    pthread_cond_t freed, idle;
    bool peeking;           /* no table may become busy */
    struct cpu_chunk *free; /* last in, first out: that buffer is still in a cache */
    unsigned char *memory;  /* the data of all chunks; NULL if another engine has them */
    struct weight_total weight_total;
    struct cpu_engine *also; /* counts the same chunks by the next histogram; or NULL */
    struct cpu_chunk chunks[];
};

/* --- tables --- */

/* Makes the counts of the tables, `step` bytes each. Returns 0 or -1. */
static int open_counts(struct cpu_engine *cpu, size_t step)
{
    cpu->counts = calloc(cpu->table_count * step + CACHE_LINE, 1);
    if (!cpu->counts)
        return -1;
    char *counts = cpu->counts;
    counts += cache_lines((uintptr_t)counts) - (uintptr_t)counts;
    for (size_t i = 0; i < cpu->table_count; i++)
        cpu->tables[i].tally.counts = (uint64_t *)(void *)(counts + i * step);
    return 0;
}

/* Makes the pages of the tables, beside one table that is whole. Returns 0 or -1. */
static int open_pages(struct cpu_engine *cpu, size_t rows)
{
    const size_t shared = rows * sizeof(uint64_t), half = TABLES_SIZE / 2;
    const size_t size = shared < half ? TABLES_SIZE - shared : half;
    cpu->paged = paged_open(rows, (unsigned)cpu->table_count, size);
    for (size_t i = 0; cpu->paged && i < cpu->table_count; i++)
        cpu->tables[i].paged = paged_member(cpu->paged, (unsigned)i);
    return cpu->paged ? 0 : -1;
}

/* Makes all-zero tables for `chunks` chunks, of which up to `threads` are counted at a time. May
 * use pages unless there is a tally for each file. Memory is not touched before it is needed.
 * Returns 0, or -1 if memory is short; cpu_close is due in either case. */
static int open_tables(struct cpu_engine *cpu, const struct histogram_spec *spec, unsigned chunks,
                       unsigned threads)
{
    const size_t bins = spec->bins, step = cache_lines(bins * sizeof(uint64_t));
    const size_t fit = TABLES_SIZE / step;
    const bool paged = fit < chunks && !cpu->engine.files && count_can_page(spec);
    const size_t count = paged ? threads : fit < 1 ? 1 : fit < chunks ? fit : chunks;
    const unsigned channels = histogram_spec_channels(spec);
    cpu->tables = cache_lines_open(count * sizeof *cpu->tables);
    if (!cpu->tables)
        return -1;
    if (spec->has_moments)
        cpu->moments = calloc(count * channels, sizeof *cpu->moments);
    cpu->table_count = count;
    for (size_t i = 0; i < count; i++) {
        struct tally *tally = &cpu->tables[i].tally;
        *tally = (struct tally){.bins = bins, .channels = channels};
        tally->moments = cpu->moments ? &cpu->moments[i * channels] : NULL;
        if (!paged && !cpu->engine.files && count_marks_blocks(spec)) {
            row_blocks_clear(&cpu->tables[i].blocks, bins);
            tally->blocks = &cpu->tables[i].blocks;
        }
        pthread_mutex_init(&cpu->tables[i].lock, NULL);
    }
    if (spec->has_moments && !cpu->moments)
        return -1;
    return paged ? open_pages(cpu, bins) : open_counts(cpu, step);
}

/* Makes tables as open_tables, for counts by key, which are moved to engine.keys. */
static int open_keyed_tables(struct cpu_engine *cpu, unsigned chunks, bool has_weight)
{
    int rc = 0;
    cpu->tables = cache_lines_open(chunks * sizeof *cpu->tables);
    if (!cpu->tables)
        return -1;
    cpu->table_count = chunks;
    for (size_t i = 0; i < chunks; i++) {
        pthread_mutex_init(&cpu->tables[i].lock, NULL);
        rc |= keyed_open(&cpu->tables[i].keyed, cpu->engine.keys, chunks, has_weight);
    }
    return rc;
}

/* Adds a table that no thread counts into to a tally, but no counts that are in pages. */
static void add_table(const struct count_table *table, struct tally *tally)
{
    const size_t bins = tally->bins;
    if (!table->used)
        return;
    tally->bytes += table->moved_bytes;
    tally->bins = table->tally.counts ? bins : 0;
    tally_add(tally, &table->tally);
    tally->bins = bins;
}

/* --- chunks --- */

/* Takes a free chunk. NULL if there is none and !wait. */
static struct cpu_chunk *acquire_chunk(struct cpu_engine *cpu, bool wait)
{
    pthread_mutex_lock(&cpu->lock);
    while (!cpu->free && wait)
        pthread_cond_wait(&cpu->freed, &cpu->lock);
    struct cpu_chunk *chunk = cpu->free;
    if (chunk)
        cpu->free = chunk->next_free;
    pthread_mutex_unlock(&cpu->lock);
    return chunk;
}

static struct chunk *cpu_acquire(struct engine *engine, bool wait)
{
    struct cpu_chunk *chunk = acquire_chunk((struct cpu_engine *)engine, wait);
    if (!chunk)
        return NULL;
    chunk->chunk.len = chunk->chunk.begin = 0;
    chunk->chunk.data = chunk->data;
    return &chunk->chunk;
}

/* Moves what a table has counted to the tally of its block of a file, or to those of its keys: what
 * comes next is of another one, or there is nothing. */
static void empty_table(struct cpu_engine *cpu, struct count_table *table)
{
    if (cpu->engine.keys && table->used)
        keyed_move(&table->keyed);
    if (!cpu->engine.files || !table->used)
        return;
    table->moved_bytes += table->tally.bytes;
    file_tallies_move(cpu->engine.files, table->block, &table->tally);
}

static uint64_t count_of_invalid(const struct cpu_engine *cpu, const struct count_table *table)
{
    if (cpu->engine.keys)
        return table->keyed.invalid;
    return table->paged ? paged_count_of_last(table->paged)
                        : table->tally.counts[ROW_INVALID(&cpu->plan.spec->binning)];
}

/* Has a table count for a block of a file from now on. */
static void enter_block(struct cpu_engine *cpu, struct count_table *table, struct file_block block)
{
    if (table->block.file != block.file || table->block.number != block.number)
        empty_table(cpu, table);
    table->block = block;
    table->used = true;
}

/* Counts a chunk into a table, block by block. */
static void count_blocks(struct cpu_engine *cpu, const struct chunk *chunk,
                         struct count_table *table)
{
    const uint64_t size = file_tallies_block_size(cpu->engine.files);
    const uint64_t first = chunk->origin.content_first;
    uint64_t before = chunk->origin.content - first;
    struct chunk piece = *chunk;
    for (size_t at = chunk->begin, len; at < chunk->len; at += len, before += len) {
        const uint64_t left = size - before % size;
        len = left < chunk->len - at ? (size_t)left : chunk->len - at;
        piece.begin = at;
        piece.len = at + len;
        piece.origin.bytes = len;
        enter_block(cpu, table, (struct file_block){chunk->origin.at.file, before / size, first});
        (void)count_chunk(&cpu->plan, &piece, &table->tally, NULL, NULL);
    }
}

/* Counts a chunk into a table that no other thread uses, and reports its newlines, and whether it
 * has invalid tokens, to error_locator_add. */
static void count_into_table(struct cpu_engine *cpu, const struct chunk *chunk,
                             struct count_table *table)
{
    struct tally *tally = &table->tally;
    if (cpu->engine.files && file_tallies_block_size(cpu->engine.files) > 0) {
        count_blocks(cpu, chunk, table);
        return;
    }
    enter_block(cpu, table,
                (struct file_block){.file = cpu->engine.files ? chunk->origin.at.file : 0});
    bool tell = cpu->engine.locator != NULL && chunk->origin.name != NULL;
    uint64_t newlines = tally->newlines, invalid = tell ? count_of_invalid(cpu, table) : 0;
    const bool is_decided = count_chunk(&cpu->plan, chunk, tally, table->paged,
                                        cpu->engine.keys ? &table->keyed : NULL);
    newlines = tally->newlines - newlines;
    if (tell)
        error_locator_add(cpu->engine.locator, chunk, newlines,
                          count_of_invalid(cpu, table) > invalid);
    if (cpu->engine.undecided && chunk->origin.name)
        error_locator_add(cpu->engine.undecided, chunk, newlines, !is_decided);
}

/* Returns a table with pages that is not busy, or NULL. `last` is the first choice: its pages are
 * in this core's cache. */
static struct count_table *find_idle_table(struct cpu_engine *cpu, struct count_table *last)
{
    if (!last->busy)
        return last;
    for (size_t i = 0; i < cpu->table_count; i++)
        if (!cpu->tables[i].busy)
            return &cpu->tables[i];
    return NULL;
}

static void count_into_pages(struct cpu_engine *cpu, struct cpu_chunk *own,
                             const struct chunk *chunk)
{
    struct count_table *table = NULL;
    pthread_mutex_lock(&cpu->lock);
    while (cpu->peeking || !(table = find_idle_table(cpu, own->table)))
        pthread_cond_wait(&cpu->idle, &cpu->lock);
    own->table = table;
    table->busy = true;
    pthread_mutex_unlock(&cpu->lock);
    count_into_table(cpu, chunk, table);
    pthread_mutex_lock(&cpu->lock);
    table->busy = false;
    pthread_cond_broadcast(&cpu->idle);
    pthread_mutex_unlock(&cpu->lock);
}

static void free_chunk(struct cpu_engine *cpu, struct cpu_chunk *own)
{
    pthread_mutex_lock(&cpu->lock);
    own->next_free = cpu->free;
    cpu->free = own;
    pthread_cond_signal(&cpu->freed);
    pthread_mutex_unlock(&cpu->lock);
}

/* Counts a chunk of the first engine by it and by all that count the same chunks. */
static int cpu_submit(struct engine *engine, struct chunk *chunk)
{
    struct cpu_engine *const first = (struct cpu_engine *)engine;
    for (struct cpu_engine *cpu = first; cpu; cpu = cpu->also) {
        struct cpu_chunk *own = cpu == first ? (struct cpu_chunk *)chunk : acquire_chunk(cpu, true);
        if (cpu->paged) {
            count_into_pages(cpu, own, chunk);
        } else {
            pthread_mutex_lock(&own->table->lock);
            count_into_table(cpu, chunk, own->table);
            pthread_mutex_unlock(&own->table->lock);
        }
        if (cpu != first)
            free_chunk(cpu, own);
    }
    free_chunk(first, (struct cpu_chunk *)chunk);
    return 0;
}

static void empty_one(void *cpu, size_t i)
{
    empty_table(cpu, &((struct cpu_engine *)cpu)->tables[i]);
}

/* Moves what all tables have counted. Of keys that takes long enough for as many threads as counted
 * them. */
static void empty_tables(struct cpu_engine *cpu)
{
    unsigned threads = 0;
    for (size_t i = 0; i < cpu->table_count && cpu->engine.keys && threads < cpu->threads; i++)
        threads += cpu->tables[i].used;
    parallel_loop(threads, cpu->table_count, empty_one, cpu);
}

static int cpu_finish(struct engine *engine, struct tally *tally)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    for (; cpu; cpu = cpu->also, tally = tally->also) {
        empty_tables(cpu);
        for (size_t i = 0; i < cpu->table_count; i++)
            add_table(&cpu->tables[i], tally);
        if (cpu->paged) {
            paged_add(cpu->paged, tally->counts);
            tally->blocks = NULL;
        }
    }
    return 0;
}

/* Adds what was counted into pages. Waits until no thread counts, as counts in the table that pages
 * share may come from any chunk. */
static void peek_at_pages(struct cpu_engine *cpu, struct tally *tally)
{
    pthread_mutex_lock(&cpu->lock);
    cpu->peeking = true;
    for (size_t i = 0; i < cpu->table_count; i++) {
        while (cpu->tables[i].busy)
            pthread_cond_wait(&cpu->idle, &cpu->lock);
        add_table(&cpu->tables[i], tally);
    }
    paged_add(cpu->paged, tally->counts);
    cpu->peeking = false;
    pthread_cond_broadcast(&cpu->idle);
    pthread_mutex_unlock(&cpu->lock);
}

/* Adds one table after the other: a worker waits at most while its own is added. Of keys all are
 * moved. */
static void peek_at_tables(struct cpu_engine *cpu, struct tally *tally)
{
    for (size_t i = 0; i < cpu->table_count; i++) {
        struct count_table *table = &cpu->tables[i];
        pthread_mutex_lock(&table->lock);
        if (cpu->engine.keys)
            empty_table(cpu, table);
        add_table(table, tally);
        pthread_mutex_unlock(&table->lock);
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

static void cpu_close(struct engine *engine)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    if (cpu->also)
        cpu_close(&cpu->also->engine);
    pthread_cond_destroy(&cpu->freed);
    pthread_cond_destroy(&cpu->idle);
    pthread_mutex_destroy(&cpu->lock);
    for (size_t i = 0; i < cpu->table_count; i++) {
        pthread_mutex_destroy(&cpu->tables[i].lock);
        keyed_close(&cpu->tables[i].keyed);
    }
    free(cpu->counts);
    paged_close(cpu->paged);
    free(cpu->tables);
    free(cpu->moments);
    free(cpu->memory);
    free(cpu);
}

static const struct engine_ops cpu_ops = {
    .acquire = cpu_acquire,
    .submit = cpu_submit,
    .finish = cpu_finish,
    .peek = cpu_peek,
    .loss = cpu_loss,
    .close = cpu_close,
};

/* Makes the data of the chunks, `cap` bytes each and `slack` more. Returns 0 or -1. */
static int open_data(struct cpu_engine *cpu, size_t cap, size_t slack, unsigned chunks)
{
    size_t step = cache_lines(cap + slack);
    cpu->memory = aligned_alloc(CACHE_LINE, step * chunks);
    for (unsigned i = 0; cpu->memory && i < chunks; i++) {
        cpu->chunks[i].data = cpu->memory + i * step;
        cpu->chunks[i].chunk.cap = cap;
    }
    return cpu->memory ? 0 : -1;
}

/* Opens an engine for one histogram, whose chunks have no data. NULL if memory is short. */
static struct cpu_engine *open_one(const struct histogram_spec *spec,
                                   const struct cpu_engine_options *options,
                                   struct file_tallies *files)
{
    const unsigned chunks = options->chunks;
    struct cpu_engine *cpu = cache_lines_open(sizeof *cpu + chunks * sizeof cpu->chunks[0]);
    if (!cpu)
        return NULL;
    cpu->engine.ops = &cpu_ops;
    cpu->engine.files = files;
    cpu->engine.keys = options->keys;
    cpu->threads = options->threads;
    pthread_mutex_init(&cpu->lock, NULL);
    pthread_cond_init(&cpu->freed, NULL);
    pthread_cond_init(&cpu->idle, NULL);
    const int rc = options->keys ? open_keyed_tables(cpu, chunks, spec->lines.has_weight)
                                 : open_tables(cpu, spec, chunks, options->threads);
    if (rc != 0) {
        cpu_close(&cpu->engine);
        return NULL;
    }
    cpu->plan = count_plan(options->kernels ? options->kernels : cpu_kernels_find(NULL), spec);
    cpu->plan.weight_total = &cpu->weight_total;
    for (unsigned i = 0; i < chunks; i++) {
        struct cpu_chunk *own = &cpu->chunks[i];
        own->chunk = (struct chunk){.engine = &cpu->engine, .may_borrow = true};
        own->table = &cpu->tables[i % cpu->table_count];
        own->next_free = cpu->free;
        cpu->free = own;
    }
    return cpu;
}

struct engine *cpu_engine_open(const struct histogram_spec *spec,
                               const struct cpu_engine_options *options)
{
    /* With very many processors chunks must be smaller, or they alone would exceed the limit. */
    size_t max = CHUNKS_SIZE / options->chunks;
    max = max > CPU_CHUNK_MAX ? CPU_CHUNK_MAX : max < CHUNK_MIN ? CHUNK_MIN : max;
    size_t cap = options->chunk_size < max ? options->chunk_size : max & ~(size_t)63;
    const struct record_kind kind = record_kind_of_all(spec);
    if (!record_is_text(&kind))
        cap -= cap % kind.size; /* a chunk holds whole samples */
    struct file_tallies *files = options->files;
    struct cpu_engine *first = open_one(spec, options, files), *last = first;
    for (const struct histogram_spec *also = spec->also; last && also; also = also->also) {
        files = file_tallies_also(files);
        last = last->also = open_one(also, options, files);
    }
    if (first && (!last || open_data(first, cap, record_slack(&kind), options->chunks) != 0)) {
        cpu_close(&first->engine);
        return NULL;
    }
    for (struct cpu_engine *cpu = first; cpu; cpu = cpu->also)
        cpu->plan.skip_repeated =
            kind.type == RECORD_PAIRS && record_kind_of(cpu->plan.spec).type != RECORD_PAIRS;
    return first ? &first->engine : NULL;
}

int cpu_engine_check(const struct engine *engine, struct error *error)
{
    int rc = 0;
    for (const struct cpu_engine *cpu = (const struct cpu_engine *)engine; cpu; cpu = cpu->also)
        rc |= weight_total_check(&cpu->weight_total, error);
    return rc;
}

const char *cpu_engine_kernels(const struct engine *engine)
{
    return ((const struct cpu_engine *)engine)->plan.kernels->about;
}
