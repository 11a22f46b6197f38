/* SPDX-License-Identifier: MIT */
/* Tables that were made before: --merge, --diff, --incomplete. */
#include "option.h"

int option_merge(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->action = ACTION_MERGE;
    return 0;
}

int option_diff(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->action = ACTION_DIFF;
    return 0;
}

int option_incomplete(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->incomplete = true;
    return 0;
}

/* A comparison is of two tables, neither more nor less. */
static int check_pair(size_t count, struct reason *why)
{
    if (count == 1)
        return option_wrong(why, "--diff: the second file, AFTER, is missing");
    return count == 2 ? 0 : option_wrong(why, "--diff needs two files, BEFORE and AFTER");
}

int tables_settle(const struct draft *draft, struct reason *why)
{
    struct options *options = draft->options;
    options->report.most_bins = draft->bins;
    if (options->action == ACTION_DIFF)
        return check_pair(options->operand_count, why);
    return report_settle(draft, why);
}
