/* SPDX-License-Identifier: MIT */
/* The frames (members) of one compressed file, in batches that can be decoded. */
#ifndef GPUHISTO_FRAMES_H
#define GPUHISTO_FRAMES_H

#include "codec.h"
#include "src/bytes/bytes.h"

#include <sys/types.h>

/* The place where a batch of frames ends. */
enum frames_kind {
    FRAMES_WHOLE,  /* with its bytes: whole frames, to be decoded beside others */
    FRAMES_OPEN,   /* in the file, after a frame: see frames_resume */
    FRAMES_TO_END, /* with the file */
};

/* Compressed bytes on their way to a decoder. A batch that is not FRAMES_WHOLE is fed from the file
 * and decoded in order; nothing else is read from the file until it has ended. */
struct frame_batch {
    unsigned char *data;  /* cap bytes, or NULL; owned */
    size_t pos, len, cap; /* data[pos..len) is still to be decoded */
    size_t in_order;      /* FRAMES_OPEN: frames up to there belong to the batch */
    uint64_t offset;      /* of data[0] in the file */
    enum frames_kind kind;
    uint64_t memory;  /* as in struct frames_ahead */
    uint64_t content; /* FRAMES_WHOLE, with needs_sizes: bytes of content that they state */
};

/* Frames that need more memory, or have more compressed bytes, are decoded in order (bytes). */
#define FRAMES_MEMORY_MAX ((uint64_t)8 << 20)
#define FRAMES_SIZE_MAX ((size_t)8 << 20)
#define FRAMES_SIZE_FIRST ((size_t)128 << 10) /* bytes that are read first */

enum frames_result {
    FRAMES_AHEAD, /* there are some */
    FRAMES_END,
    FRAMES_FAILED,    /* the error is set */
    FRAMES_NO_MEMORY, /* nothing is lost; it can be tried again */
};

/* The bytes that a compressed file goes on with. */
struct frames_ahead {
    enum frames_kind kind; /* how that must be decoded */
    size_t whole;          /* FRAMES_WHOLE: bytes of whole frames */
    uint64_t memory;       /* the most that one of them needs, or the first of other frames */
    size_t largest;        /* where that frame begins */
    uint64_t content;      /* as in struct frame_batch */
    bool part;             /* not known yet: more bytes may show a whole frame */
};

/* A compressed file on its way to decoders. */
struct frames {
    struct bytes *bytes;
    const struct codec *codec; /* what the file is compressed with; NULL: bytes as they are */
    const struct codec_options *decoding;
    struct frame_batch pending; /* read, and not handed out yet */
    uint64_t frame_memory;      /* frames that need more are decoded in order */
    size_t batch_size; /* bytes after which a batch is complete; 0: as many as are read at a time */
    bool needs_sizes; /* frames that do not state the size of their content are decoded in order, as
                       * what follows depends on it */
};

/* Reads the next bytes, and says how they must be decoded. Waits for a stream only while nothing is
 * there. One thread at a time, as for all functions below. */
enum frames_result frames_peek(struct frames *frames, struct frames_ahead *ahead,
                               struct error *error);

/* Moves the bytes that frames_peek has found to *batch, whose memory is used again. 0, or -1: out
 * of memory, and nothing has changed. */
int frames_acquire(struct frames *frames, const struct frames_ahead *ahead,
                   struct frame_batch *batch);

/* Drops the FRAMES_WHOLE that frames_peek has found. */
void frames_drop(struct frames *frames, const struct frames_ahead *ahead);

/* Reads on into a batch that is not FRAMES_WHOLE, all of which was decoded. Returns the bytes read,
 * 0 at the end, or -1 with the error set. */
ssize_t frames_feed(struct frames *frames, struct frame_batch *batch, struct error *error);

/* Reads on, before a frame of a stream at pos of such a batch, until `min` bytes are there, as
 * long as they come at once. Returns 1 if they did, and more does; 0; or -1 with the error set. */
int frames_gather(struct frames *frames, struct frame_batch *batch, size_t min,
                  struct error *error);

/* True if a batch of FRAMES_OPEN goes on at pos, where a frame has ended: with one that must be
 * decoded in order as well and needs no more memory, perhaps after a few others that are small. If
 * the codec is a chain, the batch then goes on to the end of the file. */
bool frames_resume(const struct frames *frames, struct frame_batch *batch);

/* Moves back the bytes of a batch of FRAMES_OPEN that were not decoded. */
void frames_return(struct frames *frames, struct frame_batch *batch);

/* Continues at a byte of a regular file; pending bytes are dropped. */
void frames_seek(struct frames *frames, uint64_t offset);

/* Makes room for cap bytes at least. 0, or -1: out of memory, and nothing has changed. */
int frame_batch_reserve(struct frame_batch *batch, size_t cap);

/* Frees the memory; the batch is empty then. */
void frame_batch_free(struct frame_batch *batch);

#endif
