/* SPDX-License-Identifier: MIT */
/* Signals that end the process, and what they must not leave in a directory.
 *
 * Any thread may take a signal, also one of a library's, so nothing here depends on which does, nor
 * on signal masks. Handlers are installed by the first signals_hold; until then a signal ends the
 * process as it always does. A signal that was ignored when the program began stays ignored. */
#ifndef GPUHISTO_SIGNALS_H
#define GPUHISTO_SIGNALS_H

#include <stdbool.h>

/* Has the first SIGINT ask for the end of the run, which signals_interrupted tells; the second one
 * ends the process. Before threads. */
void signals_await_interrupt(void);

/* True if that SIGINT has come. Any thread. */
bool signals_interrupted(void);

/* Ends the process as that SIGINT would have: a shell sees that it was interrupted. */
_Noreturn void signals_end_interrupted(void);

/* Has a write past the limit on a file's size fail with EFBIG rather than end the process. */
void signals_ignore_file_size(void);

/* From here to signals_release a signal that ends the process waits: files can be created, renamed
 * and registered as one step. Does not nest. One thread only. */
void signals_hold(void);

/* Registers the one file that a signal removes before it ends the process: `name`, which must stay
 * valid, in an open directory; or none, if name is NULL. Only between signals_hold and
 * signals_release. */
void signals_remove_at_death(int directory, const char *name);

/* Removes the registered file, if there is one. Neither from signals_hold to signals_release, nor
 * by two threads. */
void signals_remove_now(void);

/* Ends what signals_hold began. If a signal came meanwhile, the process ends here. errno is kept.
 */
void signals_release(void);

#endif
