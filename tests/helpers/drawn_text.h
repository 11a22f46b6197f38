/* SPDX-License-Identifier: MIT */
/* Text that a test draws at random, string by string. One thread. */
#ifndef GPUHISTO_TESTS_DRAWN_TEXT_H
#define GPUHISTO_TESTS_DRAWN_TEXT_H

#include <stddef.h>

struct drawn_text {
    unsigned char *bytes; /* the caller's */
    size_t len, size;
};

/* Appends a string, or as much of it as there is room for. */
void put(struct drawn_text *text, const char *string);

/* Appends one of the strings. */
void put_one_of(struct drawn_text *text, const char *const *strings, unsigned count);

#define PUT_ONE_OF(text, ...)                                                                      \
    put_one_of(text, (const char *const[]){__VA_ARGS__},                                           \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

#endif
