/* SPDX-License-Identifier: MIT */
/* numpy's .npy format: the header, which says what the values after it are. */
#ifndef GPUHISTO_NPY_H
#define GPUHISTO_NPY_H

#include "src/base/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NPY_MAGIC_SIZE 6                  /* bytes that tell whether there is a header */
#define NPY_HEADER_MAX ((size_t)64 << 10) /* bytes of the longest one that is read, in all */
#define NPY_NAME_MAX 16                   /* of a type, with its end */

struct npy_header {
    size_t size;              /* bytes of the header: the values begin there */
    char descr[NPY_NAME_MAX]; /* the type as numpy writes it, "<f4" */
    char type[NPY_NAME_MAX];  /* the same as --values=TYPE has it, "f32"; empty: it has none */
    bool is_fortran;          /* the first index varies fastest, and not the last one */
    unsigned dimensions;
    uint64_t values; /* how many there are */
    uint64_t bytes;  /* that all values take, at most INT64_MAX; 0 where there is no type */
};

enum npy_status {
    NPY_NONE,   /* this is not a .npy file */
    NPY_PART,   /* so far it could be one: more bytes must be seen */
    NPY_HEADER, /* *header is set */
    NPY_WRONG,  /* it is one, but the header cannot be read: *fault says why */
};

/* Looks at the first bytes of a FILE's content, data[0..len). NPY_PART sets *wanted, which is more
 * than len, to how many must be seen before anything else can be said, NPY_HEADER_MAX at most. The
 * fault names no FILE. Any thread. */
enum npy_status npy_look(const unsigned char *data, size_t len, size_t *wanted,
                         struct npy_header *header, struct reason *fault);

/* Sets the fault to what is wrong with a FILE that ends within a header. -1. */
int npy_truncated(struct reason *fault);

/* Whether values of the header's type and order can be counted as values of that type, in so many
 * channels. Otherwise the fault says what to type, or that there is no such type. */
bool npy_fits(const struct npy_header *header, const char *type, unsigned channels,
              struct reason *fault);

#endif
