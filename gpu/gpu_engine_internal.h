/* What the files of the GPU's engine share: gpu_engine.c (chunks) and gpu_undecoded.c (compressed
 * FILEs). The engine's lock is held in all functions. */
#ifndef GPUHISTO_GPU_ENGINE_INTERNAL_H
#define GPUHISTO_GPU_ENGINE_INTERNAL_H

#include "gpu_engine.h"
#include "decompression.h"
#include "device.h"
#include "locality.h"
#include "recovery.h"
#include "slots.h"
#include "snapshot.h"

#include <pthread.h>
#include <stdatomic.h>

struct gpu_engine {
    struct engine engine;
    const struct histogram *histogram;
    struct gpu_options options;
    struct device *device;
    struct locality near; /* the device */
    pthread_mutex_t lock; /* guards the rest, and every call of the device */
    struct slots slots;
    struct snapshots snapshots;
    struct recovery recovery;
    struct decompression decompression;
    atomic_bool
        is_taken; /* a FILE is being decompressed, or none ever can be; not under the lock */
    struct timespec progress; /* when the device last finished something or was idle */
    unsigned reads;           /* of content, that are under way */
    struct timespec filling;  /* when the last chunk of compressed bytes was given out */
    struct gpu_times times;
};

static struct gpu_engine *gpu_of(struct engine *engine)
{
    return (struct gpu_engine *)engine;
}

/* Notes that the device is lost: because a call of it failed; or for another reason. */
void gpu_lose_by_call(struct gpu_engine *gpu);
void gpu_lose(struct gpu_engine *gpu, const char *why);

/* The device was lost: has the fallback count what was in flight. */
void gpu_recount(struct gpu_engine *gpu);

/* Whether the device may take longer. To be asked before it is looked at: while the process is
 * stopped, time may pass before a chunk arrives. */
bool gpu_is_patient(const struct gpu_engine *gpu);

/* Looks at the oldest slot in flight. 1: it arrived and is free again; 0: not yet; -1: lost. */
int gpu_reap_oldest(struct gpu_engine *gpu);

/* How content is copied for whoever hashes it: takes the lock itself. */
struct content_source gpu_content_source(struct gpu_engine *gpu);

/* Lets time pass without the lock. */
void gpu_pause_unlocked(struct gpu_engine *gpu);

/* In gpu_undecoded.c. */
extern const struct undecoded_ops gpu_undecoded;

#endif
