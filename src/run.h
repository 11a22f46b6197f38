/* SPDX-License-Identifier: MIT */
/* What counting and merging have in common: how a run ends, and what it shows. */
#ifndef GPUHISTO_RUN_H
#define GPUHISTO_RUN_H

#include "src/cli/options.h"
#include "src/work/source.h"
#include "src/report/output.h"

enum {
    STATUS_COUNTED = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
};

/* Prints the reason. STATUS_FAILED. */
int run_failed(const struct reason *why);

/* Closes the output, where a full disk or a closed descriptor shows itself. The exit status. */
int run_end_output(struct output *output, enum verbosity verbosity);

/* Says which range --bins needs: to tell apart what was counted in the same bins, if narrower ones
 * would be few enough; and where most whole values are outside of them. */
void run_hint_range(const struct options *options, const struct histogram *histogram,
                    const struct tally *tally);

/* Puts the run into a sandbox (src/sandbox/sandbox.h) once what is read and written is open, unless
 * the user does not want that, or a GPU may be used. The files are a source's or tables, otherwise
 * NULL. Before threads. 0; or -1, after a message: there is none although the user requires it. */
int run_enter_sandbox(const struct options *options, const struct output *output,
                      struct source *source, const struct held_list *tables);

/* Warns of tables whose samples came from elsewhere than those of the first one. */
struct merge;
void run_warn_of_others(const struct merge *merge);

/* --diff, --merge: the whole run. The exit status. */
int run_diff(struct options *options);
int run_merge(struct options *options);

#endif
