/* SPDX-License-Identifier: MIT */
/* Tables that were made before: --merge, --diff, --incomplete; and their own options, read again.
 */
#include "option.h"
#include "src/report/format.h"

#include <stdlib.h>
#include <string.h>

int option_merge(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->merge = true;
    return 0;
}

int option_diff(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->diff = true;
    return 0;
}

int option_incomplete(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->options->incomplete = true;
    return 0;
}

bool option_is_of_tables(const struct option_row *row)
{
    switch (row->group) {
    case GROUP_OUTPUT:
        return strcmp(row->name, "each") != 0 && strcmp(row->name, "interval") != 0;
    case GROUP_TABLES:
        return true;
    case GROUP_MESSAGES:
        return strcmp(row->name, "progress") != 0 && strcmp(row->name, "timing") != 0;
    default:
        return strcmp(row->name, "bins") == 0 || strcmp(row->name, "threads") == 0 ||
               strcmp(row->name, "sandbox") == 0 || strcmp(row->name, "no-sandbox") == 0;
    }
}

/* What a comparison of two tables does not go with. */
static int diff_settle(const struct draft *draft, struct reason *why)
{
    struct options *options = draft->options;
    if (draft->merge)
        return option_wrong(why, "--diff: cannot be combined with --merge");
    if (options->operand_count != 2)
        return option_wrong(why, "--diff: requires two FILEs of tables, BEFORE and AFTER");
    if (options->report.stats || options->report.percent || options->incomplete ||
        options->pool.threads)
        return option_wrong(why, "--diff: cannot be combined with --stats, --quantiles, --percent, "
                                 "--incomplete and --threads");
    if (format_table[options->report.format]->is_image)
        return option_wrong(why, "--diff: cannot be combined with --format=pgm");
    options->action = ACTION_DIFF;
    options->report.most_bins = draft->bins;
    return 0;
}

int tables_settle(const struct draft *draft, struct reason *why)
{
    struct options *options = draft->options;
    const bool is_json = strcmp(format_names[options->report.format], "json") == 0;
    if (draft->counting) {
        reason_set(why, "--%s: cannot be combined with --%s, whose tables were counted before",
                   draft->counting, draft->diff ? "diff" : "merge");
        return OPTIONS_WRONG;
    }
    if (draft->diff)
        return diff_settle(draft, why);
    if (options->incomplete && !is_json)
        return option_wrong(why, "--incomplete: requires --format=json, which lists the shares");
    if (options->incomplete && draft->bins)
        return option_wrong(why, "--incomplete: cannot be combined with --bins");
    options->action = ACTION_MERGE;
    options->report.most_bins = draft->bins;
    return report_settle(options, why);
}

int options_lay(const struct words *words, struct histogram *histogram, bool *is_coarse,
                struct reason *why)
{
    static char name[] = "gpuhisto", end[] = "--";
    char **argv = calloc(words->count + 3, sizeof *argv);
    struct words typed = {.list = NULL};
    struct options options;
    int rc = argv ? 0 : -1;
    for (size_t i = 0; i < words->count && rc == 0; i++) {
        rc = words_add(&typed, words->list[i], strlen(words->list[i]));
        if (rc == 0)
            words_unescape(argv[1 + i] = typed.list[i]);
    }
    if (rc != 0) {
        reason_set(why, "out of memory");
    } else {
        argv[0] = name;
        argv[1 + words->count] = end;
        rc = options_parse((int)words->count + 2, argv, &options, why);
    }
    free(argv);
    if (rc != 0) {
        words_free(&typed);
        return -1;
    }
    const bool is_same = options.action == ACTION_COUNT && words_same(words, &options.words);
    words_free(&typed); /* which the options refer to */
    if (!is_same) {
        reason_set(why, "\"options\" are not what gpuhisto writes");
        if (options.action == ACTION_COUNT)
            options_free(&options);
        return -1;
    }
    *histogram = options.histogram;
    /* What these refer to goes away, and counting alone needs it. */
    histogram->field = (struct field){.kind = FIELD_NONE};
    *is_coarse = options.report.most_bins > 0;
    words_free(&options.words);
    return 0;
}
