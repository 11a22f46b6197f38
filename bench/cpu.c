/* SPDX-License-Identifier: MIT */
/* cpu [--size=MIB] [--rounds=N] [--data=KIND] [--csv=FILE] [--peer=NAME=LIBRARY:FUNCTION]...
 *
 * Measures all kernels that this processor can run, on one core, next to a loop that only reads:
 * from memory, and from the L2 cache, where the filter has its data. All take turns; each is
 * verified in the first round; medians are printed. u32=256 is words in 256 bins over all 32 bits.
 * The first line gives the clock rate, at which one sample a clock is four bytes. A peer is a
 * function of a shared library that counts bytes: void f(unsigned char *data, unsigned len,
 * unsigned counts[256]). */
#include "bench/ceiling.h"
#include "bench/data.h"
#include "src/cpu/count.h"
#include "src/tally/histogram_spec.h"

#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE ((size_t)256 << 10) /* counted at a time, as in the filter */
#define ROUNDS_MAX 101
#define CONTENDERS_MAX 256
#define COUNTS_MAX 272 /* of a contender */

typedef void peer_function(unsigned char *data, unsigned len, unsigned *counts);

struct contender {
    char name[64], mode[24];
    const struct cpu_kernels *kernels; /* NULL: a peer, or only reading */
    peer_function *peer;
    struct histogram_spec spec;
    struct count_plan plan;
    double rates[ROUNDS_MAX]; /* bytes a second */
};

static struct contender contenders[CONTENDERS_MAX];
static unsigned contender_count;
static volatile uint64_t sink;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void run(struct contender *c, unsigned char *data, size_t len, uint64_t *counts)
{
    struct tally tally = {.bins = c->spec.bins, .counts = counts};
    for (size_t at = 0; at < len; at += PIECE) {
        if (c->kernels) {
            count_samples(&c->plan, data + at, PIECE, &tally);
        } else if (c->peer) {
            unsigned narrow[256] = {0};
            c->peer(data + at, (unsigned)PIECE, narrow);
            for (unsigned value = 0; value < 256; value++)
                counts[value] += narrow[value];
        } else {
            sink = only_read(data + at, PIECE);
        }
    }
}

/* Bytes per second, over len bytes, repeated until it takes long enough to measure. */
static double rate(struct contender *c, unsigned char *data, size_t len, unsigned times)
{
    uint64_t counts[COUNTS_MAX] = {0};
    double begin = now();
    for (unsigned i = 0; i < times; i++)
        run(c, data, len, counts);
    return (double)len * times / (now() - begin);
}

static void count_words(const struct histogram_spec *spec, const unsigned char *data, size_t len,
                        uint64_t *counts)
{
    for (size_t i = 0; i < len; i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, data + i, sizeof word);
        counts[binning_row_whole(&spec->binning, word)]++;
    }
}

static void verify(struct contender *c, unsigned char *data, size_t len)
{
    uint64_t counts[COUNTS_MAX] = {0}, expected[COUNTS_MAX] = {0};
    if (!c->kernels && !c->peer)
        return;
    run(c, data, len, counts);
    if (c->spec.mode == &mode_values)
        count_words(&c->spec, data, len, expected);
    else
        count_byte_by_byte(&c->spec, data, len, expected);
    if (memcmp(counts, expected, sizeof counts) != 0) {
        fprintf(stderr, "cpu: %s, %s: wrong counts\n", c->name, c->mode);
        exit(1);
    }
}

static struct contender *add(const char *name, const char *mode, const struct cpu_kernels *kernels)
{
    struct contender *c = &contenders[contender_count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    snprintf(c->mode, sizeof c->mode, "%s", mode);
    c->kernels = kernels;
    histogram_spec_bytes(&c->spec);
    return c;
}

static void add_words(const struct cpu_kernels *kernels)
{
    const struct value_type *type = value_types;
    struct binning binning;
    while (strcmp(type->name, "u32") != 0)
        type++;
    if (binning_equal_whole(&binning, 0, 4294967296, 256) != 0)
        exit(1);
    struct contender *c = add(kernels->name, "u32=256", kernels);
    histogram_spec_values(&c->spec, type, &binning);
    c->plan = count_plan(kernels, &c->spec);
}

static void add_kernels(const struct cpu_kernels *kernels)
{
    static const unsigned widths[] = {4, 1, 2, 3, 5, 8, 13, 26};
    struct contender *c = add(kernels->name, "bytes", kernels);
    c->plan = count_plan(kernels, &c->spec);
    for (unsigned i = 0; i < 2 * sizeof widths / sizeof widths[0]; i++) {
        char mode[24];
        unsigned width = widths[i / 2];
        snprintf(mode, sizeof mode, "%s=%u", i % 2 ? "fold-case" : "letters", width);
        c = add(kernels->name, mode, kernels);
        histogram_spec_letters(&c->spec, width, i % 2);
        c->plan = count_plan(kernels, &c->spec);
    }
    add_words(kernels);
}

static void add_peer(char *text)
{
    char *library = strchr(text, '='), *function = library ? strrchr(library, ':') : NULL;
    if (function) {
        *library++ = *function++ = '\0';
        void *handle = dlopen(library, RTLD_NOW);
        void *symbol = handle ? dlsym(handle, function) : NULL;
        if (symbol) {
            peer_function **peer = &add(text, "bytes", NULL)->peer;
            memcpy(peer, &symbol, sizeof symbol);
            return;
        }
        fprintf(stderr, "cpu: %s\n", dlerror());
    }
    exit(2);
}

/* Clocks per second, if each of a chain of dependent additions takes one. */
static double clock_rate(void)
{
    const unsigned additions = 10000000;
    double best = 0;
    for (int round = 0; round < 20; round++) {
        uint64_t sum = 0;
        double begin = now();
        for (unsigned i = 0; i < additions; i++) {
            sum += 3;
            __asm__ volatile("" : "+r"(sum)); /* keeps the additions apart */
        }
        double seen = additions / (now() - begin);
        best = seen > best ? seen : best;
    }
    return best;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(enum data_kind kind, const char *where, unsigned char *data, size_t len,
                    unsigned times, int rounds, FILE *csv)
{
    for (int round = 0; round < rounds; round++)
        for (unsigned i = 0; i < contender_count; i++)
            contenders[i].rates[round] = rate(&contenders[i], data, len, times);
    double ceiling = 0;
    for (unsigned i = 0; i < contender_count; i++) {
        struct contender *c = &contenders[i];
        qsort(c->rates, (size_t)rounds, sizeof c->rates[0], ascending);
        double median = c->rates[rounds / 2], min = c->rates[0], max = c->rates[rounds - 1];
        if (i == 0)
            ceiling = median;
        printf("%-9s %-7s %-13s %-20s %6.2f GB/s (%6.2f to %6.2f)  %5.3f\n", data_name(kind), where,
               c->mode, c->name, median / 1e9, min / 1e9, max / 1e9, median / ceiling);
        if (csv)
            fprintf(csv, "%s,%s,%s,%s,%.3f,%.3f,%.3f,%.4f\n", data_name(kind), where, c->mode,
                    c->name, median / 1e9, min / 1e9, max / 1e9, median / ceiling);
    }
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"size", required_argument, NULL, 's'}, {"rounds", required_argument, NULL, 'r'},
        {"data", required_argument, NULL, 'd'}, {"csv", required_argument, NULL, 'c'},
        {"peer", required_argument, NULL, 'p'}, {NULL, 0, NULL, 0}};
    size_t size = (size_t)64 << 20;
    int rounds = 9;
    const char *only = NULL;
    FILE *csv = NULL;
    add("only reading", "-", NULL);
    for (int code; (code = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (code == 's')
            size = strtoull(optarg, NULL, 10) << 20;
        else if (code == 'r')
            rounds = atoi(optarg);
        else if (code == 'd')
            only = optarg;
        else if (code == 'c')
            csv = fopen(optarg, "w");
        else if (code == 'p')
            add_peer(optarg);
        else
            return 2;
    }
    unsigned char *data = aligned_alloc(4096, size ? size : 1);
    if (rounds < 1 || rounds > ROUNDS_MAX || size < PIECE || !data)
        return 2;
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++)
        if ((*kernels)->runs_here())
            add_kernels(*kernels);
    printf("the clock: %.2f GHz\n", clock_rate() / 1e9);
    if (csv)
        fprintf(csv, "data,from,mode,counter,GBps,least,most,share\n");
    for (int kind = 0; kind < DATA_KINDS; kind++) {
        if (only && strcmp(only, data_name((enum data_kind)kind)) != 0)
            continue;
        data_fill((enum data_kind)kind, data, size);
        for (unsigned i = 0; i < contender_count; i++)
            verify(&contenders[i], data, size);
        measure((enum data_kind)kind, "memory", data, size, 1, rounds, csv);
        measure((enum data_kind)kind, "cache", data, PIECE, (unsigned)(size / PIECE), rounds, csv);
    }
    return csv && fclose(csv) != 0;
}
