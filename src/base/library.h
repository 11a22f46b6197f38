/* SPDX-License-Identifier: MIT */
/* Libraries that only some runs need. Loading one takes a tenth of the time in which the program
 * starts, so a run loads what it needs, before it enters the sandbox. If configure does not know
 * the name of a library's file, the program is linked with it instead.
 *
 * Functions are called through a struct of pointers, which is made from a list of their names:
 *
 *     #define FUNCTIONS(FUNCTION) FUNCTION(isal_inflate_init) FUNCTION(isal_inflate)
 *     LIBRARY(libisal, LIBISAL_FILE, FUNCTIONS)
 *
 * defines libisal.isal_inflate and so on, and libisal_load, which must be called first. */
#ifndef GPUHISTO_LIBRARY_H
#define GPUHISTO_LIBRARY_H

#include "error.h"

#include <stdatomic.h>
#include <stddef.h>

struct library {
    const char *file;         /* as the loader finds it */
    const char *const *names; /* of `count` functions */
    void *pointers;           /* where their addresses are stored */
    size_t count;
    atomic_bool is_loaded;
};

/* Loads the library, unless it is loaded. Any thread. 0, or -1 with the error set. */
int library_load(struct library *library, struct error *error);

#define LIBRARY_POINTER(function) __typeof__(function) *function;
#define LIBRARY_ADDRESS(function) .function = (function),
#define LIBRARY_NAME(function) #function,

#ifdef LIBRARIES_ARE_LOADED
#define LIBRARY(name, file, FUNCTIONS)                                                             \
    static struct {                                                                                \
        FUNCTIONS(LIBRARY_POINTER)                                                                 \
    } name;                                                                                        \
    static int name##_load(struct error *error)                                                    \
    {                                                                                              \
        static const char *const names[] = {FUNCTIONS(LIBRARY_NAME)};                              \
        static struct library library = {file, names, &name, sizeof names / sizeof names[0], 0};   \
        _Static_assert(sizeof name == sizeof names, "a pointer for each name");                    \
        return library_load(&library, error);                                                      \
    }
#else
#define LIBRARY(name, file, FUNCTIONS)                                                             \
    static const struct {                                                                          \
        FUNCTIONS(LIBRARY_POINTER)                                                                 \
    } name = {FUNCTIONS(LIBRARY_ADDRESS)};                                                         \
    static int name##_load(struct error *error)                                                    \
    {                                                                                              \
        (void)error;                                                                               \
        return 0;                                                                                  \
    }
#endif

#endif
