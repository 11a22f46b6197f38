/* SPDX-License-Identifier: MIT */
/* The fields of a line: --field, --separator, --csv, --header-line, --after, --line and --units say
 * where the number is and how it is written, --max-keys how many keys there may be, --lines-with
 * and
 * --lines-without which lines count. options_by.c reads --by and --field. */
#include "option.h"
#include "parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SHOWN 64 /* bytes of a name that a hint has, at most */

int option_max_keys(struct draft *draft, const char *value, struct error *error)
{
    return parse_count("--max-keys", value, KEYS_LIMIT, &draft->options->max_keys, error);
}

int option_separator(struct draft *draft, const char *value, struct error *error)
{
    const bool is_tab = strcmp(value, "\\t") == 0, is_escape = strncmp(value, "\\x", 2) == 0;
    char *end = NULL;
    unsigned long byte = is_tab ? '\t' : (unsigned char)*value;
    if (is_escape && strlen(value) == 4 && isxdigit((unsigned char)value[2]))
        byte = strtoul(value + 2, &end, 16);
    if (!(is_tab || (end && !*end) || strlen(value) == 1) || byte == '\n')
        return error_of_option(error, "--separator", value,
                               "must be one byte, such as ',', '\\t' or '\\x1f'");
    draft->separator = (unsigned char)byte;
    return 0;
}

int option_decimal(struct draft *draft, const char *value, struct error *error)
{
    const int choice = option_word("decimal", value, error);
    draft->has_comma = choice == 1;
    return choice < 0 ? OPTIONS_WRONG : 0;
}

int option_after(struct draft *draft, const char *value, struct error *error)
{
    if (!*value || strchr(value, '\n'))
        return error_of_option(error, "--after", value,
                               "must be text within a line, as in --after=rt=");
    draft->after = value;
    return 0;
}

OPTION_TEXT(option_line, line)
OPTION_TEXT(option_weight, weight)

/* Adds the string of --lines-with or --lines-without, or /REGEX/, which is compiled before a run.
 */
static int add_string(struct draft *draft, const char *option, const char *value, bool is_unwanted,
                      struct error *error)
{
    if (!*value || strpbrk(value, "\r\n"))
        return error_of_option(error, option, value, "must be text within a line, as in %s=GET",
                               option);
    if (!line_filter_add(&draft->filter, value, is_unwanted))
        return error_of_option(error, option, value, "there may be at most %d such strings",
                               LINE_STRINGS_MAX);
    return 0;
}

int option_lines_with(struct draft *draft, const char *value, struct error *error)
{
    return add_string(draft, "--lines-with", value, false, error);
}

int option_lines_without(struct draft *draft, const char *value, struct error *error)
{
    return add_string(draft, "--lines-without", value, true, error);
}

/* True if a text looks like the name of a member of JSON: letters, digits, '_', '.' and '-'. */
static bool is_like_name(const char *text)
{
    static const char max[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const size_t len = strlen(text);
    return isalpha((unsigned char)*text) && len <= NAME_SHOWN && strspn(text, max) == len;
}

/* Checks that the field is a number, or with --header-line the name of a column. */
static int check_field(const struct draft *draft, const struct typed_field *typed,
                       struct error *error)
{
    static const char allowed[] =
        "must be 1 to 1048576, -1 for the last field, a path into JSON such as .a.b or, with "
        "--header-line, a name";
    const char *text = typed->text, *quote = strpbrk(typed->value, "<>! ") ? "'" : "";
    if (typed->number != 0)
        return 0;
    if (draft_gave(draft, "header-line") && (typed->is_name || (*text && strcmp(text, "0") != 0)))
        return 0;
    const bool is_word = *text && !strchr("0123456789+-.", *text);
    const bool is_separated = draft_gave(draft, "csv") || draft_gave(draft, "separator");
    if (typed->is_name || (is_word && is_separated))
        return error_of_option(error, typed->option, typed->value,
                               "to find a column by its name, add --header-line");
    char shown[ERROR_SUBJECT_MAX];
    error_show_subject(typed->value, shown);
    if (is_like_name(text))
        return error_of_option(error, typed->option, typed->value,
                               "%s; for JSON lines, use %s=%s.%s%s", allowed, typed->option, quote,
                               shown, quote);
    return error_of_option(error, typed->option, typed->value, "%s", allowed);
}

/* Sets a field of JSON. */
static int finish_path(const struct draft *draft, const struct typed_field *typed,
                       struct field *field, struct error *error)
{
    char term[16];
    field->kind = FIELD_JSON;
    if (!json_path_parse(typed->text, &field->path))
        return error_of_option(error, typed->option, typed->value,
                               "must be a path such as .http.latency_ms, .spans[0].ms or "
                               ".\"odd name\"");
    if (field_is_list(field) && strcmp(typed->option, "--field") != 0)
        return error_of_option(error, typed->option, typed->value,
                               "[] is for --field; take one element, as in [0] or [-1]");
    snprintf(term, sizeof term, "%s=", typed->option + 2);
    return option_conflict(draft, term, "csv separator=", "; a path is for lines of JSON", error);
}

int line_finish(const struct draft *draft, struct error *error)
{
    return draft->line ? line_format_parse(draft->line, &draft->options->line, error) : 0;
}

int field_finish(const struct draft *draft, const struct typed_field *typed, struct field *field,
                 struct error *error)
{
    const bool has_separator = draft_gave(draft, "separator");
    if (draft->line) {
        field->kind = FIELD_LINE;
        return line_part_parse(&draft->options->line, typed->option, typed->text, &field->part,
                               error);
    }
    if (*typed->text == '.' && !typed->is_name && !draft_gave(draft, "header-line"))
        return finish_path(draft, typed, field, error);
    int rc = check_field(draft, typed, error);
    if (rc == 0 && has_separator && draft->separator == '"')
        rc = option_conflict(draft, "separator=", "csv", ", as CSV quotes fields with it", error);
    if (rc != 0)
        return rc;
    field->kind = draft_gave(draft, "csv") ? FIELD_CSV
                  : has_separator          ? FIELD_SEPARATED
                                           : FIELD_BLANKS;
    field->number = typed->number;
    field->separator = has_separator ? draft->separator : ',';
    field->has_header = draft_gave(draft, "header-line");
    field->name = typed->number == 0 ? typed->text : NULL;
    return 0;
}

/* Sets what is done with lists, and refuses what cannot be in one. */
static int finish_list(const struct draft *draft, struct field *field, struct error *error)
{
    field->list = draft->list;
    if (draft->weight && field_is_list(field))
        return option_conflict(draft, "weight", "field", " for lists of numbers", error);
    if (field->list == LIST_NONE)
        return 0;
    if (field->kind == FIELD_BLANKS)
        return error_of_option(error, "--field", draft->field,
                               "blanks would cut a list apart; name its place with --separator, "
                               "--csv or --line");
    if (draft->has_comma)
        return option_conflict(draft, "decimal", "field",
                               " for lists of numbers, which commas separate", error);
    return field->list == LIST_SUM
               ? option_conflict(draft, "units", "field", " for sums; take :each or :last", error)
               : 0;
}

int fields_finish(const struct draft *draft, struct field *field, struct error *error)
{
    char *name = draft->options->field;
    struct typed_field typed = {"--field", draft->field, draft->field_number, draft->field, false};
    if (draft->field && (draft->is_time || draft->list != LIST_NONE || *draft->field == '"')) {
        field_split("--field", draft->field, draft->field, name, error);
        typed.text = name;
        typed.is_name = *draft->field == '"';
    }
    *field = (struct field){.kind = FIELD_NONE, .has_units = draft_gave(draft, "units")};
    if (draft->field) {
        int rc = field_finish(draft, &typed, field, error);
        rc = rc == 0 ? finish_list(draft, field, error) : rc;
        if (rc == 0 && draft->has_comma && field->kind == FIELD_JSON)
            return option_conflict(draft, "decimal", "field",
                                   "; numbers in JSON have a point before decimals", error);
        field->has_comma = draft->has_comma;
        field->is_time = draft->is_time;
        if (rc == 0 && draft->is_time)
            return option_conflict(draft, "field=", "units decimal", ", as times have neither",
                                   error);
        return rc;
    }
    if (!draft->after)
        return 0;
    field->has_comma = draft->has_comma;
    field->kind = FIELD_AFTER;
    field->after = draft->after;
    field->after_len = strlen(draft->after);
    field->has_header = draft_gave(draft, "header-line");
    return 0;
}

/* Sets the field of key i. The records that count depend on whether they are JSON. */
static int finish_key(const struct draft *draft, unsigned i, struct key *keys, struct error *error)
{
    const struct by *by = &draft->by[i];
    const char *text = draft->options->by_fields[i];
    const int32_t number = by->is_name ? 0 : field_number(text);
    const struct typed_field typed = {"--by", text, number, text, by->is_name};
    keys[i] = by->key;
    if (field_finish(draft, &typed, &keys[i].field, error) != 0)
        return OPTIONS_WRONG;
    if (keys[i].field.kind == keys[0].field.kind)
        return 0;
    char shown[ERROR_SUBJECT_MAX];
    error_show_subject(draft->by[0].text, shown);
    return error_of_option(error, "--by", by->text,
                           "cannot be combined with --by=%s, as lines are JSON or not; use paths "
                           "such as .status, or fields such as 9, for both",
                           shown);
}

/* Sets the field of --weight, in which a comma before decimals has points between thousands. */
static int finish_weight(const struct draft *draft, struct key *weight, struct error *error)
{
    char *name = draft->options->weight_field;
    const char *text = draft->weight, *end = field_split("--weight", text, text, name, error);
    const bool is_name = *text == '"';
    const struct typed_field typed = {"--weight", name, is_name ? 0 : field_number(name), text,
                                      is_name};
    if (!end)
        return OPTIONS_WRONG;
    if (*end)
        return error_of_option(error, "--weight", text,
                               "must be a field, without modifiers; quote a name that has a colon");
    const int rc = field_finish(draft, &typed, &weight->field, error);
    weight->is_weight = true;
    weight->field.has_comma = draft->has_comma && weight->field.kind != FIELD_JSON;
    return rc;
}

int keys_finish(const struct draft *draft, struct key keys[KEY_FIELDS_MAX], struct error *error)
{
    int rc = 0;
    if (draft->by_count > 0 && draft->mode->is_binned && !draft->field && !draft->after)
        return option_needs(draft, "by=", "--field or --after with --numbers", error);
    for (unsigned i = 0; i < draft->by_count && rc == 0; i++)
        rc = finish_key(draft, i, keys, error);
    return rc == 0 && draft->weight ? finish_weight(draft, &keys[draft->by_count], error) : rc;
}
