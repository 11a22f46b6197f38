#include "gpu_group.h"
#include "device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define POLL_NS 20000 /* between looks at GPUs that are all busy, as each GPU's engine has it */

struct gpu_group {
    struct engine engine;
    unsigned count;
    struct engine *members[GPUS_MAX];
    atomic_uint turn;     /* where the search for a free slot begins */
    bool has_places;      /* it is known of some member what is near it */
    struct locality near; /* any of the members */
};

static struct gpu_group *group_of(const struct engine *engine)
{
    return (struct gpu_group *)engine;
}

/* --- chunks --- */

/* The members as they are asked: those near the processor first, and among these another one first
 * each time. */
static void group_order(struct gpu_group *group, struct engine *order[GPUS_MAX])
{
    const unsigned first = atomic_fetch_add(&group->turn, 1);
    const int processor = group->has_places ? sched_getcpu() : -1;
    struct engine *far[GPUS_MAX];
    unsigned near_count = 0, far_count = 0;
    for (unsigned i = 0; i < group->count; i++) {
        struct engine *member = group->members[(first + i) % group->count];
        if (locality_has(gpu_engine_near(member), processor))
            order[near_count++] = member;
        else
            far[far_count++] = member;
    }
    for (unsigned i = 0; i < far_count; i++)
        order[near_count + i] = far[i];
}

/* A chunk of the first GPU that has a free one. Sets *alive to how many may have one later. */
static struct chunk *group_look(struct gpu_group *group, unsigned *alive)
{
    struct engine *order[GPUS_MAX];
    group_order(group, order);
    *alive = 0;
    for (unsigned i = 0; i < group->count; i++) {
        struct chunk *chunk = engine_acquire(order[i], false);
        if (chunk)
            return chunk;
        *alive += engine_loss(order[i]) == NULL;
    }
    return NULL;
}

static struct chunk *group_acquire(struct engine *engine, bool wait)
{
    struct gpu_group *group = group_of(engine);
    if (group->count == 1)
        return engine_acquire(group->members[0], wait);
    while (!gpu_group_failed(engine)) { /* then nothing more need be read */
        unsigned alive;
        struct chunk *chunk = group_look(group, &alive);
        if (chunk || !wait || alive == 0)
            return chunk;
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    return NULL;
}

/* Never called: chunks belong to the members. */
static int group_submit(struct engine *engine, struct chunk *chunk)
{
    (void)engine;
    return engine_submit(chunk);
}

static int group_finish(struct engine *engine, struct tally *tally)
{
    struct gpu_group *group = group_of(engine);
    int rc = 0;
    for (unsigned i = 0; i < group->count && rc == 0; i++)
        rc = engine_finish(group->members[i], tally);
    return rc;
}

static int group_peek(struct engine *engine, struct tally *tally)
{
    struct gpu_group *group = group_of(engine);
    int rc = 0;
    for (unsigned i = 0; i < group->count && rc == 0; i++)
        rc = engine_peek(group->members[i], tally);
    return rc;
}

static const char *group_loss(struct engine *engine)
{
    struct gpu_group *group = group_of(engine);
    const char *loss = NULL;
    for (unsigned i = 0; i < group->count && !loss; i++)
        loss = engine_loss(group->members[i]);
    return loss;
}

static void group_close(struct engine *engine)
{
    struct gpu_group *group = group_of(engine);
    for (unsigned i = 0; i < group->count; i++)
        if (group->members[i])
            engine_close(group->members[i]);
    free(group);
}

/* --- compressed FILEs: each GPU takes one at a time --- */

static bool group_is_free(struct engine *engine)
{
    struct gpu_group *group = group_of(engine);
    bool is_free = false;
    for (unsigned i = 0; i < group->count; i++)
        is_free |= group->members[i]->ops->undecoded->is_free(group->members[i]);
    return is_free;
}

static struct chunk *group_begin_undecoded(struct engine *engine, enum coding coding,
                                           const struct undecoded_start *start)
{
    struct gpu_group *group = group_of(engine);
    struct engine *order[GPUS_MAX];
    struct chunk *chunk = NULL;
    group_order(group, order);
    for (unsigned i = 0; i < group->count && !chunk; i++) {
        struct engine *member = order[i];
        if (member->ops->undecoded->is_free(member) && !gpu_group_failed(engine))
            chunk = member->ops->undecoded->begin(member, coding, start);
    }
    return chunk;
}

/* A FILE that was begun is the member's. */
static const struct undecoded_ops group_undecoded = {
    .is_free = group_is_free,
    .begin = group_begin_undecoded,
};

static const struct engine_ops group_ops = {
    .acquire = group_acquire,
    .submit = group_submit,
    .finish = group_finish,
    .peek = group_peek,
    .loss = group_loss,
    .close = group_close,
    .undecoded = &group_undecoded,
};

/* --- opening --- */

int gpu_group_resolve(struct gpu_list *gpus, struct reason *why)
{
    if (gpus->count > 0)
        return 0;
    int found = device_count_all(why);
    if (found == 0)
        visible_explain(&(struct visible){.list = getenv("CUDA_VISIBLE_DEVICES")}, "", why);
    if (found <= 0)
        return -1;
    gpus->count = found < GPUS_MAX ? (unsigned)found : GPUS_MAX;
    for (unsigned i = 0; i < gpus->count; i++)
        gpus->gpu[i] = (struct visible){.asked = (int)i, .ordinal = (int)i};
    return 0;
}

/* One GPU that is being opened. */
struct gpu_opening {
    const struct histogram *histogram;
    struct gpu_options options;
    struct engine *engine;
    struct reason why;
    pthread_t thread;
    bool has_thread;
};

static void *group_open_member(void *arg)
{
    struct gpu_opening *opening = arg;
    opening->engine = gpu_engine_open(opening->histogram, &opening->options, &opening->why);
    return NULL;
}

/* Opens all, each but the first in a thread of its own if there are threads. */
static void group_open_members(struct gpu_opening *openings, unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        openings[i].has_thread =
            pthread_create(&openings[i].thread, NULL, group_open_member, &openings[i]) == 0;
    for (unsigned i = 0; i < count; i++)
        if (!openings[i].has_thread)
            group_open_member(&openings[i]);
    for (unsigned i = 1; i < count; i++)
        if (openings[i].has_thread)
            pthread_join(openings[i].thread, NULL);
}

/* Moves the engines into the group. 0, or -1 with the first reason why there is none. */
static int group_take(struct gpu_group *group, const struct gpu_opening *openings,
                      struct reason *why)
{
    int rc = 0;
    for (unsigned i = 0; i < group->count; i++) {
        const struct gpu_opening *opening = &openings[i];
        group->members[i] = opening->engine;
        if (opening->engine || rc != 0)
            continue;
        rc = -1;
        if (group->count == 1)
            *why = opening->why;
        else
            reason_set(why, "GPU %d: %s", opening->options.visible->asked, opening->why.text);
    }
    return rc;
}

/* Finds out what is near all members, which are there. */
static void group_join_near(struct gpu_group *group)
{
    for (unsigned i = 0; i < group->count; i++) {
        const struct locality *near = gpu_engine_near(group->members[i]);
        group->has_places |= near->is_known;
        if (i == 0)
            group->near = *near;
        else
            locality_join(&group->near, near);
    }
}

struct engine *gpu_group_open(const struct histogram *histogram, const struct gpu_options *options,
                              const struct gpu_list *gpus, struct reason *why)
{
    struct gpu_group *group = calloc(1, sizeof *group);
    struct gpu_opening *openings = calloc(gpus->count, sizeof *openings);
    if (!group || !openings) {
        free(group);
        free(openings);
        reason_set(why, "out of memory");
        return NULL;
    }
    group->engine.ops = &group_ops;
    group->count = gpus->count;
    for (unsigned i = 0; i < gpus->count; i++) {
        openings[i] = (struct gpu_opening){.histogram = histogram, .options = *options};
        openings[i].options.ordinal = gpus->gpu[i].ordinal;
        openings[i].options.visible = &gpus->gpu[i];
        openings[i].options.sharers = gpus->count;
    }
    group_open_members(openings, gpus->count);
    int rc = group_take(group, openings, why);
    free(openings);
    if (rc == 0) {
        group_join_near(group);
        return &group->engine;
    }
    group_close(&group->engine);
    return NULL;
}

/* --- what is known of them --- */

unsigned gpu_group_count(const struct engine *engine)
{
    return group_of(engine)->count;
}

struct engine *gpu_group_member(const struct engine *engine, unsigned i)
{
    return group_of(engine)->members[i];
}

const struct locality *gpu_group_near(const struct engine *engine)
{
    return &group_of(engine)->near;
}

bool gpu_group_failed(const struct engine *engine)
{
    const struct gpu_group *group = group_of(engine);
    bool failed = false;
    for (unsigned i = 0; i < group->count; i++)
        failed |= gpu_engine_failed(group->members[i]);
    return failed;
}
