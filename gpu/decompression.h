/* SPDX-License-Identifier: MIT */
/* A compressed FILE that the device decompresses and counts by itself, in batches of whole blocks:
 *
 *     free -> laying -> decoding -> (verdict seen) -> decoded -> counting -> (snapshot seen) ->
 * free
 *
 * Compressed bytes come in inputs, pinned memory that is small beside a batch. Of each input the
 * host walks the headers of frames and blocks only; the blocks go to the batch that is laid, and
 * their bytes to the device at once. So a batch is there when it is launched, whatever its size:
 * the first one as soon as there are some blocks, as the device has nothing else to do; later ones
 * once they have many.
 *
 * A batch is counted once its verdict has arrived, and found good, so what the device refuses never
 * reaches the histogram; and after all checksums of frames that end in it were found right. From
 * then on it is a slot in flight as any other, but without bytes on the host: if the device is
 * lost, or refuses a batch, the FILE's rest is decompressed by whoever gave it
 * (decompression_settle). Content of a frame that goes on is hashed meanwhile, and the batch is
 * free when that is done, too.
 *
 * Content that is counted ends after a whole record; the rest, the tail, stays on the device before
 * the next batch, and is counted with that. What was counted before the FILE was begun is decoded
 * and verified as everything else is, but not counted.
 *
 * No function here takes a lock: the engine holds its own. */
#ifndef GPUHISTO_DECOMPRESSION_H
#define GPUHISTO_DECOMPRESSION_H

#include "gpu/decode/content_check.h"
#include "decoder.h"
#include "device.h"
#include "pinned.h"
#include "slots.h"
#include "src/engine/engine.h"
#include "src/count/characters.h"

enum decompression_state {
    DECOMPRESSION_FREE,
    DECOMPRESSION_LAYING,
    DECOMPRESSION_DECODING,
    DECOMPRESSION_DECODED,
    DECOMPRESSION_COUNTING,
    DECOMPRESSION_HASHING, /* and nothing else is left to do */
};

struct decompression_batch {
    struct slot slot; /* first: its chunk is never filled; when it is counted, its len is the
                       * content's, and it has no data */
    uint32_t shared;  /* of pairs: how many of these bytes are counted with the next one, too */
    enum decompression_state state;
    struct zstd_plan plan;
    struct zstd_verdict *verdict;
    uint32_t *frame_ends;
    bool goes_on;   /* its last frame does, and has a checksum */
    bool is_hashed; /* with this, */
    struct content_job job;
    uint64_t next_at; /* where in the FILE the unit begins that the next batch begins with, or goes
                       * on in */
    int64_t begin;    /* of what is counted with it, from where its content begins */
    struct decompression_batch *next; /* launched after this one */
};

enum decompression_input_state { INPUT_FREE, INPUT_FILLING, INPUT_COPYING };

/* Compressed bytes on their way to the device. */
struct decompression_input {
    struct chunk chunk; /* first: what is filled */
    unsigned index;
    enum decompression_input_state state;
    uint64_t laid;  /* bytes that were gone over; they may end after the chunk */
    bool is_copied; /* some of them were sent to the device */
    struct pinned pinned;
};

/* Where a frame begins: bytes into the FILE, and into the content. */
struct decompression_frame {
    uint64_t at, content;
};

/* How many places are kept from where the FILE could be decoded again; the first is its beginning
 * if no other will do. */
#define DECOMPRESSION_FRAMES 8

/* Content that is copied to memory of the host's, a piece at a time. */
struct decompression_fetch {
    bool is_active;
    unsigned slot;
    int64_t begin;
    unsigned char *to;
    size_t len, done, under_way; /* bytes */
};

struct decompression {
    const struct histogram *histogram;
    struct engine *engine;
    struct calls *calls;
    struct content_source source;    /* of what is hashed */
    bool verifies;                   /* content checksums, */
    struct content_check *check;     /* by this; without it frames that have one are left */
    uint64_t (*memory_left)(void);   /* as in struct gpu_options, */
    unsigned sharers;                /* likewise */
    bool is_open, is_large;          /* for FILEs of any size */
    struct device_decoding decoding; /* no batches: the device decompresses nothing */
    uint64_t host_memory;            /* bytes that were taken, pinned if possible */
    struct decompression_batch *batch;
    unsigned turn;        /* the batch that is laid next */
    struct pinned pinned; /* the batches' memory, and */
    struct pinned
        earlier; /* that of smaller ones: snapshots change places, so good ones are there */
    struct decompression_input input[DEVICE_INPUTS];
    unsigned inputs;        /* that are open, */
    size_t input_size;      /* of so many bytes */
    unsigned char *fetched; /* pinned, fetch_size bytes */
    size_t fetch_size;
    struct decompression_fetch fetch;
    double copy_seconds; /* of inputs, with timing */
    double hash_seconds; /* of threads that have ended */

    /* Of the FILE. */
    bool is_active;  /* there is one */
    bool begins;     /* no batch of it was laid */
    bool is_over;    /* no more of it is laid: what comes next is not for the device */
    bool is_whole;   /* all of it was laid */
    bool is_wrong;   /* a checksum was not that of content that was counted */
    bool is_refused; /* a batch was: it, and those after it, are not counted */
    struct zstd_walk walk;
    uint64_t need;                               /* bytes, for the next block */
    struct decompression_batch *laying;          /* or NULL */
    struct decompression_batch *oldest, *newest; /* launched, and neither counted nor left */
    unsigned decoding_count, counting;           /* batches in these states */
    bool is_bad;                                 /* the device has refused a batch */
    uint32_t tail;                               /* of the last batch whose verdict was seen */
    unsigned char cut[CHARACTER_SIZE_MAX];       /* these bytes, of characters */
    struct decompression_batch *last;            /* that batch, once there is one */
    uint64_t content;                            /* bytes up to its end */
    uint64_t skip;                               /* bytes of content that were counted before */
    size_t repeated;  /* of pairs: bytes after these that were in a chunk before, too */
    uint64_t fresh;   /* bytes of chunks, as `counted`, that were in none before */
    uint64_t counted; /* bytes, as far as snapshots tell, and those */
    uint64_t laid_index, counted_index; /* batches that have a position; of these counted */
    struct decompression_frame frames[DECOMPRESSION_FRAMES];
    unsigned frame_count;
    unsigned char *tail_bytes; /* room for a tail; NULL: one was given away */
};

/* Begins a FILE. Its memlimit is rounded down to a power of two, as libzstd does. Takes memory on
 * the host and the device, the first time and once more when a large FILE comes after small ones,
 * for batches whose slots are numbered from `slots` on. 1; 0: it cannot be taken, as another one is
 * active, or the device does not decompress; -1: the device is lost. */
int decompression_begin(struct decompression *decompression, unsigned slots,
                        const struct compressed_start *start);

/* A chunk for the next compressed bytes: 1; 0: all inputs are in use; -1: the device is lost. */
int decompression_take(struct decompression *decompression, struct chunk **chunk);

/* Lays what it can of a chunk of the FILE from byte `offset` on, and has it copied, and decoded
 * when it is due. Sets *next as gpu_decoder_submit does. 1; 0: no batch is free, so it
 * must be called again, after decompression_look; -1: the device is lost. */
int decompression_lay(struct decompression *decompression, struct chunk *chunk, uint64_t offset,
                      struct compressed_next *next);

/* Looks whether the verdict of a batch has arrived, whether the oldest one can be counted, and
 * whether another one is due to be decoded. *counted is the slot of a batch that was sent to be
 * counted, or NULL; *empty is the chunk of one that was taken, but ends no record, or NULL. 1:
 * something has happened; 0: nothing; -1: the device is lost. */
int decompression_look(struct decompression *decompression, struct slot **counted,
                       struct chunk **empty);

/* Whether the device is to copy something, or to give a verdict: then it must do so in time. */
bool decompression_is_on_device(const struct decompression *decompression);

/* Whether a slot is that of a batch. */
bool decompression_has(const struct decompression *decompression, const struct slot *slot);

/* Copies what was counted with a batch to memory of its chunk's, which decompression_count frees.
 * To be called until it is done. 1: it is; if memory was short, data is NULL; 0: not yet; -1: the
 * device is lost. *moved: some bytes have arrived. */
int decompression_fetch(struct decompression *decompression, struct slot *slot, bool *moved);

/* The snapshot of a batch was believed: it is free again. */
void decompression_count(struct decompression *decompression, struct slot *slot);

/* Whether anything of the FILE is still being copied, decoded, hashed or counted. */
bool decompression_is_busy(const struct decompression *decompression);

/* Whether all that is waited for is hashing. */
bool decompression_is_hashing(const struct decompression *decompression);

/* When nothing is: gets the tail to the host. 1: it is there; otherwise as decompression_fetch. */
int decompression_fetch_tail(struct decompression *decompression, bool *moved);

/* When it is there, or the device is lost: sets *rest to what is left of the FILE, and ends it. */
void decompression_settle(struct decompression *decompression, bool is_lost,
                          struct compressed_rest *rest);

/* --- decompression_memory.c --- */

/* Takes the memory, for batches whose slots are numbered from `slots` on, and FILEs of any size if
 * is_large; what there was before, of which nothing is in use, is given back. Without memory the
 * device decompresses nothing: there are no batches. 0, or -1: it is lost. */
int decompression_open(struct decompression *decompression, unsigned slots, bool is_large);

/* Takes the memory of one more input. It, or NULL: there are as many as there may be. */
struct decompression_input *decompression_add_input(struct decompression *decompression);

/* Seconds that threads have spent hashing, and bytes of host memory that were taken. */
double decompression_hash_seconds(const struct decompression *decompression);
uint64_t decompression_host_memory(const struct decompression *decompression);

/* Frees everything, but not the memory of a lost device. */
void decompression_close(struct decompression *decompression, bool is_lost);

#endif
