/* A compressed FILE that the device decompresses and counts by itself, in batches of whole blocks:
 *
 *     free -> filling -> decoding -> (verdict seen) -> counting -> (snapshot seen) -> free
 *
 * The host walks the headers of frames and blocks only. A batch is counted once its verdict has
 * arrived, and found good, so what the device refuses never reaches the histogram. From then on it
 * is a slot in flight as any other, but without bytes on the host: if the device is lost, or
 * refuses a batch, the FILE's rest is decompressed by whoever gave it (decompression_settle).
 *
 * Content that is counted ends after a whole record; the rest, the tail, stays on the device before
 * the next batch, and is counted with that. What was counted before the FILE was begun is decoded
 * and verified as everything else is, but not counted.
 *
 * No function here takes a lock: the engine holds its own. */
#ifndef GPUHISTO_DECOMPRESSION_H
#define GPUHISTO_DECOMPRESSION_H

#include "content_check.h"
#include "device.h"
#include "pinned.h"
#include "slots.h"
#include "src/engine/engine.h"

enum decompression_state {
    DECOMPRESSION_FREE,
    DECOMPRESSION_FILLING,
    DECOMPRESSION_DECODING,
    DECOMPRESSION_COUNTING
};

struct decompression_batch {
    struct slot slot; /* first: slot.chunk is what is filled; when it is counted, its len is the
                       * content's, and it has no data */
    enum decompression_state state;
    unsigned char *bytes; /* compressed, pinned */
    struct zstd_plan plan;
    struct zstd_verdict *verdict;
    uint32_t *frame_ends;
    bool goes_on;     /* its last frame does, and has a checksum */
    uint64_t next_at; /* where in the FILE the unit begins that the next batch begins with, or goes
                       * on in */
    int64_t begin;    /* of what is counted with it, from where its content begins */
    struct decompression_batch *next; /* decoded after this one */
};

/* Where a frame begins: bytes into the FILE, and into the content. */
struct decompression_frame {
    uint64_t at, content;
};

/* How many places are kept from where the FILE could be decoded again; the first is its beginning
 * if no other will do. */
#define DECOMPRESSION_FRAMES 8

struct decompression {
    const struct histogram *histogram;
    struct engine *engine;
    struct device *device;
    bool verifies;                 /* content checksums, */
    struct content_check *check;   /* by this; without it frames that have one are left */
    uint64_t (*memory_left)(void); /* as in struct gpu_options */
    bool is_open;
    struct device_decoding decoding; /* no batches: the device decompresses nothing */
    uint64_t host_memory;            /* bytes that the batches take, pinned if possible */
    struct decompression_batch *batch;
    unsigned turn; /* the batch that is filled next */
    struct pinned pinned;

    /* Of the FILE. */
    bool is_active;  /* there is one */
    bool begins;     /* no batch of it was laid */
    bool is_over;    /* no more of it is laid: what comes next is not for the device */
    bool is_whole;   /* all of it was laid */
    bool is_wrong;   /* a checksum was not that of content that was counted */
    bool is_refused; /* a batch was: it, and those after it, are not counted */
    struct zstd_walk walk;
    struct decompression_batch *oldest, *newest; /* being decoded */
    unsigned counting;                           /* batches */
    uint32_t tail;                               /* of the last batch whose verdict was seen */
    struct decompression_batch *last;            /* that batch, once there is one */
    uint64_t content;                            /* bytes up to its end */
    uint64_t skip;                               /* bytes of content that were counted before */
    uint64_t counted;                            /* bytes, as far as snapshots tell, and those */
    uint64_t laid_index, counted_index; /* batches that have a position; of these counted */
    struct decompression_frame frames[DECOMPRESSION_FRAMES];
    unsigned frame_count;
    unsigned char *tail_bytes; /* owned */
};

/* Begins a FILE. Its memlimit is rounded down to a power of two, as libzstd does. Takes memory on
 * the host and the device the first time, for batches whose slots are numbered from `slots` on. 1;
 * 0: it cannot be taken, as another one is active, or the device does not decompress; -1: the
 * device is lost. */
int decompression_begin(struct decompression *decompression, unsigned slots,
                        const struct undecoded_start *start);

/* A chunk for the next compressed bytes; NULL: all batches are in use. */
struct chunk *decompression_take(struct decompression *decompression);

/* Lays what it can of a chunk of the FILE from byte `offset` on, and has it decoded; or gives the
 * batch back, if it can lay nothing. Sets *next as submit of struct undecoded_ops does. 0, or -1:
 * the device is lost. */
int decompression_submit(struct decompression *decompression, struct chunk *chunk, uint64_t offset,
                         struct undecoded_next *next);

/* Looks at the verdict of the oldest batch being decoded, if there is one. Once it is there,
 * *counted is the batch's slot, which was sent to be counted, or NULL if nothing is to be counted
 * of it; then *empty is the chunk of a batch that was taken, but ends no record, or NULL. 1: it was
 * there; 0: not yet, or there is none; -1: the device is lost. */
int decompression_look(struct decompression *decompression, struct slot **counted,
                       struct chunk **empty);

/* Whether a slot is that of a batch. */
bool decompression_has(const struct decompression *decompression, const struct slot *slot);

/* Copies what was counted with a batch to memory of its chunk's, which decompression_count frees.
 * 0, or -1: the device is lost. If memory is short there is none: data is NULL. */
int decompression_fetch(struct decompression *decompression, struct slot *slot);

/* The snapshot of a batch was believed: it is free again. */
void decompression_count(struct decompression *decompression, struct slot *slot);

/* Whether a batch is being decoded or counted. */
bool decompression_is_busy(const struct decompression *decompression);

/* When none is, or the device is lost: sets *rest to what is left of the FILE, and ends it. 0, or
 * -1: the device was lost just now. */
int decompression_settle(struct decompression *decompression, bool is_lost,
                         struct undecoded_rest *rest);

/* --- decompression_memory.c --- */

/* Takes the memory, once, for batches whose slots are numbered from `slots` on. Without it the
 * device decompresses nothing: there are no batches. 0, or -1: it is lost. */
int decompression_open(struct decompression *decompression, unsigned slots);

/* Frees everything, but not the memory of a lost device. */
void decompression_close(struct decompression *decompression, bool is_lost);

#endif
