/* SPDX-License-Identifier: MIT */
/* A compressed file that a GPU decompresses and counts. A reader gives its bytes to the GPU as
 * they are, in order, from one thread:
 *
 *     begin, (acquire, submit) again and again, finish
 *
 * A GPU takes one file at a time. What it does not count is left to the reader. */
#ifndef GPUHISTO_GPU_DECODER_H
#define GPUHISTO_GPU_DECODER_H

#include "src/engine/engine.h"
#include "src/frames/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gpu_decoder;

/* The place in a compressed file where the GPU begins. */
struct compressed_start {
    const struct codec *codec; /* of the file */
    uint64_t offset;           /* where a frame begins, bytes into the file */
    uint64_t skip;             /* bytes of its content that were counted; a record follows them */
    size_t repeated;           /* of pairs: bytes after these that were in a chunk before, too */
    uint64_t index;            /* of the first chunk, as in struct position */
    uint64_t size;             /* bytes from offset to the end of the file; 0: not known */
    uint64_t memlimit;         /* frames with a larger window are left */
};

/* The GPU's next request for bytes of a compressed file. */
struct compressed_next {
    bool is_wanted; /* false: nothing, call finish */
    uint64_t at;    /* where in the file the next chunk begins; may be after its end, and before
                     * that of the last chunk */
    uint64_t need;  /* bytes from there without which it can do nothing, unless the file ends */
    uint64_t again; /* nothing before this byte of the file will be wanted; */
    uint64_t kept;  /* nor left to the reader before this one */
};

/* The result of a compressed file: what the GPU counted of it, and what it left. */
struct compressed_rest {
    bool is_left;    /* the reader decompresses the file from `offset` on; false: it is done */
    uint64_t offset; /* where a frame begins, bytes into the file */
    uint64_t skip;   /* bytes of its content that were counted, here or before */
    uint64_t index;  /* of the chunk that comes next, as in struct position */
    uint64_t bytes;  /* of content that the GPU counted; */
    uint64_t fresh;  /* of these, those that no chunk had before; of pairs, with the tail */
    bool is_wrong;   /* content of the frame at `offset` was counted, and then failed its checksum:
                      * if the frame is not corrupt, the counts are wrong */
    unsigned char *tail; /* of a file that is done: its last content, not counted, the beginning of
                          * a record that may go on; the caller frees it */
    size_t tail_len;
};

/* True if a GPU could begin a file now, as far as that is known without waiting. Any thread. `gpu`
 * is the engine of one GPU (gpu_engine.h) or of several (gpu_group.h), here and below. */
bool gpu_decoder_is_idle(struct engine *gpu);

/* Begins a file on an idle GPU. NULL if none can take it now. Any thread. */
struct gpu_decoder *gpu_decoder_begin(struct engine *gpu, const struct compressed_start *start);

/* Returns memory for the next bytes, or waits for it. NULL if the GPU takes no more of the file:
 * call finish. */
struct chunk *gpu_decoder_acquire(struct gpu_decoder *decoder);

/* Takes back a chunk that was filled from byte `offset` of the file on, which is the start, or what
 * the last call has named. The chunk may end anywhere; its end is ENDS_FILE if the file ends with
 * it. Sets *next, whose `at` is not before `offset`. */
void gpu_decoder_submit(struct gpu_decoder *decoder, struct chunk *chunk, uint64_t offset,
                        struct compressed_next *next);

/* Tells the GPU that it can no longer leave what comes next, which has begun in bytes that a stream
 * is not kept for. So the GPU also takes what others would decompress faster. */
void gpu_decoder_insist(struct gpu_decoder *decoder);

/* True if the GPU wants other bytes of the file than it asked for last. Submit the chunk as it is,
 * for nothing, to know which. */
bool gpu_decoder_goes_back(struct gpu_decoder *decoder);

/* True while any of the file is being decompressed or counted. Call it now and then while there is
 * nothing to submit, as it makes the GPU go on. */
bool gpu_decoder_poll(struct gpu_decoder *decoder);

/* Waits until all that was submitted is counted, and sets *rest. The GPU may then take another
 * file, from any thread. 0, or -1 as submit of an engine. */
int gpu_decoder_finish(struct gpu_decoder *decoder, struct compressed_rest *rest);

/* Returns why the GPU was lost, or NULL while it is not. The text lives as long as its engine. */
const char *gpu_decoder_loss(struct gpu_decoder *decoder);

/* Returns the bytes of content that were decompressed and counted by GPUs, of all files that were
 * finished. Any thread. */
uint64_t gpu_decoder_bytes(struct engine *gpu);

#endif
