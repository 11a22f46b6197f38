/* SPDX-License-Identifier: MIT */
/* Where the table is written: standard output, or a FILE that is written completely or not at all.
 */
#ifndef GPUHISTO_OUTPUT_H
#define GPUHISTO_OUTPUT_H

#include "src/base/reason.h"
#include "target.h"
#include "temporary.h"
#include "writer.h"

struct output {
    const char *name; /* of the FILE; NULL: standard output */
    struct target target;
    struct temporary temporary;
    struct reason warning; /* what could not be done, so far; or empty */
    struct writer writer;
};

/* Looks up the FILE before anything is counted, and finds what would fail later: a directory, or a
 * file that cannot be written. If a new file will take FILE's name, it is created in FILE's
 * directory, without a name or with a temporary one, and gets the permissions of the FILE that it
 * replaces (permissions.h). Signals that end the process remove it, and so does signals_remove_now,
 * which whoever ends a run without output_close has to call. `name`, which must stay valid, is NULL
 * for standard output. From then on, a write beyond the limit on the size of files fails, and does
 * not end the process. Returns 0; or -1 with the reason set, and nothing to close. */
int output_prepare(struct output *output, const char *name, struct reason *why);

/* Opens standard output; or the new file; or FILE itself, if it cannot be replaced. Returns the
 * output's writer; or NULL with the reason set, and everything closed. */
struct writer *output_open(struct output *output, struct reason *why);

/* Writes what was written to standard output so far, and leaves it open for more. Returns 0, or -1
 * with the reason set. */
int output_flush(struct output *output, struct reason *why);

/* Writes what is left and closes everything. A new file gets FILE's name; if anything was not
 * written, it is removed. Returns 0, with warning->text empty or saying which permissions could not
 * be kept; or -1 with the reason set. */
int output_close(struct output *output, struct reason *warning, struct reason *why);

#endif
