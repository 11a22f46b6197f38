/* SPDX-License-Identifier: MIT */
/* Workers that have nothing to read, and what others leave to them, chunks to be counted and tasks:
 * a monitor. */
#ifndef GPUHISTO_IDLE_H
#define GPUHISTO_IDLE_H

#include "source.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* One worker's part; all under the lock. */
struct idle_counter {
    pthread_cond_t wake;
    bool counts; /* it waits, or counts what others donated */
    bool sleeps;
    struct idle_counter *next;
};

/* Something that any worker can do for the one that offers it, and owns it. */
struct task {
    void (*run)(struct task *task);
    struct task *next; /* under the lock */
};

struct idle {
    pthread_mutex_t lock;          /* all that follows */
    struct idle_counter *sleepers; /* the one that counted last comes first */
    unsigned count;                /* of those that count for others */
    struct chunk *donated[DONATED_MAX];
    unsigned donated_count;
    unsigned taken_count; /* of those that were donated and taken, and are not counted yet */
    struct task *tasks, **last_task; /* that nobody has begun, the oldest first */
    uint64_t news;                   /* how often idle_wake_all was called */
};

void idle_open(struct idle *idle);
void idle_close(struct idle *idle);
void idle_counter_open(struct idle_counter *counter);
void idle_counter_close(struct idle_counter *counter);

/* Returns a ticket for idle_wait: taken before looking for something to read. */
uint64_t idle_news(struct idle *idle);

/* Makes every worker that waits look again for something to read. */
void idle_wake_all(struct idle *idle);

/* Waits for a donated chunk, or for news since the ticket, and runs tasks meanwhile. Returns the
 * chunk, to be counted, or NULL. With an older ticket it does not wait. */
struct chunk *idle_wait(struct idle *idle, struct idle_counter *counter, uint64_t ticket);

/* True if a chunk waits to be counted. */
bool idle_is_pending(struct idle *idle);

/* The worker has found something to read. */
void idle_leave(struct idle *idle, struct idle_counter *counter);

/* Donates a chunk, if somebody counts for others and there is room. True if it did. To wake a
 * worker costs a tenth of counting a chunk, so nobody may be woken before others come. */
bool idle_donate(struct idle *idle, struct chunk *chunk);

/* Takes a donated chunk back, so that it is counted now. NULL: there is none. */
struct chunk *idle_acquire(struct idle *idle);

/* A chunk was counted that idle_wait or idle_acquire has returned. */
void idle_counted(struct idle *idle);

/* True if a chunk that was donated is not counted yet. */
bool idle_has_donated(struct idle *idle);

/* Offers a task to whoever is idle, now or later. */
void idle_offer(struct idle *idle, struct task *task);

/* Takes a task back. False: somebody has begun it, and may still be at it. */
bool idle_reclaim(struct idle *idle, struct task *task);

/* Wakes somebody for each donated chunk: the worker that donates will be waiting itself. */
void idle_hurry(struct idle *idle);

#endif
