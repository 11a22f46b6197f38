/* SPDX-License-Identifier: MIT */
/* The thread that makes the calls of a device, one after the other, and looks what has arrived. */
#include "device_thread_internal.h"

#include <stdlib.h>
#include <time.h>

#define POLL_NS 20000 /* between looks at a busy device: a small part of a chunk's copy */

/* --- what both own --- */

void device_thread_disown(struct device_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    bool is_last = --thread->owners == 0;
    pthread_mutex_unlock(&thread->lock);
    if (!is_last)
        return;
    for (unsigned i = 0; i < WORK_ARRIVES; i++) {
        free(thread->track[i].ticket);
        free(thread->track[i].waiting);
    }
    free(thread->making.work);
    free(thread->list.work);
    pthread_cond_destroy(&thread->posted);
    pthread_cond_destroy(&thread->answered);
    pthread_mutex_destroy(&thread->lock);
    free(thread);
}

void device_thread_lose(struct device_thread *thread, const char *why)
{
    if (!atomic_load(&thread->is_left))
        error_set(&thread->error, "%s", why);
    atomic_store(&thread->is_left, true);
}

/* --- calls --- */

/* Answers what was asked. */
static void answer(struct device_thread *thread, int rc)
{
    pthread_mutex_lock(&thread->lock);
    thread->question.rc = rc;
    thread->question.kind = ASKED_NOTHING;
    pthread_cond_signal(&thread->answered);
    pthread_mutex_unlock(&thread->lock);
}

/* Makes the call that answers. 0, or -1: the device is lost, which is answer enough. */
static int answer_by_call(struct device_thread *thread, enum question_kind kind)
{
    struct question *question = &thread->question;
    int rc = 0;
    switch (kind) {
    case ASKED_PIN:
        rc = device_pin(thread->device, question->memory, question->size);
        break;
    case ASKED_UNPIN:
        device_unpin(thread->device, question->memory);
        break;
    case ASKED_OPEN_DECODING:
        if (device_open_decoding(thread->device, &question->decoding) != 0)
            return -1;
        break;
    case ASKED_CLOSE:
        device_close(thread->device);
        atomic_store(&thread->is_left, true);
        break;
    default:
        return 0;
    }
    answer(thread, rc);
    return 0;
}

/* Work that will arrive was sent to the device. */
static void expect(struct device_thread *thread, const struct device_work *work)
{
    const unsigned number = device_work_number(work);
    struct track *track = &thread->track[work->kind];
    struct ticket *ticket = &track->ticket[number];
    const bool waits = ticket->made != ticket->done; /* which only this thread changes */
    ticket->made++;
    if (!waits)
        track->waiting[(track->first + track->length++) % track->count] = number;
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

/* Makes what was taken, and what was asked after it, as long as the device is not left. 0, or -1: a
 * call has failed. */
static int make_all(struct device_thread *thread, enum question_kind asked)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < thread->making.count && !atomic_load(&thread->is_left); i++)
        rc = make(thread, &thread->making.work[i]);
    return rc == 0 && !atomic_load(&thread->is_left) ? answer_by_call(thread, asked) : rc;
}

/* --- looks --- */

/* Looks whether the work of a kind that was sent first has arrived. 1: it has; 0: nothing; -1: the
 * device is lost. */
static int poll(struct device_thread *thread, enum device_work_kind kind)
{
    struct track *track = &thread->track[kind];
    if (track->length == 0)
        return 0;
    const unsigned number = track->waiting[track->first];
    struct ticket *ticket = &track->ticket[number];
    struct slot_times times = {0};
    int arrived = device_arrived(thread->device, kind, number);
    if (arrived == 1 && thread->plan.timing && !atomic_load(&thread->is_left) &&
        (kind == WORK_COPY_BLOCKS || ticket->is_counted) &&
        device_times(thread->device, kind, number, &times) != 0)
        arrived = -1;
    if (arrived != 1)
        return arrived;
    track->first = (track->first + 1) % track->count;
    track->length--;
    pthread_mutex_lock(&thread->lock);
    ticket->times = times;
    if (kind == WORK_COPY_BLOCKS)
        thread->copy_seconds += times.copy_end - times.copy_begin;
    ticket->done = ticket->made;
    pthread_mutex_unlock(&thread->lock);
    return 1;
}

/* Polls work of all kinds. Returns 1 if any has arrived, 0 if none has, -1 if the device is
 * lost. */
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
        waits |= thread->track[kind].length > 0;
    return waits;
}

/* --- the thread --- */

/* Takes what was posted, and returns what was asked; if nothing was, and nothing is expected of the
 * device, waits for it. */
static enum question_kind take(struct device_thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    while (thread->list.count == 0 && thread->question.kind == ASKED_NOTHING &&
           !is_waiting(thread) && !atomic_load(&thread->is_left)) {
        thread->sleeps = true;
        pthread_cond_wait(&thread->posted, &thread->lock);
    }
    thread->sleeps = false;
    const struct work_list empty = {.work = thread->making.work,
                                    .capacity = thread->making.capacity};
    thread->making = thread->list;
    thread->list = empty;
    const enum question_kind asked = thread->question.kind;
    pthread_mutex_unlock(&thread->lock);
    return asked;
}

/* A call has failed: loses the device, unless it was left, and wakes whoever waits. */
static void fail(struct device_thread *thread)
{
    if (atomic_load(&thread->is_left))
        return;
    pthread_mutex_lock(&thread->lock);
    device_thread_lose(thread, device_error(thread->device));
    pthread_cond_signal(&thread->answered);
    pthread_mutex_unlock(&thread->lock);
}

/* Makes calls and looks until the device is closed, lost or left. */
static void serve(struct device_thread *thread)
{
    int arrived = 0;
    while (arrived >= 0 && !atomic_load(&thread->is_left)) {
        const enum question_kind asked = take(thread);
        arrived = make_all(thread, asked) == 0 ? poll_all(thread) : -1;
        if (arrived == 0 && thread->making.count == 0 && is_waiting(thread))
            nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    if (arrived < 0)
        fail(thread);
}

void *device_thread_run(void *arg)
{
    struct device_thread *thread = arg;
    struct error error;
    thread->device = device_open(&thread->plan, &error);
    if (thread->device) {
        answer(thread, 0);
        serve(thread);
    } else {
        pthread_mutex_lock(&thread->lock);
        device_thread_lose(thread, error.text);
        pthread_cond_signal(&thread->answered);
        pthread_mutex_unlock(&thread->lock);
    }
    device_thread_disown(thread);
    return NULL;
}
