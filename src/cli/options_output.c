/* SPDX-License-Identifier: MIT */
/* How the table is written: --stats, --quantiles, --format, --plot, --percent, --nonzero, --all,
 * --each, --header, --output, --interval. */
#include "option.h"
#include "parse.h"
#include "src/report/format.h"

#include <stdio.h>
#include <unistd.h>

#define QUANTILES_DEFAULT "0.5,0.9,0.99,0.999"

#define INTERVAL_MIN 0.1 /* seconds: as often as the waiting thread looks */
#define INTERVAL_MAX 86400.0

int option_format(struct draft *draft, const char *value, struct reason *why)
{
    int format = parse_word("--format", value, format_names, why);
    draft->options->report.format = (unsigned)format;
    return format < 0 ? OPTIONS_WRONG : 0;
}

/* Refuses a list of quantiles. One between 1 and 100 was most likely meant as a percentage. */
static int refuse_quantile(const char *list, double quantile, struct reason *why)
{
    char hint[80] = "";
    if (quantile > 1 && quantile <= 100)
        snprintf(hint, sizeof hint, "; for %.15g %%, use %.15g", quantile, quantile / 100);
    reason_of_option(why, "--quantiles", list,
                     "must be numbers from 0 to 1, at most %d, separated by commas%s",
                     QUANTILES_MAX, hint);
    return OPTIONS_WRONG;
}

/* Whether the last one is in the list before. */
static bool is_repeated(const double *quantiles, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++)
        if (!(quantiles[i] < quantiles[count - 1]) && !(quantiles[i] > quantiles[count - 1]))
            return true;
    return false;
}

/* Reads a list of quantiles, each once, of which the last one read is wrong if it returns false. */
static bool read_quantiles(const char *list, struct report_options *report)
{
    const char *at = list;
    for (report->quantile_count = 0; report->quantile_count < QUANTILES_MAX; at++) {
        double *quantile = &report->quantiles[report->quantile_count++];
        if (!parse_double(&at, quantile) || *quantile < 0 || *quantile > 1 || (*at && *at != ','))
            break;
        *quantile += 0.0; /* not -0, which would be printed */
        if (is_repeated(report->quantiles, report->quantile_count))
            report->quantile_count--;
        if (!*at)
            return true;
    }
    return false;
}

int option_quantiles(struct draft *draft, const char *value, struct reason *why)
{
    struct report_options *report = &draft->options->report;
    const char *list = value ? value : QUANTILES_DEFAULT;
    draft->quantiles = report->stats = true;
    if (read_quantiles(list, report))
        return 0;
    return refuse_quantile(list, report->quantiles[report->quantile_count - 1], why);
}

int option_stats(struct draft *draft, const char *value, struct reason *why)
{
    struct report_options *report = &draft->options->report;
    (void)value;
    (void)why;
    report->stats = true;
    if (report->quantile_count == 0)
        read_quantiles(QUANTILES_DEFAULT, report);
    return 0;
}

int option_plot(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    return option_format(draft, "plot", why);
}

int option_percent(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->report.percent = true;
    return 0;
}

int option_nonzero(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->report.empty = EMPTY_LEFT_OUT;
    return 0;
}

int option_all(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->report.empty = EMPTY_SHOWN;
    return 0;
}

int option_each(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->each = true;
    return 0;
}

int option_header(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->report.header = true;
    return 0;
}

int option_output(struct draft *draft, const char *value, struct reason *why)
{
    draft->options->output = value;
    return *value ? 0 : option_wrong(why, "--output: requires the name of a FILE");
}

int option_interval(struct draft *draft, const char *value, struct reason *why)
{
    const char *end = value;
    double *seconds = &draft->options->interval;
    if (parse_double(&end, seconds) && !*end && *seconds >= INTERVAL_MIN &&
        *seconds <= INTERVAL_MAX)
        return 0;
    reason_of_option(why, "--interval", value, "must be a number of seconds from %g to %g",
                     INTERVAL_MIN, INTERVAL_MAX);
    return OPTIONS_WRONG;
}

static int image_settle(const struct options *options, struct reason *why)
{
    const struct report_options *report = &options->report;
    if (report->stats || report->percent || report->header || report->empty != EMPTY_DEFAULT)
        return option_wrong(why, "--format=pgm: cannot be combined with --stats, --quantiles, "
                                 "--percent, --nonzero, --all and --header");
    if (!options->output && isatty(STDOUT_FILENO))
        return option_wrong(why, "--format=pgm: standard output is a terminal; use --output");
    return 0;
}

int report_settle(struct options *options, struct reason *why)
{
    struct report_options *report = &options->report;
    const struct format *format = format_table[report->format];
    if (format->is_image)
        return image_settle(options, why);
    if (!report->stats || format->has_both)
        return 0;
    if (report->percent || report->empty != EMPTY_DEFAULT)
        return option_wrong(why, "--percent, --nonzero, --all: facts have no bins; leave out "
                                 "--stats and --quantiles, or use --format=json for both");
    report->most_bins = 0;
    return 0;
}
