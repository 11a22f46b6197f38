/* SPDX-License-Identifier: MIT */
/* Readers that have nothing to read, and the chunks that others give them to count: a monitor with
 * its own lock, under which nothing waits but the readers themselves. */
#ifndef GPUHISTO_HELPERS_H
#define GPUHISTO_HELPERS_H

#include "source.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* One reader's part; all under the lock of the helpers. */
struct helper {
    pthread_cond_t wake;
    bool helps; /* waits, or counts what others gave */
    bool idle;
    struct helper *next_idle;
};

struct helpers {
    pthread_mutex_t lock; /* all that follows */
    struct helper *idle;  /* those that wait; the one that counted last comes first */
    unsigned count;       /* of those that help */
    struct chunk *given[SOURCE_GIVEN_MAX];
    unsigned given_count;
    uint64_t news; /* how often helpers_tell was called */
};

void helpers_open(struct helpers *helpers);
void helpers_close(struct helpers *helpers);
void helper_open(struct helper *helper);
void helper_close(struct helper *helper);

/* A ticket for helpers_wait: taken before looking for something to read. */
uint64_t helpers_news(struct helpers *helpers);

/* Has every reader that waits look again for something to read. */
void helpers_tell(struct helpers *helpers);

/* Waits for a chunk that was given, or for news since the ticket. The chunk, or NULL. */
struct chunk *helpers_wait(struct helpers *helpers, struct helper *helper, uint64_t ticket);

/* A chunk that was given, or NULL; does not wait. */
struct chunk *helpers_take(struct helpers *helpers, struct helper *helper);

/* Whether a chunk waits to be counted. */
bool helpers_pending(struct helpers *helpers);

/* The reader has found something to read. */
void helpers_leave(struct helpers *helpers, struct helper *helper);

/* Gives a chunk to be counted, if there is a helper and room. It may wait for others before one is
 * woken: to wake one costs a tenth of counting a chunk. None is forgotten, as every reader looks
 * here once it has nothing to read. */
bool helpers_give(struct helpers *helpers, struct chunk *chunk);

/* Has what was given counted soon: the reader that gives will be waiting itself. */
void helpers_hurry(struct helpers *helpers);

#endif
