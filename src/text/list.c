/* SPDX-License-Identifier: MIT */
/* The samples of fields that are lists of numbers, and the first record that has an invalid one. */
#include "field.h"
#include "units.h"

#include <math.h>
#include <stdlib.h>

/* --- sums --- */

#define REACH 400 /* digits before the point, and after it: those of all doubles */

/* A sum of decimals, digit by digit. Places count from the one of 10^-REACH. */
struct sum {
    int first, end; /* places in use, the one before the point among them */
    bool has_infinity[2];
    bool is_wrong; /* an element is no number, or has digits out of reach */
    int32_t digits[2 * REACH + 16];
};

/* Adds a digit, which is not 0. False if it is out of reach. */
static bool add_digit(struct sum *sum, int64_t place, int digit)
{
    if (place < 0 || place >= 2 * REACH)
        return false;
    while (sum->first > place)
        sum->digits[--sum->first] = 0;
    while (sum->end <= place)
        sum->digits[sum->end++] = 0;
    sum->digits[place] += digit;
    return true;
}

/* Adds a token, which has a NUL after it. False if it is no number, or has digits out of reach. */
static bool sum_add(struct sum *sum, const unsigned char *token, size_t len)
{
    const unsigned char *end = token + len;
    if (len == 0 || isnan(number_of_token(token, end, end)))
        return false;
    const bool is_negative = *token == '-';
    token += is_negative || *token == '+';
    if ((*token | 0x20) == 'i')
        return sum->has_infinity[is_negative] = true;
    const char *exponent = strpbrk((const char *)token, "eE");
    const unsigned char *digits_end = exponent ? (const unsigned char *)exponent : end;
    const unsigned char *point = memchr(token, '.', (size_t)(digits_end - token));
    int64_t place = REACH - (point ? digits_end - point - 1 : 0);
    if (exponent) {
        const long power = strtol(exponent + 1, NULL, 10);
        place += power > 2 * NUMBER_MAX    ? 2 * NUMBER_MAX
                 : power < -2 * NUMBER_MAX ? -2 * NUMBER_MAX
                                           : power;
    }
    for (const unsigned char *at = digits_end; at-- > token;) {
        if (*at == '.')
            continue;
        if (*at != '0' && !add_digit(sum, place, is_negative ? '0' - *at : *at - '0'))
            return false;
        place++;
    }
    return true;
}

/* Carries, so that each digit is one, and the number is not negative. Returns whether it was. */
static bool carry(struct sum *sum)
{
    for (bool is_negative = false;; is_negative = true) {
        int32_t over = 0;
        for (int i = sum->first; i < sum->end; i++) {
            over += sum->digits[i];
            sum->digits[i] = (over % 10 + 10) % 10;
            over = (over - sum->digits[i]) / 10;
        }
        const bool is_below = over < 0;
        for (int i = sum->first; i < sum->end && is_below; i++)
            sum->digits[i] = -sum->digits[i];
        for (over = abs(over); over > 0; over /= 10)
            sum->digits[sum->end++] = over % 10;
        if (!is_below)
            return is_negative;
    }
}

/* Writes the sum as a token. Returns its length, or 0 if there is none. */
static size_t sum_write(struct sum *sum, unsigned char *token)
{
    size_t len = 0;
    if (sum->is_wrong || (sum->has_infinity[0] && sum->has_infinity[1]))
        return 0;
    if (carry(sum) || sum->has_infinity[1])
        token[len++] = '-';
    if (sum->has_infinity[0] || sum->has_infinity[1]) {
        memcpy(token + sum->has_infinity[1], "inf", 3);
        return 3 + sum->has_infinity[1];
    }
    while (sum->end > REACH + 1 && sum->digits[sum->end - 1] == 0)
        sum->end--;
    while (sum->first < REACH && sum->digits[sum->first] == 0)
        sum->first++;
    for (int i = sum->end; i-- > sum->first;) {
        if (i == REACH - 1)
            token[len++] = '.';
        token[len++] = (unsigned char)('0' + sum->digits[i]);
    }
    return len;
}

/* --- elements --- */

/* Begins with the elements of a list [from, to): those of an array, or what stands between
 * separators; or all of it, if it is no list. */
static void elements_open(struct list *list, const unsigned char *from, const unsigned char *to)
{
    const enum field_kind kind = list->field->kind;
    const unsigned char *inner = from, *inner_end = to;
    list->is_array = kind == FIELD_JSON && *from == '[';
    if (list->is_array) {
        list->array = (struct json){.at = from, .end = to, .depth_max = JSON_DEPTH_MAX};
        json_value(&list->array);
        return;
    }
    field_strip(&inner, &inner_end);
    const bool is_quoted = inner > from && *from == '"';
    list->is_text = kind == FIELD_JSON
                        ? is_quoted && !memchr(from, '\\', (size_t)(to - from))
                        : kind != FIELD_CSV || is_quoted || inner == to || *from != '"';
    list->at = list->is_text ? inner : from;
    list->end = list->is_text ? inner_end : to;
}

/* Sets [*from, *to) to the next element. False if there is none. */
static bool next_element(struct list *list, const unsigned char **from, const unsigned char **to)
{
    if (list->is_array) {
        if (!json_next_element(&list->array))
            return false;
        json_skip_space(&list->array);
        *from = list->array.at;
        (void)json_skip(&list->array);
        *to = list->array.at;
        return true;
    }
    const unsigned char *at = list->at, *const end = list->end;
    if (!at)
        return false;
    *from = at;
    while (at < end && !(list->is_text && (*at == ',' || *at == ':' || *at == ';')))
        at++;
    *to = at;
    list->at = at < end ? at + 1 : NULL;
    return true;
}

/* Reads the number in [from, to). */
static void read_number(struct list *list, const unsigned char *from, const unsigned char *to)
{
    list->from = from;
    list->to = to;
    list->len = field_token(list->field, &list->from, &list->to, to, list->token);
}

/* Reads the next element that is not "-", and sets [*from, *to) to it as written. False if there is
 * none. */
static bool next_number(struct list *list, const unsigned char **from, const unsigned char **to)
{
    while (next_element(list, from, to)) {
        read_number(list, *from, *to);
        if (list->len != 1 || *list->token != '-')
            return true;
    }
    return false;
}

/* --- samples --- */

/* Adds up a list whose first number was read. The sum was read from the last number, or the first
 * one that is wrong. */
static void add_up(struct list *list)
{
    const unsigned char *from, *to, *begin, *end;
    struct sum sum; /* whose digits are set when they are used */
    sum.first = REACH;
    sum.end = REACH + 1;
    sum.digits[REACH] = 0;
    sum.has_infinity[0] = sum.has_infinity[1] = false;
    do {
        from = list->from;
        to = list->to;
        list->token[list->len] = '\0';
        sum.is_wrong = !sum_add(&sum, list->token, list->len);
    } while (!sum.is_wrong && next_number(list, &begin, &end));
    list->from = from;
    list->to = to;
    list->len = sum_write(&sum, list->token);
}

/* Reads the first sample of a list [from, to). */
static void read_list(struct list *list, const unsigned char *from, const unsigned char *to)
{
    const unsigned char *begin, *end;
    elements_open(list, from, to);
    list->has_more = list->field->list == LIST_EACH;
    if (!next_number(list, &begin, &end)) {
        list->from = from;
        list->to = to;
        list->len = 0;
    } else if (list->field->list == LIST_SUM) {
        add_up(list);
    } else if (list->field->list == LIST_LAST) {
        do {
            from = begin;
            to = end;
        } while (next_number(list, &begin, &end));
        read_number(list, from, to); /* again: "-" may follow it */
    }
}

/* Enters an array, to each element of which a step leads. False if the value is none. */
static bool enter_array(struct list *list, const struct json_step *step, const unsigned char *from,
                        const unsigned char *to)
{
    const struct json_path *path = &list->field->path;
    struct list_level *level = &list->levels[list->depth];
    level->json = (struct json){.at = from, .end = to, .depth_max = JSON_DEPTH_MAX};
    level->begin = level->end = step + 1;
    while (level->end < path->steps + path->all && level->end->index != JSON_EACH)
        level->end++;
    if (json_value(&level->json) != JSON_ARRAY)
        return false;
    list->depth++;
    return true;
}

/* Sets [*from, *to) to the next value that the path leads to; *from to NULL if it leads nowhere.
 * False if there is none. */
static bool next_value(struct list *list, const unsigned char **from, const unsigned char **to)
{
    const struct json_path *path = &list->field->path;
    const struct json_step *step = path->steps + path->count;
    for (bool is_found = list->is_first;;) {
        list->is_first = false;
        if (is_found && *from && step < path->steps + path->all) {
            is_found = !enter_array(list, step, *from, *to); /* or its elements are next */
            *from = NULL;
        }
        if (is_found)
            return true;
        while (list->depth > 0 && !json_next_element(&list->levels[list->depth - 1].json))
            list->depth--;
        if (list->depth == 0)
            return false;
        struct list_level *level = &list->levels[list->depth - 1];
        is_found = json_follow(&level->json, level->begin, level->end, from, to);
        step = level->end;
    }
}

void list_open(struct list *list, const struct field *field, const unsigned char *from,
               const unsigned char *to)
{
    list->field = field;
    list->from = from;
    list->to = to;
    list->depth = 0;
    list->is_first = true;
    list->has_more = false;
}

bool list_next(struct list *list)
{
    const unsigned char *from = list->from, *to = list->to;
    if (list->has_more && next_number(list, &from, &to))
        return true;
    list->has_more = false;
    if (!next_value(list, &from, &to))
        return false;
    list->from = NULL;
    list->len = 0;
    if (from && list->field->list == LIST_NONE)
        read_number(list, from, to);
    else if (from)
        read_list(list, from, to);
    return true;
}

bool list_is_empty(const struct field *field, const unsigned char *from, const unsigned char *to)
{
    unsigned char token[LIST_TOKEN_SIZE];
    struct list list; /* which takes a page: what is read of it is set first */
    list.token = token;
    list_open(&list, field, from, to);
    return field_is_list(field) && !list_next(&list);
}

/* --- invalid records --- */

static bool is_number(const struct field *field, unsigned char *token, size_t len)
{
    if (field->has_comma)
        len = number_swap_comma(token, len);
    return len > 0 && (!isnan(number_of_token(token, token + len, token + len)) ||
                       (field->has_units && !isnan(number_with_units(token, token + len))));
}

/* True if all numbers in the field [*from, *to) of a record are some; otherwise sets *from and *to
 * to the first one that is none, NULL if it is missing. */
static bool has_numbers(const struct field *field, const unsigned char **from,
                        const unsigned char **to, const unsigned char *end)
{
    unsigned char token[LIST_TOKEN_SIZE];
    struct list list;
    if (!field_is_list(field))
        return is_number(field, token, field_token(field, from, to, end, token));
    list.token = token;
    list_open(&list, field, *from, *to);
    while (list_next(&list)) {
        *from = list.from;
        *to = list.to;
        if (!is_number(field, token, list.len))
            return false;
    }
    return true;
}

/* field_find_invalid where numbers are tokens that may have units. */
static bool find_invalid_token(const struct field *field, const unsigned char *text, size_t len,
                               struct field_fault *fault)
{
    const unsigned char *at = text, *from;
    unsigned char token[NUMBER_MAX];
    do {
        const size_t token_len = field_next_token(text, &at, text + len, &from, token);
        if (!from)
            return false;
        if (!is_number(field, token, token_len)) {
            *fault = (struct field_fault){.at = (size_t)(from - text),
                                          .what = FIELD_FOUND,
                                          .from = (size_t)(from - text),
                                          .len = (size_t)(at - from)};
            if (fault->len > FIELD_RECORD_MAX)
                *fault = (struct field_fault){.at = fault->at, .what = FIELD_TOO_LONG};
            return true;
        }
    } while (true);
}

bool field_find_invalid(const struct field *field, const unsigned char *text, size_t len,
                        struct field_fault *fault)
{
    const unsigned char *limit = text + len, *from = text, *to = text;
    number_prepare();
    if (field->kind == FIELD_NONE)
        return find_invalid_token(field, text, len, fault);
    for (const unsigned char *at = text, *end; at < limit; at = end + 1) {
        end = field_record_end(field, at, limit);
        enum field_found found = field_find(field, at, end, &from, &to);
        if (found == FIELD_EMPTY || (found == FIELD_FOUND && has_numbers(field, &from, &to, end)))
            continue;
        found = from ? found : FIELD_MISSING;
        *fault = (struct field_fault){.at = (size_t)(at - text), .what = found};
        if (found == FIELD_FOUND || found == FIELD_BROKEN) {
            fault->from = (size_t)(from - text);
            fault->len = (size_t)(to - from);
        }
        return true;
    }
    return false;
}
