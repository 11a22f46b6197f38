/* SPDX-License-Identifier: MIT */
/* The headers of deflate's blocks (RFC 1951, section 3.2): the one place that reads them. Places in
 * a stream are counted in bits: bit 0 is the lowest one of byte 0. Pure functions; any thread. */
#ifndef GPUHISTO_DEFLATE_FORMAT_H
#define GPUHISTO_DEFLATE_FORMAT_H

#include "src/base/byte_word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEFLATE_WINDOW (32 << 10) /* bytes: the farthest distance */
#define DEFLATE_SLACK 32          /* bytes after the input that are readable, whatever they hold */
#define DEFLATE_LITERALS 288      /* codes of literals and lengths; the last two are never valid */
#define DEFLATE_DISTANCES 32      /* codes of distances; the last two are never valid */
#define DEFLATE_END 256           /* the code that ends a block; those after it are lengths */
#define DEFLATE_CODE_MAX 15       /* bits */
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

enum deflate_type {
    DEFLATE_STORED,
    DEFLATE_FIXED,
    DEFLATE_DYNAMIC,
    DEFLATE_RESERVED, /* the data are corrupt */
};

/* The result of reading. */
enum deflate_read {
    DEFLATE_READ,
    DEFLATE_SHORT, /* the input ends before what is read does */
    DEFLATE_WRONG, /* zlib would refuse it, too */
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

/* Returns the next code of so many bits, in the order of the stream: 1 is added to its highest bit,
 * and carried to lower ones. */
static inline unsigned deflate_code_after(unsigned code, unsigned bits)
{
    const unsigned zeros = ~code & ((1u << bits) - 1);
    if (zeros == 0)
        return 0;
    const unsigned highest = 1u << (31 - __builtin_clz(zeros));
    return (code & (highest - 1)) | highest;
}

/* Reads the header of the block that begins at *bit, and moves *bit behind it if it could be read.
 */
enum deflate_read deflate_read_header(const struct deflate_input *input, uint64_t *bit,
                                      struct deflate_header *header);

/* Reads the codes of a dynamic block, and moves *bit behind them; or, if they cannot be read, to
 * where that was seen. */
enum deflate_read deflate_read_codes(const struct deflate_input *input, uint64_t *bit,
                                     struct deflate_codes *codes);

#endif
