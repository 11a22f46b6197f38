/* SPDX-License-Identifier: MIT */
/* An engine counts chunks: the CPU's worker buffers, or the GPU's pinned slots.
 *
 * The life of a chunk: acquire gives memory, the caller fills it and sets len, submit counts it and
 * takes the memory back. Every function but close may be called by several threads at once. */
#ifndef GPUHISTO_ENGINE_H
#define GPUHISTO_ENGINE_H

#include "chunk.h"
#include "src/count/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_tallies;
struct lines;

/* What of a compressed FILE an engine did not count, when it was asked to settle. */
struct undecoded_rest {
    bool is_left;    /* the FILE is to be decoded from `offset` on; otherwise it ends there */
    uint64_t offset; /* where a unit begins, bytes into the FILE; */
    uint64_t skip;   /* bytes of content after that which were counted, here or before */
    uint64_t index;  /* of the chunk that comes next, as in struct position */
    uint64_t bytes;  /* of content that the engine counted; */
    uint64_t fresh;  /* of these, those that no chunk had before; of pairs, with the tail */
    bool is_wrong;   /* content of the unit at `offset` was counted, but did not have the checksum
                      * that it should have: if the unit is not corrupt, the counts are wrong */
    unsigned char *tail; /* content before that, the beginning of a record that may go on; whoever
                          * asked frees it */
    size_t tail_len;
};

/* Where in a compressed FILE an engine begins. */
struct undecoded_start {
    uint64_t offset;   /* where a unit begins, bytes into the FILE */
    uint64_t skip;     /* bytes of content after that which were counted; a record follows them */
    size_t repeated;   /* of pairs: bytes after these that were in a chunk before, too */
    uint64_t index;    /* of the first chunk, as in struct position */
    uint64_t size;     /* bytes from there to the end of the FILE; 0: nobody knows */
    uint64_t memlimit; /* units that must keep more bytes of content at hand are left */
};

/* What an engine wants next of a compressed FILE. */
struct undecoded_next {
    bool is_wanted; /* otherwise nothing: settle */
    uint64_t at;    /* where in the FILE the next chunk begins; it may be after its end */
    uint64_t need;  /* bytes from there on without which it can do nothing, unless the FILE ends */
    uint64_t kept;  /* nothing before this byte of the FILE will be left to be decoded */
};

/* A compressed FILE whose bytes an engine takes as they are, decompresses and counts; one at a
 * time, by one thread, in order. */
struct undecoded_ops {
    /* Whether begin could take a FILE now, as far as that is known without waiting. */
    bool (*is_free)(struct engine *engine);
    /* Begins a FILE. Memory for its bytes from start->offset on, of the engine that all further
     * calls go to (chunk->engine): this one, or a member of it; NULL: the engine cannot take it
     * now. */
    struct chunk *(*begin)(struct engine *engine, enum coding coding,
                           const struct undecoded_start *start);
    /* Memory for further bytes. NULL: the engine can take no more of the FILE: settle. */
    struct chunk *(*acquire)(struct engine *engine);
    /* Takes a chunk, which begins where a unit does, or a link of one that the last chunk has
     * begun, and is the engine's again at once. Its end is ENDS_FILE if the FILE ends with it.
     * What it ends with need not be whole. Sets *next, with next->at not before the offset. */
    void (*submit)(struct engine *engine, struct chunk *chunk, uint64_t offset,
                   struct undecoded_next *next);
    /* Whether anything of it is still being decompressed or counted. Sees that through, so
     * it should be asked now and then while there is nothing to submit. */
    bool (*is_busy)(struct engine *engine);
    /* Waits until all of it is counted, and says what is left. The engine may then take another
     * FILE at once, from any thread. 0, or -1 as submit of an engine. */
    int (*settle)(struct engine *engine, struct undecoded_rest *rest);
};

struct engine_ops {
    /* An empty chunk; NULL if none is free and !wait, or once the device is lost. */
    struct chunk *(*acquire)(struct engine *engine, bool wait);
    /* Counts the samples in len bytes of the chunk, now or later; the chunk is the engine's again
     * at once. A len of 0 only gives it back, and is reported to lines_add as any other. 0, or -1
     * once the device is lost and may not be replaced. */
    int (*submit)(struct engine *engine, struct chunk *chunk);
    /* Waits for all that was submitted and adds the exact counts to the tally; with engine.files,
     * those of each FILE are there, and of the tally only bytes and newlines are of use. No chunk
     * may be out. 0, or -1 (the tally is then of no use) as submit. Called once. */
    int (*finish)(struct engine *engine, struct tally *tally);
    /* Adds to the tally what was counted so far: of some of the chunks, and of these all. 0, or -1
     * if that is only known at the end (the tally is then of no use). Not after finish. */
    int (*peek)(struct engine *engine, struct tally *tally);
    /* Why the device was lost, or NULL while it is not. The text lives as long as the engine. */
    const char *(*loss)(struct engine *engine);
    /* Frees the engine. No other call may be running. */
    void (*close)(struct engine *engine);
    /* NULL: it decompresses nothing. */
    const struct undecoded_ops *undecoded;
};

/* The first member of every engine. */
struct engine {
    const struct engine_ops *ops;
    struct lines *lines;              /* gets what chunks of text hold (lines_add); or NULL */
    _Atomic uint64_t undecoded_bytes; /* of content that it decompressed by itself and counted */
    struct file_tallies *files; /* gets the samples and counts of each FILE, all of them by the end
                                 * of finish; or NULL */
};

static inline struct chunk *engine_acquire(struct engine *engine, bool wait)
{
    return engine->ops->acquire(engine, wait);
}

static inline int engine_submit(struct chunk *chunk)
{
    return chunk->engine->ops->submit(chunk->engine, chunk);
}

static inline int engine_finish(struct engine *engine, struct tally *tally)
{
    return engine->ops->finish(engine, tally);
}

static inline int engine_peek(struct engine *engine, struct tally *tally)
{
    return engine->ops->peek(engine, tally);
}

static inline const char *engine_loss(struct engine *engine)
{
    return engine->ops->loss(engine);
}

static inline void engine_close(struct engine *engine)
{
    engine->ops->close(engine);
}

#endif
