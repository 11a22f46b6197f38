/* SPDX-License-Identifier: MIT */
/* Locality: which processors are near a GPU, on a machine with several memory nodes.
 *
 * A copy between a GPU and memory of another node goes through the link between the nodes, which is
 * slower and shared. So pinned memory is touched first by a thread near the GPU, as the kernel
 * takes pages of the node of that thread, and readers that fill this memory run there, too.
 *
 * Where there is one node, or where anything about it is not known, the locality is not known, and
 * no thread is placed. */
#ifndef GPUHISTO_LOCALITY_H
#define GPUHISTO_LOCALITY_H

#include <sched.h>
#include <stdbool.h>

struct locality {
    bool is_known;     /* otherwise the sets are of no use */
    cpu_set_t near;    /* some of those allowed, but not all */
    cpu_set_t allowed; /* what the process may use */
};

/* Sets *locality to what sysfs says of the PCI device, whose address is as CUDA writes it, such as
 * "0000:3B:00.0". `allowed` has the processors that may be used. sysfs is at root/sys; NULL: /sys,
 * otherwise a test's folder. Reads two small files at most. Not known: if the device has no node; a
 * file is missing or not as expected; or all or none of the processors allowed are near. */
void locality_read(struct locality *locality, const char *root, const char *address,
                   const cpu_set_t *allowed);

/* The same for the processors that the calling thread may run on. Not known on a machine with more
 * than CPU_SETSIZE processors. */
void locality_find(struct locality *locality, const char *root, const char *address);

/* Adds what is near another device of the same process: *all is where either is near. Not known
 * unless both are, and some processor is near neither. */
void locality_join(struct locality *all, const struct locality *other);

/* Whether the processor, as sched_getcpu gives it, is known to be near. */
bool locality_has(const struct locality *locality, int processor);

/* A thread's stay near a device. */
struct locality_stay {
    bool is_near;
    cpu_set_t before; /* where the thread might run before */
};

/* Has the calling thread run near the device until locality_leave, if the locality is known; NULL:
 * it is not. A system call or two. */
void locality_enter(const struct locality *locality, struct locality_stay *stay);

/* Ends the stay of the calling thread. */
void locality_leave(const struct locality_stay *stay);

/* Where a thread was placed. One that was started by a thread that runs near a device runs there,
 * too, until it is placed. */
enum locality_place { PLACE_UNKNOWN, PLACE_NEAR, PLACE_ANYWHERE };

/* Has the calling thread, which is at *place, run near the device, or wherever it is allowed. A
 * system call if it was placed elsewhere and the locality is known; otherwise nothing. */
void locality_place(const struct locality *locality, enum locality_place wanted,
                    enum locality_place *place);

#endif
