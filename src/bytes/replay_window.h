/* SPDX-License-Identifier: MIT */
/* Bytes of a stream that can be read again: a queue in pieces. */
#ifndef GPUHISTO_REPLAY_WINDOW_H
#define GPUHISTO_REPLAY_WINDOW_H

#include <stddef.h>
#include <stdint.h>

struct window_piece;

/* Bytes [begin, end) of the stream. All zeros: nothing was read. */
struct replay_window {
    uint64_t begin, end;
    struct window_piece *first, *last; /* owned, as are those that follow */
    struct window_piece *spare;        /* dropped, to be used again; a few */
    unsigned spares;
};

/* Appends the next bytes. 0, or -1: out of memory, and some may be missing. */
int window_add(struct replay_window *kept, const unsigned char *data, size_t len);

/* Copies bytes from `at` on, which is not before begin, to out[0..cap). Returns how many there
 * were. */
size_t window_copy(const struct replay_window *kept, uint64_t at, unsigned char *out, size_t cap);

/* Drops the bytes before `at`, or all if it is after them. */
void window_drop(struct replay_window *kept, uint64_t at);

/* Puts bytes before the first one. 0, or -1: out of memory, and nothing has changed. */
int window_prepend(struct replay_window *kept, const unsigned char *data, size_t len);

/* Drops everything, and frees all memory; the next bytes to be appended begin at `at`. */
void window_restart(struct replay_window *kept, uint64_t at);

static inline uint64_t window_size(const struct replay_window *kept)
{
    return kept->end - kept->begin;
}

#endif
