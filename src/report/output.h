/* Where the table goes: standard output, or a FILE that is written whole or not at all. */
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
    struct writer writer;
};

/* Looks up where the table will go, before anything is counted, and says what would fail later: a
 * FILE that is a directory, or that cannot be written. `name`, which must stay valid, is NULL for
 * standard output. Writes past a limit on files' sizes fail from here on, and do not end the
 * process. 0; or -1 with the reason set, and nothing to close. */
int output_prepare(struct output *output, const char *name, struct reason *why);

/* Opens standard output; or a new file without a name in FILE's directory, or with a temporary one
 * which signals that end the process remove (unless they were ignored); or FILE itself, if it
 * cannot be replaced. What to write to, the output's own; or NULL with the reason set, and
 * everything closed. */
struct writer *output_open(struct output *output, struct reason *why);

/* Writes out the rest and closes everything. A new file takes FILE's name, and the permissions of
 * a FILE that was there (permissions.h); but if anything was not written, it is removed. 0, with
 * warning->text empty or what could not be kept; or -1 with the reason set. */
int output_close(struct output *output, struct reason *warning, struct reason *why);

#endif
