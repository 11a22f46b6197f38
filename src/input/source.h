/* All the input, as chunks: standard input and the FILEs, in order, for any number of readers. */
#ifndef GPUHISTO_SOURCE_H
#define GPUHISTO_SOURCE_H

#include "src/engine/chunk.h"
#include "input.h"

#include <pthread.h>

struct source;
struct zstd_stream;

/* A source over `count` operands ("-": standard input), which must outlive it; none: standard
 * input. Opens none of them yet. NULL if memory is short. */
struct source *source_open(char *const *operands, size_t count,
                           const struct input_options *options);

/* How the bytes come that a chunk is filled with. */
enum flow {
    FLOW_FILE, /* readers read side by side, and it is known how much is left */
    FLOW_PIPE, /* readers take turns */
    FLOW_ZSTD, /* readers decompress side by side as far as there are frames, or count for others */
};

/* Who reads: a thread's own, and of its size only because it lies on that thread's stack. */
struct reader {
    struct source *source;
    bool busy;                /* frames are not wholly decoded yet */
    struct raw frames;        /* compressed bytes, from one FILE */
    const char *name;         /* that FILE's */
    bool has_decoder;         /* and counts among the source's decoders */
    bool pending;             /* the decoder may give more without being fed */
    struct zstd_stream *zstd; /* opened when first needed */
    pthread_cond_t wake;      /* the rest: under the source's lock */
    bool helps;               /* and counts among the source's helpers */
    bool idle;
    struct reader *next_idle;
};

/* Filled chunks that may wait for one who counts them, beside one for each reader. */
#define SOURCE_GIVEN_MAX 8

/* Makes *reader one of the source's; it may not move. */
void reader_open(struct reader *reader, struct source *source);

/* Gives back what it has. The reader's thread reads no more, and all its chunks are submitted. */
void reader_close(struct reader *reader);

/* Chooses the memory for the next chunk, or waits for it. NULL: there will be none. */
typedef struct chunk *source_memory(void *arg, enum flow flow);

/* The next chunk to be submitted, filled by this reader, in memory that choose(arg, *flow) gives,
 * or by another: who decompresses goes on with that while others have nothing to do but count. Each
 * thread has its own reader, and takes its chunks before it stops, or others may wait for ever.
 * Sets *chunk, or NULL if there is none; its len may be 0. It never holds bytes of two FILEs. 1: go
 * on; 0: the end of the last FILE; -1: an error, of which source_error tells unless choose gave
 * NULL. After 0 or -1 every further call gives that. */
int source_read(struct reader *reader, source_memory *choose, void *arg, struct chunk **chunk,
                enum flow *flow);

/* Bytes that are known to be still to come, from files that are not compressed as far as known; 0
 * for pipes. Any thread, also inside choose; without waiting. */
uint64_t source_left(struct source *source);

/* How much of the FILEs' bytes was read, 0 to 1; 0 where one is not a regular file. Compressed
 * bytes count as they are. Any thread, without waiting. */
double source_share(struct source *source);

/* The first error, or NULL; one line that begins with the name. Lives as long as the source. */
const char *source_error(struct source *source);

/* Frees it; no reader may be left. */
void source_close(struct source *source);

#endif
