/* SPDX-License-Identifier: MIT */
/* The program: reads the command line, and runs what it asks for: a count (src/cli/run_count.c), a
 * sum of tables (run_merge.c), a comparison of two (run_diff.c), or a text such as that of --help.
 * A run that fails says why and ends there (run_fail). */

#include "src/cli/cli.h"
#include "src/report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_MIN (320 << 10) /* bytes */

/* Static, as a GPU that is still starting may read the histogram until the process ends. */
static struct options options;
static struct output output;

/* Gives closed standard descriptors a file. The next file that is opened would get their number,
 * and the table could be written there. Opened for the wrong direction, their use stays an error
 * (EBADF). */
static void hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Sets up malloc. Large buffers, such as zstd's windows, go back to the system when they are freed,
 * whichever thread had them: otherwise glibc raises the threshold with each one and keeps them for
 * each thread. Threads share one arena: each of their own would take 64 MiB of address space, and
 * nothing here allocates often enough for them to wait for each other. */
static void set_up_malloc(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
}

/* Raises the limit on the stack if it is too low. */
static void raise_stack(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_MIN)
        return;
    const unsigned long kib = (unsigned long)(limit.rlim_cur >> 10);
    limit.rlim_cur = STACK_MIN;
    if (limit.rlim_max < STACK_MIN || setrlimit(RLIMIT_STACK, &limit) != 0)
        run_fail("the stack is limited to %lu KiB, and %d KiB are needed; use 'ulimit -s %d'", kib,
                 STACK_MIN >> 10, STACK_MIN >> 10);
}

int main(int argc, char **argv)
{
    struct error error;
    progress_catch_signals();
    raise_stack();
    set_up_malloc();
    hold_standard_descriptors();
    const int rc = options_parse(argc, argv, &options, &error);
    if (rc != 0)
        run_refuse(rc == OPTIONS_FAILED ? STATUS_FAILED : STATUS_USAGE, &error);
    switch (options.action) {
    case ACTION_COUNT:
        run_count(&options, &output);
        break;
    case ACTION_MERGE:
        run_on_tables(&options, &output, run_merge);
        break;
    case ACTION_DIFF:
        run_on_tables(&options, &output, run_diff);
        break;
    default:
        run_print(&options, &output);
        break;
    }
    return STATUS_COUNTED;
}
