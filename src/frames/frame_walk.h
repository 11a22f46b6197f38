/* SPDX-License-Identifier: MIT */
/* The frames of a compressed regular file, one after the other, found by the headers of their
 * blocks: nothing is decompressed. */
#ifndef GPUHISTO_FRAME_WALK_H
#define GPUHISTO_FRAME_WALK_H

#include "codec.h"
#include "src/bytes/bytes.h"

#define WALK_WINDOW ((size_t)64 << 10) /* bytes of the file that are looked at */

struct frame_walk {
    const struct bytes *bytes;
    const struct codec *codec;
    uint64_t end;             /* bytes of the file */
    uint64_t offset;          /* of the unit that was found last */
    struct codec_frame frame; /* that unit */
    unsigned char *window; /* WALK_WINDOW bytes from window_at on, of which window_len were read */
    uint64_t window_at;
    size_t window_len;
};

enum walk_step {
    WALK_FRAME,
    WALK_END,    /* of the file: no unit is left */
    WALK_BROKEN, /* at `offset` begins something whose end cannot be found */
    WALK_FAILED, /* the reason is set */
};

/* Begins before the first unit of a file of `end` bytes. 0, or -1 with the reason set. */
int frame_walk_begin(struct frame_walk *walk, const struct bytes *bytes, const struct codec *codec,
                     uint64_t end, struct reason *why);

/* Goes to the next unit. After anything but WALK_FRAME the walk has ended. */
enum walk_step frame_walk_next(struct frame_walk *walk, struct reason *why);

/* Frees the memory. */
void frame_walk_end(struct frame_walk *walk);

#endif
