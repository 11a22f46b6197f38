/* SPDX-License-Identifier: MIT */
/* Which part of a line is the number, and how it is written: --field, --separator, --csv,
 * --header-line, --after, --units; and which lines count: --lines-with, --lines-without. */
#include "option.h"
#include "parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SHOWN 64 /* bytes of a name that a hint has, at most */

int option_field(struct draft *draft, const char *value, struct reason *why)
{
    bool from_back = *value == '-';
    uint64_t number;
    (void)why;
    draft->field = value;
    draft->field_number = 0;
    if (parse_digits(value + from_back, FIELD_RECORD_MAX, &number))
        draft->field_number = from_back ? -(int32_t)number : (int32_t)number;
    return 0;
}

int option_separator(struct draft *draft, const char *value, struct reason *why)
{
    const bool is_tab = strcmp(value, "\\t") == 0, is_escape = strncmp(value, "\\x", 2) == 0;
    char *end = NULL;
    unsigned long byte = is_tab ? '\t' : (unsigned char)*value;
    if (is_escape && strlen(value) == 4 && isxdigit((unsigned char)value[2]))
        byte = strtoul(value + 2, &end, 16);
    if (!(is_tab || (end && !*end) || strlen(value) == 1) || byte == '\n')
        return reason_of_option(why, "--separator", value,
                                "must be one byte, such as ',', '\\t' or '\\x1f'");
    draft->separator = (unsigned char)byte;
    return 0;
}

int option_after(struct draft *draft, const char *value, struct reason *why)
{
    if (!*value || strchr(value, '\n'))
        return reason_of_option(why, "--after", value,
                                "must be text within a line, as in --after=rt=");
    draft->after = value;
    return 0;
}

/* Adds the string of --lines-with or --lines-without. */
static int add_string(struct draft *draft, const char *option, const char *value, bool is_unwanted,
                      struct reason *why)
{
    if (!*value || strpbrk(value, "\r\n"))
        return reason_of_option(why, option, value, "must be text within a line, as in %s=GET",
                                option);
    if (!line_filter_add(&draft->filter, value, is_unwanted))
        return reason_of_option(why, option, value, "there may be at most %d such strings",
                                LINE_STRINGS_MAX);
    return 0;
}

int option_lines_with(struct draft *draft, const char *value, struct reason *why)
{
    return add_string(draft, "--lines-with", value, false, why);
}

int option_lines_without(struct draft *draft, const char *value, struct reason *why)
{
    return add_string(draft, "--lines-without", value, true, why);
}

/* True if a text looks like the name of a member of JSON: letters, digits, '_', '.' and '-'. */
static bool is_like_name(const char *text)
{
    static const char most[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const size_t len = strlen(text);
    return isalpha((unsigned char)*text) && len <= NAME_SHOWN && strspn(text, most) == len;
}

/* Checks that the field is a number, or with --header-line the name of a column. */
static int check_field(const struct draft *draft, struct reason *why)
{
    static const char allowed[] =
        "must be 1 to 1048576, -1 for the last field, a path into JSON such as .a.b or, with "
        "--header-line, a name";
    const char *field = draft->field;
    if (!field || draft->field_number != 0)
        return 0;
    if (draft_gave(draft, "header-line") && *field && strcmp(field, "0") != 0)
        return 0;
    if (is_like_name(field))
        return reason_of_option(why, "--field", field, "%s; for JSON lines, use --field=.%s",
                                allowed, field);
    return reason_of_option(why, "--field", field, "%s", allowed);
}

/* Sets a field of JSON. */
static int finish_path(const struct draft *draft, struct field *field, struct reason *why)
{
    field->kind = FIELD_JSON;
    if (!json_path_parse(draft->field, &field->path))
        return reason_of_option(why, "--field", draft->field,
                                "must be a path such as .http.latency_ms, .spans[0].ms or "
                                ".\"odd name\"");
    return option_conflict(draft, "field=", "csv separator=", "; a path is for lines of JSON", why);
}

int fields_finish(const struct draft *draft, struct field *field, struct reason *why)
{
    const bool has_separator = draft_gave(draft, "separator");
    const bool is_path = draft->field && *draft->field == '.' && !draft_gave(draft, "header-line");
    *field = (struct field){.kind = FIELD_NONE, .has_units = draft_gave(draft, "units")};
    if (!draft->field && !draft->after)
        return 0;
    if (is_path)
        return finish_path(draft, field, why);
    int rc = check_field(draft, why);
    if (rc == 0 && has_separator && draft->separator == '"')
        rc = option_conflict(draft, "separator=", "csv", ", as CSV quotes fields with it", why);
    if (rc != 0)
        return rc;
    field->kind = draft->after               ? FIELD_AFTER
                  : draft_gave(draft, "csv") ? FIELD_CSV
                  : has_separator            ? FIELD_SEPARATED
                                             : FIELD_BLANKS;
    field->number = draft->field_number;
    field->separator = has_separator ? draft->separator : ',';
    field->has_header = draft_gave(draft, "header-line");
    field->name = draft->field && draft->field_number == 0 ? draft->field : NULL;
    field->after = draft->after;
    field->after_len = draft->after ? strlen(draft->after) : 0;
    return 0;
}
