/* SPDX-License-Identifier: MIT */
/* The command line: options, which argv becomes; runs, which do what these say; and messages. */
#ifndef GPUHISTO_CLI_CLI_H
#define GPUHISTO_CLI_CLI_H

#include "src/base/memory.h"
#include "src/input/input.h"
#include "src/report/report.h"
#include "src/schedule/schedule.h"
#include "src/tally/histogram_spec.h"

#include <stdbool.h>
#include <stddef.h>

struct error;
struct output;
struct pending;
struct preopened_list;

/* --- options: pure functions, which read and write no file and print nothing --- */

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
    QUIET = 1, /* errors only */
    NORMAL,    /* and warnings */
    VERBOSE,   /* and what was chosen, and why */
};

enum progress_when {
    PROGRESS_NEVER, /* except for signals */
    PROGRESS_AUTO,  /* if standard error is a terminal */
    PROGRESS_ALWAYS,
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

/* Makes the histogram that the "options" of a table describe; free its bins. Its keys say which of
 * their fields are numbers, and run->by_fields becomes what each --by was, unless `run` is NULL. 0;
 * or -1 with an error if they are wrong, not spelled as gpuhisto does, or made bins over what was
 * seen. */
int options_build(const struct words *words, struct histogram_spec *spec, struct options *run,
                  struct error *error);

/* Sorts the "options" of a table, all of which are about bins if it is by key; free them. Any
 * thread. 0; or -1 with an error if one of them is unknown. */
int options_sort(const struct words *words, struct table_words *sorted, struct error *error);

/* Frees bins and words, also of the histograms of --also. */
void options_free(struct options *options);

/* Writes the text of --help, or the one screen of -h. Errors stay with the writer. */
void options_write_help(struct writer *out, bool is_brief);

/* --- messages.c --- */

/* Prints "gpuhisto: ", the formatted message and a newline in one write, so that lines of several
 * processes in a pipeline do not mix. Bytes that could end the line or control a terminal are
 * escaped. Any thread; errno does not change. */
void diag(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* True, after a message, if a file does not exist and was probably meant as an option's value. */
bool hint_misplaced(const struct misplaced *misplaced);

/* Hints at a better range for --bins: where narrower bins would be few enough, and where most whole
 * values are outside of them. */
void hint_ranges(const struct options *options, const struct histogram_spec *spec,
                 const struct tally *tally);

/* --- runs, which end the process where they fail --- */

/* The exit status. */
enum {
    STATUS_COUNTED = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
};

/* run_count.c: counts the input, and prints the tables. */
void run_count(struct options *options, struct output *output);

/* run_count.c: catches and unblocks SIGUSR1 and SIGINFO, which ask for progress and would otherwise
 * end the process. A signal that is ignored stays ignored. Blocking calls continue (SA_RESTART).
 * Before threads and as early as possible. */
void progress_catch_signals(void);

/* run_merge.c, run_diff.c: show what the files of tables come to. run_on_tables calls one of them,
 * once output and files are open. */
typedef void run_show(struct options *options, struct output *output,
                      const struct preopened_list *files);
run_show run_merge, run_diff;
void run_on_tables(struct options *options, struct output *output, run_show *show);

/* run_merge.c: warns of tables whose samples came from elsewhere than those of the first one. */
struct merge;
void run_warn_of_others(const struct options *options, const struct merge *merge);

/* Prints --help, --version or --kernel=help, and closes the output. */
void run_print(const struct options *options, struct output *output);

/* --- run.c: what runs have in common --- */

/* Ends the process, even while threads may be at work. */
_Noreturn void run_leave(int status);

/* Print why the run failed, and end it: with an error; with a formatted one; with one about a file,
 * unless that is NULL; or with an error if rc is not 0. */
_Noreturn void run_refuse(int status, const struct error *error);
_Noreturn void run_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void run_fail_of(const char *file, const char *what);
void run_check(int rc, const struct error *error);

/* Finds the output before anything is read. Refuses one that is among the inputs, which the table
 * would replace. */
void run_open_output(const struct options *options, struct output *output);

/* Begins to write, once everything is known. */
struct writer *run_begin_output(struct output *output);

/* Closes the output, which reports a full disk or a closed descriptor. */
void run_end_output(struct output *output, enum verbosity verbosity);

/* The same, but returns the exit status if that fails, once it was told. */
int run_close_output(struct output *output, enum verbosity verbosity);

/* Puts the run into a sandbox (src/sandbox/sandbox.h), unless the user does not want that or a GPU
 * may be used. Input, tables and output are open, and no thread was started. `source` or `tables`
 * is NULL. */
void run_enter_sandbox(const struct options *options, const struct output *output,
                       struct source *source, const struct preopened_list *tables);

/* Returns what the names and counts of keys may take: a gibibyte, or more if there may be many
 * keys. */
uint64_t run_max_key_bytes(unsigned max_keys);

/* Returns how many threads may sort and show keys. */
unsigned run_threads_of(const struct options *options);

/* Returns how many keys are shown alone; numbers and times in a heat map (is_sequence) are all. */
size_t run_shown_keys(const struct options *options, bool is_sequence);

/* Writes the header of a column for each key: the name or path of its field, or "key", which has a
 * number if there are several. */
#define RUN_COLUMNS_SIZE (NAME_TEXT_BYTE * sizeof((struct options *)0)->by_fields + 1)
void run_name_columns(const struct options *options, char text[RUN_COLUMNS_SIZE]);

/* Joins keys that are times (key_times_join), of a file or of several (NULL). Says once that they
 * are in UTC then. Returns keys to close; or NULL: they are as they were. */
struct key_tallies *run_join_times(const struct options *options, struct key_tallies *keys,
                                   const char *file, bool are_fine, struct tally *tally,
                                   bool *said_utc);

/* Writes the tables of all keys (options->pool.keys) of options->spec, which may `follow` others;
 * times among them are joined, unless a table is to be merged. The tally is worked with. */
void run_write_keys(struct writer *out, const struct options *options, bool follow,
                    struct tally *tally, bool *said_utc);

#endif
