/* SPDX-License-Identifier: MIT */
/* Several GPUs of which some cannot be opened: the others count all of it, and it is known which
 * one is missing and why. And how many of them decompress. */
#include "gpu/decode/decoder.h"
#include "gpu/engine/gpu_engine.h"
#include "gpu/count/strategy.h"
#include "src/codec/codec.h"
#include "src/schedule/schedule.h"
#include "tests/device/emulated_device.h"
#include "tests/helpers/apart.h"
#include "tests/helpers/samples.h"
#include "tests/helpers/zstd_frames.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 1000
#define CHUNKS 40
#define GPUS 3
#define MEMORY ((uint64_t)1 << 27) /* for a frame's window */

static unsigned char data[CHUNK * CHUNKS];
static struct totals {
    unsigned checks, wrong;
} * totals; /* shared by all parts, which are processes */

static void check(const char *what, bool holds)
{
    totals->checks++;
    totals->wrong += !holds;
    if (!holds)
        fprintf(stderr, "FAIL: %s\n", what);
}

static struct gpu_list list_gpus(unsigned count)
{
    struct gpu_list list = {.count = count};
    for (unsigned i = 0; i < count; i++)
        list.gpu[i] = (struct cuda_device){.asked = (int)i, .ordinal = (int)i};
    return list;
}

static struct engine *open_group(const struct histogram_spec *spec, const struct fault_plan *plan,
                                 enum gpu_group_start start, struct error *error)
{
    const struct gpu_options options = {.strategy = strategy_find("vectorized"), /* quick */
                                        .chunk_size = CHUNK,
                                        .buffers = 2,
                                        .deadline_ms = 200000};
    const struct gpu_list list = list_gpus(GPUS);
    *error = (struct error){""};
    emulated_device_plan(*plan);
    return gpu_group_open(spec, &options, &list, start, error);
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Waits until so many GPUs are there. */
static void await_count(const struct engine *group, unsigned count)
{
    for (unsigned i = 0; i < 60000 && gpu_group_ready(group) < count; i++)
        pause_shortly();
}

static void check_counts(struct engine *group, const struct histogram_spec *spec)
{
    uint64_t counts[256] = {0}, expected[256] = {0};
    struct tally tally = {.bins = spec->bins, .counts = counts};
    for (unsigned i = 0; i < CHUNKS; i++) {
        struct chunk *chunk = engine_acquire(group, true);
        if (!chunk) {
            check("there is a chunk", false);
            return;
        }
        chunk->len = chunk->origin.bytes = CHUNK;
        memcpy(chunk->data, data + i * CHUNK, CHUNK);
        chunk->engine->ops->submit(chunk->engine, chunk);
    }
    samples_count(spec, data, sizeof data, expected);
    check("finished", engine_finish(group, &tally) == 0);
    check("exact", memcmp(counts, expected, sizeof counts) == 0);
}

/* The GPU `arg`, of three, cannot be opened. */
static void left_out_part(const void *arg)
{
    const int victim = *(const int *)arg;
    const struct fault_plan plan = {
        .fault = FAULT_ERROR, .at = 1, .for_good = true, .devices = GPUS, .victim = victim};
    struct histogram_spec spec;
    struct error error, named;
    histogram_spec_bytes(&spec);
    error_set(&named, "GPU %d: emulated failure", victim);
    check("all are wanted", !open_group(&spec, &plan, GPU_GROUP_WAITS_FOR_ALL, &error));
    check("which one is missing", strcmp(error.text, named.text) == 0);

    struct engine *group = open_group(&spec, &plan, GPU_GROUP_TAKES_SOME, &error);
    check("the others are opened", group != NULL);
    if (!group)
        return;
    await_count(group, GPUS - 1);
    check("two are there", gpu_group_ready(group) == GPUS - 1);
    for (int i = 0; i < GPUS; i++)
        check("which ones", !gpu_group_member(group, (unsigned)i) == (i == victim));
    check_counts(group, &spec);
    check("which one is left out", gpu_group_refused(group, &error));
    engine_close(group);
}

static void none_part(const void *arg)
{
    const struct fault_plan plan = {
        .fault = FAULT_ERROR, .at = 1, .for_good = true, .devices = GPUS, .victim = -1};
    struct histogram_spec spec;
    struct error error;
    (void)arg;
    histogram_spec_bytes(&spec);
    check("none can be opened", !open_group(&spec, &plan, GPU_GROUP_TAKES_SOME, &error));
    check("why one cannot be", strstr(error.text, ": emulated failure") != NULL);
}

/* A file that is decompressed by one of them, and one for which there is no memory. */
static void feeding_part(const void *arg)
{
    const struct compressed_start start = {.codec = &codec_zstd, .memlimit = MEMORY};
    const struct frame_settings settings = {.level = 3};
    struct histogram_spec spec;
    struct compressed_next next;
    struct compressed_rest rest;
    struct error error;
    (void)arg;
    histogram_spec_bytes(&spec);
    struct engine *group = open_group(&spec, &(struct fault_plan){.devices = GPUS, .victim = -1},
                                      GPU_GROUP_WAITS_FOR_ALL, &error);
    check("opened", group != NULL);
    if (!group)
        return;
    check("none is fed", gpu_group_feeding(group) == 0);
    struct gpu_decoder *decoder = gpu_decoder_begin(group, &start);
    struct chunk *chunk = decoder ? gpu_decoder_acquire(decoder) : NULL;
    if (chunk) { /* with GPUHISTO_RACES few emulated devices decompress */
        check("one is fed", gpu_group_feeding(group) == 1);
        chunk->len = frame_compress(chunk->data, chunk->cap, &settings, data, sizeof data);
        chunk->origin.end = ENDS_FILE;
        gpu_decoder_submit(decoder, chunk, 0, &next);
        gpu_decoder_finish(decoder, &rest);
        free(rest.tail);
        check("the FILE has ended", gpu_group_feeding(group) == 0);
    }
    engine_close(group);

    emulated_device_memory(1);
    group = open_group(&spec, &(struct fault_plan){.devices = GPUS, .victim = -1},
                       GPU_GROUP_WAITS_FOR_ALL, &error);
    check("opened without memory", group != NULL);
    if (!group)
        return;
    check("no memory", !gpu_decoder_begin(group, &start));
    check("no memory: none is fed", gpu_group_feeding(group) == 0);
    engine_close(group);
}

struct feed {
    int fd;
    atomic_bool is_known; /* one GPU is there, and it is known that the other cannot be */
};

/* Writes until that is known, or a minute. */
static void *feed_pipe(void *arg)
{
    struct feed *feed = arg;
    for (unsigned i = 0; i < 60000 && !atomic_load(&feed->is_known); i++) {
        if (write(feed->fd, data, CHUNK) != CHUNK)
            break;
        pause_shortly();
    }
    close(feed->fd);
    return NULL;
}

static void tick(void *arg, const struct pool_view *view)
{
    struct feed *feed = arg;
    struct error error;
    if (view->gpu && gpu_group_refused(view->gpu, &error))
        atomic_store(&feed->is_known, true);
}

/* A run of two GPUs of which there is only one, which it says. The GPUs' engines outlive it. */
static void run_part(const void *arg)
{
    struct feed feed = {.fd = -1};
    struct pool_options options = {.device = DEVICE_AUTO,
                                   .gpus = list_gpus(2),
                                   .strategy = strategy_find("vectorized"),
                                   .chunk_size = CHUNK,
                                   .threads = 2,
                                   .deadline_ms = 200000,
                                   .tick = tick,
                                   .tick_arg = &feed};
    const struct input_options input = {.record = record_values(1), .decoding.memlimit = MEMORY};
    struct histogram_spec spec;
    uint64_t counts[256] = {0};
    char name[32], *operands[] = {name};
    int ends[2];
    pthread_t feeder;
    struct pool_outcome outcome;
    struct error error;
    (void)arg;
    histogram_spec_bytes(&spec);
    struct tally tally = {.bins = spec.bins, .counts = counts};
    if (pipe(ends) != 0)
        abort();
    feed.fd = ends[1];
    if (pthread_create(&feeder, NULL, feed_pipe, &feed) != 0)
        abort();
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    emulated_device_plan((struct fault_plan){.devices = 1, .victim = -1});
    struct source *source = source_open(operands, 1, &input);
    check("a run",
          pool_run(&options, &(struct pool_task){&spec, source, &tally}, &outcome, &error) == 0);
    pthread_join(feeder, NULL);
    check("one of two GPUs", outcome.gpu_count == 1);
    check("why not the other",
          strcmp(outcome.gpu_refused.text, "GPU 1: there is no such device") == 0);
    fflush(NULL);
    _exit(0); /* threads may still be at work */
}

int main(void)
{
    totals = apart_memory(sizeof *totals);
    samples_fill(SAMPLES_MIXED, data, sizeof data);
    for (int victim = 0; victim < GPUS; victim++)
        apart(left_out_part, &victim);
    apart(none_part, NULL);
    apart(feeding_part, NULL);
    apart(run_part, NULL);
    printf("%u checks, %u wrong\n", totals->checks, totals->wrong);
    return totals->wrong != 0 || totals->checks < 35;
}
