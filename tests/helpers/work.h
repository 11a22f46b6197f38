/* SPDX-License-Identifier: MIT */
/* How much work src/blocks does, counted by what gets in between its files: a program that is
 * linked with it wraps the functions of WORK_WRAPPED in tests/local.mk. One thread. */
#ifndef GPUHISTO_TESTS_WORK_H
#define GPUHISTO_TESTS_WORK_H

#include <stdint.h>

/* What was done since it was zeroed. */
struct work {
    uint64_t tried;      /* bits with which a block of deflate may begin */
    uint64_t headers;    /* bits of headers that were read for that */
    uint64_t parsed;     /* bits of blocks of deflate, */
    uint64_t operations; /* and what was made of them */
    uint64_t blocks;     /* of deflate; of zstd in runs */
    uint64_t tables;     /* that were made: entries of all; */
    uint64_t again;      /* of these, of those that runs of zstd make again */
    uint64_t runs;       /* of zstd */
    uint64_t executed;   /* bytes of content */
};

extern struct work work;

/* With more steps than this, the process ends with status 1 at once, so that a test fails before it
 * has taken hours. At first there is no limit. */
extern uint64_t work_max;
extern const char *work_of; /* what the message names */

/* Returns all of it as steps of about the same time. */
uint64_t work_steps(void);

/* The same of what is done for runs of zstd, rather than for blocks. */
uint64_t work_steps_of_runs(void);

#endif
