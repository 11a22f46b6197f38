/* SPDX-License-Identifier: MIT */
/* The program: options, source, workers, report, exit status. */

#include "src/cli/diag.h"
#include "gpu/device.h"
#include "gpu/strategy.h"
#include "src/base/clock.h"
#include "src/base/signals.h"
#include "src/cli/options.h"
#include "src/count/file_tallies.h"
#include "src/report/output.h"
#include "src/pool/pool.h"
#include "src/run_share.h"
#include "src/report/report.h"
#include "src/report/screen.h"
#include "src/work/source.h"
#include "src/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_LEAST (256 << 10) /* bytes */

#define INTERRUPTED_SECONDS 0.5 /* for what writes to a pipe to close it */

/* The next file that is opened would get the number of a standard descriptor that is closed, and
 * the table could be written there. Opening it for the wrong direction keeps its use an error
 * (EBADF). */
static void hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Static, as a GPU that is still starting may read the histogram until the process ends. */
static struct options options;
static struct output output;

/* Text other than a table goes to standard output. */
static struct writer *begin_text(void)
{
    struct reason unused;
    output_prepare(&output, NULL, &unused);
    return output_open(&output, &unused);
}

static int list_kernels(void)
{
    struct writer *out = begin_text();
    writer_format(out, "%-12s the fastest for the mode (the default)\n", "auto");
    for (unsigned i = 0; i < strategy_count; i++)
        writer_format(out, "%-12s %s\n", strategies[i].name, strategies[i].about);
    return run_end_output(&output, options.verbosity);
}

static int print_version(void)
{
    struct writer *out = begin_text();
    writer_format(out, "%s %s\nbuilt with %s\n", PACKAGE_NAME, PACKAGE_VERSION, BUILT_WITH);
    if (*BUILT_WITHOUT)
        writer_format(out, "built without %s\n", BUILT_WITHOUT);
    return run_end_output(&output, options.verbosity);
}

static int print_help(void)
{
    if (options.action == ACTION_HELP)
        options_write_help(begin_text());
    else
        options_write_brief_help(begin_text());
    return run_end_output(&output, options.verbosity);
}

/* Of several GPUs each has its number. */
static void name_gpu(const struct pool_outcome *outcome, const struct pool_gpu *gpu, char name[16])
{
    if (outcome->gpu_count == 1)
        strcpy(name, "gpu");
    else
        snprintf(name, 16, "gpu:%d", gpu->number);
}

static void print_gpu_timing(const struct pool_outcome *outcome, const struct pool_gpu *gpu)
{
    const struct gpu_times *times = &gpu->times;
    char name[16];
    name_gpu(outcome, gpu, name);
    diag("%s: %" PRIu64 " bytes in %" PRIu64 " chunks; took over after %.3f s", name,
         outcome->gpu_count == 1 ? outcome->gpu_bytes : times->bytes, times->chunks,
         outcome->gpu_ready);
    diag("%s: copies %.3f s, kernels %.3f s, of which %.3f s while another chunk was copied", name,
         times->copy_seconds, times->kernel_seconds, times->overlap_seconds);
    if (times->decoding.device == 0)
        return;
    const struct gpu_feeding *feeding = &times->feeding;
    diag("%s: decompressing takes %.1f MiB of its memory and %.1f MiB of the host's, for %.1f "
         "MiB of content at a time",
         name, (double)times->decoding.device / 0x1p20, (double)times->decoding.host / 0x1p20,
         (double)times->decoding.batch / 0x1p20);
    diag("%s: its memory was there after %.3f s; reading %.3f s, waiting for the device %.3f s and "
         "for "
         "checksums %.3f s, hashing %.3f s",
         name, feeding->opening, feeding->reading, feeding->device, feeding->checking,
         feeding->hashing);
}

static void print_timing(const struct pool_outcome *outcome)
{
    uint64_t bytes = outcome->cpu_bytes + outcome->gpu_bytes;
    double seconds = outcome->seconds > 0 ? outcome->seconds : 1e-9;
    diag("%" PRIu64 " bytes in %.3f s, %.3f GB/s", bytes, outcome->seconds,
         (double)bytes / seconds / 1e9);
    diag("cpu: %" PRIu64 " bytes, workers: %u", outcome->cpu_bytes, outcome->workers);
    if (outcome->gpu_count == 0)
        diag("gpu: 0 bytes");
    for (unsigned i = 0; i < outcome->gpu_count; i++)
        print_gpu_timing(outcome, &outcome->gpus[i]);
}

/* Warns of GPUs that were lost. */
static void print_losses(const struct pool_outcome *outcome)
{
    for (unsigned i = 0; i < outcome->gpu_count; i++) {
        const struct pool_gpu *gpu = &outcome->gpus[i];
        if (!gpu->lost.text[0])
            continue;
        if (outcome->gpu_count == 1)
            diag("warning: the GPU was lost (%s); the CPU counted the rest", gpu->lost.text);
        else
            diag("warning: GPU %d was lost (%s); the others and the CPU counted the rest",
                 gpu->number, gpu->lost.text);
    }
}

static const char *why_no_gpu(const struct pool_outcome *outcome)
{
    if (device_missing())
        return device_missing();
    return outcome->gpu_opened ? "the input ended before it had started"
                               : "not asked for, or not worth its start";
}

/* Prints warnings, and what --verbose adds. */
static void print_engines(const struct pool_outcome *outcome, enum verbosity verbosity)
{
    if (outcome->invalid.text[0] && verbosity >= NORMAL)
        diag("%s", outcome->invalid.text);
    if (verbosity >= NORMAL)
        print_losses(outcome);
    if (verbosity < VERBOSE)
        return;
    diag("cpu: %u worker%s, %s", outcome->workers, outcome->workers == 1 ? "" : "s",
         outcome->cpu_name);
    for (unsigned i = 0; i < outcome->gpu_count; i++) {
        char name[16];
        name_gpu(outcome, &outcome->gpus[i], name);
        diag("%s: %s", name, outcome->gpus[i].name);
    }
    if (outcome->gpu_refused.text[0])
        diag("gpu: not used: %s", outcome->gpu_refused.text);
    else if (outcome->gpu_count == 0)
        diag("gpu: not used: %s", why_no_gpu(outcome));
}

/* --- tables --- */

/* What the waiting thread looks after. */
struct watch {
    struct progress progress;
    struct tally so_far; /* of --interval; otherwise without counts */
    double next;         /* when the next table is due, in seconds since progress.begin */
    bool has_printed;    /* a table */
    double ends;         /* when the last one is, in the same seconds; 0: SIGINT has not come */
};

static void watch_begin(struct watch *watch, struct source *source)
{
    *watch = (struct watch){.progress = progress_begin(options.progress, source),
                            .next = options.interval};
    if (options.interval == 0)
        return;
    options.report.in_place = isatty(STDOUT_FILENO) == 1;
    signals_await_interrupt();
}

/* Forgets tokens that are not numbers, if they are to be left out. */
static void skip_invalid(struct tally *tally)
{
    const struct histogram *histogram = &options.histogram;
    if (options.pool.invalid == INVALID_SKIP)
        for (; histogram; histogram = histogram->also, tally = tally->also)
            tally_skip_invalid(tally, histogram);
}

/* Says how many tokens are not numbers for the histograms of --also, of which no lines are known.
 * 0, or -1 if that ends the run. */
static int check_also(const struct tally *tally)
{
    const struct file_tallies *files = options.pool.files;
    const bool is_error = options.pool.invalid == INVALID_ERROR;
    unsigned number = 2;
    int rc = 0;
    for (const struct options *at = options.also; at; at = at->also, number++) {
        tally = tally->also;
        files = file_tallies_also(files);
        const struct histogram *histogram = &at->histogram;
        if (!histogram->mode->is_text || options.pool.invalid == INVALID_SKIP)
            continue;
        const size_t row = ROW_INVALID(&histogram->binning);
        const uint64_t invalid = files ? file_tallies_count_of(files, row) : tally->counts[row];
        if (invalid > 0 && (is_error || options.verbosity >= NORMAL))
            diag("histogram %u: %" PRIu64 " %s", number, invalid,
                 invalid == 1 ? "sample is not a number" : "samples are not numbers");
        rc = invalid > 0 && is_error ? -1 : rc;
    }
    return rc;
}

/* Writes the table of each histogram. */
static void write_tables(struct writer *out, bool follows, const struct tally *tally)
{
    for (const struct options *at = &options; at; at = at->also, tally = tally->also) {
        report_write_gap(out, &at->report, follows);
        report_write(out, &at->report, &at->histogram, tally);
        follows = true;
    }
}

/* Writes the tables of each histogram for all FILEs; the tally has no counts then. */
static void write_each(struct writer *out, struct tally *tally)
{
    const struct file_tallies *tallies = options.pool.files;
    for (const struct options *at = &options; at; at = at->also, tally = tally->also) {
        struct report_files files = {tallies, options.operand_count ? options.operands : NULL,
                                     options.pool.invalid == INVALID_SKIP};
        report_write_gap(out, &at->report, at != &options);
        report_write_each(out, &at->report, &at->histogram, &files, tally);
        tallies = file_tallies_also(tallies);
    }
}

/* Ends the process while threads may be at work. One that is stuck in the GPU's driver may hold up
 * its end, so whoever reads its output is told now that there is no more. */
static _Noreturn void leave(int status)
{
    signals_remove_now();
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    if (signals_interrupted())
        signals_end_interrupted();
    _exit(status);
}

/* Has all tables together fit on the terminal, the size of which may have changed. Between two is
 * an empty line, and the cursor needs one below the last. */
static void fit_terminal(bool is_replaced)
{
    const unsigned lines = options.report.in_place ? screen_of(STDOUT_FILENO).rows : 0;
    unsigned tables = 0;
    for (const struct options *at = &options; at; at = at->also)
        tables++;
    for (struct options *at = &options; at; at = at->also) {
        at->report.lines = lines > 2 * tables ? (lines - tables) / tables : lines > 0;
        at->report.is_replaced = is_replaced;
    }
}

/* Prints what was counted so far; if that fails, the run ends. */
static void print_so_far(struct watch *watch, const struct pool_view *view, bool is_last)
{
    struct reason why;
    tally_clear(&watch->so_far);
    if (pool_so_far(view, &watch->so_far) != 0)
        return;
    skip_invalid(&watch->so_far);
    progress_end(&watch->progress);
    fit_terminal(!is_last);
    write_tables(output_open(&output, &why), watch->has_printed, &watch->so_far);
    watch->has_printed = true;
    if (output_flush(&output, &why) == 0)
        return;
    diag("%s", why.text);
    leave(STATUS_FAILED);
}

/* After a SIGINT: the last table. Who writes to a pipe has mostly been interrupted as well, and its
 * end of the pipe closed, so that the run ends by itself if it gets a moment. */
static void end_interrupted(struct watch *watch, const struct pool_view *view, double seconds)
{
    if (watch->ends == 0)
        watch->ends = seconds + INTERRUPTED_SECONDS;
    if (seconds < watch->ends && !view->has_failed)
        return;
    print_so_far(watch, view, true);
    leave(STATUS_COUNTED);
}

static void watch_look(void *arg, const struct pool_view *view)
{
    struct watch *watch = arg;
    double seconds = clock_seconds_since(&watch->progress.begin);
    if (signals_interrupted())
        end_interrupted(watch, view, seconds);
    if (view->has_failed)
        return;
    progress_look(&watch->progress, view->bytes);
    if (options.interval == 0 || seconds < watch->next)
        return;
    print_so_far(watch, view, false);
    while (watch->next <= seconds)
        watch->next += options.interval;
}

/* Prints one result; or one for each FILE, of which the tally then has no counts. */
static int print_report(const struct watch *watch, struct tally *tally)
{
    struct reason why;
    if (!options.each)
        skip_invalid(tally);
    fit_terminal(false);
    struct writer *out = output_open(&output, &why);
    if (!out)
        return run_failed(&why);
    if (options.each)
        write_each(out, tally);
    else
        write_tables(out, watch->has_printed, tally);
    const int status = run_end_output(&output, options.verbosity);
    for (const struct options *at = &options; at && status == STATUS_COUNTED; at = at->also) {
        run_hint_range(at, &at->histogram, tally);
        tally = tally->also;
    }
    return status;
}

/* Whether a FILE that does not exist was probably meant as the value of an option; says so. */
static bool is_misplaced(const struct misplaced *misplaced)
{
    struct reason why;
    if (!misplaced->option || access(misplaced->word, F_OK) == 0)
        return false;
    reason_of(&why, misplaced->word, "%s; did you mean --%s=%s?", strerror(errno),
              misplaced->option, misplaced->word);
    diag("%s", why.text);
    return true;
}

/* Says what entropy is meant: of files that hold compressed data, that of the data as they are is
 * often what was wanted. */
static void say_content(void)
{
    for (const struct options *at = &options; at; at = at->also)
        if (options.each && at->report.stats && at->histogram.mode->id == MODE_BYTES) {
            diag("compressed files: their entropy is that of the content; use --decompress=none "
                 "for that of the files");
            return;
        }
}

/* What is said of the input after the tables. */
struct notes {
    struct reason foreign, one_line;
    bool is_decoded;      /* one of the files was */
    uint64_t all_invalid; /* tokens or lines there are, if none of them is a number; otherwise 0 */
};

/* Takes notes before the source is closed and the tables are written. */
static void take_notes(struct source *source, const struct tally *tally, struct notes *notes)
{
    const struct histogram *histogram = &options.histogram;
    *notes = (struct notes){.is_decoded = source_has_decoded(source)};
    source_foreign(source, &notes->foreign);
    source_one_line(source, &notes->one_line);
    if (!histogram->mode->is_text)
        return;
    const size_t row = ROW_INVALID(&histogram->binning);
    if (options.pool.files)
        notes->all_invalid = file_tallies_all_in(options.pool.files, row);
    else if (tally->counts[row] == tally->samples)
        notes->all_invalid = tally->samples;
}

static void print_notes(const struct notes *notes)
{
    if (options.verbosity < NORMAL)
        return;
    if (notes->one_line.text[0])
        diag("warning: %s", notes->one_line.text);
    if (notes->foreign.text[0]) /* which explains that all is invalid */
        diag("warning: %s", notes->foreign.text);
    else if (notes->all_invalid > 1)
        diag("warning: all %" PRIu64 " %s are invalid, so no number was counted",
             notes->all_invalid, options.histogram.field.kind == FIELD_NONE ? "tokens" : "lines");
    if (notes->is_decoded)
        say_content();
}

static struct run_share run_share;

/* Cuts the FILEs, if a share of them is counted. As share_open. */
static int open_share(struct reason *why)
{
    if (options.part.of == 0)
        return 0;
    options.input.share = &run_share.share;
    for (struct options *at = &options; at; at = at->also)
        at->report.share = &run_share.record;
    return share_open(&run_share.share, &options.part, options.operands, options.operand_count,
                      why);
}

/* Opens what the counts go to. 0, or -1: memory is short. */
static int open_tallies(const struct source *source, struct tally *tally, struct watch *watch)
{
    unsigned histograms = 0;
    for (const struct options *at = &options; at; at = at->also)
        histograms++;
    if (options.each && !(options.pool.files = file_tallies_open(source_files(source), histograms)))
        return -1;
    if (options.interval > 0 && tally_open(&watch->so_far, &options.histogram) != 0)
        return -1;
    return tally_open(tally, &options.histogram);
}

/* Settles the options that wait for the type of values, which the first file's header says. Returns
 * the exit status if that fails. */
static int settle_type(struct source *source)
{
    struct header header;
    struct reason why;
    if (!options.pending)
        return STATUS_COUNTED;
    if (source_find_header(source, &header, &why) != 0)
        return run_failed(&why);
    int rc = options_settle_type(&options, header.type, &why);
    if (rc != 0) {
        diag("%s", why.text);
        return rc == OPTIONS_FAILED ? STATUS_FAILED : STATUS_USAGE;
    }
    source_set_options(source, &options.input);
    return STATUS_COUNTED;
}

static int count(void)
{
    struct tally tally;
    struct watch watch;
    struct pool_outcome outcome = {0};
    struct reason why;
    int rc;
    if (is_misplaced(&options.misplaced))
        return STATUS_FAILED;
    if (output_prepare(&output, options.output, &why) != 0)
        return run_failed(&why);
    if (options.pool.device == DEVICE_GPU ||
        (options.pool.device == DEVICE_AUTO && !device_missing()))
        visible_only(&options.pool.gpus, "");
    if ((rc = open_share(&why)) != 0) {
        diag("%s", why.text);
        return rc == SHARE_REFUSED ? STATUS_USAGE : STATUS_FAILED;
    }
    struct source *source = source_open(options.operands, options.operand_count, &options.input);
    if (!source) {
        diag("out of memory");
        return STATUS_FAILED;
    }
    watch_begin(&watch, source);
    if (run_enter_sandbox(&options, &output, source, NULL) != 0)
        return STATUS_FAILED;
    if ((rc = settle_type(source)) != STATUS_COUNTED) {
        source_close(source);
        return rc;
    }
    if (open_tallies(source, &tally, &watch) != 0) {
        diag("out of memory");
        return STATUS_FAILED;
    }
    options.pool.begins_here = options.pool.device != DEVICE_GPU && source_is_regular(source);
    options.pool.look = watch_look;
    options.pool.look_arg = &watch;
    rc = pool_run(&options.pool, &options.histogram, source, &tally, &outcome, &why);
    progress_end(&watch.progress);
    if (rc != 0) {
        diag("%s", why.text);
        leave(STATUS_FAILED); /* threads may still be at work */
    }
    struct notes notes;
    take_notes(source, &tally, &notes);
    source_close(source);
    if (options.part.of > 0 && run_share_record(&run_share) != 0) {
        diag("out of memory");
        leave(STATUS_FAILED); /* threads of a GPU may still be at work */
    }
    int status = check_also(&tally) == 0 ? print_report(&watch, &tally) : STATUS_FAILED;
    tally_close(&tally);
    if (options.interval > 0)
        tally_close(&watch.so_far);
    print_engines(&outcome, options.verbosity);
    print_notes(&notes);
    if (options.timing)
        print_timing(&outcome);
    /* Leaves CUDA's tear-down out, which takes 100 ms, and longer while CUDA is still starting. */
    if (outcome.gpu_opened || signals_interrupted())
        leave(status);
    file_tallies_close(options.pool.files);
    run_share_close(&run_share);
    return status;
}

/* Sets up malloc. Large buffers, such as zstd's windows, go back to the system when they are freed,
 * whichever thread had them: otherwise glibc raises the threshold with each one and keeps them for
 * each thread. And threads share one arena: each of their own would take 64 MiB of address space,
 * and nothing here allocates so often that they would wait for each other. */
static void set_up_malloc(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
}

/* Makes sure that there is enough of the stack, which can grow up to a limit. 0, or -1 with the
 * reason set. */
static int check_stack(struct reason *why)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_LEAST)
        return 0;
    const unsigned long kib = (unsigned long)(limit.rlim_cur >> 10);
    limit.rlim_cur = STACK_LEAST;
    if (limit.rlim_max >= STACK_LEAST && setrlimit(RLIMIT_STACK, &limit) == 0)
        return 0;
    reason_set(why, "the stack is limited to %lu KiB, and %d KiB are needed; use 'ulimit -s %d'",
               kib, STACK_LEAST >> 10, STACK_LEAST >> 10);
    return -1;
}

/* Does what was asked for. The exit status. */
static int act(void)
{
    switch (options.action) {
    case ACTION_BRIEF_HELP:
    case ACTION_HELP:
        return print_help();
    case ACTION_VERSION:
        return print_version();
    case ACTION_LIST_KERNELS:
        return list_kernels();
    case ACTION_DIFF:
        return run_diff(&options);
    case ACTION_MERGE:
        return run_merge(&options);
    default:
        return count();
    }
}

int main(int argc, char **argv)
{
    struct reason why;
    progress_catch_signals();
    if (check_stack(&why) != 0)
        return run_failed(&why);
    set_up_malloc();
    hold_standard_descriptors();
    int rc = options_parse(argc, argv, &options, &why);
    if (rc != 0) {
        diag("%s", why.text);
        return rc == OPTIONS_FAILED ? STATUS_FAILED : STATUS_USAGE;
    }
    rc = act();
    signals_remove_now(); /* the output of a run that failed */
    return rc;
}
