/* SPDX-License-Identifier: MIT */
/* The device's thread, as its files see it: device_thread.c (posts, answers, polls) stands above
 * device_thread_loop.c (the thread, which makes the calls and polls the device). */
#ifndef GPUHISTO_DEVICE_THREAD_INTERNAL_H
#define GPUHISTO_DEVICE_THREAD_INTERNAL_H

#include "device_thread.h"
#include "cuda_devices.h"

#include <pthread.h>
#include <stdatomic.h>

/* A list that grows. */
struct work_list {
    struct device_work *work;
    size_t count, capacity;
};

/* Work of one kind and number. */
struct ticket {
    unsigned posted;         /* how often; the caller's */
    unsigned made;           /* of these; the thread's */
    unsigned done;           /* of these; under the lock */
    bool is_counted;         /* there are times of the slot; the thread's */
    struct slot_times times; /* under the lock */
};

/* Work of one kind, which arrives in the order in which it was posted. */
struct track {
    struct ticket *ticket;
    unsigned count;
    unsigned *waiting; /* numbers whose work is not done, a ring of `count`; the thread's */
    unsigned first, length;
};

/* The questions to the thread. */
enum question_kind {
    ASKED_NOTHING, /* it has answered */
    ASKED_OPEN,    /* which it does first */
    ASKED_PIN,
    ASKED_UNPIN,
    ASKED_OPEN_DECODING,
    ASKED_CLOSE,
};

struct question {
    enum question_kind kind;
    void *memory; /* to be pinned or unpinned, */
    size_t size;  /* bytes */
    struct device_decoding decoding;
    int rc; /* the answer */
};

struct device_thread {
    struct device_plan plan;
    struct cuda_device cuda_device; /* the plan's, as a call may outlive the caller's own */
    unsigned deadline_ms;
    struct device *device; /* the thread's */
    struct track track[WORK_ARRIVES];
    struct work_list making; /* the thread's */
    atomic_bool is_left;     /* it is lost or closed: no other call is to be made */

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t posted, answered;
    struct work_list list;    /* posted, and not taken yet */
    struct question question; /* once its kind is set, the thread's until it has answered */
    bool sleeps;              /* the thread waits for either */
    double copy_seconds;
    bool is_stuck; /* left, because there was no answer */
    struct error error;
    unsigned owners; /* the caller and the thread: the last one frees it */
};

/* The thread: opens the device, and makes calls until it is closed, lost or left. Takes a struct
 * calls, of which it is an owner. */
void *device_thread_run(void *calls);

/* Records that the device is lost, and leaves it; the first error is kept. Under the lock. */
void device_thread_lose(struct device_thread *thread, const char *why);

/* Gives up one owner's share. The last owner's call frees the struct. */
void device_thread_disown(struct device_thread *thread);

#endif
