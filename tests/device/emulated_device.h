/* SPDX-License-Identifier: MIT */
/* The seam gpu/engine/device.h for tests: a device whose streams are a thread of this process, that
 * runs the shipped kernels on the CPU, and that fails when told to.
 *
 * It aborts when the engine breaks the seam's rules: two threads inside at once, a slot used before
 * its snapshot arrived, any call after the device was lost, lengths out of bounds.
 *
 * Without a plan, the environment's GPUHISTO_FAULT gives one, for tests of whole programs:
 * KIND:AT[:once], with KIND error, wrong, hang, late, stop, content or stuck, or readerror,
 * readhang or readstuck, where only calls that copy content to the host count. GPUHISTO_DEVICES is
 * how many devices there are; the first one fails. GPUHISTO_SHARED_MEMORY is how many bytes of
 * shared memory a block may have. GPUHISTO_BATCH=IN,BLOCKS,FRAMES,ROOM is what a batch holds at
 * most: compressed bytes, blocks, frames and bytes of content. */
#ifndef GPUHISTO_EMULATED_DEVICE_H
#define GPUHISTO_EMULATED_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fault {
    FAULT_NONE,
    FAULT_ERROR,   /* the at-th call of the seam fails, and every later one if for_good */
    FAULT_WRONG,   /* the at-th snapshot has too many in one bin */
    FAULT_HANG,    /* from the at-th call on nothing ever arrives */
    FAULT_LATE,    /* every snapshot is kept back for `at` looks; counts come right */
    FAULT_STOP,    /* at the first look in vain the process is stopped for `at` milliseconds */
    FAULT_CONTENT, /* of the content that the at-th call copies to the host, one byte is wrong */
    FAULT_STUCK,   /* the at-th call of the seam never returns; if `at` is odd, it has done its work
                    */
};

struct fault_plan {
    enum fault fault;
    unsigned at; /* from 1 */
    bool for_good;
    unsigned seed;    /* of the order in which the streams go on; 0: as enqueued */
    unsigned devices; /* that there are; 0: one */
    int victim;       /* the one that fails, from 0; -1: all of them, by one count of calls */
    bool reads_only;  /* of all calls only those count that copy content, or look for it */
};

/* For devices opened from now on, one at a time; resets the counters below. */
void emulated_device_plan(struct fault_plan plan);

/* Calls of the seam since, of the devices that may fail, except device_name and device_error, and
 * looks that find nothing new; and whether the plan's fault came to pass. */
unsigned emulated_device_calls(void);
bool emulated_device_struck(void);

/* How many bytes of memory devices have for decompressing, from now on; 0: any amount. */
void emulated_device_memory(uint64_t bytes);

/* Has calls that are stuck return, and waits until they have: as if a driver came back after all.
 * Their devices are lost. */
void emulated_device_release(void);

/* Devices that were opened and neither closed nor lost. */
unsigned emulated_devices_open(void);

#ifdef __cplusplus
}
#endif

#endif
