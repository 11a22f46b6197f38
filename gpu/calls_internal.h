/* SPDX-License-Identifier: MIT */
/* Calls, as their files see them: calls.c (posts, answers, polls) stands above calls_thread.c (the
 * thread, which makes the calls and polls the device). */
#ifndef GPUHISTO_CALLS_INTERNAL_H
#define GPUHISTO_CALLS_INTERNAL_H

#include "calls.h"
#include "visible.h"

#include <pthread.h>
#include <stdatomic.h>

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
    union {
        struct {
            void *memory;
            size_t size;
        } pin;
        struct {
            unsigned slot;
            const void *data;
            size_t len;
        } count; /* and copy in */
        struct {
            unsigned slot;
            uint64_t *words;
            size_t first, end;
        } snapshot;
        struct {
            struct device_blocks blocks;
            unsigned input;
        } copy;
        struct {
            unsigned slot;
            struct zstd_plan plan;
            bool begins;
            struct device_result result;
        } decode;
        struct {
            struct device_content content;
            unsigned char *to;
            unsigned read;
        } content; /* counted, or read */
    };
};

/* A list that grows. */
struct call_list {
    struct call *call;
    size_t count, room;
};

/* Work that goes by a number: of a slot, a batch's slot, an input or a read. */
struct ticket {
    unsigned posted; /* how often; the caller's */
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

/* What the thread answers. */
struct call_answer {
    bool is_there;
    int rc;
    struct device_decoding decoding; /* of CALL_OPEN_DECODING; before, what is asked for */
};

struct calls {
    struct device_plan plan;
    struct visible visible; /* the plan's: a call may return after the caller has freed its own */
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
    struct call_answer answer;
    bool is_lost;
    bool is_stuck; /* lost, because there was no answer */
    struct reason why;
    unsigned owners; /* the caller and the thread: the last one frees it */
};

/* The thread: opens the device, and makes calls until it is closed, lost or left. Takes a struct
 * calls, of which it is an owner. */
void *calls_thread(void *calls);

/* The device is lost, and so it is left. Under the lock. */
void calls_lose(struct calls *calls, const char *why);

/* One owner leaves. The last one frees it. */
void calls_disown(struct calls *calls);

/* Frees it, whoever owns it. */
void calls_free(struct calls *calls);

#endif
