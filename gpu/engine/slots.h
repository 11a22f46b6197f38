/* SPDX-License-Identifier: MIT */
/* Slots: host memory in which chunks wait for the device, one chunk each.
 *
 *     free -> filling -> in flight -> free
 *
 * A slot stays in flight until a snapshot of all counts was believed, its own or a later one's.
 *
 * No function here takes a lock: the engine holds its own. */
#ifndef GPUHISTO_SLOTS_H
#define GPUHISTO_SLOTS_H

#include "device_thread.h"
#include "pinned.h"
#include "snapshot.h"
#include "src/base/error.h"
#include "src/input/engine.h"

struct gpu_engine;

struct slot {
    struct chunk chunk; /* first: the engine's callers know the slot by its chunk */
    unsigned index;
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

/* Returns the bytes of a slot's data: chunk_size, and for text what a chunk has beyond its cap. */
size_t slots_data_size(const struct histogram_spec *spec, size_t chunk_size);

/* Allocates the slots of an engine, as many and as large as its options say, all free, and pins
 * their memory if the device can; memory that cannot be pinned serves too. 0, or -1 with the error
 * set. Close them in either case. */
int slots_open(struct gpu_engine *gpu, struct error *error);

/* Gives a slot memory for a snapshot of all counts, if it has none of its own. False if all that
 * slots share is in use. */
bool slots_acquire_snapshot(struct slots *slots, struct slot *slot);

/* Takes the snapshot's memory back, if slots share it. */
void slots_release_snapshot(struct slots *slots, struct slot *slot);

/* Frees everything, except for memory that a lost device may still write to. Any other device must
 * be done with it. */
void slots_close(struct slots *slots);

/* Takes a slot from the free list. NULL if there is none. */
struct slot *slots_acquire(struct slots *slots);

/* Puts a slot on the free list. */
void slots_release(struct slots *slots, struct slot *slot);

/* Adds a slot to those in flight, as the newest. */
void slots_send(struct slots *slots, struct slot *slot);

/* Removes the oldest slot in flight, of which there is one. */
struct slot *slots_arrive(struct slots *slots);

#endif
