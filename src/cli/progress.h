/* How far the run is, on standard error: now and then if that is wanted, and once for every SIGUSR1
 * (and SIGINFO, where there is one). */
#ifndef GPUHISTO_PROGRESS_H
#define GPUHISTO_PROGRESS_H

#include "src/input/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum progress_when {
    PROGRESS_NEVER, /* but for signals */
    PROGRESS_AUTO,  /* if standard error is a terminal */
    PROGRESS_ALWAYS,
};

struct progress {
    struct source *source;
    struct timespec begin;
    bool shown, terminal; /* now and then; rewriting one line */
    double next;          /* seconds, when to show it again */
    int width;            /* of the line that stands on the terminal, in characters */
};

/* From here on the signals are noted, and answered by progress_look; before, they would kill. One
 * that is ignored stays so. Blocking calls go on (SA_RESTART). */
void progress_catch_signals(void);

/* The source must outlive it. */
struct progress progress_begin(enum progress_when when, struct source *source);

/* To be called often, with a struct progress and the bytes counted so far: prints what is due. */
void progress_look(void *progress, uint64_t bytes);

/* Clears the line; messages may follow. */
void progress_end(struct progress *progress);

#endif
