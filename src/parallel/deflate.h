/* SPDX-License-Identifier: MIT */
/* Blocks of deflate (RFC 1951): their headers and decoding tables, where blocks may begin, and how
 * they are parsed to operations. Places in a stream are counted in bits: bit 0 is the lowest one of
 * byte 0. Any thread. */
#ifndef GPUHISTO_DEFLATE_H
#define GPUHISTO_DEFLATE_H

#include "operations.h"
#include "src/base/byte_word.h"

struct block_loops;

#define DEFLATE_WINDOW (32 << 10) /* bytes: the farthest distance */
#define DEFLATE_SLACK 32          /* bytes after the input that are readable, whatever they hold */
#define DEFLATE_LITERALS 288      /* codes of literals and lengths; the last two are never valid */
#define DEFLATE_DISTANCES 32      /* codes of distances; the last two are never valid */
#define DEFLATE_END 256           /* the code that ends a block; those after it are lengths */
#define DEFLATE_CODE_MAX 15       /* bits */
#define DEFLATE_TYPE_SIZE 3       /* bits that begin a block */
#define DEFLATE_HEADER_SIZE 17    /* bits of a dynamic block before its precode */
#define DEFLATE_LENGTHS_SLACK 16  /* bytes that reading may write behind the lengths */

/* Compressed bytes, of which any may be asked for: bytes[0..bits / 8 + DEFLATE_SLACK). */
struct deflate_input {
    const unsigned char *bytes;
    uint64_t bits; /* where the input ends; a multiple of 8 */
};

/* Returns the bits from `bit` on, at least 57 of which are valid, the first one lowest. */
static inline uint64_t deflate_bits(const struct deflate_input *input, uint64_t bit)
{
    return byte_word(input->bytes + bit / 8) >> bit % 8;
}

/* --- headers --- */

enum deflate_type {
    DEFLATE_STORED,
    DEFLATE_FIXED,
    DEFLATE_DYNAMIC,
    DEFLATE_RESERVED, /* the data are corrupt */
};

/* The cause that stopped parsing. If parsing began at a true beginning, the output so far is right,
 * whatever the cause. Reading of headers has the last three. */
enum deflate_stop {
    DEFLATE_REACHED, /* a block ended at `until` or after it, and another one follows */
    DEFLATE_FULL,    /* the run has no room; of one block: a stop was reached */
    DEFLATE_ENDED,   /* the last block ended; of one block, or of what is read: it did */
    DEFLATE_CUT,     /* the input ends before a block does */
    DEFLATE_CORRUPT, /* what comes next zlib would refuse, too */
};

/* The lengths of a block's codes, in bits, first those of literals; 0: not used. */
struct deflate_codes {
    unsigned literals, distances; /* how many lengths there are */
    uint8_t lengths[DEFLATE_LITERALS + DEFLATE_DISTANCES + DEFLATE_LENGTHS_SLACK];
};

/* The header of a block. */
struct deflate_header {
    enum deflate_type type;
    bool is_last;
    uint32_t size;              /* if stored: bytes of content */
    struct deflate_codes codes; /* if not stored; complete, or as incomplete as zlib takes them */
};

/* Reads the header of the block at *bit, and moves *bit behind it if it could be read. */
enum deflate_stop deflate_read_header(const struct deflate_input *input, uint64_t *bit,
                                      struct deflate_header *header);

/* Reads the codes of a dynamic block, and moves *bit behind them; or, if they cannot be read, to
 * where that was seen. */
enum deflate_stop deflate_read_codes(const struct deflate_input *input, uint64_t *bit,
                                     struct deflate_codes *codes);

/* --- finding ---
 *
 * Nothing marks the beginning of a block, but that of a dynamic block has fields that must fit: two
 * complete codes, and before them the complete code in which they are written. Hardly anything else
 * fits by chance, and a false beginning is harmless: the parser of the block before does not end
 * there. Stored and fixed blocks cannot be found, and last blocks are left out; the parser of the
 * block before goes on with them.
 *
 * Data can be made in which much fits for long, so the reading of headers has a budget. The rest
 * takes the same time for each byte, whatever its value. */

#define DEFLATE_NONE UINT64_MAX

/* Returns the first bit in [from, to) with which a dynamic block that is not the last may begin, or
 * DEFLATE_NONE. The block's codes must be in the input. *budget, unless it is NULL, is how many
 * bits of headers may be read, and is lowered by those that were; below 0 nothing is found. With
 * all loops the result is the same. */
uint64_t deflate_find(const struct block_loops *loops, const struct deflate_input *input,
                      uint64_t from, uint64_t to, int64_t *budget);

/* --- decoding tables ---
 *
 * A table is looked up with the next bits of the stream; codes that are longer have a second table,
 * looked up with the bits after those. An entry holds all that its codes mean: a distance; or up to
 * two literals; or a length, perhaps with a literal before it.
 *
 *     bits 0-7    bits to take from the stream, extra bits included
 *          8-11   length, distance: bits of the codes, which the extra bits follow
 *                 rare: enum deflate_rare
 *          12     ENTRY_RARE: none of these
 *          13     ENTRY_LENGTH: there is a length
 *          14-15  literals: 0 to 2
 *          16-23  first literal          16-31  distance without extra bits
 *          24-31  second literal                link: where the second table is
 *                 length without extra bits, less LENGTH_MIN
 *
 * Processors shift by the lowest bits of a register. Counts of bits have only zeros above them, so
 * they need not be cut out; 12 is zero where bits of codes are read.
 *
 * Literals are stored and lengths read from an entry whatever it is, as most branches on what comes
 * next would be mispredicted. */
#define LITERAL_BITS 11 /* with which the first tables are looked up */
#define DISTANCE_BITS 9

#define ENTRY_LENGTH ((uint32_t)1 << 13)
#define ENTRY_RARE ((uint32_t)1 << 12)

#define LENGTH_MIN 3
#define LENGTH_MAX 258

enum deflate_rare {
    RARE_LINK,    /* to the second table */
    RARE_END,     /* of the block */
    RARE_INVALID, /* zlib refuses this code, too */
};

/* A first table, and second ones, each of which has at least two codes. */
#define TABLE_SIZE(codes, bits) ((1 << (bits)) + ((codes) / 2 << (DEFLATE_CODE_MAX - (bits))))

struct deflate_tables {
    uint32_t literals[TABLE_SIZE(DEFLATE_LITERALS, LITERAL_BITS)]; /* and lengths */
    uint32_t distances[TABLE_SIZE(DEFLATE_DISTANCES, DISTANCE_BITS)];
};

/* Makes the tables of codes that deflate_read_header returned. */
void deflate_tables_build(struct deflate_tables *tables, const struct deflate_codes *codes);

/* --- parsing ---
 *
 * It may begin at any place in a stream: matches that go back farther than the run have sources
 * before it, at most DEFLATE_WINDOW bytes. */

/* The place where parsing goes on: at the beginning of a block, or inside one if a run or the input
 * ended there. Parsing needs to know nothing else of the input before it. */
struct deflate_position {
    uint64_t bit;
    bool is_inside;               /* a block, of which this is the header; */
    struct deflate_header header; /* if it is stored, `size` bytes of it are left */
};

/* A parser; at first all but its loops is zeroed. It may be used again for any input; one thread at
 * a time. */
struct deflate_parser {
    const struct block_loops *loops;
    uint64_t work;     /* of the last parse: bits of input, and what takes as long as so many */
    uint64_t work_max; /* with more it stops after a block, as if `until` were there; 0: any */
    bool is_fixed;     /* the tables are those of fixed codes */
    struct deflate_tables tables;
};

/* A run gets no more content than this, whatever room it has; less than 2 GiB. */
#define DEFLATE_RUN_CONTENT_MAX ((uint32_t)8 << 20)

/* A run has at least this much room for literals, and for operations. */
#define DEFLATE_CAPACITY 1024

/* Parses from *position on, and moves it to where it stopped. Adds to what the run has; run->reach
 * is how far before what is added its matches begin. The run may be full before it has all that
 * fits.
 *
 * The caller compares where one run ended with where the next one began, and run->reach with the
 * content before it: farther matches are corrupt. */
enum deflate_stop deflate_parse(struct deflate_parser *parser, const struct deflate_input *input,
                                struct deflate_position *position, uint64_t until,
                                struct parsed_run *run);

/* A run that is being filled. It goes from stop to stop, so that loops have little to compare. */
struct filling {
    const struct parsed_run *run;
    const struct deflate_input *input;
    const struct deflate_tables *tables;
    uint64_t bit; /* of the input: the next one of the block */
    struct operation_writer writer;
    unsigned char *literal; /* where the next one goes */
    unsigned char *added;   /* the literals before this one are part of operations */
    /* The stops: there is room for more than one round of a loop takes. */
    unsigned char *literals_stop;
    operation *operations_stop;
};

/* Returns how many literals are not yet part of an operation. */
static inline uint32_t pending_literals(const struct filling *filling)
{
    return (uint32_t)(filling->literal - filling->added);
}

#endif
