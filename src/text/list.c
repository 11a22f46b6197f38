/* SPDX-License-Identifier: MIT */
#include "field.h"

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

static void sum_begin(struct sum *sum)
{
    sum->first = REACH;
    sum->end = REACH + 1;
    sum->digits[REACH] = 0;
    sum->has_infinity[0] = sum->has_infinity[1] = sum->is_wrong = false;
}

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

/* --- lists --- */

struct walk {
    const struct field *field;
    list_put *put;
    void *arg;
    const unsigned char *from, *to; /* the last element, or the first one that is wrong in a sum */
    bool has_elements;
    struct sum sum;
    unsigned char token[NUMBER_MAX + 1];
};

static bool put(struct walk *walk, const unsigned char *from, const unsigned char *to, size_t len)
{
    const struct list_sample sample = {from, to, walk->token, len};
    return walk->put(walk->arg, &sample);
}

static bool put_number(struct walk *walk, const unsigned char *from, const unsigned char *to)
{
    const size_t len = field_token(walk->field, &from, &to, to, walk->token);
    return put(walk, from, to, len);
}

/* Adds an element of the list. False to end. */
static bool add_element(struct walk *walk, const unsigned char *from, const unsigned char *to)
{
    const unsigned char *inner = from, *inner_end = to;
    const size_t len = field_token(walk->field, &inner, &inner_end, to, walk->token);
    if (len == 1 && *walk->token == '-')
        return true;
    walk->has_elements = true;
    if (walk->field->list == LIST_EACH)
        return put(walk, inner, inner_end, len);
    if (walk->field->list == LIST_LAST) { /* it is read again */
        walk->from = from;
        walk->to = to;
    } else if (!walk->sum.is_wrong) {
        walk->from = inner;
        walk->to = inner_end;
        walk->token[len] = '\0';
        walk->sum.is_wrong = !sum_add(&walk->sum, walk->token, len);
    }
    return true;
}

/* Adds what stands between separators. */
static bool add_text(struct walk *walk, const unsigned char *from, const unsigned char *to)
{
    for (const unsigned char *at = from;; at++) {
        if (at < to && *at != ',' && *at != ':' && *at != ';')
            continue;
        if (!add_element(walk, from, at))
            return false;
        if (at == to)
            return true;
        from = at + 1;
    }
}

static bool add_array(struct walk *walk, const unsigned char *from, const unsigned char *to)
{
    struct json json = {.at = from, .end = to, .depth_max = JSON_DEPTH_MAX};
    json_value(&json);
    while (json_next_element(&json)) {
        json_skip_space(&json);
        from = json.at;
        if (!json_skip(&json) || !add_element(walk, from, json.at))
            return false;
    }
    return true;
}

static bool add_elements(struct walk *walk, const unsigned char *from, const unsigned char *to)
{
    const enum field_kind kind = walk->field->kind;
    const unsigned char *inner = from, *inner_end = to;
    if (kind == FIELD_JSON && *from == '[')
        return add_array(walk, from, to);
    field_strip(&inner, &inner_end);
    const bool is_quoted = inner > from && *from == '"';
    const bool is_text = kind == FIELD_JSON
                             ? is_quoted && !memchr(from, '\\', (size_t)(to - from))
                             : kind != FIELD_CSV || is_quoted || inner == to || *from != '"';
    return is_text ? add_text(walk, inner, inner_end) : add_element(walk, from, to);
}

/* Gives the samples of a list, or of a number. */
static bool put_list(struct walk *walk, const unsigned char *from, const unsigned char *to)
{
    const enum list_kind list = walk->field->list;
    if (list == LIST_NONE)
        return put_number(walk, from, to);
    walk->from = from;
    walk->to = to;
    walk->has_elements = false;
    sum_begin(&walk->sum);
    if (!add_elements(walk, from, to))
        return false;
    if (!walk->has_elements)
        return put(walk, from, to, 0);
    if (list == LIST_LAST)
        return put_number(walk, walk->from, walk->to);
    return list == LIST_EACH || put(walk, walk->from, walk->to, sum_write(&walk->sum, walk->token));
}

/* --- [] --- */

/* Gives the samples of a value, where the step is a [] or the end. */
static bool put_elements(struct walk *walk, const struct json_step *step, const unsigned char *from,
                         const unsigned char *to)
{
    const struct json_path *path = &walk->field->path;
    const struct json_step *const end = path->steps + path->all, *next = step + 1;
    struct json json = {.at = from, .end = to, .depth_max = JSON_DEPTH_MAX};
    if (walk->field->kind != FIELD_JSON || step == end)
        return put_list(walk, from, to);
    if (json_value(&json) != JSON_ARRAY)
        return put(walk, NULL, NULL, 0);
    while (next < end && next->index != JSON_EACH)
        next++;
    while (json_next_element(&json))
        if (!json_follow(&json, step + 1, next, &from, &to) ||
            !(from ? put_elements(walk, next, from, to) : put(walk, NULL, NULL, 0)))
            return false;
    return true;
}

bool list_samples(const struct field *field, const unsigned char *from, const unsigned char *to,
                  list_put *put_sample, void *arg)
{
    struct walk walk; /* which takes some pages: what is read of it is set first */
    walk.field = field;
    walk.put = put_sample;
    walk.arg = arg;
    return put_elements(&walk, field->path.steps + field->path.count, from, to);
}

static bool stop(void *arg, const struct list_sample *sample)
{
    (void)arg;
    (void)sample;
    return false;
}

bool list_is_empty(const struct field *field, const unsigned char *from, const unsigned char *to)
{
    return field_is_list(field) && list_samples(field, from, to, stop, NULL);
}
