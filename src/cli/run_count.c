/* SPDX-License-Identifier: MIT */
/* A run that counts: opens the input, has the pool count it, and prints one table at the end, or
 * one for each file or key; with --interval, others before. */
#include "cli.h"

#include "src/base/clock.h"
#include "src/base/show.h"
#include "src/base/signals.h"
#include "src/report/format.h"
#include "src/report/screen.h"
#include "src/tally/file_tallies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERRUPTED_SECONDS 0.5 /* for the program that writes our pipe to close it */

/* The most bytes that the counts of blocks may take, by each histogram. */
#define BLOCK_BYTES_MAX (UINT64_C(1) << 30)

struct counting {
    struct options *options; /* of which the report's change with the terminal */
    struct output *output;
    struct source *source;
    struct shard shard;         /* of --part */
    struct shard_record record; /* the same, for the table */
    struct tally tally;
    struct tally so_far; /* of --interval; otherwise without counts */
    struct progress progress;
    bool has_printed; /* a table so far */
    bool said_utc;    /* by run_write_keys */
    double next;      /* when the next table is due, in seconds since progress.begin */
    double last;      /* the same of the last one, once SIGINT has come; otherwise 0 */
    struct pool_outcome outcome;
    struct remarks remarks;
};

/* --- opening --- */

static unsigned count_specs(const struct options *options)
{
    unsigned count = 0;
    for (; options; options = options->also)
        count++;
    return count;
}

/* Divides the input, if one shard of it is counted. The exit status. */
static int open_shard(struct counting *run)
{
    struct options *options = run->options;
    struct error error;
    if (options->part.of == 0)
        return STATUS_COUNTED;
    options->input.shard = &run->shard;
    for (struct options *at = options; at; at = at->also)
        at->report.shard = &run->record;
    const int rc =
        shard_open(&run->shard, &options->part, options->operands, options->operand_count, &error);
    if (rc == 0)
        return STATUS_COUNTED;
    diag("%s", error.text);
    return rc == SHARD_REFUSED ? STATUS_USAGE : STATUS_FAILED;
}

/* Compiles the regular expressions that choose lines, and that name their parts. The exit status.
 */
static int open_filters(struct options *options)
{
    struct error error;
    int rc = 0;
    for (; options && rc == 0; options = options->also)
        if ((rc = line_filter_open(&options->spec.lines.filter, &error)) == 0)
            rc = line_format_open(&options->line, &error);
    if (rc == 0)
        return STATUS_COUNTED;
    diag("%s", error.text);
    return rc == REGEX_WRONG ? STATUS_USAGE : STATUS_FAILED;
}

/* Completes the options that need the type of values, which the first file's header says. The exit
 * status. */
static int read_type(struct options *options, struct source *source)
{
    struct header header;
    struct error error;
    if (!options->pending)
        return STATUS_COUNTED;
    if (source_find_header(source, &header, &error) != 0)
        return run_failed(&error);
    const int rc = options_finish_type(options, header.type, &error);
    if (rc != 0)
        return run_refused(rc, &error);
    source_set_options(source, &options->input);
    return STATUS_COUNTED;
}

/* Opens what the pool counts into: the tally, and those of files or keys. 0, or -1: out of memory.
 */
static int open_tallies(struct counting *run)
{
    struct options *options = run->options;
    if (options->each && !(options->pool.files = file_tallies_open(
                               source_files(run->source), count_specs(options),
                               (struct file_division){options->each_size, BLOCK_BYTES_MAX})))
        return -1;
    if (options->spec.lines.key_count > 0 &&
        !(options->pool.keys = key_tallies_open(&options->spec, options->max_keys,
                                                run_max_key_bytes(options->max_keys))))
        return -1;
    if (options->interval > 0 && tally_open(&run->so_far, &options->spec) != 0)
        return -1;
    return tally_open(&run->tally, &options->spec);
}

/* Opens the output and the input, and enters the sandbox. The exit status. */
static int open_run(struct counting *run)
{
    struct options *options = run->options;
    struct error error;
    if (hint_misplaced(&options->misplaced))
        return STATUS_FAILED;
    int status = open_filters(options);
    if (status != STATUS_COUNTED)
        return status;
    if (run_open_output(options, run->output, &error) != 0)
        return run_failed(&error);
    status = open_shard(run);
    if (status != STATUS_COUNTED)
        return status;
    run->source = source_open(options->operands, options->operand_count, &options->input);
    if (!run->source)
        return run_no_memory();
    if (pool_choose_gpus(&options->pool, run->source, &error) != 0) {
        source_close(run->source);
        return run_failed(&error);
    }
    run->progress = progress_begin(options->progress, run->source);
    run->next = options->interval;
    if (options->interval > 0) {
        options->report.terminal.in_place = isatty(STDOUT_FILENO) == 1;
        signals_await_interrupt();
    }
    if (run_enter_sandbox(options, run->output, run->source, NULL) != 0)
        return STATUS_FAILED;
    status = read_type(options, run->source);
    if (status != STATUS_COUNTED)
        source_close(run->source);
    else if (open_tallies(run) != 0)
        status = run_no_memory();
    return status;
}

/* --- what is written --- */

/* Subtracts tokens that are not numbers, if they are to be left out. */
static void skip_invalid(const struct options *options, struct tally *tally)
{
    const struct histogram_spec *spec = &options->spec;
    if (options->pool.invalid == INVALID_SKIP)
        for (; spec; spec = spec->also, tally = tally->also)
            tally_skip_invalid(tally, spec);
}

/* Writes the table of each histogram. */
static void write_tables(struct writer *out, const struct options *options, bool follows,
                         const struct tally *tally)
{
    for (; options; options = options->also, tally = tally->also) {
        report_write_gap(out, &options->report, follows);
        report_write(out, &options->report, &options->spec, tally);
        follows = true;
    }
}

/* Writes the tables of each histogram for all files, or for their blocks. The tally, which has no
 * counts then, is worked with. */
static void write_each(struct writer *out, const struct options *options, struct tally *tally)
{
    const struct file_tallies *tallies = options->pool.files;
    for (const struct options *at = options; at; at = at->also, tally = tally->also) {
        const struct file_groups files = {tallies, options->operands, options->operand_count};
        struct groups groups = groups_of_files(&files);
        groups.skip_invalid = options->pool.invalid == INVALID_SKIP;
        report_write_gap(out, &at->report, at != options);
        report_write_groups(out, &at->report, &at->spec, &groups, tally);
        tallies = file_tallies_also(tallies);
    }
}

/* Makes all tables together fit on the terminal, whose size may have changed. Between two is an
 * empty line, and the cursor needs one below the last. */
static void fit_terminal(struct options *options, bool is_replaced)
{
    const unsigned lines = options->report.terminal.in_place ? screen_of(STDOUT_FILENO).rows : 0;
    const unsigned tables = count_specs(options);
    for (; options; options = options->also) {
        options->report.terminal.lines = lines > 2 * tables ? (lines - tables) / tables : lines > 0;
        options->report.terminal.is_replaced = is_replaced;
    }
}

/* --- while counting --- */

/* Prints what was counted so far. Ends the process if that fails. */
static void print_so_far(struct counting *run, const struct pool_view *view, bool is_last)
{
    struct options *options = run->options;
    struct error error;
    tally_clear(&run->so_far);
    if (pool_so_far(view, &run->so_far) != 0)
        return;
    if (key_tallies_check(options->pool.keys, &error) != 0)
        run_leave(run_failed(&error));
    progress_end(&run->progress);
    fit_terminal(options, !is_last);
    struct writer *out = output_open(run->output, &error);
    if (!options->pool.keys) {
        skip_invalid(options, &run->so_far);
        write_tables(out, options, run->has_printed, &run->so_far);
    } else if (run_write_keys(out, options, run->has_printed, &run->so_far, &run->said_utc,
                              &error) != 0) {
        run_leave(run_failed(&error));
    }
    run->has_printed = true;
    if (output_flush(run->output, &error) != 0)
        run_leave(run_failed(&error));
}

/* Prints the last table after a SIGINT and ends the process. The program that writes our pipe has
 * mostly been interrupted too and closes it, so the run ends regularly if it gets a moment. */
static void end_interrupted(struct counting *run, const struct pool_view *view, double seconds)
{
    if (run->last == 0)
        run->last = seconds + INTERRUPTED_SECONDS;
    if (seconds < run->last && !view->has_failed)
        return;
    print_so_far(run, view, true);
    run_leave(STATUS_COUNTED);
}

/* Prints progress and tables that are due, for pool_options.tick. Ends the process after the last
 * table of a run that was interrupted. */
static void tick(void *arg, const struct pool_view *view)
{
    struct counting *run = arg;
    const double interval = run->options->interval;
    const double seconds = clock_seconds_since(&run->progress.begin);
    if (signals_interrupted())
        end_interrupted(run, view, seconds);
    if (view->has_failed)
        return;
    progress_tick(&run->progress, view->bytes);
    if (interval == 0 || seconds < run->next)
        return;
    print_so_far(run, view, false);
    while (run->next <= seconds)
        run->next += interval;
}

/* --- at the end --- */

/* Appends a file, which the record has room for. 0, or -1: out of memory. */
static int add_file(struct shard_record *record, const struct file_shard *file)
{
    const size_t capacity = 4 * strlen(file->name) + 16; /* as printable text */
    struct shard_range *range = malloc(sizeof *range);
    char *name = malloc(capacity);
    record->files[record->file_count++] =
        (struct shard_file){file->index + 1, name, file->size, file->fingerprint, range, 1};
    if (!range || !name)
        return -1;
    *range = (struct shard_range){file->begin, file->end};
    show_text(file->name, strlen(file->name), name, capacity);
    return 0;
}

/* Makes the record of the shard whose files were counted. 0, or -1: out of memory. */
static int record_shard(const struct shard *shard, struct shard_record *record)
{
    int rc = 0;
    *record = (struct shard_record){
        .job = {shard->choice.of, shard->files, shard->bytes, shard->digest},
        .shards = malloc(sizeof record->shards[0]),
        .files = calloc(shard->count + 1, sizeof record->files[0]),
    };
    if (!record->shards || !record->files)
        return -1;
    record->shards[record->shard_count++] =
        (struct shard_range){shard->choice.part, shard->choice.part};
    for (size_t i = 0; i < shard->count && rc == 0; i++)
        rc = add_file(record, &shard->list[i]);
    return rc;
}

/* Says how many tokens are not numbers for the histograms of --also, whose lines are not known.
 * 0, or -1 if that ends the run. */
static int check_also(const struct options *options, const struct tally *tally)
{
    const struct file_tallies *files = options->pool.files;
    const bool is_error = options->pool.invalid == INVALID_ERROR;
    unsigned number = 2;
    int rc = 0;
    for (const struct options *at = options->also; at; at = at->also, number++) {
        tally = tally->also;
        files = file_tallies_also(files);
        const struct histogram_spec *spec = &at->spec;
        if (!spec->mode->is_text || options->pool.invalid == INVALID_SKIP)
            continue;
        const size_t row = ROW_INVALID(&spec->binning);
        const uint64_t invalid = files ? file_tallies_count_of(files, row) : tally->counts[row];
        if (invalid > 0 && (is_error || options->verbosity >= NORMAL))
            diag("histogram %u: %" PRIu64 " %s", number, invalid,
                 invalid == 1 ? "sample is not a number" : "samples are not numbers");
        rc = invalid > 0 && is_error ? -1 : rc;
    }
    return rc;
}

/* Prints the result, which the output ends with. The exit status. */
static int print_result(struct counting *run)
{
    struct options *options = run->options;
    struct tally *tally = &run->tally;
    struct error error;
    if (check_also(options, tally) != 0)
        return STATUS_FAILED;
    if (!options->each && !options->pool.keys)
        skip_invalid(options, tally);
    fit_terminal(options, false);
    struct writer *out = output_open(run->output, &error);
    if (!out)
        return run_failed(&error);
    if (options->each)
        write_each(out, options, tally);
    else if (!options->pool.keys)
        write_tables(out, options, run->has_printed, tally);
    else if (run_write_keys(out, options, run->has_printed, tally, &run->said_utc, &error) != 0)
        return run_failed(&error);
    const int status = run_end(run->output, options->verbosity);
    for (; options && status == STATUS_COUNTED; options = options->also, tally = tally->also)
        hint_ranges(options, &options->spec, tally);
    return status;
}

static void close_run(struct counting *run)
{
    struct options *options = run->options;
    tally_close(&run->tally);
    if (options->interval > 0)
        tally_close(&run->so_far);
    file_tallies_close(options->pool.files);
    key_tallies_close(options->pool.keys);
    shard_close(&run->shard);
    shard_record_free(&run->record);
    for (; options; options = options->also) {
        line_filter_close(&options->spec.lines.filter);
        line_format_close(&options->line);
    }
}

int run_count(struct options *options, struct output *output)
{
    struct counting run = {.options = options, .output = output};
    struct error error;
    int status = open_run(&run);
    if (status != STATUS_COUNTED)
        return status;
    options->pool.tick = tick;
    options->pool.tick_arg = &run;
    const struct pool_task task = {&options->spec, run.source, &run.tally};
    const int rc = pool_run(&options->pool, &task, &run.outcome, &error);
    progress_end(&run.progress);
    if (rc != 0) /* threads may still be at work */
        run_leave(run_failed(&error));
    remarks_collect(options, run.source, &run.tally, &run.remarks);
    source_close(run.source);
    if (options->part.of > 0 && record_shard(&run.shard, &run.record) != 0)
        run_leave(run_no_memory());
    status = print_result(&run);
    diag_engines(&run.outcome, options->verbosity);
    diag_remarks(options, &run.remarks);
    if (options->pool.timing)
        diag_timing(&run.outcome);
    /* Without CUDA's tear-down, which takes 100 ms, and longer while CUDA is still starting. */
    if (run.outcome.gpu_opened || signals_interrupted())
        run_leave(status);
    close_run(&run);
    return status;
}
