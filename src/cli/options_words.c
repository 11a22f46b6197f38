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
    rc |= add_flag(draft, words, "csv");
    rc |= add_flag(draft, words, "header-line");
    rc |= add_text(words, "--after=", draft->after);
    rc |= add_text(words, "--line=", draft->line);
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

static int add_base(const struct draft *draft, struct words *words)
{
    const unsigned places = draft->base.places;
    char digits[DECIMAL_DIGITS + 2];
    if (!draft->has_base)
        return words_format(words, "--log=%s", draft->log);
    snprintf(digits, sizeof digits, "%0*" PRIu64, (int)places + 1, draft->base.digits);
    const size_t whole_digits = strlen(digits) - places;
    return words_format(words, "--log=%.*s%s%s", (int)whole_digits, digits, places ? "." : "",
                        digits + whole_digits);
}

static int add_bins(const struct draft *draft, struct words *words)
{
    const struct binning *binning = &draft->options->spec.binning;
    int rc = add_flag(draft, words, "right");
    if (draft->edges)
        return rc | add_edges(binning, words);
    if (draft->log && !draft->min)
        return draft->log_alone ? words_format(words, "--log") : add_base(draft, words);
    if (binning->kind == BINNING_DIGITS)
        rc |= words_format(words, "--digits=%" PRIu32, binning->digits.digits);
    if (draft->bins)
        rc |= words_format(words, "--bins=%u", draft->bins);
    if (draft->log)
        rc |= add_base(draft, words);
    if (draft->min)
        rc |= words_format(words, "--min=%s", draft->bounds[0]) |
              words_format(words, "--max=%s", draft->bounds[1]);
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
    if (add_mode(draft, words) == 0 && add_input(draft, words) == 0) {
        draft->options->report.words = words;
        return 0;
    }
    words_free(words);
    return option_no_memory(error);
}
