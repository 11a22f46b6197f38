/* SPDX-License-Identifier: MIT */
/* Data that are the same in every run: make_data KIND LENGTH [SEED] > data
 *
 *     uniform  every byte value equally likely
 *     text     words of lower- and upper-case letters, spaces, newlines
 *     same     one byte, SEED, over and over
 *     all      0, 1, ..., 255, 0, 1, ...
 *     zipf     the k-th value with a probability of about 1/k
 *     runs     runs of one value, of 1 to 300 bytes
 *     numbers  decimal numbers as programs print them; one token in 4096 is none */
#include "tests/helpers/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int text(void)
{
    static const char common[] = "      eeeeetttaaooiinnsshhrrddlluucmfwygpbvkjxqz\nETAOINSZ.,";
    return common[random_word() % (sizeof common - 1)];
}

static int zipf(void)
{
    uint64_t rank = 256 / (random_word() % 256 + 1) - 1; /* most often 0 */
    return (int)((rank + random_word() % (rank + 1)) * 37 % 256);
}

static int runs(void)
{
    static uint64_t left;
    static int value;
    if (left == 0) {
        left = random_word() % 300 + 1;
        value = (int)(random_word() % 256);
    }
    left--;
    return value;
}

/* The next byte of a number, or of the white space after it. */
static int numbers(void)
{
    static const char *const odd[] = {"nan", "inf", "-inf", "0x10", "12abc", "--1", "0", "-0"};
    static const char *const spaces[] = {"\n", "\n", "\n", " ", "\t", "\r\n"};
    static char token[64];
    static size_t at;
    if (!token[at]) {
        uint64_t bits = random_word();
        double value = (double)(bits >> 24) / (double)(1 + (random_word() >> (40 + bits % 20)));
        const char *space = spaces[bits >> 8 & 3 ? 0 : (bits >> 10) % 6];
        const char *form = bits & 16   ? "%.3f%s"
                           : bits & 32 ? "%.0f%s"
                           : bits & 64 ? "-%.6g%s"
                                       : "%.17g%s";
        snprintf(token, sizeof token, form, bits & 1 ? value : value / 1e6, space);
        if (random_word() % 4096 == 0)
            snprintf(token, sizeof token, "%s%s", odd[bits >> 16 & 7], space);
        at = 0;
    }
    return token[at++];
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: make_data KIND LENGTH [SEED]\n", stderr);
        return 2;
    }
    const char *kind = argv[1];
    unsigned long long length = strtoull(argv[2], NULL, 10);
    unsigned long long seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    random_seed(seed);
    for (unsigned long long i = 0; i < length; i++) {
        int byte;
        if (strcmp(kind, "uniform") == 0)
            byte = (int)(random_word() >> 56);
        else if (strcmp(kind, "text") == 0)
            byte = text();
        else if (strcmp(kind, "same") == 0)
            byte = (int)(seed % 256);
        else if (strcmp(kind, "all") == 0)
            byte = (int)(i % 256);
        else if (strcmp(kind, "zipf") == 0)
            byte = zipf();
        else if (strcmp(kind, "runs") == 0)
            byte = runs();
        else if (strcmp(kind, "numbers") == 0)
            byte = numbers();
        else
            return 2;
        putchar(byte);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
