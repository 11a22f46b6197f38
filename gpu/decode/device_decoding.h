/* SPDX-License-Identifier: MIT */
/* A device that decompresses: what gpu/engine/device.h is extended by. device_decoding.cu is the
 * real one. */
#ifndef GPUHISTO_GPU_DECODE_DEVICE_DECODING_H
#define GPUHISTO_GPU_DECODE_DEVICE_DECODING_H

#include "gpu/engine/device.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The bytes that end a record of the content. */
enum device_separators {
    SEPARATORS_NONE, /* its size does */
    SEPARATORS_WHITE_SPACE,
    SEPARATORS_NEWLINES,
    SEPARATORS_CHARACTERS, /* nothing: the host tells from the last bytes whether one is cut off */
};

/* The sizes that decompressing has memory for. */
struct device_decoding {
    struct decode_capacity capacity; /* of a batch */
    unsigned batches;                /* two at least, DEVICE_BATCHES_MAX at most; 0: the device
                                      * decompresses nothing */
    uint64_t memory;                 /* set: bytes of the device's memory that all of it takes */
    /* Bytes of content that are kept for the next batch. A record that ends with a separator has at
     * most this length. */
    uint32_t keep_min;
    enum device_separators separators;
};

/* Takes as much of the memory that is asked for in *decoding, a struct device_decoding, as the
 * device has, and sets *decoding to that. If it is called again, nothing may be under way, and what
 * was taken before is given back first. 0, or -1: the device is lost. */
int device_open_decoding(struct device *device, void *decoding);

/* A batch, of which plan.in_size bytes were copied. It goes on where the batch before ended, unless
 * `begins`. The plan's arrays must not change before the verdict has arrived. A batch that was
 * refused may be decoded again, with fewer bytes, and then those after it: the state that they go
 * on from is still there. */
struct device_batch {
    struct decode_plan plan;
    bool begins;
    struct decode_verdict *verdict; /* where it is written what it came to, */
    uint32_t *frame_ends;           /* and where the content of each frame in the plan ends */
};

#ifdef __cplusplus
}
#endif

#endif
