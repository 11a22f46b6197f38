/* SPDX-License-Identifier: MIT */
/* The seam to CUDA: all that the GPU's engine needs of a device.
 *
 * device.cu is the real one. no_device.c, in builds without CUDA, has no device. Tests put a device
 * here that runs the kernels on the CPU and fails at the n-th call.
 *
 * A slot here is a buffer on the device, and the events that show how far a chunk's work in it has
 * come. Work is enqueued and done later. Copies run on one stream, counting and snapshots on
 * another, each in the order of the calls.
 *
 * A device may be extended, so that it decompresses (gpu/decode/plan.h). A batch has
 * memory of its own, and is counted as a slot is: its slot is number plan->slots and on.
 *
 * The engine calls it through a thread of its own (device_thread.c), as a call may never return.
 *
 * No two threads may be inside functions of the same device at once. An int is 0, or -1 once the
 * device is lost. Then device_error says why, and only device_error and device_name may be
 * called. Not even device_close: a driver that is dying may still write to host memory. */
#ifndef GPUHISTO_GPU_ENGINE_DEVICE_H
#define GPUHISTO_GPU_ENGINE_DEVICE_H

#include "gpu_engine.h"
#include "gpu/count/strategy.h"
#include "src/tally/histogram_spec.h"

struct device;

/* --- snapshots ---
 *
 * A snapshot is a copy of the device's histogram: a count of 64 bits for each bin, and of text one
 * word more, its newlines. Of a histogram most of whose rows are never used, such as that of
 * characters, it has the pages of rows in which anything was counted, in the order in which they
 * came up. The words of such a snapshot are
 *
 *     the number of pages | the page's number, a count for each of its rows | the next page ...
 *
 * A page stays at its place, so that snapshots can be compared word by word. The caller decides how
 * many words to copy; if there are more pages than that, the copy is not whole. */

#define ROW_PAGE 256
#define ROW_PAGE_WORDS (ROW_PAGE + 1)

/* True if the histogram has such snapshots. */
static inline bool row_pages_has(const struct histogram_spec *spec)
{
    return spec->mode->has_characters && !spec->groups;
}

/* Returns the number of pages of `rows` rows, with the last one, which may be shorter. */
static inline size_t row_pages_of(size_t rows)
{
    return (rows + ROW_PAGE - 1) / ROW_PAGE;
}

/* Returns the words of `pages` pages, with their number. */
static inline size_t row_pages_words(size_t pages)
{
    return 1 + pages * ROW_PAGE_WORDS;
}

/* Returns how many words a snapshot of the device's histogram has at most. */
static inline size_t device_histogram_words(const struct histogram_spec *spec)
{
    if (row_pages_has(spec))
        return row_pages_words(row_pages_of(spec->bins));
    return spec->bins + spec->mode->is_text;
}

struct device_plan {
    struct cuda_device cuda_device;
    enum strategy_id strategy;         /* how it counts */
    const struct histogram_spec *spec; /* what is counted; read in device_open only */
    unsigned slots;
    size_t slot_size; /* bytes: the largest chunk */
    bool timing;      /* device_arrived will be asked for times */
};

/* Seconds since the device was opened, of one slot's last way through. */
struct slot_times {
    double copy_begin, copy_end;
    double count_begin, count_end;
};

/* Returns how many devices there are for device_open, or -1 with the error set. Takes as long as
 * CUDA takes to start. Any thread. */
int device_count_all(struct error *error);

/* Opens the device, with its slots and a 64-bit histogram of zeros, and runs an empty count, so
 * that what cannot run here fails now. Takes a few hundred milliseconds, as CUDA starts. NULL with
 * the error set. Any thread. */
struct device *device_open(const struct device_plan *plan, struct error *error);

/* Returns the device's name, which lives as long as the device. Any thread. */
const char *device_name(const struct device *device);

/* Host memory: an argument of device_pin. */
struct device_pinning {
    void *memory;
    size_t size; /* 0: it is pinned no longer, before it is freed */
};

/* Pins host memory, so that copies from and to it run at full speed and alongside other work. 0, or
 * -1 if that is not possible, which does not lose the device: copies still work. */
int device_pin(struct device *device, void *pinning);

/* --- work --- */

/* The kinds of work. A chunk gets WORK_COPY_IN, WORK_COUNT, WORK_SNAPSHOT. Those that an extended
 * device does are marked: a batch gets WORK_COPY_BLOCKS of all its bytes, WORK_DECODE; then, once
 * its verdict is there, any WORK_READ_CONTENT, and WORK_COUNT_CONTENT and WORK_SNAPSHOT, or
 * nothing. Batches of one file are decoded in the order of the calls. */
enum device_work_kind {
    WORK_SNAPSHOT,     /* copies the histogram out, as the slot's count leaves it */
    WORK_DECODE,       /* extended: decompresses a batch */
    WORK_COPY_BLOCKS,  /* extended: copies compressed bytes in */
    WORK_READ_CONTENT, /* extended: copies content to the host, beside whatever else is under way */
    WORK_ARRIVES, /* device_arrived tells of those before this; the rest is awaited with them */
    WORK_COPY_IN = WORK_ARRIVES, /* copies a chunk into its slot's buffer */
    WORK_COUNT,                  /* counts it into the device's histogram */
    WORK_COUNT_CONTENT,          /* extended: the same with content of a batch */
    WORK_SAVE,                   /* saves the histogram on the device, or goes back to that */
};

/* The most batches of an extended device; and what the numbers of copies that may be under way at a
 * time are below. */
#define DEVICE_BATCHES_MAX GPU_ENGINE_BATCHES_MAX
#define DEVICE_INPUTS 3 /* of blocks */
#define DEVICE_READS 17 /* of content */

/* A chunk, of 1 to slot_size bytes, which must not change until the slot's snapshot has arrived; or
 * compressed bytes, which must not until they have. */
struct device_chunk {
    const void *data; /* not of WORK_COUNT */
    size_t len;
    uint32_t at; /* of WORK_COPY_BLOCKS: they go to DECODE_CARRY + at of the batch's memory */
};

/* A copy of words [first, end) of the device's histogram to the same ones of `words`, which has
 * device_histogram_words. With NULL, or with `first` at `end`, nothing is copied, and the snapshot
 * has arrived when the slot was counted. A snapshot of a slot without other work holds all that was
 * counted before. */
struct device_counts {
    uint64_t *words;
    size_t first, end;
};

/* Bytes [begin, begin + len) of the content of a batch that was not refused. Bytes that were kept
 * from before it have negative numbers. The batch is not decoded again until they were copied. */
struct device_content {
    int64_t begin;
    size_t len;
    unsigned char *to; /* of WORK_READ_CONTENT: pinned host memory */
};

struct device_batch; /* gpu/decode/plan.h */

struct device_work {
    enum device_work_kind kind;
    unsigned slot;
    unsigned copy; /* its number, of WORK_COPY_BLOCKS and WORK_READ_CONTENT */
    union {
        struct device_chunk chunk;        /* WORK_COPY_IN, WORK_COUNT, WORK_COPY_BLOCKS */
        struct device_counts counts;      /* WORK_SNAPSHOT */
        const struct device_batch *batch; /* WORK_DECODE; it must not change before it is done */
        struct device_content content;    /* WORK_COUNT_CONTENT, WORK_READ_CONTENT */
        bool goes_back;                   /* WORK_SAVE */
    };
};

/* Returns the number by which work arrives: that of its copy, or of its slot. */
static inline unsigned device_work_number(const struct device_work *work)
{
    const bool is_copy = work->kind == WORK_COPY_BLOCKS || work->kind == WORK_READ_CONTENT;
    return is_copy ? work->copy : work->slot;
}

/* Enqueues work. */
int device_enqueue(struct device *device, const struct device_work *work);

/* Returns 1 if the last work of this kind and number has arrived, 0 if not yet, -1 if the device is
 * lost. After a snapshot, the slot may be used again. Does not wait. With plan->timing, `times` may
 * be given. It is set to when work was done that has arrived: of WORK_SNAPSHOT all that was done in
 * the slot, of WORK_COPY_BLOCKS the copy. */
int device_arrived(struct device *device, enum device_work_kind kind, unsigned number,
                   struct slot_times *times);

/* Extends the device: takes as much of the memory that is asked for in *decoding, a struct
 * device_decoding, as the device has, and sets *decoding to that. If it is called again, nothing
 * may be under way, and what was taken before is given back first. 0, or -1: the device is lost. */
int device_open_decoding(struct device *device, void *decoding);

/* Returns why the last call that failed did, as CUDA names it. Lives as long as the device. */
const char *device_error(const struct device *device);

/* Frees everything. Every snapshot must have arrived, and all memory must be unpinned. */
void device_close(struct device *device);

#endif
