/* SPDX-License-Identifier: MIT */
/* A gzip file decoded by runs and their chain, on one thread. */
#ifndef GPUHISTO_TESTS_GZIP_RUNS_H
#define GPUHISTO_TESTS_GZIP_RUNS_H

#include "execute_bytes.h"

#include <stddef.h>

/* What came of decoding. */
struct gunzipped {
    bool is_whole;            /* the file ends where it may */
    const char *why;          /* NULL, or what is wrong */
    const char *fault;        /* NULL, or what is wrong with the runs themselves */
    size_t passed, used;      /* runs; those that were used as they were parsed */
    struct made_content made; /* in memory of the caller's */
};

/* Decodes in[0..len), in pieces of this size, to content; as many runs as there are pieces are
 * parsed before any is chained, the last one first. Ends when there is no room. */
void gunzip_by_runs(const unsigned char *in, size_t len, size_t piece, struct gunzipped *gunzipped);

#endif
