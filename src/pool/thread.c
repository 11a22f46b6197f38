/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include <pthread.h>

int thread_start(void *(*run)(void *), void *arg, size_t stack)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return -1;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (stack > 0)
        pthread_attr_setstacksize(&attributes, stack); /* refused only if too small to run at all */
    int rc = pthread_create(&thread, &attributes, run, arg);
    pthread_attr_destroy(&attributes);
    return rc == 0 ? 0 : -1;
}
