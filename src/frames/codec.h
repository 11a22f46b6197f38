/* SPDX-License-Identifier: MIT */
/* The seam to compression formats. A codec is a struct of functions and data, in a file of its own;
 * the table in codec.c lists them. Nothing else in input/ knows a format by name.
 *
 * A compressed file is a chain of units that can be decoded without each other: zstd's frames,
 * gzip's members. A codec that can tell where a unit ends without decoding it has its units decoded
 * side by side, or handed to an engine undecoded; otherwise they are decoded one after the other.
 */
#ifndef GPUHISTO_CODEC_H
#define GPUHISTO_CODEC_H

#include "src/base/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the first bytes of a file say. */
enum codec_magic {
    MAGIC_OTHER, /* not this format */
    MAGIC_MATCH,
    MAGIC_PART, /* these few could begin one: more must be seen */
};

/* How much of a unit a buffer holds. */
enum frame_extent {
    FRAME_WHOLE,
    FRAME_PART,    /* its end is not in the buffer, and is likely to be found in a longer one */
    FRAME_UNKNOWN, /* its end cannot be found: it is corrupt, or the format does not tell */
};

#define FRAME_UNSIZED UINT64_MAX

/* The position in the content `size` bytes after another one; UINT64_MAX if there is none. */
static inline uint64_t content_add(uint64_t position, uint64_t size)
{
    return size > UINT64_MAX - position ? UINT64_MAX : position + size;
}

/* One unit, as seen without decoding it. */
struct codec_frame {
    uint64_t size;    /* compressed bytes: of a whole one; of a part, up to the link at which follow
                       * goes on, or 0: it cannot */
    bool is_stated;   /* of a part: size is that of the whole unit, as its first bytes say */
    size_t trailer;   /* of a part that can be followed: bytes after its last block */
    uint64_t memory;  /* bytes that decoding it must keep at hand; 0: not known */
    uint64_t content; /* bytes that it says it holds, which may be wrong; or FRAME_UNSIZED */
};

enum decode_status {
    DECODE_OK,
    DECODE_FAULT,     /* the reason is set; the decoder is of no more use */
    DECODE_NO_MEMORY, /* likewise; memory that reserve has taken is enough */
};

/* One call of decode. */
struct decode_step {
    const unsigned char *in; /* in_len compressed bytes, which go on where the last step stopped */
    size_t in_len;
    unsigned char *out; /* room for cap bytes, cap > 0 */
    size_t cap;         /* in_len and cap are less than 4 GiB: some libraries count in 32 bits */
    size_t used, made;  /* set: bytes taken of in, and written to out */
};

/* What the command line says about decoding. */
struct codec_options {
    uint64_t memlimit; /* bytes of content that a decoder may have to keep at hand, 1K to 2G */
    bool no_check;     /* checksums of the content need not be verified, where a format has some */
};

/* The first member of every decoder. One thread uses it at a time. */
struct decoder {
    const struct codec *codec;
};

struct codec {
    const char *name;  /* as --decompress and messages call it */
    bool on_gpu;       /* the GPU decompresses it, too (gpu/decoder.h) */
    size_t magic_size; /* bytes that magic wants to see */

    /* Whether a file that begins with head[0..len) is of this format. MAGIC_PART only where len is
     * less than magic_size. */
    enum codec_magic (*magic)(const unsigned char *head, size_t len);

    /* Loads the library that decodes it (src/base/library.h). open does so itself, but cannot say
     * why that fails. 0, or -1 with the reason set. */
    int (*load)(struct reason *why);

    /* Looks at the unit that begins at in[0..len), and sets *unit to what can be seen of it. A
     * format that does not tell where units end always gives FRAME_UNKNOWN. */
    enum frame_extent (*look)(const unsigned char *in, size_t len, struct codec_frame *unit);

    /* Goes on looking for the end of a unit of which look has seen a part, without what lies
     * between: link[0..link_size) are the bytes that stand unit->size bytes after the unit's
     * beginning, and tell how far it is to the next link, or to the end. FRAME_PART and FRAME_WHOLE
     * set unit->size. NULL, and link_size 0, if the format has no such links. */
    enum frame_extent (*follow)(const unsigned char *link, struct codec_frame *unit);
    size_t link_size; /* at most CODEC_LINK_MAX */

    /* A decoder that refuses units which must keep more than options->memlimit bytes of content at
     * hand; a format may round it down, or disregard it if its units never keep much. Takes little
     * memory yet. NULL: out of memory. */
    struct decoder *(*open)(const struct codec_options *options);

    /* Has a decoder begin anew with the unit at in[0..len), whatever it decoded before, and takes
     * the memory that this unit needs, as far as that can be seen: decode then takes no more for
     * it, nor for units after it that need no more. 0, or -1: out of memory, and what the decoder
     * had was freed. */
    int (*reserve)(struct decoder *decoder, const unsigned char *in, size_t len);

    /* Decodes on. A step ends with a unit at the latest, so that what follows a unit is left to the
     * next step. It may give without taking: repeat it with in_len 0 while made is cap and the
     * decoder is not complete. A unit that does not hold what it says is a fault. */
    enum decode_status (*decode)(struct decoder *decoder, struct decode_step *step,
                                 struct reason *why);

    /* Whether the input may end here: after a unit, or before the first. */
    bool (*complete)(const struct decoder *decoder);

    /* Frees it. */
    void (*close)(struct decoder *decoder);
};

/* All codecs, at most CODECS_MAX; NULL ends the table. */
#define CODECS_MAX 8
extern const struct codec *const codecs[];

/* The first bytes of a file that codec_recognise wants to see, at most. */
#define CODEC_MAGIC_MAX 16

/* Bytes of the longest link. */
#define CODEC_LINK_MAX 4

/* Finds the codec whose data begins with head[0..len). MAGIC_MATCH with *codec set; MAGIC_PART if
 * more bytes must be seen; or MAGIC_OTHER. */
enum codec_magic codec_recognise(const unsigned char *head, size_t len, const struct codec **codec);

/* Closes a decoder; NULL is fine. */
static inline void decoder_close(struct decoder *decoder)
{
    if (decoder)
        decoder->codec->close(decoder);
}

#endif
