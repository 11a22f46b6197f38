/* SPDX-License-Identifier: MIT */
/* Progress of the run on standard error: twice a second if requested, and once for every SIGUSR1
 * (and SIGINFO, where it exists). */
#ifndef GPUHISTO_PROGRESS_H
#define GPUHISTO_PROGRESS_H

#include "src/schedule/schedule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum progress_when {
    PROGRESS_NEVER, /* except for signals */
    PROGRESS_AUTO,  /* if standard error is a terminal */
    PROGRESS_ALWAYS,
};

struct progress {
    struct source *source;
    struct timespec begin;
    bool shown;    /* twice a second */
    bool terminal; /* one line is rewritten */
    double next;   /* when to show it again, in seconds since begin */
    int width;     /* of the line that is on the terminal, in characters */
};

/* Catches and unblocks the signals, which would otherwise end the process; progress_tick answers
 * them. A signal that is ignored stays ignored. Blocking calls continue (SA_RESTART). Before
 * threads and as early as possible. */
void progress_catch_signals(void);

/* Starts the clock. The source must outlive the result. */
struct progress progress_begin(enum progress_when when, struct source *source);

/* Prints what is due. Call it often, with the bytes counted so far, and by one thread at a time. */
void progress_tick(struct progress *progress, uint64_t bytes);

/* Clears the line on the terminal, before a message. */
void progress_end(struct progress *progress);

#endif
