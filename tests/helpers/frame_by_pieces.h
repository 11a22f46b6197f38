/* SPDX-License-Identifier: MIT */
/* zstd frames decoded by src/parallel/zstd_piece.h, by one or several threads that take steps in a
 * random order (tests/helpers/random.h). */
#ifndef GPUHISTO_TESTS_FRAME_BY_PIECES_H
#define GPUHISTO_TESTS_FRAME_BY_PIECES_H

#include "src/parallel/zstd_piece.h"

/* The way in which frames are decoded. */
struct by_pieces {
    const struct block_loops *loops;
    struct zstd_pieces *pieces; /* set by frame_by_pieces */
    unsigned slots;             /* at least 2 */
    uint32_t content;           /* bytes of a piece, about */
    uint32_t tail;              /* bytes, if that is more than the window */
    unsigned threads;
    size_t portion; /* bytes that the cut sees at a time, at most */
    bool verifies;  /* checksums */
    bool is_file;   /* cut sees only what it must of the frame, as of a regular file, */
    bool changes;   /* and blocks of five bytes that are made larger before they are parsed */
};

/* Another way each time, with tiny pieces. */
struct by_pieces by_pieces_random(const struct block_loops *loops);

/* Decodes in[0..len), whole frames and skippable ones. True if nothing needs the fallback; the
 * content, of *size bytes, is the caller's to free in either case. Without memory, or if a promise
 * of zstd_piece.h is broken, the process ends by abort. */
bool frame_by_pieces(const struct by_pieces *by, const unsigned char *in, size_t len,
                     unsigned char **content, size_t *size);

#endif
