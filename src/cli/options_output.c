/* SPDX-License-Identifier: MIT */
/* The options about the table: --stats, --quantiles, --format, --plot, --percent, --nonzero, --all,
 * --each, --sort, --top, --header, --output, --interval. */
#include "option.h"
#include "parse.h"
#include "src/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUANTILES_DEFAULT "0.5,0.9,0.99,0.999"

#define STATS_WITHOUT_ROWS "; --format=json and --plot have both"

#define INTERVAL_MIN 0.1 /* seconds between two calls of main_tables_tick */
#define INTERVAL_MAX 86400.0

int option_format(struct draft *draft, const char *value, struct error *error)
{
    const char *names[FORMATS_MAX] = {NULL};
    for (size_t i = 0; formats[i]; i++)
        names[i] = formats[i]->name;
    const int format = parse_word("--format", value, names, error);
    draft->options->report.format = formats[format < 0 ? 0 : format];
    return format < 0 ? OPTIONS_WRONG : 0;
}

/* Refuses a list of quantiles because of the text at `wrong`. A number between 1 and 100 was most
 * likely meant as a percentage. */
static int refuse_quantile(const char *list, const char *wrong, struct error *error)
{
    char hint[80] = "";
    double number;
    if (parse_double(&wrong, &number) && number > 1 && number <= 100)
        snprintf(hint, sizeof hint, "; for %.15g %%, use %.15g", number, number / 100);
    return error_of_option(
        error, "--quantiles", list,
        "must be numbers from 0 to 1, at most %d, of at most %d digits, separated by "
        "commas%s",
        QUANTILES_MAX, PROBABILITY_DIGITS, hint);
}

/* True if the last one is in the list twice. */
static bool is_repeated(const struct probability *quantiles, size_t count)
{
    const struct probability *last = &quantiles[count - 1];
    for (size_t i = 0; i + 1 < count; i++)
        if (quantiles[i].exponent == last->exponent &&
            strcmp(quantiles[i].digits, last->digits) == 0)
            return true;
    return false;
}

/* Reads a list of quantiles; repeated ones once. Returns NULL, or where it is wrong. */
static const char *read_quantiles(const char *list, struct report_options *report)
{
    const char *at = list, *from = list;
    for (report->quantile_count = 0; report->quantile_count < QUANTILES_MAX; at++) {
        from = at;
        if (!parse_probability(&at, &report->quantiles[report->quantile_count++]) ||
            (*at && *at != ','))
            break;
        if (is_repeated(report->quantiles, report->quantile_count))
            report->quantile_count--;
        if (!*at)
            return NULL;
    }
    return from;
}

int option_quantiles(struct draft *draft, const char *value, struct error *error)
{
    struct report_options *report = &draft->options->report;
    const char *list = value ? value : QUANTILES_DEFAULT;
    const char *wrong = read_quantiles(list, report);
    report->stats = true;
    return wrong ? refuse_quantile(list, wrong, error) : 0;
}

int option_stats(struct draft *draft, const char *value, struct error *error)
{
    struct report_options *report = &draft->options->report;
    (void)value;
    (void)error;
    report->stats = true;
    if (report->quantile_count == 0)
        read_quantiles(QUANTILES_DEFAULT, report);
    return 0;
}

int option_plot(struct draft *draft, const char *value, struct error *error)
{
    (void)value;
    return option_format(draft, "plot", error);
}

OPTION_FLAG(option_percent, draft->options->report.percent = true)
OPTION_FLAG(option_nonzero, draft->options->report.empty = EMPTY_LEFT_OUT)
OPTION_FLAG(option_all, draft->options->report.empty = EMPTY_SHOWN)
OPTION_FLAG(option_header, draft->options->report.header = true)

int option_each(struct draft *draft, const char *value, struct error *error)
{
    static const struct size_range range = {1, CONTENT_MAX, "1 to 9223372036854775807"};
    draft->options->each = true;
    draft->options->each_size = 0;
    return value ? parse_size("--each", value, &range, &draft->options->each_size, error) : 0;
}

int option_sort(struct draft *draft, const char *value, struct error *error)
{
    const bool is_reversed = *value == '-';
    (void)error;
    draft->options->report.order = (struct group_order){value + is_reversed, is_reversed};
    return 0;
}

int option_top(struct draft *draft, const char *value, struct error *error)
{
    return parse_count("--top", value, KEYS_LIMIT, &draft->options->top, error);
}

int option_output(struct draft *draft, const char *value, struct error *error)
{
    draft->options->output = strcmp(value, "-") == 0 ? NULL : value;
    return *value ? 0 : option_needs(draft, "output", "the name of a file", error);
}

int option_interval(struct draft *draft, const char *value, struct error *error)
{
    const char *end = value;
    double *seconds = &draft->options->interval;
    if (parse_double(&end, seconds) && !*end && *seconds >= INTERVAL_MIN &&
        *seconds <= INTERVAL_MAX)
        return 0;
    return error_of_option(error, "--interval", value, "must be a number of seconds from %g to %g",
                           INTERVAL_MIN, INTERVAL_MAX);
}

static int compare_names(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Checks that no file is given twice, as both histograms would have the same labels. */
static int check_labels(const struct options *options, struct error *error)
{
    const size_t count = options->operand_count;
    char **names = calloc(count + 1, sizeof names[0]);
    size_t i = 1;
    if (!names)
        return option_no_memory(error);
    for (size_t k = 0; k < count; k++)
        names[k] = options->operands[k];
    qsort(names, count, sizeof names[0], compare_names);
    while (i < count && strcmp(names[i - 1], names[i]) != 0)
        i++;
    if (i < count)
        error_of(error, names[i], "is given twice; --format=%s --each needs different files",
                 options->report.format->name);
    free(names);
    return i < count ? OPTIONS_WRONG : 0;
}

/* Checks the column of --sort, unless tables say later which ones there are. Without --stats keys
 * can be in the order of the same quantiles. 0, or OPTIONS_WRONG with an error. */
static int order_finish(const struct draft *draft, struct error *error)
{
    struct report_options *report = &draft->options->report;
    if (!report->order.column)
        return 0;
    if (report->quantile_count == 0)
        read_quantiles(QUANTILES_DEFAULT, report);
    if (draft->by_count == 0)
        return 0;
    if (!draft->mode->is_binned && report->format->separator &&
        option_conflict(draft, "sort", "stats", STATS_WITHOUT_ROWS, error) != 0)
        return OPTIONS_WRONG;
    return group_order_check(&report->order, draft->mode->is_binned, report->quantiles,
                             report->quantile_count, error);
}

int report_finish(const struct draft *draft, struct error *error)
{
    static const char *const of_rows[] = {"percent", "nonzero", "all"};
    struct report_options *report = &draft->options->report;
    const struct format *format = report->format;
    if (format->is_binary && !draft->options->output && isatty(STDOUT_FILENO))
        return error_set(error, "--format=%s: standard output is a terminal; use --output",
                         format->name);
    const bool has_heat = draft->by_count > 0 && draft->mode->is_binned && format->heat;
    if (has_heat && draft->by_count > 1)
        return error_set(error,
                         "--format=%s --by: a heat map is by one key; give --by once, or use "
                         "--format=tsv",
                         format->name);
    if (report->stats && has_heat)
        return error_set(error, "--plot --by: a heat map has no statistics; use --stats without "
                                "--plot");
    if (order_finish(draft, error) != 0)
        return OPTIONS_WRONG;
    if (format->is_cumulative && draft->options->each)
        return check_labels(draft->options, error);
    if (!report->stats || !format->separator)
        return 0;
    for (size_t i = 0; i < sizeof of_rows / sizeof of_rows[0]; i++)
        if (option_conflict(draft, of_rows[i], "stats quantiles", STATS_WITHOUT_ROWS, error) != 0)
            return OPTIONS_WRONG;
    report->bins.max = report->bins.log_parts = 0;
    return 0;
}
