/* SPDX-License-Identifier: MIT */
/* blocks [--rounds=N] FILE.zst|FILE.gz...: measures on one core how fast the first zstd frame of
 * each file, or its gzip members, are parsed to operations and executed, by every set of loops that
 * runs here, beside the library that decodes them otherwise. Prints the best of N rounds in GB/s of
 * content, and the ratio to the library; how fast beginnings of deflate's blocks are found, in GB/s
 * of compressed bytes. */
#include "bench/blocks.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct block_format *const formats[] = {&zstd_blocks, &gzip_blocks};

_Noreturn void die(const char *name, const char *why)
{
    fprintf(stderr, "blocks: %s: %s\n", name, why);
    exit(1);
}

void *memory_of(size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        die("memory", "there is too little");
    return memory;
}

double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct bytes_of_file read_file(const char *name)
{
    struct bytes_of_file file = {NULL, 0};
    FILE *in = fopen(name, "rb");
    if (!in || fseek(in, 0, SEEK_END) != 0)
        die(name, "cannot be read");
    file.len = (size_t)ftell(in);
    file.data = memory_of(file.len + 1);
    rewind(in);
    if (fread(file.data, 1, file.len, in) != file.len)
        die(name, "cannot be read");
    fclose(in);
    return file;
}

unsigned char *ring_make_room(struct window_ring *ring, size_t len)
{
    const uint64_t kept = ring->content < ring->window ? ring->content : ring->window;
    if (ring->at + len + COPY_SLACK > ring->size) {
        memmove(ring->data, ring->data + ring->at - kept, kept);
        ring->at = kept;
    }
    return ring->data + ring->at;
}

static double min(double best, double seconds)
{
    return best == 0 || seconds < best ? seconds : best;
}

static void print(const char *name, const struct block_loops *loops, const struct taken *best)
{
    const double content = (double)best->content / 1e9;
    printf("%s  %-8s  parse %.2f  execute %.2f  %.1f bytes an operation", name, loops->name,
           content / best->parse, content / best->execute,
           (double)best->content / (double)best->operations);
}

static void measure(const char *name, int rounds)
{
    const struct bytes_of_file file = read_file(name);
    const struct block_format *format = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i]->recognises(&file))
            format = formats[i];
    if (!format)
        die(name, "neither zstd nor gzip");
    for (const struct block_loops *const *loops = block_loops; *loops; loops++) {
        struct taken best = {.content = 0};
        double library = 0;
        if (!(*loops)->runs_here())
            continue;
        for (int i = 0; i < rounds; i++) {
            const struct taken taken = format->run(*loops, &file);
            library = min(library, format->run_library(&file));
            best =
                (struct taken){min(best.find, taken.find), min(best.parse, taken.parse),
                               min(best.execute, taken.execute), taken.content, taken.operations};
        }
        print(name, *loops, &best);
        if (best.find > 0)
            printf("  find %.3f", (double)file.len / 1e9 / best.find);
        if (library > 0)
            printf("  %s %.2f (%.2f, %.2f)", format->library, (double)best.content / 1e9 / library,
                   library / best.parse, library / best.execute);
        printf("\n");
    }
    free(file.data);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"rounds", required_argument, NULL, 'r'}, {0}};
    int rounds = 5, option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (option != 'r' || (rounds = atoi(optarg)) < 1)
            optind = argc;
    if (optind >= argc) {
        fprintf(stderr, "usage: blocks [--rounds=N] FILE.zst|FILE.gz...\n");
        return 2;
    }
    for (int i = optind; i < argc; i++)
        measure(argv[i], rounds);
    return 0;
}
