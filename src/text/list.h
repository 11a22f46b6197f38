/* SPDX-License-Identifier: MIT */
/* Lists of numbers: a field with a modifier, and a path with [] into JSON.
 *
 * A list is text such as "0.004, 0.012 : -": elements between commas, colons and semicolons, which
 * must be numbers, or "-" for none; in JSON, a string of these or an array. One that has an escape
 * is a single element, as is any other field. :each makes a sample of each element, :sum one of
 * their exact sum, :last one of the last element. A list without numbers is one invalid sample, and
 * so is a sum with a digit before that of 1e399 or behind that of 1e-400.
 *
 * A path with [] leads to each element of an array, from where its other steps go on. Where they
 * lead nowhere, and where there is no array, is one invalid sample; an empty array has none. */
#ifndef GPUHISTO_LIST_H
#define GPUHISTO_LIST_H

#include "field.h"

/* A sample of a list. */
struct list_sample {
    const unsigned char *from, *to; /* what it was read from, in the field; NULL: it is missing */
    unsigned char *token;           /* of `len` bytes, perhaps no number; 0: it is none */
    size_t len;
};

/* Takes a sample; false to end. */
typedef bool list_put(void *arg, const struct list_sample *sample);

/* Gives the samples of a field [from, to), as field_find gives it, to `put`. Ends early, with
 * false, if that says so. After number_prepare. Any thread. */
bool list_samples(const struct field *field, const unsigned char *from, const unsigned char *to,
                  list_put *put, void *arg);

/* True if such a field has no samples, which are then not missing. */
bool list_is_empty(const struct field *field, const unsigned char *from, const unsigned char *to);

#endif
