/* SPDX-License-Identifier: MIT */
/* What workers are at, what went wrong first in the input, who may decode while others count for
 * them, as memory for decoders and descriptors may be short, and what they do or wait for then. */
#include "worker.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Has a worker count for others, or not any more. Under the lock. */
static void set_counts(struct worker *worker, bool counts)
{
    worker->source->queue.count += counts;
    worker->source->queue.count -= worker->counts;
    worker->counts = counts;
}

/* --- what went wrong --- */

static bool is_before(const struct source_offset *a, const struct source_offset *b)
{
    return a->file != b->file ? a->file < b->file : a->byte < b->byte;
}

bool source_begin_work_at(struct worker *worker, size_t file, uint64_t byte)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    worker->begin = (struct source_offset){file, byte};
    worker->is_at_work = !source->failed || is_before(&worker->begin, &source->failure);
    const bool is_at_work = worker->is_at_work;
    pthread_mutex_unlock(&source->lock);
    return is_at_work;
}

bool source_begin_work(struct worker *worker)
{
    const struct file *file = worker->source->current;
    if (!file)
        return source_begin_work_at(worker, worker->source->opened, 0);
    const struct input *input = &file->input;
    return source_begin_work_at(worker, file->order,
                                input->frames.codec ? input->frames.pending.offset
                                                    : input->bytes.taken);
}

static int fail_at(struct source *source, const struct source_offset *at, const struct error *error)
{
    pthread_mutex_lock(&source->lock);
    if (!source->failed || is_before(at, &source->failure)) {
        source->failure = *at;
        source->error = *error;
    }
    source->failed = true;
    pthread_cond_broadcast(&source->wake);
    pthread_mutex_unlock(&source->lock);
    return -1;
}

int source_fail(struct worker *worker, const struct error *error)
{
    return fail_at(worker->source, &worker->begin, error);
}

int source_fail_of(struct worker *worker, const struct file *file, const char *format, ...)
{
    struct error error;
    va_list args;
    va_start(args, format);
    vsnprintf(error.text, sizeof error.text, format, args);
    va_end(args);
    error_begin(&error, file->input.bytes.name);
    return source_fail(worker, &error);
}

int source_fail_for_memory(struct worker *worker, const struct file *file)
{
    return source_fail_of(worker, file, "out of memory");
}

int source_fail_truncated(struct worker *worker, const struct file *file, uint64_t end)
{
    return source_fail_of(worker, file, "truncated %s data, at byte %" PRIu64,
                          file->input.frames.codec->name, end);
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

/* True if files are to be read on that come before the failure. Under the lock. */
static bool has_more_before(const struct source *source)
{
    return is_one_before(source, source->in_pieces) || is_one_before(source, source->parked) ||
           (source->current && source->current->order < source->failure.file);
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
    const struct work_queue *queue = &source->queue;
    pthread_mutex_lock(&source->lock);
    bool is_first = !has_more_before(source) && queue->handed_off_count + queue->taken_count == 0;
    for (const struct worker *worker = source->workers; worker; worker = worker->next)
        is_first &= !worker->is_at_work || is_before(&source->failure, &worker->begin);
    const bool is_known = source->failed && (is_first || !source->workers);
    pthread_mutex_unlock(&source->lock);
    return is_known ? source->error.text : NULL;
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

void decode_memory_release_shared(struct source *source, size_t size)
{
    pthread_mutex_lock(&source->lock);
    source->memory.used -= size;
    source->memory.shared -= size;
    pthread_cond_broadcast(&source->wake);
    pthread_mutex_unlock(&source->lock);
}

void decode_memory_release(struct worker *worker, size_t max)
{
    struct source *source = worker->source;
    if (worker->reserved <= max)
        return;
    decoder_close(worker->decoder); /* memory is freed before others may have it */
    worker->decoder = NULL;
    frame_batch_free(&worker->batch);
    records_close(&worker->records);
    pthread_mutex_lock(&source->lock);
    source->memory.used -= worker->reserved;
    worker->reserved = 0;
    pthread_cond_broadcast(&source->wake);
    pthread_mutex_unlock(&source->lock);
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

bool source_may_open(const struct source *source)
{
    const struct decode_memory *memory = &source->memory;
    if (source->operands[source->opened].is_alone)
        return memory->files == 0;
    return memory->files_max == 0 || memory->files < memory->files_max;
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
    decode_memory_release(worker, 0);
    return decode_memory_reserve(worker, size); /* less may do than it had */
}

int decode_memory_refuse(struct worker *worker, const struct file *file, size_t wanted)
{
    struct source *source = worker->source;
    struct decode_memory *memory = &source->memory;
    decode_memory_release(worker, 0);
    pthread_mutex_lock(&source->lock);
    if (memory->used < memory->limit)
        memory->limit = memory->used;
    const bool others = memory->used > 0;
    pthread_mutex_unlock(&source->lock);
    worker->wanted = wanted;
    return others ? 0 : source_fail_for_memory(worker, file);
}

void decode_memory_begin(struct worker *worker)
{
    pthread_mutex_lock(&worker->source->lock);
    worker->source->memory.busy++;
    set_counts(worker, false);
    pthread_mutex_unlock(&worker->source->lock);
}

void decode_memory_end(struct worker *worker)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    if (--source->memory.busy == 0)
        pthread_cond_broadcast(&source->wake);
    pthread_mutex_unlock(&source->lock);
}

/* --- jobs, chunks that are handed off, and waiting for either --- */

bool worker_is_short(const struct worker *worker)
{
    const struct source *source = worker->source;
    const struct file *current = source->current;
    if (worker->changes != source->changes)
        return false; /* it has looked at another file */
    if (source->failed && !(current && current->order < source->failure.file))
        return is_one_before(source, source->in_pieces) && !is_one_before(source, source->parked);
    if (current)
        return worker->wanted > 0 && !fits(worker, worker->wanted);
    if (source->parked)
        return false;
    return source->opened < source->count ? !source_may_open(source) : source->memory.busy > 0;
}

/* Takes the chunk that was handed off last; NULL: there is none. Under the lock. */
static struct chunk *acquire_handed_off(struct work_queue *queue)
{
    if (queue->handed_off_count == 0)
        return NULL;
    queue->taken_count++;
    return queue->handed_off[--queue->handed_off_count];
}

struct chunk *worker_wait(struct worker *worker, bool *is_short)
{
    struct source *source = worker->source;
    struct work_queue *queue = &source->queue;
    struct chunk *handed_off = NULL;
    pthread_mutex_lock(&source->lock);
    *is_short = worker_is_short(worker);
    const bool gives_back = *is_short && worker->reserved > 0; /* others may want it */
    if (!gives_back) {
        set_counts(worker, true);
        while (*is_short && queue->handed_off_count == 0 && !queue->jobs) {
            pthread_cond_wait(&source->wake, &source->lock);
            *is_short = worker_is_short(worker);
        }
        handed_off = acquire_handed_off(queue);
        *is_short &= !handed_off;
        set_counts(worker, handed_off || queue->jobs);
    }
    pthread_mutex_unlock(&source->lock);
    if (gives_back)
        decode_memory_release(worker, 0);
    return handed_off;
}

bool work_queue_is_pending(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    const bool is_pending = source->queue.handed_off_count > 0 || source->queue.jobs;
    pthread_mutex_unlock(&source->lock);
    return is_pending;
}

void work_queue_leave(struct worker *worker)
{
    if (!worker->counts) /* written by this worker's thread alone */
        return;
    pthread_mutex_lock(&worker->source->lock);
    set_counts(worker, false);
    pthread_mutex_unlock(&worker->source->lock);
}

bool work_queue_hand_off(struct source *source, struct chunk *chunk)
{
    struct work_queue *queue = &source->queue;
    pthread_mutex_lock(&source->lock);
    const bool hands_off = queue->count > 0 && queue->handed_off_count < HANDED_OFF_MAX;
    if (hands_off)
        queue->handed_off[queue->handed_off_count++] = chunk;
    if (hands_off && queue->handed_off_count >= HANDED_OFF_MAX / 2)
        pthread_cond_signal(&source->wake);
    pthread_mutex_unlock(&source->lock);
    return hands_off;
}

void work_queue_hurry(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    for (unsigned i = 0; i < source->queue.handed_off_count; i++)
        pthread_cond_signal(&source->wake);
    pthread_mutex_unlock(&source->lock);
}

struct chunk *work_queue_acquire(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    struct chunk *handed_off = acquire_handed_off(&source->queue);
    pthread_mutex_unlock(&source->lock);
    return handed_off;
}

int worker_count_handed_off(struct worker *worker, struct chunk *chunk)
{
    const int rc = worker->sink->count(worker->sink->arg, chunk, FLOW_DECODED);
    pthread_mutex_lock(&worker->source->lock);
    worker->source->queue.taken_count--;
    pthread_mutex_unlock(&worker->source->lock);
    return rc;
}

void work_queue_offer(struct source *source, struct job *job)
{
    struct work_queue *queue = &source->queue;
    pthread_mutex_lock(&source->lock);
    job->next = NULL;
    *queue->last_job = job;
    queue->last_job = &job->next;
    pthread_cond_signal(&source->wake);
    pthread_mutex_unlock(&source->lock);
}

struct job *work_queue_take(const struct worker *worker)
{
    struct work_queue *queue = &worker->source->queue;
    struct job **piece = NULL, **rest = NULL, **own = NULL;
    pthread_mutex_lock(&worker->source->lock);
    for (struct job **link = &queue->jobs; *link && !own; link = &(*link)->next) {
        struct job ***first = (*link)->kind == JOB_PIECE ? &piece
                              : (*link)->owner == worker ? &own
                                                         : &rest;
        if (!*first)
            *first = link;
    }
    struct job **best = own ? own : piece ? piece : rest, *job = best ? *best : NULL;
    if (job) {
        *best = job->next;
        if (!job->next)
            queue->last_job = best;
    }
    pthread_mutex_unlock(&worker->source->lock);
    return job;
}

/* --- a worker's beginning and end --- */

void worker_open(struct worker *worker)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    worker->next = source->workers;
    source->workers = worker;
    pthread_mutex_unlock(&source->lock);
}

void worker_close(struct worker *worker)
{
    struct source *source = worker->source;
    struct worker **link = &source->workers;
    pthread_mutex_lock(&source->lock);
    while (*link != worker)
        link = &(*link)->next;
    *link = worker->next;
    set_counts(worker, false);
    pthread_mutex_unlock(&source->lock);
    decode_memory_release(worker, 0);
    records_close(&worker->records); /* pieces need it, and the worker reserves nothing for them */
}
