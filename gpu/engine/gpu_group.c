/* SPDX-License-Identifier: MIT */
#include "gpu_group.h"
#include "gpu/decode/decoder.h"
#include "device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define POLL_NS 20000 /* between polls of GPUs that are all busy, as each GPU's engine has it */

/* One GPU of the group. */
struct member {
    struct gpu_group *group;
    const struct cuda_device *cuda_device;
    struct engine *engine; /* NULL: it could not be opened: */
    struct error error;
    pthread_t thread; /* opens it, if has_thread */
    bool has_thread;
};

struct gpu_group {
    struct engine engine;
    const struct histogram_spec *spec;
    struct gpu_options options;
    struct gpu_list gpus; /* those that are asked for */
    unsigned next;        /* of these, the one that is opened next */
    atomic_uint count;    /* members that are there; written after them */
    struct member members[GPUS_MAX];
    atomic_uint turn;       /* where the search for a free slot begins */
    atomic_bool is_closing; /* no other one is to be opened */
    pthread_mutex_t lock;   /* guards is_starting */
    pthread_cond_t opened;
    bool is_starting;       /* a thread opens all but the first, one after the other */
    atomic_bool is_refused; /* one could not be opened */
    struct error refused;   /* why the first of these could not; written before is_refused */
};

static const struct engine_ops group_ops;

static struct gpu_group *group_of(const struct engine *engine)
{
    return (struct gpu_group *)engine;
}

/* --- chunks --- */

/* The engines of a group's GPUs, or the one that is given. With `in_turn` another one is the first
 * each time. Returns how many there are. */
static unsigned engines_of(const struct engine *gpu, bool in_turn, struct engine *engines[GPUS_MAX])
{
    struct gpu_group *group = group_of(gpu);
    if (gpu->ops != &group_ops) {
        engines[0] = (struct engine *)gpu;
        return 1;
    }
    const unsigned count = atomic_load(&group->count);
    const unsigned first = in_turn ? atomic_fetch_add(&group->turn, 1) : 0;
    for (unsigned i = 0; i < count; i++)
        engines[i] = group->members[(first + i) % count].engine;
    return count;
}

/* Returns a chunk of the first GPU that has a free one. Sets *alive to how many may have one later.
 */
static struct chunk *try_acquire(struct gpu_group *group, unsigned *alive)
{
    struct engine *engines[GPUS_MAX];
    const unsigned count = engines_of(&group->engine, true, engines);
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
        return engine_acquire(group->members[0].engine, wait);
    while (!gpu_group_failed(engine)) { /* then nothing more need be read */
        unsigned alive;
        struct chunk *chunk = try_acquire(group, &alive);
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
    return chunk->engine->ops->submit(chunk->engine, chunk);
}

/* Has each GPU add to the tally. */
static int add_up(struct engine *group, struct tally *tally,
                  int (*add)(struct engine *engine, struct tally *tally))
{
    struct engine *engines[GPUS_MAX];
    const unsigned count = engines_of(group, false, engines);
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
    const unsigned count = engines_of(engine, false, engines);
    const char *loss = NULL;
    for (unsigned i = 0; i < count; i++)
        if (!loss || gpu_engine_failed(engines[i]))
            loss = engine_loss(engines[i]);
    return loss;
}

static void group_close(struct engine *engine)
{
    struct gpu_group *group = group_of(engine);
    atomic_store(&group->is_closing, true);
    pthread_mutex_lock(&group->lock);
    while (group->is_starting)
        pthread_cond_wait(&group->opened, &group->lock);
    pthread_mutex_unlock(&group->lock);
    for (unsigned i = 0; i < group->gpus.count; i++)
        if (group->members[i].engine)
            engine_close(group->members[i].engine);
    pthread_cond_destroy(&group->opened);
    pthread_mutex_destroy(&group->lock);
    free(group);
}

static const struct engine_ops group_ops = {
    .acquire = group_acquire,
    .submit = group_submit,
    .finish = group_finish,
    .peek = group_peek,
    .loss = group_loss,
    .close = group_close,
};

/* --- compressed files: each GPU takes one at a time --- */

/* True if that is so of one of the GPUs. */
static bool any(struct engine *gpu, bool (*is_so)(struct engine *engine))
{
    struct engine *engines[GPUS_MAX];
    const unsigned count = engines_of(gpu, false, engines);
    bool is_any = false;
    for (unsigned i = 0; i < count && !is_any; i++)
        is_any = is_so(engines[i]);
    return is_any;
}

bool gpu_decoder_is_idle(struct engine *gpu)
{
    return any(gpu, gpu_engine_is_idle);
}

bool gpu_decoder_is_usable(struct engine *gpu)
{
    return any(gpu, gpu_engine_is_usable);
}

struct gpu_decoder *gpu_decoder_begin(struct engine *gpu, const struct compressed_start *start)
{
    struct engine *engines[GPUS_MAX];
    struct gpu_decoder *decoder = NULL;
    const unsigned count = engines_of(gpu, true, engines);
    for (unsigned i = 0; i < count && !decoder && !gpu_group_failed(gpu); i++)
        decoder = gpu_engine_begin(engines[i], start);
    return decoder;
}

uint64_t gpu_decoder_bytes(struct engine *gpu)
{
    struct engine *engines[GPUS_MAX];
    const unsigned count = engines_of(gpu, false, engines);
    uint64_t bytes = 0;
    for (unsigned i = 0; i < count; i++)
        bytes += gpu_engine_decompressed(engines[i]);
    return bytes;
}

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

static void *member_open(void *arg)
{
    struct member *member = arg;
    const struct gpu_group *group = member->group;
    struct gpu_options options = group->options;
    options.ordinal = member->cuda_device->ordinal;
    options.cuda_device = member->cuda_device;
    options.sharers = group->gpus.count;
    member->engine = gpu_engine_open(group->spec, &options, &member->error);
    return NULL;
}

/* Keeps the error because of which a member could not be opened. */
static void group_refuse(struct gpu_group *group, const struct member *member)
{
    if (atomic_load(&group->is_refused))
        return;
    if (group->gpus.count == 1)
        group->refused = member->error;
    else
        error_set(&group->refused, "GPU %d: %s", member->cuda_device->asked, member->error.text);
    atomic_store(&group->is_refused, true);
}

/* Adds the next member, which was opened, to those that are seen. False if that failed. */
static bool group_add(struct gpu_group *group)
{
    const struct member *member = &group->members[atomic_load(&group->count)];
    if (member->engine)
        atomic_fetch_add(&group->count, 1);
    else
        group_refuse(group, member);
    return member->engine;
}

/* Opens and adds the next GPU of the list that can be opened. False if there is none. */
static bool group_open_next(struct gpu_group *group)
{
    struct member *member = &group->members[atomic_load(&group->count)];
    bool is_there = false;
    while (!is_there && group->next < group->gpus.count && !atomic_load(&group->is_closing)) {
        member->cuda_device = &group->gpus.gpu[group->next++];
        member_open(member);
        is_there = group_add(group);
    }
    return is_there;
}

static void *group_opener(void *arg)
{
    struct gpu_group *group = arg;
    while (group_open_next(group))
        ;
    pthread_mutex_lock(&group->lock);
    group->is_starting = false;
    pthread_cond_signal(&group->opened);
    pthread_mutex_unlock(&group->lock);
    return NULL;
}

/* Opens the first, and then the others in a thread, if there is one. Nobody joins it, as a program
 * that ends does not close the group. */
static void group_open_first(struct gpu_group *group)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (!group_open_next(group) || group->next == group->gpus.count)
        return;
    group->is_starting = true; /* nobody else has the group yet */
    if (pthread_attr_init(&attributes) != 0) {
        group_opener(group);
        return;
    }
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&thread, &attributes, group_opener, group) != 0)
        group_opener(group);
    pthread_attr_destroy(&attributes);
}

/* Opens all side by side, each but the first in a thread of its own if there are threads. */
static void group_open_all(struct gpu_group *group)
{
    const unsigned count = group->gpus.count;
    for (unsigned i = 0; i < count; i++) {
        struct member *member = &group->members[i];
        member->cuda_device = &group->gpus.gpu[i];
        member->has_thread =
            i > 0 && pthread_create(&member->thread, NULL, member_open, member) == 0;
    }
    for (unsigned i = 0; i < count; i++)
        if (group->members[i].has_thread)
            pthread_join(group->members[i].thread, NULL);
        else
            member_open(&group->members[i]);
    while (atomic_load(&group->count) < count && group_add(group))
        ;
}

struct engine *gpu_group_open(const struct histogram_spec *spec, const struct gpu_options *options,
                              const struct gpu_list *gpus, bool waits, struct error *error)
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
    pthread_cond_init(&group->opened, NULL);
    for (unsigned i = 0; i < gpus->count; i++)
        group->members[i].group = group;
    if (waits)
        group_open_all(group);
    else
        group_open_first(group);
    bool is_there = atomic_load(&group->count) > 0;
    if ((waits || !is_there) && gpu_group_refused(&group->engine, error)) {
        group_close(&group->engine);
        return NULL;
    }
    return &group->engine;
}

/* --- what is known of them --- */

bool gpu_group_refused(const struct engine *engine, struct error *error)
{
    const struct gpu_group *group = group_of(engine);
    bool is_refused = atomic_load(&group->is_refused);
    if (is_refused)
        *error = group->refused;
    return is_refused;
}

unsigned gpu_group_count(const struct engine *engine)
{
    return atomic_load(&group_of(engine)->count);
}

struct engine *gpu_group_member(const struct engine *engine, unsigned i)
{
    return group_of(engine)->members[i].engine;
}

int gpu_group_number(const struct engine *engine, unsigned i)
{
    return group_of(engine)->members[i].cuda_device->asked;
}

unsigned gpu_group_feeding(const struct engine *engine)
{
    struct engine *engines[GPUS_MAX];
    const unsigned count = engines_of(engine, false, engines);
    unsigned feeding = 0;
    for (unsigned i = 0; i < count; i++)
        feeding += gpu_engine_is_feeding(engines[i]);
    return feeding;
}

bool gpu_group_failed(const struct engine *engine)
{
    return any((struct engine *)engine, gpu_engine_failed);
}
