/* SPDX-License-Identifier: MIT */
#include "device_thread_internal.h"
#include "src/base/clock.h"
#include "src/base/grow.h"

#include <stdlib.h>

/* An answer is waited for in slices, so that the time in which the process is stopped counts as one
 * of them. */
#define SLICE_MS 10

/* CUDA takes seconds to start on a machine with many GPUs, and may have to compile kernels for one
 * that is newer than they are. */
#define STARTUP_DEADLINES 3

/* Where there are no huge pages, some seconds go by while these bytes are pinned. */
#define PINNED_A_DEADLINE ((size_t)4 << 30)

/* --- memory --- */

/* Answers are waited for by a clock that nobody sets. */
static void init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* NULL: memory is short. */
static struct device_thread *device_thread_allocate(const struct device_plan *plan,
                                                    unsigned deadline_ms)
{
    const unsigned slots = plan->slots + DEVICE_BATCHES_MAX;
    const unsigned counts[WORK_ARRIVES] = {[WORK_SNAPSHOT] = slots,
                                           [WORK_DECODE] = slots,
                                           [WORK_COPY_BLOCKS] = DEVICE_INPUTS,
                                           [WORK_READ_CONTENT] = DEVICE_READS};
    struct device_thread *thread = calloc(1, sizeof *thread);
    bool is_there = thread != NULL;
    if (!is_there)
        return NULL;
    thread->plan = *plan;
    if (plan->cuda_device) {
        thread->cuda_device = *plan->cuda_device;
        thread->plan.cuda_device = &thread->cuda_device;
    }
    thread->deadline_ms = deadline_ms;
    thread->owners = 1;
    thread->question.kind = ASKED_OPEN;
    pthread_mutex_init(&thread->lock, NULL);
    init_condition(&thread->posted);
    init_condition(&thread->answered);
    for (unsigned i = 0; i < WORK_ARRIVES; i++) {
        struct track *track = &thread->track[i];
        track->count = counts[i];
        track->ticket = calloc(counts[i], sizeof track->ticket[0]);
        track->waiting = calloc(counts[i], sizeof track->waiting[0]);
        is_there &= track->ticket && track->waiting;
    }
    if (is_there)
        return thread;
    device_thread_disown(thread);
    return NULL;
}

/* --- what is lost --- */

bool device_thread_are_lost(struct device_thread *thread)
{
    return atomic_load(&thread->is_left);
}

const char *device_thread_error(const struct device_thread *thread)
{
    return thread->error.text;
}

/* --- answers --- */

/* The end of a slice that begins now, by the conditions' clock. */
static struct timespec slice_end(void)
{
    struct timespec end = clock_now();
    end.tv_nsec += SLICE_MS * 1000000L;
    if (end.tv_nsec >= 1000000000L) {
        end.tv_nsec -= 1000000000L;
        end.tv_sec++;
    }
    return end;
}

static bool is_unanswered(const struct device_thread *thread)
{
    return thread->question.kind != ASKED_NOTHING && !atomic_load(&thread->is_left);
}

/* Waits for the thread's answer. Returns it, or -1: the device is lost. Under the lock. */
static int wait_for_answer(struct device_thread *thread, uint64_t ms)
{
    for (uint64_t slices = ms / SLICE_MS + 1; slices > 0; slices--) {
        const struct timespec end = slice_end();
        int rc = 0;
        while (is_unanswered(thread) && rc == 0)
            rc = pthread_cond_timedwait(&thread->answered, &thread->lock, &end);
        if (!is_unanswered(thread))
            break;
    }
    if (is_unanswered(thread)) {
        thread->is_stuck = true;
        device_thread_lose(thread, "the device does not answer");
    }
    return atomic_load(&thread->is_left) ? -1 : thread->question.rc;
}

/* Wakes the thread, which has something to do. Under the lock. */
static void wake(struct device_thread *thread)
{
    if (thread->sleeps)
        pthread_cond_signal(&thread->posted);
    thread->sleeps = false;
}

/* Asks the thread, and waits for its answer, up to `deadlines` deadlines. */
static int ask(struct device_thread *thread, const struct question *question, uint64_t deadlines)
{
    int rc = -1;
    pthread_mutex_lock(&thread->lock);
    if (!atomic_load(&thread->is_left)) {
        thread->question = *question;
        wake(thread);
        rc = wait_for_answer(thread, deadlines * thread->deadline_ms);
    }
    pthread_mutex_unlock(&thread->lock);
    return rc;
}

int device_thread_pin(struct device_thread *thread, void *memory, size_t size)
{
    const struct question question = {.kind = ASKED_PIN, .memory = memory, .size = size};
    return ask(thread, &question, 1 + size / PINNED_A_DEADLINE);
}

int device_thread_unpin(struct device_thread *thread, void *memory)
{
    return ask(thread, &(struct question){.kind = ASKED_UNPIN, .memory = memory}, 1);
}

int device_thread_open_decoding(struct device_thread *thread, struct device_decoding *decoding)
{
    const struct question question = {.kind = ASKED_OPEN_DECODING, .decoding = *decoding};
    int rc = ask(thread, &question, STARTUP_DEADLINES);
    if (rc == 0)
        *decoding = thread->question.decoding;
    return rc;
}

/* --- work --- */

/* Adds work to the list. 0, or -1: the device is lost. Under the lock. */
static int append(struct device_thread *thread, const struct device_work *work)
{
    struct work_list *list = &thread->list;
    if (atomic_load(&thread->is_left))
        return -1;
    struct device_work *longer =
        grow_list(list->work, &list->capacity, list->count + 1, sizeof *longer);
    if (!longer) {
        device_thread_lose(thread, "out of memory");
        return -1;
    }
    list->work = longer;
    list->work[list->count++] = *work;
    wake(thread);
    return 0;
}

int device_thread_post(struct device_thread *thread, const struct device_work *work)
{
    pthread_mutex_lock(&thread->lock);
    int rc = append(thread, work);
    pthread_mutex_unlock(&thread->lock);
    if (work->kind < WORK_ARRIVES)
        thread->track[work->kind].ticket[device_work_number(work)].posted++;
    return rc;
}

int device_thread_arrived(struct device_thread *thread, enum device_work_kind kind, unsigned number)
{
    const struct ticket *ticket = &thread->track[kind].ticket[number];
    pthread_mutex_lock(&thread->lock);
    int arrived = atomic_load(&thread->is_left) ? -1 : ticket->done == ticket->posted;
    pthread_mutex_unlock(&thread->lock);
    return arrived;
}

struct slot_times device_thread_times(struct device_thread *thread, unsigned slot)
{
    pthread_mutex_lock(&thread->lock);
    struct slot_times times = thread->track[WORK_SNAPSHOT].ticket[slot].times;
    pthread_mutex_unlock(&thread->lock);
    return times;
}

double device_thread_copy_seconds(struct device_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    double seconds = thread->copy_seconds;
    pthread_mutex_unlock(&thread->lock);
    return seconds;
}

/* --- opening and closing --- */

/* Starts the thread, which nobody waits for: it may never end. True if there is one. */
static bool start_thread(struct device_thread *device_thread)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    device_thread->owners = 2;
    bool has_started = pthread_create(&thread, &attributes, device_thread_run, device_thread) == 0;
    if (!has_started)
        device_thread->owners = 1;
    pthread_attr_destroy(&attributes);
    return has_started;
}

struct device_thread *device_thread_open(const struct device_plan *plan, unsigned deadline_ms,
                                         bool *is_stuck, struct error *error)
{
    struct device_thread *thread = device_thread_allocate(plan, deadline_ms);
    *is_stuck = false;
    if (!thread || !start_thread(thread)) {
        error_set(error, thread ? "cannot start a thread" : "out of memory");
        if (thread)
            device_thread_disown(thread);
        return NULL;
    }
    pthread_mutex_lock(&thread->lock);
    bool is_open = wait_for_answer(thread, STARTUP_DEADLINES * (uint64_t)deadline_ms) == 0;
    *error = thread->error;
    *is_stuck = thread->is_stuck;
    pthread_mutex_unlock(&thread->lock);
    if (is_open)
        return thread;
    device_thread_disown(thread);
    return NULL;
}

const char *device_thread_name(const struct device_thread *thread)
{
    return device_name(thread->device);
}

void device_thread_leave(struct device_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    atomic_store(&thread->is_left, true);
    pthread_cond_signal(&thread->posted);
    pthread_mutex_unlock(&thread->lock);
}

void device_thread_close(struct device_thread *thread)
{
    if (ask(thread, &(struct question){.kind = ASKED_CLOSE}, 1) != 0)
        device_thread_leave(thread);
    device_thread_disown(thread);
}
