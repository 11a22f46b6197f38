/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* One word decides what a signal does, so that two threads never decide differently. FREE: it
 * removes the file and ends the process. HELD: its number is stored here for signals_release.
 * DYING: a signal is about to end the process. */
enum {
    FREE = 0,
    HELD = -1,
    DYING = -2,
};

static atomic_int state = FREE;

/* The registered file. The name is stored last, and read first. */
static atomic_int removed_directory;
static const char *_Atomic removed_name;

static void end_by_signal(int number)
{
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigemptyset(&standard.sa_mask);
    sigaction(number, &standard, NULL);
    raise(number); /* in a handler it takes effect when the handler returns */
}

static void remove_file(void)
{
    const char *name = atomic_load(&removed_name);
    if (name)
        unlinkat(atomic_load(&removed_directory), name, 0);
}

static _Noreturn void wait_for_end(void)
{
    for (;;)
        pause();
}

static void remove_and_end(int number)
{
    remove_file();
    end_by_signal(number);
}

static void handle_signal(int number)
{
    int saved = errno, now = FREE;
    /* The program itself is broken: it must not wait. */
    const bool is_fault = number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
                          number == SIGILL || number == SIGTRAP || number == SIGSYS ||
                          number == SIGABRT;
    if (is_fault || atomic_compare_exchange_strong(&state, &now, DYING)) {
        remove_and_end(number);
    } else if (now == HELD && !atomic_compare_exchange_strong(&state, &now, number) &&
               now == FREE) {
        raise(number); /* released just now: once more, when this handler has returned */
    }
    errno = saved;
}

/* True if the default action of a signal ends the process. */
static bool is_deadly(int number)
{
    static const int harmless[] = {SIGCHLD, SIGCONT, SIGURG,  SIGWINCH, SIGTSTP,
                                   SIGTTIN, SIGTTOU, SIGKILL, SIGSTOP};
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (number == harmless[i])
            return false;
    return true;
}

/* Installs handlers for all signals that have none and are not ignored. sigaction fails for those
 * that the C library uses itself. */
static void catch_signals(void)
{
    struct sigaction old, guard = {.sa_handler = handle_signal, .sa_flags = SA_RESTART};
    sigemptyset(&guard.sa_mask);
    for (int number = 1; number <= SIGRTMAX; number++)
        if (is_deadly(number) && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(number, &guard, NULL);
}

void signals_hold(void)
{
    static bool caught;
    if (!caught)
        catch_signals();
    caught = true;
    int expected = FREE;
    if (!atomic_compare_exchange_strong(&state, &expected, HELD))
        wait_for_end();
}

void signals_remove_at_death(int directory, const char *name)
{
    atomic_store(&removed_name, NULL);
    atomic_store(&removed_directory, directory);
    atomic_store(&removed_name, name);
}

void signals_remove_now(void)
{
    if (!atomic_load(&removed_name))
        return;
    signals_hold();
    remove_file();
    signals_remove_at_death(-1, NULL);
    signals_release();
}

void signals_release(void)
{
    int expected = HELD;
    if (atomic_compare_exchange_strong(&state, &expected, FREE))
        return;
    remove_and_end(expected);
    wait_for_end();
}

/* --- SIGINT that requests the end --- */

static atomic_bool interrupted;

static void set_interrupted(int number)
{
    (void)number;
    atomic_store(&interrupted, true);
}

void signals_await_interrupt(void)
{
    struct sigaction old,
        action = {.sa_handler = set_interrupted, .sa_flags = (int)(SA_RESTART | SA_RESETHAND)};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGINT, &action, NULL);
}

bool signals_interrupted(void)
{
    return atomic_load(&interrupted);
}

void signals_end_interrupted(void)
{
    end_by_signal(SIGINT);
    wait_for_end();
}
