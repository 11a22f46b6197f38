/* SPDX-License-Identifier: MIT */
/* A run while deflate's blocks are parsed to it. */
#ifndef GPUHISTO_DEFLATE_FILLING_H
#define GPUHISTO_DEFLATE_FILLING_H

#include "deflate_tables.h"
#include "operations.h"

/* The cause that stopped parsing. If parsing began at a true beginning, the output so far is right,
 * whatever the cause. */
enum deflate_stop {
    DEFLATE_REACHED, /* a block ended at `until` or after it, and another one follows */
    DEFLATE_ENDED,   /* the last block ended; of one block: it did */
    DEFLATE_FULL,    /* the run has no room; of one block: a stop was reached */
    DEFLATE_CUT,     /* the input ends before a block does */
    DEFLATE_CORRUPT, /* what comes next zlib would refuse, too */
};

/* More room than one round of a loop takes. */
#define LITERALS_MARGIN 16
#define OPERATIONS_MARGIN 32

/* A run that is being filled. It goes from stop to stop, so that loops have little to compare. */
struct filling {
    const struct parsed_run *run;
    struct operation_writer writer;
    unsigned char *literal; /* where the next one goes */
    unsigned char *added;   /* the literals before this one are part of operations */
    /* The stops: there is room for LITERALS_MARGIN or OPERATIONS_MARGIN more. */
    unsigned char *literals_stop;
    operation *operations_stop;
};

/* The symbols of a block, as they are parsed. */
struct symbols {
    const struct deflate_input *input;
    const struct deflate_tables *tables;
    uint64_t bit; /* the next one; changed */
};

/* Returns how many literals are not yet part of an operation. */
static inline uint32_t pending_literals(const struct filling *filling)
{
    return (uint32_t)(filling->literal - filling->added);
}

#endif
