/* All the input, as chunks: standard input and the FILEs, in order, for any number of readers. */
#ifndef GPUHISTO_SOURCE_H
#define GPUHISTO_SOURCE_H

#include "engine.h"
#include "input.h"

struct source;

/* A source over `count` operands ("-": standard input), which must outlive it; none: standard
 * input. Opens none of them yet. NULL if memory is short. */
struct source *source_open(char *const *operands, size_t count,
                           const struct input_options *options);

/* Chooses the memory for the next chunk, when it is this reader's turn: `serial` tells that readers
 * take turns (a pipe, zstd), not that they read side by side. NULL: there will be no memory. */
typedef struct chunk *source_memory(void *arg, bool serial);

/* Fills the next chunk, in memory that choose(arg, serial) gives; any number of threads. Sets
 * *chunk to that memory, or NULL if none was asked for or had; its len may be 0. *serial as for
 * choose. A chunk never holds bytes of two FILEs. 1: go on; 0: the end of the last FILE; -1: an
 * error, of which source_error tells unless choose gave NULL. After 0 or -1 every further call
 * gives that. */
int source_read(struct source *source, source_memory *choose, void *arg, struct chunk **chunk,
                bool *serial);

/* Bytes that are known to be still to come, from files that are not compressed as far as known; 0
 * for pipes. Any thread; exact only while nobody reads. */
uint64_t source_left(struct source *source);

/* The first error, or NULL; one line that begins with the name. Lives as long as the source. */
const char *source_error(struct source *source);

/* Frees it; no reader may be left. */
void source_close(struct source *source);

#endif
