/* SPDX-License-Identifier: MIT */
#include "engine_internal.h"
#include "src/base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* An answer is waited for in slices, so that the time in which the process is stopped counts as one
 * of them. */
#define SLICE_MS 10

/* CUDA takes seconds to start on a machine with many GPUs, and may have to compile kernels for one
 * that is newer than they are. */
#define STARTUP_DEADLINES 3

/* Where there are no huge pages, some seconds go by while these bytes are pinned. */
#define PINNED_A_DEADLINE ((size_t)4 << 30)

/* A list that grows. */
struct work_list {
    struct device_work *work;
    size_t count, capacity;
};

/* Work of one kind and number. */
struct ticket {
    atomic_uint pending; /* how often it was posted and has not arrived */
    /* The thread's: */
    unsigned made;           /* of these, how many were sent to the device, */
    struct ticket *next;     /* and what of the kind was sent after the first of them */
    bool is_counted;         /* there are times of the slot, */
    struct slot_times times; /* the caller's while nothing is pending */
};

/* Work of one kind, which arrives in the order in which it was sent. */
struct track {
    struct ticket *ticket;          /* of each number */
    struct ticket *oldest, *newest; /* of those that wait; the thread's */
};

/* A call that is to be made, and what came of it. */
struct question {
    device_call *call; /* NULL: it was answered */
    bool may_fail;     /* without the device being lost */
    int rc;
    union {
        unsigned char bytes[DEVICE_CALL_MAX];
        max_align_t aligned;
    } arg;
};

struct device_thread {
    struct device_plan plan;
    unsigned deadline_ms;
    struct device *device; /* the thread's */
    struct track track[WORK_ARRIVES];
    struct work_list making; /* the thread's */
    _Atomic double copy_seconds;
    atomic_bool is_left; /* it is lost or closed: no other call is to be made */

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    struct work_list list;    /* posted, and not taken yet */
    struct question question; /* once it has a call, the thread's until it has answered */
    bool is_stuck;            /* left, because there was no answer */
    struct error error;
    unsigned owners; /* the caller and the thread: the last one frees it */
};

/* --- what both own --- */

/* Gives up one owner's share: the caller's or the thread's. The last one frees it. */
static void disown(struct device_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    bool is_last = --thread->owners == 0;
    pthread_mutex_unlock(&thread->lock);
    if (!is_last)
        return;
    free(thread->track[0].ticket);
    free(thread->making.work);
    free(thread->list.work);
    pthread_cond_destroy(&thread->changed);
    pthread_mutex_destroy(&thread->lock);
    free(thread);
}

/* Records that the device is lost, and leaves it; the first error is kept. Under the lock. */
static void lose(struct device_thread *thread, const char *why)
{
    if (!atomic_load(&thread->is_left))
        error_set(&thread->error, "%s", why);
    atomic_store(&thread->is_left, true);
}

/* --- the thread: calls --- */

static int close_device(struct device *device, void *unused)
{
    (void)unused;
    device_close(device);
    return 0;
}

/* Answers what was asked; or loses the device, if there is a reason. Wakes whoever waits. */
static void settle(struct device_thread *thread, int rc, const char *loss)
{
    pthread_mutex_lock(&thread->lock);
    if (loss)
        lose(thread, loss);
    thread->question.rc = rc;
    thread->question.call = NULL;
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
}

/* Makes the call that was asked for, and answers. 0, or -1: the device is lost. */
static int answer(struct device_thread *thread)
{
    struct question *question = &thread->question;
    const int rc = question->call(thread->device, &question->arg);
    if (question->call == close_device)
        atomic_store(&thread->is_left, true);
    if (rc != 0 && !question->may_fail)
        return -1;
    settle(thread, rc, NULL);
    return 0;
}

/* Work that will arrive was sent to the device. */
static void expect(struct device_thread *thread, const struct device_work *work)
{
    struct track *track = &thread->track[work->kind];
    struct ticket *ticket = &track->ticket[device_work_number(work)];
    if (ticket->made++ > 0)
        return; /* it waits already */
    ticket->next = NULL;
    if (track->oldest)
        track->newest->next = ticket;
    else
        track->oldest = ticket;
    track->newest = ticket;
}

/* Has work enqueued. 0 or -1. */
static int make(struct device_thread *thread, const struct device_work *work)
{
    if (work->kind < WORK_ARRIVES)
        expect(thread, work);
    else if (work->kind == WORK_COUNT || work->kind == WORK_COUNT_CONTENT)
        thread->track[WORK_SNAPSHOT].ticket[work->slot].is_counted = true;
    return device_enqueue(thread->device, work);
}

/* Makes what was taken, and the call that was asked for after it, as long as the device is not
 * left. 0, or -1: a call has failed. */
static int make_all(struct device_thread *thread, bool is_asked)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < thread->making.count && !atomic_load(&thread->is_left); i++)
        rc = make(thread, &thread->making.work[i]);
    return rc == 0 && is_asked && !atomic_load(&thread->is_left) ? answer(thread) : rc;
}

/* --- looks --- */

/* Looks whether the work of a kind that was sent first has arrived. 1: it has; 0: nothing; -1: the
 * device is lost. */
static int poll(struct device_thread *thread, enum device_work_kind kind)
{
    struct track *track = &thread->track[kind];
    struct ticket *ticket = track->oldest;
    if (!ticket)
        return 0;
    const bool is_timed = thread->plan.timing && (kind == WORK_COPY_BLOCKS || ticket->is_counted);
    struct slot_times *times = &ticket->times;
    const int arrived = device_arrived(thread->device, kind, (unsigned)(ticket - track->ticket),
                                       is_timed ? times : NULL);
    if (arrived != 1)
        return arrived;
    if (kind == WORK_COPY_BLOCKS)
        thread->copy_seconds = thread->copy_seconds + times->copy_end - times->copy_begin;
    track->oldest = ticket->next;
    const unsigned made = ticket->made;
    ticket->made = 0;
    atomic_fetch_sub(&ticket->pending, made);
    return 1;
}

/* Polls all kinds of work. Returns 1 if any has arrived, 0 if none, -1 if the device is lost. */
static int poll_all(struct device_thread *thread)
{
    int arrived = 0;
    for (unsigned kind = 0; arrived >= 0 && kind < WORK_ARRIVES && !atomic_load(&thread->is_left);
         kind++) {
        int rc = poll(thread, (enum device_work_kind)kind);
        arrived = rc < 0 ? -1 : arrived | rc;
    }
    return arrived;
}

static bool is_waiting(const struct device_thread *thread)
{
    bool waits = false;
    for (unsigned kind = 0; kind < WORK_ARRIVES; kind++)
        waits |= thread->track[kind].oldest != NULL;
    return waits;
}

/* --- the thread --- */

/* Takes what was posted, and returns whether a call is asked for; if neither, and nothing is
 * expected of the device, waits for one. */
static bool take(struct device_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    while (thread->list.count == 0 && !thread->question.call && !is_waiting(thread) &&
           !atomic_load(&thread->is_left))
        pthread_cond_wait(&thread->changed, &thread->lock);
    const struct work_list empty = {.work = thread->making.work,
                                    .capacity = thread->making.capacity};
    thread->making = thread->list;
    thread->list = empty;
    const bool is_asked = thread->question.call != NULL;
    pthread_mutex_unlock(&thread->lock);
    return is_asked;
}

/* Opens the device, and makes calls and looks until it is closed, lost or left. */
static void *run(void *arg)
{
    struct device_thread *thread = arg;
    struct error error;
    int arrived = 0;
    thread->device = device_open(&thread->plan, &error);
    settle(thread, 0, thread->device ? NULL : error.text);
    while (arrived >= 0 && !atomic_load(&thread->is_left)) {
        const bool is_asked = take(thread);
        arrived = make_all(thread, is_asked) == 0 ? poll_all(thread) : -1;
        if (arrived == 0 && thread->making.count == 0 && is_waiting(thread))
            nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    if (arrived < 0 && !atomic_load(&thread->is_left))
        settle(thread, -1, device_error(thread->device));
    disown(thread);
    return NULL;
}

/* --- the owner: answers --- */

static bool is_unanswered(const struct device_thread *thread)
{
    return thread->question.call && !atomic_load(&thread->is_left);
}

/* Waits for the thread's answer. Returns it, or -1: the device is lost. Under the lock. */
static int wait_for_answer(struct device_thread *thread, uint64_t ms)
{
    for (uint64_t slices = ms / SLICE_MS + 1; slices > 0; slices--) {
        struct timespec end = clock_now();
        int rc = 0;
        end.tv_nsec += SLICE_MS * 1000000L;
        end.tv_sec += end.tv_nsec / 1000000000L;
        end.tv_nsec %= 1000000000L;
        while (is_unanswered(thread) && rc == 0)
            rc = pthread_cond_timedwait(&thread->changed, &thread->lock, &end);
        if (!is_unanswered(thread))
            break;
    }
    if (is_unanswered(thread)) {
        thread->is_stuck = true;
        lose(thread, "the device does not answer");
    }
    return atomic_load(&thread->is_left) ? -1 : thread->question.rc;
}

/* Has the thread make a call, and waits for its answer, up to `deadlines` deadlines. */
static int ask(struct device_thread *thread, const struct question *question, uint64_t deadlines)
{
    int rc = -1;
    pthread_mutex_lock(&thread->lock);
    if (!atomic_load(&thread->is_left)) {
        thread->question = *question;
        pthread_cond_broadcast(&thread->changed);
        rc = wait_for_answer(thread, deadlines * thread->deadline_ms);
    }
    pthread_mutex_unlock(&thread->lock);
    return rc;
}

int device_thread_call(struct device_thread *thread, device_call *call, void *arg, size_t size)
{
    struct question question = {.call = call};
    memcpy(&question.arg, arg, size);
    const int rc = ask(thread, &question, STARTUP_DEADLINES);
    if (rc == 0)
        memcpy(arg, &thread->question.arg, size);
    return rc;
}

const char *device_thread_error(const struct device_thread *thread)
{
    return thread->error.text;
}

/* --- the owner: pinned memory --- */

#define HUGE_PAGE ((size_t)2 << 20)

size_t pinned_round(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

/* Huge pages where they can be had: pinning then takes a tenth of the time. */
int pinned_open(struct pinned *pinned, size_t size, struct device_thread *thread)
{
    pinned->mapping_size = size + HUGE_PAGE;
    pinned->mapping = mmap(NULL, pinned->mapping_size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pinned->mapping == MAP_FAILED) {
        pinned->mapping = NULL;
        return -1;
    }
    pinned->memory = (unsigned char *)pinned_round((uintptr_t)pinned->mapping, HUGE_PAGE);
    madvise(pinned->memory, size, MADV_HUGEPAGE); /* only faster */
    /* Asks the kernel for all pages, which are zeros, without writing to them. */
    bool is_populated = false;
#ifdef MADV_POPULATE_WRITE
    is_populated = madvise(pinned->memory, size, MADV_POPULATE_WRITE) == 0;
#endif
    for (size_t at = 0; !is_populated && at < size; at += PINNED_PAGE)
        *(volatile unsigned char *)(pinned->memory + at) = 0;
    pinned->thread = thread;
    struct question question = {.call = device_pin, .may_fail = true};
    memcpy(&question.arg, &(struct device_pinning){pinned->memory, size},
           sizeof(struct device_pinning));
    pinned->is_pinned = ask(thread, &question, 1 + size / PINNED_A_DEADLINE) == 0;
    return 0;
}

/* What cannot be unpinned stays mapped: the driver may still write to it. */
void pinned_close(struct pinned *pinned)
{
    if (!pinned->mapping)
        return;
    struct question question = {.call = device_pin, .may_fail = true};
    memcpy(&question.arg, &(struct device_pinning){pinned->memory, 0},
           sizeof(struct device_pinning));
    if (pinned->is_pinned ? ask(pinned->thread, &question, 1) == 0
                          : !atomic_load(&pinned->thread->is_left))
        munmap(pinned->mapping, pinned->mapping_size);
    pinned->mapping = NULL;
}

/* --- the owner: work --- */

int device_thread_post(struct device_thread *thread, const struct device_work *work)
{
    struct work_list *list = &thread->list;
    if (work->kind < WORK_ARRIVES)
        atomic_fetch_add(&thread->track[work->kind].ticket[device_work_number(work)].pending, 1);
    pthread_mutex_lock(&thread->lock);
    struct device_work *longer =
        grow_list(list->work, &list->capacity, list->count + 1, sizeof *longer);
    if (longer) {
        list->work = longer;
        list->work[list->count++] = *work;
    } else {
        lose(thread, "out of memory");
    }
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
    return atomic_load(&thread->is_left) ? -1 : 0;
}

int device_thread_arrived(struct device_thread *thread, enum device_work_kind kind, unsigned number)
{
    if (atomic_load(&thread->is_left))
        return -1;
    return atomic_load(&thread->track[kind].ticket[number].pending) == 0;
}

struct slot_times device_thread_times(const struct device_thread *thread, unsigned slot)
{
    return thread->track[WORK_SNAPSHOT].ticket[slot].times;
}

double device_thread_copy_seconds(const struct device_thread *thread)
{
    return thread->copy_seconds;
}

/* --- opening and closing --- */

/* Stands for the opening of the device, which the thread does before all else. */
static int open_first(struct device *device, void *unused)
{
    (void)device, (void)unused;
    return 0;
}

/* NULL: memory is short. */
static struct device_thread *device_thread_allocate(const struct device_plan *plan,
                                                    unsigned deadline_ms)
{
    const size_t numbers = plan->slots + DEVICE_BATCHES_MAX + DEVICE_READS; /* of any kind */
    struct device_thread *thread = calloc(1, sizeof *thread);
    struct ticket *tickets = calloc(WORK_ARRIVES * numbers, sizeof *tickets);
    if (!thread || !tickets) {
        free(thread);
        free(tickets);
        return NULL;
    }
    thread->plan = *plan;
    thread->deadline_ms = deadline_ms;
    thread->owners = 2;
    thread->question.call = open_first;
    pthread_mutex_init(&thread->lock, NULL);
    pthread_condattr_t attributes; /* answers are waited for by a clock that nobody sets */
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    for (unsigned i = 0; i < WORK_ARRIVES; i++)
        thread->track[i].ticket = tickets + i * numbers;
    return thread;
}

struct device_thread *device_thread_open(const struct device_plan *plan, unsigned deadline_ms,
                                         bool *is_stuck, struct error *error)
{
    struct device_thread *thread = device_thread_allocate(plan, deadline_ms);
    *is_stuck = false;
    if (!thread) {
        error_set(error, "out of memory");
        return NULL;
    }
    if (start_detached_thread(run, thread, 0) != 0) { /* nobody waits for it: it may never end */
        error_set(error, "cannot start a thread");
        thread->owners = 1;
        disown(thread);
        return NULL;
    }
    pthread_mutex_lock(&thread->lock);
    bool is_open = wait_for_answer(thread, STARTUP_DEADLINES * (uint64_t)deadline_ms) == 0;
    *error = thread->error;
    *is_stuck = thread->is_stuck;
    pthread_mutex_unlock(&thread->lock);
    if (is_open)
        return thread;
    disown(thread);
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
    pthread_cond_broadcast(&thread->changed);
    pthread_mutex_unlock(&thread->lock);
}

void device_thread_close(struct device_thread *thread)
{
    (void)ask(thread, &(struct question){.call = close_device}, 1);
    device_thread_leave(thread);
    disown(thread);
}
