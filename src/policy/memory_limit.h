/* SPDX-License-Identifier: MIT */
/* How much memory this process may still use. */
#ifndef GPUHISTO_MEMORY_LIMIT_H
#define GPUHISTO_MEMORY_LIMIT_H

#include <stdint.h>

/* Bytes of memory that can be touched without the out-of-memory killer: what the kernel calls
 * available, and what the control groups leave; UINT64_MAX if neither is known. Limits on address
 * space (ulimit -v) are not looked at, as they fail the allocation itself. Reads a few files under
 * root ("", or a test's folder), which takes some tens of microseconds. */
uint64_t memory_available(const char *root);

#endif
