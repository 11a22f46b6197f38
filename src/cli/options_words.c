/* SPDX-License-Identifier: MIT */
/* The "options" of a table in JSON: those that make the same samples and bins, so that tables can
 * be merged. They have one spelling and one order, whatever was typed, and are read again here. */
#include "cli.h"
#include "option.h"
#include "src/base/error.h"
#include "src/text/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- written --- */

/* Adds NAME and a text of the user's, unless that is NULL, as JSON can have it: other bytes, and
 * backslashes, become \xNN, so that no two texts look alike. unescape reverses it. */
static int add_text(struct words *words, const char *name, const char *text)
{
    if (!text)
        return 0;
    size_t capacity = SHOW_ESCAPE * strlen(text) + 16;
    char *shown = malloc(capacity), *end = shown;
    if (!shown)
        return -1;
    for (;; text++) {
        const size_t len = strcspn(text, "\\");
        end += show_text(text, len, end, capacity - (size_t)(end - shown));
        text += len;
        if (!*text)
            break;
        end = stpcpy(end, "\\x5c");
    }
    const int rc = words_format(words, "%s%s", name, shown);
    free(shown);
    return rc;
}

/* Adds an option without a value, if it was given. */
static int add_flag(const struct draft *draft, struct words *words, const char *name)
{
    return draft_gave(draft, name) ? words_format(words, "--%s", name) : 0;
}

/* Adds a separator as set_separator reads it. */
static int add_separator(struct words *words, unsigned char separator)
{
    if (separator == '\t')
        return words_format(words, "--separator=\\t");
    if (separator < ' ' || separator > '~')
        return words_format(words, "--separator=\\x%02x", separator);
    return words_format(words, "--separator=%c", separator);
}

/* Adds a condition as it may be typed; a text in quotes. */
static int add_condition(struct words *words, const struct condition *condition)
{
    const struct where_value *operand = &condition->operand;
    const char *quote = operand->kind == WHERE_TEXT ? "\"" : "";
    char text[FIELD_SIZE + WHERE_VALUE_MAX + 8];
    snprintf(text, sizeof text, "%s%s%s%.*s%s", condition->name,
             comparison_text(condition->comparison), quote, (int)operand->len, operand->text,
             quote);
    return add_text(words, "--where=", text);
}

static int add_field(const struct draft *draft, struct words *words)
{
    const struct line_filter *filter = &draft->options->spec.lines.filter;
    const bool is_comma = draft_gave(draft, "csv") && draft->separator == ',';
    int rc = 0;
    if (draft->field_number != 0)
        rc |= words_format(words, "--field=%" PRId32 "%s", draft->field_number,
                           draft->is_time || draft->list != LIST_NONE ? strchr(draft->field, ':')
                                                                      : "");
    else
        rc |= add_text(words, "--field=", draft->field);
    for (unsigned i = 0; i < draft->by_count; i++)
        rc |= add_text(words, "--by=", draft->by[i].text);
    if (draft_gave(draft, "separator") && !is_comma)
        rc |= add_separator(words, draft->separator);
    rc |= add_flag(draft, words, "csv") | add_flag(draft, words, "header-line");
    rc |= add_text(words, "--after=", draft->after) | add_text(words, "--line=", draft->line);
    rc |= add_text(words, "--weight=", draft->weight);
    for (size_t i = 0; i < filter->count; i++)
        rc |= add_text(words, filter->strings[i].is_unwanted ? "--lines-without=" : "--lines-with=",
                       filter->strings[i].text);
    for (size_t i = 0; i < filter->condition_count; i++)
        rc |= add_condition(words, &filter->conditions[i]);
    rc |= add_flag(draft, words, "units");
    if (draft->has_comma)
        rc |= words_format(words, "--decimal=,");
    if (draft->options->pool.invalid == INVALID_SKIP)
        rc |= words_format(words, "--invalid=skip");
    return rc;
}

/* Adds NAME and a bound, which bins_finish has read. */
static int add_bound(const struct draft *draft, struct words *words, const char *name,
                     const char *text)
{
    char shown[SHOW_NUMBER];
    option_show_number(draft, text, shown);
    return words_format(words, "%s%s", name, shown);
}

static int add_edges(const struct binning *binning, struct words *words)
{
    char *text = malloc(sizeof "--edges=" + (binning->bins + 1) * SHOW_NUMBER);
    int rc = -1;
    if (text) {
        char *end = stpcpy(text, "--edges=");
        for (size_t k = 0; k <= binning->bins; k++, end += strlen(end)) {
            if (k > 0)
                *end++ = ',';
            binning_show_edge(binning, k, end);
        }
        rc = words_add(words, text, (size_t)(end - text));
    }
    free(text);
    return rc;
}

static int add_base(struct words *words, const char *text)
{
    struct decimal base;
    char digits[DECIMAL_DIGITS + 2];
    if (strchr(text, ':'))
        return words_format(words, "--log=%s", text);
    parse_decimal(&text, &base);
    snprintf(digits, sizeof digits, "%0*" PRIu64, (int)base.places + 1, base.digits);
    const size_t whole_digits = strlen(digits) - base.places;
    return words_format(words, "--log=%.*s%s%s", (int)whole_digits, digits, base.places ? "." : "",
                        digits + whole_digits);
}

static int add_bins(const struct draft *draft, struct words *words)
{
    const struct binning *binning = &draft->options->spec.binning;
    int rc = add_flag(draft, words, "right");
    if (draft->edges)
        return rc | add_edges(binning, words);
    if (draft->log && !draft->min)
        return draft->log_alone ? words_format(words, "--log") : add_base(words, draft->log);
    if (binning->kind == BINNING_DIGITS)
        rc |= words_format(words, "--digits=%" PRIu32, binning->digits.digits);
    if (draft->bins)
        rc |= words_format(words, "--bins=%u", draft->bins);
    if (draft->log)
        rc |= add_base(words, draft->log);
    if (draft->min)
        rc |= add_bound(draft, words, "--min=", draft->min) |
              add_bound(draft, words, "--max=", draft->max);
    return rc;
}

static int add_mode(const struct draft *draft, struct words *words)
{
    const struct mode *mode = draft->options->spec.mode;
    int rc = 0;
    if (mode != &mode_lines) /* which --by alone means */
        rc |= words_format(words, "--%s%s%s", mode->name, *draft->which ? "=" : "", draft->which);
    rc |= add_flag(draft, words, "fold-case");
    if (mode->is_text)
        rc |= add_field(draft, words);
    if (draft->channels > 1)
        rc |= words_format(words, "--channels=%u", draft->channels);
    return mode->is_binned ? rc | add_bins(draft, words) : rc;
}

static int add_input(const struct draft *draft, struct words *words)
{
    const struct input_options *input = &draft->options->input;
    int rc = 0;
    if (input->is_as_stored)
        rc |= words_format(words, "--decompress=none");
    if (draft_gave(draft, "skip"))
        rc |= words_format(words, "--skip=%" PRIu64, input->content.skip);
    if (input->content.has_length)
        rc |= words_format(words, "--length=%" PRIu64, input->content.length);
    return rc;
}

int words_finish(const struct draft *draft, struct error *error)
{
    struct words *words = &draft->options->words;
    if ((add_mode(draft, words) | add_input(draft, words)) == 0) {
        draft->options->report.words = words;
        return 0;
    }
    words_free(words);
    return option_no_memory(error);
}

/* --- read --- */

static const char not_written[] = "\"options\" are not what gpuhisto writes";

/* Returns the row of an option of a table, "--NAME" or "--NAME=VALUE", and sets *value to where the
 * value begins, or to NULL. NULL: no table has such an option. */
static const struct option_row *find_word(char *word, char **value)
{
    const size_t len = strcspn(word, "=");
    const struct option_row *row =
        strncmp(word, "--", 2) == 0 ? option_find(word + 2, len - 2) : NULL;
    *value = word[len] ? word + len + 1 : NULL;
    return row && row->group <= GROUP_INPUT ? row : NULL;
}

int options_sort(const struct words *words, struct table_words *sorted, struct error *error)
{
    bool has_keys = false; /* which mean what all options say of them */
    *sorted = (struct table_words){.bins.list = NULL};
    for (size_t i = 0; i < words->count; i++)
        has_keys |= strncmp(words->list[i], "--by=", strlen("--by=")) == 0;
    for (size_t i = 0; i < words->count; i++) {
        char *word = words->list[i], *value;
        const struct option_row *row = find_word(word, &value);
        const bool is_of_bins = row && (has_keys || row->group <= GROUP_BINS);
        if (row &&
            words_add(is_of_bins ? &sorted->bins : &sorted->sources, word, strlen(word)) == 0)
            continue;
        error_set(error, "%s", row ? "out of memory" : not_written);
        table_words_free(sorted);
        return -1;
    }
    return 0;
}

/* Turns a value of add_text back, in place, into what was typed: \xNN are bytes. */
static void unescape(char *value)
{
    char *to = value;
    for (const char *at = value; *at; at++) {
        const bool is_escape = at[0] == '\\' && at[1] == 'x';
        const unsigned high = is_escape ? show_digit(at[2]) : 16;
        const unsigned low = high < 16 ? show_digit(at[3]) : 16;
        *to++ = low < 16 ? (char)(high << 4 | low) : *at;
        at += low < 16 ? 3 : 0;
    }
    *to = '\0';
}

/* Has each word set what its option sets. */
static int set_words(const struct words *typed, struct draft *draft, struct error *error)
{
    for (size_t i = 0; i < typed->count; i++) {
        char *value;
        const struct option_row *row = find_word(typed->list[i], &value);
        if (!row || (value ? row->takes == VALUE_NONE : row->takes == VALUE_REQUIRED))
            return error_set(error, not_written);
        if (row->is_text)
            unescape(value);
        draft->given[row - option_rows] =
            (struct given){.position = (unsigned)i + 1, .word = typed->list[i], .value = value};
        const int rc = option_set(row, draft, value, error);
        if (rc != 0)
            return rc;
    }
    return drafts_finish(draft, 1, error);
}

/* Reads words to options, which refer to *typed. 0, or -1 with an error and nothing to free. */
static int read_words(const struct words *words, struct words *typed, struct options *options,
                      struct error *error)
{
    struct draft *draft = calloc(1, sizeof *draft);
    if (!draft || words_copy(typed, words) != 0) {
        free(draft);
        return error_set(error, "out of memory");
    }
    draft_begin(draft, options);
    const int rc = set_words(typed, draft, error);
    free(draft);
    if (rc != 0)
        words_free(typed);
    return rc == 0 ? 0 : -1;
}

/* Gives a histogram the bins that its tables show, if these are not the bins that are counted. 0,
 * or -1 with an error and nothing to free. */
static int build_shown(struct histogram_spec *spec, const struct report_options *report,
                       struct error *error)
{
    const unsigned channels = histogram_spec_channels(spec);
    if (report->bins.log_parts == 0)
        return 0;
    binning_free(&spec->binning);
    if (binning_decades(&spec->binning, report->bins.log_parts) != BINNING_OK)
        return error_set(error, "out of memory");
    spec->bins = ROWS(&spec->binning) * channels;
    return 0;
}

int options_build_keys(const struct words *words, struct options *options, struct error *error)
{
    struct words typed = {.list = NULL};
    struct options read;
    if (read_words(words, &typed, &read, error) != 0)
        return -1;
    for (unsigned i = 0; i < read.spec.lines.key_count; i++)
        options->spec.lines.keys[i].field.number = read.spec.lines.keys[i].field.number;
    memcpy(options->by_fields, read.by_fields, sizeof options->by_fields);
    words_free(&typed);
    options_free(&read);
    return 0;
}

int options_build(const struct words *words, struct histogram_spec *spec, struct error *error)
{
    struct words typed = {.list = NULL};
    struct options options;
    if (read_words(words, &typed, &options, error) != 0)
        return -1;
    const bool is_written = words_same(words, &options.words);
    words_free(&typed); /* the options refer to it */
    if (is_written && options.report.bins.max == 0) {
        *spec = options.spec;
        /* It refers to what is freed, and only counting needs it. */
        spec->lines.field = (struct field){.kind = FIELD_NONE};
        for (unsigned i = 0; i < KEY_FIELDS_MAX; i++)
            spec->lines.keys[i].field = (struct field){.kind = FIELD_NONE};
        spec->lines.filter = (struct line_filter){.count = 0};
        words_free(&options.words);
        return build_shown(spec, &options.report, error);
    }
    error_set(error, "%s",
              is_written
                  ? "was counted with --bins but without --min and --max, so its bins fit only "
                    "its own numbers; count without --bins, and give --bins to --merge"
                  : not_written);
    options_free(&options);
    return -1;
}
