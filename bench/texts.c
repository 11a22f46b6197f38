#include "bench/texts.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_LEN 32

static uint64_t random_state;

/* SplitMix64, by Sebastiano Vigna. */
static uint64_t random_word(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static unsigned below(unsigned end)
{
    return (unsigned)(random_word() >> 32) % end;
}

static double fraction(void)
{
    return (double)(random_word() >> 11) * 0x1p-53;
}

static int put_latency(char *line)
{
    return sprintf(line, "0.%03u\n", below(1000));
}

static int put_integer(char *line)
{
    return sprintf(line, "%u\n", below(100000));
}

static int put_price(char *line)
{
    static const unsigned ends[] = {10, 100, 1000, 10000};
    return sprintf(line, "%u.%02u\n", below(ends[below(4)]), below(100));
}

static int put_signed(char *line)
{
    return sprintf(line, "%.*f\n", (int)below(6), (fraction() - 0.5) * 2000);
}

static int put_nanoseconds(char *line)
{
    return sprintf(line, "%u%09u\n", 1700000000 + below(1000000), below(1000000000));
}

static int put_digit(char *line)
{
    return sprintf(line, "%u\n", below(10));
}

static int put_six(char *line)
{
    return sprintf(line, "%.6g\n", fraction() * 1e6);
}

static int put_exponent(char *line)
{
    return sprintf(line, "%.6e\n", fraction() * 1e-3);
}

static int put_exact(char *line)
{
    return sprintf(line, "%.17g\n", fraction());
}

static int put_mixed(char *line)
{
    static int (*const put[])(char *) = {put_latency, put_integer,     put_price, put_signed,
                                         put_digit,   put_nanoseconds, put_six,   put_exponent};
    return put[below(sizeof put / sizeof put[0])](line);
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
    random_state = 1;
    for (size_t begin = 0; begin < size; begin += piece) {
        size_t len = 0;
        while (len + LINE_MAX_LEN <= piece)
            len += (size_t)kind->put((char *)text + begin + len);
        memset(text + begin + len, '\n', piece - len);
    }
}
