#include "cpu_engine.h"
#include "count.h"
#include "src/engine/lines.h"
#include "src/engine/records.h"
#include "src/histogram/file_tallies.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS_SIZE ((size_t)16 << 20) /* of all chunks together, bytes */
#define CHUNK_LEAST ((size_t)16 << 10) /* of one chunk, whatever CHUNKS_SIZE says */

/* Bytes of all tables of counts: there is one for each chunk, or fewer, which chunks then share. */
#define TABLES_SIZE ((size_t)32 << 20)

/* What was counted in the chunks that use this table: nearly always one chunk, so that the lock is
 * free. */
struct table {
    pthread_mutex_t lock;
    bool used;   /* otherwise the memory of its counts was never touched */
    size_t file; /* whose counts it has, if each FILE's are wanted */
    struct tally tally;
};

struct cpu_chunk {
    struct chunk chunk;
    struct cpu_chunk *next_free;
    struct table *table;
};

struct cpu_engine {
    struct engine engine;
    struct count_plan plan;
    pthread_mutex_t lock; /* free */
    pthread_cond_t freed;
    struct cpu_chunk *free; /* last in, first out: the buffer that is still in a cache */
    unsigned char *memory;  /* the data of all chunks */
    void *counts_memory;    /* of all tables */
    struct table *tables;
    struct moments *moments; /* of all tables; NULL: none are wanted */
    size_t table_count;
    struct cpu_chunk chunks[];
};

static struct chunk *cpu_acquire(struct engine *engine, bool wait)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    pthread_mutex_lock(&cpu->lock);
    while (!cpu->free && wait)
        pthread_cond_wait(&cpu->freed, &cpu->lock);
    struct cpu_chunk *taken = cpu->free;
    if (taken)
        cpu->free = taken->next_free;
    pthread_mutex_unlock(&cpu->lock);
    if (!taken)
        return NULL;
    taken->chunk.len = taken->chunk.begin = 0;
    return &taken->chunk;
}

/* Moves what a table has counted to its FILE, as the next chunk is of another one, or none comes.
 */
static void empty_table(struct cpu_engine *cpu, struct table *table)
{
    if (cpu->engine.files && table->used)
        file_tallies_move(cpu->engine.files, table->file, &table->tally);
}

/* Counts a chunk into a table, whose lock is held. By how much the newlines and the invalid tokens
 * grow is what lines_add gets. */
static void count_into_table(struct cpu_engine *cpu, const struct chunk *chunk, struct table *table)
{
    const struct binning *binning = &cpu->plan.histogram->binning;
    struct tally *tally = &table->tally;
    if (table->file != chunk->origin.at.file)
        empty_table(cpu, table);
    table->file = chunk->origin.at.file;
    bool tell = cpu->engine.lines != NULL && chunk->origin.name != NULL;
    uint64_t newlines = tally->newlines, invalid = tell ? tally->counts[ROW_INVALID(binning)] : 0;
    table->used = true;
    count_chunk(&cpu->plan, chunk, tally);
    if (tell)
        lines_add(cpu->engine.lines, chunk, tally->newlines - newlines,
                  tally->counts[ROW_INVALID(binning)] > invalid);
}

static int cpu_submit(struct engine *engine, struct chunk *chunk)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    struct cpu_chunk *own = (struct cpu_chunk *)chunk;
    pthread_mutex_lock(&own->table->lock);
    count_into_table(cpu, chunk, own->table);
    pthread_mutex_unlock(&own->table->lock);
    pthread_mutex_lock(&cpu->lock);
    own->next_free = cpu->free;
    cpu->free = own;
    pthread_cond_signal(&cpu->freed);
    pthread_mutex_unlock(&cpu->lock);
    return 0;
}

static int cpu_finish(struct engine *engine, struct tally *tally)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    for (size_t i = 0; i < cpu->table_count; i++) {
        struct table *table = &cpu->tables[i];
        empty_table(cpu, table);
        if (table->used)
            tally_add(tally, &table->tally);
    }
    return 0;
}

/* A worker that wants to count into a table waits for no longer than it takes to add that one. */
static int cpu_peek(struct engine *engine, struct tally *tally)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    for (size_t i = 0; i < cpu->table_count; i++) {
        struct table *table = &cpu->tables[i];
        pthread_mutex_lock(&table->lock);
        if (table->used)
            tally_add(tally, &table->tally);
        pthread_mutex_unlock(&table->lock);
    }
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
    free(cpu->tables);
    free(cpu->moments);
    free(cpu);
}

static void cpu_close(struct engine *engine)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    pthread_cond_destroy(&cpu->freed);
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

#define LINE 64 /* bytes of a cache line: no two chunks or tables share one */

static size_t whole_lines(size_t size)
{
    return (size + LINE - 1) & ~(size_t)(LINE - 1);
}

/* Makes the tables, of zeros whose memory is not touched before it is used. 0, or -1 with what was
 * made so far. */
static int open_tables(struct cpu_engine *cpu, unsigned chunks, const struct histogram *histogram)
{
    size_t bins = histogram->bins, step = whole_lines(bins * sizeof(uint64_t));
    size_t fit = TABLES_SIZE / step;
    cpu->table_count = fit < 1 ? 1 : fit < chunks ? fit : chunks;
    cpu->counts_memory = calloc(cpu->table_count * step + LINE, 1);
    cpu->tables = calloc(cpu->table_count, sizeof *cpu->tables);
    if (histogram->has_moments)
        cpu->moments = calloc(cpu->table_count, sizeof *cpu->moments);
    if (!cpu->counts_memory || !cpu->tables || (histogram->has_moments && !cpu->moments))
        return -1;
    char *counts = cpu->counts_memory;
    counts += whole_lines((uintptr_t)counts) - (uintptr_t)counts;
    for (size_t i = 0; i < cpu->table_count; i++)
        cpu->tables[i].tally = (struct tally){.bins = bins,
                                              .counts = (uint64_t *)(void *)(counts + i * step),
                                              .moments = cpu->moments ? &cpu->moments[i] : NULL};
    return 0;
}

/* Makes the chunks, whose data are `cap` bytes each and `room` more, and the tables. 0, or -1 with
 * what was made so far. */
static int open_memory(struct cpu_engine *cpu, size_t cap, size_t room, unsigned chunks,
                       const struct histogram *histogram)
{
    size_t step = whole_lines(cap + room);
    cpu->memory = aligned_alloc(LINE, step * chunks);
    if (!cpu->memory || open_tables(cpu, chunks, histogram) != 0)
        return -1;
    for (unsigned i = 0; i < chunks; i++) {
        struct cpu_chunk *own = &cpu->chunks[i];
        own->chunk = (struct chunk){.engine = &cpu->engine, .data = cpu->memory + i * step};
        own->chunk.cap = cap;
        own->table = &cpu->tables[i % cpu->table_count];
        own->next_free = cpu->free;
        cpu->free = own;
    }
    return 0;
}

struct engine *cpu_engine_open(const struct histogram *histogram, const struct counter *counter,
                               size_t chunk_size, unsigned chunks)
{
    /* On very many processors the chunks must be smaller, or they alone would break the bound. */
    size_t most = CHUNKS_SIZE / chunks > CPU_CHUNK_MAX ? CPU_CHUNK_MAX : CHUNKS_SIZE / chunks;
    if (most < CHUNK_LEAST)
        most = CHUNK_LEAST;
    size_t cap = chunk_size < most ? chunk_size : most & ~(size_t)63;
    size_t sample = histogram_sample_size(histogram);
    if (sample > 1)
        cap -= cap % sample; /* a chunk holds whole samples */
    struct cpu_engine *cpu = calloc(1, sizeof *cpu + chunks * sizeof cpu->chunks[0]);
    if (!cpu)
        return NULL;
    size_t room = records_room(records_size(histogram));
    if (open_memory(cpu, cap, room, chunks, histogram) != 0) {
        free_memory(cpu);
        return NULL;
    }
    cpu->engine.ops = &cpu_ops;
    cpu->plan = count_plan(counter ? counter : counter_find(NULL), histogram);
    pthread_mutex_init(&cpu->lock, NULL);
    pthread_cond_init(&cpu->freed, NULL);
    for (size_t i = 0; i < cpu->table_count; i++)
        pthread_mutex_init(&cpu->tables[i].lock, NULL);
    return &cpu->engine;
}

const char *cpu_engine_counter(const struct engine *engine)
{
    return ((const struct cpu_engine *)engine)->plan.counter->about;
}
