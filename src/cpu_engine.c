#include "cpu_engine.h"
#include "count.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS_SIZE ((size_t)16 << 20) /* of all chunks together, bytes */
#define CHUNK_LEAST ((size_t)16 << 10) /* and of one, even so */

/* As many tables of counts as this allows, bytes, but no more than chunks: many bins are shared. */
#define TABLES_SIZE ((size_t)16 << 20)

/* Counts of all that was ever counted in its chunks: nearly always one, so that the lock is free.
 */
struct table {
    pthread_mutex_t lock;
    uint64_t samples;
    uint64_t *counts; /* one for each bin */
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
    uint64_t *counts;       /* of all tables */
    struct table *tables;
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
    taken->chunk.len = 0;
    return &taken->chunk;
}

static int cpu_submit(struct engine *engine, struct chunk *chunk)
{
    struct cpu_engine *cpu = (struct cpu_engine *)engine;
    struct cpu_chunk *own = (struct cpu_chunk *)chunk;
    struct table *table = own->table;
    pthread_mutex_lock(&table->lock);
    count(&cpu->plan, chunk->data, chunk->len, table->counts);
    table->samples += chunk->len / histogram_sample_size(cpu->plan.histogram);
    pthread_mutex_unlock(&table->lock);
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
        const struct table *table = &cpu->tables[i];
        tally_add(tally, &(struct tally){tally->bins, table->samples, table->counts});
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
    free(cpu->counts);
    free(cpu->tables);
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

static const struct engine_ops cpu_ops = {cpu_acquire, cpu_submit, cpu_finish, cpu_loss, cpu_close};

/* The data of all chunks, `cap` bytes each, and the tables. 0, or -1 with what there is. */
static int open_memory(struct cpu_engine *cpu, size_t cap, unsigned chunks, size_t bins)
{
    /* No two chunks or tables share a cache line. */
    size_t step = (cap + 63) & ~(size_t)63, counts_step = (bins + 7) & ~(size_t)7;
    size_t fit = TABLES_SIZE / (counts_step * sizeof *cpu->counts);
    cpu->table_count = fit < 1 ? 1 : fit < chunks ? fit : chunks;
    size_t counts_size = cpu->table_count * counts_step * sizeof *cpu->counts;
    cpu->memory = aligned_alloc(64, step * chunks);
    cpu->counts = aligned_alloc(64, counts_size);
    cpu->tables = calloc(cpu->table_count, sizeof *cpu->tables);
    if (!cpu->memory || !cpu->counts || !cpu->tables)
        return -1;
    memset(cpu->counts, 0, counts_size);
    for (size_t i = 0; i < cpu->table_count; i++)
        cpu->tables[i].counts = cpu->counts + i * counts_step;
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
    size_t cap = chunk_size < most ? chunk_size : most & ~(size_t)63; /* whole samples */
    struct cpu_engine *cpu = calloc(1, sizeof *cpu + chunks * sizeof cpu->chunks[0]);
    if (!cpu)
        return NULL;
    if (open_memory(cpu, cap, chunks, histogram->bins) != 0) {
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
