/* SPDX-License-Identifier: MIT */
/* The GPUs that CUDA is allowed to see. */
#ifndef GPUHISTO_GPU_ENGINE_CUDA_DEVICES_H
#define GPUHISTO_GPU_ENGINE_CUDA_DEVICES_H

#include "src/base/error.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns why there can be no device, as far as can be told without CUDA. NULL: there may be one.
 * At once. Any thread. */
const char *device_missing(void);

/* A GPU that the user asked for. */
struct cuda_device {
    int asked;        /* its number, from 0, among those that CUDA_VISIBLE_DEVICES leaves */
    int ordinal;      /* the number by which CUDA knows it */
    const char *list; /* the user's CUDA_VISIBLE_DEVICES; NULL: it was not set */
};

#define GPUS_MAX 16

/* A list of GPUs, each once. */
struct gpu_list {
    unsigned count; /* 0: all that CUDA sees */
    struct cuda_device gpu[GPUS_MAX];
    bool grows;     /* those after the first follow it, as many as are wanted */
    unsigned named; /* how many the user has named, of which fewer may have been chosen */
};

/* Returns how many GPUs the list may have, at most. */
static inline unsigned cuda_devices_max(const struct gpu_list *gpus)
{
    return gpus->grows || gpus->count == 0 ? GPUS_MAX : gpus->count;
}

/* Chooses the GPUs of a run, at most `wanted`, the first ones of the list, and leaves only these
 * visible to CUDA, which takes an eighth of a second to set up each GPU that it sees. Sets their
 * ordinals and lists. If the user's list lacks one of them, nothing is changed: CUDA then says so.
 * 0, or -1 with the error set: one that is not wanted does not exist.
 *
 * Sets CUDA_VISIBLE_DEVICES, so it must be called before other threads start. The copy of the
 * user's list is never freed. `root` goes before /dev, where GPUs are looked for: "", or a test's
 * folder. */
int cuda_devices_choose(struct gpu_list *gpus, unsigned wanted, const char *root,
                        struct error *error);

/* Sets *error to why CUDA does not have the GPU that was asked for. `root` as above. Any thread. */
void cuda_device_explain(const struct cuda_device *cuda_device, const char *root,
                         struct error *error);

#ifdef __cplusplus
}
#endif

#endif
