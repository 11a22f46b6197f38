/* SPDX-License-Identifier: MIT */
/* Parts of a test in processes of their own: what a part may not free, as a lost device may still
 * write there, goes with its process. */
#ifndef GPUHISTO_APART_H
#define GPUHISTO_APART_H

#include <stddef.h>

/* `size` bytes of zeros that parts share with the test, for what they count. Ends the process if
 * there is no memory. */
void *apart_memory(size_t size);

/* Calls work(arg) in a child, which then exits with status 0, and waits for it. The caller has no
 * other threads. A child that ends otherwise, by a signal or as a sanitizer has it, is fatal. */
void apart(void (*work)(const void *arg), const void *arg);

#endif
