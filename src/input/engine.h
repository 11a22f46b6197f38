/* SPDX-License-Identifier: MIT */
/* An engine counts chunks, which are memory that it lends to readers: the CPU's worker buffers, or
 * the GPU's pinned slots.
 *
 * The life of a chunk: acquire gives memory, the caller fills it and sets len, submit counts it and
 * takes the memory back. Every function but close may be called by several threads at once. */
#ifndef GPUHISTO_ENGINE_H
#define GPUHISTO_ENGINE_H

#include "src/text/lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct error;
struct error_locator;
struct file_tallies;
struct histogram_spec;
struct key_tallies;
struct tally;

/* The position of a chunk among all chunks. A file is one or more segments. A reader reads the
 * chunks of a segment in order; segments and files are read side by side. */
struct position {
    size_t file;      /* all three are counted from 0 */
    uint64_t segment; /* of the file */
    uint64_t index;   /* of the segment */
};

/* The parts of the input that may end with a chunk. */
enum chunk_end {
    ENDS_NOTHING,
    ENDS_SEGMENT,
    ENDS_FILE,
};

/* The source of a chunk's data. A copy of the data keeps a copy of it. Only text needs more than
 * `bytes`, `at.file` and the last two. */
struct origin {
    size_t bytes; /* of input; a token may have some in two chunks */
    struct position at;
    enum chunk_end end;
    const char *name;            /* the file as messages name it */
    uint64_t counted_from;       /* bytes of the file, as stored, before what is counted of it */
    struct line_columns columns; /* of lines: of the file */
    bool has_header;             /* the first record is the file's header, which is not counted */
    uint64_t content; /* bytes of the file's content before the chunk's, if that was wanted, */
    uint64_t content_first; /* and before those that are counted */
};

struct chunk {
    struct engine *engine; /* the owner */
    unsigned char *data;   /* cap bytes, and record_slack more for text */
    bool may_borrow;       /* data may be set to other memory, which nobody writes to, until the
                            * chunk is submitted */
    size_t len, cap;       /* bytes in use, and in all */
    size_t begin;          /* of lines: bytes in use before its first record */
    size_t repeated;       /* of pairs: bytes in use that were in the chunk before, too; the next
                            * origin.bytes are its own */
    struct origin origin;
    bool fill; /* wait until there are cap bytes; otherwise take what one read gives */
    bool give; /* an idle thread may count it */
};

struct engine_ops {
    /* An empty chunk; NULL if none is free and !wait, or once the device is lost. */
    struct chunk *(*acquire)(struct engine *engine, bool wait);
    /* Counts the samples in len bytes of the chunk, now or later; the chunk is the engine's again
     * at once. A len of 0 only gives it back, and is reported to error_locator_add as any other. 0,
     * or -1 once the device is lost and may not be replaced. */
    int (*submit)(struct engine *engine, struct chunk *chunk);
    /* Waits for all that was submitted and adds the exact counts to the tally; with engine.files
     * or engine.keys, those of each FILE or key are there, and of the tally only bytes and newlines
     * are of use. No chunk may be out. 0, or -1 (the tally is then of no use) as submit. Called
     * once. */
    int (*finish)(struct engine *engine, struct tally *tally);
    /* Adds to the tally what was counted so far: of some of the chunks, and of these all. 0, or -1
     * if that is only known at the end (the tally is then of no use). Not after finish. */
    int (*peek)(struct engine *engine, struct tally *tally);
    /* Why the device was lost, or NULL while it is not. The text lives as long as the engine. */
    const char *(*loss)(struct engine *engine);
    /* Frees the engine. No other call may be running. */
    void (*close)(struct engine *engine);
};

/* The first member of every engine. */
struct engine {
    const struct engine_ops *ops;
    struct error_locator *locator; /* gets what chunks of text hold (error_locator_add); or NULL */
    struct error_locator *undecided; /* gets the same of lines that the filter cannot decide */
    struct file_tallies *files;      /* gets the samples and counts of each FILE, or of each of its
                                      * blocks, which the GPU does not count; all of them by the end of
                                      * finish; or NULL */
    struct key_tallies *keys; /* gets those of each key, the same way; or NULL. The GPU has none */
};

static inline struct chunk *engine_acquire(struct engine *engine, bool wait)
{
    return engine->ops->acquire(engine, wait);
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

/* --- the line of the first invalid sample: of a token or field that is not a number, or of a line
 * without that field or its key. Engines report chunks in any order; the line is known once every
 * chunk and file before it was counted. --- */

/* Opens a search for `files` files, of which at most `chunks` chunks are filled or counted at a
 * time and at most `readers` segments are read. The histogram must outlive it. NULL: out of
 * memory. */
struct error_locator *error_locator_open(const struct histogram_spec *spec, size_t files,
                                         size_t chunks, size_t readers);

/* Makes it a search for the first line that an expression of the filter cannot decide, which takes
 * the place of an invalid sample. Before any chunk is added. */
void error_locator_seek_undecided(struct error_locator *locator);

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
