/* SPDX-License-Identifier: MIT */
/* A zstd frame cut into runs of blocks, each of which can be parsed without the others: a run knows
 * the descriptions of the tables that its first blocks may repeat. */
#ifndef GPUHISTO_ZSTD_BLOCKS_H
#define GPUHISTO_ZSTD_BLOCKS_H

#include "operations.h"
#include "src/codec/codec.h"

struct block_loops;

#define BLOCK_CONTENT_MAX ((size_t)ZSTD_BLOCK_MAX) /* bytes of a block's content */
#define RUN_BLOCKS_MAX 512

/* The most operations of any block. */
#define BLOCK_OPERATIONS_MAX 98310u

/* --- tables, by which blocks are decoded (RFC 8878, section 4) --- */

#define FSE_LOG_MAX 9

/* The three numbers of a sequence, in the order in which their tables are described. */
enum sequence_kind { KIND_LITERALS, KIND_OFFSET, KIND_MATCH, SEQUENCE_KINDS };

/* The way in which a block says which table it takes. */
enum table_mode { TABLE_PREDEFINED, TABLE_RLE, TABLE_CODED, TABLE_REPEATED };

/* A state of a table of sequences: how many bits the next state takes (bits 0-7), and the number
 * (8-15), the least next state (16-31), and the least number (32-63). The sums of three entries
 * fit. */
typedef uint64_t sequence_entry;

struct sequence_table {
    sequence_entry entries[1 << FSE_LOG_MAX];
    unsigned log;
};

/* Sets a table from its description at in[0..len), unless it is repeated. With NULL the description
 * is only read. Returns its bytes, or -1: it is wrong. */
int sequence_table_read(struct sequence_table *table, enum sequence_kind kind, enum table_mode mode,
                        const unsigned char *in, size_t len);

#define HUFFMAN_LOG_MAX 11u
#define HUFFMAN_SYMBOLS_MAX 256

/* The meaning of the next bits: the symbol (bits 0-7) and the bits of its code (8-15). */
struct huffman_table {
    uint16_t entries[1 << HUFFMAN_LOG_MAX];
    unsigned log; /* 0: not set */
};

/* Sets a table from its description at in[0..len). Returns its bytes, or -1: it is wrong, or has
 * codes of 12 bits, which only libzstd takes. */
int huffman_table_read(struct huffman_table *table, const unsigned char *in, size_t len);

struct zstd_tables {
    struct sequence_table predefined[SEQUENCE_KINDS]; /* made once: tiny blocks would wait for it */
    struct sequence_table described[SEQUENCE_KINDS];  /* by a block */
    const struct sequence_table *sequences[SEQUENCE_KINDS]; /* the last ones; NULL: none yet */
    struct huffman_table huffman;
};

/* The beginning of a section that defined a table; no description is longer. */
#define DEFINITION_MAX 288

struct definition {
    uint8_t modes; /* of sequences: the descriptions of other tables come first */
    uint16_t len;  /* 0: none */
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
    unsigned char *literals;
    struct operation_writer writer;
    struct repeat_offsets last_offsets;
    struct zstd_tables tables;
    struct parsed_run parsed;
};

/* Opens a run. 0, or -1: out of memory. */
int zstd_run_open(struct zstd_run *run, const struct zstd_run_limits *limits);
void zstd_run_close(struct zstd_run *run);

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

/* A run that can be read at any place, as of a regular file. */
struct zstd_reader {
    /* Reads bytes from byte `at` of the run on to to[0..len). Returns how many there are. */
    size_t (*read)(const struct zstd_reader *reader, unsigned char *to, size_t len, size_t at);
};

/* Walks over a run up to its end: reads only those bytes of blocks that say how large they are, and
 * which tables they define. Before it is parsed, run->in[0..run->len) must be read; it may be other
 * bytes by then, which are parsed as far as there is room. */
enum walked zstd_walk_skim(struct zstd_walk *walk, struct zstd_run *run,
                           const struct zstd_reader *reader);

/* --- parsing --- */

/* Parses the blocks of a complete run to run->parsed. False: it needs the fallback, as all do that
 * libzstd refuses, and a few that it accepts. Any thread; runs are independent of each other. */
bool zstd_parse(struct zstd_run *run, const struct block_loops *loops);

#endif
