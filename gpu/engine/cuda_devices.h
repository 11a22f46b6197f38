/* SPDX-License-Identifier: MIT */
/* The GPUs that CUDA is allowed to see. */
#ifndef GPUHISTO_CUDA_DEVICES_H
#define GPUHISTO_CUDA_DEVICES_H

#include "src/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    unsigned max;  /* how many may be used (cuda_devices_extend); less than count: no others */
    char *setting; /* the environment variable, if it was set; on the heap, and the environment's */
    char *hidden;  /* these, in it, after the end of its text */
};

/* Leaves only the GPUs of the list visible to CUDA, which takes an eighth of a second to set up
 * each GPU that it sees. Sets the ordinals and lists of those with an `asked`, and lowers `most` to
 * the GPUs there are. If the user's list lacks one of them, or all are asked for, nothing is
 * changed.
 *
 * Sets the environment variable, so it must be called before other threads start. What the lists
 * point to is never freed. `root` goes before /dev, where GPUs are looked for: "", or a test's
 * folder. */
void cuda_devices_limit(struct gpu_list *gpus, const char *root);

/* Uses more GPUs of the list: `count` of them, or `most` if that is fewer. Changes the variable's
 * text in place, so no other thread may read it, as CUDA does when it starts. */
void cuda_devices_extend(struct gpu_list *gpus, unsigned count);

/* Sets *error to why CUDA does not have the GPU that was asked for. `root` as above. Any thread. */
void cuda_device_explain(const struct cuda_device *cuda_device, const char *root,
                         struct error *error);

#ifdef __cplusplus
}
#endif

#endif
