/* SPDX-License-Identifier: MIT */
/* Host memory that a device reads and writes: pages of our own, pinned if the device can. */
#ifndef GPUHISTO_PINNED_H
#define GPUHISTO_PINNED_H

#include "device_thread.h"

#include <stdbool.h>
#include <stddef.h>

struct pinned {
    void *mapping; /* what was mapped, and its bytes; NULL: nothing */
    size_t mapping_size;
    unsigned char *memory; /* the first huge page in it */
    struct device_thread *thread;
    bool is_pinned; /* by these */
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

#endif
