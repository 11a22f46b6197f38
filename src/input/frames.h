/* SPDX-License-Identifier: MIT */
/* The frames (members) of one compressed file: in batches that can be decoded; as a walk finds them
 * without decoding; and a look at their content. */
#ifndef GPUHISTO_FRAMES_H
#define GPUHISTO_FRAMES_H

#include "src/codec/codec.h"

#include <sys/types.h>

struct bytes;
struct error;

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

/* Continues at a byte of a regular file, or of a stream to which that was rewound; pending bytes
 * are dropped. */
void frames_seek(struct frames *frames, uint64_t offset);

/* Makes room for cap bytes at least. 0, or -1: out of memory, and nothing has changed. */
int frame_batch_reserve(struct frame_batch *batch, size_t cap);

/* Frees the memory; the batch is empty then. */
void frame_batch_free(struct frame_batch *batch);

/* --- a walk over the frames of a regular file, by the headers of their blocks --- */

#define WALK_WINDOW ((size_t)64 << 10) /* bytes of the file that are read at a time, at most */

struct frame_walk {
    const struct bytes *bytes;
    const struct codec *codec;
    uint64_t end;             /* of the bytes that are looked at */
    uint64_t offset;          /* of the frame that was found last */
    struct codec_frame frame; /* that frame */
    uint64_t window_at;       /* offset of window[0] */
    size_t window_len;        /* bytes of window that were read */
    unsigned char window[WALK_WINDOW];
};

enum walk_step {
    WALK_FRAME,
    WALK_END,    /* no frame is left */
    WALK_BROKEN, /* what begins at `offset` does not end by `end`, or nobody can tell */
    WALK_FAILED, /* the error is set */
};

/* Begins a walk before the frame at byte `begin`, which is at most `end`. */
void frame_walk_begin(struct frame_walk *walk, const struct bytes *bytes, const struct codec *codec,
                      uint64_t begin, uint64_t end);

/* Goes to the next frame. After anything but WALK_FRAME the walk has ended. */
enum walk_step frame_walk_next(struct frame_walk *walk, struct error *error);

/* --- a look at the content of a file from a frame on, decompressed, or as stored if it is not
 * compressed. No bytes of a stream are handed out, so it does not disturb counting. --- */

/* Takes the next bytes of the content, data[0..len); at its end, 0 bytes once. Returns 1 for more,
 * 0 if that is enough, or -1: out of memory. */
typedef int peek_sink(void *arg, const unsigned char *data, size_t len);

/* Gives content of bytes [begin, end) of the file to `sink` until it is enough; a frame begins at
 * `begin`. 0, or -1 with the error set. */
int peek_content(const struct frames *frames, uint64_t begin, uint64_t end, peek_sink *sink,
                 void *arg, struct error *error);

#endif
