/* SPDX-License-Identifier: MIT */
/* Fields of lines by their definition, a byte at a time: what the tests and the fuzzer compare
 * with.
 */
#ifndef GPUHISTO_TESTS_NAIVE_FIELD_H
#define GPUHISTO_TESTS_NAIVE_FIELD_H

#include <stdbool.h>
#include <stddef.h>

enum naive_way {
    NAIVE_BLANKS,
    NAIVE_SEPARATED,
    NAIVE_CSV,
    NAIVE_AFTER,
};

struct naive_fields {
    enum naive_way way;
    long number; /* from 1, or from -1 */
    unsigned char separator;
    const char *after;
};

enum naive_what {
    NAIVE_EMPTY, /* does not count */
    NAIVE_FIELD,
    NAIVE_MISSING,
    NAIVE_TOO_LONG,
};

struct naive_record {
    size_t begin, end; /* without the newline */
    enum naive_what what;
    size_t from, to; /* NAIVE_FIELD: what should be a number, perhaps still with quotes in CSV */
    double value;    /* NaN: the record is invalid */
};

/* Reads the record of text[0..len) that begins at *at, and moves *at to the next one. False at the
 * end. */
bool naive_record(const struct naive_fields *fields, const unsigned char *text, size_t len,
                  size_t *at, struct naive_record *record);

/* The number of the first field of a record that is called so, or 0. */
long naive_column(const struct naive_fields *fields, const unsigned char *text,
                  const struct naive_record *record, const char *name);

#endif
