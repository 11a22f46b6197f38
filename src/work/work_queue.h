/* SPDX-License-Identifier: MIT */
/* Jobs that any worker may take, chunks that others leave to be counted, and the workers that wait
 * for either: a monitor. */
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

struct worker;

/* The order in which jobs are taken. A worker's own rests come before new pieces, as its cache has
 * what they need; those of others come last. */
enum job_kind {
    JOB_REST,  /* the rest of a piece: its memory is then free for another one */
    JOB_PIECE, /* a piece of a frame or member, or some other part of one */
};

/* Something that any worker can do. Whoever offers it owns it. */
struct job {
    int (*run)(struct job *job, struct worker *worker); /* 0, or -1: the run has failed */
    enum job_kind kind;
    const struct worker *owner; /* of a rest: who has begun the piece */
    struct job *next;           /* under the lock */
};

struct work_queue {
    pthread_mutex_t lock;    /* all that follows */
    struct waiter *sleepers; /* the one that counted last comes first */
    unsigned count;          /* of those that count for others */
    struct chunk *handed_off[HANDED_OFF_MAX];
    unsigned handed_off_count;
    unsigned taken_count; /* of those that were handed off and taken, and are not counted yet */
    struct job *jobs, **last_job; /* that nobody has begun, the oldest first */
    uint64_t news;                /* how often work_queue_wake_all was called */
};

void work_queue_open(struct work_queue *queue);
void work_queue_close(struct work_queue *queue);
void waiter_open(struct waiter *waiter);
void waiter_close(struct waiter *waiter);

/* Returns a ticket for work_queue_wait: taken before looking for something to read. */
uint64_t work_queue_news(struct work_queue *queue);

/* Makes every worker that waits look again for something to read. */
void work_queue_wake_all(struct work_queue *queue);

/* Waits for a chunk that is handed off, a job, or news since the ticket. Returns the chunk, to be
 * counted, or NULL. With an older ticket it does not wait. */
struct chunk *work_queue_wait(struct work_queue *queue, struct waiter *waiter, uint64_t ticket);

/* True if a chunk waits to be counted, or a job to be taken. */
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

/* Offers a job to all workers, and wakes one that waits. */
void work_queue_offer(struct work_queue *queue, struct job *job);

/* Takes the job that a worker should do next; NULL: there is none. */
struct job *work_queue_take(struct work_queue *queue, const struct worker *worker);

/* Takes a job back. False: somebody has begun it, and may still be at it. */
bool work_queue_reclaim(struct work_queue *queue, struct job *job);

/* Wakes somebody for each chunk that is handed off: the worker that hands it off will be waiting
 * itself. */
void work_queue_hurry(struct work_queue *queue);

#endif
