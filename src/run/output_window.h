/* SPDX-License-Identifier: MIT */
/* Content of blocks after it was executed: in the window, hashed in order by idle workers, and
 * borrowed by those who count it. Its memory is used again once all of them are done with it. */
#ifndef GPUHISTO_OUTPUT_WINDOW_H
#define GPUHISTO_OUTPUT_WINDOW_H

#include "src/blocks/block_format.h"
#include "src/blocks/window.h"
#include "src/schedule/engine.h"
#include "src/work/worker.h"

#define PIECES_MAX 64 /* with more in use, content is copied */

/* A piece of content that must not be overwritten. */
struct piece {
    struct borrowed borrowed; /* first: what is borrowed is a piece */
    struct output_window *output;
    const unsigned char *data; /* NULL: the piece is not in use */
    size_t len;
    struct piece *next; /* to be hashed */
};

struct output_window {
    struct job job; /* first: hashes what there is */
    struct work_queue *queue;
    const struct block_format *format;
    void *stream; /* of the format */
    struct window window;

    pthread_mutex_t lock; /* what follows */
    pthread_cond_t changed;
    struct piece pieces[PIECES_MAX];
    struct piece *first, **last; /* to be hashed; the first one may be at it */
    bool is_hashing;             /* the job is offered, or runs */
};

/* Opens a struct whose idle workers, format and stream are set, and whose other members are
 * zeroed. */
void output_window_open(struct output_window *output);

/* Closes it; nothing may be borrowed any more. */
void output_window_close(struct output_window *output);

enum appended {
    APPENDED,
    APPEND_LATER, /* there is no room yet: what is borrowed is still needed */
    APPEND_WRONG, /* a match begins before the content */
};

/* Executes a run that does not need the fallback. Sets *data to its content, run->content bytes,
 * which stay until the next call, and until then may be borrowed. */
enum appended output_window_append(struct output_window *output, const struct block_loops *loops,
                                   const struct parsed_run *run, const unsigned char **data);

/* Lends data[0..len) of the content. NULL: too much is borrowed already. The borrower gives it
 * back, on any thread. */
struct borrowed *output_window_lend(struct output_window *output, const unsigned char *data,
                                    size_t len);

/* True if something is borrowed. */
bool output_window_is_borrowed(struct output_window *output);

/* Waits until something that is borrowed was given back; until all was hashed. */
void output_window_await(struct output_window *output);
void output_window_await_hash(struct output_window *output);

#endif
