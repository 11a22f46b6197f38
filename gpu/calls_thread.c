/* SPDX-License-Identifier: MIT */
/* The thread that makes the calls of a device, one after the other, and looks what has arrived. */
#include "calls_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define POLL_NS 20000 /* between looks at a busy device: a small part of a chunk's copy */

/* --- what both own --- */

void calls_free(struct calls *calls)
{
    for (unsigned i = 0; i < TRACKS; i++) {
        free(calls->track[i].ticket);
        free(calls->track[i].waiting);
    }
    free(calls->making.call);
    free(calls->list.call);
    pthread_cond_destroy(&calls->posted);
    pthread_cond_destroy(&calls->answered);
    pthread_mutex_destroy(&calls->lock);
    free(calls);
}

void calls_disown(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    bool is_last = --calls->owners == 0;
    pthread_mutex_unlock(&calls->lock);
    if (is_last)
        calls_free(calls);
}

void calls_lose(struct calls *calls, const char *why)
{
    if (!calls->is_lost)
        reason_set(&calls->why, "%s", why);
    calls->is_lost = true;
    atomic_store(&calls->is_left, true);
}

/* --- calls --- */

/* Work of this number was sent to the device. */
static void expect(struct calls *calls, enum track_kind kind, unsigned number)
{
    struct track *track = &calls->track[kind];
    struct ticket *ticket = &track->ticket[number];
    const bool waits = ticket->made != ticket->done; /* which only this thread changes */
    ticket->made++;
    if (!waits)
        track->waiting[(track->first + track->length++) % track->count] = number;
}

/* Makes a call that is answered. */
static int make_answered(struct calls *calls, const struct call *call)
{
    switch (call->kind) {
    case CALL_PIN:
        return device_pin(calls->device, call->pin.memory, call->pin.size);
    case CALL_UNPIN:
        device_unpin(calls->device, call->pin.memory);
        return 0;
    case CALL_OPEN_DECODING:
        return device_open_decoding(calls->device, &calls->answer.decoding);
    default:
        device_close(calls->device);
        atomic_store(&calls->is_left, true);
        return 0;
    }
}

static void answer(struct calls *calls, int rc)
{
    pthread_mutex_lock(&calls->lock);
    calls->answer.rc = rc;
    calls->answer.is_there = true;
    pthread_cond_signal(&calls->answered);
    pthread_mutex_unlock(&calls->lock);
}

/* Makes a call, and notes what is expected of it. 0 or -1. */
static int make(struct calls *calls, const struct call *call)
{
    struct device *device = calls->device;
    switch (call->kind) {
    case CALL_COPY_IN:
        return device_copy_in(device, call->count.slot, call->count.data, call->count.len);
    case CALL_COUNT:
        calls->track[TRACK_SNAPSHOTS].ticket[call->count.slot].is_counted = true;
        return device_count(device, call->count.slot, call->count.len);
    case CALL_SNAPSHOT:
        expect(calls, TRACK_SNAPSHOTS, call->snapshot.slot);
        return device_snapshot(device, call->snapshot.slot, call->snapshot.words,
                               call->snapshot.first, call->snapshot.end);
    case CALL_COPY_BLOCKS:
        expect(calls, TRACK_INPUTS, call->copy.input);
        return device_copy_blocks(device, &call->copy.blocks, call->copy.input);
    case CALL_DECODE:
        expect(calls, TRACK_VERDICTS, call->decode.slot);
        return device_decode(device, call->decode.slot, &call->decode.plan, call->decode.begins,
                             &call->decode.result);
    case CALL_COUNT_CONTENT:
        calls->track[TRACK_SNAPSHOTS].ticket[call->content.content.slot].is_counted = true;
        return device_count_content(device, &call->content.content);
    case CALL_READ_CONTENT:
        expect(calls, TRACK_READS, call->content.read);
        return device_read_content(device, &call->content.content, call->content.to,
                                   call->content.read);
    default:
        break;
    }
    const int rc = make_answered(calls, call);
    if (rc != 0 && call->kind == CALL_OPEN_DECODING)
        return -1; /* the device is lost, which is answer enough */
    answer(calls, rc);
    return 0;
}

/* Makes what was taken, as long as the device is not left. 0, or -1: a call has failed. */
static int make_all(struct calls *calls)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < calls->making.count && !atomic_load(&calls->is_left); i++)
        rc = make(calls, &calls->making.call[i]);
    return rc;
}

/* --- looks --- */

/* Looks whether the work of a track that was sent first has arrived: 1, 0 or -1. What is told about
 * it goes to *told. */
static int poll_device(struct calls *calls, enum track_kind kind, unsigned number,
                       struct ticket *told)
{
    struct device *device = calls->device;
    int arrived;
    switch (kind) {
    case TRACK_SNAPSHOTS:
        arrived = device_arrived(device, number);
        if (arrived == 1 && calls->plan.timing && told->is_counted &&
            !atomic_load(&calls->is_left) && device_times(device, number, &told->times) != 0)
            return -1;
        return arrived;
    case TRACK_VERDICTS:
        return device_decoded(device, number);
    case TRACK_INPUTS:
        return device_blocks_copied(device, number, &told->seconds);
    default:
        return device_content_read(device, number);
    }
}

/* Looks at a track. 1: something has arrived; 0: nothing; -1: the device is lost. */
static int poll(struct calls *calls, enum track_kind kind)
{
    struct track *track = &calls->track[kind];
    if (track->length == 0)
        return 0;
    const unsigned number = track->waiting[track->first];
    struct ticket *ticket = &track->ticket[number];
    struct ticket told = {.is_counted = ticket->is_counted};
    const int arrived = poll_device(calls, kind, number, &told);
    if (arrived != 1)
        return arrived;
    track->first = (track->first + 1) % track->count;
    track->length--;
    pthread_mutex_lock(&calls->lock);
    ticket->times = told.times;
    ticket->seconds += told.seconds;
    ticket->done = ticket->made;
    pthread_mutex_unlock(&calls->lock);
    return 1;
}

/* Looks at all tracks. As poll. */
static int poll_all(struct calls *calls)
{
    int arrived = 0;
    for (unsigned kind = 0; arrived >= 0 && kind < TRACKS && !atomic_load(&calls->is_left);
         kind++) {
        int rc = poll(calls, (enum track_kind)kind);
        arrived = rc < 0 ? -1 : arrived | rc;
    }
    return arrived;
}

static bool is_waiting(const struct calls *calls)
{
    bool waits = false;
    for (unsigned kind = 0; kind < TRACKS; kind++)
        waits |= calls->track[kind].length > 0;
    return waits;
}

/* --- the thread --- */

/* Takes what was posted; if nothing was, and nothing is expected of the device, waits for it. */
static void take(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    while (calls->list.count == 0 && !is_waiting(calls) && !atomic_load(&calls->is_left)) {
        calls->sleeps = true;
        pthread_cond_wait(&calls->posted, &calls->lock);
    }
    calls->sleeps = false;
    const struct call_list empty = {.call = calls->making.call, .room = calls->making.room};
    calls->making = calls->list;
    calls->list = empty;
    pthread_mutex_unlock(&calls->lock);
}

/* A call has failed: loses the device, unless it was left, and wakes whoever waits. */
static void fail(struct calls *calls)
{
    if (atomic_load(&calls->is_left))
        return;
    pthread_mutex_lock(&calls->lock);
    calls_lose(calls, device_reason(calls->device));
    pthread_cond_signal(&calls->answered);
    pthread_mutex_unlock(&calls->lock);
}

/* Makes calls and looks until the device is closed, lost or left. */
static void serve(struct calls *calls)
{
    int arrived = 0;
    while (arrived >= 0 && !atomic_load(&calls->is_left)) {
        take(calls);
        arrived = make_all(calls) == 0 ? poll_all(calls) : -1;
        if (arrived == 0 && calls->making.count == 0 && is_waiting(calls))
            nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    if (arrived < 0)
        fail(calls);
}

void *calls_thread(void *arg)
{
    struct calls *calls = arg;
    struct reason why;
    calls->device = device_open(&calls->plan, &why);
    if (calls->device) {
        snprintf(calls->name, sizeof calls->name, "%s", device_name(calls->device));
        answer(calls, 0);
        serve(calls);
    } else {
        pthread_mutex_lock(&calls->lock);
        calls_lose(calls, why.text);
        pthread_cond_signal(&calls->answered);
        pthread_mutex_unlock(&calls->lock);
    }
    calls_disown(calls);
    return NULL;
}
