/* SPDX-License-Identifier: MIT */
/* The functions that src/main.c and src/main_*.c, which make up a run of the program, call from
 * each other. */
#ifndef GPUHISTO_MAIN_H
#define GPUHISTO_MAIN_H

#include "src/cli/options.h"
#include "src/report/report.h"
#include "src/report/output.h"
#include "src/schedule/schedule.h"

enum {
    STATUS_COUNTED = 0,
    STATUS_FAILED = 1,
    STATUS_USAGE = 2,
};

/* --- main_output.c: how a run ends --- */

/* Prints why the run failed. STATUS_FAILED. */
int main_failed(const struct error *error);
int main_no_memory(void);

/* Closes the output, which reports a full disk or a closed descriptor. The exit status. */
int main_end_output(struct output *output, enum verbosity verbosity);

/* Prints --help, --version or --kernel=help, and closes the output. The exit status. */
int main_print_text(const struct options *options, struct output *output);

/* Ends the process while threads may be at work. */
_Noreturn void main_leave(int status);

/* --- main_hints.c: what a run says about its input besides the table --- */

/* Facts that are known only before the source is closed, and are printed after the tables. */
struct main_remarks {
    struct error unsupported, one_line; /* warnings of the source; or empty */
    bool is_decoded;                    /* a file was decompressed */
    uint64_t bytes;                     /* of content */
    uint64_t samples, invalid;          /* of text, by the first histogram */
};

void main_remark(const struct options *options, struct source *source, const struct tally *tally,
                 struct main_remarks *remarks);
void main_print_remarks(const struct options *options, const struct main_remarks *remarks);

/* True, after a message, if a file does not exist and was probably meant as an option's value. */
bool main_is_misplaced(const struct misplaced *misplaced);

/* Hints at a better range for --bins: where narrower bins would be few enough, and where most whole
 * values are outside of them. */
void main_hint_range(const struct options *options, const struct histogram_spec *spec,
                     const struct tally *tally);

/* --- main_keys.c: results by key --- */

/* Returns what the names and counts of keys may take: a gibibyte, or more if there may be many
 * keys. */
uint64_t main_max_key_bytes(unsigned max_keys);

/* Returns how many threads may sort and show keys. */
unsigned main_threads_of(const struct options *options);

/* Returns how many keys are shown alone; numbers and times in a heat map (is_sequence) are all. */
size_t main_shown_keys(const struct options *options, bool is_sequence);

/* Writes the header of a column for each key: the name or path of its field, or "key", which has a
 * number if there are several. */
#define MAIN_COLUMNS_SIZE (NAME_TEXT_BYTE * sizeof((struct options *)0)->by_fields + 1)
void main_name_columns(const struct options *options, char text[MAIN_COLUMNS_SIZE]);

/* Joins keys that are times (key_times_join), and says once that they are in UTC then. 0, or -1
 * with an error. */
int main_join_times(const struct options *options, struct key_tallies *keys, bool are_fine,
                    struct tally *tally, struct key_tallies **joined, bool *said_utc,
                    struct error *error);

/* Writes the tables of all keys (options->pool.keys) of options->spec, which may `follow`
 * others; times among them are joined (key_times_join), unless a table is to be merged. Says once
 * that they are in UTC then: sets *said_utc. The tally is worked with. 0, or -1 with an error. */
int main_write_keys(struct writer *out, const struct options *options, bool follow,
                    struct tally *tally, bool *said_utc, struct error *error);

/* --- main_shard.c --- */

/* Makes the record of the shard whose files were counted, for its table. Free it. 0, or -1: out of
 * memory. */
int main_record_shard(const struct shard *shard, struct shard_record *record);

/* --- main_engines.c: what a run says about its engines --- */

/* Warns of GPUs that were lost and of invalid tokens, and prints what --verbose adds. */
void main_print_engines(const struct pool_outcome *outcome, enum verbosity verbosity);

void main_print_timing(const struct pool_outcome *outcome);

/* --- main_sandbox.c --- */

/* Puts the run into a sandbox (src/sandbox/sandbox.h), unless the user does not want that or a GPU
 * may be used. Input, tables and output are open, and no thread was started. `source` or `tables`
 * is NULL. 0; or -1, after a message, if the user requires a sandbox and there is none. */
int main_enter_sandbox(const struct options *options, const struct output *output,
                       struct source *source, const struct preopened_list *tables);

/* --- main_merge.c, main_diff.c: runs on tables that were made before --- */

/* --merge, --diff: show what the files of tables come to. The exit status. */
typedef int main_show(struct options *options, struct output *output,
                      const struct preopened_list *files);
main_show main_merge, main_diff;

/* Warns of tables whose samples came from elsewhere than those of the first one. */
struct merge;
void main_warn_of_others(const struct merge *merge);

#endif
