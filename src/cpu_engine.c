#include "cpu_engine.h"
#include "count.h"

#include <pthread.h>
#include <stdlib.h>

#define CHUNKS_SIZE ((size_t)16 << 20) /* of all chunks together, bytes */
#define CHUNK_LEAST ((size_t)16 << 10) /* and of one, even so */

/* A chunk and the counts of all that was ever counted in it: private to the thread that has the
 * chunk, so that counting needs no lock. */
struct cpu_chunk {
    struct chunk chunk;
    struct cpu_chunk *next_free;
    uint64_t samples;
    uint64_t counts[256];
};

struct cpu_engine {
    struct engine engine;
    struct count_plan plan;
    pthread_mutex_t lock; /* free */
    pthread_cond_t freed;
    struct cpu_chunk *free; /* last in, first out: the buffer that is still in a cache */
    unsigned char *memory;  /* the data of all chunks */
    unsigned count;
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
    count(&cpu->plan, chunk->data, chunk->len, own->counts);
    own->samples += chunk->len;
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
    for (unsigned i = 0; i < cpu->count; i++) {
        tally->samples += cpu->chunks[i].samples;
        for (size_t bin = 0; bin < tally->bins; bin++)
            tally->counts[bin] += cpu->chunks[i].counts[bin];
    }
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
    pthread_cond_destroy(&cpu->freed);
    pthread_mutex_destroy(&cpu->lock);
    free(cpu->memory);
    free(cpu);
}

static const struct engine_ops cpu_ops = {cpu_acquire, cpu_submit, cpu_finish, cpu_loss, cpu_close};

struct engine *cpu_engine_open(const struct histogram *histogram, const struct counter *counter,
                               size_t chunk_size, unsigned chunks)
{
    /* On very many processors the chunks must be smaller, or they alone would break the bound. */
    size_t most = CHUNKS_SIZE / chunks > CPU_CHUNK_MAX ? CPU_CHUNK_MAX : CHUNKS_SIZE / chunks;
    if (most < CHUNK_LEAST)
        most = CHUNK_LEAST;
    size_t cap = chunk_size < most ? chunk_size : most;
    size_t step = (cap + 63) & ~(size_t)63; /* no two chunks share a cache line */
    struct cpu_engine *cpu = calloc(1, sizeof *cpu + chunks * sizeof cpu->chunks[0]);
    unsigned char *memory = aligned_alloc(64, step * chunks);
    if (!cpu || !memory) {
        free(memory);
        free(cpu);
        return NULL;
    }
    cpu->engine.ops = &cpu_ops;
    cpu->plan = count_plan(counter ? counter : counter_find(NULL), histogram);
    cpu->memory = memory;
    cpu->count = chunks;
    pthread_mutex_init(&cpu->lock, NULL);
    pthread_cond_init(&cpu->freed, NULL);
    for (unsigned i = 0; i < chunks; i++) {
        struct cpu_chunk *own = &cpu->chunks[i];
        own->chunk = (struct chunk){.engine = &cpu->engine, .data = memory + i * step, .cap = cap};
        own->next_free = cpu->free;
        cpu->free = own;
    }
    return &cpu->engine;
}

const char *cpu_engine_counter(const struct engine *engine)
{
    return ((const struct cpu_engine *)engine)->plan.counter->about;
}
