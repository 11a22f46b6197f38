/* SPDX-License-Identifier: MIT */
/* produce HOW KIND BYTES: writes BYTES of a kind of data (bench/data.h) to standard output.
 *
 * HOW is write (1 MiB at a time) or vmsplice (the pages themselves, without a copy, which is the
 * fastest way to fill a pipe). A pipe is enlarged to 1 MiB. Exit status 1 if writing fails. */
#include "bench/data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define PERIOD ((size_t)16 << 20) /* the data repeat after so many bytes */
#define BLOCK ((size_t)1 << 20)

static enum data_kind kind_of(const char *name)
{
    int kind = 0;
    while (kind < DATA_KINDS && strcmp(name, data_name((enum data_kind)kind)) != 0)
        kind++;
    return (enum data_kind)kind;
}

/* Writes some of data[0..len). Returns how much, or -1. */
static ssize_t give(int by_pages, unsigned char *data, size_t len)
{
    struct iovec piece = {data, len};
    return by_pages ? vmsplice(STDOUT_FILENO, &piece, 1, 0) : write(STDOUT_FILENO, data, len);
}

int main(int argc, char **argv)
{
    int by_pages = argc == 4 && strcmp(argv[1], "vmsplice") == 0;
    enum data_kind kind = argc == 4 ? kind_of(argv[2]) : DATA_KINDS;
    if (kind == DATA_KINDS || (!by_pages && strcmp(argv[1], "write") != 0)) {
        fprintf(stderr, "usage: produce write|vmsplice KIND BYTES\n");
        return 2;
    }
    unsigned long long bytes = strtoull(argv[3], NULL, 10), done = 0;
    unsigned char *data = aligned_alloc(4096, PERIOD);
    if (!data)
        return 1;
    data_fill(kind, data, PERIOD);
    (void)fcntl(STDOUT_FILENO, F_SETPIPE_SZ, (int)BLOCK);
    while (done < bytes) {
        size_t at = (size_t)(done % PERIOD), len = PERIOD - at < BLOCK ? PERIOD - at : BLOCK;
        ssize_t given =
            give(by_pages, data + at, bytes - done < len ? (size_t)(bytes - done) : len);
        if (given < 0 && errno != EINTR) {
            perror("produce");
            return 1;
        }
        done += given > 0 ? (unsigned long long)given : 0;
    }
    return 0;
}
