/* Where the report goes: standard output, or a FILE that is written whole or not at all. */
#ifndef GPUHISTO_OUTPUT_H
#define GPUHISTO_OUTPUT_H

#include "src/base/reason.h"

#include <stdbool.h>
#include <stdio.h>

/* Says early what would only fail late: a FILE that is a directory, or in one that cannot be
 * written or is not there. NULL (standard output) is always fine. 0, or -1 with the reason set. */
int output_check(const char *name, struct reason *why);

/* Opens standard output (name NULL), or a temporary file beside FILE, which SIGHUP, SIGINT,
 * SIGQUIT and SIGTERM then remove (unless they were ignored); a FILE that is there and not regular
 * is opened itself. One output at a time. The stream to write to, or NULL with the reason set. */
FILE *output_open(const char *name, struct reason *why);

/* Flushes and closes; the temporary file, if it was written without an error, takes FILE's name and
 * mode, else it is removed. 0, or -1 with the reason set. */
int output_close(FILE *out, const char *name, struct reason *why);

#endif
