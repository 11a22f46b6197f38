/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz.h"
#include "src/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

unsigned char *fuzz_copy(const uint8_t *data, size_t len)
{
    unsigned char *copy = malloc(len ? len : 1);
    fuzz_require(copy != NULL, "out of memory");
    if (len > 0)
        memcpy(copy, data, len);
    return copy;
}

void fuzz_require_error(const struct error *error)
{
    const size_t len = strnlen(error->text, sizeof error->text);
    fuzz_require(len > 0, "a reason is empty");
    fuzz_require(len < sizeof error->text, "a reason does not end");
    for (size_t i = 0; i < len; i++)
        fuzz_require((unsigned char)error->text[i] >= 0x20 && error->text[i] != 0x7f,
                     "a reason has what cannot be printed");
}

struct fuzz_file fuzz_file_make(const void *data, size_t size)
{
    struct fuzz_file file = {.fd = memfd_create("fuzz", MFD_CLOEXEC)};
    fuzz_require(file.fd >= 0, "no file in memory");
    snprintf(file.name, sizeof file.name, "/proc/self/fd/%d", file.fd);
    fuzz_file_fill(&file, data, size);
    return file;
}

void fuzz_file_fill(const struct fuzz_file *file, const void *data, size_t size)
{
    fuzz_require(ftruncate(file->fd, 0) == 0 &&
                     (size == 0 || pwrite(file->fd, data, size, 0) == (ssize_t)size),
                 "a file in memory cannot be written");
}

void fuzz_file_close(const struct fuzz_file *file)
{
    close(file->fd);
}
