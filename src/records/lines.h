/* SPDX-License-Identifier: MIT */
/* Finds the line of the first sample of all texts that is invalid: a token or field that is not a
 * number, or a line without that field. Engines report chunks in any order; the line is known once
 * every chunk before it was counted, and every file before its own. */
#ifndef GPUHISTO_LINES_H
#define GPUHISTO_LINES_H

#include "src/engine/chunk.h"
#include "src/base/reason.h"

struct field;
struct lines;

/* Opens one for samples as `field` has them, which must outlive it, of `files` files, of which at
 * most `chunks` chunks are being filled or counted at a time, and at most `readers` segments are
 * being read. NULL if memory is short. */
struct lines *lines_open(const struct field *field, size_t files, size_t chunks, size_t readers);

/* Adds a chunk, each one once: how many newlines are in it, and whether it has an invalid sample.
 * Only then, and if no earlier one is known, its data are searched. Any thread. */
void lines_add(struct lines *lines, const struct chunk *chunk, uint64_t newlines, bool invalid);

/* The same of a chunk of which neither was counted, which takes longer. Does nothing with NULL. */
void lines_add_unseen(struct lines *lines, const struct chunk *chunk);

/* Whether the first such sample and its line are known, as all chunks up to it were added. Then
 * *what is "NAME: line N: 'TOKEN' is not a number", or what else is wrong with the line; of a shard
 * that does not begin with the file "line N after byte M". Any thread; cheap while there is none.
 */
bool lines_first(struct lines *lines, struct reason *what);

/* Frees it; does nothing with NULL. */
void lines_close(struct lines *lines);

#endif
