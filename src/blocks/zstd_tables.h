/* SPDX-License-Identifier: MIT */
/* The tables that zstd's blocks are decoded by (RFC 8878, section 4), read from descriptions in a
 * block or in the blocks before. Pure functions; any thread. */
#ifndef GPUHISTO_ZSTD_TABLES_H
#define GPUHISTO_ZSTD_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- FSE --- */

#define FSE_LOG_MAX 9
#define FSE_SYMBOLS_MAX 53

/* The three numbers of a sequence, in the order in which their tables are described. */
enum sequence_kind { KIND_LITERALS, KIND_OFFSET, KIND_MATCH, SEQUENCE_KINDS };

/* The way in which a block says which table it takes. */
enum table_mode { TABLE_PREDEFINED, TABLE_RLE, TABLE_CODED, TABLE_REPEATED };

/* Probabilities of symbols, in parts of 1 << log; -1: less than one part. */
struct fse_probabilities {
    int16_t of[FSE_SYMBOLS_MAX];
    unsigned count, log;
};

/* Reads the description of a table of at most symbols_max symbols and 1 << log_max states at
 * in[0..len). Returns its bytes, or 0: it is wrong. */
size_t fse_read(struct fse_probabilities *probabilities, const unsigned char *in, size_t len,
                unsigned symbols_max, unsigned log_max);

/* A state: its symbol, and the next state, to which `bits` more bits are added. */
struct fse_state {
    uint8_t symbol, bits;
    uint16_t next;
};

/* Sets the 1 << log states. */
void fse_spread(const struct fse_probabilities *probabilities, struct fse_state *states);

/* A state of a table of sequences: how many bits the next state takes (bits 0-7), and the number
 * (8-15), the least next state (16-31), and the least number (32-63). The sums of three entries
 * fit.
 */
typedef uint64_t sequence_entry;

struct sequence_table {
    sequence_entry entries[1 << FSE_LOG_MAX];
    unsigned log;
    bool is_set;
};

/* Sets a table from its description at in[0..len); a repeated one stays as it is and must be set.
 * With NULL the description is only read. Returns its bytes, or -1: it is wrong. */
int sequence_table_read(struct sequence_table *table, enum sequence_kind kind, enum table_mode mode,
                        const unsigned char *in, size_t len);

/* --- Huffman --- */

#define HUFFMAN_LOG_MAX 11u
#define HUFFMAN_SYMBOLS_MAX 256

/* The meaning of the next bits: the symbol (bits 0-7) and the bits of its code (8-15). */
struct huffman_table {
    uint16_t entries[1 << HUFFMAN_LOG_MAX];
    unsigned log;
    bool is_set;
};

/* Sets a table from its description at in[0..len). Returns its bytes, or -1: it is wrong, or has
 * codes of 12 bits, which only libzstd takes. */
int huffman_table_read(struct huffman_table *table, const unsigned char *in, size_t len);

/* --- all of a block --- */

struct zstd_tables {
    struct sequence_table predefined[SEQUENCE_KINDS]; /* made once: tiny blocks would wait for it */
    struct sequence_table sequences[SEQUENCE_KINDS];
    struct huffman_table huffman;
};

#endif
