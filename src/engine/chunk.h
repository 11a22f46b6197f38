/* A chunk: memory of an engine's, on loan to whoever fills it. Input knows no more of engines than
 * this. */
#ifndef GPUHISTO_CHUNK_H
#define GPUHISTO_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;

/* Where the data of a chunk come from. A copy of the data takes a copy of this along. Only texts
 * have more than `bytes`. */
struct origin {
    size_t bytes;      /* of input; a token may have some in two chunks */
    uint64_t sequence; /* chunks in order, from 0 without a gap */
    size_t file;       /* the FILE, counted from 0 */
    const char *name;  /* the FILE as messages name it */
};

struct chunk {
    struct engine *engine; /* whose it is */
    unsigned char *data;   /* cap bytes, the engine's own; of text RECORDS_ROOM more */
    size_t len, cap;       /* bytes: in use, and in all */
    struct origin origin;
    bool fill; /* worth waiting for cap bytes; otherwise take what one read gives */
    bool give; /* its counting is worth giving to another thread that is idle */
};

#endif
