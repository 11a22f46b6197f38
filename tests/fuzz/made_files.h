/* SPDX-License-Identifier: MIT */
/* FILEs, most of them compressed, that a fuzzer's bytes are a plan for: what the FILEs hold, where
 * it is cut into frames or members and how these are made, and which bytes are then inverted. */
#ifndef GPUHISTO_TESTS_MADE_FILES_H
#define GPUHISTO_TESTS_MADE_FILES_H

#include "tests/fuzz/fuzz.h"

#define MADE_FILES_MAX 3
#define MADE_MAX ((size_t)1 << 20) /* bytes of a FILE */

/* The rest of a plan. */
struct drawn {
    const uint8_t *at, *end;
};

/* The plan's next byte; 0 after its end. */
unsigned plan_take(struct drawn *plan);

/* All zeros at first; its memory is used again. */
struct made_file {
    struct fuzz_file file;
    size_t len;
    unsigned char bytes[MADE_MAX];
};

/* Makes FILEs of all that is left of the plan, files[0..MADE_FILES_MAX) at most, which hold numbers
 * in text, or any bytes. How many. */
size_t made_files(struct drawn *plan, bool is_text, struct made_file *files);

#endif
