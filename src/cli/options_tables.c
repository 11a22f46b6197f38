/* SPDX-License-Identifier: MIT */
/* Tables that were made before: --merge, --diff, --incomplete. */
#include "option.h"

OPTION_FLAG(option_merge, draft->options->action = ACTION_MERGE)
OPTION_FLAG(option_diff, draft->options->action = ACTION_DIFF)
OPTION_FLAG(option_incomplete, draft->options->incomplete = true)

static int check_pair(size_t count, struct reason *why)
{
    if (count == 1)
        return reason_set(why, "--diff: the second file, AFTER, is missing");
    return count == 2 ? 0 : reason_set(why, "--diff needs two files, BEFORE and AFTER");
}

int tables_finish(const struct draft *draft, struct reason *why)
{
    struct options *options = draft->options;
    options->report.bins.most = draft->bins;
    if (options->action == ACTION_DIFF)
        return check_pair(options->operand_count, why);
    return report_finish(draft, why);
}
