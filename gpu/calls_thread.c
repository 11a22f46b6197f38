/* SPDX-License-Identifier: MIT */
/* The thread that makes the calls of a device, one after the other, and looks what has arrived. */
#include "calls_internal.h"

#include <stdlib.h>
#include <time.h>

#define POLL_NS 20000 /* between looks at a busy device: a small part of a chunk's copy */

/* --- what both own --- */

void calls_disown(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    bool is_last = --calls->owners == 0;
    pthread_mutex_unlock(&calls->lock);
    if (!is_last)
        return;
    for (unsigned i = 0; i < WORK_ARRIVES; i++) {
        free(calls->track[i].ticket);
        free(calls->track[i].waiting);
    }
    free(calls->making.work);
    free(calls->list.work);
    pthread_cond_destroy(&calls->posted);
    pthread_cond_destroy(&calls->answered);
    pthread_mutex_destroy(&calls->lock);
    free(calls);
}

void calls_lose(struct calls *calls, const char *why)
{
    if (!atomic_load(&calls->is_left))
        error_set(&calls->error, "%s", why);
    atomic_store(&calls->is_left, true);
}

/* --- calls --- */

/* Answers what was asked. */
static void answer(struct calls *calls, int rc)
{
    pthread_mutex_lock(&calls->lock);
    calls->question.rc = rc;
    calls->question.kind = ASKED_NOTHING;
    pthread_cond_signal(&calls->answered);
    pthread_mutex_unlock(&calls->lock);
}

/* Makes the call that answers. 0, or -1: the device is lost, which is answer enough. */
static int answer_by_call(struct calls *calls, enum question_kind kind)
{
    struct question *question = &calls->question;
    int rc = 0;
    switch (kind) {
    case ASKED_PIN:
        rc = device_pin(calls->device, question->memory, question->size);
        break;
    case ASKED_UNPIN:
        device_unpin(calls->device, question->memory);
        break;
    case ASKED_OPEN_DECODING:
        if (device_open_decoding(calls->device, &question->decoding) != 0)
            return -1;
        break;
    case ASKED_CLOSE:
        device_close(calls->device);
        atomic_store(&calls->is_left, true);
        break;
    default:
        return 0;
    }
    answer(calls, rc);
    return 0;
}

/* Work that will arrive was sent to the device. */
static void expect(struct calls *calls, const struct device_work *work)
{
    const unsigned number = device_work_number(work);
    struct track *track = &calls->track[work->kind];
    struct ticket *ticket = &track->ticket[number];
    const bool waits = ticket->made != ticket->done; /* which only this thread changes */
    ticket->made++;
    if (!waits)
        track->waiting[(track->first + track->length++) % track->count] = number;
}

/* Has work enqueued. 0 or -1. */
static int make(struct calls *calls, const struct device_work *work)
{
    if (work->kind < WORK_ARRIVES)
        expect(calls, work);
    else
        calls->track[WORK_SNAPSHOT].ticket[work->slot].is_counted |= work->kind != WORK_COPY_IN;
    return device_enqueue(calls->device, work);
}

/* Makes what was taken, and what was asked after it, as long as the device is not left. 0, or -1: a
 * call has failed. */
static int make_all(struct calls *calls, enum question_kind asked)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < calls->making.count && !atomic_load(&calls->is_left); i++)
        rc = make(calls, &calls->making.work[i]);
    return rc == 0 && !atomic_load(&calls->is_left) ? answer_by_call(calls, asked) : rc;
}

/* --- looks --- */

/* Looks whether the work of a kind that was sent first has arrived. 1: it has; 0: nothing; -1: the
 * device is lost. */
static int poll(struct calls *calls, enum device_work_kind kind)
{
    struct track *track = &calls->track[kind];
    if (track->length == 0)
        return 0;
    const unsigned number = track->waiting[track->first];
    struct ticket *ticket = &track->ticket[number];
    struct slot_times times = {0};
    int arrived = device_arrived(calls->device, kind, number);
    if (arrived == 1 && calls->plan.timing && !atomic_load(&calls->is_left) &&
        (kind == WORK_COPY_BLOCKS || ticket->is_counted) &&
        device_times(calls->device, kind, number, &times) != 0)
        arrived = -1;
    if (arrived != 1)
        return arrived;
    track->first = (track->first + 1) % track->count;
    track->length--;
    pthread_mutex_lock(&calls->lock);
    ticket->times = times;
    if (kind == WORK_COPY_BLOCKS)
        calls->copy_seconds += times.copy_end - times.copy_begin;
    ticket->done = ticket->made;
    pthread_mutex_unlock(&calls->lock);
    return 1;
}

/* Polls work of all kinds. Returns 1 if any has arrived, 0 if none has, -1 if the device is
 * lost. */
static int poll_all(struct calls *calls)
{
    int arrived = 0;
    for (unsigned kind = 0; arrived >= 0 && kind < WORK_ARRIVES && !atomic_load(&calls->is_left);
         kind++) {
        int rc = poll(calls, (enum device_work_kind)kind);
        arrived = rc < 0 ? -1 : arrived | rc;
    }
    return arrived;
}

static bool is_waiting(const struct calls *calls)
{
    bool waits = false;
    for (unsigned kind = 0; kind < WORK_ARRIVES; kind++)
        waits |= calls->track[kind].length > 0;
    return waits;
}

/* --- the thread --- */

/* Takes what was posted, and returns what was asked; if nothing was, and nothing is expected of the
 * device, waits for it. */
static enum question_kind take(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    while (calls->list.count == 0 && calls->question.kind == ASKED_NOTHING && !is_waiting(calls) &&
           !atomic_load(&calls->is_left)) {
        calls->sleeps = true;
        pthread_cond_wait(&calls->posted, &calls->lock);
    }
    calls->sleeps = false;
    const struct work_list empty = {.work = calls->making.work, .capacity = calls->making.capacity};
    calls->making = calls->list;
    calls->list = empty;
    const enum question_kind asked = calls->question.kind;
    pthread_mutex_unlock(&calls->lock);
    return asked;
}

/* A call has failed: loses the device, unless it was left, and wakes whoever waits. */
static void fail(struct calls *calls)
{
    if (atomic_load(&calls->is_left))
        return;
    pthread_mutex_lock(&calls->lock);
    calls_lose(calls, device_error(calls->device));
    pthread_cond_signal(&calls->answered);
    pthread_mutex_unlock(&calls->lock);
}

/* Makes calls and looks until the device is closed, lost or left. */
static void serve(struct calls *calls)
{
    int arrived = 0;
    while (arrived >= 0 && !atomic_load(&calls->is_left)) {
        const enum question_kind asked = take(calls);
        arrived = make_all(calls, asked) == 0 ? poll_all(calls) : -1;
        if (arrived == 0 && calls->making.count == 0 && is_waiting(calls))
            nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    if (arrived < 0)
        fail(calls);
}

void *calls_thread(void *arg)
{
    struct calls *calls = arg;
    struct error error;
    calls->device = device_open(&calls->plan, &error);
    if (calls->device) {
        answer(calls, 0);
        serve(calls);
    } else {
        pthread_mutex_lock(&calls->lock);
        calls_lose(calls, error.text);
        pthread_cond_signal(&calls->answered);
        pthread_mutex_unlock(&calls->lock);
    }
    calls_disown(calls);
    return NULL;
}
