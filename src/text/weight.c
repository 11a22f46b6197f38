/* SPDX-License-Identifier: MIT */
#include "weight.h"
#include "field_parser.h"

#include <inttypes.h>
#include <math.h>

/* Returns the weight that a token [at, end) is, or WEIGHT_NONE. */
static uint64_t weight_of_token(const unsigned char *at, const unsigned char *end)
{
    const bool is_negative = at < end && *at == '-';
    const unsigned char *digits = at += at < end && (*at == '-' || *at == '+');
    uint64_t weight = 0;
    for (; at < end && number_is_digit(*at); at++)
        if (__builtin_mul_overflow(weight, 10, &weight) ||
            __builtin_add_overflow(weight, *at - '0', &weight))
            return WEIGHT_NONE;
    if (at == digits || weight > WEIGHT_MAX || (is_negative && weight > 0))
        return WEIGHT_NONE;
    if (at < end && *at == '.')
        for (at++; at < end && *at == '0';)
            at++;
    return at == end ? weight : WEIGHT_NONE;
}

uint64_t weight_of_field(const struct field *field, const unsigned char *from,
                         const unsigned char *to)
{
    unsigned char token[NUMBER_MAX];
    uint64_t weight = 0;
    if (to - from <= 18) { /* most are digits alone, that fit */
        const unsigned char *at = from;
        while (at < to && number_is_digit(*at))
            weight = weight * 10 + (uint64_t)(*at++ - '0');
        if (at == to && at > from)
            return weight;
    }
    size_t len = field_token(field, &from, &to, to, token);
    if (field->has_comma)
        len = number_swap_comma(token, len);
    return weight_of_token(token, token + len);
}

bool weight_is_zero(const struct field *field, const unsigned char *begin, const unsigned char *end)
{
    const unsigned char *from, *to;
    return field_find(field, begin, end, &from, &to) == FIELD_FOUND &&
           weight_of_field(field, from, to) == 0;
}

void weights_read(const struct field *field, const struct key_span *spans, size_t n, double *values,
                  struct key_span *keys, uint64_t *weights, struct weight_total *total)
{
    uint64_t sum = 0;
    bool is_too_large = false;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *from = spans[i].from;
        weights[i] = from ? weight_of_field(field, from, from + spans[i].len) : WEIGHT_NONE;
        if (weights[i] == WEIGHT_NONE) {
            weights[i] = 1;
            if (values)
                values[i] = NAN;
            else
                keys[i].from = NULL;
        }
        is_too_large |= __builtin_add_overflow(sum, weights[i], &sum);
    }
    if (is_too_large || atomic_fetch_add(&total->sum, sum) > UINT64_MAX - sum)
        atomic_store(&total->is_too_large, true);
}

int weight_total_check(const struct weight_total *total, struct error *error)
{
    return !atomic_load(&total->is_too_large)
               ? 0
               : error_set(error,
                           "the weights add up to more than %" PRIu64
                           "; count fewer lines, as with --where or --lines-with",
                           UINT64_MAX);
}
