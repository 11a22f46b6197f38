/* SPDX-License-Identifier: MIT */
/* Lines of JSON at random, for tests. */
#ifndef GPUHISTO_TESTS_JSON_TEXTS_H
#define GPUHISTO_TESTS_JSON_TEXTS_H

#include <stddef.h>

#define JSON_TEXT_SIZE ((size_t)1 << 16)

struct json_text {
    unsigned char bytes[JSON_TEXT_SIZE];
    size_t len;
};

/* Paths, some of which lead to something in such lines; ends with NULL. */
extern const char *const json_text_paths[];

/* Fills text with up to `len` bytes of lines. `oddity`: one of so many bytes or so is damaged; 0:
 * none. */
void json_text_fill(struct json_text *text, size_t len, unsigned oddity);

#endif
