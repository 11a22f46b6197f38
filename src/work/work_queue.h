/* SPDX-License-Identifier: MIT */
/* Workers that have nothing to read, and what others leave to them, chunks to be counted and tasks:
 * a monitor. */
#ifndef GPUHISTO_WORK_QUEUE_H
#define GPUHISTO_WORK_QUEUE_H

#include "source.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* One worker's part; all under the lock. */
struct waiter {
    pthread_cond_t wake;
    bool counts; /* it waits, or counts what others handed off */
    bool sleeps;
    struct waiter *next;
};

/* Something that any worker can do for the one that offers it, and owns it. */
struct task {
    void (*run)(struct task *task);
    struct task *next; /* under the lock */
};

struct work_queue {
    pthread_mutex_t lock;    /* all that follows */
    struct waiter *sleepers; /* the one that counted last comes first */
    unsigned count;          /* of those that count for others */
    struct chunk *handed_off[HANDED_OFF_MAX];
    unsigned handed_off_count;
    unsigned taken_count; /* of those that were handed off and taken, and are not counted yet */
    struct task *tasks, **last_task; /* that nobody has begun, the oldest first */
    uint64_t news;                   /* how often work_queue_wake_all was called */
};

void work_queue_open(struct work_queue *queue);
void work_queue_close(struct work_queue *queue);
void waiter_open(struct waiter *waiter);
void waiter_close(struct waiter *waiter);

/* Returns a ticket for work_queue_wait: taken before looking for something to read. */
uint64_t work_queue_news(struct work_queue *queue);

/* Makes every worker that waits look again for something to read. */
void work_queue_wake_all(struct work_queue *queue);

/* Waits for a chunk that is handed off, or for news since the ticket, and runs tasks meanwhile.
 * Returns the chunk, to be counted, or NULL. With an older ticket it does not wait. */
struct chunk *work_queue_wait(struct work_queue *queue, struct waiter *waiter, uint64_t ticket);

/* True if a chunk waits to be counted. */
bool work_queue_is_pending(struct work_queue *queue);

/* The worker has found something to read. */
void work_queue_leave(struct work_queue *queue, struct waiter *waiter);

/* Hands off a chunk, if somebody counts for others and there is room. True if it did. To wake a
 * worker costs a tenth of counting a chunk, so nobody may be woken before others come. */
bool work_queue_hand_off(struct work_queue *queue, struct chunk *chunk);

/* Takes a chunk back that was handed off, so that it is counted now. NULL: there is none. */
struct chunk *work_queue_acquire(struct work_queue *queue);

/* A chunk was counted that work_queue_wait or work_queue_acquire has returned. */
void work_queue_counted(struct work_queue *queue);

/* True if a chunk that was handed off is not counted yet. */
bool work_queue_has_handed_off(struct work_queue *queue);

/* Offers a task to whoever is idle, now or later. */
void work_queue_offer(struct work_queue *queue, struct task *task);

/* Runs a task that nobody has begun. False: there is none. */
bool work_queue_run_task(struct work_queue *queue);

/* Takes a task back. False: somebody has begun it, and may still be at it. */
bool work_queue_reclaim(struct work_queue *queue, struct task *task);

/* Wakes somebody for each chunk that is handed off: the worker that hands it off will be waiting
 * itself. */
void work_queue_hurry(struct work_queue *queue);

#endif
