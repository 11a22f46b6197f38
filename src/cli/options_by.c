/* SPDX-License-Identifier: MIT */
/* The field of --field, --by and --where, or the name of a column in double quotes, and after
 * colons the modifiers that make another text, or the number, of it; --field, and --by up to four
 * times. */
#include "option.h"
#include "parse.h"

#include <string.h>

#define DIGITS "0123456789"

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
    char digits[16];
    uint64_t number;
    const bool is_from_end = **text == '-';
    const char *begin = *text + is_from_end;
    *text = begin + strspn(begin, DIGITS);
    if (!copy(begin, (size_t)(*text - begin), digits, sizeof digits) ||
        !parse_digits(digits, FIELD_RECORD_MAX, &number) || number == 0)
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
    char digits[16];
    uint64_t number;
    const size_t len = strspn(text, DIGITS);
    const uint64_t unit = text[len] == 's'   ? 1
                          : text[len] == 'm' ? 60
                          : text[len] == 'h' ? 3600
                                             : TIME_DAY;
    if (!copy(text, len, digits, sizeof digits) || !parse_digits(digits, UINT32_MAX, &number) ||
        !time_is_bucket(number * unit))
        return false;
    *modifier = (struct key_modifier){.kind = KEY_BUCKET, .seconds = (uint32_t)(number * unit)};
    return true;
}

/* Returns what is wrong with a modifier: what to type instead. */
static int refuse(const char *option, const char *value, const char *text, bool is_name,
                  struct error *error)
{
    char shown[ERROR_SUBJECT_MAX];
    error_show_subject(text, shown);
    return error_of_option(error, option, value,
                           "':%s' must be :FIRST-LAST, :route, or a time such as :10s, :5m, :1h "
                           "or :1d%s%s%s",
                           shown, is_name ? "; quote a name that has a colon, as in " : "",
                           is_name ? option : "", is_name ? "='\"a:b\"'" : "");
}

/* Reads a modifier. `is_name`: it may be the end of a name. */
static int parse_modifier(const char *option, const char *value, const char *text, bool is_name,
                          struct key_modifier *modifier, struct error *error)
{
    const size_t digits = strspn(text, DIGITS), len = strlen(text);
    *modifier = (struct key_modifier){.kind = KEY_ROUTE};
    if (strcmp(text, "route") == 0)
        return 0;
    if (len > 0 && strspn(text, DIGITS "-") == len) {
        if (parse_characters(text, modifier))
            return 0;
        return error_of_option(error, option, value,
                               "characters must be FIRST-LAST, from 1, or -1 for the last one, as "
                               "in %s=4:14-15",
                               option);
    }
    if (digits == 0 || len != digits + 1 || !strchr("smhd", text[digits]))
        return refuse(option, value, text, is_name, error);
    if (parse_bucket(text, modifier))
        return 0;
    return error_of_option(error, option, value,
                           ":%s must divide a day evenly, as :10s, :5m and :6h do, or be :1d to "
                           ":%ud",
                           text, TIME_BUCKET_DAYS);
}

/* Reads modifiers, each after a colon. */
static int parse_modifiers(struct key *key, const char *option, const char *value, const char *text,
                           bool is_name, struct error *error)
{
    char one[32];
    while (*text) {
        const size_t len = strcspn(++text, ":");
        if (key->modifier_count == KEY_MODIFIERS_MAX)
            return error_of_option(error, option, value, "there may be at most %d modifiers",
                                   KEY_MODIFIERS_MAX);
        if (!copy(text, len, one, sizeof one))
            return refuse(option, value, text, is_name, error);
        if (parse_modifier(option, value, one, is_name, &key->modifiers[key->modifier_count],
                           error) != 0)
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

int32_t field_number(const char *field)
{
    const bool from_back = *field == '-';
    uint64_t number;
    if (!parse_digits(field + from_back, FIELD_RECORD_MAX, &number))
        return 0;
    return from_back ? -(int32_t)number : (int32_t)number;
}

const char *field_split(const char *option, const char *value, const char *text,
                        char field[FIELD_SIZE], struct error *error)
{
    const bool is_name = *text == '"';
    const char *end = is_name        ? copy_name(text, field, FIELD_SIZE)
                      : *text == '.' ? path_end(text)
                                     : text + strcspn(text, ":");
    if (is_name && (!end || (*end && *end != ':'))) {
        error_of_option(error, option, value,
                        "must be a name of 1 to %d bytes in quotes, and perhaps modifiers after "
                        "colons, as in %s='\"a:b\":%s'",
                        FIELD_SIZE - 1, option, strcmp(option, "--field") == 0 ? "sum" : "1-3");
        return NULL;
    }
    if (!is_name && !copy(text, (size_t)(end - text), field, FIELD_SIZE))
        end = text;
    if (end > text && *field)
        return end;
    error_of_option(error, option, value, "must be a field of 1 to %d bytes", FIELD_SIZE - 1);
    return NULL;
}

int by_parse(const char *option, const char *value, const char *text, char field[FIELD_SIZE],
             struct by *by, struct error *error)
{
    *by = (struct by){.text = value, .is_name = *text == '"'};
    const char *end = field_split(option, value, text, field, error);
    const bool is_name = end && !by->is_name && !strchr(DIGITS "-.", *field);
    return end ? parse_modifiers(&by->key, option, value, end, is_name, error) : OPTIONS_WRONG;
}

int option_by(struct draft *draft, const char *value, struct error *error)
{
    const unsigned i = draft->by_count;
    if (i == KEY_PARTS_MAX)
        return error_of_option(error, "--by", value, "may be given at most %d times",
                               KEY_PARTS_MAX);
    draft->by_count++;
    struct by *by = &draft->by[i];
    if (by_parse("--by", value, value, draft->options->by_fields[i], by, error) != 0)
        return OPTIONS_WRONG;
    if (by->key.modifier_count > 0) /* what a last bucket makes is joined (key_times_join) */
        by->key.modifiers[by->key.modifier_count - 1].is_fine = true;
    return 0;
}

int option_field(struct draft *draft, const char *value, struct error *error)
{
    static const char *const modifiers[] = {"", ":each", ":sum", ":last"}; /* by enum list_kind */
    char field[FIELD_SIZE], shown[ERROR_SUBJECT_MAX];
    const char *end = field_split("--field", value, value, field, error);
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
    return error_of_option(error, "--field", value,
                           "'%s' must be :time, or :each, :sum or :last of a list of numbers%s",
                           shown,
                           field_number(field) == 0 && *value != '.' && *value != '"'
                               ? "; quote a name that has a colon, as in --field='\"a:b\"'"
                               : "");
}
