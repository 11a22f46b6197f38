/* SPDX-License-Identifier: MIT */
/* A source that is read into engines to its end. */
#ifndef GPUHISTO_TESTS_SUBMIT_H
#define GPUHISTO_TESTS_SUBMIT_H

#include "src/work/source.h"

#include <stdatomic.h>

/* Reads and submits chunks until the source ends, as a worker of the pool does, by a reader of its
 * own. Several threads may do so at once. Adds each chunk that was submitted to *submitted, if that
 * is not NULL. 0, or -1: source_error or the chunk's engine says why. */
int submit_source(struct source *source, const struct source_sink *sink, atomic_uint *submitted);

#endif
