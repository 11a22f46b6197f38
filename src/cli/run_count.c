/* SPDX-License-Identifier: MIT */
/* A run that counts: opens the input, has the pool count it, and prints one table at the end, or
 * one for each file or key; with --interval, others before. */
#include "cli.h"
#include "src/report/output.h"

#include "gpu/engine/gpu_engine.h"
#include "src/base/error.h"
#include "src/base/signals.h"
#include "src/base/system.h"
#include "src/report/report.h"
#include "src/tally/key_tallies.h"
#include "src/tally/file_tallies.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PERIOD_SECONDS 0.5 /* of progress */
#define GPU_NAME 16
#define FILTERS_SIZE 64         /* bytes of the names of all options of a filter */
#define INTERRUPTED_SECONDS 0.5 /* for the program that writes our pipe to close it */

/* The most bytes that the counts of blocks may take, by each histogram. */
#define BLOCK_BYTES_MAX (UINT64_C(1) << 30)

/* Progress: twice a second if requested, and once for every SIGUSR1 (and SIGINFO, where it exists).
 */
struct progress {
    bool shown;    /* twice a second */
    bool terminal; /* one line is rewritten */
    double next;   /* when to show it again, in seconds since the run began */
    int width;     /* of the line that is on the terminal, in characters */
};

/* Facts about the input that are known only before the source is closed, and are printed after the
 * tables. */
struct remarks {
    struct error unsupported, one_line; /* warnings of the source; or empty */
    bool is_decoded;                    /* a file was decompressed */
    uint64_t bytes;                     /* of content */
    uint64_t samples, invalid;          /* of text, by the first histogram */
};

struct counting {
    struct options *options; /* of which the report's change with the terminal */
    struct output *output;
    struct source *source;
    struct shard shard;         /* of --part */
    struct shard_record record; /* the same, for the table */
    struct tally tally;
    struct tally so_far;      /* of --interval; otherwise without counts */
    struct row_blocks blocks; /* of the tally, as a small input is printed sooner by them */
    struct progress progress;
    bool has_printed; /* a table so far */
    bool said_utc;    /* by run_write_keys */
    struct timespec begin;
    double next; /* when the next table is due, in seconds since then */
    double last; /* the same of the last one, once SIGINT has come; otherwise 0 */
    struct pool_outcome outcome;
    struct remarks remarks;
};

/* --- progress --- */

static atomic_bool is_requested; /* set on whichever thread gets the signal */

static void handle_signal(int signal)
{
    (void)signal;
    atomic_store(&is_requested, true);
}

static void catch_signal(int signal)
{
    struct sigaction action = {.sa_handler = handle_signal, .sa_flags = SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    if (sigaction(signal, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(signal, &action, NULL);
    /* A program that sends it at once may have started this one with the signal blocked. */
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

void progress_catch_signals(void)
{
    catch_signal(SIGUSR1);
#ifdef SIGINFO
    catch_signal(SIGINFO);
#endif
}

/* Writes "12.3 GB, 4.500 GB/s, 67%, 8 s left"; the last two only if the size is known. */
static void describe_progress(struct source *source, uint64_t bytes, double seconds, char *line,
                              size_t size)
{
    static const char units[] = " kMGTPE";
    double amount = (double)bytes;
    unsigned unit = 0;
    for (; amount >= 1000 && units[unit + 1]; unit++)
        amount /= 1000;
    int len = snprintf(line, size, unit ? "%.1f %cB" : "%.0f B", amount, units[unit]);
    len += snprintf(line + len, size - (size_t)len, ", %.3f GB/s",
                    seconds > 0 ? (double)bytes / seconds / 1e9 : 0);
    const double fraction = source_fraction(source);
    if (fraction > 0)
        snprintf(line + len, size - (size_t)len, ", %.0f%%, %.0f s left", fraction * 100,
                 seconds * (1 - fraction) / fraction);
}

/* Replaces the line that is on the terminal. */
static void rewrite_line(struct progress *progress, const char *line)
{
    int width = (int)strlen(line);
    fprintf(stderr, "\r%-*s%s", progress->width, line, width ? "" : "\r");
    progress->width = width;
}

/* Clears the line on the terminal, before a message. */
static void progress_end(struct progress *progress)
{
    if (progress->width > 0)
        rewrite_line(progress, "");
}

/* Prints what is due. */
static void progress_tick(struct counting *run, uint64_t bytes, double seconds)
{
    struct progress *progress = &run->progress;
    const bool due = progress->shown && seconds >= progress->next;
    const bool is_answer = atomic_exchange(&is_requested, false);
    if (!due && !is_answer)
        return;
    char line[200];
    describe_progress(run->source, bytes, seconds, line, sizeof line);
    if (is_answer || !progress->terminal) {
        progress_end(progress);
        diag("%s", line);
    } else {
        rewrite_line(progress, line);
    }
    if (due)
        progress->next = seconds + PERIOD_SECONDS;
}

/* --- opening --- */

static unsigned count_specs(const struct options *options)
{
    unsigned count = 0;
    for (; options; options = options->also)
        count++;
    return count;
}

/* Divides the input, if one shard of it is counted. */
static void open_shard(struct counting *run)
{
    struct options *options = run->options;
    struct error error;
    if (options->part.of == 0)
        return;
    options->input.shard = &run->shard;
    for (struct options *at = options; at; at = at->also)
        at->report.shard = &run->record;
    const int rc =
        shard_open(&run->shard, &options->part, options->operands, options->operand_count, &error);
    if (rc != 0)
        run_refuse(rc == SHARD_REFUSED ? STATUS_USAGE : STATUS_FAILED, &error);
}

/* Compiles the regular expressions that choose lines, and that name their parts. */
static void open_filters(struct options *options)
{
    struct error error;
    for (; options; options = options->also) {
        int rc = line_filter_open(&options->spec.lines.filter, &error);
        if (rc == 0)
            rc = line_format_open(&options->line, &error);
        if (rc != 0)
            run_refuse(rc == REGEX_WRONG ? STATUS_USAGE : STATUS_FAILED, &error);
    }
}

/* Completes the options that need the type of values, which the first file's header says. */
static void read_type(struct options *options, struct source *source)
{
    struct header header;
    struct error error;
    if (!options->pending)
        return;
    run_check(source_find_header(source, &header, &error), &error);
    const int rc = options_finish_type(options, header.type, &error);
    if (rc != 0)
        run_refuse(rc == OPTIONS_FAILED ? STATUS_FAILED : STATUS_USAGE, &error);
    source_set_options(source, &options->input);
}

/* Opens what the pool counts into: the tally, and those of files or keys. */
static void open_tallies(struct counting *run)
{
    struct options *options = run->options;
    const struct file_division division = {options->each_size, BLOCK_BYTES_MAX};
    if (options->each)
        options->pool.files =
            file_tallies_open(source_files(run->source), count_specs(options), division);
    if (options->spec.lines.key_count > 0)
        options->pool.keys = key_tallies_open(&options->spec, options->max_keys,
                                              run_max_key_bytes(options->max_keys));
    if ((options->each && !options->pool.files) ||
        (options->spec.lines.key_count > 0 && !options->pool.keys) ||
        (options->interval > 0 && tally_open(&run->so_far, &options->spec) != 0) ||
        tally_open(&run->tally, &options->spec) != 0)
        run_fail("out of memory");
    row_blocks_clear(&run->blocks, run->tally.bins);
    run->tally.blocks = &run->blocks;
}

/* Opens the output and the input, and enters the sandbox. */
static void open_run(struct counting *run)
{
    struct options *options = run->options;
    struct error error;
    if (hint_misplaced(&options->misplaced))
        run_leave(STATUS_FAILED);
    open_filters(options);
    run_open_output(options, run->output);
    open_shard(run);
    run->source = source_open(options->operands, options->operand_count, &options->input);
    if (!run->source)
        run_fail("out of memory");
    run_check(pool_choose_gpus(&options->pool, run->source, &error), &error);
    run->begin = clock_now();
    run->next = options->interval;
    run->progress.terminal = isatty(STDERR_FILENO) == 1;
    run->progress.shown = options->progress == PROGRESS_ALWAYS ||
                          (options->progress == PROGRESS_AUTO && run->progress.terminal);
    run->progress.next = PERIOD_SECONDS;
    if (options->interval > 0) {
        options->report.terminal.in_place = isatty(STDOUT_FILENO) == 1;
        signals_await_interrupt();
    }
    run_enter_sandbox(options, run->output, run->source, NULL);
    read_type(options, run->source);
    open_tallies(run);
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
    run_check(key_tallies_check(options->pool.keys, &error), &error);
    progress_end(&run->progress);
    fit_terminal(options, !is_last);
    struct writer *out = output_open(run->output, &error);
    if (!options->pool.keys) {
        skip_invalid(options, &run->so_far);
        write_tables(out, options, run->has_printed, &run->so_far);
    } else {
        run_write_keys(out, options, run->has_printed, &run->so_far, &run->said_utc);
    }
    run->has_printed = true;
    run_check(output_flush(run->output, &error), &error);
}

/* Prints progress and tables that are due, for pool_options.tick. Ends the process after the last
 * table of a run that was interrupted. */
static void tick(void *arg, const struct pool_view *view)
{
    struct counting *run = arg;
    const double interval = run->options->interval;
    const double seconds = clock_seconds_since(&run->begin);
    const bool is_interrupted = signals_interrupted();
    /* The program that writes our pipe has mostly been interrupted too and closes it, so the run
     * ends regularly if it gets a moment. */
    if (is_interrupted && run->last == 0)
        run->last = seconds + INTERRUPTED_SECONDS;
    if (is_interrupted && (seconds >= run->last || view->has_failed)) {
        print_so_far(run, view, true);
        run_leave(STATUS_COUNTED);
    }
    if (view->has_failed)
        return;
    progress_tick(run, view->bytes, seconds);
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
 * Ends the run if they are errors. */
static bool check_also(const struct options *options, const struct tally *tally)
{
    const struct file_tallies *files = options->pool.files;
    const bool is_error = options->pool.invalid == INVALID_ERROR;
    unsigned number = 2;
    bool is_wrong = false;
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
        is_wrong |= invalid > 0 && is_error;
    }
    return !is_wrong;
}

/* Prints the result, which the output ends with. The exit status: whether that was possible or not,
 * messages follow. */
static int print_result(struct counting *run)
{
    struct options *options = run->options;
    struct tally *tally = &run->tally;
    struct error error;
    if (!check_also(options, tally))
        return STATUS_FAILED;
    if (!options->each && !options->pool.keys)
        skip_invalid(options, tally);
    fit_terminal(options, false);
    struct writer *out = output_open(run->output, &error);
    if (!out) {
        diag("%s", error.text);
        return STATUS_FAILED;
    }
    if (options->each)
        write_each(out, options, tally);
    else if (!options->pool.keys)
        write_tables(out, options, run->has_printed, tally);
    else
        run_write_keys(out, options, run->has_printed, tally, &run->said_utc);
    const int status = run_close_output(run->output, options->verbosity);
    for (; options && status == STATUS_COUNTED; options = options->also, tally = tally->also)
        hint_ranges(options, &options->spec, tally);
    return status;
}

/* --- what is said of engines --- */

/* Writes "gpu", or with several GPUs "gpu:1". */
static void name_gpu(const struct pool_outcome *outcome, const struct gpu_report *gpu,
                     char name[GPU_NAME])
{
    if (outcome->gpu_count == 1)
        strcpy(name, "gpu");
    else
        snprintf(name, GPU_NAME, "gpu:%d", gpu->number);
}

static void print_gpu_timing(const struct pool_outcome *outcome, const struct gpu_report *gpu)
{
    const struct gpu_times *times = &gpu->times;
    const struct gpu_feeding *feeding = &times->feeding;
    char name[GPU_NAME];
    name_gpu(outcome, gpu, name);
    diag("%s: %" PRIu64 " bytes in %" PRIu64 " chunks; took over after %.3f s", name,
         outcome->gpu_count == 1 ? outcome->gpu_bytes : times->bytes, times->chunks,
         outcome->gpu_ready);
    diag("%s: copies %.3f s, kernels %.3f s, of which %.3f s while another chunk was copied", name,
         times->copy_seconds, times->kernel_seconds, times->overlap_seconds);
    if (times->decoding.device == 0)
        return;
    diag("%s: decompressing takes %.1f MiB of its memory and %.1f MiB of the host's, for %.1f "
         "MiB of content at a time",
         name, (double)times->decoding.device / 0x1p20, (double)times->decoding.host / 0x1p20,
         (double)times->decoding.batch / 0x1p20);
    diag("%s: its memory was allocated after %.3f s; reading %.3f s, waiting for the device %.3f s "
         "and for checksums %.3f s, hashing %.3f s",
         name, feeding->startup, feeding->reading, feeding->device, feeding->checking,
         feeding->hashing);
}

static void print_timing(const struct pool_outcome *outcome)
{
    const uint64_t bytes = outcome->cpu_bytes + outcome->gpu_bytes;
    const double seconds = outcome->seconds > 0 ? outcome->seconds : 1e-9;
    diag("%" PRIu64 " bytes in %.3f s, %.3f GB/s", bytes, outcome->seconds,
         (double)bytes / seconds / 1e9);
    diag("cpu: %" PRIu64 " bytes, workers: %u", outcome->cpu_bytes, outcome->workers);
    if (outcome->gpu_count == 0)
        diag("gpu: 0 bytes");
    for (unsigned i = 0; i < outcome->gpu_count; i++)
        print_gpu_timing(outcome, &outcome->gpus[i]);
}

static void warn_of_losses(const struct pool_outcome *outcome)
{
    for (unsigned i = 0; i < outcome->gpu_count; i++) {
        const struct gpu_report *gpu = &outcome->gpus[i];
        if (!gpu->lost.text[0])
            continue;
        if (outcome->gpu_count == 1)
            diag("warning: the GPU was lost (%s); the CPU counted the rest", gpu->lost.text);
        else
            diag("warning: GPU %d was lost (%s); the others and the CPU counted the rest",
                 gpu->number, gpu->lost.text);
    }
}

static void print_engines(const struct pool_outcome *outcome, enum verbosity verbosity)
{
    if (outcome->invalid.text[0] && verbosity >= NORMAL)
        diag("%s", outcome->invalid.text);
    if (verbosity >= NORMAL)
        warn_of_losses(outcome);
    if (verbosity < VERBOSE)
        return;
    diag("cpu: %u worker%s, %s", outcome->workers, outcome->workers == 1 ? "" : "s",
         outcome->cpu_name);
    for (unsigned i = 0; i < outcome->gpu_count; i++) {
        char name[GPU_NAME];
        name_gpu(outcome, &outcome->gpus[i], name);
        diag("%s: %s", name, outcome->gpus[i].name);
    }
    if (outcome->gpu_refused.text[0])
        diag("gpu: not used: %s", outcome->gpu_refused.text);
    else if (outcome->gpu_count == 0)
        diag("gpu: not used: %s", device_missing()      ? device_missing()
                                  : outcome->gpu_opened ? "the input ended before it was ready"
                                                        : "not requested, or not worth starting");
}

/* --- what is said of the input --- */

static void collect_remarks(const struct options *options, struct source *source,
                            const struct tally *tally, struct remarks *remarks)
{
    const struct histogram_spec *spec = &options->spec;
    *remarks = (struct remarks){.is_decoded = source_has_decoded(source), .bytes = tally->bytes};
    source_unsupported(source, &remarks->unsupported);
    source_one_line(source, &remarks->one_line);
    if (options->pool.keys)
        key_tallies_add_up(options->pool.keys, &remarks->samples, &remarks->invalid);
    if (!spec->mode->is_text || options->pool.keys)
        return;
    const struct file_tallies *files = options->pool.files;
    const size_t row = ROW_INVALID(&spec->binning);
    remarks->samples = files ? file_tallies_samples(files) : tally->samples;
    remarks->invalid = files ? file_tallies_count_of(files, row) : tally->counts[row];
}

/* Lists the options that leave lines out, as in "--lines-with and --where". */
static void list_filters(const struct histogram_spec *spec, char list[FILTERS_SIZE])
{
    const struct line_filter *filter = &spec->lines.filter;
    const bool has_wanted = filter->count > 0 && !filter->strings[0].is_unwanted;
    const bool has_unwanted = filter->count > 0 && filter->strings[filter->count - 1].is_unwanted;
    const struct {
        bool is_given;
        const char *name;
    } options[] = {{has_wanted, "--lines-with"},
                   {has_unwanted, "--lines-without"},
                   {filter->condition_count > 0, "--where"},
                   {spec->lines.has_weight, "--weight"}};
    char *end = list;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (options[i].is_given)
            end = stpcpy(stpcpy(end, end > list ? " and " : ""), options[i].name);
}

/* Says why there are no samples. */
static void say_empty(const struct options *options, const struct remarks *remarks)
{
    char left_out[FILTERS_SIZE] = "";
    list_filters(&options->spec, left_out);
    if (remarks->bytes == 0)
        diag("warning: the input is empty, so nothing was counted");
    else if (*left_out)
        diag("warning: %s left every line out, so nothing was counted", left_out);
    else
        diag("warning: the input has only %s, so nothing was counted",
             options->spec.lines.field.has_header ? "a header line" : "white space");
}

static void print_remarks(const struct options *options, const struct remarks *remarks)
{
    const struct histogram_spec *spec = &options->spec;
    if (options->verbosity < NORMAL)
        return;
    if (remarks->one_line.text[0])
        diag("warning: %s", remarks->one_line.text);
    if (remarks->unsupported.text[0]) /* which explains that all is invalid */
        diag("warning: %s", remarks->unsupported.text);
    else if (spec->mode->is_text && remarks->samples == 0 && !remarks->one_line.text[0])
        say_empty(options, remarks);
    else if (remarks->samples > 1 && remarks->invalid == remarks->samples)
        diag("warning: all %" PRIu64 " %s are invalid, so %s was counted", remarks->samples,
             spec->lines.has_weight                                          ? "samples"
             : spec->mode->is_binned && spec->lines.field.kind == FIELD_NONE ? "tokens"
             : field_is_list(&spec->lines.field)                             ? "numbers"
                                                                             : "lines",
             spec->mode->is_binned ? "no number" : "nothing");
    /* Of compressed files, the entropy of the files themselves is often what was wanted. */
    bool has_entropy = false;
    for (const struct options *at = options; at; at = at->also)
        has_entropy |= options->each && at->report.stats && at->spec.mode->id == MODE_BYTES;
    if (remarks->is_decoded && has_entropy)
        diag("compressed files: their entropy is that of the content; use --decompress=none "
             "for that of the files");
}

/* --- the run --- */

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

void run_count(struct options *options, struct output *output)
{
    struct counting run = {.options = options, .output = output};
    struct error error;
    open_run(&run);
    options->pool.tick = tick;
    options->pool.tick_arg = &run;
    const struct pool_task task = {&options->spec, run.source, &run.tally};
    const int rc = pool_run(&options->pool, &task, &run.outcome, &error);
    progress_end(&run.progress);
    run_check(rc, &error);
    collect_remarks(options, run.source, &run.tally, &run.remarks);
    source_close(run.source);
    if (options->part.of > 0 && record_shard(&run.shard, &run.record) != 0)
        run_fail("out of memory");
    const int status = print_result(&run);
    print_engines(&run.outcome, options->verbosity);
    print_remarks(options, &run.remarks);
    if (options->pool.timing)
        print_timing(&run.outcome);
    /* Without CUDA's tear-down, which takes 100 ms, and longer while CUDA is still starting. */
    if (status != STATUS_COUNTED || run.outcome.gpu_opened || signals_interrupted())
        run_leave(status);
    close_run(&run);
}
