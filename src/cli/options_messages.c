/* SPDX-License-Identifier: MIT */
/* What is said besides the table: --progress, --timing, --quiet, --verbose, --help, --version. */
#include "option.h"
#include "parse.h"

int option_progress(struct draft *draft, const char *value, struct reason *why)
{
    static const char *const whens[] = {"never", "auto", "always", NULL};
    int when = value ? parse_word("--progress", value, whens, why) : PROGRESS_AUTO;
    draft->options->progress = (enum progress_when)when;
    return when < 0 ? OPTIONS_WRONG : 0;
}

int option_timing(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->timing = draft->options->pool.timing = true;
    return 0;
}

int option_quiet(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->verbosity = QUIET;
    return 0;
}

int option_verbose(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->verbosity = VERBOSE;
    return 0;
}

int option_help(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->action = option_by_letter(draft, "help") ? ACTION_BRIEF_HELP : ACTION_HELP;
    return 0;
}

int option_version(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->action = ACTION_VERSION;
    return 0;
}
