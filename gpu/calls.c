/* SPDX-License-Identifier: MIT */
#include "calls_internal.h"
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
static struct calls *calls_allocate(const struct device_plan *plan, unsigned deadline_ms)
{
    const unsigned slots = plan->slots + DEVICE_BATCHES_MAX;
    const unsigned counts[WORK_ARRIVES] = {[WORK_SNAPSHOT] = slots,
                                           [WORK_DECODE] = slots,
                                           [WORK_COPY_BLOCKS] = DEVICE_INPUTS,
                                           [WORK_READ_CONTENT] = DEVICE_READS};
    struct calls *calls = calloc(1, sizeof *calls);
    bool is_there = calls != NULL;
    if (!is_there)
        return NULL;
    calls->plan = *plan;
    if (plan->visible) {
        calls->visible = *plan->visible;
        calls->plan.visible = &calls->visible;
    }
    calls->deadline_ms = deadline_ms;
    calls->owners = 1;
    calls->question.kind = ASKED_OPEN;
    pthread_mutex_init(&calls->lock, NULL);
    init_condition(&calls->posted);
    init_condition(&calls->answered);
    for (unsigned i = 0; i < WORK_ARRIVES; i++) {
        struct track *track = &calls->track[i];
        track->count = counts[i];
        track->ticket = calloc(counts[i], sizeof track->ticket[0]);
        track->waiting = calloc(counts[i], sizeof track->waiting[0]);
        is_there &= track->ticket && track->waiting;
    }
    if (is_there)
        return calls;
    calls_disown(calls);
    return NULL;
}

/* --- what is lost --- */

bool calls_are_lost(struct calls *calls)
{
    return atomic_load(&calls->is_left);
}

const char *calls_error(const struct calls *calls)
{
    return calls->error.text;
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

static bool is_unanswered(const struct calls *calls)
{
    return calls->question.kind != ASKED_NOTHING && !atomic_load(&calls->is_left);
}

/* Waits for the thread's answer. Returns it, or -1: the device is lost. Under the lock. */
static int wait_for_answer(struct calls *calls, uint64_t ms)
{
    for (uint64_t slices = ms / SLICE_MS + 1; slices > 0; slices--) {
        const struct timespec end = slice_end();
        int rc = 0;
        while (is_unanswered(calls) && rc == 0)
            rc = pthread_cond_timedwait(&calls->answered, &calls->lock, &end);
        if (!is_unanswered(calls))
            break;
    }
    if (is_unanswered(calls)) {
        calls->is_stuck = true;
        calls_lose(calls, "the device does not answer");
    }
    return atomic_load(&calls->is_left) ? -1 : calls->question.rc;
}

/* Wakes the thread, which has something to do. Under the lock. */
static void wake(struct calls *calls)
{
    if (calls->sleeps)
        pthread_cond_signal(&calls->posted);
    calls->sleeps = false;
}

/* Asks the thread, and waits for its answer, up to `deadlines` deadlines. */
static int ask(struct calls *calls, const struct question *question, uint64_t deadlines)
{
    int rc = -1;
    pthread_mutex_lock(&calls->lock);
    if (!atomic_load(&calls->is_left)) {
        calls->question = *question;
        wake(calls);
        rc = wait_for_answer(calls, deadlines * calls->deadline_ms);
    }
    pthread_mutex_unlock(&calls->lock);
    return rc;
}

int calls_pin(struct calls *calls, void *memory, size_t size)
{
    const struct question question = {.kind = ASKED_PIN, .memory = memory, .size = size};
    return ask(calls, &question, 1 + size / PINNED_A_DEADLINE);
}

int calls_unpin(struct calls *calls, void *memory)
{
    return ask(calls, &(struct question){.kind = ASKED_UNPIN, .memory = memory}, 1);
}

int calls_open_decoding(struct calls *calls, struct device_decoding *decoding)
{
    const struct question question = {.kind = ASKED_OPEN_DECODING, .decoding = *decoding};
    int rc = ask(calls, &question, STARTUP_DEADLINES);
    if (rc == 0)
        *decoding = calls->question.decoding;
    return rc;
}

/* --- work --- */

/* Adds work to the list. 0, or -1: the device is lost. Under the lock. */
static int append(struct calls *calls, const struct device_work *work)
{
    struct work_list *list = &calls->list;
    if (atomic_load(&calls->is_left))
        return -1;
    struct device_work *longer =
        grow_list(list->work, &list->capacity, list->count + 1, sizeof *longer);
    if (!longer) {
        calls_lose(calls, "out of memory");
        return -1;
    }
    list->work = longer;
    list->work[list->count++] = *work;
    wake(calls);
    return 0;
}

int calls_post(struct calls *calls, const struct device_work *work)
{
    pthread_mutex_lock(&calls->lock);
    int rc = append(calls, work);
    pthread_mutex_unlock(&calls->lock);
    if (work->kind < WORK_ARRIVES)
        calls->track[work->kind].ticket[device_work_number(work)].posted++;
    return rc;
}

int calls_arrived(struct calls *calls, enum device_work_kind kind, unsigned number)
{
    const struct ticket *ticket = &calls->track[kind].ticket[number];
    pthread_mutex_lock(&calls->lock);
    int arrived = atomic_load(&calls->is_left) ? -1 : ticket->done == ticket->posted;
    pthread_mutex_unlock(&calls->lock);
    return arrived;
}

struct slot_times calls_times(struct calls *calls, unsigned slot)
{
    pthread_mutex_lock(&calls->lock);
    struct slot_times times = calls->track[WORK_SNAPSHOT].ticket[slot].times;
    pthread_mutex_unlock(&calls->lock);
    return times;
}

double calls_copy_seconds(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    double seconds = calls->copy_seconds;
    pthread_mutex_unlock(&calls->lock);
    return seconds;
}

/* --- opening and closing --- */

/* Starts the thread, which nobody waits for: it may never end. True if there is one. */
static bool start_thread(struct calls *calls)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    calls->owners = 2;
    bool has_started = pthread_create(&thread, &attributes, calls_thread, calls) == 0;
    if (!has_started)
        calls->owners = 1;
    pthread_attr_destroy(&attributes);
    return has_started;
}

struct calls *calls_open(const struct device_plan *plan, unsigned deadline_ms, bool *is_stuck,
                         struct error *error)
{
    struct calls *calls = calls_allocate(plan, deadline_ms);
    *is_stuck = false;
    if (!calls || !start_thread(calls)) {
        error_set(error, calls ? "cannot start a thread" : "out of memory");
        if (calls)
            calls_disown(calls);
        return NULL;
    }
    pthread_mutex_lock(&calls->lock);
    bool is_open = wait_for_answer(calls, STARTUP_DEADLINES * (uint64_t)deadline_ms) == 0;
    *error = calls->error;
    *is_stuck = calls->is_stuck;
    pthread_mutex_unlock(&calls->lock);
    if (is_open)
        return calls;
    calls_disown(calls);
    return NULL;
}

const char *calls_name(const struct calls *calls)
{
    return device_name(calls->device);
}

void calls_leave(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    atomic_store(&calls->is_left, true);
    pthread_cond_signal(&calls->posted);
    pthread_mutex_unlock(&calls->lock);
}

void calls_close(struct calls *calls)
{
    if (ask(calls, &(struct question){.kind = ASKED_CLOSE}, 1) != 0)
        calls_leave(calls);
    calls_disown(calls);
}
