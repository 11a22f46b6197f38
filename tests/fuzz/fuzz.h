/* SPDX-License-Identifier: MIT */
/* What the fuzzers share. A fuzzer is one file with LLVMFuzzerTestOneInput: it says at its head
 * what the bytes mean and what must hold, takes copies of them that end where their memory does,
 * and ends the process through fuzz_require, which names what did not hold. */
#ifndef GPUHISTO_TESTS_FUZZ_H
#define GPUHISTO_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct error;

/* What libFuzzer calls with an input. 0; -1: the input is not worth keeping. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Called once, before the first input, by a fuzzer that has it. 0. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Aborts, and says what does not hold, unless it does. */
void fuzz_require(bool holds, const char *what);

/* A copy of data[0..len) in memory of just that size, so that a sanitizer sees what is read past
 * it. To be freed. */
unsigned char *fuzz_copy(const uint8_t *data, size_t len);

/* Requires that an error is one line that can be printed, and is not empty. */
void fuzz_require_error(const struct error *error);

/* A FILE in memory. */
struct fuzz_file {
    int fd;
    char name[32]; /* by which this process can open it */
};

/* Makes one that holds data[0..size). */
struct fuzz_file fuzz_file_make(const void *data, size_t size);

/* Has it hold data[0..size) instead. */
void fuzz_file_fill(const struct fuzz_file *file, const void *data, size_t size);

/* Closes it, which frees its memory. */
void fuzz_file_close(const struct fuzz_file *file);

#ifdef __cplusplus
}
#endif

#endif
