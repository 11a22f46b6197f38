/* SPDX-License-Identifier: MIT */
/* What must be executed in order of a parsed run of zstd's blocks, and nothing else. Later runs
 * reach back no farther than the run's tail. The tail copies from the head before it, which copies
 * from itself: going backwards with a bit for each byte, one finds the few bytes of the head that
 * the tail needs, directly or through others. They become a list of operations.
 *
 * The list is dense: it makes the needed bytes without gaps, at the beginning of the head's place.
 * So it is executed like any run, and byte b of the head stands at the number of needed bytes
 * before b. The tail's sources are changed accordingly. The last COPY_MAX bytes of the head are all
 * needed, and are moved to where they belong before the tail is executed: a match that begins in
 * the head and ends in the tail is no special case then, nor is one that begins before the run, as
 * the first bytes stand where they belong. */
#ifndef GPUHISTO_ZSTD_LIST_H
#define GPUHISTO_ZSTD_LIST_H

#include "operations.h"

/* An operation of the head that makes needed bytes. */
struct zstd_needed {
    operation op;
    uint32_t at;       /* where its content begins */
    uint32_t literals; /* where its literals begin */
};

/* Memory to make lists in, for one at a time. */
struct zstd_list_scratch {
    uint64_t *bits;  /* a bit for each byte of content that is needed, from the second word on */
    uint32_t *ranks; /* for each word, the bits set in the words before */
    struct zstd_needed *needed;
    size_t needed_max;
};

/* Opens the memory for runs of so much content. 0, or -1: out of memory. */
int zstd_list_scratch_open(struct zstd_list_scratch *scratch, size_t content_max,
                           size_t operations_max);
void zstd_list_scratch_close(struct zstd_list_scratch *scratch);

struct zstd_listing {
    struct parsed_run *run; /* operations of the tail are changed */
    uint32_t tail;          /* bytes of content that later runs may need; at least COPY_MAX */
    struct zstd_list_scratch *scratch;
    /* Set by make_list. */
    struct run_position head; /* its end */
    struct parsed_run list;   /* opened by the caller */
};

#endif
