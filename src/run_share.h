/* SPDX-License-Identifier: MIT */
/* The share of the FILEs that a run counts, and the record of it in the table. */
#ifndef GPUHISTO_RUN_SHARE_H
#define GPUHISTO_RUN_SHARE_H

#include "src/base/reason.h"
#include "src/open/share.h"
#include "src/report/share_record.h"

/* All of it is freed by run_share_close. */
struct run_share {
    struct share share;
    struct share_record record;
    struct share_range part, *ranges; /* a range for each FILE of the record */
    char *names;                      /* of these FILEs, as printable text, one after the other */
};

/* Sets the record once all FILEs of the share were counted. 0, or -1: out of memory. */
int run_share_record(struct run_share *run);

/* Frees the share and the record. Does nothing if both are zeroed. */
void run_share_close(struct run_share *run);

#endif
