/* SPDX-License-Identifier: MIT */
/* Every parser of numbers that this processor can run against the grammar and strtod, to the bit:
 * over tokens that are hard to round or hardly numbers, over random ones, and over texts that are
 * cut anywhere and end at a page that must not be touched. */
#include "src/text/units.h"
#include "src/text/field_parser.h"
#include "tests/helpers/bits.h"
#include "tests/helpers/guarded.h"
#include "tests/helpers/naive_number.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/unit/tested_parsers.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY ((size_t)512 << 10)
#define TOKENS_MAX (CAPACITY / 2)

static unsigned long tokens, wrong;
static unsigned char *scratch; /* ROOM bytes between pages that fault */

/* --- texts --- */

struct text {
    unsigned char data[CAPACITY];
    size_t len;
};

static struct text made;

static void append(struct text *text, const void *data, size_t len)
{
    if (len > CAPACITY - text->len)
        abort();
    memcpy(text->data + text->len, data, len);
    text->len += len;
}

__attribute__((format(printf, 2, 3))) static void append_format(struct text *text,
                                                                const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int len = vsnprintf((char *)text->data + text->len, CAPACITY - text->len, format, arguments);
    va_end(arguments);
    if (len < 0 || (size_t)len >= CAPACITY - text->len)
        abort();
    text->len += (size_t)len;
}

/* --- checks --- */

struct expected {
    double values[TOKENS_MAX];
    size_t begins[TOKENS_MAX + 1], ends[TOKENS_MAX];
    size_t count;
};

static struct expected expected;

static void expect(const unsigned char *text, size_t len)
{
    size_t begin = 0, end = 0;
    expected.count = 0;
    for (; naive_token(text, len, end, &begin, &end); expected.count++) {
        expected.begins[expected.count] = begin;
        expected.ends[expected.count] = end;
        expected.values[expected.count] = naive_number(text + begin, end - begin);
    }
    expected.begins[expected.count] = len;
}

static void fail(const struct number_parser *parser, const unsigned char *text, size_t token,
                 double value)
{
    size_t len = expected.ends[token] - expected.begins[token];
    if (wrong++ < 20)
        fprintf(stderr, "FAIL: %s: \"%.*s\" (%zu bytes), token %zu: %a, not %a\n", parser->name,
                len > 100 ? 100 : (int)len, (const char *)text + expected.begins[token], len, token,
                value, expected.values[token]);
}

static void fail_text(const struct number_parser *parser, const char *what, size_t is, size_t not )
{
    if (wrong++ < 20)
        fprintf(stderr, "FAIL: %s: %s %zu, not %zu\n", parser->name, what, is, not );
}

/* Parses what is expected, cap tokens at a time, in a text that need not be readable around. */
static void check_parser(const struct number_parser *parser, const unsigned char *text, size_t len,
                         size_t cap)
{
    static double values[TOKENS_MAX + 1];
    const double canary = 0x1.23456789abcdep+42;
    size_t at = 0, done = 0;
    for (;;) {
        size_t used = SIZE_MAX;
        values[cap] = canary;
        size_t count = parser->parse(text + at, len - at, values, cap, &used);
        size_t left = expected.count - done, due = left < cap ? left : cap;
        if (count != due) {
            fail_text(parser, "tokens", count, due);
            return;
        }
        if (!naive_same(values[cap], canary))
            fail_text(parser, "wrote beyond", cap, cap);
        for (size_t i = 0; i < count; i++)
            if (!naive_same(values[i], expected.values[done + i]))
                fail(parser, text, done + i, values[i]);
        done += count;
        at += used;
        tokens += count;
        if (count < cap) {
            if (at != len)
                fail_text(parser, "used", at, len);
            return;
        }
        if (at < expected.ends[done - 1] || at > expected.begins[done]) {
            fail_text(parser, "used", at, expected.ends[done - 1]);
            return;
        }
    }
}

static void check(const unsigned char *text, size_t len, size_t cap)
{
    for (const struct number_parser *const *parser = tested_parsers; *parser; parser++)
        if ((*parser)->runs_here())
            check_parser(*parser, text, len, cap);
}

/* --- tokens by hand --- */

static const char by_hand[] =
    /* plain ones, as long as words and vectors */
    "0 1 9 10 99 123 1234 12345 123456 1234567 12345678 123456789 1234567890123456 "
    "12345678901234567 9007199254740991 9007199254740992 9007199254740993 9007199254740994 "
    "9007199254740995 -9007199254740993 9999999999999999 999999999999999 99999999999999.9 "
    "9.99999999999999 900719925474099.3 90071992547409.93 0.1 0.12 0.123 12.99 0.000001 "
    "0.0000001 0.00000000000001 .00000000000001 -.5 +.5 -5. +5. 5. .5 -0 +0 -0.0 -.0 -0. 00 -00 "
    "007 -007.50 0e0 -0e-5 1e0 1E0 1e+0 1e-0 1.e1 .1e1 -1.5E+3 1e22 1e23 1e-22 1e-23 123e22 "
    "8.5e22 9007199254740992e22 9007199254740993e22 9007199254740992e-22 9007199254740993e-22 "
    "9007199254740991e23 123456.7e-5 0e99999 -0e99999 0e-99999 0.000e99999 1e999999999999 "
    "-1e999999999999 1e-999999999999 -1e-999999999999 1e18446744073709551616 "
    "1e-18446744073709551616 1e00000000000000000000000000000000000000001 0.0e1 1e309 1e308 "
    "-1e309 1e310 "
    "1e100000001 1e-100000001 1e+00000001 1e-00000001 1e000000001 1.5e+100000001 1e12345678 "
    /* half way, and just beside: 2^53 and its neighbours, in many spellings */
    "9007199254740993.0 9007199254740993.00000000000000000000000000000000000000000000 "
    "9007199254740993.00000000000000000000000000000000000000000001 "
    "9007199254740992.99999999999999999999999999999999999999999999 90071992547409930e-1 "
    "9007199254740993000000000000e-12 9007199254740995.0000000000000000000000000000 "
    "18014398509481986 18014398509481985 18014398509481987 18014398509481990 36028797018963972 "
    "18446744073709551615 18446744073709551616 18446744073709551617 18446744073709549568 "
    "18446744073709550592 18446744073709550591 18446744073709550593 9223372036854775807 "
    "9223372036854775808 9223372036854776832 9223372036854776833 9999999999999999999 "
    "10000000000000000000 99999999999999999999 "
    "1.00000000000000011102230246251565404236316680908203125 "
    "1.00000000000000011102230246251565404236316680908203124 "
    "1.00000000000000011102230246251565404236316680908203126 "
    "1.00000000000000033306690738754696212708950042724609375 "
    "0.500000000000000166533453693773481063544750213623046875 8.41e+21 9.2e22 5e22 "
    "3.508860418883e+21 1448997445238699 7.3177701707893310e+15 4.35e-324 6.9294956446009195e15 "
    "3.7455744005952583e15 2.2250738585072011e-308 104110013277974872254e-225 12345e120 "
    "179769313486231580793e289 1090544144181609348671888949248 1090544144181609348835077142190 "
    "0.000000000000000000000000000000000000001e39 1.0e-2 "
    "7.0420557077594588669468784357561207962098443483187940792729600000e+59 "
    "7.8459735791271921e65 3.571e266 3.08984926168550152811e-32 5.58e-46 6.4e-27 3.571e-266 "
    "1e-27 1e-28 9007199254740993e-4 4503599627370497.5 4503599627370496.5 45035996273704985e-1 "
    "450359962737049850e-2 22517998136852482.5e-1 "
    "4503599627370496.5 4503599627370497.5 9007199254740991.5 9007199254740990.5 "
    "4503599633543335.5 2251799813685248.25 2251799813685248.75 4503599627370495.75 "
    "4503599627370495.25 2251799816771667.75 1125899906842624.125 1125899906842624.375 "
    "2251799813685247.875 2251799813685247.625 1125899908385833.875 562949953421312.0625 "
    "562949953421312.1875 562949954192916.9375 9007199254740993 -900719925474099.3 "
    "9007199254740995 9999999999999997 9999999999999999 "
    /* the largest, and beyond */
    "1.7976931348623157e308 1.7976931348623158e308 1.7976931348623159e308 "
    "179769313486231570814527423731704356798070e267 1.797693134862315807e308 "
    "1.797693134862315808e308 1.7976931348623158079372e308 1.7976931348623158079373e308 "
    "-1.797693134862315808e308 "
    "1.79769313486231580793728971405303415079934132710037826936173778980444968292764750946649e308 "
    "1.79769313486231580793728971405303415079934132710037826936173778980444968292764750946650e308 "
    /* the least, and below */
    "5e-324 4.9e-324 4.94065645841246544e-324 2.5e-324 2.4e-324 2.47e-324 "
    "2.4703282292062327208e-324 2.4703282292062327209e-324 2.47032822920623272e-324 "
    "2.4703282292062328e-324 -2.4703282292062327e-324 7.4e-324 7.41098468761869816e-324 "
    "7.4109846876186981627e-324 7.4109846876186981626e-324 1e-323 1.5e-323 "
    "2.2250738585072014e-308 2.2250738585072013e-308 2.2250738585072012e-308 "
    "2.2250738585072011e-308 2.2250738585072010e-308 2.2250738585072009e-308 "
    "2.225073858507201136e-308 2.225073858507201137e-308 2.2250738585072008890e-308 1e-307 "
    "1e-308 1e-309 1e-320 1e-342 1e-343 9999999999999999999e-343 9999999999999999999e-342 "
    "9999999999999999999e-344 1e-400 24703282292062327208e-343 "
    /* infinite */
    "inf -inf +inf INF Inf iNfInItY infinity -infinity +Infinity INFINITY "
    /* no numbers */
    "12abc 0x10 0x --1 ++1 +-1 -+1 1e 1e+ 1e- e1 .e1 . + - +. -. nan NaN -nan nan(1) 1_000 "
    "1,000 1..2 1.2.3 .. 1- 1+ 1-2 1e5.0 1e1e1 1ee1 1e++1 1e+-1 infi infinit infinityy in i -i "
    "+in infx 1inf inf1 --inf 0b1 0o7 1f 1d 1.0f 1L 0x1p3 1p3 1 .5- 12345678- 1234567- -1234567 "
    "-12345678 +1234567 123456. 1234567. .1234567 .123456 -.123456 -.12345 1.2.3456 12.34-5 "
    "1234.567. .1234. -. 1234567890123456. 123456789012345. -23456789012345. -234567890123456 "
    ".234567890123456 -.34567890123456 1.345678901234.6 123456789012345- 1234567890123456e "
    "12345678901e+ 1e5 12e-3 1.5e10 1.5e300 -1.5e-300 123456789012345678901234567890e-30 : ; / "
    "1: 1/ 1/2 0:0 $1 1% \"1\" '1' (1) 1\177 \200 1\377 \261 1\261 1\2565 "
    "\2551 \357\274\221 \302\2401 1\001 \001 \010 \016 \037 1\037 1\016 1\010 123\037123 "
    "12345678\037 \2051 1\205 0.1\031 \020\020 ";

/* Many zeros in the middle. */
static void append_zeros(struct text *text, const char *before, unsigned zeros, const char *after)
{
    append_format(text, "%s%0*d%s\n", before, (int)zeros, 0, after);
}

static void make_zeros(struct text *text)
{
    for (unsigned zeros = 1; zeros < 420; zeros = zeros < 40 ? zeros + 1 : zeros + 37) {
        char exponent[32];
        append_zeros(text, "", zeros, "1");
        append_zeros(text, "-", zeros, "");
        append_zeros(text, "1", zeros, "");
        append_zeros(text, "9007199254740993", zeros, "");
        append_zeros(text, "9007199254740993", zeros, "1");
        append_zeros(text, "0.", zeros, "12345678901234567");
        append_zeros(text, ".", zeros, "9007199254740993");
        append_zeros(text, "1.", zeros, "");
        append_zeros(text, "9007199254740993.", zeros, "");
        append_zeros(text, "9007199254740993.", zeros, "1");
        snprintf(exponent, sizeof exponent, "9007199254740993e%u", zeros + 16);
        append_zeros(text, "0.", zeros, exponent);
        snprintf(exponent, sizeof exponent, "e-%u", zeros);
        append_zeros(text, "9007199254740993", zeros, exponent);
        append_zeros(text, "1", zeros, exponent);
    }
}

/* All doubles near to, and half way to, the next: with all their digits, and a little more or less.
 */
static void append_neighbours(struct text *text, uint64_t bits)
{
    const double value = double_of_bits(bits);
    static char digits[2000];
    append_format(text, "%.17g %.16g %.15g %.19e %.20e\n", value, value, value, value, value);
    if (LDBL_MANT_DIG <= DBL_MANT_DIG || !isfinite(value))
        return;
    long double half = ((long double)value + (long double)double_of_bits(bits + 1)) / 2;
    int len = snprintf(digits, sizeof digits, "%.800Lg", half);
    append_format(text, "%s\n", digits);
    char *exponent = strchr(digits, 'e'), *end = exponent ? exponent : digits + len;
    if (strchr(digits, '.')) {
        const int kept = (int)(end - digits);
        append_format(text, "%.*s1%s\n", kept, digits, end);
        append_format(text, "%.*s%049d%s\n", kept, digits, 1, end);
        append_format(text, "%.*s%049d%s\n", kept, digits, 0, end);
        end[-1]--;
        append_format(text, "%.*s9999999999%s\n", kept, digits, end);
    }
    append_format(text, "%.19Lg %.20Lg %.21Lg %.30Lg\n", half, half, half, half);
}

static void make_neighbours(struct text *text)
{
    static const double near[] = {0,      1e-320, DBL_MIN / 2, DBL_MIN, 1e-300, 0.1,
                                  1,      3,      123456.789,  1e22,    1e23,   0x1p53,
                                  0x1p63, 0x1p64, DBL_MAX / 2, DBL_MAX};
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        uint64_t bits = bits_of_double(near[i]), begin = bits < 4 ? 0 : bits - 4;
        for (uint64_t neighbour = begin; neighbour <= bits + 4; neighbour++)
            append_neighbours(text, neighbour);
    }
}

/* Tokens about as long as may be, numbers and others. */
static void make_long(struct text *text)
{
    static const char *const ends[] = {"", "5", "e-4000", "e-4200", "x", ".5", "e9"};
    for (size_t len = NUMBER_MAX - 2; len <= NUMBER_MAX + 2; len++)
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
            append_format(text, "%0*d%s\n", (int)(len - strlen(ends[i])), 7, ends[i]);
            if (text->len > CAPACITY - 3 * NUMBER_MAX)
                abort();
        }
    for (int digits = 0; digits < NUMBER_MAX; digits++)
        append(text, "8", 1);
    append(text, "\n", 1);
    for (int digits = 0; digits < 3 * NUMBER_MAX; digits++)
        append(text, "9", 1);
    append(text, " 1", 2);
}

/* In the room's end and beginning. */
static void check_made(size_t cap)
{
    expect(made.data, made.len);
    memcpy(scratch + CAPACITY - made.len, made.data, made.len);
    check(scratch + CAPACITY - made.len, made.len, cap);
    memcpy(scratch, made.data, made.len);
    check(scratch, made.len, cap);
}

static void check_by_hand(void)
{
    const unsigned char *text = (const unsigned char *)by_hand;
    made.len = 0;
    append(&made, by_hand, sizeof by_hand - 1);
    append(&made, "1\0002 \0 0\0 -1\0\n", 13);
    make_zeros(&made);
    check_made(TOKENS_MAX);
    check_made(1);
    check_made(13);
    /* Each alone, and nine times. */
    for (size_t begin = 0, end = 0; naive_token(text, sizeof by_hand - 1, end, &begin, &end);) {
        made.len = 0;
        append(&made, text + begin, end - begin);
        check_made(2);
        for (int times = 0; times < 8; times++) {
            append(&made, "\t", 1);
            append(&made, text + begin, end - begin);
        }
        check_made(100);
    }
    made.len = 0;
    make_neighbours(&made);
    check_made(TOKENS_MAX);
    made.len = 0;
    make_long(&made);
    check_made(TOKENS_MAX);
}

/* --- every byte at every place of a token: what no number has, among what is one --- */

/* Appends a token with the byte instead of the one at `position`, or if `more` before it. */
static void append_with(struct text *text, const char *token, size_t position, bool more,
                        unsigned char byte)
{
    append(text, token, position);
    append(text, &byte, 1);
    append(text, token + position + !more, strlen(token) - position - !more);
    append(text, " ", 1);
}

static void append_everywhere(struct text *text, unsigned char byte)
{
    static const char *const numbers[] = {
        "7",    "-1.5",       "+20", "314.1592", "6e23",
        "-inf", "1.2.3.4",    "-",   "Infinity", "00000000000001.25",
        "+",    "2026-11-24", "."};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        for (size_t position = 0; position <= strlen(numbers[i]); position++) {
            append_with(text, numbers[i], position, true, byte);
            if (position < strlen(numbers[i]))
                append_with(text, numbers[i], position, false, byte);
            append_format(text, "%s ", numbers[position % (sizeof numbers / sizeof numbers[0])]);
        }
}

static void check_every_byte(void)
{
    for (unsigned byte = 0; byte < 256; byte++)
        for (size_t before = 0; before < 8; before++) {
            made.len = 0;
            append(&made, "12345678", before);
            append(&made, " ", 1);
            append_everywhere(&made, (unsigned char)byte);
            check_made(TOKENS_MAX);
        }
}

/* --- random tokens --- */

enum shape {
    SHAPE_BITS_17,
    SHAPE_BITS_20,
    SHAPE_EXPONENT,
    SHAPE_DECIMAL,
    SHAPE_INTEGER,
    SHAPE_LATENCY,
    SHAPE_PRICE,
    SHAPE_NEAR_HALF,
    SHAPE_LONG_INTEGER,
    SHAPE_CHARACTERS,
    SHAPE_MUTATED,
    SHAPES,
};

static double random_double(void)
{
    double value = double_of_bits(random_word());
    return isfinite(value) ? value : 0.5;
}

/* Of one to `max` digits, all lengths alike. */
static uint64_t random_digits(unsigned max)
{
    uint64_t end = 10;
    for (unsigned digits = random_below(max); digits; digits--)
        end *= 10;
    return random_word() % end;
}

static void append_token(struct text *text, enum shape shape)
{
    static const char characters[] = "00123456789999..eE+-+-infINFty_x";
    size_t begin = text->len;
    switch (shape) {
    case SHAPE_BITS_17:
        append_format(text, "%.17g", random_double());
        break;
    case SHAPE_BITS_20:
        append_format(text, "%.20g", random_double());
        break;
    case SHAPE_EXPONENT:
        append_format(text, "%.*e", (int)random_below(20), random_double());
        break;
    case SHAPE_DECIMAL:
        append_format(text, "%.*f", (int)random_below(17),
                      (double)(int64_t)random_word() / (double)(UINT64_C(1) << random_below(63)));
        break;
    case SHAPE_INTEGER:
        append_format(text, "%s%llu", random_below(4) ? "" : "-",
                      (unsigned long long)random_digits(19));
        break;
    case SHAPE_LATENCY:
        append_format(text, "0.%03u", random_below(1000));
        break;
    case SHAPE_PRICE:
        append_format(text, "%u.%02u", (unsigned)random_digits(4), random_below(100));
        break;
    case SHAPE_NEAR_HALF: /* an odd number of 54 bits times a power of two that digits can hold */
        append_format(text, "%llu%se%d",
                      (unsigned long long)((random_word() >> 11 | UINT64_C(1) << 53) * 2 + 1) / 2,
                      random_below(2) ? "" : ".0000000000", (int)random_below(30) - 8);
        break;
    case SHAPE_LONG_INTEGER:
        append_format(text, "%llu%0*llu", (unsigned long long)random_word(), (int)random_below(20),
                      (unsigned long long)random_digits(18));
        break;
    case SHAPE_CHARACTERS:
        for (unsigned i = random_below(12) + 1; i > 0; i--)
            append(text, &characters[random_below(sizeof characters - 1)], 1);
        break;
    default:
        append_token(text, (enum shape)random_below(SHAPE_MUTATED));
        text->data[begin + random_below((unsigned)(text->len - begin))] =
            random_below(3) ? (unsigned char)characters[random_below(sizeof characters - 1)]
                            : (unsigned char)random_below(256);
    }
}

/* A text has one shape, or all of them; mostly lines. */
static void check_random(unsigned long count)
{
    static const char *const spaces[] = {" ",    "\t", "\r\n", "\n\n", " \v\f", "                ",
                                         "\n\t "};
    for (unsigned long done = 0, turn = 0; done < count; turn++) {
        made.len = 0;
        for (unsigned i = 0; i < 2000; i++, done++) {
            unsigned shape = (unsigned)turn % (SHAPES + 3);
            append_token(&made, (enum shape)(shape < SHAPES ? shape : random_below(SHAPES)));
            const char *space =
                random_below(16) ? "\n" : spaces[random_below(sizeof spaces / sizeof spaces[0])];
            append(&made, space, strlen(space));
        }
        size_t cap = turn % 4 ? TOKENS_MAX : 1 + random_below(3000);
        expect(made.data, made.len);
        memcpy(scratch + CAPACITY - made.len, made.data, made.len);
        check(scratch + CAPACITY - made.len, made.len, cap);
    }
}

/* --- cuts --- */

/* Every piece of a text, before a page that faults and after one. */
static void check_cuts(const char *text, size_t len, size_t step)
{
    for (size_t begin = 0; begin <= len; begin += step)
        for (size_t end = begin; end <= len; end += step) {
            size_t piece = end - begin, cap = random_below(3) ? TOKENS_MAX : 1 + random_below(12);
            unsigned char *copy = random_below(2) ? scratch + CAPACITY - piece : scratch;
            memcpy(copy, text + begin, piece);
            expect(copy, piece);
            check(copy, piece, cap);
        }
}

static void check_all_cuts(bool quick)
{
    static const char mixed[] =
        "1 22\t333\n4444\v55555\f666666\r7777777\r\n88888888\n\n  999999999 \t\n\v\f\r1.5 -2.25 +3 "
        ".5 5. "
        "-0 1e5 1.7976931348623157e308 x 12abc - . 123456789012345678901234567890 inf -inf nan "
        "0.123\n0.456\n12.99\n48213\n1\n2\n3\n4\n5\n6\n7\n8\n9\n0\n1\n2\n3\n                       "
        " "
        "                                                                         1234567.12345678";
    static const char lines[] =
        "0.123\n0.456\n0.001\n12.99\n48213\n7\n-3\n0.999\n100\n0.5\n0.25\n"
        "3.14159\n2.71828\n1000000\n-1.5\n99999\n0.1\n0.2\n0.3\n1.25\r\n2\r\n";
    check_cuts(mixed, sizeof mixed - 1, quick ? 7 : 1);
    check_cuts(lines, sizeof lines - 1, quick ? 5 : 1);
    /* White space of each kind, more and more, in front of tokens longer and longer. */
    for (size_t spaces = 0; spaces < 140; spaces += quick ? 5 : 1)
        for (size_t token = 1; token < 80; token += quick ? 3 : 1) {
            made.len = 0;
            for (size_t i = 0; i < 12; i++) {
                for (size_t k = 0; k < spaces || (i > 0 && k < 1); k++)
                    append(&made, &"\n \t\r\v\f"[(i + k) % 6], 1);
                for (size_t k = 0; k < token; k++)
                    append(&made, k == 1 && i % 2 ? "." : &"123456789"[(i + k) % 9], 1);
            }
            check_made(token % 4 ? 100 : 5);
        }
}

/* --- the whole --- */

static void check_whole(const char *text, size_t first_invalid, size_t invalid_len)
{
    const unsigned char *data = (const unsigned char *)text;
    size_t len = strlen(text), at = SIZE_MAX, token_len = SIZE_MAX, used = SIZE_MAX;
    double values[16];
    bool found = numbers_find_invalid(data, len, &at, &token_len);
    if (found != (invalid_len > 0) ||
        (found && (at != first_invalid || token_len != invalid_len))) {
        fprintf(stderr, "FAIL: the first invalid token of \"%s\"\n", text);
        wrong++;
    }
    expect(data, len);
    size_t count = number_parser_find(NULL)->parse(data, len, values, 16, &used);
    bool same = count == expected.count && used == len;
    for (size_t i = 0; same && i < count; i++)
        same = naive_same(values[i], expected.values[i]);
    if (!same || number_parser_find(NULL)->parse(data, len, values, 0, &used) != 0 ||
        used > expected.begins[0]) {
        fprintf(stderr, "FAIL: numbers of \"%s\"\n", text);
        wrong++;
    }
}

int main(void)
{
    bool quick = scale_is_small_or_slow();
    scratch = guarded_memory(CAPACITY);
    check_whole("", 0, 0);
    check_whole(" \n", 0, 0);
    check_whole("1 2.5 -3", 0, 0);
    check_whole("1 2.5 0x10\n 1e", 6, 4);
    check_whole("nan", 0, 3);
    check_whole("\n1 -", 3, 1);
    number_prepare();
    for (const struct number_parser *const *parser = tested_parsers; *parser; parser++)
        if (!(*parser)->runs_here())
            printf("left out: %s: this processor lacks it\n", (*parser)->name);
    check_by_hand();
    printf("by hand: %lu tokens so far, %lu wrong\n", tokens, wrong);
    check_every_byte();
    printf("every byte: %lu tokens so far, %lu wrong\n", tokens, wrong);
    check_all_cuts(quick);
    printf("cuts: %lu tokens so far, %lu wrong\n", tokens, wrong);
    check_random(quick ? 1000000 : 10000000);
    printf("random: %lu tokens so far, %lu wrong\n", tokens, wrong);
    return wrong != 0;
}
