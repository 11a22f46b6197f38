/* SPDX-License-Identifier: MIT */
/* A source that is read into engines to its end. */
#ifndef GPUHISTO_TESTS_SUBMIT_H
#define GPUHISTO_TESTS_SUBMIT_H

#include "src/schedule/schedule.h"

/* Reads and submits chunks until the source ends, as a worker of the pool does. Several threads may
 * do so at once. The sink's `count` is not used. 0, or -1: source_error or the chunk's engine says
 * why. */
int submit_source(struct source *source, const struct sink *sink);

#endif
