/* SPDX-License-Identifier: MIT */
/* A gzip file cut into runs of blocks, each of which can be parsed without the others. Nothing says
 * where blocks begin, so the file is cut into pieces of the same size. The blocks that begin in a
 * piece are those of its run, from the first beginning that is found: of a block, or of a member,
 * which has a header. As the last of them ends in the next piece, a run has some of that, too. If
 * members end in the piece, a run goes on with those that follow.
 *
 *      piece             piece             piece
 *     |-----------------|-----------------|------------
 *      run of the first piece   |
 *                       |run of the second piece  |
 *
 * A chain parses all that lies between the end of one run and the beginning of the next. */
#ifndef GPUHISTO_GZIP_PIECES_H
#define GPUHISTO_GZIP_PIECES_H

#include "block_loops.h"
#include "src/codec/codec.h"

#include <stdatomic.h>

#define GZIP_PIECE ((size_t)256 << 10) /* bytes; at most one block of it has to be searched */
#define GZIP_PIECE_MIN ((size_t)4 << 10)

/* Bytes of the next piece that a run has. Most blocks are shorter, and all headers are. */
#define GZIP_BEYOND(piece) ((piece) / 2)

/* Bytes of the next piece for a run that had to be cut: no header is longer. */
#define GZIP_CUT_BEYOND GZIP_BEYOND(GZIP_PIECE_MIN)

#define GZIP_RUN_MAX (GZIP_PIECE + GZIP_BEYOND(GZIP_PIECE))

/* Members that may end within a run, and are followed by another one there. */
#define GZIP_ENDS_MAX 512

struct gzip_end {
    uint32_t content; /* bytes of the run's content before it */
    uint32_t next;    /* byte of `in` with which another member begins */
    uint64_t trailer; /* as gzip_trailer gives it */
};

/* A run. Opened, it can be filled, parsed and filled again. Owns its memory. */
struct gzip_run {
    /* Set by filling. */
    unsigned char *in; /* GZIP_RUN_MAX bytes and DEFLATE_SLACK */
    size_t len, len_max;
    size_t piece;      /* of these, bytes of the piece; all of them if the file ends with it */
    uint64_t at;       /* byte of the file with which the piece begins */
    unsigned number;   /* of the piece */
    atomic_uint *vain; /* the cutter's */
    /* Set by gzip_run_parse. */
    bool is_given_up; /* the budget was spent on beginnings that were none */
    uint64_t begin;   /* bit of `in` with which `parsed` begins; DEFLATE_NONE: nothing was parsed */
    bool is_member;   /* the header of a member begins there, not a block */
    struct gzip_end ends[GZIP_ENDS_MAX];
    unsigned ends_len;
    struct deflate_position end; /* where it ends, in bits of `in` */
    enum deflate_stop stop; /* why; DEFLATE_CORRUPT is no verdict, as the beginning may be wrong */
    struct deflate_parser parser;
    struct parsed_run parsed;
};

/* Opens a run. 0, or -1: out of memory. */
int gzip_run_open(struct gzip_run *run, const struct block_loops *loops);
void gzip_run_close(struct gzip_run *run);

/* Returns the bytes that an open run takes at most. */
size_t gzip_run_memory(void);

/* Parses the blocks that begin in the piece of a complete run, as far as there is room. Any thread;
 * runs are independent of each other. */
void gzip_run_parse(struct gzip_run *run);

/* The cutter of a file into runs; zeroed but for the size, it is at the beginning. */
struct gzip_cutter {
    size_t piece;     /* bytes, from GZIP_PIECE_MIN to GZIP_PIECE */
    uint64_t at;      /* byte of the file with which the next piece begins */
    size_t kept_len;  /* bytes of it that the run before has, too */
    unsigned pieces;  /* so far */
    atomic_uint vain; /* pieces that were searched in vain since a run was of use */
    unsigned char kept[GZIP_BEYOND(GZIP_PIECE)];
};

/* Begins a run, before it is filled, or filled again, up to run->len_max bytes of run->in. */
void gzip_cutter_begin(struct gzip_cutter *cutter, struct gzip_run *run);

/* Completes a run that has all it takes, or less if the file ends there. True if another run
 * follows, perhaps of kept bytes alone. */
bool gzip_cutter_end(struct gzip_cutter *cutter, struct gzip_run *run);

/* Completes a run for which no more bytes come for now: all that it has is its piece. The next run
 * has its last bytes, too, as a header may be cut there. False: the run has nothing that the one
 * before it does not have, and goes on. */
bool gzip_cutter_cut(struct gzip_cutter *cutter, struct gzip_run *run);

/* Completes a run that is filled by its owner: with the next piece of a file of `size` bytes, from
 * run->at on. The bytes to read there are run->len. True if another run follows. */
bool gzip_cutter_claim(struct gzip_cutter *cutter, struct gzip_run *run, uint64_t size);

/* Decides how many of the pieces that follow are searched, once the chain has passed a run, whose
 * parsed blocks were used or not; that is reset. If a run that was used had no room for all of its
 * piece, pieces are halved, but not again for other runs of that size: the chain alone parses the
 * blocks that they have no room for; the same if too many members end in it. If it had plenty,
 * pieces are doubled. */
void gzip_cutter_learn(struct gzip_cutter *cutter, const struct gzip_run *run, bool *was_used);

/* --- the chain --- */

/* Joins the runs of a gzip file in their order: each must begin where the one before it ended. The
 * parts that no run has are parsed here: headers and trailers of members, blocks before the first
 * beginning that was found in a piece, and those for which a run had no room. Nothing is accepted
 * that zlib refuses. */

/* A chain. Opened, it is at the beginning of a file. Owns its memory. */
struct gzip_chain {
    struct gzip_members members;
    struct deflate_position position; /* what comes next, in bits of the file */
    uint64_t cut; /* byte of the file that nobody has yet, and that a block goes on with; 0: none */
    uint64_t member;  /* byte of the file with which the member begins */
    uint64_t content; /* bytes of it so far; the window is the last of them */
    int64_t alone;    /* bytes of content parsed here, less those that runs had; at least 0 */
    bool uses_run;    /* the run at hand was of use; */
    bool has_used;    /* one was so far */
    struct deflate_parser parser;
    struct parsed_run parsed; /* what no run has */
};

enum gzip_chained {
    GZIP_CHAINED, /* *parsed comes next; if it is the run's, members end in it */
    GZIP_ENDED,   /* a member: members.number is what it states, as gzip_trailer gives it */
    GZIP_PASSED,  /* the run is of no more use: the next one is needed, or the file ends */
    GZIP_WRONG,   /* zlib would refuse what comes next, too */
};

/* Opens a chain. 0, or -1: out of memory. */
int gzip_chain_open(struct gzip_chain *chain, const struct block_loops *loops);
void gzip_chain_close(struct gzip_chain *chain);

/* Goes on in a run that was parsed; call it with the same run until it is passed. */
enum gzip_chained gzip_chain_next(struct gzip_chain *chain, const struct gzip_run *run,
                                  const struct parsed_run **parsed);

/* Returns the trailer of a member with so much content, and such a CRC-32. */
static inline uint64_t gzip_trailer(uint64_t content, uint32_t crc)
{
    return content << 32 | crc;
}

/* True if it is worth it to go on, if a member can be begun anew after `again` compressed bytes of
 * it; false: ISA-L alone is faster. */
bool gzip_chain_is_worth_it(const struct gzip_chain *chain, uint64_t again);

#endif
