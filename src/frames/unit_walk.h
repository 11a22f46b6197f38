/* SPDX-License-Identifier: MIT */
/* The units of a compressed regular file, one after the other, found by their links alone: nothing
 * is decompressed. */
#ifndef GPUHISTO_UNIT_WALK_H
#define GPUHISTO_UNIT_WALK_H

#include "codec.h"

struct input;

/* Bytes of the file that are looked at. */
#define WALK_WINDOW ((size_t)64 << 10)

struct unit_walk {
    const struct input *input;
    uint64_t end;           /* bytes of the file */
    uint64_t offset;        /* of the unit that was found last */
    struct codec_unit unit; /* that unit */
    unsigned char *window;  /* WALK_WINDOW bytes from window_at on, of which window_len were read */
    uint64_t window_at;
    size_t window_len;
};

enum walk_step {
    WALK_UNIT,
    WALK_END,    /* of the file: no unit is left */
    WALK_BROKEN, /* at `offset` begins something whose end cannot be found */
    WALK_FAILED, /* the reason is set */
};

/* Begins before the first unit of a file of `end` bytes. 0, or -1 with the reason set. */
int unit_walk_begin(struct unit_walk *walk, const struct input *input, uint64_t end,
                    struct reason *why);

/* Goes to the next unit. After anything but WALK_UNIT the walk has ended. */
enum walk_step unit_walk_next(struct unit_walk *walk, struct reason *why);

/* Frees the memory. */
void unit_walk_end(struct unit_walk *walk);

#endif
