/* zstd frames to bytes, through libzstd, as a stream. Knows nothing of files. */
#ifndef GPUHISTO_SOURCE_ZSTD_H
#define GPUHISTO_SOURCE_ZSTD_H

#include "src/base/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct zstd_stream;

/* How many first bytes zstd_magic wants to see. */
#define ZSTD_MAGIC_SIZE 4

/* Whether a stream that begins with head[0..len) is zstd's: 1 it is, 0 it is not, -1 more bytes (up
 * to ZSTD_MAGIC_SIZE) must be seen. A skippable frame's magic counts too. */
int zstd_magic(const unsigned char *head, size_t len);

/* How many of the bytes in[0..len) are whole frames, skippable ones too, that need no window larger
 * than window_max, and each hold a multiple of unit bytes by what its header says; *window is then
 * the largest that they need. Bytes all of them. 0: the first frame is not whole; -1: it needs a
 * larger window, or holds other lengths, or is none, as a decoder will tell. */
ssize_t zstd_whole_frames(const unsigned char *in, size_t len, uint64_t window_max, size_t unit,
                          uint64_t *window);

/* A decoder that refuses frames whose window is larger than memlimit (bytes, 1K to 2G, rounded down
 * to a power of two as libzstd counts windows). NULL if memory is short. */
struct zstd_stream *zstd_stream_open(uint64_t memlimit);

/* Decodes from in[0..in_len) into out[0..cap), cap > 0; sets *used and *made to the bytes taken and
 * given. Frames that follow each other are one stream, skippable ones give nothing. It may give
 * without taking: call with in_len 0 as long as *made was cap. 0, or -1 with the reason set; the
 * stream is then of no more use. One thread at a time. */
int zstd_stream_decode(struct zstd_stream *zstd, const unsigned char *in, size_t in_len,
                       size_t *used, unsigned char *out, size_t cap, size_t *made,
                       struct reason *why);

/* Whether the input may end here: at the end of a frame, or before the first. */
bool zstd_stream_complete(const struct zstd_stream *zstd);

/* Frees it; NULL is fine. */
void zstd_stream_close(struct zstd_stream *zstd);

#endif
