/* SPDX-License-Identifier: MIT */
/* The engine of one GPU, as its files see it, and what a decoder that uses it needs: the thread
 * that makes the device's calls, snapshots, slots, and the way of what is in flight.
 *
 * The engine's lock is held in all functions unless their comment says otherwise. */
#ifndef GPUHISTO_GPU_ENGINE_ENGINE_INTERNAL_H
#define GPUHISTO_GPU_ENGINE_ENGINE_INTERNAL_H

#include "device.h"
#include "src/base/system.h"
#include "src/input/engine.h"

#include <pthread.h>
#include <stdatomic.h>

/* --- device_thread.c: the calls of a device, made by a thread of their own, so that one that never
 * returns holds up nobody else. Work is posted, and done in the order of the posts. The engine
 * polls what the thread has seen to arrive, so it never waits for the device. device.h says what
 * each function does.
 *
 * An int is 0, or -1 once the device is lost: a call has failed, or was not answered in time. Then
 * no other is made, and device_thread_error says why. */

struct device_thread;

/* Starts the thread and has it open the device, as device_open. NULL with the error set. Sets
 * *is_stuck if it has not answered within a few times the deadline. It may do so later, so what the
 * plan points to must live as long as the process. */
struct device_thread *device_thread_open(const struct device_plan *plan, unsigned deadline_ms,
                                         bool *is_stuck, struct error *error);

/* Returns the device's name, which lives as long as the thread. */
const char *device_thread_name(const struct device_thread *thread);

/* Has the thread call a function of the device, with a copy of `arg`, `size` bytes, as the call may
 * outlive the caller; sets *arg to what the call leaves of it. Returns 0, or -1: the call has
 * failed, and the device is lost. */
#define DEVICE_CALL_MAX 64 /* bytes of `arg`, at most */
typedef int device_call(struct device *device, void *arg);
int device_thread_call(struct device_thread *thread, device_call *call, void *arg, size_t size);

/* Has work enqueued. Whatever it points to must not change until the work was seen to be done. */
int device_thread_post(struct device_thread *thread, const struct device_work *work);

/* Returns 1 if all work of this kind and number has arrived, 0 if not, -1 if the device is lost. */
int device_thread_arrived(struct device_thread *thread, enum device_work_kind kind,
                          unsigned number);

/* Returns the times of a slot that was counted and has arrived, with plan->timing. */
struct slot_times device_thread_times(const struct device_thread *thread, unsigned slot);

/* Returns the seconds that copies of compressed bytes took, with plan->timing. */
double device_thread_copy_seconds(const struct device_thread *thread);

/* Returns why the device is lost. The text lives as long as the thread. */
const char *device_thread_error(const struct device_thread *thread);

/* Leaves a device that is lost: no other call is made. A call that hangs may still return, and then
 * writes only to memory that the device was given to write to. */
void device_thread_leave(struct device_thread *thread);

/* Closes the device, unless it was left, and frees what is the caller's. Everything must have
 * arrived, and all memory must be unpinned. */
void device_thread_close(struct device_thread *thread);

/* --- device_thread.c: host memory that a device reads and writes, pinned if the device can --- */

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

/* --- snapshot.c: copies of the device's histogram in host memory, and the proof that they can be
 * believed.
 *
 * The snapshot after chunk k holds chunks 1 to k. Once it has arrived, and can be believed, it
 * becomes `good`, the last good tally. If the device is lost, `good` is what was counted there.
 *
 * A snapshot of many counts takes long to copy and to check. Where chunks come fast, only every few
 * of them have one. For text the others have only the end, the counts of invalid samples and of
 * newlines, which tell what is in the chunk.
 *
 * For characters a snapshot has the pages of rows that are in use (device.h), as many as are
 * expected. If there are more, it is not whole and is dropped: one with more pages follows. Few of
 * these are under way at a time, in memory that they share. */

struct snapshots {
    const struct histogram_spec *spec;
    struct tally good; /* the last snapshot that was believed, at first all zeros. Its counts may be
                        * in pages. Without snapshots on the way it has no counts, but the samples
                        * and bytes counted so far */
    size_t file;       /* of the last chunk that was kept */
    struct tally moved; /* what of `good` was moved to files; at first without counts, */
    struct tally saved; /* as is `good`, as it was; both counts are to be freed */
    uint64_t *last; /* where the only snapshot goes, at the end; NULL: there are some on the way */
    size_t pages;   /* that the next snapshot has, of those in pages */
};

/* Returns the bytes of a snapshot, at most. */
size_t snapshot_size(const struct histogram_spec *spec);

/* Returns the number of snapshots for which there is memory beyond those of chunks: one; or if
 * chunks have none, but there are some on the way, one more than may be under way. */
#define SNAPSHOTS_SHARED 3
static inline unsigned snapshot_spares(const struct histogram_spec *spec)
{
    const bool are_shared = snapshot_is_small(spec) && !snapshot_is_of_chunk(spec);
    return are_shared ? SNAPSHOTS_SHARED : 1;
}

/* Returns the most chunks in a row that one snapshot of all counts may stand for, in an engine with
 * `slots` slots: 1 if snapshots are small. */
unsigned snapshot_interval(const struct snapshots *snapshots, size_t chunk_size, unsigned slots);

/* Returns the words that the next snapshot of all counts has. */
size_t snapshot_words(const struct snapshots *snapshots);

/* True if a snapshot of `count` words that arrived has all counts. If not, the next one is to have
 * more pages. */
bool snapshot_is_whole(struct snapshots *snapshots, const uint64_t *words, size_t count);

/* Initializes *snapshots. `words` is memory for a snapshot, all zeros, beyond those of the slots;
 * it and the histogram must live as long. */
void snapshots_init(struct snapshots *snapshots, const struct histogram_spec *spec,
                    uint64_t *words);

/* The growth that is possible by the chunks that a snapshot stands for. Begins with all zeros. */
struct snapshot_growth {
    uint64_t samples_max, bytes;
    bool cannot_be; /* the end of a snapshot shows more than a chunk can hold */
};

/* The contents of a chunk of text, if its snapshot tells. */
struct chunk_text {
    bool is_known;
    uint64_t newlines, invalid;
};

/* Adds a chunk to *growth, in the order of counting, and returns what is in it. `words` is what
 * arrived after the chunk, all of a snapshot or the end of one, and `before` what arrived after the
 * chunk before it, of the same growth (NULL: it is the first). `words` is NULL where there is only
 * one snapshot, at the end. */
struct chunk_text snapshots_grow(const struct snapshots *snapshots, struct snapshot_growth *growth,
                                 const struct chunk *chunk, const uint64_t *before,
                                 const uint64_t *words);

/* True if the snapshot `words`, of all counts, can be true after this growth. Then *seen is the
 * tally, whose counts stay where they are. With NULL, the counts are those so far. */
bool snapshots_believe(const struct snapshots *snapshots, const struct snapshot_growth *growth,
                       uint64_t *words, struct tally *seen);

/* Makes *seen, whose counts are in *words, the last good tally, and exchanges *words for the memory
 * of the one before. The chunks were of file number `file`. If the ones before were of another,
 * what was counted of them is moved to `files` (NULL: to none), which needs a snapshot for each
 * chunk. */
void snapshots_keep(struct snapshots *snapshots, uint64_t **words, const struct tally *seen,
                    size_t file, struct file_tallies *files);

/* Moves what was counted, but not moved yet, to the file of the last chunk. */
void snapshots_move(struct snapshots *snapshots, struct file_tallies *files);

/* Saves the last good tally, which has all that was counted; and goes back to it. 0, or -1: memory
 * is short. */
int snapshots_save(struct snapshots *snapshots);
void snapshots_go_back(struct snapshots *snapshots);

/* Reports and adds a chunk without samples, which never was on the device. */
void snapshots_add_empty(struct snapshots *snapshots, const struct chunk *chunk,
                         struct error_locator *locator);

/* Adds the last good tally to another one, if there are snapshots on the way. */
void snapshots_add_good(const struct snapshots *snapshots, struct tally *tally);

/* Sets *tally to the only snapshot, which has arrived in `last`. False if it cannot be believed. */
bool snapshots_read_last(const struct snapshots *snapshots, struct tally *tally);

/* --- engine.c: slots --- */

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

struct gpu_engine;

/* What an engine calls of a decoder that is attached to it. */
struct gpu_extension {
    /* Fetches the content of a batch to memory of its chunk. Returns 1 once it is there, or, if
     * memory is short, will not be; 0: not yet; -1: the device is lost. */
    int (*fetch)(struct gpu_engine *gpu, struct slot *slot);
    /* Frees a batch whose snapshot was believed. */
    void (*release)(struct slot *slot);
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

/* Records that the device is lost, and why; the first reason is kept. */
void gpu_lose(struct gpu_engine *gpu, const char *why);

/* Lets the fallback count what is in flight and has bytes on the host, if the device is lost. If
 * nothing can replace the device, it has failed. Call this after whatever may have lost the device,
 * and after each chunk that is submitted even so. Returns whether it is lost. */
bool gpu_recount(struct gpu_engine *gpu);

/* --- what is in flight --- */

/* Nanoseconds between looks at a busy device: a small part of a chunk's copy. */
#define POLL_NS 20000

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

/* --- group.c --- */

/* Sets `engines` to those of a group's GPUs that are open, or to that of the one GPU that is given.
 * With `in_turn` another one is the first each time. Returns how many there are. Any thread. */
unsigned gpu_group_engines(const struct engine *gpu, bool in_turn,
                           struct engine *engines[GPUS_MAX]);

#endif
