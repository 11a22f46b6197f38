/* SPDX-License-Identifier: MIT */
/* blocks [--rounds=N] FILE.zst...: measures on one core how fast the first frame of each file is
 * parsed to operations and executed, by every set of loops that runs here, beside libzstd as a
 * stream, without checksums. Prints the best of N rounds in GB/s of content, and the ratio to
 * libzstd. */
#include "src/blocks/zstd_parse.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#define OUT_SIZE ((size_t)128 << 10) /* bytes that libzstd gives at a time */

struct bytes_of_file {
    unsigned char *data;
    size_t len;
};

/* What a round took, in seconds, and how much it made. */
struct taken {
    double parse, execute;
    uint64_t content, operations;
};

static _Noreturn void die(const char *name, const char *why)
{
    fprintf(stderr, "blocks: %s: %s\n", name, why);
    exit(1);
}

static void *memory_of(size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        die("memory", "there is too little");
    return memory;
}

static double now(void)
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

/* Seconds that libzstd takes. */
static double run_libzstd(const struct bytes_of_file *file)
{
    unsigned char *out = memory_of(OUT_SIZE);
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_inBuffer from = {file->data, file->len, 0};
    size_t hint = 1;
    const double begin = now();
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 31);
#if HAVE_DECL_ZSTD_D_EXPERIMENTALPARAM3
    ZSTD_DCtx_setParameter(context, ZSTD_d_experimentalParam3, 1); /* no checksum */
#endif
    while (hint != 0 && !ZSTD_isError(hint)) {
        ZSTD_outBuffer to = {out, OUT_SIZE, 0};
        hint = ZSTD_decompressStream(context, &to, &from);
    }
    const double seconds = now() - begin;
    if (ZSTD_isError(hint))
        die("libzstd", ZSTD_getErrorName(hint));
    ZSTD_freeDCtx(context);
    free(out);
    return seconds;
}

/* Where content goes: at the end of `size` bytes it begins anew, after a copy of the window. */
struct window_ring {
    unsigned char *data;
    size_t size, at;
    uint64_t window, content;
};

/* Makes room for a run. Returns where it goes. */
static unsigned char *make_room(struct window_ring *ring, size_t len)
{
    const uint64_t kept = ring->content < ring->window ? ring->content : ring->window;
    if (ring->at + len + COPY_SLACK > ring->size) {
        memmove(ring->data, ring->data + ring->at - kept, kept);
        ring->at = kept;
    }
    return ring->data + ring->at;
}

static void execute(const struct block_loops *loops, struct zstd_run *run, struct window_ring *ring,
                    struct repeats *repeats)
{
    const struct parsed_run *parsed = &run->parsed;
    const struct execution execution = {*repeats, ring->content};
    if (parsed->is_doubtful ||
        !loops->execute(parsed, &execution, make_room(ring, parsed->content)))
        die("blocks", "doubtful");
    for (int i = 0; i < 3; i++)
        repeats->offset[i] = offset_resolve(parsed->after.offset[i], &execution.repeats);
    ring->at += parsed->content;
    ring->content += parsed->content;
}

static struct taken run_blocks(const struct block_loops *loops, const struct bytes_of_file *file,
                               struct zstd_run *run)
{
    struct taken taken = {.content = 0};
    struct zstd_frame_header header;
    struct zstd_walk walk;
    struct repeats repeats = {{0}};
    if (zstd_parse_frame(file->data, file->len, &header) != ZSTD_PARSED ||
        !zstd_walk_begin(&walk, &header))
        die("blocks", "no frame that is parsed");
    struct window_ring ring = {.window = header.window,
                               .size = 2 * (size_t)header.window + ((size_t)16 << 20)};
    ring.data = memory_of(ring.size);
    size_t at = header.size;
    do {
        const double begin = now();
        zstd_walk_begin_run(&walk, run);
        if (zstd_walk_fill(&walk, run, file->data + at, file->len - at, &at) != WALKED_RUN)
            die("blocks", "corrupt");
        zstd_parse(run, loops);
        const double parsed = now();
        execute(loops, run, &ring, &repeats);
        taken.parse += parsed - begin;
        taken.execute += now() - parsed;
        taken.operations += run->parsed.operations_len;
    } while (!run->is_last);
    taken.content = ring.content;
    free(ring.data);
    return taken;
}

static void measure(const char *name, struct zstd_run *run, int rounds)
{
    const struct bytes_of_file file = read_file(name);
    for (const struct block_loops *const *loops = block_loops; *loops; loops++) {
        struct taken best = {.parse = 1e9, .execute = 1e9};
        double libzstd = 1e9;
        if (!(*loops)->runs_here())
            continue;
        for (int i = 0; i < rounds; i++) {
            const struct taken taken = run_blocks(*loops, &file, run);
            const double beside = run_libzstd(&file);
            best.parse = taken.parse < best.parse ? taken.parse : best.parse;
            best.execute = taken.execute < best.execute ? taken.execute : best.execute;
            best.content = taken.content;
            best.operations = taken.operations;
            libzstd = beside < libzstd ? beside : libzstd;
        }
        const double content = (double)best.content / 1e9;
        printf("%s  %-8s  libzstd %.2f  parse %.2f (%.2f)  execute %.2f (%.2f)  %.1f bytes an "
               "operation\n",
               name, (*loops)->name, content / libzstd, content / best.parse, libzstd / best.parse,
               content / best.execute, libzstd / best.execute,
               (double)best.content / (double)best.operations);
    }
    free(file.data);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"rounds", required_argument, NULL, 'r'}, {0}};
    static struct zstd_run run;
    int rounds = 5, option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        if (option != 'r' || (rounds = atoi(optarg)) < 1)
            optind = argc;
    if (optind >= argc) {
        fprintf(stderr, "usage: blocks [--rounds=N] FILE.zst...\n");
        return 2;
    }
    if (zstd_run_open(&run) != 0)
        die("memory", "there is too little");
    for (int i = optind; i < argc; i++)
        measure(argv[i], &run, rounds);
    zstd_run_close(&run);
    return 0;
}
