/* SPDX-License-Identifier: MIT */
#include "progress.h"
#include "diag.h"
#include "src/base/system.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PERIOD_SECONDS 0.5

static atomic_bool is_requested; /* set on whichever thread gets the signal */

static void handle_signal(int signal)
{
    (void)signal;
    atomic_store(&is_requested, true);
}

static void catch_signal(int signal)
{
    struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    if (sigaction(signal, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(signal, &action, NULL);
    /* A program that sends it at once may have started this one with the signal blocked. */
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

void progress_catch_signals(void)
{
    catch_signal(SIGUSR1);
#ifdef SIGINFO
    catch_signal(SIGINFO);
#endif
}

struct progress progress_begin(enum progress_when when, struct source *source)
{
    struct progress progress = {.source = source, .terminal = isatty(STDERR_FILENO) == 1};
    progress.shown = when == PROGRESS_ALWAYS || (when == PROGRESS_AUTO && progress.terminal);
    progress.next = PERIOD_SECONDS;
    progress.begin = clock_now();
    return progress;
}

/* Writes "12.3 GB, 4.500 GB/s, 67%, 8 s left"; the last two only if the size is known. */
static void describe_progress(const struct progress *progress, uint64_t bytes, double seconds,
                              char *line, size_t size)
{
    static const char units[] = " kMGTPE";
    double amount = (double)bytes;
    unsigned unit = 0;
    for (; amount >= 1000 && units[unit + 1]; unit++)
        amount /= 1000;
    int len = snprintf(line, size, unit ? "%.1f %cB" : "%.0f B", amount, units[unit]);
    len += snprintf(line + len, size - (size_t)len, ", %.3f GB/s",
                    seconds > 0 ? (double)bytes / seconds / 1e9 : 0);
    const double fraction = source_fraction(progress->source);
    if (fraction > 0)
        snprintf(line + len, size - (size_t)len, ", %.0f%%, %.0f s left", fraction * 100,
                 seconds * (1 - fraction) / fraction);
}

/* Replaces the line that is on the terminal. */
static void rewrite_line(struct progress *progress, const char *line)
{
    int width = (int)strlen(line);
    fprintf(stderr, "\r%-*s%s", progress->width, line, width ? "" : "\r");
    progress->width = width;
}

void progress_tick(struct progress *progress, uint64_t bytes)
{
    double seconds = clock_seconds_since(&progress->begin);
    bool due = progress->shown && seconds >= progress->next;
    const bool is_answer = atomic_exchange(&is_requested, false);
    if (!due && !is_answer)
        return;
    char line[200];
    describe_progress(progress, bytes, seconds, line, sizeof line);
    if (is_answer || !progress->terminal) {
        progress_end(progress);
        diag("%s", line);
    } else {
        rewrite_line(progress, line);
    }
    if (due)
        progress->next = seconds + PERIOD_SECONDS;
}

void progress_end(struct progress *progress)
{
    if (progress->width > 0)
        rewrite_line(progress, "");
}
