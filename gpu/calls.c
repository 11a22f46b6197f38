/* SPDX-License-Identifier: MIT */
#include "calls.h"
#include "visible.h"
#include "src/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define POLL_NS 20000 /* between looks at a busy device: a small part of a chunk's copy */

/* An answer is waited for in slices, so that the time in which the process is stopped counts as one
 * of them. */
#define SLICE_MS 10

/* CUDA takes seconds to start on a machine with many GPUs, and may have to compile kernels for one
 * that is newer than they are. */
#define OPENING_DEADLINES 3

/* Where there are no huge pages, some seconds go by while these bytes are pinned. */
#define PINNED_A_DEADLINE ((size_t)4 << 30)

enum call_kind {
    CALL_PIN,
    CALL_UNPIN,
    CALL_OPEN_DECODING,
    CALL_CLOSE, /* up to here they are answered */
    CALL_COPY_IN,
    CALL_COUNT,
    CALL_SNAPSHOT,
    CALL_COPY_BLOCKS,
    CALL_DECODE,
    CALL_COUNT_CONTENT,
    CALL_READ_CONTENT,
};

/* A call that is to be made, with its arguments. */
struct call {
    enum call_kind kind;
    unsigned slot;
    unsigned number; /* of an input, or of a read */
    const void *from;
    void *to;
    size_t len;
    size_t first, end; /* words of a snapshot */
    int64_t begin;     /* of content */
    uint32_t at;       /* in a batch's memory */
    struct zstd_plan plan;
    bool begins; /* a FILE */
    struct zstd_verdict *verdict;
    uint32_t *frame_ends;
};

/* A list that grows. */
struct call_list {
    struct call *call;
    size_t count, room;
};

/* Work that goes by a number: of a slot, a batch's slot, an input or a read. */
struct ticket {
    unsigned posted; /* times that it was; the caller's */
    unsigned made;   /* of these; the thread's */
    unsigned done;   /* of these; under the lock */
    bool is_counted; /* there are times of the slot; the thread's */
    double seconds;  /* that the copy of an input took; under the lock */
    struct slot_times times;
};

/* Work that arrives in the order in which it was posted. */
enum track_kind { TRACK_SNAPSHOTS, TRACK_VERDICTS, TRACK_INPUTS, TRACK_READS, TRACKS };

struct track {
    struct ticket *ticket;
    unsigned count;
    unsigned *waiting; /* numbers whose work is not done, a ring of `count`; the thread's */
    unsigned first, length;
};

struct calls {
    struct device_plan plan;
    struct visible visible; /* the plan's: a call may return after whoever gave it has freed it */
    unsigned deadline_ms;
    struct device *device; /* the thread's */
    char name[256];
    struct track track[TRACKS];
    struct call_list making; /* the thread's */
    atomic_bool is_left;     /* no other call is to be made */

    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t posted, answered;
    struct call_list list; /* posted, and not taken yet */
    bool sleeps;           /* the thread waits for a post */
    bool has_answer;
    int answer;
    struct device_decoding decoding; /* of the call that opens it */
    bool is_lost, is_stuck;          /* and for want of an answer */
    struct reason why;
    unsigned owners; /* the caller and the thread: the last one frees it */
};

/* --- memory --- */

static void calls_free(struct calls *calls)
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

static void calls_disown(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    bool is_last = --calls->owners == 0;
    pthread_mutex_unlock(&calls->lock);
    if (is_last)
        calls_free(calls);
}

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
    const unsigned counts[TRACKS] = {slots, slots, DEVICE_INPUTS, DEVICE_READS};
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
    pthread_mutex_init(&calls->lock, NULL);
    init_condition(&calls->posted);
    init_condition(&calls->answered);
    for (unsigned i = 0; i < TRACKS; i++) {
        struct track *track = &calls->track[i];
        track->count = counts[i];
        track->ticket = calloc(counts[i], sizeof track->ticket[0]);
        track->waiting = calloc(counts[i], sizeof track->waiting[0]);
        is_there &= track->ticket && track->waiting;
    }
    if (is_there)
        return calls;
    calls_free(calls);
    return NULL;
}

/* --- what is lost --- */

/* The device is lost, and so it is left. Under the lock. */
static void lose(struct calls *calls, const char *why)
{
    if (!calls->is_lost)
        reason_set(&calls->why, "%s", why);
    calls->is_lost = true;
    atomic_store(&calls->is_left, true);
}

bool calls_are_lost(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    bool is_lost = calls->is_lost;
    pthread_mutex_unlock(&calls->lock);
    return is_lost;
}

const char *calls_reason(const struct calls *calls)
{
    return calls->why.text;
}

/* --- the thread: calls --- */

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
        return device_pin(calls->device, call->to, call->len);
    case CALL_UNPIN:
        device_unpin(calls->device, call->to);
        return 0;
    case CALL_OPEN_DECODING:
        return device_open_decoding(calls->device, &calls->decoding);
    default:
        device_close(calls->device);
        atomic_store(&calls->is_left, true);
        return 0;
    }
}

static void answer(struct calls *calls, int rc)
{
    pthread_mutex_lock(&calls->lock);
    calls->answer = rc;
    calls->has_answer = true;
    pthread_cond_signal(&calls->answered);
    pthread_mutex_unlock(&calls->lock);
}

/* Makes a call, and notes what is expected of it. 0 or -1. */
static int make(struct calls *calls, const struct call *call)
{
    struct device *device = calls->device;
    const unsigned slot = call->slot;
    switch (call->kind) {
    case CALL_COPY_IN:
        return device_copy_in(device, slot, call->from, call->len);
    case CALL_COUNT:
        calls->track[TRACK_SNAPSHOTS].ticket[slot].is_counted = true;
        return device_count(device, slot, call->len);
    case CALL_SNAPSHOT:
        expect(calls, TRACK_SNAPSHOTS, slot);
        return device_snapshot(device, slot, call->to, call->first, call->end);
    case CALL_COPY_BLOCKS:
        expect(calls, TRACK_INPUTS, call->number);
        return device_copy_blocks(device, slot, call->at, call->from, call->len, call->number);
    case CALL_DECODE:
        expect(calls, TRACK_VERDICTS, slot);
        return device_decode(device, slot, &call->plan, call->begins, call->verdict,
                             call->frame_ends);
    case CALL_COUNT_CONTENT:
        calls->track[TRACK_SNAPSHOTS].ticket[slot].is_counted = true;
        return device_count_content(device, slot, call->begin, call->len);
    case CALL_READ_CONTENT:
        expect(calls, TRACK_READS, call->number);
        return device_read_content(device, slot, call->begin, call->len, call->to, call->number);
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

/* --- the thread: looks --- */

/* Whether the work of a track that was sent first has arrived: 1, 0 or -1. What is told about it
 * goes to *told. */
static int look_at(struct calls *calls, enum track_kind kind, unsigned number, struct ticket *told)
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
static int look(struct calls *calls, enum track_kind kind)
{
    struct track *track = &calls->track[kind];
    if (track->length == 0)
        return 0;
    const unsigned number = track->waiting[track->first];
    struct ticket *ticket = &track->ticket[number];
    struct ticket told = {.is_counted = ticket->is_counted};
    const int arrived = look_at(calls, kind, number, &told);
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

/* Looks at all tracks. As look. */
static int look_at_all(struct calls *calls)
{
    int arrived = 0;
    for (unsigned kind = 0; arrived >= 0 && kind < TRACKS && !atomic_load(&calls->is_left);
         kind++) {
        int rc = look(calls, (enum track_kind)kind);
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

/* Notes that a call has failed, if the device is not left, and answers whoever waits. */
static void fail(struct calls *calls)
{
    if (atomic_load(&calls->is_left))
        return;
    pthread_mutex_lock(&calls->lock);
    lose(calls, device_reason(calls->device));
    pthread_cond_signal(&calls->answered);
    pthread_mutex_unlock(&calls->lock);
}

/* Makes calls and looks until the device is closed, lost or left. */
static void serve(struct calls *calls)
{
    int arrived = 0;
    while (arrived >= 0 && !atomic_load(&calls->is_left)) {
        take(calls);
        arrived = make_all(calls) == 0 ? look_at_all(calls) : -1;
        if (arrived == 0 && calls->making.count == 0 && is_waiting(calls))
            nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
    }
    if (arrived < 0)
        fail(calls);
}

static void *calls_thread(void *arg)
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
        lose(calls, why.text);
        pthread_cond_signal(&calls->answered);
        pthread_mutex_unlock(&calls->lock);
    }
    calls_disown(calls);
    return NULL;
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

/* Waits for the answer of the thread for so long. It, or -1: the device is lost. Under the lock. */
static int wait_for_answer(struct calls *calls, uint64_t ms)
{
    for (uint64_t slices = ms / SLICE_MS + 1; slices > 0; slices--) {
        const struct timespec end = slice_end();
        int rc = 0;
        while (!calls->has_answer && !calls->is_lost && rc == 0)
            rc = pthread_cond_timedwait(&calls->answered, &calls->lock, &end);
        if (calls->has_answer || calls->is_lost)
            break;
    }
    if (!calls->has_answer && !calls->is_lost) {
        calls->is_stuck = true;
        lose(calls, "the device does not answer");
    }
    return calls->is_lost ? -1 : calls->answer;
}

/* Adds a call to the list. 0, or -1 once the device is lost. Under the lock. */
static int append(struct calls *calls, const struct call *call)
{
    struct call_list *list = &calls->list;
    if (calls->is_lost)
        return -1;
    if (list->count == list->room) {
        const size_t room = list->room ? 2 * list->room : 64;
        struct call *more = realloc(list->call, room * sizeof *more);
        if (!more) {
            lose(calls, "out of memory");
            return -1;
        }
        *list = (struct call_list){.call = more, .count = list->count, .room = room};
    }
    list->call[list->count++] = *call;
    if (calls->sleeps)
        pthread_cond_signal(&calls->posted);
    calls->sleeps = false;
    return 0;
}

/* Has the thread make a call, and waits for its answer, for so many deadlines. */
static int ask(struct calls *calls, const struct call *call, uint64_t deadlines)
{
    pthread_mutex_lock(&calls->lock);
    calls->has_answer = false;
    int rc = append(calls, call);
    if (rc == 0)
        rc = wait_for_answer(calls, deadlines * calls->deadline_ms);
    pthread_mutex_unlock(&calls->lock);
    return rc;
}

int calls_pin(struct calls *calls, void *memory, size_t size)
{
    const struct call call = {.kind = CALL_PIN, .to = memory, .len = size};
    return ask(calls, &call, 1 + size / PINNED_A_DEADLINE);
}

int calls_unpin(struct calls *calls, void *memory)
{
    return ask(calls, &(struct call){.kind = CALL_UNPIN, .to = memory}, 1);
}

int calls_open_decoding(struct calls *calls, struct device_decoding *decoding)
{
    calls->decoding = *decoding;
    int rc = ask(calls, &(struct call){.kind = CALL_OPEN_DECODING}, OPENING_DEADLINES);
    if (rc == 0)
        *decoding = calls->decoding;
    return rc;
}

/* --- posts --- */

/* Posts a call, after which work that goes by a number is expected to arrive, or none (TRACKS). */
static int post(struct calls *calls, const struct call *call, enum track_kind kind, unsigned number)
{
    pthread_mutex_lock(&calls->lock);
    int rc = append(calls, call);
    pthread_mutex_unlock(&calls->lock);
    if (kind != TRACKS)
        calls->track[kind].ticket[number].posted++;
    return rc;
}

int calls_copy_in(struct calls *calls, unsigned slot, const void *data, size_t len)
{
    const struct call call = {.kind = CALL_COPY_IN, .slot = slot, .from = data, .len = len};
    return post(calls, &call, TRACKS, 0);
}

int calls_count(struct calls *calls, unsigned slot, size_t len)
{
    return post(calls, &(struct call){.kind = CALL_COUNT, .slot = slot, .len = len}, TRACKS, 0);
}

int calls_snapshot(struct calls *calls, unsigned slot, uint64_t *words, size_t first, size_t end)
{
    const struct call call = {
        .kind = CALL_SNAPSHOT, .slot = slot, .to = words, .first = first, .end = end};
    return post(calls, &call, TRACK_SNAPSHOTS, slot);
}

int calls_copy_blocks(struct calls *calls, unsigned slot, uint32_t at, const unsigned char *bytes,
                      size_t len, unsigned input)
{
    const struct call call = {.kind = CALL_COPY_BLOCKS,
                              .slot = slot,
                              .at = at,
                              .from = bytes,
                              .len = len,
                              .number = input};
    return post(calls, &call, TRACK_INPUTS, input);
}

int calls_decode(struct calls *calls, unsigned slot, const struct zstd_plan *plan, bool begins,
                 struct zstd_verdict *verdict, uint32_t *frame_ends)
{
    const struct call call = {.kind = CALL_DECODE,
                              .slot = slot,
                              .plan = *plan,
                              .begins = begins,
                              .verdict = verdict,
                              .frame_ends = frame_ends};
    return post(calls, &call, TRACK_VERDICTS, slot);
}

int calls_count_content(struct calls *calls, unsigned slot, int64_t begin, size_t len)
{
    const struct call call = {.kind = CALL_COUNT_CONTENT, .slot = slot, .begin = begin, .len = len};
    return post(calls, &call, TRACKS, 0);
}

int calls_read_content(struct calls *calls, unsigned slot, int64_t begin, size_t len,
                       unsigned char *to, unsigned read)
{
    const struct call call = {.kind = CALL_READ_CONTENT,
                              .slot = slot,
                              .begin = begin,
                              .len = len,
                              .to = to,
                              .number = read};
    return post(calls, &call, TRACK_READS, read);
}

/* --- looks --- */

/* Whether all that was posted of a number has arrived. Under the lock. */
static int has_arrived(const struct calls *calls, const struct ticket *ticket)
{
    return calls->is_lost ? -1 : ticket->done == ticket->posted;
}

static int look_for(struct calls *calls, enum track_kind kind, unsigned number)
{
    pthread_mutex_lock(&calls->lock);
    int arrived = has_arrived(calls, &calls->track[kind].ticket[number]);
    pthread_mutex_unlock(&calls->lock);
    return arrived;
}

int calls_arrived(struct calls *calls, unsigned slot)
{
    return look_for(calls, TRACK_SNAPSHOTS, slot);
}

int calls_decoded(struct calls *calls, unsigned slot)
{
    return look_for(calls, TRACK_VERDICTS, slot);
}

int calls_content_read(struct calls *calls, unsigned read)
{
    return look_for(calls, TRACK_READS, read);
}

int calls_blocks_copied(struct calls *calls, unsigned input, double *seconds)
{
    struct ticket *ticket = &calls->track[TRACK_INPUTS].ticket[input];
    pthread_mutex_lock(&calls->lock);
    int arrived = has_arrived(calls, ticket);
    if (arrived == 1) {
        *seconds += ticket->seconds;
        ticket->seconds = 0;
    }
    pthread_mutex_unlock(&calls->lock);
    return arrived;
}

struct slot_times calls_times(struct calls *calls, unsigned slot)
{
    pthread_mutex_lock(&calls->lock);
    struct slot_times times = calls->track[TRACK_SNAPSHOTS].ticket[slot].times;
    pthread_mutex_unlock(&calls->lock);
    return times;
}

/* --- opening and closing --- */

/* Starts the thread, which nobody waits for: it may never end. Whether there is one. */
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
                         struct reason *why)
{
    struct calls *calls = calls_allocate(plan, deadline_ms);
    *is_stuck = false;
    if (!calls || !start_thread(calls)) {
        reason_set(why, calls ? "cannot start a thread" : "out of memory");
        if (calls)
            calls_disown(calls);
        return NULL;
    }
    pthread_mutex_lock(&calls->lock);
    bool is_open = wait_for_answer(calls, OPENING_DEADLINES * (uint64_t)deadline_ms) == 0;
    *why = calls->why;
    *is_stuck = calls->is_stuck;
    pthread_mutex_unlock(&calls->lock);
    if (is_open)
        return calls;
    calls_leave(calls);
    calls_disown(calls);
    return NULL;
}

const char *calls_name(const struct calls *calls)
{
    return calls->name;
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
    if (!atomic_load(&calls->is_left) && ask(calls, &(struct call){.kind = CALL_CLOSE}, 1) != 0)
        calls_leave(calls);
    calls_disown(calls);
}
