/* SPDX-License-Identifier: MIT */
#include "run.h"
#include "runner.h"

/* Takes an extent of source->current, in turn. 1, 0 or -1, as serial_take. */
static int take_of_file(struct extent *extent)
{
    struct source *source = extent->worker->source;
    const struct sink *sink = extent->worker->sink;
    extent->file = source->current;
    if (!source->current->input.frames.codec) {
        extent->run = copy_run;
        extent->changes = source->changes;
        return 1;
    }
    int taken = gpu_take(extent);
    if (taken != 0)
        return taken;
    if (!sink->is_surplus || !sink->is_surplus(sink->arg))
        return serial_take(extent);
    idle_wake_all(&source->idle); /* whoever waits looks again */
    return 1;                     /* without a runner */
}

/* Waits for what the worker is short of, and counts a chunk that was donated meanwhile. */
static int count_donated(struct extent *extent)
{
    struct worker *worker = extent->worker;
    struct chunk *chunk = budget_wait(worker);
    return chunk ? worker->sink->count(worker->sink->arg, chunk, FLOW_DECODED) : 0;
}

/* Takes the next extent. 0 or -1. */
static int take(struct worker *worker, struct extent *extent)
{
    struct source *source = worker->source;
    *extent = (struct extent){.worker = worker};
    worker->wanted = 0;
    pthread_mutex_lock(&source->turn);
    int taken = source_find(worker);
    if (taken > 0 && source->current)
        taken = take_of_file(extent);
    else if (taken > 0 && budget_remains(worker))
        taken = 0;
    worker->changes = source->changes;
    pthread_mutex_unlock(&source->turn);
    if (taken == 0)
        extent->run = count_donated;
    return taken < 0 ? -1 : 0;
}

int run_worker(struct source *source, const struct sink *sink)
{
    struct worker worker = {.source = source, .sink = sink};
    struct extent extent;
    int rc;
    idle_counter_open(&worker.idle);
    do {
        rc = take(&worker, &extent);
        if (rc == 0 && extent.run)
            rc = extent.run(&extent);
    } while (rc == 0 && extent.run);
    idle_leave(&source->idle, &worker.idle);
    budget_release(&worker, 0);
    idle_counter_close(&worker.idle);
    return rc;
}
