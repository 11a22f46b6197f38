/* SPDX-License-Identifier: MIT */
/* The calls of a device, made by a thread of their own: one that never returns holds up nobody
 * else.
 *
 *     the engine          the thread     the device
 *     device_thread_post      ->  posted     ->  device_enqueue
 *     device_thread_arrived   <-  done       <-  device_arrived
 *
 * Work is posted, and done in the order of the posts. Polls compare how much was posted with how
 * much the thread has seen to arrive. So neither ever waits for the device, and a call that hangs
 * shows as work that does not arrive. device.h says what each function does.
 *
 * No two threads may be inside functions of the same thread at once: the engine holds its lock. An
 * int is 0, or -1 once the device is lost: a call has failed, or was not answered in time. Then no
 * other is made, and device_thread_error says why. */
#ifndef GPUHISTO_GPU_ENGINE_DEVICE_THREAD_H
#define GPUHISTO_GPU_ENGINE_DEVICE_THREAD_H

#include "device.h"

struct device_thread;

/* Starts the thread and has it open the device, as device_open. NULL with the error set. Sets
 * *is_stuck if it has not answered within a few times the deadline. It may do so later, so what the
 * plan points to must live as long as the process, but for `cuda_device`, which is copied. */
struct device_thread *device_thread_open(const struct device_plan *plan, unsigned deadline_ms,
                                         bool *is_stuck, struct error *error);

/* Returns the device's name, which lives as long as the thread. */
const char *device_thread_name(const struct device_thread *thread);

/* --- answered, within a few times the deadline, or the device is lost --- */

/* Pins memory. 0, or -1 if the memory cannot be pinned, or the device is lost. */
int device_thread_pin(struct device_thread *thread, void *memory, size_t size);

/* Unpins memory. 0, or -1 once the device is lost: then the memory must be left to it. */
int device_thread_unpin(struct device_thread *thread, void *memory);

/* Has the thread call a function of the device, with a copy of `arg`, `size` bytes, as the call may
 * outlive the caller; sets *arg to what the call leaves of it. Returns 0, or -1: the call has
 * failed, and the device is lost. */
#define DEVICE_CALL_MAX 64 /* bytes of `arg`, at most */
typedef int device_call(struct device *device, void *arg);
int device_thread_call(struct device_thread *thread, device_call *call, void *arg, size_t size);

/* --- posted --- */

/* Has work enqueued. Whatever it points to must not change until the work was seen to be done. */
int device_thread_post(struct device_thread *thread, const struct device_work *work);

/* Returns 1 if all work of this kind and number has arrived, 0 if not yet, -1: the device is lost.
 */
int device_thread_arrived(struct device_thread *thread, enum device_work_kind kind,
                          unsigned number);

/* Returns the times of a slot that was counted and has arrived, with plan->timing. */
struct slot_times device_thread_times(struct device_thread *thread, unsigned slot);

/* Returns the seconds that copies of compressed bytes took, with plan->timing. */
double device_thread_copy_seconds(struct device_thread *thread);

/* --- the end --- */

/* True if the device is lost. */
bool device_thread_is_lost(struct device_thread *thread);

/* Returns why the device is lost. The text lives as long as the thread. */
const char *device_thread_error(const struct device_thread *thread);

/* Leaves a device that is lost: no other call is made. A call that hangs may still return, and then
 * writes only to memory that the device was given to write to. */
void device_thread_leave(struct device_thread *thread);

/* Closes the device, unless it was left, and frees what is the caller's. Everything must have
 * arrived, and all memory must be unpinned. */
void device_thread_close(struct device_thread *thread);

#endif
