/* What the files of the source share: source.c (operands, the turn, failure), plain.c (bytes as
 * they are), admission.c (who may decode, and who helps) and decoding.c (compressed bytes).
 *
 * Three locks, in this order; the last two are held for a moment only, and never together:
 *   source.turn           may be held for long: while a stream is read, or memory is waited for.
 *                         That may come free only when readers without the turn go on, so what
 *                         those need is under one of the others.
 *   source.lock           failure, who uses which input, and admission.
 *   source.helpers.lock   see helpers.h. */
#ifndef GPUHISTO_SOURCE_INTERNAL_H
#define GPUHISTO_SOURCE_INTERNAL_H

#include "helpers.h"
#include "source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* An input in use. A reader may still be at an old one when the others have gone on to the next. */
struct open_input {
    struct input input;
    unsigned users; /* `current`, and all readers of a piece; the last one closes it */
};

/* Who may decode: as many readers keep a decoder as their memory allows. */
struct admission {
    bool ended;            /* the last FILE was read */
    bool compressed;       /* the current input is */
    bool in_order;         /* a batch must be decoded in order: it has the current input too */
    unsigned busy;         /* batches that are not wholly decoded */
    unsigned decoders;     /* readers that keep one */
    unsigned decoders_max; /* no more than memory was found for; 0: not known */
    size_t decoder_size;   /* the most bytes that one took so far */
    unsigned stalled;      /* readers that have a batch, but no memory to decode it */
};

struct source {
    char *const *operands;
    size_t count;
    struct input_options options;
    uint64_t size;         /* of all FILEs, bytes; 0: one of them is not a regular file */
    _Atomic uint64_t read; /* of these */
    _Atomic uint64_t left; /* bytes of files, compressed as far as not opened, still to be taken */

    /* Under the turn; but while admission.in_order is set, they belong to the reader of that batch,
     * and a reader that has the turn only looks at them. */
    pthread_mutex_t turn;
    size_t next_operand;
    struct open_input *current;  /* NULL: the next operand must be opened */
    uint64_t sequence;           /* of the next chunk */
    struct foreign_seen foreign; /* FILEs that another program should decompress */

    pthread_mutex_t lock; /* what follows, and open_input.users */
    bool failed;
    struct reason why; /* if failed; empty: choose gave no memory */
    struct admission admission;

    struct helpers helpers;
};

/* A batch of compressed bytes, and its decoder. */
struct decoding {
    struct units units;        /* from one FILE */
    const char *name;          /* that FILE's */
    struct decoder *decoder;   /* opened when first needed, and kept */
    const struct codec *codec; /* what the batch needs; a decoder kept may be another's */
    uint64_t unit_offset;      /* where in the FILE the current unit begins */
    bool in_order;             /* the batch must be decoded in order: it is not UNITS_WHOLE */
    bool pending;              /* the decoder may give more without being fed */
};

struct reader {
    struct source *source;
    struct helper helper;
    struct decoding decoding;
    bool busy;        /* the batch is not wholly decoded */
    bool stalled;     /* and not decoded on until there is memory */
    bool has_decoder; /* and counts among the source's decoders */
};

/* --- source.c --- */

/* Ends the run with a reason, unless one was given before; an empty one: choose gave no memory.
 * -1. */
int source_fail(struct source *source, const struct reason *why);

/* The same: a FILE is named, and memory is short. -1. */
int source_fail_for_memory(struct source *source, const char *name);

bool source_has_failed(struct source *source);

/* Holds an input open, and lets go of it. */
void source_use(struct source *source, struct open_input *open);
void source_leave(struct source *source, struct open_input *open);

/* Goes on to the next operand, in turn. 0 or -1. */
int source_retire(struct source *source);

/* Says that the chunk, which the current input will fill, is the next. */
void source_begin_chunk(struct source *source, struct chunk *chunk);

/* Where to stop filling a chunk that begins with what waited, bytes. Tokens have room of their own
 * for that, so that every chunk gets on. */
size_t source_fill_limit(const struct input *input, const struct chunk *chunk, size_t waited);

/* --- plain.c --- */

/* Reads the next chunk of a FILE that is not compressed; as source_read. In turn, which it ends. */
int plain_read(struct source *source, source_memory *choose, void *arg, struct chunk **chunk,
               enum flow *flow);

/* --- admission.c --- */

/* Whether the reader, which has the turn, may take a batch to decode; otherwise it should help. */
bool admission_enter(struct reader *reader);

/* The reader found no memory for a batch. Whether others have some; then it should help. */
bool admission_refuse(struct reader *reader);

/* The reader has a batch to decode; and has decoded it. */
void admission_begin(struct reader *reader);
void admission_end(struct reader *reader);

/* The reader finds no memory to decode its batch on. Whether others have some; then the reader is
 * stalled until they have given that up. */
bool admission_stall(struct reader *reader);

/* Whether the reader, which is busy, may decode on; otherwise it should help. */
bool admission_resume(struct reader *reader);

/* What is read now: whether it is compressed. */
void admission_set_input(struct source *source, bool compressed);

/* After the last FILE: whether there is still something to decode, or to count for others. */
bool admission_remains(struct source *source);

/* Waits while there is nothing to read or decode. A chunk that another reader gave, or NULL. */
struct chunk *admission_help(struct reader *reader);

/* --- decoding.c --- */

/* Takes the next batch of the current input for this reader, if it may; in turn. 1 or -1. */
int decoding_take(struct reader *reader);

/* Decodes the next chunk of the reader's batch. 1 or -1. */
int decoding_read(struct reader *reader, source_memory *choose, void *arg, struct chunk **chunk);

/* Frees the memory. */
void decoding_drop(struct decoding *decoding);

#endif
