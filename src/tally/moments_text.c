/* SPDX-License-Identifier: MIT */
#include "moments_text.h"
#include "src/text/show_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_NIBBLES 16 /* hexadecimal digits of a word */

/* --- sums --- */

static void show_sum(const struct exact_sum *sum, char text[EXACT_SUM_TEXT])
{
    struct exact_number number;
    char digits[WORD_NIBBLES * EXACT_WORDS + 1], *end = digits, *begin = digits;
    exact_sum_read(sum, &number);
    if (number.count == 0) {
        strcpy(text, "0p0");
        return;
    }
    for (int i = number.count; i-- > 0; end += WORD_NIBBLES)
        snprintf(end, WORD_NIBBLES + 1, "%016" PRIx64, number.words[i]);
    while (*begin == '0')
        begin++;
    for (; end[-1] == '0'; end--)
        number.exponent += 4;
    snprintf(text, EXACT_SUM_TEXT, "%s%.*sp%d", number.is_negative ? "-" : "", (int)(end - begin),
             begin, number.exponent);
}

/* False if show_sum does not write the text. */
static bool read_sum(const char *text, struct exact_sum *sum)
{
    char again[EXACT_SUM_TEXT];
    const bool negative = *text == '-';
    const char *first = text + negative;
    const size_t count = strspn(first, "0123456789abcdef");
    exact_sum_clear(sum);
    if (strcmp(text, "0p0") == 0)
        return true;
    if (count == 0 || first[count] != 'p')
        return false;
    long exponent = strtol(first + count + 1, NULL, 10);
    if (exponent < EXACT_LOWEST || exponent > EXACT_HIGHEST ||
        count > (size_t)(EXACT_HIGHEST - exponent) / 4)
        return false;
    for (const char *at = first + count; at-- > first; exponent += 4) {
        const uint64_t value = (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
        exact_sum_add_words(sum, &value, 1, (int)exponent, negative);
    }
    show_sum(sum, again);
    return strcmp(text, again) == 0;
}

/* --- moments --- */

/* Adds a text with its end to an FNV-1a hash. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    do
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    while (*text++);
    return hash;
}

static void set_check(const struct moments *moments, struct moments_text *text)
{
    char infinite[2 * SHOW_NUMBER];
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    snprintf(infinite, sizeof infinite, "%" PRIu64 " %" PRIu64, moments->lowest, moments->highest);
    hash = hash_text(hash, text->least);
    hash = hash_text(hash, text->greatest);
    hash = hash_text(hash, infinite);
    hash = hash_text(hash, text->sum);
    hash = hash_text(hash, text->squares);
    snprintf(text->check, sizeof text->check, "%016" PRIx64, hash);
}

void moments_show(const struct moments *moments, bool is_whole, struct moments_text *text)
{
    show_double(NAN, text->least);
    show_double(NAN, text->greatest);
    if (moments->any && is_whole) {
        show_whole(moments->least, text->least);
        show_whole(moments->greatest, text->greatest);
    } else if (moments->any) {
        int128 number;
        show_double(moments->min + 0.0, text->least);
        show_double(moments->max + 0.0, text->greatest);
        if (moments_least_large(moments, &number))
            show_whole(number, text->least);
        if (moments_greatest_large(moments, &number))
            show_whole(number, text->greatest);
    }
    show_sum(&moments->sum, text->sum);
    show_sum(&moments->squares, text->squares);
    set_check(moments, text);
}

static bool read_extreme(const char *text, bool is_whole, int128 *number, double *value)
{
    return is_whole ? read_shown_whole(text, number) : read_shown_double(text, value);
}

static void read_large(const char *text, double value, struct large_numbers *large)
{
    int128 number;
    if (!(fabs(value) <= MOMENTS_LARGE_END))
        return;
    if (!read_shown_whole(text, &number))
        number = (int128)value;
    large_numbers_add(large, value, number);
}

bool moments_read(const struct moments_text *text, bool is_whole, struct moments *moments)
{
    struct moments_text again;
    moments->any = strcmp(text->least, "nan") != 0;
    if (moments->any &&
        !(read_extreme(text->least, is_whole, &moments->least, &moments->min) &&
          read_extreme(text->greatest, is_whole, &moments->greatest, &moments->max)))
        return false;
    if (!moments->any && strcmp(text->greatest, "nan") != 0)
        return false;
    if (moments->least > moments->greatest || moments->min > moments->max)
        return false;
    if (moments->any && !is_whole) {
        struct large_numbers large = {.any = false};
        read_large(text->least, moments->min, &large);
        read_large(text->greatest, moments->max, &large);
        moments_add_large(moments, &large); /* the sums are set to those of the text below */
    }
    if (!read_sum(text->sum, &moments->sum) || !read_sum(text->squares, &moments->squares))
        return false;
    moments_show(moments, is_whole, &again);
    return strcmp(text->check, again.check) == 0;
}
