/* SPDX-License-Identifier: MIT */
#include "run.h"

#include "src/cli/diag.h"
#include "src/histogram/coarsen.h"
#include "src/histogram/show_number.h"

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

void run_hint_range(const struct options *options, const struct histogram *histogram,
                    const struct tally *tally)
{
    const struct report_options *report = &options->report;
    const char *how = options->action != ACTION_COUNT ? "count again with " : "use ";
    struct seen_range range;
    char min[SHOW_NUMBER], max[SHOW_NUMBER];
    if (options->verbosity < NORMAL || report->most_bins == 0 ||
        !coarsen_range(histogram, tally, report->most_bins, &range))
        return;
    show_double(range.min, min);
    show_double(range.max, max);
    diag("--bins=%u: for narrower bins %s--min=%s --max=%s%s", report->most_bins, how, min, max,
         report->keep_bins ? " instead of --digits" : "");
}
