/* SPDX-License-Identifier: MIT */
#include "large_numbers.h"
#include "src/text/number.h"

#include <math.h>

/* Reads up to eight digits at `at`. Returns how many there are: fewer if end or another character
 * follows. */
static size_t read_digits(const unsigned char *at, const unsigned char *end, uint64_t *number)
{
    size_t count = 0;
    if (end - at >= 8) {
        const uint64_t word = byte_word(at) ^ EACH_BYTE('0');
        /* The highest bit of each byte that is not a digit. */
        if (((((word & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | word) & EACH_BYTE(0x80)) == 0) {
            *number = number_of_digits(word);
            return 8;
        }
    }
    for (*number = 0; count < 8 && at < end && (unsigned char)(*at - '0') <= 9; count++, at++)
        *number = *number * 10 + (unsigned char)(*at - '0');
    return count;
}

/* Sets *number to the token [begin, end). False if that is not an integer of at most 64 bits. */
static bool read_whole(const unsigned char *begin, const unsigned char *end, int128 *number)
{
    static const uint64_t ten_to[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    const unsigned char *at = begin + (*begin == '-' || *begin == '+');
    uint64_t magnitude = 0, digits;
    if (at == end)
        return false;
    while (at < end) {
        const size_t count = read_digits(at, end, &digits);
        if (count == 0 || __builtin_mul_overflow(magnitude, ten_to[count], &magnitude) ||
            __builtin_add_overflow(magnitude, digits, &magnitude))
            return false;
        at += count;
    }
    *number = *begin == '-' ? -(int128)magnitude : (int128)magnitude;
    return true;
}

/* Sets *number to a token. One with a point or an exponent is the whole number that its double is.
 * False if it has more than 64 bits, or is no number. */
static bool whole_of_token(const unsigned char *begin, const unsigned char *end, int128 *number)
{
    if (read_whole(begin, end, number))
        return true;
    const double value = number_of_token(begin, end, end);
    const bool fits = fabs(value) <= MOMENTS_LARGE_END;
    *number = fits ? (int128)value : 0;
    return fits;
}

static void add_tokens(const unsigned char *text, size_t len, struct large_numbers *large)
{
    const unsigned char *limit = text + len;
    int128 number;
    for (const unsigned char *at = text, *end; at < limit; at = end) {
        end = at + 1;
        if (number_is_space(*at))
            continue;
        end = number_token_end(at, limit);
        if (whole_of_token(at, end, &number))
            large_numbers_add(large, (double)number, number);
    }
}

void large_numbers_read(const struct number_parser *parser, const struct field *field,
                        struct record_text text, struct moments *moments)
{
    struct field_tokens tokens = {.field = field, .cap = SIZE_MAX};
    struct large_numbers large = {.any = false};
    const bool is_gathered = field->kind != FIELD_NONE || field->has_units;
    if (!is_gathered)
        add_tokens(text.at, (size_t)(text.limit - text.at), &large);
    while (is_gathered && text.at < text.limit) {
        tokens.count = tokens.len = 0;
        parser->tokenize(field, &text, &tokens);
        add_tokens(tokens.bytes, tokens.len, &large);
    }
    moments_add_large(moments, &large);
}

void large_numbers_list(const struct number_parser *parser, const struct field *field,
                        struct record_text text, struct listed_number *numbers)
{
    struct field_tokens tokens = {.field = field, .cap = SIZE_MAX};
    while (text.at < text.limit) {
        tokens.count = tokens.len = 0;
        parser->tokenize(field, &text, &tokens);
        const unsigned char *at = tokens.bytes, *const limit = at + tokens.len;
        for (const unsigned char *end; at < limit; at = end + 1, numbers++) {
            end = number_token_end(at, limit);
            numbers->is_whole = whole_of_token(at, end, &numbers->number);
        }
    }
}
