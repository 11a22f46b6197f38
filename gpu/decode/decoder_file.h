/* SPDX-License-Identifier: MIT */
/* How far a decoder is with a compressed file: what was planned, what was counted, and from where
 * the rest can be decoded again. Plain arithmetic.
 *
 * Content that is counted ends after a whole record. The rest, the tail, stays on the device before
 * the next batch, and is counted with that. What was counted before is decoded and verified only.
 */
#ifndef GPUHISTO_DECODER_FILE_H
#define GPUHISTO_DECODER_FILE_H

#include "decoder_memory.h"
#include "gpu/decoder.h"
#include "src/count/characters.h"
#include "src/records/record_kind.h"

enum file_end {
    FILE_GOES_ON,
    FILE_WHOLE,   /* all of it was planned */
    FILE_LEFT,    /* what follows is not for the device */
    FILE_REFUSED, /* the device, or a checksum, refused a batch: no other one is launched */
};

/* Where a frame begins: bytes into the file, and into the content. */
struct resume_point {
    uint64_t at, content;
};

/* Frames from where the file can be decoded again. The first is the beginning of the file if no
 * other will do. */
#define RESUME_POINTS 8
struct resume_points {
    struct resume_point point[RESUME_POINTS];
    unsigned count;
};

/* Content after the last whole record. */
struct content_tail {
    uint32_t len;
    unsigned char cut[CHARACTER_SIZE_MAX]; /* these bytes, of characters */
    const struct decoder_batch *last;      /* the batch that they end; NULL: there is none yet */
    unsigned char *bytes;                  /* room for them at the end of the file */
};

struct decoder_file {
    struct compressed_start start;
    struct record_kind kind; /* what the content is cut into */
    struct zstd_walk walk;
    uint64_t need; /* compressed bytes, for the next block */
    enum file_end end;
    uint64_t launched; /* batches; */
    uint64_t judged;   /* of these, counted or empty */
    uint64_t content;  /* bytes of batches that were found good */
    uint64_t counted;  /* bytes, as far as snapshots tell, and those before the start; */
    uint64_t fresh;    /* of these here, bytes that no chunk had before */
    size_t repeated;   /* of pairs: bytes still to come that a chunk had before */
    bool is_cut_off;   /* a batch was not counted; nor are those after it */
    bool is_wrong;     /* content that was counted failed its checksum */
    struct content_tail tail;
    struct resume_points points;
};

/* Returns a file of which nothing was planned. */
struct decoder_file decoder_file_begin(const struct compressed_start *start,
                                       const struct record_kind *kind,
                                       const struct zstd_walk *walk);

/* Returns the bytes at the end of the next batch to be judged that are not counted with it. If they
 * are more than a record can have, the batch must not be counted. */
uint64_t decoder_file_tail(const struct decoder_file *file, const struct zstd_verdict *verdict);

/* True if no record ends with a batch that has such a tail, so that there is nothing to count. */
bool decoder_file_is_empty(const struct decoder_file *file, const struct zstd_verdict *verdict,
                           uint64_t tail);

/* Goes on to the end of a good batch. Sets its begin, shared, and its chunk's len and origin.bytes.
 */
void decoder_file_advance(struct decoder_file *file, struct decoder_batch *batch, uint32_t tail);

/* Adds a batch that was counted. */
void decoder_file_count(struct decoder_file *file, const struct decoder_batch *batch);

/* Returns the first byte of the file that may be left. Forgets frames before. */
uint64_t decoder_file_kept(struct decoder_file *file);

/* True if the file was decompressed to its end. */
bool decoder_file_is_done(const struct decoder_file *file);

/* Returns what is left. The tail's bytes, which must be there, go to the caller. */
struct compressed_rest decoder_file_end(struct decoder_file *file, bool is_lost);

#endif
