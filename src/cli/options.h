/* The command line: argv to struct options. Pure: reads and writes no file, prints nothing. */
#ifndef GPUHISTO_OPTIONS_H
#define GPUHISTO_OPTIONS_H

#include "src/histogram/histogram.h"
#include "src/input/input.h"
#include "src/pool/pool.h"
#include "progress.h"
#include "src/report/report.h"

enum action {
    ACTION_COUNT,
    ACTION_HELP,
    ACTION_VERSION,
    ACTION_LIST_KERNELS,
};

enum verbosity {
    QUIET,   /* errors alone */
    NORMAL,  /* and warnings */
    VERBOSE, /* and what was chosen, and why */
};

struct options {
    enum action action;
    struct histogram histogram;
    struct input_options input;
    struct pool_options pool;
    struct report_options report;
    const char *output; /* a FILE, or NULL: standard output */
    enum verbosity verbosity;
    bool timing;
    enum progress_when progress;
    char *const *operands; /* FILEs: argv's own, behind the options */
    size_t operand_count;
};

/* Reads argv, which getopt may permute, and GPUHISTO_CPU in the environment. 0, or -1 with a reason
 * that names the option and says what is allowed. Not for two threads at once: getopt keeps its
 * state in globals. */
int options_parse(int argc, char **argv, struct options *options, struct reason *why);

/* The text of --help. */
extern const char options_help[];

#endif
