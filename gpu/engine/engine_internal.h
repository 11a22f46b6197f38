/* SPDX-License-Identifier: MIT */
/* The engine of one GPU, as its files see it, and what a decoder that uses it needs: slots, which
 * are host memory in which chunks wait for the device, and the way of what is in flight.
 *
 * The engine's lock is held in all functions unless their comment says otherwise. */
#ifndef GPUHISTO_GPU_ENGINE_ENGINE_INTERNAL_H
#define GPUHISTO_GPU_ENGINE_ENGINE_INTERNAL_H

#include "device_thread.h"
#include "gpu_engine.h"
#include "snapshot.h"
#include "src/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- slots.c: host memory that a device reads and writes, pinned if the device can --- */

struct pinned {
    void *mapping; /* what was mapped, and its bytes; NULL: nothing */
    size_t mapping_size;
    unsigned char *memory; /* the first huge page in it */
    struct device_thread *thread;
    bool is_pinned; /* by this */
};

#define PINNED_LINE ((size_t)64) /* of a cache: what different copies write is so far apart */
#define PINNED_PAGE ((size_t)4096)

/* Returns `size`, rounded up to a multiple of `to`. */
size_t pinned_round(size_t size, size_t to);

/* Maps `size` bytes, all zeros, and pins them; memory that cannot be pinned serves too. 0, or -1:
 * memory is short. *pinned is all zeros before. */
int pinned_open(struct pinned *pinned, size_t size, struct device_thread *thread);

/* Unpins and unmaps the memory, if there is any. The device must be done with it. Memory of a lost
 * device is left to it instead: it may still write there. */
void pinned_close(struct pinned *pinned);

/* A slot: free -> filling -> in flight -> free. It stays in flight until a snapshot of all counts
 * was believed, its own or a later one's. A decoder's batch is a slot in flight, without data. */
struct slot {
    struct chunk chunk;      /* first: the engine's callers know the slot by its chunk */
    unsigned index;          /* those of batches come after the engine's own */
    struct slot *next;       /* in the free list, or the one submitted after this */
    uint64_t *snapshot;      /* memory for the device's histogram after this chunk; or NULL */
    size_t words;            /* of it, up to its end, if it is one of all counts */
    bool has_counts;         /* the snapshot is of all counts; or there is only one, at the end */
    bool is_counted;         /* its snapshot was seen to arrive */
    struct chunk_text text;  /* what is in the chunk, once a snapshot that stands for it is there */
    struct slot_times times; /* of its last way through the device, if timing */
};

/* All slots, in one mapping: data and snapshot of one after the other, then one more snapshot, or
 * those that slots share. */
struct slots {
    unsigned count;
    struct slot *slot; /* all of them */
    struct slot *free;
    struct slot *oldest, *newest;           /* in flight, in the order of submission */
    uint64_t *spare;                        /* memory for one snapshot more, all zeros */
    bool are_shared;                        /* snapshots are: slots have none of their own */
    uint64_t *shared[SNAPSHOTS_SHARED - 1]; /* that are not in use */
    unsigned shared_count;                  /* of these */
    struct pinned pinned;
};

struct gpu_engine;

/* Returns the bytes of a slot's data: chunk_size, and for text what a chunk has beyond its cap. */
size_t slots_data_size(const struct histogram_spec *spec, size_t chunk_size);

/* Allocates the slots of an engine, as many and as large as its options say, all free. 0, or -1
 * with the error set. Close them in either case; no lock is needed. */
int slots_open(struct gpu_engine *gpu, struct error *error);
void slots_close(struct slots *slots);

/* Gives a slot memory for a snapshot of all counts, if it has none of its own. False if all that
 * slots share is in use. */
bool slots_acquire_snapshot(struct slots *slots, struct slot *slot);

/* Takes the snapshot's memory back, if slots share it. */
void slots_release_snapshot(struct slots *slots, struct slot *slot);

/* Takes a slot from the free list, or NULL; and puts it back. */
struct slot *slots_acquire(struct slots *slots);
void slots_release(struct slots *slots, struct slot *slot);

/* Adds a slot to those in flight, as the newest; and removes the oldest, of which there is one. */
void slots_send(struct slots *slots, struct slot *slot);
struct slot *slots_arrive(struct slots *slots);

/* --- the engine --- */

/* The time that something has been waited for: the sum of the times between looks at it, of which
 * none counts for more than a small part of the deadline. So time in which nobody looked, or in
 * which the whole process was stopped, does not count. */
struct watchdog {
    struct timespec looked; /* when, last */
    double waited;          /* seconds */
};

/* Whether a decoder may have the device. Chunks are not counted while it has. */
enum gpu_loan {
    GPU_IDLE,
    GPU_LENT,
    GPU_NOT_LENT, /* never again */
};

/* What an engine calls of a decoder that is attached to it. */
struct gpu_extension {
    /* Fetches the content of a batch to memory of its chunk. Returns 1 once it is there, or, if
     * memory is short, will not be; 0: not yet; -1: the device is lost. */
    int (*fetch)(struct gpu_engine *gpu, struct slot *slot);
    /* Frees a batch whose snapshot was believed. */
    void (*release)(struct slot *slot);
    /* Drops what was fetched of batches in flight, as the device is lost. */
    void (*drop)(struct gpu_engine *gpu);
    /* Frees the decoder. Without the lock, as nobody else is there. */
    void (*close)(struct gpu_engine *gpu);
};

struct gpu_engine {
    struct engine engine;
    const struct histogram_spec *spec;
    struct gpu_options options;
    struct device_thread *thread;
    _Atomic(enum gpu_loan) loan; /* not under the lock */
    /* These become true once, after their reasons were written; any thread reads them. */
    atomic_bool is_lost;    /* the device is */
    atomic_bool has_failed; /* lost for good: counts are missing */

    pthread_mutex_t lock; /* guards the rest, and the device's calls */
    struct slots slots;
    struct snapshots snapshots;
    struct error error;       /* it was lost, */
    struct error why_not_all; /* and was not replaced, if that is another reason */
    unsigned proofs;          /* slots in flight with a snapshot of all counts */
    unsigned unproved;        /* slots in flight after the last of these */
    struct watchdog watchdog; /* since the device last finished something */
    struct gpu_times times;
    const struct gpu_extension *extension; /* NULL: no decoder is attached */
    struct gpu_decoder *decoder;           /* that one */
};

static inline struct gpu_engine *gpu_of(struct engine *engine)
{
    return (struct gpu_engine *)engine;
}

/* True if a slot is that of a batch. */
static inline bool gpu_is_batch(const struct gpu_engine *gpu, const struct slot *slot)
{
    return slot->index >= gpu->slots.count;
}

/* --- what happens when the device is lost ---
 *
 * Every chunk after the last good snapshot is still whole in its slot, and another engine counts it
 * again. The device may still read and write the memory of slots in flight, so these are neither
 * used again nor freed, and the chunks are copied before they are counted. */

/* Record that the device is lost, for this reason, or because a call of it failed. Only the first
 * error is kept. */
void gpu_lose(struct gpu_engine *gpu, const char *why);
void gpu_lose_by_call(struct gpu_engine *gpu);

/* Returns why it was lost; or why counts are missing, if that is another reason. NULL: it is not
 * lost. The text lives as long as the engine. Any thread, without the lock. */
const char *gpu_loss(struct engine *gpu);

/* Lets the fallback count what is in flight and has bytes on the host, if the device is lost. If
 * nothing can replace the device, it has failed. Call this after whatever may have lost the device,
 * and after each chunk that is submitted even so. Returns whether it is lost. */
bool gpu_recount(struct gpu_engine *gpu);

/* --- what is in flight --- */

/* Lets time pass without the lock. */
void gpu_pause_unlocked(struct gpu_engine *gpu);

/* Judges what a look at the device found: 1, something has arrived; 0, nothing; -1, a call has
 * failed. The device is lost if a call has failed, or if something is `expected` of it, and it has
 * finished nothing for too long. Returns what was found, or -1: it is lost. */
int gpu_judge_poll(struct gpu_engine *gpu, int found, bool expected);

/* Looks whether work has arrived, and judges that. */
int gpu_poll(struct gpu_engine *gpu, enum device_work_kind kind, unsigned number, bool expected);

/* Posts work, or loses the device. */
void gpu_post(struct gpu_engine *gpu, const struct device_work *work);

/* Posts a snapshot after the slot's count, which was posted: of all counts, if that is due and
 * there is memory for it. May lose the device. */
void gpu_queue_snapshot(struct gpu_engine *gpu, struct slot *slot, bool is_due);

/* Adds a slot to those in flight. Its work was posted, unless the device is lost. */
void gpu_put_in_flight(struct gpu_engine *gpu, struct slot *slot);

/* Frees the oldest slots in flight that one snapshot stands for, if it has arrived and is believed.
 * Returns 1 if so, 0 if not yet or there are none, -1 if the device is lost. */
int gpu_retire(struct gpu_engine *gpu);

/* Waits until all that is in flight is counted, or the device is lost. */
void gpu_drain(struct gpu_engine *gpu);

/* Posts a snapshot if none is under way and all that is in flight is counted. Otherwise no slot
 * would become free unless further chunks came. */
void gpu_request_snapshot(struct gpu_engine *gpu);

/* True while the device is lent, and not lost. Any thread, without the lock. */
bool gpu_is_lent(struct engine *engine);

#endif
