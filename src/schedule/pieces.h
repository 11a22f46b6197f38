/* SPDX-License-Identifier: MIT */
/* Frames or members of a file that follow each other, decoded in pieces by every worker that is
 * free:
 *
 *     cut       where the next piece ends            in file order; a stream is read, too
 *     prepare   the piece is parsed                  any worker, any number at once
 *     chain     what the next piece needs of it      in file order
 *     count     its content is made and counted      any worker; first the one that prepared it
 *     retire    its content is verified              in file order
 *
 * Pieces are the slots of a ring. Nobody owns the file: a job takes the next piece, and another one
 * counts a piece that is chained. The last worker that leaves ends the file. */
#ifndef GPUHISTO_PIECES_H
#define GPUHISTO_PIECES_H

#include "worker.h"

/* Compressed bytes of a stream that are kept to begin a frame or member anew: so many of it, and of
 * one that is longer those that were read ahead of what is counted, as the next one may begin
 * there. */
#define PIECES_KEPT_MAX ((uint64_t)32 << 20)
#define PIECES_KEPT_AHEAD ((uint64_t)16 << 20)

enum piece_state {
    PIECE_BEGUN,    /* a worker prepares it */
    PIECE_PREPARED, /* to be chained */
    PIECE_CHAINED,  /* to be counted */
    PIECE_COUNTING, /* the job that counts it is offered, or runs */
    PIECE_DONE,     /* to be retired */
};

/* A piece: the first member of the struct of its format. */
struct piece {
    struct job job; /* first: counts it */
    struct pieces *pieces;
    enum piece_state state; /* under the lock */
    uint64_t offset;        /* of its bytes in the file */
    size_t compressed;      /* how many these are */
    uint64_t anew;          /* byte of the file with which what it ends in is begun anew */
    uint64_t content;       /* set by chain: bytes of content of it; */
    bool has_content;       /* some of it is to be counted, */
    uint64_t segment;       /* as this segment of the file, */
    uint64_t position;      /* before which so many bytes of content stand */
};

/* The point where the codec's own decoder begins anew if it has to. */
struct piece_restart {
    uint64_t offset;   /* where a frame or member begins, */
    uint64_t position; /* and how many bytes of content stand before it; */
    bool is_cut;       /* what begins there ends with the input, too early */
};

/* A file that is decoded in pieces: the first member of the struct of its format. */
struct pieces {
    struct job job; /* first: takes the next piece */
    const struct piece_format *format;
    struct source *source;
    struct file *file;
    uint64_t end;   /* of the file's bytes, as known when it was opened; of a stream the most */
    unsigned count; /* slots */
    size_t memory;  /* bytes that were reserved, to be released after `close` */
    struct piece **slots;
    void **scratch; /* memory for a job, one for each that may run, as the format wants it */

    /* Of the job that cuts: bytes of a stream that were read before; set by `open`. */
    const unsigned char *ahead;
    size_t ahead_len;
    struct error fault; /* of reading it; empty: none */

    pthread_mutex_t lock;            /* what follows */
    uint64_t next, chained, retired; /* pieces that are taken, chained and retired next */
    unsigned scratch_count;          /* of those that no job has */
    unsigned users;                  /* jobs that are offered, or run */
    bool is_offered;                 /* the job that takes a piece is */
    bool has_all;                    /* the last piece is taken */
    bool is_chaining, is_retiring;   /* a worker does */
    bool is_stopped;                 /* nothing more is chained, */
    bool is_enough;                  /* as the range that is counted has ended; if not: */
    struct piece_restart restart;    /* here the codec's decoder goes on */
    bool has_failed;                 /* the run has */
    int64_t read;                    /* compressed bytes that were reported as read */
    uint64_t anew;                   /* of the piece that was retired last */

    uint64_t position; /* bytes of content that were chained; by the worker that chains */
    bool in_order;     /* content must be counted in the order of the file */
};

/* The result of chaining a piece. */
enum piece_chained {
    PIECE_ALL,    /* it has passed the piece */
    PIECE_ENOUGH, /* the range has ended: no more is needed */
    PIECE_LATER, /* pieces before it must be retired first: all, as what comes next is counted while
                  * it is chained (in_order), or some, for their memory */
    PIECE_STOP,  /* the codec's own decoder must go on where `restart` says */
};

struct piece_format {
    /* Opens all for what comes next in a file; sets `slots`, `count`, `scratch`, one for each
     * worker, and `memory`. No job needs more. NULL: memory is short, or it is not worth it. */
    struct pieces *(*open)(struct worker *worker, struct file *file, unsigned workers);
    void (*close)(struct pieces *pieces);

    /* Cuts the next piece, in file order: sets offset and compressed. Reads it, if it is of a
     * stream, by pieces_read. True if another one follows. */
    bool (*cut)(struct pieces *pieces, struct piece *piece);
    /* Reads the piece, unless it was, and parses it. Any thread. What is wrong is seen by chain. */
    void (*prepare)(struct worker *worker, struct pieces *pieces, struct piece *piece);
    /* Finds what chain needs, unless the piece is chained at once; is_behind: chaining is what all
     * wait for. */
    void (*map)(struct worker *worker, struct pieces *pieces, struct piece *piece, bool is_behind);
    /* Chains the piece, in file order; at_once: the worker that prepared it will count it next.
     * Sets what belongs to it, and adds its content to pieces->position. is_next: all pieces before
     * it were counted. */
    enum piece_chained (*chain)(struct worker *worker, struct pieces *pieces, struct piece *piece,
                                bool at_once, bool is_next);
    /* Counts the content of the piece. 0, or -1: the run has failed. */
    int (*count)(struct worker *worker, struct pieces *pieces, struct piece *piece, bool at_once);
    /* Verifies the piece, in file order. False: stop, and go on at *restart. */
    bool (*retire)(struct pieces *pieces, struct piece *piece, struct piece_restart *restart);
    /* Returns where the codec's own decoder can go on after what was chained: behind that, or, with
     * less content before it, where the frame or member begins. at_end: all was chained. */
    struct piece_restart (*restart)(const struct pieces *pieces, bool at_end);
};

extern const struct piece_format piece_format_zstd;
extern const struct piece_format piece_format_gzip; /* only in builds with ISA-L */

/* Begins what extent->file goes on with in pieces, if that pays; its next bytes are in
 * frames.pending. By the worker that has the file to itself, or, if it is the current one, under
 * the read lock. 1: the file is that of its jobs now; 0: it does not pay; or -1: the run has
 * failed. NULL: there is no format for the file's pieces. */
int pieces_acquire(struct extent *extent, const struct piece_format *format, bool is_current);

/* True if what follows in the file is worth it, too, for so many workers, and not small;
 * data[0..len) of *next is what is known of it. By the job that cuts. */
bool pieces_pay_on(const struct pieces *pieces, unsigned workers, const struct frame_batch *next);

/* What pieces_read has returned. */
#define PIECES_DRY (-1) /* nothing comes for now */

/* Reads the next bytes of a stream, for cut, and keeps them as long as what they belong to may have
 * to be begun anew. Unless it is patient, waits only for a moment. Returns the bytes; 0 at the end,
 * after a fault, or once nothing more is wanted; or PIECES_DRY. */
ssize_t pieces_read(struct pieces *pieces, unsigned char *to, size_t cap, bool patient);

/* True if the file can only be read in turn. */
static inline bool pieces_are_of_stream(const struct pieces *pieces)
{
    return !pieces->file->input.bytes.regular;
}

/* Returns the number of the segment that content is counted as which was chained now; of what is
 * counted in order there is only one, which whoever counts has. */
static inline uint64_t pieces_next_segment(struct pieces *pieces)
{
    return pieces->in_order ? 0 : pieces->file->at.segment++;
}

/* True if more content is to be counted after what was chained. */
static inline bool pieces_go_on(const struct pieces *pieces)
{
    return content_left(&pieces->file->input.plan.range, pieces->position, 1) > 0;
}

/* True if what was chained goes on after the range. */
static inline bool pieces_are_beyond(const struct pieces *pieces)
{
    return pieces->position > 0 && pieces->position - 1 > pieces->file->input.plan.range.end;
}

#endif
