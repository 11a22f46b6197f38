/* SPDX-License-Identifier: MIT */
/* What workers are at, what went wrong first in the input, and who may decode while others count
 * for them: memory for decoders and descriptors may be short. */
#include "worker.h"

#include <inttypes.h>

/* --- what went wrong --- */

static bool is_before(const struct source_offset *a, const struct source_offset *b)
{
    return a->file != b->file ? a->file < b->file : a->byte < b->byte;
}

void source_add_worker(struct worker *worker)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    worker->next = source->workers;
    source->workers = worker;
    pthread_mutex_unlock(&source->lock);
}

void source_remove_worker(struct worker *worker)
{
    struct source *source = worker->source;
    struct worker **link = &source->workers;
    pthread_mutex_lock(&source->lock);
    while (*link != worker)
        link = &(*link)->next;
    *link = worker->next;
    pthread_mutex_unlock(&source->lock);
}

/* The worker is at work on what begins there. False: the run has failed before that. */
static bool begin_work(struct worker *worker, size_t file, uint64_t byte)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    worker->begin = (struct source_offset){file, byte};
    worker->is_at_work = !source->failed || is_before(&worker->begin, &source->failure);
    const bool is_at_work = worker->is_at_work;
    pthread_mutex_unlock(&source->lock);
    return is_at_work;
}

bool source_begin_work_at(struct worker *worker, const struct file *file, uint64_t byte)
{
    return begin_work(worker, file->order, byte);
}

bool source_begin_work(struct worker *worker)
{
    const struct source *source = worker->source;
    const struct file *file = source->current;
    if (!file)
        return begin_work(worker, source->opened, 0);
    const struct input *input = &file->input;
    return begin_work(worker, file->order,
                      input->frames.codec ? input->frames.pending.offset : input->bytes.taken);
}

static int fail_at(struct source *source, const struct source_offset *at, const struct error *error)
{
    pthread_mutex_lock(&source->lock);
    if (!source->failed || is_before(at, &source->failure)) {
        source->failure = *at;
        source->error = *error;
    }
    source->failed = true;
    pthread_mutex_unlock(&source->lock);
    work_queue_wake_all(&source->queue);
    return -1;
}

int source_fail(struct worker *worker, const struct error *error)
{
    return fail_at(worker->source, &worker->begin, error);
}

int source_fail_of(struct worker *worker, const struct file *file, const char *fault)
{
    struct error error;
    error_of(&error, file->input.bytes.name, "%s", fault);
    return source_fail(worker, &error);
}

int source_fail_for_memory(struct worker *worker, const struct file *file)
{
    return source_fail_of(worker, file, "out of memory");
}

int source_fail_truncated(struct worker *worker, const struct file *file, uint64_t end)
{
    struct error error;
    error_of(&error, file->input.bytes.name, "truncated %s data, at byte %" PRIu64,
             file->input.frames.codec->name, end);
    return source_fail(worker, &error);
}

int source_fail_at_end(struct worker *worker, const struct file *file, const struct error *error)
{
    return fail_at(worker->source, &(struct source_offset){file->order, UINT64_MAX}, error);
}

bool source_has_failed(struct worker *worker)
{
    struct source *source = worker->source;
    if (!atomic_load(&source->failed))
        return false;
    pthread_mutex_lock(&source->lock);
    const bool is_before_failure = is_before(&worker->begin, &source->failure);
    pthread_mutex_unlock(&source->lock);
    return !is_before_failure;
}

/* True if one of the files comes before the failure. Under the lock. */
static bool is_one_before(const struct source *source, const struct file *files)
{
    for (; files; files = files->next)
        if (files->order < source->failure.file)
            return true;
    return false;
}

/* True if files are to be taken that come before the failure. Under the lock. */
static bool is_taken_before(const struct source *source)
{
    return is_one_before(source, source->parked) ||
           (source->current && source->current->order < source->failure.file);
}

/* True if files are to be read on that come before the failure. Under the lock. */
static bool has_more_before(const struct source *source)
{
    return is_one_before(source, source->in_pieces) || is_taken_before(source);
}

bool source_waits_for_pieces(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    const bool waits =
        source->failed && is_one_before(source, source->in_pieces) && !is_taken_before(source);
    pthread_mutex_unlock(&source->lock);
    return waits;
}

bool source_end_work(struct worker *worker)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    worker->is_at_work = false;
    const bool goes_on = !source->failed || has_more_before(source);
    pthread_mutex_unlock(&source->lock);
    return goes_on;
}

const char *source_error(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    const bool has_failed = source->failed, is_last = !source->workers;
    bool is_first = !has_more_before(source);
    for (const struct worker *worker = source->workers; worker; worker = worker->next)
        is_first &= !worker->is_at_work || is_before(&source->failure, &worker->begin);
    pthread_mutex_unlock(&source->lock);
    if (!has_failed)
        return NULL;
    return is_last || (is_first && !work_queue_has_handed_off(&source->queue)) ? source->error.text
                                                                               : NULL;
}

/* --- decode memory --- */

/* Bytes for each worker of those that decode a file in pieces. */
#define MEMORY_OF_WORKER ((size_t)32 << 20)

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
    const size_t max = memory->used > 0 ? decode_memory_max(workers) : DECODE_MEMORY_PIECES,
                 limit = memory->limit < max ? memory->limit : max;
    const bool fits = memory->used <= limit && size <= limit - memory->used;
    if (fits) {
        memory->used += size;
        memory->shared += size;
    }
    pthread_mutex_unlock(&source->lock);
    return fits;
}

/* Gives back bytes, so many of them for files in pieces. */
static void release(struct source *source, size_t size, size_t shared)
{
    pthread_mutex_lock(&source->lock);
    source->memory.used -= size;
    source->memory.shared -= shared;
    pthread_mutex_unlock(&source->lock);
    work_queue_wake_all(&source->queue);
}

void decode_memory_release_shared(struct source *source, size_t size)
{
    release(source, size, size);
}

/* Gives back what the worker has reserved. Memory is freed before others may have it. */
static void give_back(struct worker *worker)
{
    decoder_close(worker->decoder);
    worker->decoder = NULL;
    frame_batch_free(&worker->batch);
    records_close(&worker->records);
    release(worker->source, worker->reserved, 0);
    worker->reserved = 0;
}

void decode_memory_release(struct worker *worker, size_t max)
{
    if (worker->reserved > max)
        give_back(worker);
}

/* True if the worker may reserve so much. One alone may have any amount. Under the lock. */
static bool fits(const struct worker *worker, size_t size)
{
    const struct decode_memory *memory = &worker->source->memory;
    const size_t others = memory->used - worker->reserved, in_turn = others - memory->shared,
                 max = decode_memory_max(worker_max(worker)),
                 limit = memory->limit < max ? memory->limit : max;
    return others == 0 || (in_turn + size <= DECODE_MEMORY && others + size <= limit);
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
    const size_t had = worker->reserved, more = size > had ? size - had : 0;
    pthread_mutex_lock(&source->lock);
    const bool extends = fits(worker, had + more);
    if (extends) {
        source->memory.used += more;
        worker->reserved += more;
    }
    pthread_mutex_unlock(&source->lock);
    if (extends)
        return true;
    worker->wanted = size;
    if (had == 0)
        return false;
    give_back(worker);
    return decode_memory_reserve(worker, size); /* less may do than it had */
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

bool decode_memory_open_file(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    const bool opens = may_open(source);
    source->memory.files += opens;
    pthread_mutex_unlock(&source->lock);
    return opens;
}

void decode_memory_close_file(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    source->memory.files--;
    const bool awaited = source->memory.files == 0 || source->memory.files_max > 0;
    pthread_mutex_unlock(&source->lock);
    if (awaited)
        work_queue_wake_all(&source->queue);
}

bool decode_memory_refuse_file(struct source *source)
{
    struct decode_memory *memory = &source->memory;
    pthread_mutex_lock(&source->lock);
    const bool others = memory->files > 1; /* beside the one that was to be opened */
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
