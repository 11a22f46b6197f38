/* SPDX-License-Identifier: MIT */
/* A gzip file decoded by runs and their chain, beside zlib. One thread. */
#ifndef GPUHISTO_TESTS_GZIP_RUNS_H
#define GPUHISTO_TESTS_GZIP_RUNS_H

#include "src/parallel/gzip_pieces.h"

#include <stddef.h>

#define GUNZIPPED_MAX                                                                              \
    ((size_t)25 << 20) /* bytes of content; of files with more, it is not compared */

/* Moves bytes of in[0..len) to the run. Returns how many: less if the run has all it takes. */
size_t gzip_run_fill(struct gzip_run *run, const unsigned char *in, size_t len);

/* Decodes in[0..len) by runs of this piece, many of which are parsed before any is chained, the
 * last one first; and by zlib. Returns NULL or what is wrong, and sets *percent to how many runs
 * were used as they were parsed. */
const char *gunzip_compare(const unsigned char *in, size_t len, size_t piece, unsigned *percent);

#endif
