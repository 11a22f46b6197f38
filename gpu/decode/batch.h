/* SPDX-License-Identifier: MIT */
/* A batch of blocks on its way through the stages that decompress it (doc/decoding.md), and what
 * each stage leaves for those after it.
 *
 * The host plans a batch of whole blocks of zstd (plan.h), or cuts a piece of a file of gzip, of
 * which stages make blocks. All memory is reserved for the worst case, so no stage asks for any.
 *
 * Bytes are numbered from the beginning of `in`, content from the first byte to which the batch
 * decodes; both stay below 2^31. Everything is little-endian, as the format is. */
#ifndef GPUHISTO_GPU_DECODE_BATCH_H
#define GPUHISTO_GPU_DECODE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

/* The formats of batches. */
enum decode_format { DECODE_ZSTD, DECODE_GZIP, DECODE_FORMATS };

/* The limits of zstd (RFC 8878), which are enough for gzip. */
#define DECODE_BLOCK_CONTENT (1u << 17) /* bytes of content of a block, at most */
#define DECODE_MATCH_MIN 3u             /* bytes of the shortest match */

/* The largest window, as an offset has 28 bits in a sequence. Larger ones are left to libzstd. */
#define ZSTD_WINDOW_MAX (1u << 27)

#define DECODE_CONTENT_UNKNOWN UINT64_MAX

#define DECODE_CARRY 1024u /* bytes at the beginning of `in` for struct decode_carry */

/* Bytes after the last byte of a batch that may be read, but mean nothing. */
#define DECODE_PADDING 16u

/* The cause for which a block is refused. The GPU refuses all that libzstd or ISA-L refuse, and a
 * little that they take (doc/decoding.md). They then decode the frame again and have the last word.
 */
enum decode_refusal {
    DECODE_TAKEN,
    DECODE_BAD,      /* corrupt, or a checksum that differs, or what only libzstd or ISA-L accept */
    DECODE_TOO_MANY, /* of gzip: members or blocks that are better left to the cores, as one warp
                      * would take them one after the other */
    DECODE_NO_ROOM   /* of gzip: memory is short, so fewer bytes may not be refused; of zstd, the
                      * host knows that before */
};

enum decode_block_type { DECODE_RAW, DECODE_RLE, DECODE_COMPRESSED };

/* A block, as the host finds it. */
struct decode_block {
    uint32_t at;      /* its first byte after its header */
    uint32_t size;    /* compressed bytes; of RLE 1 */
    uint32_t room;    /* bytes of content it may have; raw and RLE blocks have exactly as many */
    uint32_t room_at; /* the sum of the rooms of all blocks before it */
    uint32_t frame;   /* index of its frame in the batch */
    uint32_t type;    /* enum decode_block_type */
    uint32_t sequences_at; /* where its sequences begin in those of the batch */
};

/* A frame, or the part of it that the batch holds. */
struct decode_frame {
    uint64_t content;    /* bytes that its header states, or DECODE_CONTENT_UNKNOWN */
    uint32_t window;     /* bytes, up to ZSTD_WINDOW_MAX */
    uint32_t first;      /* its first block */
    uint32_t blocks;     /* how many the batch holds, at least one */
    uint8_t begins;      /* in this batch; otherwise it is the batch's first frame and goes on */
    uint8_t ends;        /* in this batch; otherwise it is the batch's last frame */
    uint8_t reserved[2]; /* 0 */
};

/* The tables of symbols that a block may take from a block before it. The first three are the FSE
 * tables of sequences, in the order of their modes and descriptions. */
enum decode_table {
    ZSTD_LITERAL_LENGTHS,
    ZSTD_OFFSETS,
    ZSTD_MATCH_LENGTHS,
    ZSTD_HUFFMAN,
    ZSTD_TABLES
};

/* The source of a block's table. For ZSTD_HUFFMAN it is CODED, REPEATED (treeless), or ABSENT if
 * there are no compressed literals. */
enum decode_table_mode {
    ZSTD_PREDEFINED,
    ZSTD_ONE_SYMBOL, /* RLE: `at` is the symbol's byte */
    ZSTD_CODED,
    ZSTD_REPEATED,
    ZSTD_ABSENT /* the block uses no such table and defines none */
};

/* The place where a table is described: if it is repeated, in an earlier block or in the carry.
 * Each stage builds tables from descriptions; tables are never kept. */
struct decode_source {
    uint32_t mode; /* enum decode_table_mode */
    uint32_t at;   /* of CODED and ONE_SYMBOL: where in `in` */
    uint32_t size; /* bytes of the description; of ONE_SYMBOL 1, else 0 */
};

enum decode_literals_type { DECODE_LITERALS_RAW, DECODE_LITERALS_RLE, DECODE_LITERALS_PACKED };

/* The facts that the stage `parse` reads in the headers of a block. Raw and RLE blocks have
 * literals alone. */
struct decode_heading {
    uint32_t literals_type; /* enum decode_literals_type; treeless ones are PACKED too */
    uint32_t literals;      /* how many there are, at most the block's room */
    uint32_t literals_at;   /* raw: the bytes; RLE: the byte; packed: what follows the tree */
    uint32_t literals_size; /* packed: bytes of the streams, the jump table among them */
    uint32_t streams;       /* packed: 1 or 4 */
    uint32_t sequences;     /* how many there are, at most room / DECODE_MATCH_MIN */
    uint32_t bits_at;       /* their stream of bits, up to the end of the block */
    uint32_t defines;       /* the tables that it defines itself: bit t for enum decode_table t */
    struct decode_source tables[ZSTD_TABLES]; /* after `repeats`: never REPEATED */
};

/* A sequence copies literals and then a match. It is stored by where it begins, so both lengths are
 * differences to the next one. A block of n sequences has n + 1 of these. The last one says where
 * the literals after the last match begin. From the lowest bit:
 *
 * - 18 bits: bytes of the block's content before this sequence;
 * - 17 bits: literals of the block before this sequence;
 * - 29 bits: its offset, or how it follows from those before the block (see ZSTD_REPEAT_OFFSETS).
 */
typedef uint64_t decode_sequence;

#define DECODE_LITERALS_SHIFT 18u
#define DECODE_OFFSET_SHIFT 35u

/* An offset in 29 bits. A block does not know the three last offsets before it, but each offset
 * that it repeats is one of them, or one of them less a small number, or one of its own. With
 * ZSTD_REPEAT_OFFSETS set, bits 16 and 17 say which of the three (0 to 2) it is, and the lower 16
 * bits what to take off: at most one for each sequence of the block. Otherwise it is the offset
 * itself, up to ZSTD_WINDOW_MAX. */
#define ZSTD_REPEAT_OFFSETS (1u << 28)
#define ZSTD_REPEAT_OFFSETS_WHICH 16u
#define ZSTD_REPEAT_OFFSETS_LESS 0xffffu

/* A map from the three last offsets before some blocks to those after them. The upper two bits of a
 * word are ZSTD_CONSTANT if that offset is the number in its other bits; otherwise it is the offset
 * that they name (0 to 2), less that number. Numbers stay below 2^28, so that two can be added;
 * what is larger than any window is ZSTD_WINDOW_MAX + 1. */
#define ZSTD_CONSTANT 3u
#define ZSTD_WHICH_SHIFT 30u
struct zstd_offsets_map {
    uint32_t position[3];
};

/* The outcome of decoding a block. */
struct decode_outcome {
    uint32_t refusal;              /* enum decode_refusal */
    uint32_t content;              /* bytes; from `sequences` */
    uint32_t content_at;           /* where they begin in the batch; from `place` */
    uint32_t reach;                /* bytes of the frame before the block, at most ZSTD_WINDOW_MAX;
                                    * from `place` */
    struct zstd_offsets_map after; /* from `sequences` */
    uint32_t before[3];            /* the three last offsets before it; from `place` */
};

/* The state that a batch takes over from the one before, at the beginning of `in`. The stage `keep`
 * leaves it for the next batch: `kept` always, the rest if a frame goes on. For the first batch
 * `kept` is 0. */
struct decode_carry {
    uint64_t before;                          /* bytes of the frame's content so far */
    uint32_t repeat_offsets[3];               /* the three last ones */
    uint32_t kept;                            /* bytes of content right before `out` */
    struct decode_source tables[ZSTD_TABLES]; /* `at` points into `described`; ABSENT: none yet */
    uint8_t described[ZSTD_TABLES][160];      /* no description is longer than 129 bytes */
};

#define DECODE_NONE UINT32_MAX

/* The verdict on a batch, for the host. The stage `place` begins it, `link` and `copy` may refuse
 * another block, and after `keep` it is final. */
struct decode_verdict {
    uint32_t refused; /* a block that is refused, or DECODE_NONE. Of several it is any: tiles are
                       * left as soon as one is bad */
    uint32_t refusal; /* why: enum decode_refusal */
    uint32_t content; /* bytes, if no block is refused */
    uint32_t tail;    /* bytes after the last whole record (matches.cuh) */
    uint32_t last;    /* the last four bytes of content, or all of fewer: the last one highest */
};

/* The numbers of blocks and frames in a batch, if stages find them out. */
struct decode_counts {
    uint32_t blocks, frames; /* at least one of each */
};

/* --- gzip ---
 *
 * A batch is any piece of the file. Each begins GZIP_MARGIN bytes before the end of the one before,
 * which are enough for anything that must be there as a whole.
 *
 * Bits are numbered from the lowest one of the byte after the carry, in[DECODE_CARRY], and stay
 * below 2^31. */

#define GZIP_WINDOW (32u << 10) /* bytes: the farthest distance */
#define GZIP_MARGIN 4096u       /* bytes */
#define GZIP_HEADER_MAX 320u    /* bytes that have the header of a block, wherever it begins */

/* The most places where blocks may begin: `sort` has them in shared memory. */
#define GZIP_CANDIDATES_MAX 8192u

/* The budget of the parts of candidates: they may read so many times the bytes of the batch. A
 * header, or a window that lanes decode together, counts as GZIP_STEP_WORK bytes more. */
#define GZIP_WORK 4u
#define GZIP_STEP_WORK 32u

/* A unit: a part of a block, which has a block's place in the stages that follow. */
#define GZIP_UNIT_CONTENT (1u << 17) /* bytes of content, at most */

/* The kind of a place in the blocks of a member. */
enum gzip_inside {
    GZIP_AT_BLOCK,  /* a block begins there */
    GZIP_IN_CODES,  /* a code of the block whose header is at `header` does */
    GZIP_IN_STORED, /* the next one of `left` bytes of a stored block does */
};

struct gzip_position {
    uint32_t bit;
    uint32_t inside;  /* enum gzip_inside */
    uint32_t header;  /* GZIP_IN_CODES: the bit with which the block begins, or GZIP_CARRIED: its
                       * header is in the carry */
    uint32_t left;    /* GZIP_IN_STORED */
    uint32_t is_last; /* the block around is the last one of its member */
};
#define GZIP_CARRIED UINT32_MAX

/* The size of a segment: units in a row, whose content one CUDA block copies from its beginning to
 * its end. The first one begins at a multiple of GZIP_SEGMENT bytes of content or after it. */
#define GZIP_SEGMENT (1u << 19)

/* A symbol: a byte, or with GZIP_FROM_WINDOW one of the GZIP_WINDOW bytes before the segment, from
 * the farthest on. */
#define GZIP_FROM_WINDOW 0x8000u

/* The cause that ended a part. */
enum gzip_stop {
    GZIP_STOP_NONE,
    GZIP_STOP_FOUND, /* a candidate begins there */
    GZIP_STOP_ENDED, /* the last block of a member has ended there */
    GZIP_STOP_CUT,   /* the batch ends before the header or the code there does, or with it */
    GZIP_STOP_BAD,   /* what is there is corrupt */
    GZIP_STOP_FULL,  /* memory is short */
    GZIP_STOP_MANY,  /* more blocks, or more work, are not worth it: a core is faster */
};

/* A part: blocks that follow each other, from a candidate on or as the chain has parsed them. */
struct gzip_part {
    uint32_t stop;            /* enum gzip_stop */
    struct gzip_position end; /* where it stopped */
    uint32_t next;            /* GZIP_STOP_FOUND: the candidate */
    uint32_t units;           /* how many */
    uint32_t content;         /* bytes, saturated */
    uint32_t is_chained;      /* from `chain` on: its units are content of the batch; */
    uint32_t first; /* of these the number of the first one, in the order of the content */
    uint32_t frame; /* and the frame, a member, of which they are */
};

struct gzip_unit {
    uint32_t part, ordinal; /* part index, and the index within that part */
    uint32_t content;       /* bytes, at most GZIP_UNIT_CONTENT */
    uint32_t sequences;     /* how many, without the last one, which has literals alone */
    uint32_t sequences_at;  /* the first one in those of the batch: sequences + 1 of them */
    uint32_t literals;      /* how many */
    uint32_t literals_at;   /* in those of the batch; of a stored block, in `in` */
    uint32_t is_stored;
};

/* A member: what it states at its end, if that is in the batch; and the CRC-32 of its content in
 * the batch, without the bits that CRC-32 begins and ends with. */
struct gzip_member {
    uint32_t stated_crc, stated_size;
    uint32_t crc;
};

/* The numbers of these so far. They are zero before the first stage. */
struct gzip_counters {
    uint32_t candidates; /* found; those beyond the room are not there */
    uint32_t next;       /* the candidate that is parsed next */
    uint32_t units;
    uint32_t sequences, literals; /* places that are taken, of those in the batch */
    uint32_t work;                /* of parts of candidates; see GZIP_WORK */
    uint32_t refusal;             /* of the whole batch, from `chain`: enum decode_refusal */
};

/* The state of the chain. */
enum gzip_state {
    GZIP_FIRST,   /* at the beginning of the file */
    GZIP_BLOCKS,  /* in a member, at or in its blocks */
    GZIP_TRAILER, /* at the eight bytes after its blocks */
    GZIP_NEXT,    /* after a member */
    GZIP_ZEROS,   /* in the padding after the last one */
    GZIP_REFUSED, /* what comes before was refused */
};

/* The state that a batch leaves for the next one, beside struct decode_carry. Bits count from the
 * next batch. `chain` writes all but the last two members. */
struct gzip_carry {
    uint32_t state; /* enum gzip_state */
    struct gzip_position position;
    uint64_t before;      /* bytes of the member's content so far */
    uint32_t shift;       /* the bit of `header` with which the block around begins */
    uint32_t reserved[3]; /* for the alignment of what follows */
    uint32_t
        header[GZIP_HEADER_MAX / 4]; /* if a code of it comes next; at a multiple of 16 bytes */
    uint32_t crc; /* of the member so far, as in struct gzip_member; from `verify` */
};
#define GZIP_CARRY_AT 64u /* bytes into the carry */

/* The memory of these stages on the device. */
struct gzip_batch {
    uint32_t *candidates;        /* [candidates_max]: bits, in order after `sort` */
    struct gzip_part *parts;     /* [parts_max]: more than there may be candidates */
    struct gzip_unit *units;     /* [units_max] */
    struct gzip_member *members; /* [frames_max] */
    struct gzip_counters *counters;
    uint32_t *segments;      /* [room / GZIP_SEGMENT + 1]: the first unit of each, in their order */
    uint16_t *symbols;       /* [room]: in what is left of the memory of sequences */
    uint32_t candidates_max; /* up to GZIP_CANDIDATES_MAX */
    uint32_t parts_max, units_max; /* units: below 2^15, so that their content is below 2^32 */
    uint32_t blocks_max, frames_max;
    uint32_t sequences_max, literals_max; /* what the batch has places for */
    uint32_t is_end;                      /* the file ends with the batch */
};

/* --- all of a batch --- */

/* The memory of a batch on the device, which stages read and write. Content before the batch, as
 * much as the first frame's window may reach back to, is right before `out`. Up to DECODE_PADDING
 * bytes after `literals` and `out` may be read and mean nothing. */
struct decode_batch {
    enum decode_format format;
    unsigned char *in;            /* the carry, then compressed bytes, then the padding */
    uint32_t in_size;             /* bytes, without the padding */
    uint32_t blocks, frames;      /* how many, if `counts` is null */
    struct decode_counts *counts; /* otherwise stages write them there, and these arrays: of gzip */
    uint32_t room;                /* the sum of all blocks' rooms */
    uint32_t frame_room;          /* the most that blocks of one frame have of it */
    bool begins;                  /* its first frame begins in it; the host cannot read `frame` */
    const struct decode_block *block; /* [blocks] */
    const struct decode_frame *frame; /* [frames] */
    struct decode_heading *heading;   /* [blocks] */
    struct decode_outcome *outcome;   /* [blocks] */
    unsigned char *literals;          /* [room]: those of a block from its room_at on */
    decode_sequence *sequences; /* [room / DECODE_MATCH_MIN + 2 * blocks], those of a block from its
                                 * sequences_at on */
    uint32_t *links;            /* [room]: a byte's value, or where it is copied from */
    unsigned char *out;         /* [room]: the content */
    struct decode_verdict *verdict;
    uint32_t *frame_ends;    /* [frames]: where their content ends; from `keep` */
    uint32_t keep_min;       /* bytes of content that the next batch has before `out` in any case */
    struct gzip_batch gzip;  /* if it is gzip */
    unsigned char *next;     /* the beginning of `in` of the next batch: its carry */
    unsigned char *next_out; /* and its `out`, other memory than this one's: the window goes right
                              * before it */
};

#ifdef __CUDACC__
#define DECODE_ON_BOTH __host__ __device__
#else
#define DECODE_ON_BOTH
#endif

/* A batch with room for so many frames of the size of its largest is copied frame by frame
 * (`copy`), others byte by byte (`link` and `follow`). A frame is copied at 0.6 GB/s, and the
 * others do 57 (H200), so fewer frames would gain nothing. */
#define DECODE_FRAMES_TO_COPY 96u

static inline bool decode_copies_frames(const struct decode_batch *batch)
{
    return batch->frame_room <= batch->room / DECODE_FRAMES_TO_COPY;
}

/* True if a batch's matches need nothing of the batch before, so that they need not wait for it.
 * The host plans batches of many frames so that no frame is cut, where it can. */
static inline bool decode_stands_alone(const struct decode_batch *batch)
{
    return batch->begins && decode_copies_frames(batch);
}

/* Returns where the sequences of the index-th block begin, which has `room_at` bytes of room before
 * it. A block has up to room / DECODE_MATCH_MIN + 1 sequences. */
static inline uint32_t decode_sequences_at(uint32_t room_at, uint32_t index)
{
    return room_at / DECODE_MATCH_MIN + 2 * index;
}

/* These return how many blocks, and frames, a batch has, and what it takes over from the one
 * before: in all formats, and of gzip beside that. Those that stages count can be read on the
 * device only. */
static DECODE_ON_BOTH inline uint32_t decode_block_count(const struct decode_batch *batch)
{
    return batch->counts ? batch->counts->blocks : batch->blocks;
}

static DECODE_ON_BOTH inline uint32_t decode_frame_count(const struct decode_batch *batch)
{
    return batch->counts ? batch->counts->frames : batch->frames;
}

static DECODE_ON_BOTH inline const struct decode_carry *
decode_carry_of(const struct decode_batch *batch)
{
    return (const struct decode_carry *)batch->in;
}

static DECODE_ON_BOTH inline const struct gzip_carry *
gzip_carry_of(const struct decode_batch *batch)
{
    return (const struct gzip_carry *)(batch->in + GZIP_CARRY_AT);
}

#endif
