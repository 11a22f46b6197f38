/* SPDX-License-Identifier: MIT */
#include "run.h"

#include "src/cli/diag.h"
#include "src/count/coarsen.h"
#include "src/count/show_number.h"

#include <inttypes.h>

int run_failed(const struct reason *why)
{
    diag("%s", why->text);
    return STATUS_FAILED;
}

int run_end_output(struct output *output, enum verbosity verbosity)
{
    struct reason warning, why;
    if (output_close(output, &warning, &why) != 0)
        return run_failed(&why);
    if (warning.text[0] && verbosity >= NORMAL)
        diag("warning: %s", warning.text);
    return STATUS_COUNTED;
}

/* Bins that tell apart what is in the same one. */
static void hint_narrower(const struct options *options, const struct histogram *histogram,
                          const struct tally *tally)
{
    const struct report_options *report = &options->report;
    const char *how = options->action != ACTION_COUNT ? "count again with " : "use ";
    struct seen_range range;
    char min[SHOW_NUMBER], max[SHOW_NUMBER];
    if (!coarsen_range(histogram, tally, report->most_bins, &range))
        return;
    show_double(range.min, min);
    show_double(range.max, max);
    diag("--bins=%u: for narrower bins %s--min=%s --max=%s%s", report->most_bins, how, min, max,
         report->keep_bins ? " instead of --digits" : "");
}

/* Bins of whole values below a number, which more than nine tenths are not. */
static void warn_of_own_bins(unsigned bins, const struct histogram *histogram,
                             const struct tally *tally)
{
    const struct totals totals = rows_add_up(histogram, tally);
    const uint64_t outside = totals.samples - totals.of[ROW_KIND_BIN];
    const unsigned bits = 8 * (unsigned)histogram->type.size;
    const bool is_signed = histogram->type.kind == 'i';
    if (outside <= totals.samples - totals.samples / 10)
        return;
    if (bits > 16)
        diag("warning: --bins=%u: %" PRIu64 " of %" PRIu64
             " values are not from 0 to %u; use --min "
             "and --max, for which --stats tells the range",
             bins, outside, totals.samples, bins - 1);
    else
        diag("warning: --bins=%u: %" PRIu64 " of %" PRIu64 " values are not from 0 to %u; for bins "
             "over all of them use --min=%ld --max=%ld",
             bins, outside, totals.samples, bins - 1, is_signed ? -(1L << (bits - 1)) : 0,
             1L << (is_signed ? bits - 1 : bits));
}

void run_hint_range(const struct options *options, const struct histogram *histogram,
                    const struct tally *tally)
{
    if (options->verbosity < NORMAL)
        return;
    if (options->report.most_bins > 0)
        hint_narrower(options, histogram, tally);
    if (options->report.own_bins > 0)
        warn_of_own_bins(options->report.own_bins, histogram, tally);
}
