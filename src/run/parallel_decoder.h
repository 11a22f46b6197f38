/* SPDX-License-Identifier: MIT */
/* Decodes one zstd frame, or the members of a gzip file, on several workers: idle ones parse runs
 * of blocks, and the worker that has the file executes them. It gives nothing but what the codec's
 * own decoder would give. On any doubt libzstd or ISA-L decodes again, so that their error is
 * reported. */
#ifndef GPUHISTO_PARALLEL_DECODER_H
#define GPUHISTO_PARALLEL_DECODER_H

#include "src/blocks/block_format.h"
#include "src/work/worker.h"

struct parallel_decoder;

struct block_options {
    const struct block_format *format;
    const struct codec_options *decoding;
    unsigned workers; /* that there may be */
    uint64_t again;   /* bytes of a frame after which it cannot be begun anew */
};

/* Returns the bytes of memory that a decoder takes for the frame at in[0..len), or 0: such frames
 * are not parsed. */
size_t parallel_decoder_memory(const struct block_options *options, const unsigned char *in,
                               size_t len);

/* Begins the frame at in[0..len), for which memory is reserved; the one before, of the same format,
 * has ended or was stopped, and nothing of it is borrowed. *decoder is opened first if it is NULL.
 * 0, or -1: out of memory. */
int parallel_decoder_begin(struct parallel_decoder **decoder, struct work_queue *queue,
                           const struct block_options *options, const unsigned char *in,
                           size_t len);

enum block_step {
    BLOCKS_SOME,  /* the frame goes on */
    BLOCKS_LATER, /* what is borrowed is still needed: await some of it, and repeat the step as it
                     is */
    BLOCKS_END,   /* all of it was given */
    BLOCKS_FALLBACK, /* it must be decoded again */
};

/* Takes bytes of step->in from step->used on, as many ahead as it has runs for, and prepares
 * content to be given unless it needs more bytes than there are. Gives no content of a frame that
 * needs the fallback. With a step->cap of 0 it reads what comes next, such as a checksum, in the
 * bytes that were taken. */
enum block_step parallel_decoder_step(struct parallel_decoder *decoder, struct decode_step *step);

/* Gives content: copies up to step->cap bytes to step->out, and sets step->made. */
void parallel_decoder_give(struct parallel_decoder *decoder, struct decode_step *step);

/* Lends content: memory that the chunk has in place of its own, and in which its bytes come before
 * the content. False: it cannot be borrowed. */
bool parallel_decoder_lend(struct parallel_decoder *decoder, struct decode_step *step,
                           struct chunk *chunk);

/* True if something is borrowed, or was not hashed yet; waits until some of it is not. */
bool parallel_decoder_is_borrowed(struct parallel_decoder *decoder);
void parallel_decoder_await(struct parallel_decoder *decoder);

/* Ends the input, after a step that took all bytes and has no content to be given. Repeat the step
 * with in_len 0. */
void parallel_decoder_end_input(struct parallel_decoder *decoder);

/* Hurries, after such a step, as no bytes come for now: steps with in_len 0 then give the content
 * of the bytes that were taken, as far as that can be, until one has none. False: there is nothing
 * to be given. */
bool parallel_decoder_hurry(struct parallel_decoder *decoder);

/* True if a frame that needs the fallback is right so far, but the input ends in the middle of it.
 */
bool parallel_decoder_is_cut(const struct parallel_decoder *decoder);

/* Returns where the codec's own decoder can go on, and how much has been given since. */
struct block_restart parallel_decoder_restart(const struct parallel_decoder *decoder);

/* Leaves a frame. Waits for those who parse it. */
void parallel_decoder_stop(struct parallel_decoder *decoder);

/* Stops and frees a decoder, of which nothing is borrowed; NULL is fine. */
void parallel_decoder_close(struct parallel_decoder *decoder);

#endif
