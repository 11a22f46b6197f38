/* SPDX-License-Identifier: MIT */
/* A chunk: memory of an engine's, on loan to whoever fills it. Input knows no more of engines than
 * this. */
#ifndef GPUHISTO_CHUNK_H
#define GPUHISTO_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

/* Where a chunk stands among all chunks. A FILE is one segment or several, and each reader reads
 * the chunks of a segment in order; the segments, and the FILEs, come side by side. */
struct position {
    size_t file;      /* all three are counted from 0 */
    uint64_t segment; /* of the FILE */
    uint64_t index;   /* of the segment */
};

/* What ends with a chunk. */
enum chunk_end {
    ENDS_NOTHING,
    ENDS_SEGMENT,
    ENDS_FILE,
};

/* Where the data of a chunk come from. A copy of the data takes a copy of this along. Only texts
 * need more than `bytes` and `at.file`. */
struct origin {
    size_t bytes; /* of input; a token may have some in two chunks */
    struct position at;
    enum chunk_end end;
    const char *name;      /* the FILE as messages name it */
    uint64_t counted_from; /* bytes of the FILE, as stored, before what is counted of it */
    int32_t column;  /* of lines: the field that a column's name stands for in this FILE, or 0 */
    bool has_header; /* the first record is the FILE's header, which is not counted */
};

struct chunk {
    struct engine *engine; /* whose it is */
    unsigned char *data;   /* cap bytes, the engine's own; of text records_room more */
    size_t len, cap;       /* bytes: in use, and in all */
    size_t begin;          /* of lines: how many of these in use are none of its records */
    size_t repeated;       /* of pairs: how many of these in use were in the chunk before, too; its
                            * own are the next origin.bytes */
    struct origin origin;
    bool fill; /* worth waiting for cap bytes; otherwise take what one read gives */
    bool give; /* its counting is worth giving to another thread that is idle */
};

#endif
