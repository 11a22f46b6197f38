/* SPDX-License-Identifier: MIT */
/* What is counted: --bytes, --letters, --fold-case, --characters, --categories, --blocks,
 * --pairs, --numbers, --values, --channels. */
#include "option.h"
#include "parse.h"
#include "src/report/format.h"

#include <stdio.h>
#include <string.h>

#define WIDTH_DEFAULT 4
#define CHANNEL_ROWS_MAX ((unsigned)1 << 25) /* of all channels together: 256 MiB of counts */

/* Notes that the option of a mode was given. Returns 0, as handlers do. */
static int give(struct draft *draft, enum mode_id mode)
{
    draft->modes |= 1U << mode;
    return 0;
}

int option_bytes(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    return give(draft, MODE_BYTES);
}

int option_letters(struct draft *draft, const char *value, struct reason *why)
{
    give(draft, MODE_LETTERS);
    draft->width = WIDTH_DEFAULT;
    return value ? parse_count("--letters", value, LETTERS, &draft->width, why) : 0;
}

int option_fold_case(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->fold = true;
    return 0;
}

int option_characters(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    return give(draft, MODE_CHARACTERS);
}

int option_categories(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    return give(draft, MODE_CATEGORIES);
}

int option_blocks(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    return give(draft, MODE_BLOCKS);
}

int option_pairs(struct draft *draft, const char *value, struct reason *why)
{
    draft->aligned = value != NULL;
    if (!value || strcmp(value, "aligned") == 0)
        return give(draft, MODE_PAIRS);
    reason_of_option(why, "--pairs", value, "must be aligned, or left out");
    return OPTIONS_WRONG;
}

int option_numbers(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    return give(draft, MODE_NUMBERS);
}

int option_values(struct draft *draft, const char *value, struct reason *why)
{
    char types[128];
    draft->type = value_type_find(value);
    if (draft->type)
        return give(draft, MODE_VALUES);
    value_types_show(types, sizeof types);
    reason_of_option(why, "--values", value, "must be %s; append be for big-endian", types);
    return OPTIONS_WRONG;
}

int option_channels(struct draft *draft, const char *value, struct reason *why)
{
    return parse_count("--channels", value, CHANNELS_MAX, &draft->channels, why);
}

/* Splits the histogram by channels, if that does not make too many rows. */
static int settle_channels(const struct draft *draft, struct reason *why)
{
    struct histogram *histogram = &draft->options->histogram;
    unsigned channels = draft->channels;
    if (channels == 0)
        return 0;
    if (histogram->bins > CHANNEL_ROWS_MAX / channels) {
        reason_set(why, "--channels=%u: more than %u bins in all; use fewer --bins", channels,
                   CHANNEL_ROWS_MAX);
        return OPTIONS_WRONG;
    }
    histogram_split(histogram, channels);
    return 0;
}

/* True if --bins may have to name the range that it has seen. Text is counted by the CPU, which
 * finds the least and the greatest number at little cost; for binary numbers the GPU would be lost,
 * and the bins that were counted will do. */
static bool needs_range(const struct draft *draft)
{
    const struct options *options = draft->options;
    return draft_has(draft, MODE_NUMBERS) && options->report.most_bins > 0 &&
           options->pool.device != DEVICE_GPU && !options->pool.strategy;
}

static int settle_binned(const struct draft *draft, struct reason *why)
{
    struct histogram *histogram = &draft->options->histogram;
    struct binning binning;
    int rc = bins_settle(draft, &binning, why);
    if (rc != 0)
        return rc;
    if (draft_has(draft, MODE_NUMBERS))
        histogram_numbers(histogram, &binning);
    else
        histogram_values(histogram, draft->type, &binning);
    histogram->has_moments = draft->options->report.stats || needs_range(draft);
    return settle_channels(draft, why);
}

/* Names those that were given if they are more than one. */
static int check_one_mode(const struct draft *draft, struct reason *why)
{
    char names[128] = "";
    unsigned given = 0;
    bool is_binned = false;
    for (unsigned mode = 0; mode < MODES; mode++)
        if (draft_has(draft, mode)) {
            size_t len = strlen(names);
            is_binned |= modes[mode]->is_binned;
            snprintf(names + len, sizeof names - len, "%s--%s", given++ ? ", " : "",
                     modes[mode]->name);
        }
    if (given < 2)
        return 0;
    reason_set(why, "%s: cannot be combined%s", names,
               is_binned ? "" : "; put --also between them");
    return OPTIONS_WRONG;
}

int mode_settle(const struct draft *draft, struct reason *why)
{
    struct histogram *histogram = &draft->options->histogram;
    struct field field;
    bool binned = draft_has(draft, MODE_VALUES) || draft_has(draft, MODE_NUMBERS);
    if (check_one_mode(draft, why) != 0)
        return OPTIONS_WRONG;
    if (draft->fold && !draft_has(draft, MODE_LETTERS))
        return option_wrong(why, "--fold-case: requires --letters");
    if (!binned &&
        (draft->bins || draft->min || draft->max || draft->edges || draft->log || draft->digits))
        return option_wrong(why, "--bins, --min, --max, --edges, --log, --digits: require "
                                 "--numbers or --values=TYPE");
    const struct report_options *report = &draft->options->report;
    if (format_table[report->format]->is_image && !draft_has(draft, MODE_PAIRS))
        return option_wrong(why, "--format=pgm: requires --pairs");
    if (draft_has(draft, MODE_CHARACTERS) && report->empty == EMPTY_SHOWN)
        return option_wrong(why, "--all: cannot be combined with --characters");
    if (draft->invalid && !draft_has(draft, MODE_NUMBERS))
        return option_wrong(why, "--invalid: requires --numbers");
    if (draft->quantiles && !binned)
        return option_wrong(why, "--quantiles: requires --numbers or --values=TYPE");
    if (draft->channels && !draft_has(draft, MODE_VALUES))
        return option_wrong(why, "--channels: requires --values=TYPE");
    bool is_of_one = report->stats || report->percent || format_table[report->format]->is_picture;
    if (draft->channels > 1 && is_of_one)
        return option_wrong(why, "--channels: cannot be combined with --stats, --quantiles, "
                                 "--percent or --plot");
    int rc = fields_settle(draft, &field, why);
    if (rc == 0 && binned)
        rc = settle_binned(draft, why);
    if (rc == 0)
        rc = report_settle(draft->options, why);
    histogram->field = field;
    if (rc != 0 || binned)
        return rc;
    if (draft_has(draft, MODE_LETTERS))
        histogram_letters(histogram, draft->width, draft->fold);
    else if (draft_has(draft, MODE_CHARACTERS))
        histogram_characters(histogram);
    else if (draft_has(draft, MODE_CATEGORIES))
        histogram_categories(histogram);
    else if (draft_has(draft, MODE_BLOCKS))
        histogram_blocks(histogram);
    else if (draft_has(draft, MODE_PAIRS))
        histogram_pairs(histogram, draft->aligned);
    else
        histogram_bytes(histogram);
    return 0;
}
