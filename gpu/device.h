/* The seam to CUDA: all that the GPU engine asks of a device, and the only door to it.
 *
 * device.cu is the real one; no_device.c refuses, in builds without CUDA; the tests put devices
 * here that run the kernels on the CPU, or that fail at the n-th call.
 *
 * A slot is a chunk's way through the device: a buffer there and the events that tell how far its
 * work is. Work is enqueued and done later, in this order for every slot: copy_in, count, snapshot.
 * Copies run on one stream, counting and snapshots on another, each in the order of the calls.
 *
 * No two threads may be inside functions of the same device at once. Functions that give an int
 * give 0, or -1 once the device is lost; device_reason then tells why, and nothing but
 * device_reason and device_name may be called any more: not even close, for a driver that is dying
 * may still write to host memory. */
#ifndef GPUHISTO_DEVICE_H
#define GPUHISTO_DEVICE_H

#ifdef __cplusplus
extern "C" {
#endif

#include "gpu/strategy.h"
#include "gpu/visible.h"
#include "src/histogram/histogram.h"
#include "src/base/reason.h"

struct device;

/* The device's histogram: a count of 64 bits for each bin, and of text one word more after these,
 * its newlines. This is how many words that are. */
static inline size_t device_histogram_words(const struct histogram *histogram)
{
    return histogram->bins + histogram->mode->is_text;
}

struct device_plan {
    int ordinal;                       /* which device, from 0, as CUDA counts those it sees */
    const struct visible *visible;     /* which one that is to the user; NULL: the same */
    enum strategy_id strategy;         /* how it counts */
    const struct histogram *histogram; /* what is counted; read in device_open only */
    unsigned slots;
    size_t slot_size; /* bytes: the largest chunk */
    bool timing;      /* device_times will be asked */
};

/* Seconds since the device was opened, of one slot's last way through. */
struct slot_times {
    double copy_begin, copy_end;
    double count_begin, count_end;
};

/* Opens the device, with its slots and a 64-bit histogram of zeros, and runs an empty count so that
 * what cannot run here fails now. NULL with the reason set, and nothing left behind. Slow (a
 * few hundred milliseconds for CUDA to start); any thread. */
struct device *device_open(const struct device_plan *plan, struct reason *why);

/* The device's name; lives as long as the device. */
const char *device_name(const struct device *device);

/* Pins host memory where it is, so that copies from and to it run at full speed and alongside other
 * work. 0, or -1 if that cannot be had: the device is none the worse, copies work all the same. */
int device_pin(struct device *device, void *memory, size_t size);

/* Undoes device_pin, before the memory is freed. */
void device_unpin(struct device *device, void *memory);

/* Enqueues the copy of len (1 to slot_size) bytes into the slot's buffer. They must stay as they
 * are until the slot's snapshot has arrived. */
int device_copy_in(struct device *device, unsigned slot, const void *data, size_t len);

/* Enqueues counting the slot's len bytes into the device's histogram. */
int device_count(struct device *device, unsigned slot, size_t len);

/* Enqueues a copy of the device's histogram, as this slot's count leaves it, to
 * words[0..device_histogram_words). To NULL: no copy; device_arrived then tells that the slot was
 * counted. A snapshot alone, of a slot that has nothing under way, holds all that was counted
 * before. */
int device_snapshot(struct device *device, unsigned slot, uint64_t *words);

/* Whether the slot's snapshot is there: 1 it is, and the slot may be used again; 0 not yet; -1
 * lost. Does not wait. */
int device_arrived(struct device *device, unsigned slot);

/* When the slot's work was done; after device_arrived gave 1, with plan->timing. */
int device_times(struct device *device, unsigned slot, struct slot_times *times);

/* Why the last call that failed did: what CUDA calls it. Lives as long as the device. */
const char *device_reason(const struct device *device);

/* Frees everything; every snapshot must have arrived, and all memory been unpinned. */
void device_close(struct device *device);

#ifdef __cplusplus
}
#endif

#endif
