/* SPDX-License-Identifier: MIT */
/* The frames (members) of one compressed file, in batches that can be decoded. */
#ifndef GPUHISTO_FRAMES_H
#define GPUHISTO_FRAMES_H

#include "codec.h"
#include "src/bytes/bytes.h"

#include <sys/types.h>

/* Where a batch of units ends. */
enum units_kind {
    UNITS_WHOLE,  /* with its bytes: whole units, to be decoded beside others */
    UNITS_OPEN,   /* in the file, after a unit: see units_go_on */
    UNITS_TO_END, /* with the file */
};

/* Compressed bytes on their way to a decoder. A batch that is not UNITS_WHOLE is fed from the file,
 * and decoded in order: nothing else is read from the file before it has ended. */
struct units {
    unsigned char *data;  /* cap bytes, or NULL; owned */
    size_t pos, len, cap; /* data[pos..len) was not decoded yet */
    size_t in_order;      /* UNITS_OPEN: up to there the units are of this batch */
    uint64_t offset;      /* of data[0] in the file */
    enum units_kind kind;
    uint64_t memory;  /* the most that a unit needs, or the first one, if it is not UNITS_WHOLE */
    uint64_t content; /* UNITS_WHOLE, if it must be known (see units_look): bytes that they say
                       * they hold */
};

/* No unit that needs more memory, or has more compressed bytes, is handed out whole (bytes). */
#define UNITS_MEMORY_MAX ((uint64_t)8 << 20)
#define UNITS_SIZE_MAX ((size_t)8 << 20)

/* Bytes of a file that are asked for when looking at a stream's first ones. */
#define UNITS_SIZE_FIRST ((size_t)128 << 10)

enum units_result {
    UNITS_AHEAD, /* there are some */
    UNITS_END,
    UNITS_FAILED,    /* the reason is set */
    UNITS_NO_MEMORY, /* nothing is lost: may be tried again */
};

/* What a compressed file goes on with. */
struct units_ahead {
    enum units_kind kind; /* how that must be decoded, */
    size_t whole;         /* UNITS_WHOLE: bytes of whole units */
    uint64_t memory;      /* the most that one of them needs, or the first of other units */
    size_t largest;       /* where that unit begins */
    uint64_t content;     /* UNITS_WHOLE: the same as in struct units */
    bool part;            /* not known yet: more bytes may show a whole unit */
};

#define FRAMES_MEMBERS                                                                             \
    const struct codec *codec; /* what the file is compressed with; NULL: bytes as they are */     \
    struct units units;        /* read, but not handed out yet: what follows a batch */            \
    uint64_t unit_memory;      /* frames that need more are decoded in order */                    \
    size_t batch_size; /* bytes of frames after which a batch is complete; 0: as many as are read  \
                        * at a time */                                                                                         \
    bool needs_sizes; /* frames that do not state how much they hold are decoded in order, as what \
                       * follows depends on that */

/* A compressed file on its way to decoders. */
struct frames {
    struct bytes *bytes;
    FRAMES_MEMBERS
};

/* Reads the next batch into the frames' own buffer, and looks at it. Waits for a stream only while
 * there is nothing to give. One thread at a time, as for all that follow. */
enum units_result frames_look(struct frames *frames, struct units_ahead *ahead, struct reason *why);

/* Takes what frames_look has found into *units, whose memory is used again. 0, or -1: out of
 * memory, and nothing has changed. */
int frames_take(struct frames *frames, const struct units_ahead *ahead, struct units *units);

/* Drops the UNITS_WHOLE that frames_look has found. */
void frames_drop(struct frames *frames, const struct units_ahead *ahead);

/* Reads on into a batch that is not UNITS_WHOLE, when all of it was decoded. The bytes read, 0 at
 * the end, or -1 with the reason set. */
ssize_t frames_feed(struct frames *frames, struct units *units, struct reason *why);

/* True if a batch of UNITS_OPEN goes on at pos, where a frame has ended: with one that must be
 * decoded in order as well and needs no more memory, perhaps after a few others that are small. */
bool frames_go_on(const struct frames *frames, struct units *units);

/* Gives back what of a batch of UNITS_OPEN was not decoded. */
void frames_return(struct frames *frames, struct units *units);

/* Drops what was read of a regular file, and not handed out, and goes on at a byte of it. */
void frames_seek(struct frames *frames, uint64_t offset);

/* Room for cap bytes at least. 0, or -1: out of memory, and nothing has changed. */
int units_reserve(struct units *units, size_t cap);

/* Frees the memory; the batch is empty then. */
void units_free(struct units *units);

#endif
