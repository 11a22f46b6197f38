/* SPDX-License-Identifier: MIT */
/* All that a run says on standard error: errors and warnings, progress, --verbose and --timing, and
 * hints at what was probably meant. */
#include "cli.h"

#include "gpu/engine/gpu_engine.h"
#include "src/base/clock.h"
#include "src/base/show.h"
#include "src/report/format.h"
#include "src/tally/coarsen.h"
#include "src/tally/file_tallies.h"
#include "src/text/number.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048 /* twice an error, so that nothing of one is left out */

void diag(const char *format, ...)
{
    int saved = errno;
    char line[LINE_MAX_BYTES], shown[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* Text of others, such as a driver's, stays on one line and cannot control a terminal. */
    show_text(line, strlen(line), shown, sizeof shown);
    /* Standard error is unbuffered, but glibc still collects one fprintf into one write. */
    fprintf(stderr, "gpuhisto: %s\n", shown);
    errno = saved;
}

/* --- progress --- */

#define PERIOD_SECONDS 0.5

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

struct progress progress_begin(enum progress_when when, struct source *source)
{
    struct progress progress = {.source = source, .terminal = isatty(STDERR_FILENO) == 1};
    progress.shown = when == PROGRESS_ALWAYS || (when == PROGRESS_AUTO && progress.terminal);
    progress.next = PERIOD_SECONDS;
    progress.begin = clock_now();
    return progress;
}

/* Writes "12.3 GB, 4.500 GB/s, 67%, 8 s left"; the last two only if the size is known. */
static void describe_progress(const struct progress *progress, uint64_t bytes, double seconds,
                              char *line, size_t size)
{
    static const char units[] = " kMGTPE";
    double amount = (double)bytes;
    unsigned unit = 0;
    for (; amount >= 1000 && units[unit + 1]; unit++)
        amount /= 1000;
    int len = snprintf(line, size, unit ? "%.1f %cB" : "%.0f B", amount, units[unit]);
    len += snprintf(line + len, size - (size_t)len, ", %.3f GB/s",
                    seconds > 0 ? (double)bytes / seconds / 1e9 : 0);
    const double fraction = source_fraction(progress->source);
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

void progress_tick(struct progress *progress, uint64_t bytes)
{
    double seconds = clock_seconds_since(&progress->begin);
    bool due = progress->shown && seconds >= progress->next;
    const bool is_answer = atomic_exchange(&is_requested, false);
    if (!due && !is_answer)
        return;
    char line[200];
    describe_progress(progress, bytes, seconds, line, sizeof line);
    if (is_answer || !progress->terminal) {
        progress_end(progress);
        diag("%s", line);
    } else {
        rewrite_line(progress, line);
    }
    if (due)
        progress->next = seconds + PERIOD_SECONDS;
}

void progress_end(struct progress *progress)
{
    if (progress->width > 0)
        rewrite_line(progress, "");
}

/* --- engines --- */

#define GPU_NAME 16

/* Writes "gpu", or with several GPUs "gpu:1". */
static void name_gpu(const struct pool_outcome *outcome, const struct pool_gpu *gpu,
                     char name[GPU_NAME])
{
    if (outcome->gpu_count == 1)
        strcpy(name, "gpu");
    else
        snprintf(name, GPU_NAME, "gpu:%d", gpu->number);
}

static void print_gpu_timing(const struct pool_outcome *outcome, const struct pool_gpu *gpu)
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

void diag_timing(const struct pool_outcome *outcome)
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
    return outcome->gpu_opened ? "the input ended before it was ready"
                               : "not requested, or not worth starting";
}

void diag_engines(const struct pool_outcome *outcome, enum verbosity verbosity)
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
        diag("gpu: not used: %s", why_no_gpu(outcome));
}

/* --- hints --- */

#define HINT_BINS 20 /* that people take in at a glance */

bool hint_misplaced(const struct misplaced *misplaced)
{
    struct error error;
    if (!misplaced->option || access(misplaced->word, F_OK) == 0)
        return false;
    error_of(&error, misplaced->word, "%s; did you mean --%s=%s?", strerror(errno),
             misplaced->option, misplaced->word);
    diag("%s", error.text);
    return true;
}

/* --- remarks --- */

void remarks_collect(const struct options *options, struct source *source,
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

#define FILTERS_SIZE 64 /* bytes of the names of all options of a filter */

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

/* Says that entropy is that of the content: of compressed files, that of the files themselves is
 * often what was wanted. */
static void say_content(const struct options *options)
{
    for (const struct options *at = options; at; at = at->also)
        if (options->each && at->report.stats && at->spec.mode->id == MODE_BYTES) {
            diag("compressed files: their entropy is that of the content; use --decompress=none "
                 "for that of the files");
            return;
        }
}

void diag_remarks(const struct options *options, const struct remarks *remarks)
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
    if (remarks->is_decoded)
        say_content(options);
}

/* --- ranges --- */

/* Names a range of so many bins that separates values which were counted in the same bin. */
static void hint_range(const struct options *options, const struct histogram_spec *spec,
                       const struct tally *tally, unsigned bins)
{
    const bool is_given = options->report.bins.max > 0;
    const char *how = options->action != ACTION_COUNT ? "count again with " : "use ";
    struct seen_range range;
    char min[SHOW_NUMBER], max[SHOW_NUMBER];
    if (!coarsen_range(spec, tally, bins, &range))
        return;
    show_double(range.min, min);
    show_double(range.max, max);
    if (is_given)
        diag("--bins=%u: for narrower bins, %s--min=%s --max=%s%s", bins, how, min, max,
             options->report.bins.keep ? " instead of --digits" : "");
    else
        diag("for narrower bins, use --bins=%u --min=%s --max=%s", bins, min, max);
}

/* True if rows of as many digits as nobody asked for are shown. */
static bool has_default_bins(const struct options *options, const struct histogram_spec *spec)
{
    const struct report_options *report = &options->report;
    return options->action == ACTION_COUNT && spec->binning.digits.scales && !report->bins.keep &&
           report->bins.log_parts == 0 && !(report->stats && report->format->separator);
}

/* Names what tells numbers apart that fill only a few bins of three digits. */
static void hint_digits(const struct options *options, const struct histogram_spec *spec,
                        const struct tally *tally)
{
    const unsigned digits = coarsen_digits(spec, tally, HINT_BINS);
    if (digits > 0)
        diag("to tell whole numbers apart, use --digits=%u", digits);
    else if (coarsen_is_close(spec, tally))
        hint_range(options, spec, tally, HINT_BINS);
}

/* Warns if more than nine tenths of whole values are outside of bins that begin with 0. */
static void warn_of_own_bins(unsigned bins, const struct histogram_spec *spec,
                             const struct tally *tally)
{
    const struct totals totals = rows_add_up(spec, tally);
    const uint64_t outside = totals.samples - totals.of[ROW_KIND_BIN];
    const unsigned bits = 8 * (unsigned)spec->type.size;
    const bool is_signed = spec->type.kind == 'i';
    if (outside <= totals.samples - totals.samples / 10)
        return;
    if (bits > 16)
        diag("warning: --bins=%u: %" PRIu64 " of %" PRIu64
             " values are not from 0 to %u; use --min and --max (--stats prints the range)",
             bins, outside, totals.samples, bins - 1);
    else
        diag("warning: --bins=%u: %" PRIu64 " of %" PRIu64
             " values are not from 0 to %u; to cover all of them, use --min=%ld --max=%ld",
             bins, outside, totals.samples, bins - 1, is_signed ? -(1L << (bits - 1)) : 0,
             1L << (is_signed ? bits - 1 : bits));
}

void hint_ranges(const struct options *options, const struct histogram_spec *spec,
                 const struct tally *tally)
{
    if (options->verbosity < NORMAL)
        return;
    const struct report_options *report = &options->report;
    if (report->bins.max > 0)
        hint_range(options, spec, tally, report->bins.max);
    else if (has_default_bins(options, spec) && !options->each && !options->pool.keys)
        hint_digits(options, spec, tally);
    if (report->bins.own > 0)
        warn_of_own_bins(report->bins.own, spec, tally);
}
