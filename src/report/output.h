/* SPDX-License-Identifier: MIT */
/* The output: standard output, or a file that is written completely or not at all. */
#ifndef GPUHISTO_REPORT_OUTPUT_H
#define GPUHISTO_REPORT_OUTPUT_H

#include "src/base/error.h"
#include "writer.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

enum target_kind {
    TARGET_REPLACED, /* a regular file, or nothing yet: a new file replaces it */
    TARGET_DIRECT,   /* written in place: a device, a FIFO, a mount point, or a deleted file that
                      * /proc still names */
    TARGET_OPEN,     /* an open descriptor of this process, such as /dev/stdout */
};

/* The file of --output. It is looked up once, and its directory stays open, so renaming anything on
 * the path cannot redirect the table later. */
struct target {
    enum target_kind kind;
    int fd;                  /* TARGET_OPEN: a duplicate of the descriptor; otherwise -1 */
    int directory;           /* the file's, opened with O_PATH; TARGET_OPEN: -1 */
    int file;                /* the existing file, opened with O_PATH; -1: there is none */
    bool is_magic;           /* the name is a link in /proc to something without a name, such as a
                              * pipe or a deleted file */
    char base[NAME_MAX + 1]; /* the name in the directory; never a link, unless is_magic */
};

struct output {
    const char *name; /* of the file; NULL: standard output */
    struct target target;
    int fd;               /* of the new file that replaces the target; -1: there is none */
    char temporary[24];   /* the name of that file; empty: it has none */
    struct error warning; /* what could not be done so far; or empty */
    struct writer writer;
};

/* Finds the file before anything is counted, and fails if it is a directory, or a file that cannot
 * be written. Symbolic links are followed, even if they lead to no file, except where
 * fs.protected_symlinks forbids it: links of other users in directories such as /tmp. A file that
 * is to be replaced keeps its content until output_close: the new one is created in its directory,
 * without a name or with a temporary one, and gets its permissions. Signals that end the process
 * remove it. A run that ends without output_close calls signals_remove_now for that. `name`, which
 * must stay valid, is NULL for standard output. From here on, a write beyond the limit on the size
 * of files fails instead of ending the process. Returns 0; or -1 with the error set, and nothing to
 * close. */
int output_prepare(struct output *output, const char *name, struct error *error);

/* True if the output is this regular file, which the table would replace. */
bool output_is_file(const struct output *output, const struct stat *file);

/* Begins to write to standard output, to the new file, or to the file itself if it cannot be
 * replaced; this may wait for the reader of a FIFO. Returns the writer; or NULL with the error set,
 * and everything closed. */
struct writer *output_open(struct output *output, struct error *error);

/* Flushes standard output, which stays open. Returns 0, or -1 with the error set. */
int output_flush(struct output *output, struct error *error);

/* Writes what is left and closes everything. The new file replaces the old one, or is removed if
 * anything was not written. Returns 0 with a warning if permissions could not be kept, otherwise an
 * empty one; or -1 with the error set. */
int output_close(struct output *output, struct error *warning, struct error *error);

#endif
