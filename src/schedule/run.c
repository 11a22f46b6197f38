/* SPDX-License-Identifier: MIT */
#include "runner.h"

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
    int taken = gpu_acquire(extent);
    if (taken != 0)
        return taken;
    if (!sink->is_surplus || !sink->is_surplus(sink->arg))
        return serial_acquire(extent);
    work_queue_wake_all(&source->queue); /* whoever waits looks again */
    return 1;                            /* without a runner */
}

/* Waits for what the worker is short of. Meanwhile runs jobs, and counts a chunk that was handed
 * off. */
static int wait_for_work(struct extent *extent)
{
    struct chunk *chunk;
    bool is_on;
    do {
        if (runner_run_jobs(extent->worker) != 0)
            return -1;
        chunk = decode_memory_wait(extent->worker, &is_on);
    } while (!chunk && is_on);
    return runner_count_handed_off(extent->worker, chunk);
}

/* Takes the next extent. 0 or -1. */
static int take(struct worker *worker, struct extent *extent)
{
    struct source *source = worker->source;
    *extent = (struct extent){.worker = worker};
    worker->wanted = 0;
    if (runner_run_jobs(worker) != 0 || !source_end_work(worker))
        return -1;
    pthread_mutex_lock(&source->read_lock);
    int taken = source_find(worker);
    if (taken > 0 && source->current)
        taken = acquire_of_file(extent);
    else if (taken > 0 && decode_memory_remains(worker))
        taken = 0;
    worker->changes = source->changes;
    pthread_mutex_unlock(&source->read_lock);
    if (taken == 0) {
        (void)source_end_work(worker);
        extent->run = wait_for_work;
    }
    return taken < 0 ? -1 : 0;
}

/* After a failure: counts what was handed off, as that may be wrong first. True if there are files
 * to be read on that come before the failure; if all of them are decoded in pieces, there is a job
 * now, or one of them has ended. */
static bool looks_before(struct worker *worker)
{
    struct work_queue *queue = &worker->source->queue;
    const uint64_t ticket = work_queue_news(queue);
    struct chunk *chunk;
    while ((chunk = work_queue_acquire(queue)) != NULL)
        if (runner_count_handed_off(worker, chunk) != 0)
            return false;
    if (!source_end_work(worker))
        return false;
    if (!source_waits_for_pieces(worker->source))
        return true;
    chunk = work_queue_wait(queue, &worker->waiter, ticket);
    return runner_count_handed_off(worker, chunk) == 0;
}

int run_worker(struct source *source, const struct sink *sink)
{
    struct worker worker = {.source = source, .sink = sink};
    struct extent extent;
    int rc;
    waiter_open(&worker.waiter);
    source_add_worker(&worker);
    do {
        rc = take(&worker, &extent);
        if (rc == 0 && extent.run)
            rc = extent.run(&extent);
    } while ((rc == 0 && extent.run) || (rc != 0 && looks_before(&worker)));
    source_remove_worker(&worker);
    work_queue_leave(&source->queue, &worker.waiter);
    decode_memory_release(&worker, 0);
    records_close(&worker.records); /* pieces need it, and the worker reserves nothing for them */
    waiter_close(&worker.waiter);
    return rc;
}
