/* SPDX-License-Identifier: MIT */
/* The options about messages: --progress, --timing, --quiet, --verbose, --help, --version. */
#include "option.h"

int option_progress(struct draft *draft, const char *value, struct error *error)
{
    const int when = value ? option_word("progress", value, error) : PROGRESS_AUTO;
    draft->options->progress = (enum progress_when)when;
    return when < 0 ? OPTIONS_WRONG : 0;
}

OPTION_FLAG(option_timing, draft->options->pool.timing = true)
OPTION_FLAG(option_quiet, draft->options->verbosity = QUIET)
OPTION_FLAG(option_verbose, draft->options->verbosity = VERBOSE)
OPTION_FLAG(option_help, draft->options->action = option_by_letter(draft, "help")
                                                      ? ACTION_BRIEF_HELP
                                                      : ACTION_HELP)
OPTION_FLAG(option_version, draft->options->action = ACTION_VERSION)
