/* SPDX-License-Identifier: MIT */
/* Which part of a line is the number: --field, --separator, --csv, --header-line, --after. */
#include "option.h"
#include "parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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
    if (!(is_tab || (end && !*end) || strlen(value) == 1) || byte == '\n') {
        reason_of_option(why, "--separator", value,
                         "must be one byte, such as ',', '\\t' or '\\x1f'");
        return OPTIONS_WRONG;
    }
    draft->has_separator = true;
    draft->separator = (unsigned char)byte;
    return 0;
}

int option_csv(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->csv = true;
    return 0;
}

int option_header_line(struct draft *draft, const char *value, struct reason *why)
{
    (void)value;
    (void)why;
    draft->header_line = true;
    return 0;
}

int option_after(struct draft *draft, const char *value, struct reason *why)
{
    if (!*value || strchr(value, '\n')) {
        reason_of_option(why, "--after", value, "must be text in a line, as in --after=rt=");
        return OPTIONS_WRONG;
    }
    draft->after = value;
    return 0;
}

/* Whether options of fields are there that belong to each other. */
static int check_together(const struct draft *draft, struct reason *why)
{
    if (!draft_has(draft, MODE_NUMBERS))
        return option_wrong(why, "--field, --separator, --csv, --header-line, --after: require "
                                 "--numbers, as in -n -k 3");
    if (draft->after && (draft->field || draft->has_separator || draft->csv))
        return option_wrong(
            why, "--after: cannot be combined with --field, --separator, --csv; give one of them");
    if (draft->after || draft->field)
        return 0;
    if (draft->has_separator)
        return option_wrong(why, "--separator: requires --field, as in -t , -k 3");
    if (draft->csv)
        return option_wrong(why, "--csv: requires --field, as in --csv -k 3");
    return option_wrong(why, "--header-line: requires --field, as in --header-line -k 1");
}

/* Whether the field is a number, or the name of a column where there can be one. */
static int check_field(const struct draft *draft, struct reason *why)
{
    if (!draft->field || draft->field_number != 0)
        return 0;
    if (draft->header_line && *draft->field && strcmp(draft->field, "0") != 0)
        return 0;
    reason_of_option(why, "--field", draft->field,
                     "must be 1 to 1048576, -1 for the last one, or, with --header-line, a name");
    return OPTIONS_WRONG;
}

int fields_settle(const struct draft *draft, struct field *field, struct reason *why)
{
    bool given =
        draft->field || draft->after || draft->has_separator || draft->csv || draft->header_line;
    *field = (struct field){.kind = FIELD_NONE};
    if (!given)
        return 0;
    int rc = check_together(draft, why);
    if (rc == 0)
        rc = check_field(draft, why);
    if (rc == 0 && draft->csv && draft->has_separator && draft->separator == '"')
        rc = option_wrong(why, "--separator='\"': cannot be combined with --csv, where fields "
                               "are quoted by it; leave out --csv");
    if (rc != 0)
        return rc;
    field->kind = draft->after           ? FIELD_AFTER
                  : draft->csv           ? FIELD_CSV
                  : draft->has_separator ? FIELD_SEPARATED
                                         : FIELD_BLANKS;
    field->number = draft->field_number;
    field->separator = draft->has_separator ? draft->separator : ',';
    field->has_header = draft->header_line;
    field->name = draft->field && draft->field_number == 0 ? draft->field : NULL;
    field->after = draft->after;
    field->after_len = draft->after ? strlen(draft->after) : 0;
    return 0;
}
