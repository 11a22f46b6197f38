/* SPDX-License-Identifier: MIT */
/* The state of a GPU's decoder: its memory, its file, and its queue of batches. */
#ifndef GPUHISTO_DECODER_STATE_H
#define GPUHISTO_DECODER_STATE_H

#include "decoder_file.h"
#include "decoder_memory.h"

#include <stdatomic.h>
#include <time.h>

struct gpu_engine;

/* Batches on their way. Without a file it is empty. */
struct decoder_queue {
    unsigned turn;                         /* the batch that is planned next */
    struct decoder_batch *planned;         /* to which blocks are added; or NULL */
    struct decoder_batch *oldest, *newest; /* of those launched, and not judged */
    unsigned decoding, counting;           /* batches in these states */
};

/* Content that is copied to memory of the host's, a piece at a time. */
struct decoder_fetch {
    bool is_active;
    struct device_content content;
    unsigned char *to;
    size_t done, under_way; /* bytes */
};

struct gpu_decoder {
    struct gpu_engine *gpu; /* whose it is */
    atomic_bool is_taken;   /* it has a file, or can never have one; not under the lock */
    atomic_bool is_feeding; /* it has a file; not under the lock */
    _Atomic uint64_t bytes; /* of content that was decompressed and counted */
    struct decoder_options options;
    struct decoder_memory memory;
    struct decoder_file file;
    struct decoder_queue queue;
    struct decoder_fetch fetch;
    unsigned reads;          /* of content that is hashed, under way */
    struct timespec filling; /* when the last chunk was given out */
    double copy_seconds;     /* of inputs, with timing */
};

#endif
