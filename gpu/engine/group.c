/* SPDX-License-Identifier: MIT */
/* Several GPUs behind one engine. */
#include "engine_internal.h"
#include "src/base/system.h"

#include <stdio.h>
#include <stdlib.h>

/* One GPU of the group. */
struct member {
    struct gpu_group *group;
    _Atomic(struct engine *) engine; /* NULL: it is not open */
    bool has_ended;                  /* its start has, one way or the other; under the lock */
};

struct gpu_group {
    struct engine engine;
    const struct histogram_spec *spec;
    struct gpu_options options;
    struct gpu_list gpus; /* those that are asked for */
    struct member members[GPUS_MAX];
    atomic_uint turn; /* where the search for a free slot begins */

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    unsigned starting;    /* members that are being opened, each by a thread */
    bool is_refused;      /* one could not be opened: */
    struct error refused; /* why the first of these could not */
};

static const struct engine_ops group_ops;

static struct gpu_group *group_of(const struct engine *engine)
{
    return (struct gpu_group *)engine;
}

/* --- chunks --- */

unsigned gpu_group_engines(const struct engine *gpu, bool in_turn, struct engine *engines[GPUS_MAX])
{
    struct gpu_group *group = group_of(gpu);
    unsigned count = 0;
    if (gpu->ops != &group_ops) {
        engines[0] = (struct engine *)gpu;
        return 1;
    }
    const unsigned first = in_turn ? atomic_fetch_add(&group->turn, 1) : 0;
    for (unsigned i = 0; i < group->gpus.count; i++) {
        const struct member *member = &group->members[(first + i) % group->gpus.count];
        struct engine *engine = atomic_load(&member->engine);
        if (engine)
            engines[count++] = engine;
    }
    return count;
}

/* Returns a chunk of the first GPU that has one free. Sets *alive to how many may have one later.
 */
static struct chunk *try_acquire(struct gpu_group *group, unsigned *alive)
{
    struct engine *engines[GPUS_MAX];
    const unsigned count = gpu_group_engines(&group->engine, true, engines);
    *alive = 0;
    for (unsigned i = 0; i < count; i++) {
        struct chunk *chunk = engine_acquire(engines[i], false);
        if (chunk)
            return chunk;
        *alive += engine_loss(engines[i]) == NULL;
    }
    return NULL;
}

static struct chunk *group_acquire(struct engine *engine, bool wait)
{
    struct gpu_group *group = group_of(engine);
    if (group->gpus.count == 1)
        return engine_acquire(atomic_load(&group->members[0].engine), wait);
    while (!gpu_group_state(engine).has_failed) { /* then nothing more need be read */
        unsigned alive;
        struct chunk *chunk = try_acquire(group, &alive);
        if (chunk || !wait || alive == 0)
            return chunk;
        nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    return NULL;
}

/* Has each GPU add to the tally. */
static int add_up(struct engine *group, struct tally *tally,
                  int (*add)(struct engine *engine, struct tally *tally))
{
    struct engine *engines[GPUS_MAX];
    const unsigned count = gpu_group_engines(group, false, engines);
    int rc = 0;
    for (unsigned i = 0; i < count && rc == 0; i++)
        rc = add(engines[i], tally);
    return rc;
}

static int group_finish(struct engine *engine, struct tally *tally)
{
    return add_up(engine, tally, engine_finish);
}

static int group_peek(struct engine *engine, struct tally *tally)
{
    return add_up(engine, tally, engine_peek);
}

/* Returns the loss of a GPU, preferably of one with which counts were lost, as the others were
 * replaced. */
static const char *group_loss(struct engine *engine)
{
    struct engine *engines[GPUS_MAX];
    const unsigned count = gpu_group_engines(engine, false, engines);
    const char *loss = NULL;
    for (unsigned i = 0; i < count; i++)
        if (!loss || atomic_load(&gpu_of(engines[i])->has_failed))
            loss = engine_loss(engines[i]);
    return loss;
}

static void group_close(struct engine *engine)
{
    struct gpu_group *group = group_of(engine);
    pthread_mutex_lock(&group->lock);
    while (group->starting > 0)
        pthread_cond_wait(&group->changed, &group->lock);
    pthread_mutex_unlock(&group->lock);
    for (unsigned i = 0; i < group->gpus.count; i++)
        if (group->members[i].engine)
            engine_close(group->members[i].engine);
    pthread_cond_destroy(&group->changed);
    pthread_mutex_destroy(&group->lock);
    free(group);
}

/* Chunks belong to the members, which take them back. */
static const struct engine_ops group_ops = {
    .acquire = group_acquire,
    .finish = group_finish,
    .peek = group_peek,
    .loss = group_loss,
    .close = group_close,
};

/* --- opening --- */

int gpu_group_resolve(struct gpu_list *gpus, struct error *error)
{
    if (gpus->count > 0)
        return 0;
    int found = device_count_all(error);
    if (found == 0)
        cuda_device_explain(&(struct cuda_device){.list = getenv("CUDA_VISIBLE_DEVICES")}, "",
                            error);
    if (found <= 0)
        return -1;
    gpus->count = found < GPUS_MAX ? (unsigned)found : GPUS_MAX;
    for (unsigned i = 0; i < gpus->count; i++)
        gpus->gpu[i] = (struct cuda_device){.asked = (int)i, .ordinal = (int)i};
    return 0;
}

/* Opens a GPU, and adds it to those that are seen. */
static void *member_open(void *arg)
{
    struct member *member = arg;
    struct gpu_group *group = member->group;
    struct gpu_options options = group->options;
    struct error error;
    options.cuda_device = group->gpus.gpu[member - group->members];
    options.sharers = group->gpus.count;
    struct engine *engine = gpu_engine_open(group->spec, &options, &error);
    atomic_store(&member->engine, engine);
    pthread_mutex_lock(&group->lock);
    if (!engine && !group->is_refused) {
        group->is_refused = true;
        if (group->gpus.count == 1)
            group->refused = error;
        else
            error_set(&group->refused, "GPU %d: %s", options.cuda_device.asked, error.text);
    }
    member->has_ended = true;
    group->starting--;
    pthread_cond_broadcast(&group->changed);
    pthread_mutex_unlock(&group->lock);
    return NULL;
}

/* True if a GPU that is still starting does not exist, which its start is about to find out. */
static bool awaits_refusal(const struct gpu_group *group, int existing)
{
    bool awaits = false;
    for (unsigned i = 0; i < group->gpus.count; i++)
        awaits |= !group->members[i].has_ended && group->gpus.gpu[i].ordinal >= existing;
    return awaits;
}

/* Waits until one GPU is open and the others exist, or with `for_all` until the start of each has
 * ended. Returns whether one is open. */
static bool await_members(struct gpu_group *group, bool for_all)
{
    struct error unused;
    pthread_mutex_lock(&group->lock);
    while (group->starting > 0 && (for_all || gpu_group_state(&group->engine).ready == 0))
        pthread_cond_wait(&group->changed, &group->lock);
    if (group->starting > 0) {
        pthread_mutex_unlock(&group->lock);
        const int existing = device_count_all(&unused);
        pthread_mutex_lock(&group->lock);
        while (awaits_refusal(group, existing))
            pthread_cond_wait(&group->changed, &group->lock);
    }
    pthread_mutex_unlock(&group->lock);
    return gpu_group_state(&group->engine).ready > 0;
}

struct engine *gpu_group_open(const struct histogram_spec *spec, const struct gpu_options *options,
                              const struct gpu_list *gpus, enum gpu_group_start start,
                              struct error *error)
{
    struct gpu_group *group = calloc(1, sizeof *group);
    if (!group) {
        error_set(error, "out of memory");
        return NULL;
    }
    group->engine.ops = &group_ops;
    group->spec = spec;
    group->options = *options;
    group->gpus = *gpus;
    pthread_mutex_init(&group->lock, NULL);
    pthread_cond_init(&group->changed, NULL);
    /* All side by side, each in a thread that nobody joins, as a program that ends does not close
     * the group; or here, if there are no threads. */
    group->starting = gpus->count;
    for (unsigned i = 0; i < gpus->count; i++) {
        group->members[i].group = group;
        if (start_detached_thread(member_open, &group->members[i], 0) != 0)
            member_open(&group->members[i]);
    }
    const bool is_open = await_members(group, start == GPU_GROUP_WAITS_FOR_ALL);
    if ((start != GPU_GROUP_TAKES_SOME || !is_open) && gpu_group_refused(&group->engine, error)) {
        group_close(&group->engine);
        return NULL;
    }
    return &group->engine;
}

/* --- what is known of them --- */

bool gpu_group_refused(const struct engine *engine, struct error *error)
{
    struct gpu_group *group = group_of(engine);
    pthread_mutex_lock(&group->lock);
    const bool is_refused = group->is_refused;
    if (is_refused)
        *error = group->refused;
    pthread_mutex_unlock(&group->lock);
    return is_refused;
}

struct gpu_state gpu_group_state(const struct engine *engine)
{
    struct engine *engines[GPUS_MAX];
    struct gpu_state state = {.ready = gpu_group_engines(engine, false, engines)};
    for (unsigned i = 0; i < state.ready; i++) {
        const struct gpu_engine *gpu = gpu_of(engines[i]);
        const enum gpu_loan loan = atomic_load(&gpu->loan);
        state.idle += loan == GPU_IDLE;
        state.feeding += loan == GPU_LENT && !atomic_load(&gpu->is_lost);
        state.has_failed |= atomic_load(&gpu->has_failed);
    }
    return state;
}

unsigned gpu_group_report(const struct engine *engine, struct gpu_report *reports)
{
    struct engine *engines[GPUS_MAX];
    const unsigned count = gpu_group_engines(engine, false, engines);
    for (unsigned i = 0; i < count; i++) {
        struct gpu_engine *gpu = gpu_of(engines[i]);
        const struct gpu_options *options = &gpu->options;
        struct gpu_report *report = &reports[i];
        const char *loss = engine_loss(engines[i]);
        *report = (struct gpu_report){.number = options->cuda_device.asked};
        snprintf(report->name, sizeof report->name, "%s, %s", device_thread_name(gpu->thread),
                 options->strategy->name);
        if (loss)
            error_set(&report->lost, "%s", loss);
        pthread_mutex_lock(&gpu->lock);
        report->times = gpu->times;
        report->times.copy_seconds += device_thread_copy_seconds(gpu->thread);
        pthread_mutex_unlock(&gpu->lock);
    }
    return count;
}
