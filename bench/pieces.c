/* SPDX-License-Identifier: MIT */
/* pieces [--threads=N] [--memory=MIB] [--content=KIB] [--no-lists] [--rounds=N] FILE.zst...:
 * decodes the first zstd frame of each file in pieces, and counts nothing. Prints the best of N
 * rounds in GB/s of content, beside libzstd on one core; memory; and for each step nanoseconds of
 * processor time a byte of content. */
#include "src/parallel/zstd_piece.h"

#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#define MIB ((size_t)1 << 20)
#define THREADS_MAX 64
#define SLOTS_MAX 256
#define PORTION (512 << 10) /* bytes that are read at a time */
#define EXECUTED_AT_ONCE (256 << 10)

enum step { CUT, PARSE, LIST, CHAIN, EXECUTE, HASH, STEPS };
static const char *const step_names[STEPS] = {"cut", "parse", "list", "chain", "execute", "hash"};

enum state { FREE, PARSING, READY, CHAINING, CHAINED, EXECUTING, EXECUTED };

struct decoding {
    int fd;
    const unsigned char *rest; /* bytes that were read, and not cut */
    size_t rest_len;
    struct zstd_pieces pieces;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state states[SLOTS_MAX];
    unsigned owners[SLOTS_MAX];
    uint64_t chained, released;
    bool is_cutting, is_chaining, is_hashing, is_cut;
};

struct worker {
    struct decoding *decoding;
    unsigned id;
    pthread_t thread;
    struct zstd_list_scratch scratch;
    double seconds[STEPS], mark;
};

_Noreturn static void die(const char *name, const char *why)
{
    fprintf(stderr, "pieces: %s: %s\n", name, why);
    exit(1);
}

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void took(struct worker *worker, enum step step)
{
    const double mark = now(CLOCK_THREAD_CPUTIME_ID);
    worker->seconds[step] += mark - worker->mark;
    worker->mark = mark;
}

/* --- steps: called with the lock, which is left meanwhile; false: there is nothing to do --- */

static void leave(struct worker *worker)
{
    pthread_mutex_unlock(&worker->decoding->lock);
    worker->mark = now(CLOCK_THREAD_CPUTIME_ID);
}

static void enter(struct worker *worker)
{
    pthread_mutex_lock(&worker->decoding->lock);
    pthread_cond_broadcast(&worker->decoding->changed);
}

static bool chain(struct worker *worker)
{
    struct decoding *decoding = worker->decoding;
    struct zstd_pieces *pieces = &decoding->pieces;
    enum state *state = &decoding->states[decoding->chained % pieces->plan.slots];
    if (decoding->is_chaining || *state != READY)
        return false;
    decoding->is_chaining = true;
    leave(worker);
    const enum zstd_chained chained = zstd_pieces_chain(pieces);
    if (chained == ZSTD_CHAIN_FALLBACK)
        die("chain", "needs the fallback");
    took(worker, CHAIN);
    enter(worker);
    decoding->is_chaining = false;
    if (chained == ZSTD_CHAIN_LATER)
        return false;
    *state = CHAINED;
    decoding->chained++;
    return true;
}

static bool hash(struct worker *worker)
{
    struct decoding *decoding = worker->decoding;
    struct zstd_pieces *pieces = &decoding->pieces;
    enum state *state = &decoding->states[decoding->released % pieces->plan.slots];
    if (decoding->is_hashing || *state != EXECUTED)
        return false;
    decoding->is_hashing = true;
    leave(worker);
    if (!zstd_pieces_verify(pieces, zstd_piece_at(pieces, decoding->released)))
        die("verify", "it is not as stated");
    took(worker, HASH);
    enter(worker);
    *state = FREE;
    decoding->released++;
    decoding->is_hashing = false;
    pthread_cond_broadcast(&decoding->changed);
    return true;
}

static bool execute(struct worker *worker, bool own)
{
    struct decoding *decoding = worker->decoding;
    struct zstd_pieces *pieces = &decoding->pieces;
    for (uint64_t i = decoding->released; i < decoding->chained; i++) {
        struct zstd_piece *piece = zstd_piece_at(pieces, i);
        enum state *state = &decoding->states[i % pieces->plan.slots];
        uint32_t complete = 0;
        if (*state != CHAINED || (own && decoding->owners[i % pieces->plan.slots] != worker->id))
            continue;
        *state = EXECUTING;
        do {
            leave(worker);
            if (!zstd_piece_execute(piece, pieces->loops, EXECUTED_AT_ONCE, &complete))
                die("execute", "needs the fallback");
            took(worker, EXECUTE);
            enter(worker);
            (void)chain(worker);
        } while (complete < piece->len);
        *state = EXECUTED;
        return true;
    }
    return false;
}

/* Reads and cuts until a piece is complete. */
static void cut_piece(struct decoding *decoding)
{
    for (;;) {
        size_t used;
        const enum walked cut =
            zstd_pieces_cut(&decoding->pieces, decoding->rest, decoding->rest_len, &used);
        decoding->rest += used;
        decoding->rest_len -= used;
        if (cut == WALKED_WRONG)
            die("cut", "needs the fallback");
        decoding->is_cut = cut == WALKED_RUN &&
                           zstd_piece_at(&decoding->pieces, decoding->pieces.cut - 1)->run.is_last;
        if (cut != WALKED_ALL)
            return;
        unsigned char *to = zstd_pieces_space(&decoding->pieces, &used);
        const ssize_t len = read(decoding->fd, to, used < PORTION ? used : PORTION);
        if (len <= 0)
            die("read", "the frame does not end");
        decoding->rest = to;
        decoding->rest_len = (size_t)len;
    }
}

static bool take_piece(struct worker *worker)
{
    struct decoding *decoding = worker->decoding;
    struct zstd_pieces *pieces = &decoding->pieces;
    const uint64_t i = pieces->cut;
    if (decoding->is_cutting || decoding->is_cut || i == decoding->released + pieces->plan.slots)
        return false;
    struct zstd_piece *piece = zstd_piece_at(pieces, i);
    decoding->owners[i % pieces->plan.slots] = worker->id;
    decoding->is_cutting = true;
    leave(worker);
    cut_piece(decoding);
    took(worker, CUT);
    enter(worker);
    decoding->is_cutting = false;
    leave(worker);
    if (!zstd_piece_parse(piece, pieces->loops))
        die("parse", "needs the fallback");
    took(worker, PARSE);
    enter(worker);
    (void)chain(worker);
    if (pieces->plan.makes_lists && (decoding->chained != i || decoding->is_chaining)) {
        leave(worker);
        zstd_piece_list(pieces, piece, &worker->scratch);
        took(worker, LIST);
        enter(worker);
    }
    decoding->states[i % pieces->plan.slots] = READY;
    return true;
}

static void *work(void *arg)
{
    struct worker *worker = arg;
    struct decoding *decoding = worker->decoding;
    pthread_mutex_lock(&decoding->lock);
    while (!decoding->is_cut || decoding->released < decoding->pieces.cut)
        if (!chain(worker) && !hash(worker) && !execute(worker, true) && !execute(worker, false) &&
            !take_piece(worker))
            pthread_cond_wait(&decoding->changed, &decoding->lock);
    pthread_cond_broadcast(&decoding->changed);
    pthread_mutex_unlock(&decoding->lock);
    return NULL;
}

/* --- rounds --- */

struct settings {
    unsigned threads;
    int rounds;
    size_t memory;
    uint32_t content;
    bool no_lists;
};

static double run_libzstd(int fd)
{
    static unsigned char in[PORTION], out[PORTION];
    ZSTD_DCtx *context = ZSTD_createDCtx();
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 31);
    ZSTD_inBuffer from = {in, 0, 0};
    size_t hint = 1;
    const double begin = now(CLOCK_MONOTONIC);
    lseek(fd, 0, SEEK_SET);
    while (hint != 0 && !ZSTD_isError(hint)) {
        ZSTD_outBuffer to = {out, sizeof out, 0};
        if (from.pos == from.size) {
            const ssize_t len = read(fd, in, sizeof in);
            from = (ZSTD_inBuffer){in, len > 0 ? (size_t)len : 0, 0};
        }
        hint = ZSTD_decompressStream(context, &to, &from);
    }
    ZSTD_freeDCtx(context);
    return now(CLOCK_MONOTONIC) - begin;
}

static void print_steps(const struct decoding *decoding, const struct worker *workers,
                        unsigned threads)
{
    for (int step = 0; step < STEPS; step++) {
        double sum = 0;
        for (unsigned i = 0; i < threads; i++)
            sum += workers[i].seconds[step];
        printf("  %s %.3f", step_names[step], sum * 1e9 / (double)decoding->pieces.content);
    }
}

static void measure(const char *name, const struct settings *settings)
{
    static struct decoding decoding;
    static struct worker workers[THREADS_MAX];
    unsigned char bytes[ZSTD_FRAME_HEADER_MAX];
    struct zstd_frame_header header;
    struct zstd_piece_plan plan;
    struct rusage usage;
    double best = 0;
    decoding.fd = open(name, O_RDONLY);
    if (decoding.fd < 0 || read(decoding.fd, bytes, sizeof bytes) != sizeof bytes ||
        zstd_parse_frame(bytes, sizeof bytes, &header) != ZSTD_PARSED)
        die(name, "no zstd frame");
    if (!zstd_piece_plan(&plan, &header, settings->threads, settings->memory, 0))
        die(name, "there is no plan for it");
    if (settings->content)
        plan.content = settings->content;
    plan.makes_lists &= !settings->no_lists;
    for (unsigned i = 0; i < settings->threads; i++) {
        workers[i] = (struct worker){.decoding = &decoding, .id = i};
        if (zstd_list_scratch_open(&workers[i].scratch, &plan) != 0)
            die("memory", "there is too little");
    }
    for (int round = 0; round < settings->rounds; round++) {
        const double begin = now(CLOCK_MONOTONIC);
        decoding.rest_len = 0;
        decoding.is_cut = false;
        pthread_mutex_init(&decoding.lock, NULL);
        pthread_cond_init(&decoding.changed, NULL);
        lseek(decoding.fd, header.size, SEEK_SET);
        if (round > 0)
            (void)zstd_pieces_begin_frame(&decoding.pieces, &header); /* which the plan is for */
        else if (zstd_pieces_open(&decoding.pieces, &plan, &header, block_loops_find(NULL), true))
            die("memory", "there is too little");
        decoding.chained = decoding.released = decoding.pieces.cut;
        for (unsigned i = 0; i < settings->threads; i++)
            memset(workers[i].seconds, 0, sizeof workers[i].seconds);
        for (unsigned i = 1; i < settings->threads; i++)
            pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        work(&workers[0]);
        for (unsigned i = 1; i < settings->threads; i++)
            pthread_join(workers[i].thread, NULL);
        const double seconds = now(CLOCK_MONOTONIC) - begin;
        best = best == 0 || seconds < best ? seconds : best;
    }
    getrusage(RUSAGE_SELF, &usage);
    const double content = (double)decoding.pieces.content / 1e9,
                 library = run_libzstd(decoding.fd);
    printf("%s  %u threads  %u slots of %u KiB%s  %.2f GB/s  %.1f times libzstd  %ld of %zu MB",
           name, settings->threads, plan.slots, plan.content / 1024,
           plan.makes_lists ? ", lists" : "", content / best, library / best,
           usage.ru_maxrss / 1000, plan.memory / 1000000);
    print_steps(&decoding, workers, settings->threads);
    printf("\n");
    for (unsigned i = 0; i < settings->threads; i++)
        zstd_list_scratch_close(&workers[i].scratch);
    zstd_pieces_close(&decoding.pieces);
    close(decoding.fd);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"threads", required_argument, NULL, 't'}, {"memory", required_argument, NULL, 'm'},
        {"content", required_argument, NULL, 'c'}, {"no-lists", no_argument, NULL, 'n'},
        {"rounds", required_argument, NULL, 'r'},  {0}};
    struct settings settings = {.threads = 8, .rounds = 3, .memory = 512 * MIB};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (option) {
        case 't':
            settings.threads = (unsigned)atoi(optarg);
            break;
        case 'm':
            settings.memory = (size_t)atoi(optarg) * MIB;
            break;
        case 'c':
            settings.content = (uint32_t)atoi(optarg) * 1024;
            break;
        case 'n':
            settings.no_lists = true;
            break;
        case 'r':
            settings.rounds = atoi(optarg);
            break;
        default:
            optind = argc + 1;
        }
    if (optind >= argc || settings.threads - 1 >= THREADS_MAX || settings.rounds < 1) {
        fprintf(stderr, "usage: pieces [--threads=N] [--memory=MIB] [--content=KIB] [--no-lists] "
                        "[--rounds=N] FILE.zst...\n");
        return 2;
    }
    for (int i = optind; i < argc; i++)
        measure(argv[i], &settings);
    return 0;
}
