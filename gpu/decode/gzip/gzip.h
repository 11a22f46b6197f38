/* SPDX-License-Identifier: MIT */
/* A batch of gzip bytes, and what the stages of gzip (doc/decoding.md) leave for each other.
 *
 * The host knows neither blocks nor members, so a batch is any piece of the file, and they are cut
 * anywhere. The next batch goes on with what was cut: so each begins GZIP_MARGIN bytes before the
 * end of the one before, which are enough for the header of a block and for anything else that must
 * be there as a whole.
 *
 * Bits are numbered from the lowest one of the byte after the carry, in[DECODE_CARRY], and stay
 * below 2^31. */
#ifndef GPUHISTO_GPU_DECODE_GZIP_GZIP_H
#define GPUHISTO_GPU_DECODE_GZIP_GZIP_H

#include <stdint.h>

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

#endif
