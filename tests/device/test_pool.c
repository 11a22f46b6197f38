/* SPDX-License-Identifier: MIT */
/* Workers, engines and recovery together: files and pipes, plain and zstd data (one frame, or many
 * that are decompressed side by side), one to eight threads, over a device that fails at every call
 * in turn. Each run must end in exact counts; or, where only the GPU was allowed and it failed, in
 * -1. Every second run also counts each file.
 *
 * The tuning lets the GPU be opened at once, so that it counts some of a short input, too. */
#include "gpu/count/strategy.h"
#include "src/tally/file_tallies.h"
#include "src/tally/tally.h"
#include "src/schedule/schedule.h"
#include "tests/device/emulated_device.h"
#include "tests/helpers/apart.h"
#include "tests/helpers/samples.h"
#include "tests/helpers/scale.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#define DATA_SIZE 60000
#define PIPE_PIECE 1500

static unsigned char data[DATA_SIZE];

/* The data as files have it. */
static struct form {
    char name[sizeof "test_pool-XXXXXX"];
    size_t frame; /* bytes of a zstd frame; 0: as it is */
    unsigned char *bytes;
    size_t len;
} forms[] = {{"test_pool-XXXXXX", 0, NULL, 0},
             {"test_pool-XXXXXX", DATA_SIZE, NULL, 0},
             {"test_pool-XXXXXX", 1000, NULL, 0}};
#define FORMS (sizeof forms / sizeof forms[0])
/* Shared by all parts, which are processes. */
static struct totals {
    unsigned runs, exact, refused, struck, shared, side_by_side, grown, wrong;
} * totals;

struct scenario {
    enum device_choice device;
    bool pipe, twice; /* from a pipe; the file given twice, around the pipe */
    size_t chunk_size;
    unsigned buffers, threads;
    unsigned form;
    bool fold;
    unsigned gpus; /* 0: one */
    bool grows;    /* it begins with one of them, and takes as many as prove worth it */
    struct fault_plan plan;
};

static void die(const char *what)
{
    perror(what);
    _exit(1);
}

struct feed {
    int fd;
    const struct form *form;
};

/* Writes the data into a pipe, slowly enough for a device to be opened meanwhile. */
static void *feed_pipe(void *arg)
{
    int fd = ((struct feed *)arg)->fd;
    const struct form *form = ((struct feed *)arg)->form;
    for (size_t done = 0; done < form->len;) {
        size_t len = form->len - done < PIPE_PIECE ? form->len - done : PIPE_PIECE;
        ssize_t put = write(fd, form->bytes + done, len);
        if (put < 0)
            break; /* there is no reader any more */
        done += (size_t)put;
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    close(fd);
    return NULL;
}

/* Reads a pipe to its end, so that its feeder ends, too. A user's pipes may be small: beyond
 * fs.pipe-user-pages-soft a new one holds a page or two. */
static void empty_pipe(int fd)
{
    char piece[PIPE_PIECE];
    while (read(fd, piece, sizeof piece) > 0)
        continue;
}

/* A tally of zeros in memory of the caller's. */
static struct tally tally_in(uint64_t counts[256], const struct histogram_spec *spec)
{
    memset(counts, 0, 256 * sizeof counts[0]);
    return (struct tally){.bins = spec->bins, .counts = counts};
}

static bool same(const struct tally *a, const struct tally *b)
{
    return a->samples == b->samples && memcmp(a->counts, b->counts, 256 * sizeof a->counts[0]) == 0;
}

static void naive_counts(const struct histogram_spec *spec, unsigned times, struct tally *tally)
{
    for (unsigned i = 0; i < times; i++)
        samples_count(spec, data, DATA_SIZE, tally->counts);
    tally->samples = (uint64_t)DATA_SIZE * times;
}

static void complain(const struct scenario *scenario, const char *what, const char *why)
{
    totals->wrong++;
    fprintf(stderr,
            "FAIL: %s (%s): device %d form %u pipe %d twice %d chunk %zu buffers %u threads %u "
            "fault %d at "
            "%u for good %d, GPUs %u, victim %d\n",
            what, why, (int)scenario->device, scenario->form, scenario->pipe, scenario->twice,
            scenario->chunk_size, scenario->buffers, scenario->threads, (int)scenario->plan.fault,
            scenario->plan.at, scenario->plan.for_good, scenario->gpus, scenario->plan.victim);
}

static void judge(const struct scenario *scenario, int rc, const struct tally *tally,
                  const struct histogram_spec *spec, const struct pool_outcome *outcome,
                  const char *why)
{
    bool fault = emulated_device_struck();
    uint64_t counts[256];
    struct tally expected = tally_in(counts, spec);
    naive_counts(spec, scenario->pipe + 2u * scenario->twice, &expected);
    totals->struck += fault;
    totals->shared += outcome->gpu_bytes > 0 && outcome->cpu_bytes > 0;
    if (rc != 0) {
        totals->refused++;
        bool replaced = scenario->gpus > 1 && scenario->plan.victim >= 0 && outcome->gpu_count > 0;
        if (scenario->device != DEVICE_GPU || !fault || !*why || replaced)
            complain(scenario, "refused", why);
        return;
    }
    totals->exact++;
    if (!same(tally, &expected))
        complain(scenario, "wrong counts", outcome->gpu_count ? outcome->gpus[0].lost.text : "");
    for (unsigned i = 1; i < outcome->gpu_count; i++)
        totals->side_by_side +=
            outcome->gpus[0].times.bytes > 0 && outcome->gpus[i].times.bytes > 0;
    totals->grown += scenario->grows && outcome->gpu_count > 1;
    if (scenario->device == DEVICE_GPU && outcome->cpu_bytes && (scenario->gpus < 2 || !fault))
        complain(scenario, "counted on the CPU", "");
}

/* Sets the tally to the sum of all files, each of which must have the data once. */
static void add_files(const struct scenario *scenario, const struct file_tallies *files,
                      const struct histogram_spec *spec, struct tally *tally)
{
    uint64_t counts[256], file_counts[256];
    struct row_blocks blocks;
    struct tally expected = tally_in(counts, spec);
    naive_counts(spec, 1, &expected);
    memset(tally->counts, 0, 256 * sizeof tally->counts[0]);
    tally->samples = 0;
    for (size_t i = 0; i < file_tallies_count(files); i++) {
        struct tally own = tally_in(file_counts, spec);
        row_blocks_clear(&blocks, own.bins);
        own.blocks = &blocks;
        file_tallies_load(files, i, &own);
        if (!same(&own, &expected))
            complain(scenario, "wrong counts of a file", "");
        own.blocks = NULL;
        tally_add(tally, &own);
    }
}

static struct gpu_list list_gpus(unsigned count)
{
    struct gpu_list gpus = {.count = count ? count : 1};
    for (unsigned i = 0; i < gpus.count; i++)
        gpus.gpu[i] = (struct cuda_device){.asked = (int)i, .ordinal = (int)i};
    return gpus;
}

static void run(const struct scenario *scenario)
{
    /* These may outlive the run, as may the pool's threads and the GPUs' engines. */
    struct histogram_spec *spec = malloc(sizeof *spec);
    char *pipe_name = malloc(32);
    char **operands = malloc(3 * sizeof *operands);
    int ends[2] = {-1, -1};
    size_t count = 0;
    pthread_t feeder;
    struct form *form = &forms[scenario->form];
    if (!spec || !pipe_name || !operands || (scenario->pipe && pipe(ends) != 0))
        die("run");
    histogram_spec_letters(spec, 5, scenario->fold);
    struct feed feed = {ends[1], form};
    if (scenario->twice)
        operands[count++] = form->name;
    if (scenario->pipe) {
        snprintf(pipe_name, 32, "/dev/fd/%d", ends[0]);
        operands[count++] = pipe_name;
        if (pthread_create(&feeder, NULL, feed_pipe, &feed) != 0)
            die("pthread_create");
    }
    if (scenario->twice)
        operands[count++] = form->name;

    struct pool_options options = {
        .device = scenario->device,
        .gpus = list_gpus(scenario->gpus),
        .strategy = strategy_find("vectorized"), /* quickly emulated */
        .chunk_size = scenario->chunk_size,
        .buffers = scenario->buffers,
        .threads = scenario->threads,
        .files = totals->runs % 2 ? file_tallies_open(count, 1, (struct file_division){0}) : NULL,
        .tuning = {.decoding_time = scenario->grows ? 0.01 : 0},
        .deadline_ms = scale_is_slow() ? 200000 : 20000, /* of a device that is emulated */
        .opens_at_once = scenario->grows};
    struct source *source = source_open(
        operands, count,
        &(struct input_options){.decoding.memlimit = 1 << 20, .record = record_values(1)});
    uint64_t counts[256];
    struct tally tally = tally_in(counts, spec);
    struct pool_outcome outcome;
    struct error error = {""};
    struct fault_plan plan = scenario->plan;
    plan.devices = scenario->gpus;
    emulated_device_plan(plan);
    totals->runs++;
    int rc = pool_run(&options, &(struct pool_task){spec, source, &tally}, &outcome, &error);
    if (rc == 0 && options.files)
        add_files(scenario, options.files, spec, &tally);
    judge(scenario, rc, &tally, spec, &outcome, error.text);
    /* Workers of a refused run may be yet to open the pipe by its descriptor, which must not by
     * then be another run's pipe: it stays open. It is emptied here, as what is fed need not fit.
     */
    if (scenario->pipe && rc != 0)
        empty_pipe(ends[0]);
    if (scenario->pipe)
        pthread_join(feeder, NULL);
    if (scenario->pipe && rc == 0)
        close(ends[0]);
    if (rc == 0)
        source_close(source);
    if (rc == 0 && !outcome.gpu_opened) {
        file_tallies_close(options.files);
        free(spec);
        free(pipe_name);
        free(operands);
    }
}

/* Ends a part. Lost devices, and threads at them, are left as they are: no tear-down, no leak
 * check. */
static void end_part(void)
{
    _exit(0);
}

struct breaking {
    struct scenario scenario;
    unsigned max;
};

static void break_part(const void *arg)
{
    const struct breaking *breaking = arg;
    const unsigned max = breaking->max;
    struct scenario scenario = breaking->scenario;
    const int victim = scenario.plan.victim;
    scenario.plan = (struct fault_plan){.fault = FAULT_NONE, .victim = victim};
    run(&scenario);
    unsigned calls = emulated_device_calls() + 2;
    unsigned tried = scale_is_slow() ? max / 12 : scale_is_small() ? max / 7 : max;
    unsigned step = calls / tried + 1;
    for (unsigned at = 1; at <= calls; at += step) {
        scenario.plan = (struct fault_plan){
            .fault = FAULT_ERROR, .at = at, .for_good = at & 1, .seed = at, .victim = victim};
        run(&scenario);
        scenario.plan =
            (struct fault_plan){.fault = FAULT_WRONG, .at = at, .seed = at, .victim = victim};
        run(&scenario);
    }
    end_part();
}

/* Every call of the device fails in turn: as many as the healthy run makes, but no more than
 * `max`, spread over the run. */
static void fail_everywhere(struct scenario scenario, unsigned max)
{
    apart(break_part, &(struct breaking){scenario, max});
}

/* How many GPUs a run has. Emulated under a sanitizer they share a thread that is slow: two of them
 * then, and nothing that they decompress, or they seem to have hung. */
static unsigned several_gpus(unsigned form, unsigned number)
{
    if (scale_is_slow())
        return form == 0 && number % 4 == 0 ? 2 : 1;
    return 1 + number % 3;
}

struct health {
    enum device_choice device;
    unsigned i; /* of the numbers of threads */
};

static void healthy_part(const void *arg)
{
    static const unsigned threads[] = {1, 2, 3, 8};
    static const size_t chunk_sizes[] = {100, 4096, 59999, 60000, 60001};
    const struct health *health = arg;
    const enum device_choice device = health->device;
    const unsigned i = health->i;
    for (unsigned j = device == DEVICE_GPU; j < 5; j++)
        for (unsigned kind = 0; kind < 3; kind++)
            for (unsigned form = 0; form < FORMS; form++) {
                if (scale_is_small() && (i + j + kind + form) % 4 != 0)
                    continue;
                run(&(struct scenario){.device = device,
                                       .form = form,
                                       .pipe = kind != 1,
                                       .twice = kind != 0,
                                       .chunk_size = chunk_sizes[j],
                                       .buffers = (i + j) % 5,
                                       .threads = threads[i],
                                       .fold = j & 1,
                                       .gpus = several_gpus(form, i + j + kind),
                                       .grows = device == DEVICE_AUTO && (j & 1),
                                       .plan = {.seed = i + j}});
            }
    end_part();
}

static void healthy(enum device_choice device)
{
    for (unsigned i = 0; i < 4; i++)
        apart(healthy_part, &(struct health){device, i});
}

static void make_file(struct form *form)
{
    form->len = DATA_SIZE;
    form->bytes = data;
    if (form->frame) {
        size_t cap = DATA_SIZE + DATA_SIZE / form->frame * ZSTD_compressBound(form->frame);
        form->len = 0;
        form->bytes = malloc(cap);
        for (size_t at = 0; form->bytes && at < DATA_SIZE; at += form->frame)
            form->len +=
                ZSTD_compress(form->bytes + form->len, cap - form->len, data + at, form->frame, 1);
    }
    int fd = mkstemp(form->name);
    if (!form->bytes || fd < 0 || form->len > 65536 ||
        write(fd, form->bytes, form->len) != (ssize_t)form->len)
        die(form->name);
    close(fd);
}

int main(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max; /* refused runs leave their inputs open */
    setrlimit(RLIMIT_NOFILE, &files);
    signal(SIGPIPE, SIG_IGN);
    samples_fill(SAMPLES_MIXED, data, sizeof data);
    for (unsigned form = 0; form < FORMS; form++)
        make_file(&forms[form]);

    totals = apart_memory(sizeof *totals);
    healthy(DEVICE_CPU);
    healthy(DEVICE_AUTO);
    healthy(DEVICE_GPU);
    for (unsigned kind = 0; kind < 3; kind++)
        for (unsigned threads = 1; threads <= 3; threads++) {
            if (scale_is_small() && (kind + 2 * threads) % 3 != 0)
                continue; /* each kind with another number of threads */
            struct scenario scenario = {.pipe = kind != 1,
                                        .twice = kind != 0,
                                        .form = (kind + threads) % FORMS,
                                        .chunk_size = 5000,
                                        .buffers = threads,
                                        .threads = threads};
            scenario.device = DEVICE_AUTO;
            fail_everywhere(scenario, 40);
            scenario.device = DEVICE_GPU;
            fail_everywhere(scenario, 20);
            if (scale_is_slow() && scenario.form != 0)
                continue;
            scenario.gpus = 2;
            scenario.plan.victim = kind % 2 ? 0 : (int)threads % 2;
            fail_everywhere(scenario, 20);
            scenario.device = DEVICE_AUTO;
            scenario.plan.victim = -1;
            fail_everywhere(scenario, 20);
        }
    for (unsigned form = 0; form < FORMS; form++)
        unlink(forms[form].name);
    const struct totals *all = totals;
    printf(
        "%u runs (in %u the fault struck, in %u both engines counted, in %u several GPUs, which %u "
        "added to the first): %u exact, %u refused, %u wrong\n",
        all->runs, all->struck, all->shared, all->side_by_side, all->grown, all->exact,
        all->refused, all->wrong);
    return all->wrong != 0 || all->struck == 0 || all->shared == 0 || all->side_by_side == 0 ||
           (all->grown == 0 && !scale_is_slow());
}
