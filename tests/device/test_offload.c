/* SPDX-License-Identifier: MIT */
/* Files that a GPU takes from workers which decode them: after every number of chunks, by
 * one reader and by several, over an emulated device that is well, or fails at any call. The
 * counts, and the line of the first sample that is invalid, are those that libzstd and the CPU
 * give. */
#include "gpu/decoder.h"
#include "gpu/gpu_engine.h"
#include "src/cpu/cpu_engine.h"
#include "src/records/error_locator.h"
#include "src/records/records.h"
#include "src/work/source.h"
#include "tests/device/emulated_device.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/submit.h"
#include "tests/helpers/zstd_frames.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONTENT_SIZE ((size_t)280000) /* more than two blocks, if windows are large */
#define CHUNK_SIZE ((size_t)16384)
#define CHUNKS (CONTENT_SIZE / CHUNK_SIZE + 1)
#define THREADS_MAX 3
#define MODES_HERE 5

enum { TEXT, VALUES, KINDS };
static unsigned char content[KINDS][CONTENT_SIZE];

/* How the content is compressed. Frames that need more than FRAME_MEMORY are decoded in order. */
#define FRAME_MEMORY 8000
static struct form {
    size_t frame; /* bytes of content */
    int window_log;
    bool is_unsized;
    char names[KINDS][sizeof "test_offload-XXXXXX"];
} forms[] = {{.frame = CONTENT_SIZE},
             {.frame = CONTENT_SIZE, .window_log = 13},
             {.frame = 70003, .window_log = 14, .is_unsized = true},
             {.frame = 4099},
             {.frame = 1009}};
#define FORMS (sizeof forms / sizeof forms[0])

struct run {
    const struct histogram_spec *spec;
    const struct form *form;
    unsigned threads;
    unsigned after; /* chunks, the engine may begin */
    bool is_pipe;
    size_t batch;      /* bytes of compressed units that a reader takes; 0: as many as usual */
    size_t replay_max; /* of the pipe; 0: as much as usual */
    bool fallback;
    bool is_alone; /* there is no engine: what is right */
    struct fault_plan plan;
};

/* What a run counted. */
struct outcome {
    struct tally tally;
    struct error invalid; /* the first invalid sample, and its line; or empty */
};

static struct engine *cpu, *gpu;
static atomic_uint submitted;
static unsigned runs, exact, refused, struck, taken, shared, wrong;
static unsigned last_calls; /* of the device, in the last run */

static void complain(const struct run *run, const char *what, const char *why)
{
    if (wrong++ < 20)
        fprintf(stderr,
                "%s (%s): %s, form %u, %u threads, pipe %d, after %u chunks, batches of %zu, fault "
                "%d at "
                "%u%s\n",
                what, why, run->spec->mode->name, (unsigned)(run->form - forms), run->threads,
                run->is_pipe, run->after, run->batch, run->plan.fault, run->plan.at,
                run->fallback ? "" : ", nothing replaces the device");
}

/* --- a run --- */

static struct chunk *choose(void *arg, enum flow flow)
{
    (void)arg, (void)flow;
    return engine_acquire(cpu, true);
}

static struct engine *offload(void *arg, const struct offload_offer *offer)
{
    const struct run *run = arg;
    bool is_there = gpu && atomic_load(&submitted) >= run->after;
    (void)offer;
    return is_there && gpu_decoder_is_idle(gpu) ? gpu : NULL;
}

static bool may_offload(void *arg)
{
    (void)arg;
    return gpu != NULL;
}

struct worker {
    struct run *run;
    struct source *source;
    pthread_t thread;
    int rc;
};

static void *work(void *arg)
{
    struct worker *worker = arg;
    const struct sink sink = {
        .arg = worker->run, .choose = choose, .offload = offload, .may_offload = may_offload};
    worker->rc = submit_source(worker->source, &sink, &submitted);
    return NULL;
}

/* 0 or -1. */
static int work_side_by_side(struct run *run, struct source *source)
{
    struct worker workers[THREADS_MAX];
    int rc = 0;
    for (unsigned i = 0; i < run->threads; i++) {
        workers[i] = (struct worker){.run = run, .source = source};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            need(NULL);
    }
    for (unsigned i = 0; i < run->threads; i++) {
        pthread_join(workers[i].thread, NULL);
        rc = workers[i].rc < 0 ? -1 : rc;
    }
    return rc;
}

struct feed {
    const char *name;
    int fd;
};

/* Writes a file into a pipe. */
static void *feed_pipe(void *arg)
{
    const struct feed *feed = arg;
    char piece[4096];
    FILE *file = need(fopen(feed->name, "r"));
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;)
        if (write(feed->fd, piece, got) != (ssize_t)got)
            break;
    fclose(file);
    close(feed->fd);
    return NULL;
}

static int count_operand(struct run *run, char *operand, struct error *error)
{
    const struct input_options options = {.decoding.memlimit = 1 << 27,
                                          .batch_size = run->batch,
                                          .frame_memory = FRAME_MEMORY,
                                          .replay_max = run->replay_max,
                                          .record = record_kind_of_all(run->spec)};
    struct source *source = need(source_open(&operand, 1, &options));
    int rc = work_side_by_side(run, source);
    const char *message = source_error(source);
    error_set(error, "%s", message ? message : "");
    source_close(source);
    return rc;
}

static int count_file(struct run *run, struct error *error)
{
    bool is_text = run->spec->mode->is_text;
    char *operand = (char *)(uintptr_t)run->form->names[is_text ? TEXT : VALUES];
    char pipe_name[32], rest[4096];
    int ends[2];
    pthread_t feeder;
    atomic_store(&submitted, 0);
    if (!run->is_pipe)
        return count_operand(run, operand, error);
    if (pipe(ends) != 0)
        need(NULL);
    struct feed feed = {operand, ends[1]};
    if (pthread_create(&feeder, NULL, feed_pipe, &feed) != 0)
        need(NULL);
    snprintf(pipe_name, sizeof pipe_name, "/dev/fd/%d", ends[0]);
    int rc = count_operand(run, pipe_name, error);
    while (read(ends[0], rest, sizeof rest) > 0)
        continue;
    pthread_join(feeder, NULL);
    close(ends[0]);
    return rc;
}

static void open_engines(struct run *run, struct error_locator *locator, struct error *error)
{
    cpu = need(cpu_engine_open(run->spec,
                               &(struct cpu_engine_options){.chunk_size = CHUNK_SIZE,
                                                            .chunks = THREADS_MAX + HANDED_OFF_MAX,
                                                            .threads = run->threads}));
    cpu->locator = locator;
    const struct gpu_options options = {.chunk_size = 65536,
                                        .buffers = 1,
                                        .deadline_ms = 20000,
                                        .locator = locator,
                                        .fallback = run->fallback ? cpu : NULL};
    emulated_device_plan(run->plan);
    gpu = run->is_alone ? NULL : gpu_engine_open(run->spec, &options, error);
}

/* Counts a file. 0 or -1. */
static int count(struct run *run, struct outcome *outcome, struct error *error)
{
    struct error_locator *locator = NULL;
    if (run->spec->mode->is_text)
        locator = need(error_locator_open(run->spec, 1, 64, THREADS_MAX));
    open_engines(run, locator, error);
    int rc = gpu || run->is_alone ? count_file(run, error) : -1;
    if (gpu && rc == 0)
        rc = engine_finish(gpu, &outcome->tally);
    const uint64_t by_gpu = gpu ? gpu_decoder_bytes(gpu) : 0;
    taken += by_gpu > 0;
    shared += by_gpu > 0 && by_gpu < CONTENT_SIZE;
    if (rc == 0)
        engine_finish(cpu, &outcome->tally);
    if (rc == 0 && locator)
        (void)error_locator_first(locator, &outcome->invalid);
    if (gpu && rc == 0)
        engine_close(gpu);
    if (rc == 0) {
        engine_close(cpu);
        error_locator_close(locator);
    }
    return rc;
}

static struct outcome new_outcome(const struct histogram_spec *spec)
{
    return (struct outcome){
        .tally = {.bins = spec->bins, .counts = need(calloc(spec->bins, sizeof(uint64_t)))}};
}

static bool is_same(const struct outcome *a, const struct outcome *b)
{
    return a->tally.samples == b->tally.samples && a->tally.bytes == b->tally.bytes &&
           a->tally.newlines == b->tally.newlines &&
           strcmp(a->invalid.text, b->invalid.text) == 0 &&
           memcmp(a->tally.counts, b->tally.counts, a->tally.bins * sizeof a->tally.counts[0]) == 0;
}

static void check_run(struct run run)
{
    struct outcome counted = new_outcome(run.spec), expected = new_outcome(run.spec);
    struct run alone = run;
    struct error error = {""};
    alone.is_alone = true;
    runs++;
    int rc = count(&run, &counted, &error);
    struck += emulated_device_struck();
    last_calls = emulated_device_calls();
    if (rc != 0) {
        refused++;
        if (run.fallback || run.plan.fault == FAULT_NONE)
            complain(&run, "refused", error.text);
    } else if (count(&alone, &expected, &error) != 0) {
        complain(&run, "the CPU alone refused", error.text);
    } else if (!is_same(&counted, &expected)) {
        complain(&run, "wrong", counted.invalid.text);
    } else {
        exact++;
    }
    free(counted.tally.counts);
    free(expected.tally.counts);
}

/* --- what is gone through --- */

/* The engine begins after each number of chunks, also before the first and after the last. */
static void take_over_everywhere(struct run run)
{
    const unsigned step = scale_is_small_or_slow() ? 13 : scale_is_all() ? 1 : 3;
    const unsigned before = shared;
    for (run.after = 0; run.after <= CHUNKS; run.after += step)
        check_run(run);
    if (shared == before && !run.is_pipe && !scale_is_slow())
        complain(&run, "never offloaded", "");
}

/* The device fails at calls all over a run, most of which come after it began. */
static void fail_everywhere(struct run run, unsigned max)
{
    check_run(run);
    const unsigned calls = last_calls;
    const unsigned tried = scale_of(2, max / 2, max);
    const unsigned step = 1 + calls / tried;
    for (unsigned at = 2 + random_below(step); at <= calls; at += step) { /* 1 opens it */
        run.plan =
            (struct fault_plan){.fault = FAULT_ERROR, .at = at, .for_good = true, .seed = at};
        check_run(run);
    }
    /* Where nothing is hashed, these copy the record after the last separator, at the very end. */
    const bool is_few = scale_is_small_or_slow();
    for (unsigned at = is_few ? 1 + random_below(2) : 1; at <= 2; at += is_few ? 2 : 1) {
        run.plan = (struct fault_plan){
            .fault = FAULT_ERROR, .at = at, .for_good = true, .seed = at, .reads_only = true};
        check_run(run);
    }
    run.plan = (struct fault_plan){
        .fault = FAULT_WRONG, .at = 1 + random_below(2), .for_good = true, .seed = 1};
    check_run(run);
}

/* A pipe whose frames readers decode side by side, or which are begun anew. */
static void go_through_pipe(const struct histogram_spec *spec, const struct form *form,
                            unsigned threads)
{
    const unsigned before = shared;
    struct run run = {.spec = spec,
                      .form = form,
                      .threads = threads,
                      .is_pipe = true,
                      .batch = 3000,
                      .fallback = true};
    take_over_everywhere(run);
    bool is_begun_anew = form->frame > FRAME_MEMORY;
    if (shared == before && (is_begun_anew || histogram_spec_sample_size(spec) == 1) &&
        !scale_is_slow())
        complain(&run, "never offloaded", "");
    run.after = 5;
    fail_everywhere(run, 8);

    /* Frames that are longer than what is kept are not begun anew. */
    run.replay_max = 20000;
    take_over_everywhere(run);
}

static void go_through(const struct histogram_spec *spec, const struct form *form, unsigned threads,
                       bool also_refused)
{
    struct run run = {.spec = spec,
                      .form = form,
                      .threads = threads,
                      .batch = form->frame < 5000 ? 3000 : 0,
                      .fallback = true};
    take_over_everywhere(run);
    run.after = 1 + random_below(CHUNKS - 1);
    fail_everywhere(run, 10);
    if (!also_refused)
        return;
    run.fallback = false;
    run.plan = (struct fault_plan){.fault = FAULT_NONE};
    fail_everywhere(run, 4);
}

/* --- files --- */

static void make_file(struct form *form, unsigned kind)
{
    static const char pattern[] = "test_offload-XXXXXX";
    struct frame_settings settings = {
        .level = 1, .window_log = form->window_log, .is_unsized = form->is_unsized};
    memcpy(form->names[kind], pattern, sizeof pattern);
    int fd = mkstemp(form->names[kind]);
    for (size_t at = 0; at < CONTENT_SIZE; at += form->frame) {
        size_t part = CONTENT_SIZE - at < form->frame ? CONTENT_SIZE - at : form->frame;
        size_t bound = frame_bound(&settings, part);
        unsigned char *frame = need(malloc(bound));
        size_t len = frame_compress(frame, bound, &settings, content[kind] + at, part);
        if (fd < 0 || write(fd, frame, len) != (ssize_t)len)
            need(NULL);
        free(frame);
        settings.checksum ^= true;
    }
    close(fd);
}

/* Lines of numbers of all lengths, which few blocks end between, and at last one that is none. */
static void make_text(unsigned char *text)
{
    for (size_t at = 0; at < CONTENT_SIZE;) {
        char line[16];
        int size = at > CONTENT_SIZE / 8 * 7 && random_below(500) == 0
                       ? snprintf(line, sizeof line, "x%u\n", random_below(1000))
                       : snprintf(line, sizeof line, "%u\n", random_below(1u << random_below(25)));
        size_t part = (size_t)size < CONTENT_SIZE - at ? (size_t)size : CONTENT_SIZE - at;
        memcpy(text + at, line, part);
        at += part;
    }
}

int main(void)
{
    static struct histogram_spec counted_modes[MODES_HERE];
    struct binning binning;
    random_seed(20261124);
    make_text(content[TEXT]);
    frame_content(CONTENT_MIXED, content[VALUES], CONTENT_SIZE);
    histogram_spec_bytes(&counted_modes[0]);
    histogram_spec_letters(&counted_modes[1], 4, true);
    if (binning_digits(&binning, 1, false) != 0)
        need(NULL);
    histogram_spec_numbers(&counted_modes[2], &binning);
    histogram_spec_values(&counted_modes[3], value_type_find("f64"), &binning);
    histogram_spec_pairs(&counted_modes[4], false);
    for (unsigned i = 0; i < FORMS; i++)
        for (unsigned kind = 0; kind < KINDS; kind++)
            make_file(&forms[i], kind);
    /* Where few are asked for, each form goes with one mode. */
    const bool is_few = scale_is_small_or_slow();
    for (unsigned i = 0; i < FORMS; i++)
        for (unsigned mode = 0; mode < MODES_HERE; mode++)
            for (unsigned threads = 1; threads <= THREADS_MAX; threads++) {
                if (is_few && (i + 2 * mode) % FORMS > 0)
                    continue;
                if ((scale_is_all() && !scale_is_slow()) || (i + mode) % 3 + 1 == threads)
                    go_through(&counted_modes[mode], &forms[i], threads, !is_few || mode % 2);
            }
    for (unsigned mode = 0; mode < MODES_HERE; mode++)
        for (unsigned i = 0; i < 4; i++)
            if (!is_few || (i + mode) % 4 == 0)
                go_through_pipe(&counted_modes[mode], &forms[i], 1 + mode % 2);
    for (unsigned i = 0; i < FORMS; i++)
        for (unsigned kind = 0; kind < KINDS; kind++)
            unlink(forms[i].names[kind]);
    printf("%u runs (in %u the fault struck, in %u the engine counted, in %u after others): %u "
           "exact, %u refused, %u wrong\n",
           runs, struck, taken, shared, exact, refused, wrong);
    fflush(stdout);
    /* Lost devices are left as they are: no leak check. */
    bool has_gone_through = taken > runs / 4 || scale_is_slow(); /* few devices decompress then */
    _exit(wrong != 0 || struck == 0 || !has_gone_through);
}
