/* SPDX-License-Identifier: MIT */
/* numbers [--size=MIB] [--rounds=N] [--data=KIND] [--csv=FILE]
 *
 * Measures every number parser that this processor can run, on one core, next to strtod in a loop
 * and memchr that only finds the lines. All take turns over the same text, 256 KiB at a time as in
 * the filter. Each is verified against strtod first; medians are printed. */
#include "bench/texts.h"
#include "src/text/field_parser.h"
#include "tests/helpers/naive_number.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE ((size_t)256 << 10)
#define VALUES 4096 /* parsed at a time, so that they stay in the L1 cache */
#define ROUNDS_MAX 101
#define CONTENDERS_MAX 8

typedef size_t parse_function(const unsigned char *text, size_t len, double *values, size_t cap,
                              size_t *used);

struct contender {
    const char *name;
    parse_function *parse;
    bool has_values;
    double rates[ROUNDS_MAX]; /* bytes a second */
};

static struct contender contenders[CONTENDERS_MAX];
static unsigned contender_count;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* --- what the parsers are compared with --- */

static size_t only_lines(const unsigned char *text, size_t len, double *values, size_t cap,
                         size_t *used)
{
    const unsigned char *at = text, *limit = text + len;
    size_t count = 0;
    while (count < cap && (at = memchr(at, '\n', (size_t)(limit - at)))) {
        values[count++] = 0;
        at++;
    }
    *used = at ? (size_t)(at - text) : len;
    return count;
}

/* The text ends with white space, without which strtod would read past it. */
static size_t by_strtod(const unsigned char *text, size_t len, double *values, size_t cap,
                        size_t *used)
{
    const char *at = (const char *)text, *limit = at + len;
    size_t count = 0;
    while (limit > at && limit[-1] == '\n')
        limit--;
    while (count < cap && at < limit) {
        char *end;
        values[count++] = strtod(at, &end);
        at = end;
    }
    *used = at < limit ? (size_t)(at - (const char *)text) : len;
    return count;
}

/* --- the race --- */

static double buffer[VALUES];

/* All values go to *all, if it is not NULL. Returns how many there are. */
static size_t run(const struct contender *c, const unsigned char *text, size_t size, double *all)
{
    size_t total = 0;
    for (size_t begin = 0; begin < size; begin += PIECE)
        for (size_t at = 0, used, count; at < PIECE; at += used, total += count) {
            count = c->parse(text + begin + at, PIECE - at, buffer, VALUES, &used);
            if (all)
                memcpy(all + total, buffer, count * sizeof *all);
        }
    return total;
}

static void verify(const struct contender *c, const unsigned char *text, size_t size)
{
    if (!c->has_values)
        return;
    double *all = malloc(size * sizeof *all);
    size_t count = run(c, text, size, all), begin, end = 0, token = 0;
    bool same = true;
    for (; naive_token(text, size, end, &begin, &end); token++)
        same = same && token < count &&
               naive_same(all[token], naive_number(text + begin, end - begin));
    free(all);
    if (!same || token != count) {
        fprintf(stderr, "numbers: %s: wrong values\n", c->name);
        exit(1);
    }
}

static double rate(const struct contender *c, const unsigned char *text, size_t size)
{
    double begin = now();
    run(c, text, size, NULL);
    return (double)size / (now() - begin);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct text_kind *kind, const unsigned char *text, size_t size,
                    int rounds, FILE *csv)
{
    for (int round = 0; round < rounds; round++)
        for (unsigned i = 0; i < contender_count; i++)
            contenders[i].rates[round] = rate(&contenders[i], text, size);
    for (unsigned i = 0; i < contender_count; i++)
        qsort(contenders[i].rates, (size_t)rounds, sizeof contenders[i].rates[0], ascending);
    double strtod_rate = contenders[1].rates[rounds / 2];
    double tokens = (double)run(&contenders[1], text, PIECE, NULL);
    for (unsigned i = 0; i < contender_count; i++) {
        const struct contender *c = &contenders[i];
        double median = c->rates[rounds / 2], min = c->rates[0], max = c->rates[rounds - 1];
        printf("%-12s %-10s %6.3f GB/s (%6.3f to %6.3f) %7.1f M/s %6.2f\n", kind->name, c->name,
               median / 1e9, min / 1e9, max / 1e9, median / (double)PIECE * tokens / 1e6,
               median / strtod_rate);
        if (csv)
            fprintf(csv, "%s,%s,%.4f,%.4f,%.4f,%.3f\n", kind->name, c->name, median / 1e9,
                    min / 1e9, max / 1e9, median / strtod_rate);
    }
}

static void add(const char *name, parse_function *parse, bool has_values)
{
    contenders[contender_count++] =
        (struct contender){.name = name, .parse = parse, .has_values = has_values};
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"size", required_argument, NULL, 's'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"data", required_argument, NULL, 'd'},
                                          {"csv", required_argument, NULL, 'c'},
                                          {NULL, 0, NULL, 0}};
    size_t size = (size_t)16 << 20;
    int rounds = 9;
    const char *only = NULL;
    FILE *csv = NULL;
    for (int code; (code = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (code == 's')
            size = strtoull(optarg, NULL, 10) << 20;
        else if (code == 'r')
            rounds = atoi(optarg);
        else if (code == 'd')
            only = optarg;
        else if (code == 'c')
            csv = fopen(optarg, "w");
        else
            return 2;
    }
    unsigned char *text = aligned_alloc(4096, size ? size : 1);
    if (rounds < 1 || rounds > ROUNDS_MAX || size < PIECE || !text)
        return 2;
    add("memchr", only_lines, false);
    add("strtod", by_strtod, true);
    for (const struct number_parser *const *parser = number_parsers; *parser; parser++)
        if ((*parser)->runs_here())
            add((*parser)->name, (*parser)->parse, true);
    number_prepare();
    if (csv)
        fprintf(csv, "data,parser,GBps,least,most,of_strtod\n");
    for (size_t i = 0; i < text_kind_count; i++) {
        if (only && strcmp(only, text_kinds[i].name) != 0)
            continue;
        text_fill(&text_kinds[i], text, size, PIECE);
        for (unsigned k = 0; k < contender_count; k++)
            verify(&contenders[k], text, size);
        measure(&text_kinds[i], text, size, rounds, csv);
    }
    return csv && fclose(csv) != 0;
}
