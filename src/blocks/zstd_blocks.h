/* SPDX-License-Identifier: MIT */
/* A zstd frame cut into runs of blocks, each of which can be parsed without the others: a run knows
 * the descriptions of the tables that its first blocks may repeat.
 *
 * A run has so many blocks that its own cost, with tables that are built again, is small beside
 * theirs: eight that are as large as they may be, and up to RUN_BLOCKS_MAX that are tiny.
 *
 * A run has its compressed bytes to itself, with margins. A corrupt stream of literals is only
 * noticed at its end, and until then loads go below its beginning: by up to 32,768 codes of 11
 * bits, less than RUN_MARGIN. No other load leaves the run by more than eight bytes. */
#ifndef GPUHISTO_ZSTD_BLOCKS_H
#define GPUHISTO_ZSTD_BLOCKS_H

#include "operations.h"
#include "src/codec/codec.h"
#include "zstd_tables.h"

#define BLOCK_CONTENT_MAX ((size_t)ZSTD_BLOCK_MAX) /* bytes of a block's content */
#define RUN_BLOCKS_MAX 512
#define RUN_LITERALS_MAX (8 * BLOCK_CONTENT_MAX)
#define RUN_CONTENT_MAX (64 * BLOCK_CONTENT_MAX)
#define RUN_MARGIN ((size_t)48 << 10)
#define RUN_WINDOW_MAX ((uint64_t)128 << 20) /* frames with larger windows are not parsed */

/* The most operations of any block. If eight blocks could need more memory, a run has fewer
 * blocks. */
#define BLOCK_OPERATIONS_MAX 98310u
#define RUN_OPERATIONS_MAX ((size_t)512 << 10)

/* --- sections of a compressed block --- */

enum literals_type { LITERALS_RAW, LITERALS_RLE, LITERALS_CODED, LITERALS_TREELESS };

struct literals_header {
    enum literals_type type;
    uint32_t content; /* bytes of literals */
    uint32_t stored;  /* bytes after the header; with the table if LITERALS_CODED */
    unsigned size;    /* bytes of the header */
    unsigned streams; /* 1 or 4; of codes only */
};

struct sequences_header {
    uint32_t count;
    unsigned size; /* bytes, with `modes` */
    uint8_t modes; /* two bits for each table, the highest first; only if there are sequences */
};

/* These read headers at in[0..len). False: the header is wrong. */
bool zstd_read_literals_header(struct literals_header *header, const unsigned char *in, size_t len);
bool zstd_read_sequences_header(struct sequences_header *header, const unsigned char *in,
                                size_t len);

static inline enum table_mode zstd_table_mode(uint8_t byte, enum sequence_kind kind)
{
    return (enum table_mode)(byte >> (6 - 2 * (int)kind) & 3);
}

/* --- tables of blocks before --- */

/* The beginning of a section that defined a table; no description is longer. */
#define DEFINITION_MAX 288

struct definition {
    bool is_set;
    uint8_t modes; /* of sequences: the descriptions of other tables come first */
    uint16_t len;
    unsigned char bytes[DEFINITION_MAX];
};

struct definitions {
    struct definition sequences[SEQUENCE_KINDS], huffman;
};

/* --- runs --- */

struct zstd_block {
    enum zstd_stored_type type;
    uint32_t at;             /* of its bytes, after the header, in the run */
    uint32_t size;           /* as in struct zstd_block_header */
    struct run_position end; /* in the parsed run */
};

/* The limits of a run, which has memory for as much. With `content` bytes it is complete: content
 * is counted as 128 KiB for each compressed block, as it is only known once the block is parsed. */
struct zstd_run_limits {
    size_t in;            /* compressed bytes */
    size_t literals;      /* bytes */
    size_t content;       /* bytes, while the run has few compressed bytes; */
    size_t content_usual; /* otherwise */
    size_t operations;
};

/* A run. Zeroed and opened, it can be filled, parsed and filled again. Owns its memory. */
struct zstd_run {
    struct zstd_run_limits limits; /* may be lowered before the run is filled */
    /* Set by zstd_walk_fill. */
    unsigned char *in; /* compressed bytes, between margins */
    size_t len;
    struct zstd_block blocks[RUN_BLOCKS_MAX];
    unsigned count;
    struct definitions before;
    struct repeat_offsets repeat_offsets; /* before it; symbolic unless it is the first */
    uint64_t window;                      /* bytes */
    bool is_last;                         /* of the frame */
    /* Set by zstd_parse. */
    unsigned parsed_blocks; /* what follows is after so many blocks */
    unsigned char *literals;
    struct operation_writer writer;
    struct repeat_offsets last_offsets;
    struct zstd_tables tables;
    struct parsed_run parsed;
};

/* Opens a run, with the usual limits or others. 0, or -1: out of memory. */
int zstd_run_open(struct zstd_run *run);
int zstd_run_open_with(struct zstd_run *run, const struct zstd_run_limits *limits);
void zstd_run_close(struct zstd_run *run);

/* Returns the bytes that an open run takes at most. */
size_t zstd_run_memory(void);

/* --- walking over a frame --- */

/* A walk from block to block. */
struct zstd_walk {
    struct zstd_parts parts;    /* of the frame */
    struct definitions defined; /* by blocks that were passed */
    size_t operations;          /* that the blocks of the run take at most; */
    size_t literals, content;   /* that they take at most, in bytes */
    size_t wanted;              /* bytes of the run, up to the end of a header or block */
    bool in_block;              /* a block's header was read, not yet all of its bytes */
    bool is_first;              /* the run is the frame's first */
};

enum walked {
    WALKED_ALL,   /* of the input: the run needs more */
    WALKED_RUN,   /* the run is complete */
    WALKED_WRONG, /* the data are corrupt, or not understood */
};

/* Begins a walk after the header of a frame. False: such frames are not parsed. */
bool zstd_walk_begin(struct zstd_walk *walk, const struct zstd_frame_header *header);

/* Begins a run, before it is filled, or filled again. */
void zstd_walk_begin_run(struct zstd_walk *walk, struct zstd_run *run);

/* Moves bytes of in[0..len) to the run until it is complete, and adds how many to *used. They may
 * already stand where they go, at run->in + run->len. */
enum walked zstd_walk_fill(struct zstd_walk *walk, struct zstd_run *run, const unsigned char *in,
                           size_t len, size_t *used);

/* Completes a run with its whole blocks. The beginning of another block, which belongs to the next
 * run, still follows them: *rest is set to its bytes. False: there are no whole blocks, and nothing
 * has changed. */
bool zstd_walk_cut(struct zstd_walk *walk, struct zstd_run *run, size_t *rest);

#endif
