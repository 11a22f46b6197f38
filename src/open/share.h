/* SPDX-License-Identifier: MIT */
/* One of N shares of the FILEs: which bytes of which FILE. The FILEs, laid end to end, are cut into
 * ranges of about the same size, by arithmetic on the sizes alone, so that all processes which
 * count a share of the same FILEs make the same cuts. Where records and compressed units are cut
 * follows from these in part.h. */
#ifndef GPUHISTO_INPUT_SHARE_H
#define GPUHISTO_INPUT_SHARE_H

#include "src/base/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which share it is to be. */
struct share_choice {
    uint64_t part, of; /* the part-th of so many, from 1; of is 0: there are no shares */
    bool wants_fingerprints;
    bool is_whole; /* no FILE can be cut: it belongs to the share that has its first byte */
};

/* Bytes [begin, end) of a FILE, as stored, that belong to the share. */
struct share_cut {
    size_t index; /* among all FILEs, from 0 */
    const char *name;
    uint64_t size; /* of the FILE */
    uint64_t begin, end;
    bool wants_fingerprint;
    uint64_t fingerprint; /* if it is wanted: set when the FILE is opened */
};

struct share {
    struct share_choice choice;
    uint64_t files, bytes, digest; /* of all FILEs: how many, the sum of sizes, fingerprint_list */
    struct share_cut *cuts;        /* `count`, in order, owned */
    size_t count;
};

/* Finds the range that a share has of a FILE of `size` bytes, before which `start` of all `bytes`
 * lie. An empty FILE belongs to one share, with the range [0, 0). Whether the share has any. */
bool share_range_of(const struct share_choice *choice, uint64_t bytes, uint64_t start,
                    uint64_t size, uint64_t *begin, uint64_t *end);

/* Errors of share_open. */
#define SHARE_REFUSED (-1) /* what cannot be shared: standard input, a pipe, a directory */
#define SHARE_FAILED (-2)

/* Looks at all FILEs, and cuts them. The names must outlive the share. 0; or one of the errors with
 * a reason, and nothing to close. */
int share_open(struct share *share, const struct share_choice *choice, char *const *names,
               size_t count, struct reason *why);

/* Frees the cuts. */
void share_close(struct share *share);

#endif
