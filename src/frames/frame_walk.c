/* SPDX-License-Identifier: MIT */
#include "frame_walk.h"

#include <stdlib.h>

/* Bytes that are read where links stand far apart: enough for the header of a unit, or a link. Of
 * links that stand close together many are read at once. */
#define WALK_FEW ((size_t)64)
#define WALK_CLOSE ((uint64_t)4 << 10)

int frame_walk_begin(struct frame_walk *walk, const struct bytes *bytes, const struct codec *codec,
                     uint64_t end, struct reason *why)
{
    *walk = (struct frame_walk){
        .bytes = bytes, .codec = codec, .end = end, .window = malloc(WALK_WINDOW)};
    if (walk->window)
        return 0;
    return reason_of(why, bytes->name, "out of memory");
}

void frame_walk_end(struct frame_walk *walk)
{
    free(walk->window);
    walk->window = NULL;
}

/* Has the window hold `wanted` bytes from `at` on, or all up to the end of the file. Those bytes,
 * with *len set to how many there are; or NULL with the reason set. */
static const unsigned char *see(struct frame_walk *walk, uint64_t at, size_t wanted, size_t *len,
                                struct reason *why)
{
    uint64_t seen_to = walk->window_at + walk->window_len, left = walk->end - at;
    if (wanted > left)
        wanted = (size_t)left;
    if (at < walk->window_at || at + wanted > seen_to) {
        bool is_close = at >= walk->window_at && at - walk->window_at < WALK_CLOSE;
        size_t size = is_close ? WALK_WINDOW : WALK_FEW;
        size = left < size ? (size_t)left : size;
        ssize_t got = bytes_read_at(walk->bytes, walk->window, size, at, why);
        if (got < 0)
            return NULL;
        walk->window_at = at;
        walk->window_len = (size_t)got;
    }
    *len = (size_t)(walk->window_at + walk->window_len - at);
    return walk->window + (at - walk->window_at);
}

/* Follows the links of the unit at `offset`, of which look has seen a part. */
static enum walk_step follow_links(struct frame_walk *walk, struct reason *why)
{
    const struct codec *codec = walk->codec;
    struct codec_frame *frame = &walk->frame;
    enum frame_extent extent = FRAME_PART;
    size_t len;
    if (frame->size == 0 || !codec->follow)
        return WALK_BROKEN;
    while (extent == FRAME_PART) {
        if (frame->size > walk->end - walk->offset)
            return WALK_BROKEN;
        const unsigned char *link =
            see(walk, walk->offset + frame->size, codec->link_size, &len, why);
        if (!link)
            return WALK_FAILED;
        if (len < codec->link_size)
            return WALK_BROKEN;
        extent = codec->follow(link, frame);
    }
    return extent == FRAME_WHOLE ? WALK_FRAME : WALK_BROKEN;
}

enum walk_step frame_walk_next(struct frame_walk *walk, struct reason *why)
{
    size_t len;
    walk->offset += walk->frame.size;
    walk->frame.size = 0;
    if (walk->offset == walk->end)
        return WALK_END;
    const unsigned char *head = see(walk, walk->offset, WALK_FEW, &len, why);
    if (!head)
        return WALK_FAILED;
    enum frame_extent extent = walk->codec->look(head, len, &walk->frame);
    enum walk_step step = extent == FRAME_UNKNOWN ? WALK_BROKEN : WALK_FRAME;
    if (extent == FRAME_PART && !walk->frame.is_stated)
        step = follow_links(walk, why);
    bool is_there = walk->frame.size <= walk->end - walk->offset;
    return step == WALK_FRAME && !is_there ? WALK_BROKEN : step;
}
