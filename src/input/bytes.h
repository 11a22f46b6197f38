/* SPDX-License-Identifier: MIT */
/* The bytes of one file or of standard input, as stored. A stream keeps the bytes that were looked
 * at ahead, or may be needed again, in a replay window. No format is known here. */
#ifndef GPUHISTO_BYTES_H
#define GPUHISTO_BYTES_H

#include "src/base/error.h"
#include "src/base/preopened.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* --- bytes of a stream that can be read again: a queue in pieces --- */

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

/* --- the bytes of a file --- */

#define BYTES_MAX ((uint64_t)INT64_MAX) /* no file has an offset beyond it */

struct bytes {
    const char *name; /* the operand; "standard input" */
    int fd;
    int error;         /* errno, if it could not be opened; otherwise 0 */
    bool regular;      /* pread works */
    bool may_be_short; /* regular, without blocks on a disk, as in /sys: may end before its size */
    bool is_cut;       /* regular: read up to opened_size, whatever was added since */
    off_t base;        /* regular: where it stood when it was opened; offsets count from there */
    uint64_t begin;    /* offset of the first byte to be handed out, */
    uint64_t taken;    /* of the next one, */
    uint64_t limit;    /* and of the first that must not be */
    uint64_t opened_size; /* regular: where reading ends, as known when it was opened; else begin */
    bool ended;           /* nothing is left to be read */
    struct replay_window window; /* of a stream: what can be handed out again, and what was seen
                                  * ahead; its end is what was read of the stream */
    bool keeps;                  /* what is handed out stays in the window, */
    bool needs_kept; /* or reading fails; if not, bytes are lost while memory is short: */
    bool has_lost;   /* some were */
};

/* Opens a file, and releases it. A pipe is enlarged to 1 MiB. 0; or -1 with the error set, and
 * error if it could not be opened. The name must outlive the bytes. */
int bytes_open(struct bytes *bytes, struct preopened *file, struct error *error);

/* Closes the file, unless it is standard input, and frees the window. */
void bytes_close(struct bytes *bytes);

/* Gives an open file back, to be opened again. A stream then begins with the bytes in its window.
 * 0, or -1: out of memory. */
int bytes_give_back(struct bytes *bytes, struct preopened *file);

/* Reads at most `cap` bytes at `offset` without handing them out, as far as that takes no waiting
 * for more than one byte of a stream. Returns the bytes, 0 at the end, or -1 with the error set.
 * One thread at a time. */
ssize_t bytes_peek(struct bytes *bytes, void *buf, size_t cap, uint64_t offset,
                   struct error *error);

/* Reads bytes [offset, offset + len) of a regular file, or fewer if it ends: not before
 * opened_size, unless it may be short. Returns the bytes read, or -1 with the error set. Any
 * thread. */
ssize_t bytes_read_at(const struct bytes *bytes, void *buf, size_t len, uint64_t offset,
                      struct error *error);

/* Hands out only bytes [begin, end), end at most BYTES_MAX or UINT64_MAX. Those of a stream before
 * `begin` are read and dropped. 0, or -1 with the error set. */
int bytes_select(struct bytes *bytes, uint64_t begin, uint64_t end, struct error *error);

/* Hands out the next bytes, up to the limit, to buf[0..cap), cap > 0: what one read gives. EINTR
 * and EAGAIN are waited out. Returns the bytes, 0 at the end, or -1 with the error set. One thread
 * at a time, as for all functions below. */
ssize_t bytes_read(struct bytes *bytes, void *buf, size_t cap, struct error *error);

/* Keeps a stream from data[0..len) on, the bytes that were handed out last, so that it can be
 * handed out again. If that is not needed, what is read while memory is short is not kept. 0, or
 * -1: out of memory, and nothing has changed. */
int bytes_keep(struct bytes *bytes, const unsigned char *data, size_t len, bool is_needed);

/* Keeps nothing any more. */
void bytes_keep_no_more(struct bytes *bytes);

/* Goes back to byte `offset` of a stream, and keeps nothing any more. 0, or -1: it is not kept. */
int bytes_rewind(struct bytes *bytes, uint64_t offset);

/* Returns where a regular file ends, as known when it was opened; how much of a stream was read. */
static inline uint64_t bytes_end(const struct bytes *bytes)
{
    return bytes->regular ? bytes->opened_size : bytes->window.end;
}

/* True if bytes_read has nothing more to give. */
bool bytes_are_over(const struct bytes *bytes);

/* True if bytes_read would not wait, or will not in so many milliseconds. */
bool bytes_ready(const struct bytes *bytes, int milliseconds);

/* Puts standard input's offset where reading ended; nothing more may be handed out. */
void bytes_finish(const struct bytes *bytes);

/* --- long parts of a regular file, read by several threads: one thread copies some 8 GB/s from the
 * page cache, which is less than a GPU decompresses. Threads start with the first part that is long
 * enough, and wait between parts. --- */

struct parallel_read;

/* Opens one, without threads yet. NULL, which parallel_read takes, too: out of memory. */
struct parallel_read *parallel_read_open(void);

/* Reads bytes [offset, offset + len) of a regular file to buf, as bytes_read_at: how many there
 * were, or -1 with the error set, which is that of the first byte that could not be read. With
 * `wide` NULL one thread reads. One call at a time. */
ssize_t parallel_read(struct parallel_read *wide, const struct bytes *bytes, void *buf, size_t len,
                      uint64_t offset, struct error *error);

/* Ends the threads, and frees it. NULL is fine. */
void parallel_read_close(struct parallel_read *wide);

#endif
