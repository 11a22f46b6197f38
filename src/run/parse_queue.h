/* SPDX-License-Identifier: MIT */
/* A queue of runs of blocks between one worker, which fills and executes them in order, and all
 * idle workers, which parse them. */
#ifndef GPUHISTO_PARSE_QUEUE_H
#define GPUHISTO_PARSE_QUEUE_H

#include "src/blocks/block_format.h"
#include "src/work/worker.h"

struct parse_slot {
    struct job job; /* first: a job is its slot */
    struct parse_queue *queue;
    void *run;      /* of the format */
    bool is_parsed; /* under the lock */
};

struct parse_queue {
    struct work_queue *queue;
    const struct block_format *format;
    const struct block_loops *loops;
    struct parse_slot *slots; /* a ring of `count` */
    unsigned count;
    unsigned first, used; /* `used` slots from the first one on are to be executed */
    pthread_mutex_t lock;
    pthread_cond_t parsed;
};

/* Opens a queue of `count` runs, with the first three members set, and the others zeroed. 0, or -1:
 * out of memory. */
int parse_queue_open(struct parse_queue *queue, unsigned count);

/* Closes a queue, which has no runs. */
void parse_queue_close(struct parse_queue *queue);

/* Returns the run to be filled next; NULL: all are used. */
void *parse_queue_next(const struct parse_queue *queue);

/* Offers the run, which was filled, to idle workers. */
void parse_queue_push(struct parse_queue *queue);

/* Returns the first run, once it is parsed; NULL: there is none. Rather than wait, it parses runs
 * that nobody has begun. */
const void *parse_queue_first(struct parse_queue *queue);

/* Removes the first run, which was executed. */
void parse_queue_pop(struct parse_queue *queue);

/* Drops all runs. Waits for those that are being parsed. */
void parse_queue_clear(struct parse_queue *queue);

#endif
