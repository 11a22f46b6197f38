/* SPDX-License-Identifier: MIT */
/* zstd's headers (RFC 8878, section 3.1): the one place that reads them, for the cores, the GPU's
 * planner and shards. Pure functions on bytes; any thread. */
#ifndef GPUHISTO_ZSTD_FORMAT_H
#define GPUHISTO_ZSTD_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZSTD_MAGIC_SIZE 4            /* bytes that begin a frame */
#define ZSTD_FRAME_HEADER_MAX 18     /* bytes of a frame's header, magic included */
#define ZSTD_BLOCK_HEADER_SIZE 3     /* bytes */
#define ZSTD_CHECKSUM_SIZE 4         /* bytes, after a frame's last block */
#define ZSTD_BLOCK_MAX (128 << 10)   /* bytes of a block, whatever the window of its frame is */
#define ZSTD_SIZE_UNKNOWN UINT64_MAX /* the header does not state the size of the content */

/* The result of reading a header. */
enum zstd_parsed {
    ZSTD_PARSED,
    ZSTD_SHORT, /* so far it is one: `size` bytes must be there */
    ZSTD_WRONG, /* no frame begins here, or its header or that of a block is not valid */
};

/* The header of a frame, or of a skippable frame. */
struct zstd_frame_header {
    bool is_skippable;
    bool has_checksum;   /* of the content, after the last block */
    uint32_t size;       /* bytes of the header; the first block follows */
    uint32_t dictionary; /* 0: none */
    uint64_t window;     /* bytes; of ZSTD_SHORT, 0 if not seen yet */
    uint64_t content;    /* bytes, or ZSTD_SIZE_UNKNOWN; 0 if skippable */
    uint64_t skipped;    /* if skippable: bytes that follow the header */
};

/* Reads the header that begins at in[0..len). */
enum zstd_parsed zstd_parse_frame(const unsigned char *in, size_t len,
                                  struct zstd_frame_header *header);

enum zstd_stored_type {
    ZSTD_STORED_RAW,
    ZSTD_STORED_RLE,
    ZSTD_STORED_COMPRESSED,
    ZSTD_STORED_RESERVED, /* the data are corrupt */
};

/* The header of a block. */
struct zstd_block_header {
    enum zstd_stored_type type;
    uint32_t size;   /* bytes of content if raw or RLE, otherwise of the compressed block */
    uint32_t stored; /* bytes that follow the header */
    bool is_last;
};

/* Reads the block header at in[0..ZSTD_BLOCK_HEADER_SIZE). */
struct zstd_block_header zstd_parse_block(const unsigned char *in);

/* Returns the bytes that a block of a frame with this window may have, compressed or not. */
uint64_t zstd_block_max(uint64_t window);

/* The parts of a frame, in their order. */
enum zstd_part { ZSTD_HEADER, ZSTD_BLOCK, ZSTD_CHECKSUM };

/* A walk over the parts of frames, one frame after the other; zeroed, it is before a frame. */
struct zstd_parts {
    enum zstd_part next;
    struct zstd_frame_header header; /* the last one that was read */
    struct zstd_block_header block;  /* the same */
};

/* Reads the header of the next part, which begins at in[0..len), and sets *size to the bytes of the
 * part; of a skippable frame, to those of its header. ZSTD_SHORT: *size is more than len, and so
 * many must be there. ZSTD_WRONG: no frame begins here; or the block's type is reserved, or it is
 * larger than its frame allows. */
enum zstd_parsed zstd_part_read(struct zstd_parts *parts, const unsigned char *in, size_t len,
                                uint64_t *size);

/* Goes on behind the part that was read. */
void zstd_part_pass(struct zstd_parts *parts);

#ifdef __cplusplus
}
#endif

#endif
