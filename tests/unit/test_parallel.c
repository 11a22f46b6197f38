/* SPDX-License-Identifier: MIT */
/* A loop by several threads: each round is done once, whatever the number of threads, and of those
 * that can be started. The program is linked so that pthread_create comes here. */
#include "src/base/system.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define ROUNDS 2000

static atomic_uint done[ROUNDS], beyond;
static unsigned startable, wrong;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg)
{
    if (startable == 0)
        return EAGAIN;
    startable--;
    return __real_pthread_create(thread, attributes, run, arg);
}

static void count_round(void *arg, size_t i)
{
    const size_t *count = arg;
    atomic_fetch_add(i < *count ? &done[i] : &beyond, 1);
}

static void check(unsigned threads, size_t count, unsigned may_start)
{
    for (size_t i = 0; i < ROUNDS; i++)
        atomic_store(&done[i], 0);
    startable = may_start;
    parallel_loop(threads, count, count_round, &count);
    for (size_t i = 0; i < ROUNDS; i++)
        if (atomic_load(&done[i]) != (i < count)) {
            printf("%u threads, %zu rounds: round %zu was done %u times\n", threads, count, i,
                   atomic_load(&done[i]));
            wrong++;
            return;
        }
}

int main(void)
{
    const size_t counts[] = {0, 1, 2, 3, 63, ROUNDS};
    const unsigned threads[] = {0, 1, 2, 3, 8, 1000}, may_start[] = {0, 1, 2, 2000};
    unsigned tried = 0;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
        for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++)
            for (size_t s = 0; s < sizeof may_start / sizeof may_start[0]; s++, tried++)
                check(threads[t], counts[c], may_start[s]);
    if (atomic_load(&beyond) > 0) {
        printf("%u rounds beyond the last\n", atomic_load(&beyond));
        wrong++;
    }
    printf("%u loops, %u wrong\n", tried, wrong);
    return wrong > 0;
}
