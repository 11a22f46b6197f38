/* SPDX-License-Identifier: MIT */
/* What a worker does: its loop, and how it reads plain bytes. Workers read pieces of a regular file
 * side by side, and a stream one at a time. */
#include "worker.h"

/* --- plain bytes --- */

/* A chunk on its way from a file. */
struct copying {
    struct chunk *chunk;
    enum flow flow;
    bool seeks_bom; /* a byte order mark that the piece begins with is left out */
    size_t len; /* of the piece of a regular file that was claimed; 0: it was read under the read
                   lock */
    int rc;     /* of reading */
};

/* Claims the next piece of a regular file, under the read lock. */
static void claim_piece(struct source *source, struct file *file, struct copying *copying)
{
    struct input *input = &file->input;
    const bool is_csv = input->records.kind.type == RECORD_CSV; /* no record is too long for it */
    const size_t all = copying->chunk->cap,
                 cap = is_csv && all > FIELD_RECORD_MAX ? FIELD_RECORD_MAX : all;
    const uint64_t left = input->plan.end - input->bytes.taken;
    copying->len = left < cap ? (size_t)left : cap;
    copying->chunk->origin.content = input->bytes.taken;
    copying->chunk->origin.has_header = input->has_header;
    copying->seeks_bom = input->seeks_bom;
    input->has_header = input->seeks_bom = false;
    input->is_begun = true;
    input->bytes.taken += copying->len;
    atomic_fetch_sub(&source->remaining.plain, copying->len);
    atomic_fetch_add(&source->remaining.read, copying->len);
    source_use(source, file);
}

/* Reads a piece that was claimed, without the read lock. 0 or -1. */
static int read_piece(struct worker *worker, struct file *file, const struct copying *copying)
{
    struct source *source = worker->source;
    struct input *input = &file->input;
    struct chunk *chunk = copying->chunk;
    const uint64_t offset = chunk->origin.content;
    const struct record_kind *kind = &input->records.kind;
    struct error error;
    const ssize_t got = kind->type == RECORD_CSV
                            ? csv_pieces_read(input, chunk, copying->len, offset, &error)
                            : input_read_piece(input, chunk, copying->len, offset, &error);
    if (got < 0) {
        chunk->len = chunk->begin = 0;
        source_fail(worker, &error);
    }
    if (copying->seeks_bom)
        chunk->begin += field_bom_len(chunk->data + chunk->begin, chunk->len - chunk->begin);
    const size_t len = chunk->len - chunk->begin;
    if (offset == input->bytes.begin && record_is_line(kind) &&
        (offset + len == input->plan.size || len > FIELD_RECORD_MAX) &&
        records_are_one_line(chunk->data + chunk->begin, len))
        source_add_one_line(source, file);
    chunk->origin.bytes = kind->type == RECORD_CHARACTERS ? len : got > 0 ? (size_t)got : 0;
    source_leave(source, file);
    return got < 0 ? -1 : 0;
}

/* Begins to read CSV in pieces after the first chunk, as csv_pieces_begin; under the read lock. */
static void begin_csv_pieces(struct source *source, struct input *input, size_t chunk_size)
{
    const uint64_t taken = input->bytes.taken;
    csv_pieces_begin(input, chunk_size);
    atomic_fetch_sub(&source->remaining.read, taken - input->bytes.taken);
    if (input_parallel(input))
        atomic_fetch_add(&source->remaining.plain, input->plan.end - input->bytes.taken);
}

/* Ends that if it is due, as csv_pieces_end; under the read lock. */
static void end_csv_pieces(struct source *source, struct input *input)
{
    const uint64_t unclaimed = input->plan.end - input->bytes.taken;
    const bool was_parallel = input_parallel(input);
    atomic_fetch_sub(&source->remaining.read, csv_pieces_end(input));
    if (was_parallel && !input_parallel(input))
        atomic_fetch_sub(&source->remaining.plain, unclaimed);
}

/* Reads the next bytes of a stream, or of a regular file past the size it had; under the read lock.
 * 0 or -1. */
static int read_next(struct worker *worker, struct file *file, struct chunk *chunk)
{
    struct source *source = worker->source;
    struct input *input = &file->input;
    struct error error;
    ssize_t got;
    records_resume(&input->records, chunk);
    size_t waited = chunk->len, limit = source_fill_limit(input, chunk, waited);
    do {
        got = input_read(input, chunk->data + chunk->len, limit - chunk->len, &error);
        if (got < 0)
            return source_fail(worker, &error);
        chunk->len += (size_t)got;
        atomic_fetch_add(&source->remaining.read, (size_t)got);
    } while (got > 0 && chunk->fill && chunk->len < limit);
    if (input_cut(input, chunk, waited, got == 0, &error) != 0)
        return source_fail(worker, &error);
    chunk->origin.content = input->bytes.taken - input->records.cut_len - chunk->len;
    if (got > 0) {
        begin_csv_pieces(source, input, chunk->cap);
        return 0;
    }
    chunk->origin.end = ENDS_FILE;
    source_set_current(source, NULL);
    return source_retire(worker, file);
}

/* Reads a chunk, or claims a piece for it; under the read lock. Without a chunk the run has failed.
 */
static struct copying begin_chunk(struct worker *worker, struct file *file)
{
    struct source *source = worker->source;
    end_csv_pieces(source, &file->input);
    const bool is_parallel = input_parallel(&file->input);
    /* After a file's known end there is hardly ever anything: not worth waiting for a slot. */
    const enum flow flow =
        is_parallel || file->input.plan.size > file->input.bytes.begin ? FLOW_FILE : FLOW_PIPE;
    struct copying copying = {.chunk = runner_choose(worker, flow), .flow = flow};
    if (!copying.chunk)
        return copying;
    source_locate_chunk(file, &file->at, copying.chunk);
    if (is_parallel)
        claim_piece(source, file, &copying);
    else
        copying.rc = read_next(worker, file, copying.chunk);
    return copying;
}

int copy_run(struct extent *extent)
{
    struct worker *worker = extent->worker;
    struct source *source = worker->source;
    work_queue_leave(worker);
    decode_memory_release(worker, DECODER_KEPT);
    for (;;) {
        struct copying copying = {.chunk = NULL};
        if (!source_end_work(worker))
            return -1;
        pthread_mutex_lock(&source->read_lock);
        const bool goes_on = source->changes == extent->changes;
        if (goes_on && source_begin_work(worker))
            copying = begin_chunk(worker, extent->file);
        pthread_mutex_unlock(&source->read_lock);
        if (!goes_on)
            return 0;
        if (copying.len > 0)
            copying.rc = read_piece(worker, extent->file, &copying);
        if (!copying.chunk ||
            worker->sink->count(worker->sink->arg, copying.chunk, copying.flow) != 0 ||
            copying.rc != 0)
            return -1;
    }
}

/* --- the loop of a worker --- */

/* Takes an extent of source->current, under the read lock. 1, 0 or -1, as serial_acquire. */
static int acquire_of_file(struct extent *extent)
{
    struct source *source = extent->worker->source;
    const struct sink *sink = extent->worker->sink;
    extent->file = source->current;
    if (!source->current->input.frames.codec) {
        extent->run = copy_run;
        extent->changes = source->changes;
        return 1;
    }
#ifdef HAVE_GPU_DECODING
    const int taken = gpu_acquire(extent);
    if (taken != 0)
        return taken;
#endif
    if (sink->is_surplus && sink->is_surplus(sink->arg))
        return 1; /* without a runner */
    return serial_acquire(extent);
}

/* Takes the next extent. 1; 0: there is nothing to take now; or -1. */
static int take(struct worker *worker, struct extent *extent)
{
    struct source *source = worker->source;
    *extent = (struct extent){.worker = worker};
    worker->wanted = 0;
    if (!source_end_work(worker))
        return -1;
    pthread_mutex_lock(&source->read_lock);
    int taken = source_find(worker);
    if (taken > 0 && source->current) {
        taken = acquire_of_file(extent);
    } else if (taken > 0) { /* after the last file; there may be more to decode, or to count */
        pthread_mutex_lock(&source->lock);
        if (source->parked || source->memory.busy > 0 || source->queue.handed_off_count > 0 ||
            source->queue.jobs)
            taken = 0;
        pthread_mutex_unlock(&source->lock);
    }
    worker->changes = source->changes;
    pthread_mutex_unlock(&source->read_lock);
    if (taken == 0)
        (void)source_end_work(worker);
    return taken;
}

/* After a failure: counts what was handed off, as that may be wrong first. True if there are files
 * to be read on that come before the failure. */
static bool looks_before(struct worker *worker)
{
    struct chunk *chunk;
    worker->wanted = 0;
    while ((chunk = work_queue_acquire(worker->source)) != NULL)
        if (worker_count_handed_off(worker, chunk) != 0)
            return false;
    return source_end_work(worker);
}

int run_worker(struct source *source, const struct sink *sink)
{
    struct worker worker = {.source = source, .sink = sink};
    struct extent extent = {.run = NULL};
    bool goes_on = true, is_short = false; /* of something, so that only jobs can be taken */
    int rc = 0;
    worker_open(&worker);
    while (goes_on) {
        struct job *job = work_queue_take(&worker);
        if (job) {
            rc = job->run(job, &worker);
        } else if (is_short) {
            struct chunk *chunk = worker_wait(&worker, &is_short);
            rc = chunk ? worker_count_handed_off(&worker, chunk) : 0;
        } else {
            rc = take(&worker, &extent);
            is_short = rc == 0;
            goes_on = rc <= 0 || extent.run;
            if (rc > 0 && extent.run)
                rc = extent.run(&extent);
        }
        if (rc < 0)
            is_short = goes_on = looks_before(&worker);
    }
    worker_close(&worker);
    return rc < 0 ? -1 : 0;
}
