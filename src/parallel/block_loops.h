/* SPDX-License-Identifier: MIT */
/* The inner loops of parsing and executing, once for each instruction set: a struct block_loops in
 * a file of its own. Those in plain C and the table of all are in block_loops.c, the code that they
 * share in deflate_loop.h, zstd_loop.h, execute_loop.h and search_loop.h. */
#ifndef GPUHISTO_BLOCK_LOOPS_H
#define GPUHISTO_BLOCK_LOOPS_H

#include "deflate.h"

/* Literals as codes of Huffman, in one or four streams. */
struct huffman_streams {
    const struct huffman_table *table;
    const unsigned char *in; /* `len` bytes, 48 KiB before and eight bytes after them */
    size_t len;
    unsigned char *out; /* room for `count` bytes */
    uint32_t count;
};

/* The sequences of a block. */
struct sequences {
    const struct sequence_table *const *tables; /* one for each kind */
    const unsigned char *in;                    /* `len` bytes, and eight more at either side */
    size_t len;
    uint32_t count;       /* at least 1 */
    uint32_t content_max; /* that writer.content may come to */
    /* Members that parsing changes. */
    struct repeat_offsets repeat_offsets;
    struct operation_writer writer;
    uint32_t literals; /* bytes that the sequences have taken */
};

/* The state before a run is executed. */
struct execution {
    struct repeat_offsets repeat_offsets; /* before the run */
    uint64_t history;                     /* bytes of content that stand before it */
    uint32_t skipped;                     /* bytes of its content that stand there already */
};

/* An operation of a run's head that makes bytes which its tail needs. */
struct zstd_needed {
    operation op;
    uint32_t at;       /* where its content begins */
    uint32_t literals; /* where its literals begin */
};

/* Memory to make lists in, for one at a time. */
struct zstd_list_scratch {
    uint64_t *bits;  /* a bit for each byte of content that is needed, from the second word on */
    uint32_t *ranks; /* for each word, the bits set in the words before */
    struct zstd_needed *needed;
    size_t needed_max;
};

/* The run that a list is made of: its tail is what later runs may need, its head all before. */
struct zstd_listing {
    struct parsed_run *run; /* operations of the tail are changed */
    uint32_t tail;          /* bytes of content that later runs may need; at least COPY_MAX */
    struct zstd_list_scratch *scratch;
    /* Set by make_list. */
    struct run_position head; /* its end */
    struct parsed_run list;   /* opened by the caller */
};

/* The most that find_precodes finds at once. */
#define PRECODES_MAX 2048

/* The point that executing a run of deflate has come to. */
struct run_cursor {
    const operation *next, *end;
    const unsigned char *literals;
    size_t done; /* bytes of the run's content so far */
};

/* Bytes, or symbols, that a part of a run may write behind its limit. */
#define EXECUTE_SLACK (4 * (size_t)COPY_MAX)

struct block_loops {
    const char *name;        /* as the kernels for the same instructions are called */
    bool (*runs_here)(void); /* true if this processor has the instructions */

    /* These decode literals of one stream, and of four. False: the streams are wrong. */
    bool (*read_stream)(const struct huffman_streams *streams);
    bool (*read_streams)(const struct huffman_streams *streams);

    /* Parses sequences to operations. False: they are wrong, and the changed members are not
     * valid. */
    bool (*parse_sequences)(struct sequences *sequences);

    /* Finds bits of [*from, to) with which a dynamic block of deflate that is not the last may
     * begin: neither count of codes is too large, and the precode is complete. *from is a multiple
     * of 8, and `to` in the input. Returns how many were found, in ascending order, and moves *from
     * on: all before it were tried. The precodes themselves may go beyond the input. */
    unsigned (*find_precodes)(const struct deflate_input *input, uint64_t *from, uint64_t to,
                              uint64_t *found);

    /* Parses symbols of a block of deflate up to the next stop of the filling. Never returns
     * DEFLATE_REACHED. */
    enum deflate_stop (*parse_symbols)(struct filling *filling);

    /* Executes a run that does not need the fallback to out[0..run->content), behind which
     * COPY_SLACK bytes more may be written; the history ends at `out`. After skipped bytes, `run`
     * has only the literals and operations of the rest. False: a match begins before the history.
     */
    bool (*execute)(const struct parsed_run *run, const struct execution *execution,
                    unsigned char *out);

    /* Executes a run of deflate on, to `at`, until `limit` is reached or the run ends;
     * DEFLATE_WINDOW bytes stand before `at`. Returns where it has come to, less than EXECUTE_SLACK
     * behind the limit, as is all that it writes. */
    unsigned char *(*execute_some)(struct run_cursor *cursor, unsigned char *at,
                                   const unsigned char *limit);

    /* The same on symbols of 16 bits: bytes, or where in the window before they are. */
    uint16_t *(*execute_symbols)(struct run_cursor *cursor, uint16_t *at, const uint16_t *limit);

    /* Makes the list of what the tail of a run needs of its head (execute_loop.h). False: it would
     * save too little, and the run is unchanged. */
    bool (*make_list)(struct zstd_listing *listing);
};

/* All loops, fastest first, ended by NULL. The last ones run anywhere. NEON needs no loops of its
 * own: compilers use it to copy 32 bytes. */
extern const struct block_loops *const block_loops[];
extern const struct block_loops block_loops_avx512, block_loops_avx2, block_loops_portable;

/* With AVX-512 only the search gains: the other loops are those with AVX2, in whose file they are
 * joined. */
bool avx512_runs_here(void);
unsigned find_precodes_avx512(const struct deflate_input *input, uint64_t *from, uint64_t to,
                              uint64_t *found);

/* Returns the fastest loops that run here, and need no more than the kernels that have this name:
 * NULL, any. */
const struct block_loops *block_loops_find(const char *kernels);

#endif
