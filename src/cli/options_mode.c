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

/* Records that the option of a mode was given. Returns 0, as handlers do. */
static int record_mode(struct draft *draft, enum mode_id mode)
{
    draft->modes |= 1U << mode;
    return 0;
}

OPTION_FLAG(option_bytes, record_mode(draft, MODE_BYTES))

int option_letters(struct draft *draft, const char *value, struct reason *why)
{
    record_mode(draft, MODE_LETTERS);
    draft->width = WIDTH_DEFAULT;
    return value ? parse_count("--letters", value, LETTERS, &draft->width, why) : 0;
}

OPTION_FLAG(option_fold_case, draft->fold = true)
OPTION_FLAG(option_characters, record_mode(draft, MODE_CHARACTERS))
OPTION_FLAG(option_categories, record_mode(draft, MODE_CATEGORIES))
OPTION_FLAG(option_blocks, record_mode(draft, MODE_BLOCKS))

int option_pairs(struct draft *draft, const char *value, struct reason *why)
{
    draft->aligned = value != NULL;
    if (!value || strcmp(value, "aligned") == 0)
        return record_mode(draft, MODE_PAIRS);
    reason_of_option(why, "--pairs", value, "must be aligned, or left out");
    return OPTIONS_WRONG;
}

OPTION_FLAG(option_numbers, record_mode(draft, MODE_NUMBERS))

int option_values(struct draft *draft, const char *value, struct reason *why)
{
    char types[128];
    draft->type = value ? value_type_find(value) : NULL;
    if (draft->type || !value)
        return record_mode(draft, MODE_VALUES);
    value_types_show(types, sizeof types);
    reason_of_option(why, "--values", value, "must be %s; append be for big-endian", types);
    return OPTIONS_WRONG;
}

int option_channels(struct draft *draft, const char *value, struct reason *why)
{
    return parse_count("--channels", value, CHANNELS_MAX, &draft->channels, why);
}

/* Splits the histogram by channels, unless there would be too many rows. */
static int finish_channels(const struct draft *draft, struct reason *why)
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

/* True if --bins may have to name the range that it has seen. The CPU, which counts text, finds the
 * least and the greatest number at little cost; for binary numbers the GPU could not be used, and
 * the edges of bins are good enough. */
static bool needs_range(const struct draft *draft)
{
    const struct options *options = draft->options;
    return draft_has(draft, MODE_NUMBERS) && options->report.bins.most > 0 &&
           options->pool.device != DEVICE_GPU && !options->pool.strategy;
}

static int finish_binned(const struct draft *draft, struct reason *why)
{
    struct histogram *histogram = &draft->options->histogram;
    struct binning binning;
    int rc = bins_finish(draft, &binning, why);
    if (rc != 0)
        return rc;
    if (draft_has(draft, MODE_NUMBERS))
        histogram_numbers(histogram, &binning);
    else
        histogram_values(histogram, draft->type, &binning);
    histogram->has_moments = draft->options->report.stats || needs_range(draft);
    return finish_channels(draft, why);
}

int mode_finish(const struct draft *draft, struct reason *why)
{
    struct histogram *histogram = &draft->options->histogram;
    const struct format *format = draft->options->report.format;
    struct field field = {.kind = FIELD_NONE};
    char needed[32];
    bool binned = draft_has(draft, MODE_VALUES) || draft_has(draft, MODE_NUMBERS);
    int rc = 0;
    if (format->mode && !draft_has(draft, format->mode->id)) {
        snprintf(needed, sizeof needed, "--%s", format->mode->name);
        return option_needs(draft, "format=", needed, why);
    }
    if (draft->channels > 1 && !format->is_picture)
        rc = option_conflict(draft, "channels", "percent", "; use --plot", why);
    if (rc == 0)
        rc = fields_finish(draft, &field, why);
    if (rc == 0 && binned)
        rc = finish_binned(draft, why);
    if (rc == 0)
        rc = report_finish(draft, why);
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
