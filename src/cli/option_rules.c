/* SPDX-License-Identifier: MIT */
/* Checks the columns of options.def: which options need others, and which cannot be combined.
 * Messages name options as they were typed. */
#include "option.h"
#include "parse.h"
#include "src/base/error.h"
#include "src/tally/histogram_spec.h"

#include <stdio.h>
#include <string.h>

#define NEEDS_SHOWN 256

/* A word of a column: NAME, NAME= or NAME=VALUE. */
struct term {
    const struct option_row *row;
    const char *value; /* what follows the '='; NULL: there is none */
    size_t value_len;
};

int option_no_memory(struct error *error)
{
    error_set(error, "out of memory");
    return OPTIONS_FAILED;
}

/* Reads the first term at *at and moves on to the next, beyond what separates them. False: there is
 * none. */
static bool next_term(const char **at, struct term *term)
{
    const char *text = *at;
    const size_t len = text ? strcspn(text, " |") : 0, name_len = len ? strcspn(text, " |=") : 0;
    if (len == 0)
        return false;
    *term = (struct term){.row = NULL};
    for (size_t i = 0; i < option_count && !term->row; i++)
        if (strncmp(option_rows[i].name, text, name_len) == 0 &&
            option_rows[i].name[name_len] == '\0')
            term->row = &option_rows[i];
    if (name_len < len) {
        term->value = text + name_len + 1;
        term->value_len = len - name_len - 1;
    }
    *at = text + len + (text[len] == ' ' || text[len] == '|');
    return true;
}

static struct term read_term(const char *text)
{
    struct term term;
    next_term(&text, &term);
    return term;
}

static const struct given *find_given(const struct draft *draft, const struct option_row *row)
{
    return &draft->given[row - option_rows];
}

static bool is_given(const struct draft *draft, const struct term *term)
{
    const struct given *given = find_given(draft, term->row);
    const char *at = term->row->replaces;
    struct term other;
    if (given->position == 0)
        return false;
    while (next_term(&at, &other))
        if (find_given(draft, other.row)->position > given->position)
            return false;
    if (!term->value || term->value_len == 0)
        return true;
    return given->value && strncmp(given->value, term->value, term->value_len) == 0 &&
           given->value[term->value_len] == '\0';
}

bool draft_gave(const struct draft *draft, const char *text)
{
    const struct term term = read_term(text);
    return is_given(draft, &term);
}

int option_word(const char *text, const char *value, struct error *error)
{
    const struct option_row *row = read_term(text).row;
    char name[TYPED_SHOWN];
    snprintf(name, sizeof name, "--%s", row->name);
    return parse_word(name, value, row->words, error);
}

bool option_by_letter(const struct draft *draft, const char *text)
{
    const struct term term = read_term(text);
    return find_given(draft, term.row)->letter != '\0';
}

static void show_typed(const struct draft *draft, const struct term *term, char *text)
{
    const struct given *given = find_given(draft, term->row);
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
    const struct term term = read_term(text);
    show_typed(draft, &term, shown);
}

/* --- what cannot be combined --- */

const struct mode *option_mode(const struct option_row *row)
{
    for (unsigned mode = 0; mode < MODES; mode++)
        if (strcmp(modes[mode]->name, row->name) == 0)
            return modes[mode];
    return NULL;
}

/* True for a mode that can be counted in one pass with others of these. */
static bool is_plain_mode(const struct option_row *row)
{
    const struct mode *mode = option_mode(row);
    return mode && !mode->is_binned;
}

/* Refuses two options, and names them in the order in which they were typed. */
static int refuse_pair(const struct draft *draft, const struct term *one, const struct term *other,
                       const char *hint, struct error *error)
{
    char first[TYPED_SHOWN], second[TYPED_SHOWN];
    const bool is_swapped =
        find_given(draft, one->row)->position > find_given(draft, other->row)->position;
    const bool are_modes = is_plain_mode(one->row) && is_plain_mode(other->row);
    show_typed(draft, is_swapped ? other : one, first);
    show_typed(draft, is_swapped ? one : other, second);
    return error_set(error, "%s and %s cannot be combined%s", first, second,
                     are_modes ? "; put --also between them" : hint);
}

int option_conflict(const struct draft *draft, const char *text, const char *terms,
                    const char *hint, struct error *error)
{
    const struct term one = read_term(text);
    struct term other;
    while (is_given(draft, &one) && next_term(&terms, &other))
        if (is_given(draft, &other))
            return refuse_pair(draft, &one, &other, hint, error);
    return 0;
}

static bool is_listed(const char *terms, const struct option_row *row)
{
    struct term term;
    while (next_term(&terms, &term))
        if (term.row == row)
            return true;
    return false;
}

/* Refuses another mode, of a row below, besides the mode of a row that was given. */
static int check_modes(const struct draft *draft, const struct option_row *row, struct error *error)
{
    const struct term one = {.row = row};
    struct term other = {.row = row + 1};
    for (; option_mode(row) && other.row < option_rows + option_count; other.row++)
        if (option_mode(other.row) && is_given(draft, &other))
            return refuse_pair(draft, &one, &other, "", error);
    return 0;
}

/* Checks the columns `conflicts`, `instead` and `only_with` of an option that was given. */
static int check_conflicts(const struct draft *draft, const struct option_row *row,
                           struct error *error)
{
    const struct term one = {.row = row};
    if (check_modes(draft, row, error) != 0 ||
        option_conflict(draft, row->name, row->conflicts, "", error) != 0)
        return OPTIONS_WRONG;
    for (const struct option_instead *at = row->instead; at && at->terms; at++)
        if (option_conflict(draft, row->name, at->terms, at->hint, error) != 0)
            return OPTIONS_WRONG;
    for (size_t i = 0; row->only_with && i < option_count; i++) {
        const struct term other = {.row = &option_rows[i]};
        if (other.row != row && is_given(draft, &other) && !is_listed(row->only_with, other.row))
            return refuse_pair(draft, &one, &other, "", error);
    }
    return 0;
}

/* --- what is needed --- */

int option_needs(const struct draft *draft, const char *text, const char *needs,
                 struct error *error)
{
    char shown[TYPED_SHOWN];
    option_show_typed(draft, text, shown);
    return error_set(error, "%s needs %s", shown, needs);
}

/* Shows a term as the user would type it, "--field=N". Returns the number of characters. */
static int show_wanted(const struct term *term, char *text, size_t capacity)
{
    const struct option_row *row = term->row;
    if (term->value)
        return snprintf(text, capacity, "--%s=%.*s", row->name, (int)term->value_len, term->value);
    const bool has_value = row->takes == VALUE_REQUIRED;
    return snprintf(text, capacity, "--%s%s%s", row->name, has_value ? "=" : "",
                    has_value ? row->value : "");
}

/* Checks the column `requires` of an option that was given. */
static int check_needs(const struct draft *draft, const struct option_row *row, struct error *error)
{
    const char *at = row->requires;
    while (at && *at) {
        const char *const end = at + strcspn(at, " ");
        char needs[NEEDS_SHOWN] = "";
        size_t used = 0;
        bool is_met = false;
        struct term term;
        while (at < end && next_term(&at, &term)) {
            const char *before = used == 0 ? "" : at < end ? ", " : " or ";
            used += (size_t)snprintf(needs + used, sizeof needs - used, "%s", before);
            used += (size_t)show_wanted(&term, needs + used, sizeof needs - used);
            is_met |= is_given(draft, &term);
        }
        if (!is_met)
            return option_needs(draft, row->name, needs, error);
    }
    return 0;
}

int rules_check(const struct draft *draft, struct error *error)
{
    int rc = 0;
    for (size_t i = 0; i < option_count && rc == 0; i++)
        if (draft_gave(draft, option_rows[i].name))
            rc = check_conflicts(draft, &option_rows[i], error);
    for (size_t i = 0; i < option_count && rc == 0; i++)
        if (draft_gave(draft, option_rows[i].name))
            rc = check_needs(draft, &option_rows[i], error);
    return rc;
}
