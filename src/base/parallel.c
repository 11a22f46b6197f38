/* SPDX-License-Identifier: MIT */
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#define PARALLEL_MAX 256

struct loop {
    atomic_size_t next;
    size_t count;
    void (*round)(void *arg, size_t i);
    void *arg;
};

static void *run(void *arg)
{
    struct loop *loop = arg;
    size_t i;
    while ((i = atomic_fetch_add(&loop->next, 1)) < loop->count)
        loop->round(loop->arg, i);
    return NULL;
}

void parallel_loop(unsigned threads, size_t count, void (*round)(void *arg, size_t i), void *arg)
{
    struct loop loop = {.count = count, .round = round, .arg = arg};
    pthread_t others[PARALLEL_MAX];
    unsigned started = 0;
    while (started + 1 < threads && started + 1 < count && started < PARALLEL_MAX &&
           pthread_create(&others[started], NULL, run, &loop) == 0)
        started++;
    run(&loop);
    for (unsigned i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}
