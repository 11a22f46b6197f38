/* SPDX-License-Identifier: MIT */
/* The cases of a file of tests/vectors, one after the other. */
#ifndef GPUHISTO_TESTS_VECTORS_H
#define GPUHISTO_TESTS_VECTORS_H

#include <stdbool.h>
#include <stddef.h>

/* Moves to the next case of NAME.json, from the first one on. False after the last one, when the
 * next call begins anew. Aborts if the file is not as it should be. One file at a time. */
bool vectors_next(const char *name);

/* Return a member of the case, or an element of one that is an array: a string decoded, "" for
 * null, other values as written. They last until the next case. Abort if it is not there; of what
 * need not be, vector_optional returns "". */
const char *vector_text(const char *member);
const char *vector_optional(const char *member);
const char *vector_element(const char *member, size_t index);

/* Returns how many elements an array has; 0 if it is not there. */
size_t vector_count(const char *member);

#endif
