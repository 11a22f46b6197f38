/* SPDX-License-Identifier: MIT */
/* The form that blocks are parsed to, zstd's and deflate's alike: literals, and operations that
 * make content of them. Any number of runs of blocks can be parsed at once; they are executed in
 * order (block_loops.h).
 *
 * An operation appends literals, then a match: bytes that are copied from content before. Executing
 * one is two copies of COPY_MAX bytes, whatever its lengths are, so neither is longer than that,
 * and a match is never longer than its distance. Parsers split longer ones. */
#ifndef GPUHISTO_OPERATIONS_H
#define GPUHISTO_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COPY_MAX 32u /* bytes of literals, and of a match */

/* Bytes that may be read and written after the end of literals and content. */
#define COPY_SLACK (2 * (size_t)COPY_MAX)

/* An operation. Bits 0-31: the source, where the match begins relative to the beginning of the
 * run's content, as int32_t; or its symbolic offset. Then 8 bits each: bytes of literals, bytes of
 * the match. Bit 48: the offset is symbolic. A match of 0 bytes has its source within the run's
 * content, or at its end. */
typedef uint64_t operation;

#define OPERATION_SYMBOLIC ((operation)1 << 48)

/* Operations that may be read and written after the last one. */
#define OPERATIONS_SLACK 32

static inline operation operation_of(uint32_t source, uint32_t literals, uint32_t match)
{
    return (operation)match << 40 | (operation)literals << 32 | source;
}

static inline unsigned operation_literals(operation op)
{
    return (unsigned)(op >> 32) & 255;
}

static inline unsigned operation_match(operation op)
{
    return (unsigned)(op >> 40) & 255;
}

/* The last offsets of zstd. Those before a run are unknown while it is parsed: offsets made of them
 * are symbolic, "the i-th before the run, less n". Real offsets are less than SYMBOLIC_MIN. */
struct repeat_offsets {
    uint32_t offset[3];
};

#define SYMBOLIC_MIN UINT32_C(0xc0000000)
#define SYMBOLIC_STEP UINT32_C(0x10000000)

/* Returns the symbol of the i-th offset before the run. Each 1 that is taken off the offset is
 * subtracted from the symbol. */
static inline uint32_t symbolic_offset(unsigned i)
{
    return SYMBOLIC_MIN + i * SYMBOLIC_STEP + SYMBOLIC_STEP / 2;
}

/* Returns the offset that a symbolic one stands for; 0: it would not be positive. Other offsets are
 * returned unchanged. */
static inline uint32_t offset_resolve(uint32_t offset, const struct repeat_offsets *before)
{
    if (offset < SYMBOLIC_MIN)
        return offset;
    const unsigned i = (offset - SYMBOLIC_MIN) / SYMBOLIC_STEP % 3;
    const uint32_t less = symbolic_offset(i) - offset;
    return before->offset[i] > less ? before->offset[i] - less : 0;
}

/* Consecutive blocks of a frame or member, parsed. A run owns its memory. */
struct parsed_run {
    unsigned char *literals; /* in the order of content; `literals_max` bytes and COPY_SLACK */
    operation *operations;   /* room for `operations_max` and OPERATIONS_SLACK */
    size_t literals_max, operations_max;
    size_t literals_len, operations_len;
    uint32_t content; /* bytes that the operations make; less than 2 GiB */
    uint32_t reach;   /* how far before the run a match begins, symbolic ones left out; bytes */
    struct repeat_offsets after; /* zstd: the last offsets after the run, perhaps symbolic; */
    uint32_t less[3];            /* and those before it must be larger than these */
    bool needs_fallback; /* the blocks are corrupt, or not understood: nothing else is valid */
};

/* A position in a parsed run: the operations before it, what they take and what they make. */
struct run_position {
    size_t operations, literals;
    uint32_t content;
};

/* Allocates the memory of a run. 0, or -1: out of memory. */
int parsed_run_open(struct parsed_run *run, size_t literals_max, size_t operations_max);
void parsed_run_close(struct parsed_run *run);

/* Removes the content of a run. */
static inline void parsed_run_clear(struct parsed_run *run)
{
    run->operations_len = run->literals_len = 0;
    run->content = 0;
}

/* The position where a parser writes operations. It fits into registers: keep it in a local
 * variable. */
struct operation_writer {
    operation *next;     /* where the next one goes */
    uint32_t content;    /* bytes that the operations so far make */
    int32_t min;         /* the least source, 0 or less */
    uint32_t offset_max; /* the largest offset that is not symbolic; UINT32_MAX: one was 0 */
    uint32_t less[3];    /* the most that is taken off each offset before the run */
};

/* Adds literals and a match of any length at any offset, or no match. */
void operations_add_long(struct operation_writer *writer, uint32_t literals, uint32_t match,
                         uint32_t offset);

/* Adds literals and a match of at least one byte, fast for the usual lengths. */
static inline void operations_add(struct operation_writer *writer, uint32_t literals,
                                  uint32_t match, uint32_t offset)
{
    const uint32_t first = match < COPY_MAX ? match : COPY_MAX;
    if (__builtin_expect((literals > COPY_MAX) | (match > 2 * COPY_MAX) | (first > offset) |
                             (offset >= SYMBOLIC_MIN),
                         0)) {
        struct operation_writer copy = *writer; /* whose address may be taken */
        operations_add_long(&copy, literals, match, offset);
        *writer = copy;
        return;
    }
    writer->content += literals;
    const uint32_t source = writer->content - offset;
    writer->min = (int32_t)source < writer->min ? (int32_t)source : writer->min;
    writer->offset_max = offset > writer->offset_max ? offset : writer->offset_max;
    writer->next[0] = operation_of(source, literals, first);
    writer->next[1] = operation_of(source + COPY_MAX, 0, match - first);
    writer->next += 1 + (match > COPY_MAX);
    writer->content += match;
}

#endif
