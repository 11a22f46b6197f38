/* SPDX-License-Identifier: MIT */
/* The sink of one worker: where its chunks go, and which memory they are in. Runners fill chunks,
 * and src/pool, which opened the engines, counts them. */
#ifndef GPUHISTO_SINK_H
#define GPUHISTO_SINK_H

#include "source.h"

struct sink {
    void *arg;
    /* Chooses the memory for the next chunk, or waits for it. NULL: there will be none, and the run
     * has failed. */
    struct chunk *(*choose)(void *arg, enum flow flow);
    /* Counts a chunk that choose gave to this or another worker, and takes it back; its len may be
     * 0. 0, or -1: the run has ended. */
    int (*count)(void *arg, struct chunk *chunk, enum flow flow);
    /* Returns the GPUs, if one of them is idle and should decompress a file; or NULL. Sets *waits
     * if one should, once it is idle: then ask again. May be NULL itself. */
    struct engine *(*offload)(void *arg, const struct offload_offer *offer, bool *waits);
    /* True if the worker should end rather than take more to decompress. May be NULL. */
    bool (*is_surplus)(void *arg);
    /* Returns how many workers there may be. May be NULL: one. */
    unsigned (*workers)(void *arg);
    /* Starts as many workers as compressed files are worth. May be NULL. */
    void (*call_for_help)(void *arg);
    /* True if the run has ended; asked where no chunk is counted that tells so. May be NULL. */
    bool (*has_ended)(void *arg);
};

#endif
