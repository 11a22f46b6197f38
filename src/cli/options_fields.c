/* SPDX-License-Identifier: MIT */
/* The fields of a line. First text: a field, or the name of a column in double quotes, and after
 * colons the modifiers that make another text, or the number, of it. Then what --field, --by,
 * --weight and --where find in a line, which depends on what separates its fields; and which lines
 * count. */
#include "cli.h"
#include "option.h"
#include "src/base/error.h"
#include "src/text/number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"
#define FIELD_TIME ":time" /* after a field that is a time and is counted as a number */
#define NAME_SHOWN 64      /* bytes of a name that a hint has, at most */
#define VALUE_SHOWN 64     /* bytes of a value in a message */

/* Copies `len` bytes of a text. False if they do not fit into `size` with a NUL. */
static bool copy(const char *text, size_t len, char *to, size_t size)
{
    if (len >= size)
        return false;
    memcpy(to, text, len);
    to[len] = '\0';
    return true;
}

/* Reads the number of a character, and moves *text past it. False if it is none. */
static bool read_character(const char **text, int32_t *character)
{
    uint64_t number;
    const bool is_from_end = **text == '-';
    const char *const begin = *text += is_from_end;
    if (!parse_digits(text, FIELD_RECORD_MAX, &number) || number == 0 ||
        *text - begin > DIGITS_SHORT)
        return false;
    *character = is_from_end ? -(int32_t)number : (int32_t)number;
    return true;
}

/* Reads FIRST-LAST, FIRST- or FIRST. */
static bool parse_characters(const char *text, struct key_modifier *modifier)
{
    modifier->kind = KEY_CHARACTERS;
    if (!read_character(&text, &modifier->first))
        return false;
    modifier->last = modifier->first;
    if (*text == '-' && !*++text)
        modifier->last = -1;
    else if (*text && !read_character(&text, &modifier->last))
        return false;
    const bool is_comparable = (modifier->first > 0) == (modifier->last > 0);
    return !*text && (!is_comparable || modifier->first <= modifier->last);
}

/* Reads a number of seconds, minutes, hours or days. False if these are no bucket. */
static bool parse_bucket(const char *text, struct key_modifier *modifier)
{
    const char *const begin = text;
    uint64_t number;
    if (!parse_digits(&text, UINT32_MAX, &number) || text - begin > DIGITS_SHORT)
        return false;
    const uint64_t unit = *text == 's' ? 1 : *text == 'm' ? 60 : *text == 'h' ? 3600 : TIME_DAY;
    if (!time_is_bucket(number * unit))
        return false;
    *modifier = (struct key_modifier){.kind = KEY_BUCKET, .seconds = (uint32_t)(number * unit)};
    return true;
}

/* Returns what is wrong with a modifier: what to type instead. */
static int refuse(const char *option, const char *text, bool is_name, struct error *error)
{
    char shown[ERROR_SUBJECT_MAX];
    error_show_subject(text, shown);
    return error_set(error,
                     "':%s' must be :FIRST-LAST, :route, or a time such as :10s, :5m, :1h "
                     "or :1d%s%s%s",
                     shown, is_name ? "; quote a name that has a colon, as in " : "",
                     is_name ? option : "", is_name ? "='\"a:b\"'" : "");
}

/* Reads a modifier. `is_name`: it may be the end of a name. */
static int parse_modifier(const char *option, const char *text, bool is_name,
                          struct key_modifier *modifier, struct error *error)
{
    const size_t digits = strspn(text, DIGITS), len = strlen(text);
    *modifier = (struct key_modifier){.kind = KEY_ROUTE};
    if (strcmp(text, "route") == 0)
        return 0;
    if (len > 0 && strspn(text, DIGITS "-") == len) {
        if (parse_characters(text, modifier))
            return 0;
        return error_set(error,
                         "characters must be FIRST-LAST, from 1, or -1 for the last one, as "
                         "in %s=4:14-15",
                         option);
    }
    if (digits == 0 || len != digits + 1 || !strchr("smhd", text[digits]))
        return refuse(option, text, is_name, error);
    if (parse_bucket(text, modifier))
        return 0;
    return error_set(error,
                     ":%s must divide a day evenly, as :10s, :5m and :6h do, or be :1d to "
                     ":%ud",
                     text, TIME_BUCKET_DAYS);
}

/* Reads modifiers, each after a colon. */
static int parse_modifiers(struct key *key, const char *option, const char *text, bool is_name,
                           struct error *error)
{
    char one[32];
    while (*text) {
        const size_t len = strcspn(++text, ":");
        if (key->modifier_count == KEY_MODIFIERS_MAX)
            return error_set(error, "there may be at most %d modifiers", KEY_MODIFIERS_MAX);
        if (!copy(text, len, one, sizeof one))
            return refuse(option, text, is_name, error);
        if (parse_modifier(option, one, is_name, &key->modifiers[key->modifier_count], error) != 0)
            return -1;
        key->modifier_count++;
        text += len;
    }
    return 0;
}

/* Returns where a path ends: at the first colon that is not in a name in quotes. */
static const char *path_end(const char *at)
{
    for (bool is_quoted = false; *at && (is_quoted || *at != ':'); at++) {
        is_quoted ^= *at == '"';
        at += *at == '\\' && at[1];
    }
    return at;
}

/* Copies the name in quotes at `text`, in which two quotes stand for one. Returns where it ends, or
 * NULL if it does not end, or does not fit into `size` bytes. */
static const char *copy_name(const char *text, char *name, size_t size)
{
    size_t len = 0;
    for (text++; *text && !(text[0] == '"' && text[1] != '"'); text++) {
        text += text[0] == '"';
        if (len + 1 == size)
            return NULL;
        name[len++] = *text;
    }
    name[len] = '\0';
    return *text ? text + 1 : NULL;
}

/* Returns the number that a field was typed as; 0: it is none. */
static int32_t field_number(const char *field)
{
    const bool is_from_end = *field == '-';
    uint64_t number;
    field += is_from_end;
    if (!parse_digits(&field, FIELD_RECORD_MAX, &number) || *field)
        return 0;
    return is_from_end ? -(int32_t)number : (int32_t)number;
}

/* Copies the field, or the name of a column in quotes, that `text` begins with, a part of the value
 * of an option. Returns where its modifiers begin; or NULL with an error. */
static const char *split_field(const char *option, const char *text, char field[FIELD_SIZE],
                               struct error *error)
{
    const bool is_name = *text == '"';
    const char *end = is_name        ? copy_name(text, field, FIELD_SIZE)
                      : *text == '.' ? path_end(text)
                                     : text + strcspn(text, ":");
    if (is_name && (!end || (*end && *end != ':'))) {
        error_set(error,
                  "must be a name of 1 to %d bytes in quotes, and perhaps modifiers after "
                  "colons, as in %s='\"a:b\":%s'",
                  FIELD_SIZE - 1, option, strcmp(option, "--field") == 0 ? "sum" : "1-3");
        return NULL;
    }
    if (!is_name && !copy(text, (size_t)(end - text), field, FIELD_SIZE))
        end = text;
    if (end > text && *field)
        return end;
    error_set(error, "must be a field of 1 to %d bytes", FIELD_SIZE - 1);
    return NULL;
}

/* Reads a field with modifiers, as split_field does, to *by. 0, or OPTIONS_WRONG with an error. */
static int parse_by(const char *option, const char *text, char field[FIELD_SIZE], struct by *by,
                    struct error *error)
{
    *by = (struct by){.text = text, .is_name = *text == '"'};
    const char *end = split_field(option, text, field, error);
    const bool is_name = end && !by->is_name && !strchr(DIGITS "-.", *field);
    return end ? parse_modifiers(&by->key, option, end, is_name, error) : OPTIONS_WRONG;
}

/* --- what is typed --- */

int set_by(struct draft *draft, const char *value, struct error *error)
{
    const unsigned i = draft->by_count;
    if (i == KEY_PARTS_MAX)
        return error_set(error, "may be given at most %d times", KEY_PARTS_MAX);
    draft->by_count++;
    struct by *by = &draft->by[i];
    if (parse_by("--by", value, draft->options->by_fields[i], by, error) != 0)
        return OPTIONS_WRONG;
    if (by->key.modifier_count > 0) /* what a last bucket makes is joined (key_times_join) */
        by->key.modifiers[by->key.modifier_count - 1].is_fine = true;
    return 0;
}

int set_field(struct draft *draft, const char *value, struct error *error)
{
    static const char *const modifiers[] = {"", ":each", ":sum", ":last"}; /* by enum list_kind */
    char field[FIELD_SIZE], shown[ERROR_SUBJECT_MAX];
    const char *end = split_field("--field", value, field, error);
    if (!end)
        return OPTIONS_WRONG;
    draft->field = value;
    draft->field_number = *value == '"' ? 0 : field_number(field);
    draft->is_time = strcmp(end, FIELD_TIME) == 0;
    draft->list = LIST_NONE;
    for (unsigned i = LIST_NONE; i <= LIST_LAST; i++)
        if (strcmp(end, modifiers[i]) == 0) {
            draft->list = i;
            return 0;
        }
    if (draft->is_time)
        return 0;
    error_show_subject(end, shown);
    return error_set(error, "'%s' must be :time, or :each, :sum or :last of a list of numbers%s",
                     shown,
                     field_number(field) == 0 && *value != '.' && *value != '"'
                         ? "; quote a name that has a colon, as in --field='\"a:b\"'"
                         : "");
}

int set_separator(struct draft *draft, const char *value, struct error *error)
{
    const bool is_tab = strcmp(value, "\\t") == 0, is_escape = strncmp(value, "\\x", 2) == 0;
    char *end = NULL;
    unsigned long byte = is_tab ? '\t' : (unsigned char)*value;
    if (is_escape && strlen(value) == 4 && isxdigit((unsigned char)value[2]))
        byte = strtoul(value + 2, &end, 16);
    if (!(is_tab || (end && !*end) || strlen(value) == 1) || byte == '\n')
        return error_set(error, "must be one byte, such as ',', '\\t' or '\\x1f'");
    draft->separator = (unsigned char)byte;
    return 0;
}

int set_after(struct draft *draft, const char *value, struct error *error)
{
    if (!*value || strchr(value, '\n'))
        return error_set(error, "must be text within a line, as in --after=rt=");
    draft->after = value;
    return 0;
}

int set_line(struct draft *draft, const char *value, struct error *error)
{
    (void)error;
    draft->line = value;
    return 0;
}

/* Adds the string of --lines-with or --lines-without, or /REGEX/, which is compiled before a run.
 */
static int add_string(struct draft *draft, const char *option, const char *value, bool is_unwanted,
                      struct error *error)
{
    if (!*value || strpbrk(value, "\r\n"))
        return error_set(error, "must be text within a line, as in %s=GET", option);
    if (!line_filter_add(&draft->filter, value, is_unwanted))
        return error_set(error, "there may be at most %d such strings", LINE_STRINGS_MAX);
    return 0;
}

int set_lines_with(struct draft *draft, const char *value, struct error *error)
{
    return add_string(draft, "--lines-with", value, false, error);
}

int set_lines_without(struct draft *draft, const char *value, struct error *error)
{
    return add_string(draft, "--lines-without", value, true, error);
}

int set_where(struct draft *draft, const char *value, struct error *error)
{
    if (draft->where_count == CONDITIONS_MAX)
        return error_set(error, "there may be at most %d conditions", CONDITIONS_MAX);
    draft->where[draft->where_count++] = value;
    return 0;
}

/* --- a field that was typed --- */

struct typed_field {
    const char *option, *text;
    int32_t number;    /* 0: it is none */
    const char *value; /* of the option, which begins with the field */
    bool is_name;      /* that of a column, whatever it looks like */
};

static struct typed_field typed_field(const char *option, const char *text, const char *value,
                                      bool is_name)
{
    return (struct typed_field){option, text, is_name ? 0 : field_number(text), value, is_name};
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

/* Sets a field that was typed. 0, or OPTIONS_WRONG with an error. */
static int finish_typed(const struct draft *draft, const struct typed_field *typed,
                        struct field *field, struct error *error)
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

/* --- what was typed for --field or --after, --by, --weight and --where --- */

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

/* Sets the field of --field, and what is read of it. */
static int finish_field(const struct draft *draft, struct field *field, struct error *error)
{
    const char *value = draft->field;
    char *name = draft->options->field;
    split_field("--field", value, name, error);
    const struct typed_field typed = typed_field("--field", name, value, *value == '"');
    int rc = finish_typed(draft, &typed, field, error);
    rc = rc == 0 ? finish_list(draft, field, error) : rc;
    if (rc == 0 && draft->has_comma && field->kind == FIELD_JSON)
        rc = option_conflict(draft, "decimal", "field",
                             "; numbers in JSON have a point before decimals", error);
    field->is_time = draft->is_time;
    if (rc == 0 && draft->is_time)
        rc = option_conflict(draft, "field=", "units decimal", ", as times have neither", error);
    return rc;
}

/* Finds out where in a line numbers stand. */
static int finish_number(const struct draft *draft, struct field *field, struct error *error)
{
    const bool has_number = draft->field || draft->after;
    *field = (struct field){.kind = FIELD_NONE,
                            .has_units = draft_gave(draft, "units"),
                            .has_comma = has_number && draft->has_comma};
    if (draft->field)
        return finish_field(draft, field, error);
    if (!draft->after)
        return 0;
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
    const struct typed_field typed = typed_field("--by", text, text, by->is_name);
    keys[i] = by->key;
    if (finish_typed(draft, &typed, &keys[i].field, error) != 0)
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
    const char *text = draft->weight, *end = split_field("--weight", text, name, error);
    if (!end)
        return option_refuse_value("--weight", text, error);
    const struct typed_field typed = typed_field("--weight", name, text, *text == '"');
    if (*end)
        return error_of_option(error, "--weight", text,
                               "must be a field, without modifiers; quote a name that has a colon");
    const int rc = finish_typed(draft, &typed, &weight->field, error);
    weight->is_weight = true;
    weight->field.has_comma = draft->has_comma && weight->field.kind != FIELD_JSON;
    return rc;
}

int lines_finish(const struct draft *draft, struct line_spec *lines, struct error *error)
{
    *lines = (struct line_spec){
        .key_count = draft->by_count, .has_weight = draft->weight != NULL, .filter = draft->filter};
    if (draft->line && line_format_parse(draft->line, &draft->options->line, error) != 0)
        return OPTIONS_WRONG;
    int rc = finish_number(draft, &lines->field, error);
    if (rc == 0 && draft->by_count > 0 && draft->mode->is_binned && !draft->field && !draft->after)
        return option_needs(draft, "by=", "--field or --after with --numbers", error);
    for (unsigned i = 0; i < draft->by_count && rc == 0; i++)
        rc = finish_key(draft, i, lines->keys, error);
    return rc == 0 && draft->weight ? finish_weight(draft, &lines->keys[draft->by_count], error)
                                    : rc;
}

/* --- conditions --- */

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
    if (parse_by("--where", names[0], names[1], &by, error) != 0)
        return option_refuse_value("--where", typed, error);
    const struct typed_field field_typed = typed_field("--where", names[1], typed, by.is_name);
    *condition = (struct condition){names[0], by.key, .comparison = parts.comparison};
    struct field *field = &condition->key.field;
    rc = finish_typed(draft, &field_typed, field, error);
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
