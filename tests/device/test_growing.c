/* SPDX-License-Identifier: MIT */
/* Compressed files that grow, or become shorter, between the moment when they are opened and the
 * one when an engine has decompressed what they had then: the counts, or the reason why there are
 * none, are those of the CPU alone. What the file had may end anywhere, within a skippable frame
 * too, which the engine does not look at. */
#include "gpu/decode/decoder.h"
#include "gpu/engine/gpu_engine.h"
#include "src/cpu/count.h"
#include "src/input/records.h"
#include "src/input/input.h"
#include "src/schedule/schedule.h"
#include "tests/device/emulated_device.h"
#include "tests/helpers/compressed.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/submit.h"
#include "tests/helpers/zstd_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME_SIZE ((size_t)30000) /* bytes of content */
#define FRAMES 3                   /* before the skippable one; one more follows it */
#define CHUNK_SIZE ((size_t)16384)
#define SKIPPABLE_SHORT ((size_t)500)
#define SKIPPABLE_LONG ((size_t)12 << 20) /* more than is read at a time */

/* A file, all that it ever has: frames, a skippable frame, another frame. */
struct stream {
    unsigned char *bytes;
    size_t skippable, after, len; /* where these begin, and where it ends */
};

/* How a file changes, and what becomes of it. */
struct change {
    const char *name;
    size_t before, now;    /* bytes, when it is opened and afterwards */
    bool is_shard;         /* it is cut, as a share is, when it is opened */
    const char *complaint; /* after the file's name; NULL: it is counted, */
    size_t frames;         /* so many frames */
};

struct run {
    const struct histogram_spec *spec;
    const struct stream *stream;
    const struct change *change;
    bool is_alone; /* there is no engine */
};

static char file_name[] = "test_growing-XXXXXX";
static struct engine *cpu, *gpu;
static unsigned runs, taken, wrong;
static bool has_changed;

static void complain(const struct run *run, const char *what, const char *text)
{
    if (wrong++ < 20)
        fprintf(stderr, "FAILED: %s: %s, skippable of %zu bytes%s: %s: '%s'\n", run->change->name,
                run->spec->mode->name, run->stream->after - run->stream->skippable,
                run->is_alone ? ", the CPU alone" : "", what, text);
}

/* --- the file --- */

static void write_file(const struct stream *stream, size_t from, size_t to)
{
    FILE *file = need(fopen(file_name, from == 0 ? "w" : "a"));
    if (fwrite(stream->bytes + from, 1, to - from, file) != to - from || fclose(file) != 0)
        need(NULL);
}

/* Whoever asks for an engine has opened the file. */
static void change_once(const struct run *run)
{
    const struct change *change = run->change;
    if (has_changed)
        return;
    has_changed = true;
    if (change->now < change->before && truncate(file_name, (off_t)change->now) != 0)
        need(NULL);
    if (change->now > change->before)
        write_file(run->stream, change->before, change->now);
}

static struct stream make_stream(size_t skippable)
{
    const struct frame_settings settings = {.level = 1, .checksum = true};
    const size_t bound = frame_bound(&settings, FRAME_SIZE);
    unsigned char *content = need(malloc(FRAME_SIZE));
    struct stream stream = {.bytes = need(malloc((FRAMES + 1) * bound + skippable + 64))};
    for (unsigned i = 0; i <= FRAMES; i++) {
        if (i == FRAMES) {
            stream.skippable = stream.len;
            stream.len += skippable_put(stream.bytes + stream.len, skippable);
            stream.after = stream.len;
        }
        for (size_t at = 0; at < FRAME_SIZE; at++)
            content[at] = (unsigned char)(random_below(7) == 0 ? ' ' : '0' + random_below(10));
        stream.len +=
            frame_compress(stream.bytes + stream.len, bound, &settings, content, FRAME_SIZE);
    }
    free(content);
    return stream;
}

/* --- a run --- */

static struct chunk *choose(void *arg, enum flow flow)
{
    (void)arg, (void)flow;
    return engine_acquire(cpu, true);
}

static struct engine *offload(void *arg, const struct offload_offer *offer, bool *waits)
{
    const struct run *run = arg;
    (void)offer, (void)waits;
    change_once(run);
    return gpu && gpu_decoder_is_idle(gpu) ? gpu : NULL;
}

static int count_file(struct run *run, struct error *error)
{
    const struct shard_choice choice = {.part = 1, .of = 1};
    char *operand = file_name;
    struct shard shard;
    struct input_options options = {.decoding.memlimit = 1 << 27,
                                    .frame_memory = 8000, /* frames are decoded in order */
                                    .record = record_kind_of_all(run->spec)};
    has_changed = false;
    write_file(run->stream, 0, run->change->before);
    if (run->change->is_shard) {
        if (shard_open(&shard, &choice, &operand, 1, error) != 0)
            need(NULL);
        options.shard = &shard;
    }
    struct source *source = need(source_open(&operand, 1, &options));
    const struct sink sink = {.arg = run, .choose = choose, .offload = offload};
    int rc = submit_source(source, &sink);
    const char *message = source_error(source);
    error_set(error, "%s", message ? message : "");
    source_close(source);
    if (run->change->is_shard)
        shard_close(&shard);
    return rc;
}

/* Counts the file. 0 or -1. */
static int count(struct run *run, struct tally *tally, struct error *error)
{
    cpu =
        need(cpu_engine_open(run->spec, &(struct cpu_engine_options){
                                            .chunk_size = CHUNK_SIZE, .chunks = 9, .threads = 1}));
    const struct gpu_options options = {
        .chunk_size = 65536, .buffers = 1, .deadline_ms = 20000, .fallback = cpu};
    emulated_device_plan((struct fault_plan){.fault = FAULT_NONE});
    gpu = run->is_alone ? NULL : need(gpu_engine_open(run->spec, &options, error));
    int rc = count_file(run, error);
    if (gpu && engine_finish(gpu, tally) != 0)
        need(NULL);
    taken += gpu && gpu_decoder_bytes(gpu) > 0;
    engine_finish(cpu, tally);
    if (gpu)
        engine_close(gpu);
    engine_close(cpu);
    return rc;
}

static struct tally new_tally(const struct histogram_spec *spec)
{
    return (struct tally){.bins = spec->bins, .counts = need(calloc(spec->bins, sizeof(uint64_t)))};
}

static void check_run(struct run run, const struct tally *expected, struct tally *counted)
{
    const struct change *change = run.change;
    struct error error = {""};
    char complaint[200] = "";
    runs++;
    const int rc = count(&run, counted, &error);
    if (change->complaint)
        snprintf(complaint, sizeof complaint, "%s: %s", file_name, change->complaint);
    if (strcmp(error.text, complaint) != 0 || (rc != 0) != (complaint[0] != '\0'))
        complain(&run, "what it says", error.text);
    else if (rc == 0 && counted->bytes != change->frames * FRAME_SIZE)
        complain(&run, "other frames were counted", "");
    else if (rc == 0 && expected &&
             (counted->samples != expected->samples ||
              memcmp(counted->counts, expected->counts,
                     counted->bins * sizeof counted->counts[0]) != 0))
        complain(&run, "wrong counts", "");
}

/* The CPU alone, and the engine. */
static void check_change(const struct histogram_spec *spec, const struct stream *stream,
                         const struct change *change)
{
    struct run run = {spec, stream, change, true};
    struct tally expected = new_tally(spec), counted = new_tally(spec);
    check_run(run, NULL, &expected);
    run.is_alone = false;
    check_run(run, &expected, &counted);
    free(expected.counts);
    free(counted.counts);
}

/* --- the changes --- */

static void check_stream(const struct histogram_spec *spec, const struct stream *stream)
{
    const size_t skippable = stream->skippable, after = stream->after, len = stream->len;
    const size_t within = skippable + (after - skippable) / 2;
    char truncated[4][64];
    const size_t ends[4] = {within, after - 1, len - 1, len - 500};
    for (unsigned i = 0; i < 4; i++)
        snprintf(truncated[i], sizeof truncated[i], "truncated zstd data, at byte %zu", ends[i]);
    const struct change changes[] = {
        {"as it was", len, len, .frames = FRAMES + 1},
        {"within a skippable frame, as it was", within, within, .complaint = truncated[0]},
        {"within a skippable frame, a little more", within, after - 1, .complaint = truncated[1]},
        {"within a skippable frame, its rest", within, after, .frames = FRAMES},
        {"within a skippable frame, all", within, len, .frames = FRAMES + 1},
        {"within a skippable frame, not all", within, len - 1, .complaint = truncated[2]},
        {"within a skippable frame, less", within, within - 1,
         .complaint = "was truncated while it was read"},
        {"after its header, all", skippable + 8, len, .frames = FRAMES + 1},
        {"within its header, all", skippable + 5, len, .frames = FRAMES + 1},
        {"before a skippable frame, all", skippable, len, .frames = FRAMES + 1},
        {"after a skippable frame, all", after, len, .frames = FRAMES + 1},
        {"within a frame, all", len - 500, len, .frames = FRAMES + 1},
        {"within a frame, not all", len - 500, len - 1, .complaint = truncated[2]},
        {"a share within a skippable frame, all", within, len, .is_shard = true,
         .complaint = truncated[0]},
        {"a share before a skippable frame, all", skippable, len, .is_shard = true,
         .frames = FRAMES},
        {"a share within a frame, all", len - 500, len, .is_shard = true,
         .complaint = truncated[3]},
        {"a share, less", within, within - 1, .is_shard = true,
         .complaint = "was truncated while it was read"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        check_change(spec, stream, &changes[i]);
}

int main(void)
{
    static struct histogram_spec bytes, numbers;
    struct binning binning;
    random_seed(20261126);
    histogram_spec_bytes(&bytes);
    if (binning_digits(&binning, 1, false) != 0 || mkstemp(file_name) < 0)
        need(NULL);
    histogram_spec_numbers(&numbers, &binning);
    struct stream few = make_stream(SKIPPABLE_SHORT), many = make_stream(SKIPPABLE_LONG);
    check_stream(&bytes, &few);
    check_stream(&numbers, &few);
    check_stream(&bytes, &many);
    unlink(file_name);
    free(few.bytes);
    free(many.bytes);
    printf("%u runs (in %u the engine counted), %u wrong\n", runs, taken, wrong);
    fflush(stdout);
    /* With GPUHISTO_RACES, few emulated devices decompress. */
    _exit(wrong != 0 || taken < (scale_is_slow() ? 1 : runs / 10));
}
