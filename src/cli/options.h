/* SPDX-License-Identifier: MIT */
/* The command line: argv to struct options. Pure: reads and writes no file, prints nothing. */
#ifndef GPUHISTO_OPTIONS_H
#define GPUHISTO_OPTIONS_H

#include "src/base/memory.h"
#include "src/tally/histogram_spec.h"
#include "src/input/input.h"
#include "src/schedule/schedule.h"
#include "progress.h"
#include "src/report/report.h"

#include <stdbool.h>
#include <stddef.h>

struct pending;
struct writer;

enum action {
    ACTION_COUNT,
    ACTION_BRIEF_HELP, /* -h */
    ACTION_HELP,
    ACTION_VERSION,
    ACTION_LIST_KERNELS,
    ACTION_DIFF,  /* two files are tables */
    ACTION_MERGE, /* all files are tables */
};

/* In the order of the words. */
enum sandbox_choice {
    SANDBOX_IF_POSSIBLE,
    SANDBOX_REQUIRED, /* without all of it the run fails */
    SANDBOX_NONE,
};

enum verbosity {
    QUIET,   /* errors only */
    NORMAL,  /* and warnings */
    VERBOSE, /* and what was chosen, and why */
};

/* The word after an option whose optional value must follow a '=': in "--letters 4" the 4 is a
 * file, though it was probably meant as the value. */
struct misplaced {
    const char *option; /* its long name; NULL: there is no such word */
    const char *word;
};

/* Bytes of a field of --field, --by or --where, with modifiers, and with the one that ends it. */
#define FIELD_SIZE 256

struct options {
    enum action action;
    struct histogram_spec spec;
    struct words words; /* options that make the same samples and bins; the report uses them */
    struct input_options input;
    struct shard_choice part; /* --part */
    struct pool_options pool;
    struct report_options report;
    bool incomplete;        /* --merge accepts missing shares */
    bool each;              /* a result for each file, */
    uint64_t each_size;     /* or for each block of so many bytes; 0: files are not divided */
    char field[FIELD_SIZE]; /* of --field, if it has a modifier or quotes, without these */
    char by_fields[KEY_PARTS_MAX][FIELD_SIZE]; /* of each --by, without modifiers; the histogram
                                                * refers to all of these */
    char weight_field[FIELD_SIZE];             /* of --weight, without quotes */
    char where_fields[CONDITIONS_MAX][2][FIELD_SIZE]; /* of --where, with and without modifiers; its
                                                       * filter refers to them */
    unsigned max_keys;                                /* that are counted, at most */
    unsigned top; /* keys that are printed, the first of report.order, or those with most samples;
                     0: all */
    struct line_format line; /* of --line; the histogram's fields refer to it */
    const char *output;      /* a file, or NULL: standard output */
    double interval;         /* seconds between tables; 0: there is one, at the end */
    enum verbosity verbosity;
    enum sandbox_choice sandbox;
    enum progress_when progress;
    char *const *operands; /* files: the end of argv */
    size_t operand_count;
    struct misplaced misplaced;
    struct pending *pending; /* what waits for a header that says the TYPE of --values; owned; or
                              * NULL */
    struct options *also;    /* of another histogram of the same input, with its own mode, bins and
                              * words; owned; or NULL */
};

#define KEYS_LIMIT 1000000000 /* that --max-keys may be */

/* Errors of options_parse. */
#define OPTIONS_WRONG (-1)  /* a usage error, as error_set returns */
#define OPTIONS_FAILED (-2) /* out of memory */

/* Reads argv, which getopt may permute, and GPUHISTO_CPU in the environment. 0; or one of the
 * errors with an error that names the option and says what is allowed, and nothing to free. If
 * options are pending, they are not checked against each other yet. Not for two threads at once:
 * getopt keeps its state in globals. */
int options_parse(int argc, char **argv, struct options *options, struct error *error);

/* Finishes pending options, with the type that the first file's header says. As options_parse. */
int options_finish_type(struct options *options, const char *type, struct error *error);

/* Makes the histogram that the "options" of a table describe; free its bins. 0; or -1 with an error
 * if they are wrong, not spelled as gpuhisto does, or made bins over what was seen. */
int options_build(const struct words *words, struct histogram_spec *spec, struct error *error);

/* Sets what each --by of a table's "options" was: options->by_fields, and whether these are
 * numbers, as the keys say. 0, or -1 with an error. */
int options_build_keys(const struct words *words, struct options *options, struct error *error);

/* Sorts the "options" of a table, all of which are about bins if it is by key; free them. Any
 * thread. 0; or -1 with an error if one of them is unknown. */
int options_sort(const struct words *words, struct table_words *sorted, struct error *error);

/* Frees bins and words, also of the histograms of --also. */
void options_free(struct options *options);

/* Write the text of --help, and the one screen of -h. Errors stay with the writer. */
void options_write_help(struct writer *out);
void options_write_brief_help(struct writer *out);

#endif
