/* SPDX-License-Identifier: MIT */
/* Finds the line of the first invalid sample: a token or field that is not a number, or a line
 * without that field or its key. Engines report chunks in any order; the line is known once every
 * chunk and file before it was counted. */
#ifndef GPUHISTO_ERROR_LOCATOR_H
#define GPUHISTO_ERROR_LOCATOR_H

#include "src/base/error.h"
#include "engine.h"

struct histogram_spec;
struct error_locator;

/* Opens a search for `files` files, of which at most `chunks` chunks are filled or counted at a
 * time and at most `readers` segments are read. The histogram must outlive it. NULL: out of
 * memory. */
struct error_locator *error_locator_open(const struct histogram_spec *spec, size_t files,
                                         size_t chunks, size_t readers);

/* Adds a chunk, once: how many newlines it has, and whether a sample is invalid. Any thread. */
void error_locator_add(struct error_locator *locator, const struct chunk *chunk, uint64_t newlines,
                       bool invalid);

/* Adds a chunk whose newlines and validity are not known, which takes longer. NULL is fine. */
void error_locator_add_unseen(struct error_locator *locator, const struct chunk *chunk);

/* Forgets the chunks of a file, all of which are added anew, divided in another way; what is wrong
 * with them is then found again. NULL is fine. */
void error_locator_forget(struct error_locator *locator, size_t file);

/* True if the first invalid sample and its line are known. Then *what is "NAME: line N: 'TOKEN' is
 * not a number", or what else is wrong; of a shard that does not begin with the file "line N after
 * byte M". Any thread; cheap while there is none. */
bool error_locator_first(struct error_locator *locator, struct error *what);

/* Frees it. NULL is fine. */
void error_locator_close(struct error_locator *locator);

#endif
