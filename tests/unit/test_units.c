/* SPDX-License-Identifier: MIT */
/* Numbers with units: by hand against the decimal that they are, and random ones by every parser
 * against the definition, to the bit. */
#include "src/text/units.h"
#include "src/text/field_parser.h"
#include "tests/helpers/guarded.h"
#include "tests/helpers/naive_number.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE ((size_t)1 << 14)

static const struct field with_units = {.kind = FIELD_NONE, .has_units = true};
static unsigned long cases, wrong;
static unsigned char *scratch; /* TEXT_SIZE bytes between pages that fault */

static void fail(const char *who, const unsigned char *token, size_t len, double value, double is)
{
    if (wrong++ < 20)
        fprintf(stderr, "FAIL: %s: \"%.*s\": %.17g, not %.17g\n", who, len > 99 ? 99 : (int)len,
                (const char *)token, value, is);
}

/* The value of the next number, which may be several words: which ones, oracle_units.py tells.
 * *from is NULL at the end. */
static double next_value(const unsigned char *text, const unsigned char **at,
                         const unsigned char *limit, const unsigned char **from)
{
    unsigned char token[NUMBER_MAX];
    const size_t len = field_next_token(text, at, limit, from, token);
    return len > 0 ? naive_number_with_units(token, len) : NAN;
}

/* Compares the values of text[0..len) by every parser, `cap` at a time. */
static void check(const unsigned char *text, size_t len, size_t cap)
{
    double *values = malloc(cap * sizeof *values);
    for (const struct number_parser *const *parser = number_parsers; values && *parser; parser++) {
        struct record_text rest = {text, text, text + len};
        const unsigned char *at = text, *from;
        size_t count;
        if (!(*parser)->runs_here())
            continue;
        do {
            count = fields_parse(*parser, &with_units, NULL, &rest, values, NULL, cap);
            for (size_t i = 0; i < count; i++, cases++) {
                const double is = next_value(text, &at, text + len, &from);
                if (!from)
                    exit(1);
                if (!naive_same(values[i], is))
                    fail((*parser)->name, from, (size_t)(at - from), values[i], is);
            }
        } while (count == cap);
        next_value(text, &at, text + len, &from);
        if (from)
            fail("a token is left", from, (size_t)(at - from), 0, 0);
    }
    free(values);
}

/* A token alone, at the end of memory; NULL: it is none. */
static void check_one(const char *token, const char *decimal)
{
    const size_t len = strlen(token);
    const double is = decimal ? strtod(decimal, NULL) : NAN;
    unsigned char *text = scratch + TEXT_SIZE - len;
    struct field_fault fault;
    memcpy(text, token, len);
    if (!naive_same(naive_number_with_units(text, len), is))
        fail("naive", text, len, naive_number_with_units(text, len), is);
    check(text, len, 1);
    if (field_find_invalid(&with_units, text, len, &fault) == !isnan(is))
        fail("invalid", text, len, 0, is);
}

/* Tokens, and the same in seconds, bytes or without a unit. */
static const char *const same[][2] = {
    {"28m35.01s", "1715.01"},
    {"2h45m", "9900"},
    {"1d2h3m4s5ms6us7ns", "93784.005006007"},
    {"-1m30s", "-90"},
    {"+350ms", "0.35"},
    {"0.1ms", "0.0001"},
    {"1.1us", "1.1e-6"},
    {"1.1\xc2\xb5s", "1.1e-6"},
    {"1.1\xce\xbcs", "1.1e-6"},
    {"3ns", "3e-9"},
    {"5.s", "5"},
    {".5h", "1800"},
    {"1m.5s", "60.5"},
    {"-0s", "-0"},
    {"1e-05s", "1e-5"},
    {"2.5E+3ms", "2.5"},
    {"1e400d", "inf"},
    {"1e-400d", "0"},
    {"1s500ms", "1.5"},
    {"10B", "10"},
    {"1.5k", "1500"},
    {"1.5Ki", "1536"},
    {"1.5kB", "1500"},
    {"1.5KiB", "1536"},
    {"0.1Mi", "104857.6"},
    {"7M", "7e6"},
    {"7Mi", "7340032"},
    {"1.1G", "1.1e9"},
    {"3Gi", "3221225472"},
    {"2T", "2e12"},
    {"1TiB", "1099511627776"},
    {"1P", "1e15"},
    {"0.3Pi", "337769972052787.2"},
    {"42", "42"},
    {"inf", "inf"},
    /* words */
    {"1w", "604800"},
    {"5min", "300"},
    {"1min30.5s", "90.5"},
    {"2Hours5MINUTES", "7500"},
    {"1week2days3hrs4mins5secs6msecs7usecs8nsecs", "788645.006007008"},
    {"1second1millisecond1microsecond1nanosecond", "1.001001001"},
    {"3byte", "3"},
    {"3Bytes", "3"},
    /* clocks */
    {"01:02:03", "3723"},
    {"-1:02:03.5", "-3723.5"},
    {"100:59:59.", "363599"},
    {"0:00:00.000480", "0.00048"},
    {"90:00.5", "5400.5"},
    {"1:02:03.00000000000000000000000000001", "3723"},
    {"2501999792983:36:33.000000000000000000000000000001", "9007199254740993.00001"},
    {"99999999999999999999:00:00", "359999999999999999996400"},
    {"1d2:03:04", "93784"},
    {"1week2days03:04:05.5", "788645.5"},
    {"1-02:03:04", "93784"},
    {"+1-02:03:04.25", "93784.25"},
    /* a decimal between two doubles is rounded once, after all of it was multiplied */
    {"9007199254740993B", "9007199254740993"},
    {"9007199254740992.5ms", "9007199254740.9925"},
    {"150119987579016.55m", "9007199254740993"},
    {"2501999792983h36m33s", "9007199254740993"},
    {"2501999792983h36m33.000000000000000000000000000001s", "9007199254740993.00001"},
    {"18446744073709551615Pi", "20769187434139310512755229464985600"},
    {"18446744073709551616.000000000000000000001s", "18446744073709551616"},
};

/* Tokens that are no numbers. */
static const char *const none[] = {
    "s",
    "ms",
    ".s",
    "-",
    "+s",
    "5es",
    "5e",
    "1e+s",
    "4K",
    "4KB",
    "5sB",
    "5b",
    "5S",
    "5Ms",
    "1h1h",
    "1s1m",
    "1us1\xc2\xb5s",
    "1h2k",
    "1k2h",
    "1Ki1",
    "1h5",
    "1k1",
    "1k1k",
    "1.5h3m",
    "1h1e1s",
    "1e1h1s",
    "--5s",
    "5s-",
    "1h-5m",
    "1_000s",
    "1,5s",
    "5..5s",
    "0x5s",
    "infs",
    "5minx",
    "5\xc2s",
    "5\xb5s",
    "5\xce\xbc",
    "5iB",
    "5BB",
    "5KiBi",
    "5%",
    /* words */
    "5secss",
    "5hour s",
    "5kbyte",
    "5kilobytes",
    "5months",
    "5years",
    "5mi",
    "1day1week",
    "5bytes5s",
    "5sB",
    "s5",
    /* clocks */
    "1:30",
    "1:30s",
    "1:30:",
    ":30",
    "1:",
    "1:2:3",
    "1:02:3",
    "1:.5",
    "1:02:.5",
    "1:0.5",
    "1:02:60",
    "1:60:00",
    "1:002:03",
    "1:02:03:04",
    "1.5:02:03",
    "1:02.5:03",
    "1:02:03s",
    "1:02:03e1",
    "1e1:02:03",
    "1:-2:03",
    "1:02:03.5.5",
    "1:02.",
    "1:2.5",
    "1:60.5",
    "1::02",
    "1d1:02.5",
    "1h1:02:03",
    "1d2h1:02:03",
    "-1d2:03:04",
    "-1-02:03:04",
    "1.5d2:03:04",
    "1d2",
    "1-02",
    "1-02:03",
    "1-02:03.5",
    "1.5-02:03:04",
    "1--02:03:04",
    "1-",
    "1d-02:03:04",
    "1k2:03:04",
    "1-02h",
};

static void check_by_hand(void)
{
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        check_one(same[i][0], same[i][1]);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        check_one(none[i], NULL);
}

static size_t put(unsigned char *at, const char *text)
{
    const size_t len = strlen(text);
    memcpy(at, text, len);
    return len;
}

static size_t put_digits(unsigned char *at, unsigned max)
{
    const size_t len = random_below(max);
    for (size_t i = 0; i < len; i++)
        at[i] = (unsigned char)('0' + random_below(10));
    return len;
}

/* Writes a token that looks like a number with units, and mostly is one. */
static size_t put_token(unsigned char *at)
{
    static const char *const units[] = {"d",  "h", "m", "s", "ms", "us", "\xc2\xb5s", "ns", "k",
                                        "M",  "G", "T", "P", "Ki", "Mi", "Gi",        "Ti", "Pi",
                                        "kB", "B", "",  "K", "e",  "e5", "e-3s"};
    static const char *const seldom[] = {"-", "+", ".", "e", "\xc2", "0000000000000000000000", "x"};
    const unsigned parts = random_below(3) ? 1 : 1 + random_below(5), compound = random_below(2);
    unsigned unit = 0;
    size_t len = random_below(8) ? 0 : put(at, "-");
    for (unsigned part = 0; part < parts; part++) {
        len += put_digits(at + len, random_below(40) == 0 ? 60 : random_below(10) ? 6 : 22);
        if (random_below(4) == 0 && (part + 1 == parts || !compound)) {
            len += put(at + len, ".");
            len += put_digits(at + len, random_below(40) == 0 ? 60 : random_below(10) ? 5 : 22);
        }
        unit += compound && parts > 1 ? 1 + random_below(2)
                                      : random_below(sizeof units / sizeof *units);
        unit %= sizeof units / sizeof *units;
        len += put(at + len, units[unit]);
        if (random_below(100) == 0)
            len += put(at + len, seldom[random_below(sizeof seldom / sizeof *seldom)]);
        if (random_below(200) == 0)
            at[len++] = '\0';
    }
    return len;
}

static void check_random(unsigned long rounds)
{
    static const char *const spaces[] = {" ", "\n", "\t ", "\r\n", "         ", "\v"};
    static unsigned char text[TEXT_SIZE + 1024];
    while (rounds-- > 0) {
        size_t len = 0, max = random_below(8) ? 600 : TEXT_SIZE;
        while (len < max) {
            len += random_below(4) ? put_token(text + len) : put(text + len, "12.5");
            len += put(text + len, spaces[random_below(sizeof spaces / sizeof *spaces)]);
        }
        memcpy(scratch + TEXT_SIZE - max, text, max);
        check(scratch + TEXT_SIZE - max, max, 1 + random_below(random_below(2) ? 1500 : 40));
    }
}

/* Tokens around the longest, all digits of which count. */
static void check_long(void)
{
    for (size_t len = NUMBER_MAX - 1; len <= NUMBER_MAX + 1; len++)
        for (size_t point = 1; point < len; point += 1021) {
            memset(scratch, '9', len);
            scratch[point] = '.';
            memcpy(scratch + len - 2, len % 2 ? "Pi" : "ns", 2);
            check(scratch, len, 2);
        }
}

int main(void)
{
    scratch = guarded_memory(TEXT_SIZE);
    number_prepare();
    check_by_hand();
    check_random(scale_is_slow() ? 300 : scale_is_small() ? 2000 : scale_is_all() ? 100000 : 20000);
    check_long();
    printf("test_units: %lu cases, %lu failed\n", cases, wrong);
    return wrong != 0;
}
