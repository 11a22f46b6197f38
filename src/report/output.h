/* SPDX-License-Identifier: MIT */
/* The output: standard output, or a file that is written completely or not at all. */
#ifndef GPUHISTO_OUTPUT_H
#define GPUHISTO_OUTPUT_H

#include "src/base/error.h"
#include "target.h"
#include "temporary.h"
#include "writer.h"

struct output {
    const char *name; /* of the file; NULL: standard output */
    struct target target;
    struct temporary temporary;
    struct error warning; /* what could not be done so far; or empty */
    struct writer writer;
};

/* Finds the file before anything is counted, and fails if it is a directory, or a file that cannot
 * be written. A file that is to be replaced keeps its content until output_close: the new one is
 * created in its directory, without a name or with a temporary one, and gets its permissions
 * (permissions.h). Signals that end the process remove it. A run that ends without output_close
 * calls signals_remove_now for that. `name`, which must stay valid, is NULL for standard output.
 * From here on, a write beyond the limit on the size of files fails instead of ending the process.
 * Returns 0; or -1 with the error set, and nothing to close. */
int output_prepare(struct output *output, const char *name, struct error *error);

/* True if the output is this regular file, which the table would replace. */
bool output_is_file(const struct output *output, const struct stat *file);

/* Begins to write to standard output, to the new file, or to the file itself if it cannot be
 * replaced. Returns the writer; or NULL with the error set, and everything closed. */
struct writer *output_open(struct output *output, struct error *error);

/* Flushes standard output, which stays open. Returns 0, or -1 with the error set. */
int output_flush(struct output *output, struct error *error);

/* Writes what is left and closes everything. The new file replaces the old one, or is removed if
 * anything was not written. Returns 0 with a warning if permissions could not be kept, otherwise an
 * empty one; or -1 with the error set. */
int output_close(struct output *output, struct error *warning, struct error *error);

#endif
