/* SPDX-License-Identifier: MIT */
/* The calls of a device, made by a thread of their own: one that never returns holds up nobody
 * else.
 *
 *     the engine          the thread     the device
 *     calls_post      ->  posted     ->  device_enqueue
 *     calls_arrived   <-  done       <-  device_arrived
 *
 * Work is posted, and done in the order of the posts. Polls compare how much was posted with how
 * much the thread has seen to arrive. So neither ever waits for the device, and a call that hangs
 * shows as work that does not arrive. device.h says what each function does.
 *
 * No two threads may be inside functions of the same calls at once: the engine holds its lock. An
 * int is 0, or -1 once the device is lost: a call has failed, or was not answered in time. Then no
 * other is made, and calls_error says why. */
#ifndef GPUHISTO_CALLS_H
#define GPUHISTO_CALLS_H

#include "device.h"

struct calls;

/* Starts the thread and has it open the device, as device_open. NULL with the error set. Sets
 * *is_stuck if it has not answered within a few times the deadline. It may do so later, so what the
 * plan points to must live as long as the process, but for `visible`, which is copied. */
struct calls *calls_open(const struct device_plan *plan, unsigned deadline_ms, bool *is_stuck,
                         struct error *error);

/* Returns the device's name, which lives as long as the calls. */
const char *calls_name(const struct calls *calls);

/* --- answered, within a few times the deadline, or the device is lost --- */

/* Pins memory. 0, or -1 if the memory cannot be pinned, or the device is lost. */
int calls_pin(struct calls *calls, void *memory, size_t size);

/* Unpins memory. 0, or -1 once the device is lost: then the memory must be left to it. */
int calls_unpin(struct calls *calls, void *memory);

int calls_open_decoding(struct calls *calls, struct device_decoding *decoding);

/* --- posted --- */

/* Has work enqueued. Whatever it points to must not change until the work was seen to be done. */
int calls_post(struct calls *calls, const struct device_work *work);

/* Returns 1 if all work of this kind and number has arrived, 0 if not yet, -1: the device is lost.
 */
int calls_arrived(struct calls *calls, enum device_work_kind kind, unsigned number);

/* Returns the times of a slot that was counted and has arrived, with plan->timing. */
struct slot_times calls_times(struct calls *calls, unsigned slot);

/* Returns the seconds that copies of blocks took, with plan->timing. */
double calls_copy_seconds(struct calls *calls);

/* --- the end --- */

/* True if the device is lost. */
bool calls_are_lost(struct calls *calls);

/* Returns why the device is lost. The text lives as long as the calls. */
const char *calls_error(const struct calls *calls);

/* Leaves a device that is lost: no other call is made. A call that hangs may still return, and then
 * writes only to memory that the device was given to write to. */
void calls_leave(struct calls *calls);

/* Closes the device, unless it was left, and frees what is the caller's. Everything must have
 * arrived, and all memory must be unpinned. */
void calls_close(struct calls *calls);

#endif
