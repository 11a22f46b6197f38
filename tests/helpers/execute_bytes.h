/* SPDX-License-Identifier: MIT */
/* Operations of a run, executed a byte at a time, and compared with what operations.h says. */
#ifndef GPUHISTO_TESTS_EXECUTE_BYTES_H
#define GPUHISTO_TESTS_EXECUTE_BYTES_H

#include "src/parallel/operations.h"

/* Content as far as it was made; `cap` bytes of memory. */
struct made_content {
    unsigned char *bytes;
    size_t len, cap;
};

/* Appends the content of a run, which has no symbolic offsets. Returns NULL; or what is wrong, and
 * nothing is appended. A match that begins before the content is wrong only if run->reach does not
 * tell of it: then *is_too_far is set. */
const char *execute_bytes(const struct parsed_run *run, struct made_content *content,
                          bool *is_too_far);

#endif
