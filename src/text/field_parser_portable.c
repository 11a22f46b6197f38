/* SPDX-License-Identifier: MIT */
/* Parses numbers in plain C: tokens of up to seven bytes in a word, with no branch that depends on
 * their content, and others one by one. */
#include "field_parser.h"
#include "number.h"
#include "src/base/byte_masks.h"

#include <float.h>

#define TARGET
#define INLINE static inline __attribute__((always_inline))

INLINE uint64_t bytes_equal(const unsigned char *at, unsigned char byte)
{
    return byte_mask_equal(at, byte);
}

INLINE uint64_t bytes_low(const unsigned char *at)
{
    return byte_mask_up_to(at, ' ');
}

INLINE void copy_32(unsigned char *to, const unsigned char *from)
{
    for (unsigned i = 0; i < 32; i++)
        to[i] = from[i];
}

INLINE struct json_bytes json_bytes_at(const unsigned char *at)
{
    return (struct json_bytes){
        .quotes = byte_mask_equal(at, '"'),
        .backslashes = byte_mask_equal(at, '\\'),
        .marks = byte_mask_equal(at, '{') | byte_mask_equal(at, '}') | byte_mask_equal(at, '[') |
                 byte_mask_equal(at, ']') | byte_mask_equal(at, ':') | byte_mask_equal(at, ','),
        .spaces = byte_mask_equal(at, ' ') | byte_mask_equal(at, '\t') | byte_mask_equal(at, '\r'),
        .controls = byte_mask_up_to(at, 0x1f)};
}

INLINE void json_write_positions(uint64_t bits, unsigned offset, uint16_t *to)
{
    mask_positions(bits, offset, to);
}

#include "json_loop.h"

/* --- numbers --- */

static const double ten_to[] = TEN_TO;

/* Parses the token at `at` if it is a plain number that white space ends within eight bytes: sets
 * *value and returns its length. Otherwise returns 0. */
static inline unsigned short_number(const unsigned char *at, double *value)
{
    const uint64_t word = byte_word(at);
    /* The lowest bit marks the first byte up to a space. Higher bits may be wrong because of
     * borrow. */
    const uint64_t low = (word - EACH_BYTE(' ' + 1)) & ~word & EACH_BYTE(0x80);
    if (low == 0)
        return 0;
    const unsigned len = (unsigned)__builtin_ctzll(low) / 8;
    if (!number_is_space(at[len]))
        return 0;

    /* The token at the high end, as digits, with zeros before it. */
    const unsigned shift = 64 - 8 * len;
    uint64_t digits = (word ^ EACH_BYTE('0')) << shift;
    const uint64_t negative = *at == '-', sign = negative | (*at == '+');
    digits &= ~(sign * 0xff << shift);

    /* The lowest bit of each byte that is not a digit. Only one dot may be there. */
    const uint64_t dot =
        ((((digits & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | digits) & EACH_BYTE(0x80)) >> 7;
    const uint64_t dots = dot * 0xff;
    const bool is_dot = dot != 0;
    if ((dot & (dot - 1)) != 0 || ((digits ^ EACH_BYTE('.' ^ '0')) & dots) != 0 ||
        len == sign + is_dot)
        return 0;

    /* The digits before the dot move over it. */
    const uint64_t front = dot - is_dot;
    digits = (digits & ~(front | dots)) | (digits & front) << 8;
    const unsigned fraction = 7 - (unsigned)__builtin_ctzll(dot | UINT64_C(1) << 63) / 8;

    double magnitude = (double)(int64_t)number_of_digits(digits) / ten_to[fraction];
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    bits |= negative << 63;
    memcpy(value, &bits, sizeof *value);
    return len;
}

static size_t parse_numbers(const unsigned char *text, size_t len, double *values, size_t cap,
                            size_t *used)
{
    const unsigned char *at = text, *limit = text + len;
    size_t count = 0;
    while (count < cap && limit - at > 8) {
        if (number_is_space(*at)) {
            at++;
            continue;
        }
        /* With more precision than a double's, a quotient would be rounded twice. */
        unsigned token = FLT_EVAL_METHOD == 0 ? short_number(at, &values[count]) : 0;
        if (token) {
            count++;
            at += token + 1;
        } else {
            count += numbers_by_token(&at, limit, &values[count], 1);
        }
    }
    count += numbers_by_token(&at, limit, values + count, cap - count);
    *used = (size_t)(at - text);
    return count;
}

static bool runs_here(void)
{
    return true;
}

const struct number_parser number_parser_portable = {
    .name = "portable",
    .runs_here = runs_here,
    .parse = parse_numbers,
    .find = find_string,
    .read_fields = read_fields,
};
