/* How the table is written: --stats, --format, --plot, --percent, --nonzero, --all, --each,
 * --header, --output, --interval. */
#include "option.h"
#include "parse.h"
#include "src/report/format.h"

#define INTERVAL_MIN 0.1 /* seconds: as often as the waiting thread looks */
#define INTERVAL_MAX 86400.0

int option_format(struct draft *draft, const char *value, struct reason *why)
{
    int format = parse_word("--format", value, format_names, why);
    draft->options->report.format = (unsigned)format;
    return format < 0 ? OPTIONS_WRONG : 0;
}

int option_stats(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->report.stats = true;
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
