/* SPDX-License-Identifier: MIT */
/* Prints hints and warnings about a run's input. */
#include "main.h"

#include "src/cli/diag.h"
#include "src/tally/coarsen.h"
#include "src/tally/file_tallies.h"
#include "src/text/number.h"
#include "src/report/report.h"
#include "src/tally/key_tallies.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define HINT_BINS 20 /* that people take in at a glance */

bool main_is_misplaced(const struct misplaced *misplaced)
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

void main_remark(const struct options *options, struct source *source, const struct tally *tally,
                 struct main_remarks *remarks)
{
    const struct histogram_spec *spec = &options->spec;
    *remarks =
        (struct main_remarks){.is_decoded = source_has_decoded(source), .bytes = tally->bytes};
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
static void say_empty(const struct options *options, const struct main_remarks *remarks)
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

void main_print_remarks(const struct options *options, const struct main_remarks *remarks)
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

void main_hint_range(const struct options *options, const struct histogram_spec *spec,
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
