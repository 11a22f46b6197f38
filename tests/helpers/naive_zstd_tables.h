/* SPDX-License-Identifier: MIT */
/* The bits, the FSE tables and the Huffman tables of zstd by the letter of RFC 8878, for
 * naive_zstd.c and for tests of single tables. */
#ifndef GPUHISTO_TESTS_NAIVE_ZSTD_TABLES_H
#define GPUHISTO_TESTS_NAIVE_ZSTD_TABLES_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

/* The way out of a refusal: `where` is set by setjmp; `why` is a literal. */
struct naive_trap {
    jmp_buf where;
    const char *why;
};

__attribute__((noreturn)) void naive_refuse(struct naive_trap *trap, const char *why);

/* A stream of bits. Taking bits beyond its end is a refusal. */
struct naive_bits {
    struct naive_trap *trap;
    const unsigned char *bytes;
    size_t left; /* bits before the end; the stream is read from its end to its beginning */
};

/* A stream that is read backwards: from the bit below the highest one that is set in its last byte.
 * A stream of no bytes, or whose last byte is 0, is refused. */
struct naive_bits naive_bits_backwards(struct naive_trap *trap, const unsigned char *bytes,
                                       size_t size);

/* The next `count` bits, up to 32, as a number. */
uint64_t naive_bits_read(struct naive_bits *bits, unsigned count);

#define NAIVE_FSE_LOG_MAX 9u

struct naive_fse {
    unsigned log; /* of the number of rows */
    struct {
        uint8_t symbol, bits; /* to be read, and added to base: the next row */
        uint16_t base;
    } rows[1u << NAIVE_FSE_LOG_MAX];
};

/* Builds the table in which symbol i, of `size`, has weights[i] rows; -1: one, with all bits. */
void naive_fse_build(struct naive_fse *table, unsigned log, const short *weights, size_t size);

/* Builds the table of one row. */
void naive_fse_single(struct naive_fse *table, unsigned symbol);

/* Reads a description, of no more than 2^log_max rows, and no symbol from `symbols` on. Its bytes.
 */
size_t naive_fse_read(struct naive_fse *table, struct naive_trap *trap, const unsigned char *bytes,
                      size_t size, unsigned log_max, unsigned symbols);

/* The row after `row`. */
unsigned naive_fse_next(const struct naive_fse *table, unsigned row, struct naive_bits *bits);

#define NAIVE_HUFFMAN_LOG_MAX 11u

struct naive_huffman {
    unsigned log; /* bits of the longest code */
    struct {
        uint8_t symbol, bits;
    } rows[1u << NAIVE_HUFFMAN_LOG_MAX]; /* by the next `log` bits */
};

/* Reads the description of a table. Its bytes. */
size_t naive_huffman_read(struct naive_huffman *table, struct naive_trap *trap,
                          const unsigned char *bytes, size_t size);

unsigned char naive_huffman_symbol(const struct naive_huffman *table, struct naive_bits *bits);

/* The meanings of the codes of a sequence. Base and bits are not used for offsets. */
struct naive_code {
    unsigned symbols, log_max;
    const uint32_t *base;
    const uint8_t *bits;
    const short *predefined;
    size_t predefined_size;
    unsigned predefined_log;
};

extern const struct naive_code naive_literal_lengths, naive_offsets, naive_match_lengths;

#endif
