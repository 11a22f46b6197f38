/* SPDX-License-Identifier: MIT */
/* Content of blocks after it was executed: in the window, hashed in order by idle workers, and lent
 * to those who count it. Its memory is used again once all of them are done with it. */
#ifndef GPUHISTO_EXECUTED_H
#define GPUHISTO_EXECUTED_H

#include "src/blocks/block_format.h"
#include "src/blocks/window.h"
#include "src/engine/chunk.h"
#include "src/work/work_queue.h"

#define PIECES_MAX 64 /* with more in use, content is copied */

/* A piece of content that must not be overwritten. */
struct piece {
    struct lent lent; /* first: what is lent is a piece */
    struct executed *executed;
    const unsigned char *data; /* NULL: the piece is not in use */
    size_t len;
    struct piece *next; /* to be hashed */
};

struct executed {
    struct task task; /* first: hashes what there is */
    struct work_queue *queue;
    const struct block_format *format;
    void *stream; /* of the format */
    struct window window;

    pthread_mutex_t lock; /* what follows */
    pthread_cond_t changed;
    struct piece pieces[PIECES_MAX];
    struct piece *first, **last; /* to be hashed; the first one may be at it */
    bool is_hashing;             /* the task is offered, or runs */
};

/* Opens a struct whose idle workers, format and stream are set, and whose other members are
 * zeroed. */
void executed_open(struct executed *executed);

/* Closes it; nothing may be lent any more. */
void executed_close(struct executed *executed);

enum appended {
    APPENDED,
    APPEND_LATER, /* there is no room yet: what is lent is still needed */
    APPEND_WRONG, /* a match begins before the content */
};

/* Executes a run that does not need the fallback. Sets *data to its content, run->content bytes,
 * which stay until the next call, and until then may be lent. */
enum appended executed_append(struct executed *executed, const struct block_loops *loops,
                              const struct parsed_run *run, const unsigned char **data);

/* Lends data[0..len) of the content. NULL: too much is lent already. The borrower gives it back, on
 * any thread. */
struct lent *executed_lend(struct executed *executed, const unsigned char *data, size_t len);

/* True if something is lent. */
bool executed_is_lent(struct executed *executed);

/* Waits until something that is lent was given back; until all was hashed. */
void executed_await(struct executed *executed);
void executed_await_hash(struct executed *executed);

#endif
