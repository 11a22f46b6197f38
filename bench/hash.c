/* SPDX-License-Identifier: MIT */
/* hash [--rounds=N] [SIZE_MIB]...: measures every variant of XXH64 that runs here on one core, over
 * blocks of 1, 32 and 1024 MiB by default, beside libxxhash, if installed, and a loop that only
 * reads. Prints the median in GB/s and the ratio to libxxhash. */
#include "bench/ceiling.h"
#include "src/hash/xxh64.h"

#include <dlfcn.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS_MAX 101
#define CONTENDERS_MAX 8
#define SIZES_MAX 8
#define MIB_MAX ((size_t)1 << 20)
#define BYTES ((size_t)1 << 30) /* hashed in a round, at least */

typedef uint64_t library_function(const void *data, size_t len, uint64_t seed);

struct contender {
    const char *name;
    const struct xxh64_variant *variant; /* NULL: the library, or only reading */
    library_function *function;
    double rates[ROUNDS_MAX];
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t run(const struct contender *contender, const unsigned char *data, size_t len)
{
    struct xxh64 hash;
    if (contender->function)
        return contender->function(data, len, 0);
    if (!contender->variant)
        return only_read(data, len);
    xxh64_begin_with(&hash, contender->variant);
    xxh64_add(&hash, data, len);
    return xxh64_value(&hash);
}

static int by_rate(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(struct contender *contender, int rounds)
{
    qsort(contender->rates, (size_t)rounds, sizeof *contender->rates, by_rate);
    return contender->rates[rounds / 2];
}

static unsigned find_contenders(struct contender *contenders)
{
    unsigned count = 0;
    for (const struct xxh64_variant *const *variant = xxh64_variants; *variant; variant++)
        if ((*variant)->runs_here())
            contenders[count++] = (struct contender){.name = (*variant)->name, .variant = *variant};
    void *handle = dlopen("libxxhash.so.0", RTLD_NOW), *symbol;
    if (handle && (symbol = dlsym(handle, "XXH64"))) {
        contenders[count].name = "libxxhash";
        memcpy(&contenders[count++].function, &symbol, sizeof symbol);
    } else {
        fprintf(stderr, "hash: no libxxhash\n");
    }
    contenders[count++].name = "only reading";
    return count;
}

static void measure(struct contender *contenders, unsigned count, size_t size, int rounds)
{
    unsigned char *data = malloc(size);
    double library = 0;
    if (!data)
        exit(1);
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)(i * 7 + (i >> 9));
    for (int round = 0; round < rounds; round++)
        for (unsigned i = 0; i < count; i++) {
            const double begin = now();
            uint64_t value = 0;
            size_t done = 0;
            for (; done < BYTES; done += size)
                value ^= run(&contenders[i], data, size);
            __asm__ volatile("" : : "r"(value));
            contenders[i].rates[round] = (double)done / (now() - begin);
        }
    for (unsigned i = 0; i < count; i++)
        if (contenders[i].function)
            library = median(&contenders[i], rounds);
    for (unsigned i = 0; i < count; i++) {
        const double rate = median(&contenders[i], rounds);
        printf("%6zu MiB  %-12s %6.1f GB/s", size >> 20, contenders[i].name, rate / 1e9);
        printf(library > 0 ? "  %5.2f\n" : "\n", rate / library);
    }
    free(data);
}

static _Noreturn void usage(void)
{
    fprintf(stderr, "usage: hash [--rounds=N] [SIZE_MIB]...\n");
    exit(2);
}

int main(int argc, char **argv)
{
    static struct contender contenders[CONTENDERS_MAX];
    static const struct option options[] = {{"rounds", required_argument, NULL, 'r'}, {0}};
    size_t mib[SIZES_MAX] = {1, 32, 1024}, sizes = 3;
    int rounds = 7, option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (option != 'r' || (rounds = atoi(optarg)) < 1 || rounds > ROUNDS_MAX)
            usage();
    if (optind < argc)
        sizes = (size_t)(argc - optind);
    if (sizes > SIZES_MAX)
        usage();
    for (int i = optind; i < argc; i++)
        if ((mib[i - optind] = strtoull(argv[i], NULL, 10)) - 1 >= MIB_MAX)
            usage();
    const unsigned count = find_contenders(contenders);
    for (size_t i = 0; i < sizes; i++)
        measure(contenders, count, mib[i] << 20, rounds);
    return 0;
}
