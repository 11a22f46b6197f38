/* SPDX-License-Identifier: MIT */
#include "parallel_read.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#define PARALLEL_PIECE ((size_t)512 << 10) /* bytes that a thread reads at a time */
#define PARALLEL_MIN (4 * PARALLEL_PIECE)  /* shorter parts are not worth waking others for */
#define PARALLEL_THREADS 7 /* beside the caller: eight fill more than the link to a GPU */
#define PARALLEL_STACK ((size_t)128 << 10) /* of a thread: it only reads */

struct parallel_read {
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t begun, ended;
    pthread_t thread[PARALLEL_THREADS];
    unsigned threads;
    bool is_started, is_closing;

    /* The part that is read. */
    const struct bytes *bytes;
    unsigned char *buf;
    uint64_t offset;
    size_t len;
    size_t given;       /* bytes, from its beginning, that threads have taken to read */
    unsigned reading;   /* threads, the caller too */
    size_t good;        /* bytes before the first one that could not be read, or is not there */
    bool has_failed;    /* that one could not be read, */
    struct error error; /* for this reason */
};

struct parallel_read *parallel_read_open(void)
{
    struct parallel_read *wide = calloc(1, sizeof *wide);
    if (!wide)
        return NULL;
    pthread_mutex_init(&wide->lock, NULL);
    pthread_cond_init(&wide->begun, NULL);
    pthread_cond_init(&wide->ended, NULL);
    return wide;
}

/* Notes how reading of a piece ended: `got` of its `len` bytes, or -1. Under the lock. */
static void record_piece(struct parallel_read *wide, size_t begin, size_t len, ssize_t got,
                         const struct error *error)
{
    size_t good = begin + (got > 0 ? (size_t)got : 0);
    if (got == (ssize_t)len || good >= wide->good)
        return;
    wide->good = good;
    wide->has_failed = got < 0;
    if (got < 0)
        wide->error = *error;
}

/* Reads pieces until all are taken, or one ended early: those before it were taken already. Under
 * the lock, which is let go while a piece is read. */
static void read_pieces(struct parallel_read *wide)
{
    wide->reading++;
    while (wide->given < wide->good) {
        const size_t begin = wide->given, left = wide->len - begin;
        const size_t len = left < PARALLEL_PIECE ? left : PARALLEL_PIECE;
        struct error error;
        wide->given += len;
        pthread_mutex_unlock(&wide->lock);
        ssize_t got =
            bytes_read_at(wide->bytes, wide->buf + begin, len, wide->offset + begin, &error);
        pthread_mutex_lock(&wide->lock);
        record_piece(wide, begin, len, got, &error);
    }
    if (--wide->reading == 0)
        pthread_cond_signal(&wide->ended);
}

static void *read_thread(void *arg)
{
    struct parallel_read *wide = arg;
    pthread_mutex_lock(&wide->lock);
    while (!wide->is_closing) {
        if (wide->given < wide->good)
            read_pieces(wide);
        else
            pthread_cond_wait(&wide->begun, &wide->lock);
    }
    pthread_mutex_unlock(&wide->lock);
    return NULL;
}

/* How many threads there should be beside the caller. */
static unsigned threads_wanted(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) /* there are more than the set can hold */
        return PARALLEL_THREADS;
    unsigned allowed = (unsigned)CPU_COUNT(&set);
    return allowed > PARALLEL_THREADS ? PARALLEL_THREADS : allowed - 1;
}

/* Starts as many threads as there should be, and can be. */
static void start_threads(struct parallel_read *wide)
{
    const unsigned wanted = threads_wanted();
    pthread_attr_t attributes;
    wide->is_started = true;
    if (pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setstacksize(&attributes, PARALLEL_STACK); /* refused only if too small to run */
    while (wide->threads < wanted &&
           pthread_create(&wide->thread[wide->threads], &attributes, read_thread, wide) == 0)
        wide->threads++;
    pthread_attr_destroy(&attributes);
}

ssize_t parallel_read(struct parallel_read *wide, const struct bytes *bytes, void *buf, size_t len,
                      uint64_t offset, struct error *error)
{
    if (!wide || len < PARALLEL_MIN)
        return bytes_read_at(bytes, buf, len, offset, error);
    if (!wide->is_started)
        start_threads(wide);
    pthread_mutex_lock(&wide->lock);
    wide->bytes = bytes;
    wide->buf = buf;
    wide->offset = offset;
    wide->len = wide->good = len;
    wide->given = 0;
    wide->has_failed = false;
    pthread_cond_broadcast(&wide->begun);
    read_pieces(wide);
    while (wide->reading > 0)
        pthread_cond_wait(&wide->ended, &wide->lock);
    const ssize_t got = wide->has_failed ? -1 : (ssize_t)wide->good;
    if (got < 0)
        *error = wide->error;
    wide->given = wide->good = 0;
    pthread_mutex_unlock(&wide->lock);
    return got;
}

void parallel_read_close(struct parallel_read *wide)
{
    if (!wide)
        return;
    pthread_mutex_lock(&wide->lock);
    wide->is_closing = true;
    pthread_cond_broadcast(&wide->begun);
    pthread_mutex_unlock(&wide->lock);
    for (unsigned i = 0; i < wide->threads; i++)
        pthread_join(wide->thread[i], NULL);
    pthread_cond_destroy(&wide->ended);
    pthread_cond_destroy(&wide->begun);
    pthread_mutex_destroy(&wide->lock);
    free(wide);
}
