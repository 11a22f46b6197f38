/* SPDX-License-Identifier: MIT */
/* zstd frames, one after the other, decoded in pieces of several MiB by any number of threads.
 * There are no threads in here: the caller calls these steps, for each piece in this order,
 *
 *     cut       bytes of the file are moved to the piece,       in file order
 *               or only looked at
 *     parse     blocks become operations                        any thread
 *     list      of what the window behind the piece needs       any thread; may be left out
 *     chain     executes that: the window behind is there       in file order
 *     execute   the rest, a part at a time                      any thread
 *     verify    compares with what the frame states             in file order
 *
 * Steps of different pieces may run at the same time; the steps of one piece, and each step that
 * goes in file order, by itself, follow each other through the caller's lock or queue. Only chain
 * needs the pieces before, and only their chain: it alone is serial. A piece without a list is
 * executed as a whole by chain; that costs less processor time, so where its turn has come once it
 * is parsed, leave the list out.
 *
 * Piece i is in slot i % plan.slots. It is cut into its slot once nobody needs what the piece there
 * had: after the content was counted, lent or copied, and verified.
 *
 * What is corrupt, or not understood, needs the fallback: libzstd decodes the frame anew, and has
 * the last word. All content that execute has completed is right up to there: it is what libzstd
 * gives. */
#ifndef GPUHISTO_ZSTD_PIECE_H
#define GPUHISTO_ZSTD_PIECE_H

#include "block_loops.h"
#include "src/hash/xxh64.h"
#include "zstd_blocks.h"

#include <stdatomic.h>

/* --- the plan --- */

struct zstd_piece_plan {
    unsigned slots;   /* pieces that are at hand at the same time */
    unsigned begins;  /* the first so many pieces are smaller, for all workers to begin soon */
    uint32_t content; /* bytes of a piece; about */
    uint32_t few;     /* the same of one with few compressed bytes, as it has its own tables made */
    uint32_t least;   /* bytes of the smallest piece that is worth a list; about */
    uint32_t tail;    /* bytes at the end of a piece that are there once it is chained: a window or
                       * more. So much stands directly before each piece, or all of the frame. */
    bool makes_lists; /* false: pieces are small, list would never find a head */
    size_t memory;    /* bytes that all takes, mostly */
};

/* Plans how so many workers decode a frame within so many bytes of memory. content: bytes of
 * content of a piece, for tests; 0: what is best. False: the frame is not understood, or there is
 * too little memory. */
bool zstd_piece_plan(struct zstd_piece_plan *plan, const struct zstd_frame_header *header,
                     unsigned workers, size_t memory, size_t content);

/* --- a piece --- */

struct zstd_piece {
    struct zstd_run run; /* its blocks, and what they are parsed to */
    /* Set by cut. */
    bool is_first;     /* of its frame, */
    uint64_t stated;   /* which states so many bytes of content, or ZSTD_SIZE_UNKNOWN, */
    bool has_checksum; /* and that; */
    unsigned char checksum[ZSTD_CHECKSUM_SIZE]; /* of the last piece */
    uint64_t bound;                             /* bytes of content that cut took it for */
    unsigned char *touch, *touch_end; /* fresh memory, which parse touches so that chain need not */
    struct parsed_run list;           /* dense: what is executed before the tail */
    struct run_position head; /* the end of what execute executes; chain has executed the rest */
    struct execution before;  /* the state before the piece */
    /* Set by chain: content[0..len), which is complete once execute says so. */
    unsigned char *content;
    uint32_t len;
    uint32_t before_len; /* bytes of the frame that stand directly before content, complete */
    struct run_position executed; /* how far execute has come in the head */
    unsigned block;               /* that it is in */
};

/* --- the frames --- */

/* A decoder. */
struct zstd_pieces {
    struct zstd_piece_plan plan;
    const struct block_loops *loops;
    bool checks;               /* checksums */
    struct zstd_piece *pieces; /* plan.slots of them, */
    unsigned opened;           /* of which so many have memory */
    unsigned char *ring;       /* where content goes */
    size_t ring_len;           /* bytes; more than the plan counts on, and mostly never touched */
    /* cut */
    struct zstd_walk walk; /* of the frame */
    uint64_t cut;          /* pieces */
    size_t touched;        /* bytes of the ring that pieces touch */
    bool is_cutting;       /* the piece has begun */
    unsigned checksum_len; /* bytes of it that have come */
    /* chain: of the frame so far */
    struct repeat_offsets repeat_offsets;
    uint64_t content;    /* bytes */
    uint64_t chained;    /* pieces of all frames */
    atomic_uint density; /* content of pieces, in 1/1024 of what cut took it for */
    /* verify: of the frame so far */
    struct xxh64 hash;
    uint64_t verified;              /* bytes of content */
    atomic_uint_least64_t released; /* pieces of all frames, whose memory is free */
};

/* Opens all memory, and begins the first frame. 0, or -1: out of memory. */
int zstd_pieces_open(struct zstd_pieces *pieces, const struct zstd_piece_plan *plan,
                     const struct zstd_frame_header *header, const struct block_loops *loops,
                     bool checks);
void zstd_pieces_close(struct zstd_pieces *pieces);

/* Goes on with the pieces of another frame, once all of the one before was cut. False: the plan is
 * not for such a frame. */
bool zstd_pieces_begin_frame(struct zstd_pieces *pieces, const struct zstd_frame_header *header);

/* Returns the slot of piece i. */
static inline struct zstd_piece *zstd_piece_at(const struct zstd_pieces *pieces, uint64_t i)
{
    return &pieces->pieces[i % pieces->plan.slots];
}

/* --- steps --- */

/* Moves bytes of in[0..len) to the next piece; those of a frame follow its header. Sets *used to
 * how many: all, unless the piece is complete, WALKED_RUN. If its run is the last, the frame ends
 * there.
 */
enum walked zstd_pieces_cut(struct zstd_pieces *pieces, const unsigned char *in, size_t len,
                            size_t *used);

/* Cuts the next piece of a frame that can be read at any place, and reads only what it must.
 * Sets *len to its bytes, with a checksum behind it. WALKED_RUN, and the caller is to read
 * run.in[0..run.len) before it is parsed; or else as zstd_walk_skim. */
enum walked zstd_pieces_skim(struct zstd_pieces *pieces, const struct zstd_reader *reader,
                             size_t *len);

/* Returns where the bytes that the next piece is cut from can be read to, so that cut need not move
 * them, and sets *len to how many, at least what the block at hand misses. What cut leaves of them
 * stays there until the slot is cut again. */
unsigned char *zstd_pieces_space(struct zstd_pieces *pieces, size_t *len);

/* Completes the next piece with its whole blocks, as no more bytes come for now. Sets *rest and
 * *rest_len to the beginning of another block, to be cut before what follows. False: there are no
 * whole blocks, and the piece goes on. */
bool zstd_pieces_cut_short(struct zstd_pieces *pieces, const unsigned char **rest,
                           size_t *rest_len);

/* Parses a piece that was cut. False: it needs the fallback. */
bool zstd_piece_parse(struct zstd_piece *piece, const struct block_loops *loops);

/* Lists what chain must execute of a parsed piece, if that saves enough. */
void zstd_piece_list(const struct zstd_pieces *pieces, struct zstd_piece *piece,
                     struct zstd_list_scratch *scratch);

/* Opens the memory that a thread needs to list pieces of a plan. 0, or -1: out of memory. */
int zstd_list_scratch_open(struct zstd_list_scratch *scratch, const struct zstd_piece_plan *plan);
void zstd_list_scratch_close(struct zstd_list_scratch *scratch);

enum zstd_chained {
    ZSTD_CHAINED,
    ZSTD_CHAIN_LATER,    /* there is no room before more pieces are verified; not if all were */
    ZSTD_CHAIN_FALLBACK, /* it needs the fallback, and so does all that follows */
};

/* Gives the next piece its place, and executes what is listed, and its tail. */
enum zstd_chained zstd_pieces_chain(struct zstd_pieces *pieces);

/* Executes `max` bytes more of a piece that is chained, or up to a block more, and sets *complete
 * to how many bytes of its content are complete. False: it needs the fallback. */
bool zstd_piece_execute(struct zstd_piece *piece, const struct block_loops *loops, uint32_t max,
                        uint32_t *complete);

/* Adds the next piece, whose content nobody else reads any more, to the checksum of its frame, and
 * frees its memory. False: the frame ends with it, and
 * checksum or content are not what it states. */
bool zstd_pieces_verify(struct zstd_pieces *pieces, const struct zstd_piece *piece);

#endif
