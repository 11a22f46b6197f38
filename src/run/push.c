/* SPDX-License-Identifier: MIT */
/* The way of a chunk from a runner to the sink. */
#include "runner.h"

struct chunk *runner_choose(struct worker *worker, enum flow flow)
{
    struct chunk *chunk = worker->sink->choose(worker->sink->arg, flow);
    if (!chunk)
        source_fail(worker->source, &(struct reason){""});
    return chunk;
}

int runner_push(struct worker *worker, struct chunk *chunk, enum flow flow)
{
    if (flow == FLOW_DECODED && chunk->give && idle_donate(&worker->source->idle, chunk))
        return 0;
    return worker->sink->count(worker->sink->arg, chunk, flow);
}
