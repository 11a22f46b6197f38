/* SPDX-License-Identifier: MIT */
#include "tests/helpers/submit.h"

#include "src/schedule/schedule.h"
#include "src/input/engine.h"

static int count(void *arg, struct chunk *chunk, enum flow flow)
{
    (void)arg, (void)flow;
    return chunk->engine->ops->submit(chunk->engine, chunk);
}

int submit_source(struct source *source, const struct sink *sink)
{
    struct sink own = *sink;
    own.count = count;
    return run_worker(source, &own);
}
