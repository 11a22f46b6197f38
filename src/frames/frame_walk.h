/* SPDX-License-Identifier: MIT */
/* Walks over the frames of a compressed regular file, one after the other, by the headers of their
 * blocks: nothing is decompressed. */
#ifndef GPUHISTO_FRAME_WALK_H
#define GPUHISTO_FRAME_WALK_H

#include "codec.h"
#include "src/bytes/bytes.h"

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

#endif
