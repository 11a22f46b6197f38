/* SPDX-License-Identifier: MIT */
/* The content of a frame as far as matches reach back, and the memory that runs are executed
 * into. */
#ifndef GPUHISTO_WINDOW_H
#define GPUHISTO_WINDOW_H

#include "block_loops.h"

/* A window. Content is appended until the memory ends; then the window moves to the beginning.
 * Zeroed, it has no memory yet. */
struct window {
    unsigned char *data;
    size_t cap;
    size_t at;                            /* where content is appended */
    uint64_t size;                        /* how far matches may reach back */
    uint64_t content;                     /* bytes of the frame so far */
    struct repeat_offsets repeat_offsets; /* the last offsets */
};

/* Returns the bytes of memory for a window, and for runs that mostly have at most so much content.
 * A run never has more than WINDOW_RUN_MAX. */
#define WINDOW_RUN_MAX ((size_t)8 << 20)
size_t window_memory(uint64_t size, size_t content_max);

/* Begins a frame, in the memory of the one before if that is enough. 0, or -1: out of memory. */
int window_begin(struct window *window, uint64_t size, size_t content_max);

/* Executes a run that does not need the fallback. Returns its content, which is there until the
 * next call; NULL: a match begins before the frame. */
const unsigned char *window_append(struct window *window, const struct block_loops *loops,
                                   const struct parsed_run *run);

/* True if appending `len` bytes overwrites any of content[0..content_len), which was returned. */
bool window_overwrites(const struct window *window, size_t len, const unsigned char *content,
                       size_t content_len);

/* Returns how many bytes of the frame stand before content that was returned last. */
size_t window_before(const struct window *window, const unsigned char *content);

void window_close(struct window *window);

#endif
