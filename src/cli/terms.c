/* SPDX-License-Identifier: MIT */
/* What drafts were given, by terms of the table of options, and the messages that name options as
 * they were typed. */
#include "cli.h"
#include "option.h"

#include <stdio.h>
#include <string.h>

int option_no_memory(struct error *error)
{
    error_set(error, "out of memory");
    return OPTIONS_FAILED;
}

int option_refuse_value(const char *option, const char *value, struct error *error)
{
    const struct error what = *error;
    return error_of_option(error, option, value, "%s", what.text);
}

const struct mode *option_mode(const struct option_row *row)
{
    for (unsigned mode = 0; mode < MODES; mode++)
        if (strcmp(modes[mode]->name, row->name) == 0)
            return modes[mode];
    return NULL;
}

const struct option_row *option_find(const struct option_table *table, const char *name, size_t len)
{
    for (size_t i = 0; i < table->count; i++)
        if (strncmp(table->rows[i].name, name, len) == 0 && table->rows[i].name[len] == '\0')
            return &table->rows[i];
    return NULL;
}

bool option_next_term(const struct option_table *table, const char **at, struct term *term)
{
    const char *text = *at;
    const size_t len = text ? strcspn(text, " |") : 0, name_len = len ? strcspn(text, " |=") : 0;
    if (len == 0)
        return false;
    *term = (struct term){.row = option_find(table, text, name_len)};
    if (name_len < len) {
        term->value = text + name_len + 1;
        term->value_len = len - name_len - 1;
    }
    *at = text + len + (text[len] == ' ' || text[len] == '|');
    return true;
}

static struct term read_term(const struct draft *draft, const char *text)
{
    struct term term;
    option_next_term(draft->table, &text, &term);
    return term;
}

const struct given *draft_given(const struct draft *draft, const struct option_row *row)
{
    return &draft->given[row - draft->table->rows];
}

bool draft_gave_term(const struct draft *draft, const struct term *term)
{
    const struct given *given = draft_given(draft, term->row);
    const char *at = term->row->replaces;
    struct term other;
    if (given->position == 0)
        return false;
    while (option_next_term(draft->table, &at, &other))
        if (draft_given(draft, other.row)->position > given->position)
            return false;
    if (!term->value || term->value_len == 0)
        return true;
    return given->value && strncmp(given->value, term->value, term->value_len) == 0 &&
           given->value[term->value_len] == '\0';
}

bool draft_gave(const struct draft *draft, const char *text)
{
    const struct term term = read_term(draft, text);
    return draft_gave_term(draft, &term);
}

static void show_typed(const struct draft *draft, const struct term *term, char *text)
{
    const struct given *given = draft_given(draft, term->row);
    const bool is_long = given->letter == '\0';
    char value[TYPED_SHOWN / 2] = "";
    if (term->value && given->value)
        show_text(given->value, strlen(given->value), value, sizeof value);
    const char *before = !*value                              ? ""
                         : is_long                            ? "="
                         : term->row->takes == VALUE_REQUIRED ? " "
                                                              : "";
    if (given->position == 0)
        snprintf(text, TYPED_SHOWN, "--%s", term->row->name);
    else if (is_long)
        snprintf(text, TYPED_SHOWN, "%.*s%s%s", (int)strcspn(given->word, "="), given->word, before,
                 value);
    else
        snprintf(text, TYPED_SHOWN, "-%c%s%s", given->letter, before, value);
}

void option_show_typed(const struct draft *draft, const char *text, char *shown)
{
    const struct term term = read_term(draft, text);
    show_typed(draft, &term, shown);
}

/* --- what cannot be combined, and what is needed --- */

/* True for a mode that can be counted in one pass with others of these. */
static bool is_plain_mode(const struct option_row *row)
{
    const struct mode *mode = option_mode(row);
    return mode && !mode->is_binned;
}

int option_refuse_pair(const struct draft *draft, const struct term *one, const struct term *other,
                       const char *hint, struct error *error)
{
    char first[TYPED_SHOWN], second[TYPED_SHOWN];
    const bool is_swapped =
        draft_given(draft, one->row)->position > draft_given(draft, other->row)->position;
    const bool are_modes = is_plain_mode(one->row) && is_plain_mode(other->row);
    show_typed(draft, is_swapped ? other : one, first);
    show_typed(draft, is_swapped ? one : other, second);
    return error_set(error, "%s and %s cannot be combined%s", first, second,
                     are_modes ? "; put --also between them" : hint);
}

int option_conflict(const struct draft *draft, const char *text, const char *terms,
                    const char *hint, struct error *error)
{
    const struct term one = read_term(draft, text);
    struct term other;
    while (draft_gave_term(draft, &one) && option_next_term(draft->table, &terms, &other))
        if (draft_gave_term(draft, &other))
            return option_refuse_pair(draft, &one, &other, hint, error);
    return 0;
}

int option_needs(const struct draft *draft, const char *text, const char *needs,
                 struct error *error)
{
    char shown[TYPED_SHOWN];
    option_show_typed(draft, text, shown);
    return error_set(error, "%s needs %s", shown, needs);
}
