/* SPDX-License-Identifier: MIT */
/* The program: reads the command line, and runs what it asks for: a count (src/cli/run_count.c), a
 * sum of tables (run_merge.c), a comparison of two (run_diff.c), or a text such as that of --help.
 * Says what went wrong, and ends with the exit status. */

#include "src/base/signals.h"
#include "src/cli/cli.h"

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

/* Raises the limit on the stack if it is too low. 0, or -1 with the error set. */
static int check_stack(struct error *error)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_MIN)
        return 0;
    const unsigned long kib = (unsigned long)(limit.rlim_cur >> 10);
    limit.rlim_cur = STACK_MIN;
    if (limit.rlim_max >= STACK_MIN && setrlimit(RLIMIT_STACK, &limit) == 0)
        return 0;
    return error_set(error,
                     "the stack is limited to %lu KiB, and %d KiB are needed; use 'ulimit -s %d'",
                     kib, STACK_MIN >> 10, STACK_MIN >> 10);
}

/* Does what the options ask for. The exit status. */
static int run(void)
{
    switch (options.action) {
    case ACTION_COUNT:
        return run_count(&options, &output);
    case ACTION_MERGE:
        return run_on_tables(&options, &output, run_merge);
    case ACTION_DIFF:
        return run_on_tables(&options, &output, run_diff);
    default:
        return run_print(&options, &output);
    }
}

int main(int argc, char **argv)
{
    struct error error;
    progress_catch_signals();
    if (check_stack(&error) != 0)
        return run_failed(&error);
    set_up_malloc();
    hold_standard_descriptors();
    const int rc = options_parse(argc, argv, &options, &error);
    if (rc != 0)
        return run_refused(rc, &error);
    const int status = run();
    signals_remove_now(); /* the output of a run that failed */
    return status;
}
