/* SPDX-License-Identifier: MIT */
/* Signals that end the process, and the file that they must not leave behind.
 *
 * Any thread may get a signal, even one of a library's, so nothing depends on the thread or on
 * signal masks. The first signals_hold installs handlers; until then a signal ends the process as
 * usual. A signal that was ignored when the program began stays ignored. */
#ifndef GPUHISTO_SIGNALS_H
#define GPUHISTO_SIGNALS_H

#include <stdbool.h>

/* Makes the first SIGINT from now on set only what signals_interrupted returns; the second one ends
 * the process. Call it before threads are started. */
void signals_await_interrupt(void);

/* True if that SIGINT has come. Any thread. */
bool signals_interrupted(void);

/* Ends the process as that SIGINT would have, so a shell sees that it was interrupted. */
_Noreturn void signals_end_interrupted(void);

/* Delays signals that end the process until signals_release, so that files are created, renamed and
 * registered as one step. Does not nest. One thread only. */
void signals_hold(void);

/* Registers the file that a signal removes before it ends the process: `name`, which must stay
 * valid, in an open directory; NULL: no file. Only between signals_hold and signals_release. */
void signals_remove_at_death(int directory, const char *name);

/* Removes the registered file, if there is one. Not between signals_hold and signals_release. One
 * thread only. */
void signals_remove_now(void);

/* Ends what signals_hold began. If a signal came meanwhile, the process ends here. errno does not
 * change. */
void signals_release(void);

#endif
