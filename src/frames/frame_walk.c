/* SPDX-License-Identifier: MIT */
#include "frame_walk.h"

/* Bytes that are read where links stand far apart: enough for the header of a frame, or a link.
 * Links that stand close together are read many at once. */
#define WALK_FEW ((size_t)64)
#define WALK_CLOSE ((uint64_t)4 << 10)

void frame_walk_begin(struct frame_walk *walk, const struct bytes *bytes, const struct codec *codec,
                      uint64_t begin, uint64_t end)
{
    walk->bytes = bytes;
    walk->codec = codec;
    walk->offset = begin;
    walk->end = end;
    walk->frame.size = walk->window_at = walk->window_len = 0;
}

/* Moves the window to hold `wanted` bytes from byte `at` of the frame on, or all up to the end.
 * Returns those bytes, with *len set to how many there are; or NULL with the error set. */
static const unsigned char *see(struct frame_walk *walk, uint64_t at, size_t wanted, size_t *len,
                                struct error *error)
{
    at += walk->offset;
    const uint64_t seen_to = walk->window_at + walk->window_len, left = walk->end - at;
    if (wanted > left)
        wanted = (size_t)left;
    if (at < walk->window_at || at + wanted > seen_to) {
        bool is_close = at >= walk->window_at && at - walk->window_at < WALK_CLOSE;
        size_t size = is_close ? WALK_WINDOW : WALK_FEW;
        size = left < size ? (size_t)left : size;
        ssize_t got = bytes_read_at(walk->bytes, walk->window, size, at, error);
        if (got < 0)
            return NULL;
        walk->window_at = at;
        walk->window_len = (size_t)got;
    }
    *len = (size_t)(walk->window_at + walk->window_len - at);
    return walk->window + (at - walk->window_at);
}

enum walk_step frame_walk_next(struct frame_walk *walk, struct error *error)
{
    const struct codec *codec = walk->codec;
    struct codec_frame *frame = &walk->frame;
    size_t len;
    walk->offset += frame->size;
    frame->size = 0;
    if (walk->offset == walk->end)
        return WALK_END;
    const uint64_t left = walk->end - walk->offset;
    const unsigned char *in = see(walk, 0, WALK_FEW, &len, error);
    enum frame_extent extent = in ? codec->peek(in, len, frame) : FRAME_UNKNOWN;
    while (extent == FRAME_PART && frame->size > 0 && frame->size <= left) {
        in = see(walk, frame->size, codec->link_size, &len, error);
        extent = in && len >= codec->link_size ? codec->follow(in, frame) : FRAME_UNKNOWN;
    }
    if (!in)
        return WALK_FAILED;
    return extent == FRAME_WHOLE && frame->size <= left ? WALK_FRAME : WALK_BROKEN;
}
