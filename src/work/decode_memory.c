/* SPDX-License-Identifier: MIT */
/* Who may decode, and who counts for others: memory for decoders and descriptors may be short. */
#include "worker.h"

/* Bytes for each worker of those that decode a file in pieces. */
#define MEMORY_OF_WORKER ((size_t)32 << 20)

/* Gives back what the worker has reserved. Memory is freed before the lock is taken. */
static void give_back(struct worker *worker)
{
    struct source *source = worker->source;
    decoder_close(worker->decoder);
    worker->decoder = NULL;
    frame_batch_free(&worker->batch);
    records_close(&worker->records);
    pthread_mutex_lock(&source->lock);
    source->memory.used -= worker->reserved;
    worker->reserved = 0;
    pthread_mutex_unlock(&source->lock);
    work_queue_wake_all(&source->queue);
}

/* True if the worker may reserve so much. One alone may have any amount. Under the lock. */
static bool fits(const struct worker *worker, size_t size)
{
    const struct decode_memory *memory = &worker->source->memory;
    size_t others = memory->used - worker->reserved;
    return others == 0 || (others <= memory->limit && size <= memory->limit - others);
}

/* True if the next operand may be opened. Under the lock. */
static bool may_open(const struct source *source)
{
    const struct decode_memory *memory = &source->memory;
    if (source->operands[source->opened].is_alone)
        return memory->files == 0;
    return memory->files_max == 0 || memory->files < memory->files_max;
}

/* True if the worker has to wait: for memory, for a file to be closed, or for the last ones to be
 * parked or decoded. Under the lock. */
static bool is_short(const struct worker *worker)
{
    const struct source *source = worker->source;
    if (worker->changes != source->changes)
        return false; /* it has looked at another file */
    if (source->failed && !(source->current && source->current->order < source->failure.file))
        return false;
    if (source->current)
        return worker->wanted > 0 && !fits(worker, worker->wanted);
    if (source->parked)
        return false;
    return source->opened < source->count ? !may_open(source) : source->memory.busy > 0;
}

bool decode_memory_reserve(struct worker *worker, size_t size)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    size_t total = worker->reserved > size ? worker->reserved : size;
    bool reserved = fits(worker, total);
    if (reserved) {
        source->memory.used += total - worker->reserved;
        worker->reserved = total;
    } else {
        worker->wanted = size;
    }
    pthread_mutex_unlock(&source->lock);
    if (reserved || worker->reserved == 0)
        return reserved;
    give_back(worker);
    return decode_memory_reserve(worker, size); /* less may do than it had */
}

size_t decode_memory_max(unsigned workers)
{
    const size_t max = workers * MEMORY_OF_WORKER;
    return max < DECODE_MEMORY          ? DECODE_MEMORY
           : max < DECODE_MEMORY_PIECES ? max
                                        : DECODE_MEMORY_PIECES;
}

bool decode_memory_reserve_shared(struct source *source, size_t size, unsigned workers)
{
    struct decode_memory *memory = &source->memory;
    pthread_mutex_lock(&source->lock);
    const size_t limit = memory->limit < DECODE_MEMORY ? memory->limit
                         : memory->used > 0            ? decode_memory_max(workers)
                                                       : DECODE_MEMORY_PIECES;
    const bool fits = memory->used <= limit && size <= limit - memory->used;
    if (fits)
        memory->used += size;
    pthread_mutex_unlock(&source->lock);
    return fits;
}

void decode_memory_release_shared(struct source *source, size_t size)
{
    pthread_mutex_lock(&source->lock);
    source->memory.used -= size;
    pthread_mutex_unlock(&source->lock);
    work_queue_wake_all(&source->queue);
}

bool decode_memory_extend(struct worker *worker, size_t more)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    bool extends = fits(worker, worker->reserved + more);
    if (extends) {
        source->memory.used += more;
        worker->reserved += more;
    }
    pthread_mutex_unlock(&source->lock);
    return extends;
}

void decode_memory_reduce(struct worker *worker, size_t less)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    source->memory.used -= less;
    worker->reserved -= less;
    pthread_mutex_unlock(&source->lock);
    work_queue_wake_all(&source->queue);
}

bool decode_memory_refuse(struct worker *worker, size_t wanted)
{
    struct source *source = worker->source;
    struct decode_memory *memory = &source->memory;
    give_back(worker);
    pthread_mutex_lock(&source->lock);
    if (memory->used < memory->limit)
        memory->limit = memory->used;
    bool others = memory->used > 0;
    pthread_mutex_unlock(&source->lock);
    worker->wanted = wanted;
    return others;
}

void decode_memory_release(struct worker *worker, size_t max)
{
    if (worker->reserved > max) /* written by this worker's thread alone */
        give_back(worker);
}

void decode_memory_begin(struct worker *worker)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    source->memory.busy++;
    pthread_mutex_unlock(&source->lock);
    work_queue_leave(&source->queue, &worker->waiter);
}

void decode_memory_end(struct worker *worker)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    bool last = --source->memory.busy == 0;
    pthread_mutex_unlock(&source->lock);
    if (last)
        work_queue_wake_all(&source->queue);
}

bool decode_memory_open_file(struct worker *worker)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    bool opens = may_open(source);
    source->memory.files += opens;
    pthread_mutex_unlock(&source->lock);
    return opens;
}

void decode_memory_close_file(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    source->memory.files--;
    bool awaited = source->memory.files == 0 || source->memory.files_max > 0;
    pthread_mutex_unlock(&source->lock);
    if (awaited)
        work_queue_wake_all(&source->queue);
}

bool decode_memory_refuse_file(struct worker *worker)
{
    struct source *source = worker->source;
    struct decode_memory *memory = &source->memory;
    pthread_mutex_lock(&source->lock);
    bool others = memory->files > 1; /* beside the one that was to be opened */
    if (others)
        memory->files_max = memory->files - 1;
    pthread_mutex_unlock(&source->lock);
    decode_memory_close_file(source);
    return others;
}

/* A worker is busy until its chunks are handed off or counted, so those handed off are looked at
 * last. */
bool decode_memory_remains(struct worker *worker)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    bool busy = source->parked || source->memory.busy > 0;
    pthread_mutex_unlock(&source->lock);
    return busy || work_queue_is_pending(&source->queue);
}

struct chunk *decode_memory_wait(struct worker *worker, bool *is_on)
{
    struct source *source = worker->source;
    uint64_t ticket = work_queue_news(&source->queue);
    pthread_mutex_lock(&source->lock);
    *is_on = is_short(worker);
    pthread_mutex_unlock(&source->lock);
    if (*is_on)
        decode_memory_release(worker, 0); /* others may want it */
    else
        ticket--; /* an older one does not wait */
    return work_queue_wait(&source->queue, &worker->waiter, ticket);
}
