/* SPDX-License-Identifier: MIT */
/* The loop of a worker. */
#include "run.h"
#include "runner.h"

/* Takes an extent of source->current, in turn. */
static enum taken take_of_file(struct worker *worker, struct extent *extent)
{
    struct source *source = worker->source;
    extent->file = source->current;
    if (!source->current->input.frames.codec) {
        extent->run = copy_run;
        extent->changes = source->changes;
        return TAKEN;
    }
    enum taken taken = gpu_take(worker, extent);
    if (taken != TAKEN_NOTHING)
        return taken;
    const struct sink *sink = worker->sink;
    if (!sink->is_surplus || !sink->is_surplus(sink->arg))
        return serial_take(worker, extent);
    idle_wake_all(&source->idle); /* whoever waits looks again */
    return TAKEN;                 /* without a runner */
}

/* Takes an extent; without a runner, there will be none for this worker. */
static enum taken take(struct worker *worker, struct extent *extent)
{
    struct source *source = worker->source;
    *extent = (struct extent){.run = NULL};
    worker->shortage = SHORT_OF_NOTHING;
    pthread_mutex_lock(&source->turn);
    enum taken taken = source_find(worker);
    if (taken == TAKEN && source->current)
        taken = take_of_file(worker, extent);
    else if (taken == TAKEN && budget_remains(worker))
        taken = TAKEN_NOTHING;
    pthread_mutex_unlock(&source->turn);
    return taken;
}

/* Waits for what the worker is short of, and counts a chunk that was donated meanwhile. 1 or -1. */
static int count_donated(struct worker *worker)
{
    struct chunk *chunk = budget_wait(worker);
    if (!chunk)
        return 1;
    return worker->sink->count(worker->sink->arg, chunk, FLOW_DECODED) == 0 ? 1 : -1;
}

/* 1: there may be more; 0: there is not; or -1. */
static int run_next(struct worker *worker)
{
    struct extent extent;
    switch (take(worker, &extent)) {
    case TAKEN:
        return extent.run ? extent.run(worker, &extent) : 0;
    case TAKEN_NOTHING:
        return count_donated(worker);
    default:
        return -1;
    }
}

int run_worker(struct source *source, const struct sink *sink)
{
    struct worker worker = {.source = source, .sink = sink};
    int more = 1;
    idle_counter_open(&worker.idle);
    while (more > 0)
        more = run_next(&worker);
    idle_leave(&source->idle, &worker.idle);
    budget_release(&worker, 0);
    idle_counter_close(&worker.idle);
    return more;
}
