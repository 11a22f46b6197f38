/* Where the first token of a text stands that is no number: engines tell of their chunks in any
 * order, and the line is known once all that is in front of it was counted. */
#ifndef GPUHISTO_LINES_H
#define GPUHISTO_LINES_H

#include "chunk.h"
#include "src/base/reason.h"

struct lines;

/* For texts of which no more than `chunks` chunks are out at a time. NULL if memory is short. */
struct lines *lines_open(size_t chunks);

/* Takes note of a chunk, each once: the newlines in it, and whether a token in it is no number;
 * then it is searched, if none is known in front of it. Any thread. */
void lines_add(struct lines *lines, const struct chunk *chunk, uint64_t newlines, bool invalid);

/* Whether the first such token and its line are known: all chunks up to it were added. The reason
 * is then a line that names them. Any thread; cheap as long as there is none. */
bool lines_first(struct lines *lines, struct reason *what);

/* Frees it; NULL is fine. */
void lines_close(struct lines *lines);

#endif
