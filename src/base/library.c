/* SPDX-License-Identifier: MIT */
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static int load(struct library *library, struct error *error)
{
    void *handle = NULL;
    /* If memory is short for a moment, the loader may say that there is no such file. */
    for (int tries = 0; !handle && tries < 2; tries++)
        handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; handle && i < library->count; i++) {
        void *address = dlsym(handle, library->names[i]);
        if (!address)
            handle = NULL;
        memcpy((char *)library->pointers + i * sizeof address, &address, sizeof address);
    }
    if (handle) {
        atomic_store(&library->is_loaded, true);
        return 0;
    }
    const char *message = dlerror();
    error_set(error, "cannot load %s", message ? message : library->file);
    return -1;
}

int library_load(struct library *library, struct error *error)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (atomic_load(&library->is_loaded))
        return 0;
    pthread_mutex_lock(&lock);
    const int rc = atomic_load(&library->is_loaded) ? 0 : load(library, error);
    pthread_mutex_unlock(&lock);
    return rc;
}
