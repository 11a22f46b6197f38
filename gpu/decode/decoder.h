/* SPDX-License-Identifier: MIT */
/* A compressed file that a GPU decompresses and counts. A reader gives its bytes to the GPU as
 * they are, in order, from one thread:
 *
 *     begin, (acquire, submit) again and again, finish
 *
 * A GPU takes one file at a time, and counts nothing else meanwhile. If it cannot decompress the
 * file to its end, its counts go back to what they were at the file's beginning.
 *
 * This header is all that src/ sees of gpu/decode, and src/schedule/gpu.c alone calls it, which
 * builds without it leave out. */
#ifndef GPUHISTO_GPU_DECODE_DECODER_H
#define GPUHISTO_GPU_DECODE_DECODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunk;
struct codec;
struct engine;
struct gpu_decoder;

/* A compressed file, of which nothing was counted. */
struct compressed_start {
    const struct codec *codec; /* of the file */
    size_t number;             /* the file's, as in struct position */
    uint64_t offset;           /* where the first frame begins, bytes into the file */
    uint64_t size;             /* bytes from there to the end of the file; 0: it is a pipe */
    uint64_t memlimit;         /* frames with a larger window are refused */
};

/* The GPU's next request for bytes of a compressed file. */
struct compressed_next {
    bool is_wanted; /* false: nothing, call finish */
    uint64_t at;    /* where in the file the next chunk begins; may be after its end, and before
                     * that of the last chunk */
    uint64_t need;  /* bytes from there without which it can do nothing, unless the file ends */
    uint64_t again; /* nothing before this byte of the file will be wanted */
};

/* The result of a compressed file. */
struct compressed_rest {
    bool is_refused; /* the GPU cannot decompress it to its end, and has counted nothing of it */
    uint64_t index;  /* of the chunk that comes next, as in struct position */
    uint64_t bytes;  /* of content that the GPU counted; of pairs, with the tail */
    unsigned char *tail; /* the last content, not counted, the beginning of a record that may go on;
                          * the caller frees it */
    size_t tail_len;
    const char *loss; /* why the GPU was lost, as long as its engine lives; or NULL */
};

/* Takes memory for decompressing now, not with the first file: an engine's `prepare`. */
void gpu_decoder_prepare(struct engine *gpu);

/* Begins a file on an idle GPU, once all that it was given before is counted. `gpu` is the engine
 * of one or of several. NULL if none can take it now. Any thread that has no chunk of theirs. */
struct gpu_decoder *gpu_decoder_begin(struct engine *gpu, const struct compressed_start *start);

/* Returns memory for the next bytes, or waits for it. NULL if the GPU takes no more of the file:
 * call finish. */
struct chunk *gpu_decoder_acquire(struct gpu_decoder *decoder);

/* Takes back a chunk that was filled from byte `offset` of the file on, which is the start, or what
 * the last call has named. The chunk may end anywhere; its end is ENDS_FILE if the file ends with
 * it. Sets *next, whose `at` is not before `offset`. */
void gpu_decoder_submit(struct gpu_decoder *decoder, struct chunk *chunk, uint64_t offset,
                        struct compressed_next *next);

/* Makes the GPU go on while there is nothing to submit: call it now and then. Returns 1 while any
 * of the file is being decompressed or counted; 0 once it needs more bytes for that; -1 if it wants
 * other bytes than it asked for last, or none: submit the chunk as it is, to know which. */
int gpu_decoder_poll(struct gpu_decoder *decoder);

/* Waits until all that was submitted is counted, and sets *rest; or takes back what was counted of
 * the file. The GPU may then take another file, from any thread. 0, or -1 as engines' submit. */
int gpu_decoder_finish(struct gpu_decoder *decoder, struct compressed_rest *rest);

#endif
