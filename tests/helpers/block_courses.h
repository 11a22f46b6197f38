/* SPDX-License-Identifier: MIT */
/* Compressed bytes decoded by a block decoder, in steps of any size, with idle workers beside. */
#ifndef GPUHISTO_TESTS_BLOCK_COURSES_H
#define GPUHISTO_TESTS_BLOCK_COURSES_H

#include "src/run/parallel_decoder.h"

#include <pthread.h>
#include <stdatomic.h>

#define HELPERS_MAX 7

/* Idle workers, who help with what is offered. */
struct helpers {
    struct work_queue queue;
    atomic_bool is_over;
    unsigned count;
    pthread_t threads[HELPERS_MAX];
};

void helpers_start(struct helpers *helpers, unsigned count);
void helpers_end(struct helpers *helpers);

/* The course of a decoding. */
struct course {
    size_t in_max, out_max; /* bytes of a step; each has any number of them */
    size_t stop;            /* it is left after so much content; SIZE_MAX: it is not */
    bool hurries;           /* at times, what was taken is given before more is, */
    bool stalls;            /* and so at its end, after which there may be more */
    bool no_check;
};

/* A course that is not left, with steps of at most so much content. */
struct course course_random(size_t out_max);

enum outcome {
    DECODED,  /* all of it */
    FALLBACK, /* the codec's own decoder has to look at it, or can alone decode it */
    CUT,      /* the same, as it ends too early */
    HUNGRY,   /* more follows it */
    STOPPED,  /* it was left */
    STALLED,  /* more of it may follow, and nothing else is given before that */
    FULL,     /* there is no more room, and what follows at once is not FALLBACK */
};

struct block_result {
    enum outcome outcome;
    size_t made;                  /* bytes of content */
    struct block_restart restart; /* unless DECODED, or not even begun */
};

/* Decodes in[0..len) to content[0..cap), as the program does: where all was taken and there is
 * room, the input is ended, and where there is no more room, what follows is looked at. */
struct block_result course_decode(struct parallel_decoder **decoder, struct helpers *helpers,
                                  const struct block_format *format, const struct course *course,
                                  const unsigned char *in, size_t len, unsigned char *content,
                                  size_t cap);

#endif
