/* SPDX-License-Identifier: MIT */
/* The mode of a histogram and its rows: --letters, --pairs, --values, --channels; and the bins of
 * numbers and values: --bins, --min, --max, --edges, --log, --digits, --right. */
#include "cli.h"
#include "option.h"
#include "src/base/error.h"
#include "src/text/number.h"
#include "src/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_DEFAULT 4
#define CHANNEL_ROWS_MAX ((unsigned)1 << 25) /* of all channels together: 256 MiB of counts */

int set_letters(struct draft *draft, const char *value, struct error *error)
{
    draft->width = WIDTH_DEFAULT;
    const int rc = value ? parse_count(value, LETTERS, &draft->width, error) : 0;
    snprintf(draft->which, sizeof draft->which, "%u", draft->width);
    return rc;
}

int set_pairs(struct draft *draft, const char *value, struct error *error)
{
    static const char aligned[] = "aligned";
    strcpy(draft->which, value ? aligned : "");
    if (!value || strcmp(value, aligned) == 0)
        return 0;
    return error_set(error, "must be aligned, or left out");
}

int set_values(struct draft *draft, const char *value, struct error *error)
{
    char types[128];
    draft->type = value ? value_type_find(value) : NULL;
    snprintf(draft->which, sizeof draft->which, "%s", draft->type ? draft->type->name : "");
    if (draft->type || !value)
        return 0;
    value_types_show(types, sizeof types);
    return error_set(error, "must be %s; append be for big-endian", types);
}

int set_log(struct draft *draft, const char *value, struct error *error)
{
    const char *at = value ? value : "10";
    draft->log = at;
    draft->log_alone = !value;
    draft->has_base = parse_decimal(&at, &draft->base) && !*at;
    if (!strchr(draft->log, ':') || strcmp(value, "2:32") == 0)
        return 0;
    return error_set(error, "must be 2:32 or a single number");
}

/* --- at the end: numbers are whole or doubles, and only the mode tells which --- */

static bool is_whole(const struct draft *draft)
{
    return !draft->mode->is_text && draft->type->kind != 'f';
}

/* Says why bins between --min and --max cannot be built. */
static int refuse_range(const struct draft *draft, enum binning_error code, struct error *error)
{
    char min[64];
    show_text(draft->min, strlen(draft->min), min, sizeof min);
    switch (code) {
    case BINNING_OK:
        return 0;
    case BINNING_NO_MEMORY:
        return option_no_memory(error);
    case BINNING_NOT_ASCENDING:
        return error_of_option(error, "--max", draft->max, "must be greater than --min=%s", min);
    case BINNING_TOO_WIDE:
        return error_of_option(error, "--max", draft->max,
                               "the range from --min=%s is too large for a double", min);
    case BINNING_TOO_NARROW:
        return error_set(error, "--bins=%u: the bins would be too narrow for doubles", draft->bins);
    case BINNING_NOT_POSITIVE:
        return error_of_option(error, "--min", draft->min, "must be greater than 0 with --log");
    case BINNING_TOO_LARGE:
        return error_of_option(error, "--max", draft->max,
                               "the power of --log=%s that covers it is too large for a double",
                               draft->log);
    default: /* BINNING_BAD_BASE */
        return error_of_option(error, "--log", draft->log,
                               "must be a number from 1.0001 to 1000000 of at most %d digits",
                               DECIMAL_DIGITS);
    }
}

/* --min or --max, of which one member is used. */
struct bound {
    int128 number;
    double value;
};

/* Reads a bound, and shows it. */
static int parse_bound(const struct draft *draft, const char *option, const char *text,
                       struct bound *bound, char shown[SHOW_NUMBER], struct error *error)
{
    const char *at = text;
    *bound = (struct bound){.value = 0};
    if ((is_whole(draft) ? parse_whole(&at, &bound->number) : parse_double(&at, &bound->value)) &&
        !*at) {
        bound->value += 0.0; /* not -0, which edges would show */
        if (is_whole(draft))
            show_whole(bound->number, shown);
        else
            show_double(bound->value, shown);
        return 0;
    }
    return error_of_option(error, option, text, "must be a %s",
                           is_whole(draft) ? "whole number of at most 64 bits" : "number");
}

/* Builds equal bins, or powers, between --min and --max. */
static int finish_range(struct draft *draft, struct binning *binning, struct error *error)
{
    struct bound min, max;
    enum binning_error code;
    if (parse_bound(draft, "--min", draft->min, &min, draft->bounds[0], error) != 0 ||
        parse_bound(draft, "--max", draft->max, &max, draft->bounds[1], error) != 0)
        return OPTIONS_WRONG;
    if (draft->log && !draft->has_base)
        return refuse_range(draft, BINNING_BAD_BASE, error);
    if (draft->log)
        code = is_whole(draft) ? binning_log_whole(binning, min.number, max.number, draft->base)
                               : binning_log(binning, min.value, max.value, draft->base);
    else
        code = is_whole(draft) ? binning_equal_whole(binning, min.number, max.number, draft->bins)
                               : binning_equal(binning, min.value, max.value, draft->bins);
    return refuse_range(draft, code, error);
}

/* Reads the list into one of the two arrays, which has room. False if it is wrong. */
static bool read_edges(const struct draft *draft, int128 *numbers, double *values, size_t *count)
{
    const char *at = draft->edges;
    for (*count = 0;; at++) {
        if (!(numbers ? parse_whole(&at, &numbers[*count]) : parse_double(&at, &values[*count])))
            return false;
        ++*count;
        if (*at != ',')
            return !*at;
    }
}

static int finish_edges(const struct draft *draft, struct binning *binning, struct error *error)
{
    size_t capacity = strlen(draft->edges) / 2 + 1, count;
    int128 *numbers = is_whole(draft) ? calloc(capacity, sizeof *numbers) : NULL;
    double *values = is_whole(draft) ? NULL : calloc(capacity, sizeof *values);
    int rc = OPTIONS_WRONG;
    enum binning_error code = BINNING_NO_MEMORY;
    if (!numbers && !values)
        return option_no_memory(error);
    if (!read_edges(draft, numbers, values, &count)) {
        error_of_option(error, "--edges", draft->edges, "must be %s, separated by commas",
                        numbers ? "whole numbers of at most 64 bits" : "numbers");
        goto end;
    }
    code = numbers ? binning_edges_whole(binning, numbers, count)
                   : binning_edges(binning, values, count);
    if (code == BINNING_OK)
        rc = 0;
    else if (code == BINNING_NO_MEMORY)
        rc = option_no_memory(error);
    else if (code == BINNING_TOO_FEW)
        error_of_option(error, "--edges", draft->edges, "must be at least two numbers");
    else
        error_of_option(error, "--edges", draft->edges, "must be in ascending order");
end:
    free(numbers);
    free(values);
    return rc;
}

/* Bins that need no range: of decimal digits. Fewer, equal ones can be built over them once the
 * values have been counted. */
static int finish_digits(const struct draft *draft, struct binning *binning, struct error *error)
{
    const bool singles = !draft->mode->is_text && draft->type->size == 4;
    const unsigned digits = draft->digits ? draft->digits : DIGITS_DEFAULT;
    const bool has_heat = draft->by_count > 0 && draft->options->report.format->heat;
    if (draft->bins && !has_heat && (draft->options->each || draft->by_count > 0))
        return option_needs(draft, "bins",
                            draft->by_count > 0 ? "--min and --max with --by"
                                                : "--min and --max with --each",
                            error);
    draft->options->report.bins.max = draft->bins;
    draft->options->report.bins.keep = draft->digits > 0;
    return binning_digits(binning, digits, singles) == BINNING_OK ? 0 : option_no_memory(error);
}

/* --log without a range: of whole types, bins of all that they can be. For others decades are built
 * over bins of decimal digits once the values have been counted, so that quantiles are as good as
 * without. */
static int finish_decades(const struct draft *draft, struct binning *binning, struct error *error)
{
    const unsigned parts = draft->log_alone ? DECADE_PARTS : 1;
    if (!draft->has_base || draft->base.digits != 10 || draft->base.places != 0)
        return option_needs(draft, "log=",
                            "--min and --max; without these, use --log for edges at 1, 2 and 5 "
                            "times powers of ten, or --log=10",
                            error);
    if (!is_whole(draft)) {
        draft->options->report.bins.log_parts = parts;
        return finish_digits(draft, binning, error);
    }
    const unsigned bits = 8 * (unsigned)draft->type->size;
    return binning_decades_whole(binning, parts, bits, draft->type->kind == 'i') == BINNING_OK
               ? 0
               : option_no_memory(error);
}

/* Whole values without a range: each is its own bin, or they have bins of decimal digits. Those are
 * the default if only statistics are printed, so that these need no other option. */
static int finish_own(const struct draft *draft, struct binning *binning, struct error *error)
{
    const struct report_options *report = &draft->options->report;
    const bool is_statistics = report->stats && !report->format->is_picture;
    const bool is_small = draft->type->size <= 2;
    const size_t values = is_small ? (size_t)1 << 8 * draft->type->size : 0;
    const int128 first = draft->type->kind == 'i' ? -(int128)(values / 2) : 0;
    if (draft->digits && option_conflict(draft, "digits", "bins", " for integers", error) != 0)
        return OPTIONS_WRONG;
    draft->options->report.bins.own = draft->bins;
    if (draft->bins)
        binning_own(binning, draft->bins);
    else if (draft->digits)
        binning_digits_whole(binning, draft->digits);
    else if (is_small)
        binning_equal_whole(binning, first, first + (int128)values, values);
    else if (is_statistics)
        binning_digits_whole(binning, DIGITS_DEFAULT);
    else
        return option_needs(draft, "values=", "--bins, --digits, --edges or --log", error);
    return 0;
}

static int build_bins(struct draft *draft, struct binning *binning, struct error *error)
{
    if (draft->edges)
        return finish_edges(draft, binning, error);
    if (draft->log && strchr(draft->log, ':')) { /* powers of two in equal parts */
        if (is_whole(draft))
            return option_needs(draft, "log=", "--numbers, --values=f32 or --values=f64", error);
        binning_log_linear(binning);
        return 0;
    }
    if (draft->min)
        return finish_range(draft, binning, error);
    if (draft->log)
        return finish_decades(draft, binning, error);
    return is_whole(draft) ? finish_own(draft, binning, error)
                           : finish_digits(draft, binning, error);
}

/* --- the mode --- */

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

static int finish_binned(struct draft *draft, struct error *error)
{
    struct binning binning;
    const struct report_options *report = &draft->options->report;
    const bool is_cumulative = report->format->is_cumulative;
    const bool is_right = draft_gave(draft, "right") || is_cumulative;
    const int rc = build_bins(draft, &binning, error);
    if (rc != 0)
        return rc;
    if ((is_cumulative && binning_use_decimals(&binning) != BINNING_OK) ||
        (is_right && binning_include_upper(&binning) != BINNING_OK)) {
        binning_free(&binning);
        return option_no_memory(error);
    }
    build(draft, &binning);
    draft->options->spec.has_moments = report->stats || report->format->is_cumulative ||
                                       group_order_needs_moments(&report->order) ||
                                       needs_range(draft);
    return finish_channels(draft, error);
}

int mode_finish(struct draft *draft, struct error *error)
{
    const struct format *format = draft->options->report.format;
    const struct mode *mode = draft->mode;
    struct line_spec lines = {.key_count = 0};
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
        rc = lines_finish(draft, &lines, error);
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
