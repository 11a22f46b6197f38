/* SPDX-License-Identifier: MIT */
/* Tables that were made before: --merge, --diff, --incomplete. */
#include "option.h"

OPTION_FLAG(option_merge, draft->options->action = ACTION_MERGE)
OPTION_FLAG(option_diff, draft->options->action = ACTION_DIFF)
OPTION_FLAG(option_incomplete, draft->options->incomplete = true)

static int check_pair(size_t count, struct error *error)
{
    if (count == 1)
        return error_set(error, "--diff: the second file, AFTER, is missing");
    return count == 2 ? 0 : error_set(error, "--diff needs two files, BEFORE and AFTER");
}

int tables_finish(const struct draft *draft, struct error *error)
{
    struct options *options = draft->options;
    options->report.bins.max = draft->bins;
    if (options->action == ACTION_DIFF &&
        (check_pair(options->operand_count, error) != 0 ||
         option_conflict(draft, "bins", "stats quantiles", "", error) != 0))
        return OPTIONS_WRONG;
    return report_finish(draft, error);
}
