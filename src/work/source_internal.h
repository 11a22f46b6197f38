/* SPDX-License-Identifier: MIT */
/* What the files of the source share: source.c (the FILEs, the turn, failure), plain.c (bytes as
 * they are), admission.c (who may decode, and who helps), decoding*.c (compressed bytes),
 * undecoded.c and takeover.c (compressed bytes for an engine).
 *
 * Three locks, in this order; the last two are held for a moment only, and never together:
 *   source.turn           may be held for long: while a stream is read, or memory is waited for.
 *                         That may come free only when readers without the turn go on, so what
 *                         those need is under one of the others.
 *   source.lock           failure, which inputs are open and who uses them, and admission.
 *   source.helpers.lock   see helpers.h. */
#ifndef GPUHISTO_SOURCE_INTERNAL_H
#define GPUHISTO_SOURCE_INTERNAL_H

#include "helpers.h"
#include "src/records/seams.h"
#include "source.h"
#include "src/engine/engine.h"
#include "gpu/decoder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

/* An input in use. A reader may still be at an old one when the others have gone on to the next. */
struct open_input {
    struct input input;
    struct position at;      /* of the next chunk, if it is not compressed; otherwise the segment of
                              * the next batch */
    uint64_t content;        /* bytes of content before that batch, as far as it must be known */
    struct seams seams;      /* of a compressed one, if records can be cut */
    bool is_wrong;           /* what an engine decompressed by itself was wrong, if it can be
                              * decoded at all */
    bool in_stream;          /* it is decoded as one stream: input.records has where that was cut */
    bool is_takeable;        /* an engine could decompress it by itself, as far as known at first */
    bool is_left;            /* an engine left it, or could not begin: it is not offered again */
    unsigned users;          /* the source, and all readers of a piece; the last one closes it */
    struct open_input *next; /* in source.parked */
};

/* The largest decoder, in bytes, that a reader keeps when it goes on to something else. */
#define DECODER_KEPT ((size_t)16 << 20)

/* Memory for decoding, and descriptors: both are bounded, and may be short. */
struct admission {
    size_t used, limit;          /* bytes that all readers have reserved, and may reserve */
    unsigned inputs, inputs_max; /* open ones; how many there may be, 0: not known */
    unsigned busy;               /* batches that are not wholly decoded */
};

/* Of FILEs that an engine could decompress by itself. Any thread. */
struct compressed {
    _Atomic uint64_t opened;   /* bytes of all regular FILEs that were opened, */
    _Atomic uint64_t takeable; /* and of those such FILEs, as they are; */
    _Atomic int64_t left;      /* of the latter, bytes that were not decoded */
    _Atomic uint64_t unopened; /* bytes of FILEs that were not opened, as they are */
    _Atomic uint64_t in, out;  /* bytes that were decoded, and of content that they gave */
};

/* Of pipes, what source_stream_content tells. Any thread. */
struct streamed {
    _Atomic uint64_t in, out; /* bytes that were decoded, and of content that they gave; */
    _Atomic uint64_t ns;      /* how long that took */
    _Atomic uint64_t again;   /* of that content, what a frame has given that could begin anew, */
    _Atomic uint64_t left;    /* and has still to give; both 0: there is none */
    _Atomic uint64_t kept;    /* bytes of it that are kept */
};

struct operand {
    struct held file;
    size_t number;         /* as given, from 0; of a share, among those that it has */
    struct share_cut *cut; /* what the share has of it; NULL: there are no shares */
    uint64_t size;         /* of a regular file, bytes to read as far as known; otherwise 0 */
    bool is_alone; /* not opened while another input is open: a stream that is read in order, whose
                    * writer may count on that, and standard input, which may be given twice */
};

/* FILEs of which all lines end with carriage returns alone; zeroed, there are none. */
struct one_line {
    const char *name; /* of the first one */
    size_t number;    /* where it stands among the FILEs */
    size_t count;     /* how many there are */
};

struct source {
    struct operand *operands; /* `count`, in the order in which they are read */
    size_t count;
    struct input_options options;
    uint64_t size;          /* of all FILEs, bytes to read; 0: one of them is not a regular file */
    _Atomic uint64_t read;  /* of these */
    atomic_bool is_unsized; /* how many of these are to be read is not known, as a range of the
                             * content of a compressed FILE is counted */
    _Atomic uint64_t left;  /* bytes of files, compressed as far as not opened, still to be taken */
    struct compressed compressed;
    struct streamed streamed;

    /* Under the turn; the first two are changed under `lock` as well. */
    pthread_mutex_t turn;
    size_t opened;               /* operands */
    struct open_input *current;  /* what is read in turn; NULL: another input must be found */
    struct foreign_seen foreign; /* FILEs that another program should decompress */
    bool has_decoded;            /* one of the FILEs is decompressed */

    pthread_mutex_t lock;      /* what follows, and open_input.users */
    atomic_bool failed;        /* set under it */
    struct reason why;         /* if failed; empty: choose gave no memory */
    struct one_line one_line;  /* FILEs that are one line */
    uint64_t changes;          /* of `current` */
    struct open_input *parked; /* were decoded in order for a while; may be `current` again */
    struct admission admission;

    struct helpers helpers;
};

/* A batch of compressed bytes, and its decoder. */
struct decoding {
    struct units units;      /* from one FILE */
    struct open_input *open; /* that FILE; NULL: no batch */
    struct decoder *decoder; /* opened when first needed, and kept */
    struct position at;      /* of the next chunk */
    struct records records;  /* where the chunk before was cut, unless the FILE is one stream */
    struct span *span;       /* what the batch begins and ends with; NULL: nothing can be cut */
    struct gpu_decoder *undecoder; /* decompresses the FILE by itself; NULL: this decoding does */
    struct compressed_next undecoded_next; /* what it wants next of the FILE */
    struct wide_read *wide;                /* reads that, if it is a regular file; or NULL */
    uint64_t noted;                        /* compressed bytes of the FILE that source.read has */
    bool is_taken_over;                    /* by the undecoder, within the batch; then, */
    uint64_t counted;                      /* bytes of the segment that were counted before */
    unsigned waits;        /* chunks that the batch goes on to be taken over, whatever units follow;
                            * 0: it does not */
    uint64_t skip;         /* bytes of content that come again, and were counted */
    struct timespec began; /* when the batch was, if it is decoded in order */
    uint64_t unit_offset;  /* where in the FILE the current unit begins, */
    uint64_t unit_made;    /* and how many bytes of content it has given, */
    uint64_t unit_stated;  /* of those that it states, or UNIT_UNSIZED */
    bool may_keep;         /* of a pipe, the bytes of units are kept from their beginning on */
    uint64_t begin;        /* bytes of content before the current segment, likewise */
    uint64_t content;      /* bytes that were decoded, of the current segment */
    bool in_stream;        /* the FILE is; it may become that while other batches are decoded */
    bool in_order;         /* the batch is not UNITS_WHOLE: the input is this reader's own */
    bool pending;          /* the decoder may give more without being fed */
    bool over;             /* the batch was decoded, but its heading may wait to be given out */
};

/* What a reader has to wait for. */
enum shortage {
    SHORT_OF_NOTHING,
    SHORT_OF_MEMORY, /* until others give some back */
    SHORT_OF_FILES,  /* until an input is closed, or all are */
    SHORT_OF_INPUT, /* all FILEs were opened: until one is parked, or nothing is decoded any more */
};

struct reader {
    struct source *source;
    struct helper helper;
    struct decoding decoding;
    struct span *seams; /* records that this reader put together, to be given out; of one FILE */
    struct origin seams_origin; /* their FILE */
    bool busy;                  /* the batch is not wholly decoded */
    enum shortage shortage;
    size_t reserved;  /* bytes; under the source's lock */
    size_t wanted;    /* SHORT_OF_MEMORY: bytes */
    bool wants_alone; /* SHORT_OF_FILES: what is to be opened is not opened beside others */
    uint64_t changes; /* of the current input, when the reader found that it is short */
};

/* --- source.c --- */

/* Ends the run with a reason, unless one was given before; an empty one: choose gave no memory.
 * -1. */
int source_fail(struct source *source, const struct reason *why);

/* The same: a FILE is named, and memory is short. -1. */
int source_fail_for_memory(struct source *source, const char *name);

bool source_has_failed(struct source *source);

/* Makes an input, or none, the current one, in turn. Whoever is short of something looks again. */
void source_set_current(struct source *source, struct open_input *open);

/* Holds an input open, and lets go of it. */
void source_use(struct source *source, struct open_input *open);
void source_leave(struct source *source, struct open_input *open);

/* The first line of a FILE, the number-th as they were given, ends with the FILE and has carriage
 * returns in it. */
void source_note_one_line(struct source *source, const char *name, size_t number);

/* The input was read to its end by whoever has it to itself, or the turn: lets go of it. 0 or -1.
 */
int source_retire(struct source *source, struct open_input *open);

/* Leaves an input, which this reader has had to itself, to whoever has the turn next. */
void source_park(struct source *source, struct open_input *open);

/* Says where a chunk stands that the input will fill, and goes on to the next position. */
void source_begin_chunk(const struct open_input *open, struct position *at, struct chunk *chunk);

/* Where to stop filling a chunk that begins with what waited, bytes. Tokens have room of their own
 * for that, so that every chunk gets on. */
size_t source_fill_limit(const struct input *input, const struct chunk *chunk, size_t waited);

/* --- plain.c --- */

/* Reads the next chunk of a FILE that is not compressed; as source_read. In turn, which it ends. */
int plain_read(struct source *source, const struct source_sink *sink, struct chunk **chunk,
               enum flow *flow);

/* --- admission.c --- */

/* Reserves bytes for a batch and its decoder, beside what others have; what the reader has reserved
 * before counts. If there is not so much, the reader gives up all that it has, should help, and
 * wants so much. Whether it has it. */
bool admission_reserve(struct reader *reader, size_t size);

/* The system has no memory for what the reader has reserved, which it gives up. Whether others have
 * some, so that it can be tried again; then the reader should help. */
bool admission_refuse(struct reader *reader);

/* Gives back what the reader has reserved, if that is more than `most` bytes. */
void admission_release(struct reader *reader, size_t most);

/* The reader has a batch to decode, and is busy; and has decoded one. */
void admission_begin(struct reader *reader);
void admission_end(struct reader *reader);

/* An input is to be opened: whether there may be one more, otherwise the reader should help; and
 * was closed, or not opened. */
bool admission_open(struct reader *reader, bool is_alone);
void admission_close(struct source *source);

/* No descriptor was left to open the input. Whether other inputs are open, so that it can be tried
 * again once one is closed; then the reader should help. */
bool admission_refuse_file(struct reader *reader);

/* After the last FILE: whether there is still something to decode, or to count for others; then the
 * reader should help. */
bool admission_remains(struct reader *reader);

/* Waits for what the reader is short of. A chunk that another reader gave, or NULL. */
struct chunk *admission_help(struct reader *reader);

/* --- decoding_batch.c --- */

/* Takes the next batch of the current input for this reader, if it may; in turn. 1 or -1. */
int decoding_take(struct reader *reader, const struct source_sink *sink);

/* Before a stream is waited for: all that there is should be counted, also what it begins with. So
 * what comes is another segment. 1 or -1. */
int decoding_pause(struct reader *reader);

/* The batch was decoded. 1 or -1. */
int decoding_end(struct reader *reader);

/* Takes all that is left of an input that this reader has to itself, as one stream. 1 or -1. */
int decoding_take_rest(struct reader *reader, struct open_input *open);

/* --- undecoded.c --- */

/* Takes the current input, which nothing has been read of, for an engine that decompresses it by
 * itself; in turn. Returns 1 if it was taken, 0 if there is no such engine or it cannot be used,
 * and -1 if reading failed. */
int undecoded_take(struct reader *reader, const struct source_sink *sink);

/* Has the engine take the next bytes of that input, or what it left be decoded. 1 or -1. */
int undecoded_read(struct reader *reader);

/* Bytes of a stream that are kept at most. */
uint64_t undecoded_kept_most(const struct source *source);

/* The engine left what is not kept of a stream any more. -1. */
int undecoded_fail_without_engine(struct reader *reader);

/* --- takeover.c --- */

/* Whether nothing but its bytes need be known of a regular compressed FILE: what the content begins
 * with is looked for, and headers and ranges are left out, only where it is decoded. */
bool takeover_suits(const struct input *input);

/* An input was opened: how much of it an engine could decompress. */
void takeover_note_opened(struct source *source, struct open_input *open);

/* `in` compressed bytes of an input were read, or are to be read again, if negative; readers made
 * `out` bytes of content of them. */
void takeover_note_read(struct source *source, const struct open_input *open, int64_t in,
                        uint64_t out);

/* An engine for all that is left of the current input; NULL: there is none, or it should not have
 * it. In turn. */
struct engine *takeover_engine(struct reader *reader, const struct source_sink *sink,
                               const struct open_input *open);

/* Whether the current input should be taken over, of which other readers may have batches: the next
 * one should be decoded in order, and await it. In turn. */
bool takeover_is_wanted(struct reader *reader, const struct source_sink *sink,
                        const struct open_input *open);
void takeover_await(struct decoding *decoding);

/* Before a chunk of a pipe is decoded in order: whether its bytes are to be kept, so that an engine
 * can take it over. */
void takeover_keep(struct reader *reader, const struct source_sink *sink);

/* A unit of what is decoded begins; and `used` bytes were decoded since `begin`, and gave `made`
 * bytes of content. *begin is looked at only where something may be kept. */
void takeover_note_unit(struct reader *reader);
void takeover_note_made(struct reader *reader, uint64_t used, uint64_t made,
                        const struct timespec *begin);

/* The batch has ended, or the engine has it: nothing is kept for being taken over any more. */
void takeover_keep_no_more(struct reader *reader);

/* Has an engine go on with a batch that is decoded in order, between two chunks. Whether there is
 * one that should, and could begin: then undecoded_read goes on. */
bool takeover_begin(struct reader *reader, const struct source_sink *sink);

/* The engine takes no more: the reader goes on with what it left. 1 or -1. */
int takeover_end(struct reader *reader, const struct compressed_rest *rest);

/* --- decoding_steps.c --- */

/* What came of decoding. */
enum decoded {
    DECODED_SOME, /* the batch goes on */
    DECODED_DRY,  /* it goes on, but there is nothing to read now */
    DECODED_ALL,  /* the batch has ended */
    DECODED_FAILED,
};

/* Decodes on, after what is in the chunk, up to limit. Streams are waited for if there is nothing
 * in the segment that could be given, or the chunk is worth filling. */
enum decoded decoding_go_on(struct reader *reader, struct chunk *chunk, size_t limit);

/* --- decoding.c --- */

/* Decodes the next chunk of the reader's batch. 1 or -1. */
int decoding_read(struct reader *reader, const struct source_sink *sink, struct chunk **chunk);

/* Frees the memory. */
void decoding_drop(struct decoding *decoding);

/* --- decoding_seams.c --- */

/* Adds a span to those of the FILE, and keeps what this completes to be given out. 0 or -1. */
int decoding_keep_seams(struct reader *reader, struct open_input *open, struct span *span);

/* Gives out a record that this reader put together from the ends of two batches. 1 or -1. */
int decoding_give_seam(struct reader *reader, const struct source_sink *sink, struct chunk **chunk);

#endif
