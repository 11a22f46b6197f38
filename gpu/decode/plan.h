/* SPDX-License-Identifier: MIT */
/* The host's part of decompressing on a GPU: a file is cut into batches, by a walk for each format,
 * and it is known how much memory these need. Blocks themselves are not looked into.
 *
 * One thread for each file. */
#ifndef GPUHISTO_GPU_DECODE_PLAN_H
#define GPUHISTO_GPU_DECODE_PLAN_H

#include "batch.h"
#include "src/codec/codec.h"

#include <stdbool.h>
#include <stddef.h>

/* --- memory --- */

/* The amounts that a batch has memory for. A block with its headers and a checksum must fit. */
struct decode_capacity {
    uint32_t in;             /* compressed bytes, with headers; at least 256 KiB */
    uint32_t blocks, frames; /* at least one */
    uint32_t room;           /* bytes of content, at least DECODE_BLOCK_CONTENT */
    uint32_t window;         /* bytes of content before the batch */
};

/* Sets the pointers of a batch to the memory that holds it while it is copied, decoded and counted.
 * `memory` is on the device, aligned to 256 bytes; NULL: sets nothing. Returns the bytes needed. */
size_t decode_own_memory(struct decode_batch *batch, const struct decode_capacity *capacity,
                         unsigned char *memory);

/* Does the same with memory that only the last stages need, which work on one batch at a time. */
size_t decode_stage_memory(struct decode_batch *batch, const struct decode_capacity *capacity,
                           unsigned char *memory);

/* Makes batches fewer, down to DECODE_BATCHES_FEW, and then halves what each holds, until all of
 * their memory, and that of the stages, takes at most `max` bytes. The window is at least
 * `keep_min` bytes. Returns the bytes that it takes; 0: batches would be too small to be of use,
 * and *capacity and *batches mean nothing. */
#define DECODE_BATCHES_FEW 6u
uint64_t decode_fit_memory(struct decode_capacity *capacity, unsigned *batches, uint32_t keep_min,
                           uint64_t max);

/* --- a plan --- */

/* The facts of a frame that the host keeps, beside those that the device is told. */
struct decode_frame_end {
    bool has_checksum; /* and the frame ends in this batch */
    uint32_t checksum; /* the lower half of the content's XXH64 */
};

/* A batch that is planned. The caller provides the arrays, whose elements `capacity` tells. */
struct decode_plan {
    struct decode_capacity capacity;
    struct decode_block *block;
    struct decode_frame *frame;
    struct decode_frame_end *frame_end;
    enum decode_format format;
    bool is_end;             /* of gzip: the file ends with the batch, */
    uint64_t at;             /* and where in the file its first byte is */
    uint32_t blocks, frames; /* how many there are; none: stages count them */
    uint32_t room;           /* the sum of the rooms of all blocks */
    uint32_t frame_room;     /* the most that blocks of one frame have of it */
    uint32_t in_size;        /* compressed bytes, up to the end of the last block; */
    uint32_t in_at;          /* of these, before the last call's */
    bool is_complete;        /* nothing more is to be added */
    uint64_t taken;          /* bytes of the last call's that the walk went over; may be more than
                              * were there, where a skippable frame goes on */
    uint64_t need;           /* with DECODE_NEEDS_MORE: bytes that must be there after these */
};

enum decode_planned {
    DECODE_PLANNED,    /* something was added */
    DECODE_NEEDS_MORE, /* there is not enough. At the end of a file the frame, or bytes that
                        * were not taken, are cut short */
    DECODE_LEFT, /* what follows is left to the codec's own decoder; in a frame, the frame is */
    DECODE_FULL  /* what comes next does not fit in the batch */
};

/* Empties a plan. */
void decode_plan_clear(struct decode_plan *plan);

/* Applies a plan to a batch that has its memory. */
void decode_batch_set_plan(struct decode_batch *batch, const struct decode_plan *plan);

/* --- the walk over a file ---
 *
 * Of zstd it goes over the headers of frames and blocks, and plans batches of whole blocks.
 * Dictionaries, windows beyond a limit, frames from before zstd 1.0 and anything else that is not a
 * frame are left to libzstd, which also says what is wrong with headers that are not valid.
 * Skippable frames are skipped.
 *
 * A file of gzip is cut into pieces, each of which is a batch. The device finds out what is in
 * them. --- */

/* The fewest bytes of a piece, unless the file ends: those that come again in the next one, and as
 * many that do not. */
#define GZIP_PIECE_MIN (2 * GZIP_MARGIN)

/* Bytes of content for each byte of a piece that a batch has room for, until more is known. */
#define GZIP_RATIO 16u

/* The host's position in a file. At first all members but the first four are zero. */
struct decode_walk {
    enum decode_format format;
    uint64_t at; /* where in the file what is planned next begins */

    /* Of zstd: */
    uint32_t window_max;     /* frames of larger windows are left; at most ZSTD_WINDOW_MAX */
    bool leave_checksums;    /* frames with a checksum are left, too */
    struct zstd_parts parts; /* never before a checksum */
    bool has_begun;          /* a block of the frame was planned */
    uint64_t known; /* bytes of the content of the frame that are in raw and RLE blocks so far */

    /* Of gzip, the bytes of a piece: */
    uint32_t max;   /* that it may have; 0: as many as there is room for usually, */
    uint32_t limit; /* and how many that may become; 0: the same */
};

/* True if a frame of zstd goes on: the file must not end here. If a member of gzip is cut short,
 * the device refuses it. */
static inline bool decode_walk_in_frame(const struct decode_walk *walk)
{
    return walk->parts.next == ZSTD_BLOCK;
}

/* Finds the format of a codec's batches. False: no GPU decompresses that. */
bool decode_format_of(const struct codec *codec, enum decode_format *format);

/* Adds to a plan as much of in[0..len) as there is and fits: of zstd whole blocks, of gzip a piece.
 * in[0] is the byte that follows in the file after all that was taken; is_end: the file ends with
 * in[len]. Bytes that are added now, plan->in_size - plan->in_at from in[0] on, will be in the
 * batch's memory at DECODE_CARRY + plan->in_at. Goes on from what was taken, also with
 * DECODE_NEEDS_MORE, where headers and skippable frames may have been.
 *
 * Of zstd, a last block is taken together with the checksum after it. The next call sees what stops
 * the walk after a block. A batch of many frames (batch.h) that is full ends with the last one that
 * fits as a whole, if the next one begins in in[0..len).
 *
 * Of gzip, the last GZIP_MARGIN bytes of a piece are in the next plan, too, and are not taken. */
enum decode_planned decode_walk_plan(struct decode_walk *walk, struct decode_plan *plan,
                                     const unsigned char *in, size_t len, bool is_end);

/* Learns how much content a piece of gzip has given: the next pieces have a size that leaves room
 * for some more, and grow slowly after one for which there was none, perhaps for another reason. */
void gzip_plan_learn(struct decode_walk *walk, const struct decode_plan *plan, uint32_t content);

/* Goes back to a piece for which there was no room, and makes it smaller. False: it cannot be. */
bool gzip_plan_again(struct decode_walk *walk, const struct decode_plan *plan);

/* --- a device that decompresses: what gpu/engine/device.h is extended by --- */

/* The sizes that decompressing has memory for: an argument of device_open_decoding. */
struct device_decoding {
    struct decode_capacity capacity; /* of a batch */
    unsigned batches;                /* two at least, DEVICE_BATCHES_MAX at most; 0: the device
                                      * decompresses nothing */
    uint64_t memory;                 /* set: bytes of the device's memory that all of it takes */
    /* Bytes of content that are kept for the next batch. A record that ends with a separator has at
     * most this length. */
    uint32_t keep_min;
    bool has_tail; /* the verdict tells how content ends; records otherwise have a size */
    bool lines;    /* and newlines alone end records */
};

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

#endif
