/* SPDX-License-Identifier: MIT */
/* The functions that a compression format implements, and the headers of the formats. A compressed
 * file is a chain of frames that can be decoded without each other: zstd's frames, gzip's members.
 * If a codec can tell where one ends without decoding it, they are decoded side by side, or on a
 * GPU; otherwise one after the other. */
#ifndef GPUHISTO_CODEC_H
#define GPUHISTO_CODEC_H

#include "src/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The result of comparing the first bytes of a file with a format. */
enum codec_magic {
    MAGIC_OTHER, /* not this format */
    MAGIC_MATCH,
    MAGIC_PART, /* these few could begin one: more must be seen */
};

/* The extent of a frame, as far as a part of it tells. */
enum frame_extent {
    FRAME_WHOLE,   /* where it is, perhaps after the part */
    FRAME_PART,    /* nothing yet; a longer part probably does */
    FRAME_UNKNOWN, /* it cannot be found: data are corrupt, or the format does not tell */
};

#define FRAME_UNSIZED UINT64_MAX

/* Returns position + size, or UINT64_MAX if that is too large. */
static inline uint64_t content_add(uint64_t position, uint64_t size)
{
    return size > UINT64_MAX - position ? UINT64_MAX : position + size;
}

/* One frame, as seen without decoding it. */
struct codec_frame {
    uint64_t size;    /* FRAME_WHOLE: compressed bytes; FRAME_PART: those up to the link at which
                       * follow goes on, or 0 if it cannot */
    size_t trailer;   /* FRAME_PART: bytes after its last block */
    uint64_t memory;  /* bytes of content that its decoder keeps; 0: not known */
    uint64_t content; /* bytes of content that it states, perhaps wrongly; or FRAME_UNSIZED */
};

enum decode_status {
    DECODE_OK,
    DECODE_FAULT,     /* the error is set; the decoder must not be used again */
    DECODE_NO_MEMORY, /* as DECODE_FAULT, but never for a frame whose memory was reserved */
};

/* The error of a frame whose end is elsewhere, after "corrupt gzip data ". */
#define FRAME_MISSTATED "(it does not end where its header says)"

/* One call of decode. */
struct decode_step {
    const unsigned char *in; /* in_len compressed bytes, from where the last step stopped */
    size_t in_len;
    unsigned char *out; /* room for cap bytes, cap > 0 */
    size_t cap;         /* in_len and cap are less than 4 GiB: some libraries count in 32 bits */
    bool is_followed;   /* others decode what follows: the end that peek has found must be right */
    size_t used, made;  /* set: bytes taken of in, and written to out */
};

/* The options of the command line about decoding. */
struct codec_options {
    uint64_t memlimit;        /* bytes of content that a decoder may keep, 1K to 2G */
    bool no_check;            /* checksums of the content need not be verified */
    const char *instructions; /* the kernels whose instruction set loops may use; NULL: any */
};

/* The first member of every decoder. One thread uses it at a time. */
struct decoder {
    const struct codec *codec;
};

struct codec {
    const char *name; /* as --decompress and messages call it */
    double gpu_rate; /* bytes of content a second that a GPU decompresses (gpu/decode/decoder.h); 0:
                      * none does */
    double gpu_rate_unchecked; /* the same of frames whose content has no checksum to verify */
    unsigned together;         /* workers that decode one file, and hardly wait for each other */
    bool is_chain; /* whether a frame may follow depends on those before: once in order, a file is
                    * decoded so to its end */

    /* Returns whether a file that begins with head[0..len) is of this format. MAGIC_PART only if
     * len is less than CODEC_MAGIC_MAX. */
    enum codec_magic (*magic)(const unsigned char *head, size_t len);

    /* Loads the library that decodes it (src/base/library.h). open does this too, but cannot say
     * why it fails. 0, or -1 with the error set. */
    int (*load)(struct error *error);

    /* Sets *frame to what is known without decoding of the frame that begins at in[0..len). A
     * format that does not tell where frames end always returns FRAME_UNKNOWN. */
    enum frame_extent (*peek)(const unsigned char *in, size_t len, struct codec_frame *frame);

    /* Looks further for the end of a frame, after FRAME_PART. link[0..link_size) are the bytes at
     * frame->size of the frame: the header of a block, or of the next frame. They tell where the
     * next link is, or the end. Sets frame->size as peek does. NULL if the format has no links. */
    enum frame_extent (*follow)(const unsigned char *link, struct codec_frame *frame);
    size_t link_size; /* at most 64 */

    /* Opens a decoder that refuses frames for which it must keep more than options->memlimit bytes
     * of content. A format may round that down, or ignore it if it never keeps much. NULL: out of
     * memory. */
    struct decoder *(*open)(const struct codec_options *options);

    /* Resets a decoder to the beginning of the frame at in[0..len), and takes the memory that this
     * frame needs, as far as that can be seen. decode takes no more for it, nor for later frames
     * that need no more. is_first: no frame is before it; otherwise anything may come that may
     * follow one. 0, or -1: out of memory, and what the decoder had was freed. */
    int (*reserve)(struct decoder *decoder, const unsigned char *in, size_t len, bool is_first);

    /* Decodes on. A step ends with a frame at the latest. It may write without reading: repeat it
     * with in_len 0 while made is cap and the decoder is not complete. A frame that does not hold
     * what it states is a fault. */
    enum decode_status (*decode)(struct decoder *decoder, struct decode_step *step,
                                 struct error *error);

    /* True if the file may end here: after a frame, or before the first. */
    bool (*complete)(const struct decoder *decoder);

    /* Frees a decoder. */
    void (*close)(struct decoder *decoder);
};

/* All codecs, at most CODECS_MAX; NULL ends the table. */
#define CODECS_MAX 8
extern const struct codec *const codecs[];
extern const struct codec codec_zstd; /* by libzstd; skippable frames are frames, too */
extern const struct codec codec_gzip; /* only in builds with ISA-L */

#define CODEC_MAGIC_MAX 16 /* the most first bytes of a file that codec_recognise needs */

/* Finds the codec whose data begins with head[0..len). MAGIC_MATCH with *codec set; MAGIC_PART if
 * more bytes must be seen; or MAGIC_OTHER. */
enum codec_magic codec_recognise(const unsigned char *head, size_t len, const struct codec **codec);

/* Closes a decoder; NULL is fine. */
static inline void decoder_close(struct decoder *decoder)
{
    if (decoder)
        decoder->codec->close(decoder);
}

/* --- zstd's headers (RFC 8878, section 3.1): the one place that reads them, for the cores, the
 * GPU's planner and shards. Pure functions on bytes; any thread. --- */

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
static inline uint64_t zstd_block_max(uint64_t window)
{
    return window < ZSTD_BLOCK_MAX ? window : ZSTD_BLOCK_MAX;
}

/* Returns the largest window that libzstd takes within a limit: it counts them in powers of two. */
static inline uint64_t zstd_window_max(uint64_t memlimit)
{
    return UINT64_C(1) << (63 - __builtin_clzll(memlimit | 1));
}

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

/* --- gzip's members (RFC 1952) but for their blocks: headers, trailers, and what is between them.
 * All of that may come in any number of parts. Pure functions on bytes; any thread. --- */

#define GZIP_MAGIC_SIZE 3 /* bytes, with the only method of compression there is */

extern const unsigned char gzip_magic[GZIP_MAGIC_SIZE];

/* The parts of a gzip file, in their order. Those of a header are optional but for the first. */
enum gzip_at {
    GZIP_AT_FIRST, /* the first member */
    GZIP_AT_FIXED, /* magic, method, flags, time, extra flags, operating system */
    GZIP_AT_EXTRA_SIZE,
    GZIP_AT_EXTRA,
    GZIP_AT_NAME,
    GZIP_AT_COMMENT,
    GZIP_AT_CHECKSUM, /* of the header */
    GZIP_AT_BLOCKS,
    GZIP_AT_TRAILER, /* CRC-32 and length of the content */
    GZIP_AT_NEXT,    /* another member, padding or the end */
    GZIP_AT_ZEROS,   /* more padding, or the end */
};

/* A walk over members; zeroed, it is at the beginning of a file. Who decodes the blocks of a member
 * sets `next` behind them, to GZIP_AT_TRAILER or GZIP_AT_NEXT. */
struct gzip_members {
    enum gzip_at next;
    size_t at;       /* bytes of this part that have come */
    unsigned flags;  /* of the header: the parts that it has */
    uint32_t crc;    /* of the header so far */
    uint64_t number; /* the last size, checksum or trailer, as far as it has come */
};

/* Takes bytes in[0..len) up to blocks, or behind a trailer or padding, and adds their number to
 * *used. Zero bytes after a member are padding, as on tape: only more of them may follow. NULL; or
 * what is wrong with the bytes from there on, and the walk is of no more use. */
const char *gzip_members_read(struct gzip_members *members, const unsigned char *in, size_t len,
                              size_t *used);

/* True if the next byte is of no member that has begun, so the file may end here. */
bool gzip_members_are_complete(const struct gzip_members *members);

/* Returns the CRC-32 of bytes that have the given one, 0 if there are none, and data[0..len) after
 * them. By ISA-L: only in builds with it, after codec_gzip.load. Any thread. */
uint32_t gzip_checksum(uint32_t before, const unsigned char *data, size_t len);

/* Returns the CRC-32 of bytes that have `before`, followed by `len` bytes that have `crc`. */
uint32_t gzip_checksum_join(uint32_t before, uint32_t crc, uint64_t len);

#ifdef __cplusplus
}
#endif

#endif
