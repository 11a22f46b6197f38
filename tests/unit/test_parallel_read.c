/* SPDX-License-Identifier: MIT */
/* Parts of a file that several threads read side by side, against what one thread reads: the same
 * bytes, and where some cannot be read, or the file becomes shorter, the same message. */
#include "src/input/bytes.h"
#include "src/input/input.h"
#include "tests/helpers/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILE_SIZE (((size_t)11 << 20) + 4567)

static unsigned char content[FILE_SIZE], out[FILE_SIZE], expected[FILE_SIZE];
static unsigned cases, failures, wrong;

/* What pread does beside reading. */
static struct {
    off_t bad[3];    /* bytes that cannot be read; -1: none */
    int truncate_fd; /* the file is made shorter, to `shorter` bytes, */
    int truncate_at; /* in this call, from 1; 0: never */
    off_t shorter;
    bool is_odd;  /* signals interrupt it, and it reads less than it could */
    bool is_slow; /* at the first bytes of the file */
} fault;
static atomic_int calls;

ssize_t __real_pread(int fd, void *buf, size_t len, off_t at);
ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t at);

ssize_t __wrap_pread(int fd, void *buf, size_t len, off_t at)
{
    const int call = ++calls;
    if (fault.is_slow && at < 3 << 20)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    if (call == fault.truncate_at && ftruncate(fault.truncate_fd, fault.shorter) != 0)
        abort();
    if (fault.is_odd && call % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    if (fault.is_odd && len > 1)
        len -= len / (size_t)(1 + call % 5);
    for (unsigned i = 0; i < 3; i++) {
        if (fault.bad[i] < at || fault.bad[i] >= at + (off_t)(len ? len : 1))
            continue;
        if (fault.bad[i] == at) {
            errno = EIO;
            return -1;
        }
        len = (size_t)(fault.bad[i] - at);
    }
    return __real_pread(fd, buf, len ? len : 1, at);
}

static void forget_faults(void)
{
    memset(&fault, 0, sizeof fault);
    for (unsigned i = 0; i < 3; i++)
        fault.bad[i] = -1;
    calls = 0;
}

static void complain(const char *what, size_t len, size_t at)
{
    if (wrong++ < 20)
        fprintf(stderr, "%s: %zu bytes at %zu\n", what, len, at);
}

static void check_part(struct parallel_read *wide, const struct bytes *input, size_t len, size_t at)
{
    struct error error = {""}, same = {""};
    ssize_t narrow = bytes_read_at(input, expected, len, at, &same);
    ssize_t got = parallel_read(wide, input, out, len, at, &error);
    cases++;
    failures += got < 0;
    if (got != narrow || strcmp(error.text, same.text) != 0)
        complain(error.text, len, at);
    else if (got > 0 && memcmp(out, content + at, (size_t)got) != 0)
        complain("other bytes", len, at);
}

static void check_parts(struct parallel_read *wide, const struct bytes *input)
{
    static const size_t lens[] = {0, 1, 1 << 20, 2 << 20, (2 << 20) + 1, FILE_SIZE - 1, FILE_SIZE};
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++)
        check_part(wide, input, lens[i], FILE_SIZE - lens[i]);
    for (unsigned i = 0; i < 20; i++) {
        size_t at = random_below(FILE_SIZE);
        check_part(wide, input, random_below((unsigned)(FILE_SIZE - at)), at);
    }
}

/* Bytes that cannot be read: the first of them is named, though others were read before. */
static void check_errors(struct parallel_read *wide, const struct bytes *input)
{
    for (unsigned i = 0; i < 30; i++) {
        forget_faults();
        fault.is_slow = i % 3 == 0;
        fault.is_odd = i % 4 == 1;
        for (unsigned n = 0; n <= i % 3; n++)
            fault.bad[n] = (off_t)random_below((unsigned)FILE_SIZE);
        if (i < 3)
            fault.bad[0] = i == 0 ? 0 : i == 1 ? (off_t)FILE_SIZE - 1 : 5 << 20;
        unsigned before = failures;
        check_part(wide, input, FILE_SIZE, 0);
        if (failures == before)
            complain("a read error was not seen", FILE_SIZE, 0);
    }
}

/* The file is cut short while it is read. */
static void check_shrinking(struct parallel_read *wide, const struct bytes *input, const char *name)
{
    for (int at = 1; at <= 9; at++) {
        struct error error = {""};
        char text[200];
        forget_faults();
        int fd = open(name, O_RDWR);
        if (fd < 0 || ftruncate(fd, 0) != 0 || write(fd, content, FILE_SIZE) != (ssize_t)FILE_SIZE)
            abort();
        fault.truncate_fd = fd;
        fault.truncate_at = at;
        fault.shorter = (off_t)random_below(100);
        fault.is_slow = at % 2;
        snprintf(text, sizeof text, "%s: was truncated while it was read", name);
        ssize_t got = parallel_read(wide, input, out, FILE_SIZE, 0, &error);
        cases++;
        if (got != -1 || strcmp(error.text, text) != 0)
            complain("a file that became shorter", (size_t)at, 0);
        close(fd);
    }
}

int main(void)
{
    char name[] = "test_parallel_read-XXXXXX";
    struct input input;
    struct error error;
    random_seed(20261124);
    forget_faults();
    for (size_t i = 0; i < FILE_SIZE; i++)
        content[i] = (unsigned char)random_below(256);
    int fd = mkstemp(name);
    if (fd < 0 || write(fd, content, FILE_SIZE) != (ssize_t)FILE_SIZE)
        return 1;
    close(fd);
    const struct input_options options = {.is_as_stored = true, .record = record_values(1)};
    struct preopened file = preopened_inspect(name);
    if (input_open(&input, &file, &options, NULL, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    struct parallel_read *wide = parallel_read_open();
    check_parts(NULL, &input.bytes);
    parallel_read_close(parallel_read_open());
    check_parts(wide, &input.bytes);
    fault.is_odd = true;
    check_parts(wide, &input.bytes);
    check_errors(wide, &input.bytes);
    forget_faults();
    check_parts(wide, &input.bytes); /* as before */
    check_shrinking(wide, &input.bytes, name);
    parallel_read_close(wide);
    input_close(&input);
    unlink(name);
    printf("%u parts, of which %u could not be read, %u wrong\n", cases, failures, wrong);
    return wrong > 0 || failures < 30;
}
