/* SPDX-License-Identifier: MIT */
/* The modes, --fold-case and --channels. */
#include "option.h"
#include "parse.h"
#include "src/report/report.h"

#include <stdio.h>
#include <string.h>

#define WIDTH_DEFAULT 4
#define CHANNEL_ROWS_MAX ((unsigned)1 << 25) /* of all channels together: 256 MiB of counts */

int option_letters(struct draft *draft, const char *value, struct error *error)
{
    draft->width = WIDTH_DEFAULT;
    const int rc = value ? parse_count("--letters", value, LETTERS, &draft->width, error) : 0;
    snprintf(draft->which, sizeof draft->which, "%u", draft->width);
    return rc;
}

int option_pairs(struct draft *draft, const char *value, struct error *error)
{
    static const char aligned[] = "aligned";
    strcpy(draft->which, value ? aligned : "");
    if (!value || strcmp(value, aligned) == 0)
        return 0;
    return error_of_option(error, "--pairs", value, "must be aligned, or left out");
}

int option_values(struct draft *draft, const char *value, struct error *error)
{
    char types[128];
    draft->type = value ? value_type_find(value) : NULL;
    snprintf(draft->which, sizeof draft->which, "%s", draft->type ? draft->type->name : "");
    if (draft->type || !value)
        return 0;
    value_types_show(types, sizeof types);
    return error_of_option(error, "--values", value, "must be %s; append be for big-endian", types);
}

int option_channels(struct draft *draft, const char *value, struct error *error)
{
    return parse_count("--channels", value, CHANNELS_MAX, &draft->channels, error);
}

/* Splits the histogram by channels, unless there would be too many rows. */
static int finish_channels(const struct draft *draft, struct error *error)
{
    struct histogram_spec *spec = &draft->options->spec;
    unsigned channels = draft->channels;
    if (channels == 0)
        return 0;
    if (spec->bins > CHANNEL_ROWS_MAX / channels)
        return error_set(error, "--channels=%u: more than %u bins in all; use fewer --bins",
                         channels, CHANNEL_ROWS_MAX);
    histogram_spec_split(spec, channels);
    return 0;
}

/* True if --bins may have to name the range that it has seen. The CPU, which counts text, finds the
 * least and the greatest number at little cost; for binary numbers the GPU could not be used, and
 * the edges of bins are good enough. */
static bool needs_range(const struct draft *draft)
{
    const struct options *options = draft->options;
    return draft->mode->is_text && options->report.bins.max > 0 &&
           options->pool.device != DEVICE_GPU && !options->pool.strategy;
}

/* Builds the rows of the mode. `binning` is of modes that have one. */
static void build(const struct draft *draft, const struct binning *binning)
{
    struct histogram_spec *spec = &draft->options->spec;
    switch (draft->mode->id) {
    case MODE_BYTES:
        histogram_spec_bytes(spec);
        break;
    case MODE_LETTERS:
        histogram_spec_letters(spec, draft->width, draft_gave(draft, "fold-case"));
        break;
    case MODE_VALUES:
        histogram_spec_values(spec, draft->type, binning);
        break;
    case MODE_NUMBERS:
        histogram_spec_numbers(spec, binning);
        break;
    case MODE_CHARACTERS:
        histogram_spec_characters(spec);
        break;
    case MODE_CATEGORIES:
        histogram_spec_categories(spec);
        break;
    case MODE_BLOCKS:
        histogram_spec_blocks(spec);
        break;
    case MODE_PAIRS:
        histogram_spec_pairs(spec, *draft->which);
        break;
    case MODE_LINES:
        histogram_spec_lines(spec);
        break;
    case MODES:
        break;
    }
}

static int finish_binned(const struct draft *draft, struct error *error)
{
    struct binning binning;
    int rc = bins_finish(draft, &binning, error);
    if (rc != 0)
        return rc;
    build(draft, &binning);
    const struct report_options *report = &draft->options->report;
    draft->options->spec.has_moments = report->stats || report->format->is_cumulative ||
                                       group_order_needs_moments(&report->order) ||
                                       needs_range(draft);
    return finish_channels(draft, error);
}

int mode_finish(const struct draft *draft, struct error *error)
{
    const struct format *format = draft->options->report.format;
    const struct mode *mode = draft->mode;
    struct line_spec lines = {
        .key_count = draft->by_count, .has_weight = draft->weight != NULL, .filter = draft->filter};
    char needed[64];
    int rc = 0;
    const bool has_heat = draft->by_count > 0 && mode->is_binned && format->heat;
    if (format->mode && format->mode != mode && !has_heat) {
        snprintf(needed, sizeof needed, "--%s%s", format->mode->name,
                 format->heat ? ", or --by with --field or --after" : "");
        return option_needs(draft, "format=", needed, error);
    }
    if (format->is_cumulative && (!mode->is_binned || (!draft->edges && !draft->min)))
        return option_needs(draft, "format=",
                            "--numbers or --values with --edges, or with --bins or --log and "
                            "--min and --max",
                            error);
    if (draft->channels > 1 && !format->is_picture)
        rc = option_conflict(draft, "channels", "percent", "; use --plot", error);
    if (rc == 0)
        rc = line_finish(draft, error);
    if (rc == 0)
        rc = fields_finish(draft, &lines.field, error);
    if (rc == 0)
        rc = keys_finish(draft, lines.keys, error);
    if (rc == 0 && mode->is_binned)
        rc = finish_binned(draft, error);
    if (rc == 0)
        rc = report_finish(draft, error);
    if (rc == 0 && !mode->is_binned)
        build(draft, NULL);
    if (mode == &mode_lines)
        lines.field = lines.keys[0].field;
    draft->options->spec.lines = lines;
    return rc == 0 ? where_finish(draft, error) : rc;
}
