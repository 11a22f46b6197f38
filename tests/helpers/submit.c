/* SPDX-License-Identifier: MIT */
#include "tests/helpers/submit.h"

#include "src/engine/engine.h"
#include "src/run/run.h"

struct submitter {
    const struct sink *sink;
    atomic_uint *submitted;
};

static struct chunk *choose(void *arg, enum flow flow)
{
    const struct sink *sink = ((struct submitter *)arg)->sink;
    return sink->choose(sink->arg, flow);
}

static int count(void *arg, struct chunk *chunk, enum flow flow)
{
    const struct submitter *submitter = arg;
    (void)flow;
    if (submitter->submitted)
        atomic_fetch_add(submitter->submitted, 1);
    return engine_submit(chunk);
}

static struct engine *offload(void *arg, const struct offload_offer *offer)
{
    const struct sink *sink = ((struct submitter *)arg)->sink;
    return sink->offload(sink->arg, offer);
}

static bool may_offload(void *arg)
{
    const struct sink *sink = ((struct submitter *)arg)->sink;
    return sink->may_offload(sink->arg);
}

int submit_source(struct source *source, const struct sink *sink, atomic_uint *submitted)
{
    struct submitter submitter = {.sink = sink, .submitted = submitted};
    const struct sink own = {.arg = &submitter,
                             .choose = choose,
                             .count = count,
                             .offload = sink->offload ? offload : NULL,
                             .may_offload = sink->may_offload ? may_offload : NULL};
    return run_worker(source, &own);
}
