/* SPDX-License-Identifier: MIT */
/* Feeds a GPU with a compressed file, from its beginning (gpu_take) or from a frame on (offload.c).
 * What the GPU leaves is read again; of a stream the frame that is decompressed is kept for that.
 */
#ifndef GPUHISTO_RUN_GPU_H
#define GPUHISTO_RUN_GPU_H

#include "runner.h"
#include "gpu/decoder.h"

/* One worker that feeds a GPU. */
struct feed {
    struct worker *worker;
    struct file *file;
    struct gpu_decoder *gpu;
    struct parallel_read *parallel; /* of a regular file, or NULL */
    struct position at;             /* of the next chunk */
    struct compressed_next next;    /* what the GPU wants next of the file */
    uint64_t read;                  /* bytes of the file that are counted as read */
};

/* Returns a GPU that should decompress the rest of the file; NULL: there is none. In turn. */
struct engine *gpu_choose(struct worker *worker, const struct file *file);

/* Begins to feed a GPU from a byte of the file on. */
void gpu_feed_begin(struct feed *feed, struct worker *worker, struct file *file,
                    struct gpu_decoder *gpu, uint64_t offset);

/* Feeds the GPU until it wants no more. Sets *rest, whose tail the caller frees. 0, or -1: the run
 * has failed, and there is no rest. */
int gpu_feed(struct feed *feed, struct compressed_rest *rest);

/* Makes a stream go on again with byte `at`, which has to be kept. 0, or -1: the run has failed. */
int gpu_replay_from(struct feed *feed, uint64_t at);

#endif
