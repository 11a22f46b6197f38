/* SPDX-License-Identifier: MIT */
#include "bench/texts.h"
#include "tests/helpers/random.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_LEN 32

static int put_latency(char *line)
{
    return sprintf(line, "0.%03u\n", random_below(1000));
}

static int put_integer(char *line)
{
    return sprintf(line, "%u\n", random_below(100000));
}

static int put_price(char *line)
{
    static const unsigned ends[] = {10, 100, 1000, 10000};
    return sprintf(line, "%u.%02u\n", random_below(ends[random_below(4)]), random_below(100));
}

static int put_signed(char *line)
{
    return sprintf(line, "%.*f\n", (int)random_below(6), (random_fraction() - 0.5) * 2000);
}

static int put_nanoseconds(char *line)
{
    return sprintf(line, "%u%09u\n", 1700000000 + random_below(1000000), random_below(1000000000));
}

static int put_digit(char *line)
{
    return sprintf(line, "%u\n", random_below(10));
}

static int put_six(char *line)
{
    return sprintf(line, "%.6g\n", random_fraction() * 1e6);
}

static int put_exponent(char *line)
{
    return sprintf(line, "%.6e\n", random_fraction() * 1e-3);
}

static int put_exact(char *line)
{
    return sprintf(line, "%.17g\n", random_fraction());
}

static int put_mixed(char *line)
{
    static int (*const put[])(char *) = {put_latency, put_integer,     put_price, put_signed,
                                         put_digit,   put_nanoseconds, put_six,   put_exponent};
    return put[random_below(sizeof put / sizeof put[0])](line);
}

const struct text_kind text_kinds[] = {
    {"latencies", put_latency},
    {"integers", put_integer},
    {"prices", put_price},
    {"signed", put_signed},
    {"digits", put_digit},
    {"six", put_six},
    {"nanoseconds", put_nanoseconds},
    {"exponents", put_exponent},
    {"exact", put_exact},
    {"mixed", put_mixed},
};

const size_t text_kind_count = sizeof text_kinds / sizeof text_kinds[0];

void text_fill(const struct text_kind *kind, unsigned char *text, size_t size, size_t piece)
{
    random_seed(1);
    for (size_t begin = 0; begin < size; begin += piece) {
        size_t len = 0;
        while (len + LINE_MAX_LEN <= piece)
            len += (size_t)kind->put((char *)text + begin + len);
        memset(text + begin + len, '\n', piece - len);
    }
}
