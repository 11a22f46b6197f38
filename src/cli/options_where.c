/* SPDX-License-Identifier: MIT */
/* Conditions on fields: --where. */
#include "option.h"
#include "src/base/error.h"

#include <string.h>

#define VALUE_SHOWN 64 /* bytes of a value in a message */

int option_where(struct draft *draft, const char *value, struct error *error)
{
    if (draft->where_count == CONDITIONS_MAX)
        return error_of_option(error, "--where", value, "there may be at most %d conditions",
                               CONDITIONS_MAX);
    draft->where[draft->where_count++] = value;
    return 0;
}

/* Says what is wrong with a condition's operator or value. Returns OPTIONS_WRONG. */
static int refuse_value(const char *typed, const struct typed_condition *parts, const char *what,
                        struct error *error)
{
    char value[VALUE_SHOWN];
    show_text(parts->value, parts->value_len, value, sizeof value);
    return error_of_option(error, "--where", typed, "%s; if '%s' is text, write \"%s\"", what,
                           value, value);
}

/* Says what is wrong with a condition. Returns OPTIONS_WRONG, or 0 if nothing is. */
static int check_condition(enum condition_error what, const char *typed,
                           const struct typed_condition *parts, struct error *error)
{
    switch (what) {
    case CONDITION_READ:
        break;
    case CONDITION_PARTS:
        return error_of_option(error, "--where", typed,
                               "must be FIELD OP VALUE, as in --where='9>=500', where OP is one of "
                               "= != < <= > >= and an empty VALUE is \"\"");
    case CONDITION_LONG:
        return error_of_option(error, "--where", typed, "VALUE may have at most %d bytes",
                               WHERE_VALUE_MAX);
    case CONDITION_OPERATOR:
        return refuse_value(typed, parts, "OP must be one of = != < <= > >=", error);
    case CONDITION_CLOCK:
        return refuse_value(typed, parts, "a time of day must be 0:00 to 23:59:59", error);
    case CONDITION_TIME:
        return refuse_value(typed, parts, "a time must be as in 2026-11-22T10:05:07Z", error);
    case CONDITION_NO_UNITS:
        return refuse_value(typed, parts, "a number with a unit needs --units", error);
    case CONDITION_UNIT:
        return refuse_value(typed, parts, "the unit is not clear", error);
    }
    return 0;
}

/* Reads a condition as it was typed; `names` get the name of its field with and without modifiers.
 */
static int read_condition(const struct draft *draft, const char *typed, char names[2][FIELD_SIZE],
                          struct condition *condition, struct error *error)
{
    struct typed_condition parts;
    struct by by;
    int rc = check_condition(condition_split(typed, &parts), typed, &parts, error);
    if (rc != 0)
        return rc;
    if (parts.name_len >= FIELD_SIZE)
        return error_of_option(error, "--where", typed, "FIELD may have at most %d bytes",
                               FIELD_SIZE - 1);
    memcpy(names[0], parts.name, parts.name_len);
    names[0][parts.name_len] = '\0';
    if (by_parse("--where", typed, names[0], names[1], &by, error) != 0)
        return OPTIONS_WRONG;
    const int32_t number = by.is_name ? 0 : field_number(names[1]);
    const struct typed_field typed_field = {"--where", names[1], number, typed, by.is_name};
    *condition = (struct condition){names[0], by.key, .comparison = parts.comparison};
    struct field *field = &condition->key.field;
    rc = field_finish(draft, &typed_field, field, error);
    field->has_units = draft_gave(draft, "units");
    field->has_comma = draft->has_comma && field->kind != FIELD_JSON;
    return rc != 0 ? rc
                   : check_condition(condition_set_value(condition, parts.value, parts.value_len),
                                     typed, &parts, error);
}

int where_finish(const struct draft *draft, struct error *error)
{
    struct options *options = draft->options;
    if (draft->where_count > 0 && draft->mode->is_binned && !draft->field && !draft->after)
        return option_needs(draft, "where=", "--field or --after with --numbers", error);
    if (draft->where_count > 0) /* at start-up, which other runs need not wait for */
        number_prepare();
    for (size_t i = 0; i < draft->where_count; i++) {
        struct condition condition;
        const int rc =
            read_condition(draft, draft->where[i], options->where_fields[i], &condition, error);
        if (rc != 0)
            return rc;
        line_filter_add_condition(&options->spec.lines.filter, &condition);
    }
    return 0;
}
