/* SPDX-License-Identifier: MIT */
/* The GPU engine over a device that fails: whatever happens to the device, and whenever, the counts
 * are exact, or they are refused.
 *
 * Every schedule is one life of an engine: open, chunks from one or several threads, finish, close.
 * It must end with counts equal to a naive count of the same data, or, where nothing replaces a
 * lost device, with -1 and no counts. tests/cli/device_faults_emulated.sh has the program do so in
 * every mode; here is what it cannot see: counts while others are made, calls that return after the
 * engine was closed, devices that are left open, chunks of odd sizes. */
#include "gpu/decode/decoder.h"
#include "gpu/engine/gpu_engine.h"
#include "gpu/engine/device.h"
#include "gpu/count/strategy.h"
#include "src/cpu/count.h"
#include "src/codec/codec.h"
#include "tests/device/emulated_device.h"
#include "tests/helpers/apart.h"
#include "tests/helpers/samples.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/zstd_frames.h"
#include "src/input/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DATA_SIZE 65000
#define DEADLINE_MS 50
#define STOPPED_DEADLINE_MS 2000 /* far longer than a chunk takes, also on a busy machine */
#define TOKEN 5                  /* bytes of each in the text, with its newline */
#define DROPPED_MAX 7            /* bytes at the beginning of a chunk of lines, with one */
#define MANY_BINS 66000          /* more than have a snapshot for each chunk */
#define COUNTS_MAX (MANY_BINS + 3)

struct schedule {
    struct histogram_spec spec;
    size_t chunk_size, len;
    unsigned buffers, threads;
    bool fallback, timing;
    struct fault_plan plan;
};

static unsigned char data[DATA_SIZE], text[DATA_SIZE];
static struct totals {
    unsigned schedules, exact, refused, struck, stuck, peeked, wrong;
} * totals; /* shared by all parts, which are processes */

/* A tally of zeros in memory of the caller's. */
static struct tally tally_in(uint64_t *counts, const struct histogram_spec *spec)
{
    memset(counts, 0, spec->bins * sizeof counts[0]);
    return (struct tally){.bins = spec->bins, .counts = counts};
}

static bool same(const struct tally *a, const struct tally *b)
{
    return a->samples == b->samples && a->newlines == b->newlines &&
           memcmp(a->counts, b->counts, a->bins * sizeof a->counts[0]) == 0;
}

/* Values of two bytes that are their own bin: then nothing replaces a lost device. */
static bool is_many(const struct schedule *schedule)
{
    return schedule->spec.mode == &mode_values;
}

static bool is_text(const struct histogram_spec *spec)
{
    return spec->mode == &mode_numbers;
}

static bool has_lines(const struct histogram_spec *spec)
{
    return spec->lines.field.kind != FIELD_NONE;
}

/* Bytes between which chunks may be cut. */
static size_t record_size(const struct histogram_spec *spec)
{
    const size_t size = histogram_spec_sample_size(spec);
    return is_text(spec) ? TOKEN : size > 0 ? size : 1;
}

/* "0.00" to "9.99" in bins of a tenth, and "x.00" to "x.99". */
static void naive_numbers(const struct schedule *schedule, struct tally *tally)
{
    const struct binning *binning = &schedule->spec.binning;
    for (size_t i = 0; i < schedule->len; i += TOKEN) {
        bool number = text[i] != 'x';
        unsigned tenths = 10u * text[i] + text[i + 2] - 11u * '0';
        tally->counts[number ? 1 + tenths : ROW_INVALID(binning)]++;
    }
    tally->samples = tally->newlines = schedule->len / TOKEN;
}

static void naive_counts(const struct schedule *schedule, struct tally *tally)
{
    if (is_text(&schedule->spec)) {
        naive_numbers(schedule, tally);
        return;
    }
    if (is_many(schedule)) {
        tally->samples = schedule->len / 2;
        for (size_t i = 0; i + 1 < schedule->len; i += 2)
            tally->counts[1 + data[i] + 256 * data[i + 1]]++;
        return;
    }
    tally->samples = schedule->len;
    samples_count(&schedule->spec, data, schedule->len, tally->counts);
}

struct feed {
    const struct schedule *schedule;
    struct engine *gpu, *cpu;
    _Atomic size_t next;
    atomic_bool failed;
};

/* What a worker of the pool does, over memory instead of files. It has the next chunk before it
 * submits one, as if another worker were filling that when the device is lost. */
static void *feed_engine(void *arg)
{
    struct feed *feed = arg;
    size_t len = feed->schedule->len, record = record_size(&feed->schedule->spec);
    const unsigned char *from = is_text(&feed->schedule->spec) ? text : data;
    for (struct chunk *next = NULL;;) {
        struct chunk *chunk = next ? next : engine_acquire(feed->gpu, true);
        if (!chunk && feed->cpu)
            chunk = engine_acquire(feed->cpu, true);
        if (!chunk) {
            feed->failed = true;
            return NULL;
        }
        size_t cap = chunk->cap / record * record;
        size_t at = atomic_fetch_add(&feed->next, cap);
        chunk->len = at >= len ? 0 : len - at < cap ? len - at : cap;
        bool last = chunk->len == 0;
        /* Of lines, what was dropped at the beginning, as of a line from the chunk before. */
        chunk->begin = !last && has_lines(&feed->schedule->spec) ? at % DROPPED_MAX : 0;
        if (!last) {
            memset(chunk->data, '5', chunk->begin);
            memcpy(chunk->data + chunk->begin, from + at, chunk->len);
        }
        chunk->len += chunk->begin;
        next = last ? NULL : engine_acquire(feed->gpu, false);
        if (chunk->engine->ops->submit(chunk->engine, chunk) != 0)
            feed->failed = true;
        if (last || feed->failed)
            return NULL;
    }
}

static void complain(const struct schedule *schedule, const char *what)
{
    totals->wrong++;
    fprintf(stderr,
            "FAIL: %s: bins %zu len %zu chunk %zu buffers %u threads %u fallback %d timing %d "
            "fault %d at %u for good %d\n",
            what, schedule->spec.bins, schedule->len, schedule->chunk_size, schedule->buffers,
            schedule->threads, schedule->fallback, schedule->timing, (int)schedule->plan.fault,
            schedule->plan.at, schedule->plan.for_good);
}

/* While chunks are counted, and perhaps the device is lost: no count is greater than at the
 * end. */
static void peek(const struct feed *feed)
{
    static uint64_t counts[2][COUNTS_MAX];
    const struct schedule *schedule = feed->schedule;
    struct tally seen = tally_in(counts[0], &schedule->spec);
    struct tally max = tally_in(counts[1], &schedule->spec);
    naive_counts(schedule, &max);
    if (feed->cpu)
        engine_peek(feed->cpu, &seen);
    bool known = engine_peek(feed->gpu, &seen) == 0;
    totals->peeked += known;
    if (known && is_many(schedule))
        complain(schedule, "counts of a device that has no snapshot yet");
    if (!known && !is_many(schedule) && (schedule->fallback || !engine_loss(feed->gpu)))
        complain(schedule, "no counts so far");
    bool is_more = seen.samples > max.samples || seen.newlines > max.newlines;
    for (size_t bin = 0; bin < seen.bins; bin++)
        is_more |= seen.counts[bin] > max.counts[bin];
    if (is_more || (known && !tally_adds_up(&seen, &schedule->spec)))
        complain(schedule, "wrong counts so far");
}

static void run_threads(struct feed *feed)
{
    pthread_t threads[8];
    for (unsigned i = 0; i < feed->schedule->threads; i++)
        if (pthread_create(&threads[i], NULL, feed_engine, feed) != 0)
            abort();
    const struct fault_plan *plan = &feed->schedule->plan;
    unsigned peeks = plan->fault == FAULT_STOP ? 0 : is_many(feed->schedule) ? 1 : plan->seed % 4;
    for (unsigned i = 0; i < peeks; i++)
        peek(feed);
    for (unsigned i = 0; i < feed->schedule->threads; i++)
        pthread_join(threads[i], NULL);
}

static void judge(const struct schedule *schedule, struct feed *feed)
{
    static uint64_t counts[4][COUNTS_MAX];
    struct tally expected = tally_in(counts[0], &schedule->spec);
    struct tally on_gpu = tally_in(counts[1], &schedule->spec);
    struct tally on_cpu = tally_in(counts[2], &schedule->spec);
    naive_counts(schedule, &expected);
    int rc = engine_finish(feed->gpu, &on_gpu);
    const char *loss = engine_loss(feed->gpu);
    if (feed->cpu)
        engine_finish(feed->cpu, &on_cpu);
    if (rc != 0 || feed->failed) {
        struct tally none = tally_in(counts[3], &schedule->spec);
        totals->refused++;
        if (schedule->fallback && !is_many(schedule))
            complain(schedule, "refused although there is a fallback");
        if (rc == 0 || !same(&on_gpu, &none))
            complain(schedule, "refused, with counts");
        if (!loss || !*loss)
            complain(schedule, "refused without a reason");
        return;
    }
    totals->exact++;
    if (loss && (!schedule->fallback || is_many(schedule)))
        complain(schedule, "lost, but not refused");
    if (loss && schedule->plan.fault == FAULT_STOP)
        complain(schedule, "lost, because the process was stopped");
    tally_add(&on_gpu, &on_cpu);
    if (!same(&on_gpu, &expected))
        complain(schedule, "wrong counts");
}

static unsigned deadline_of(enum fault fault)
{
    return fault == FAULT_HANG || fault == FAULT_STUCK ? DEADLINE_MS
           : fault == FAULT_STOP                       ? STOPPED_DEADLINE_MS
                                                       : 60000;
}

/* True if a fault may keep a device from being opened. Where one is to hang the deadline is so
 * short that opening may outlast it on a busy machine.
 */
static bool may_stay_closed(enum fault fault)
{
    return fault == FAULT_ERROR || fault == FAULT_STUCK || fault == FAULT_HANG;
}

/* A call that is stuck returns while the engine is still there, or only when it is closed: then it
 * must touch nothing of what was freed. */
static void release_now(const struct schedule *schedule, bool before_close)
{
    const bool is_early = schedule->plan.at / 2 % 2 == 0;
    if (schedule->plan.fault == FAULT_STUCK && is_early == before_close)
        emulated_device_release();
}

static void run(const struct schedule *schedule)
{
    struct gpu_options options = {
        /* Quickly emulated; kernels have their own test. */
        .strategy = strategy_find(is_many(schedule)            ? "matched"
                                  : has_lines(&schedule->spec) ? "fields"
                                  : is_text(&schedule->spec)   ? "numbers"
                                                               : "vectorized"),
        .chunk_size = schedule->chunk_size,
        .buffers = schedule->buffers,
        .deadline_ms = deadline_of(schedule->plan.fault),
        .timing = schedule->timing,
    };
    struct feed feed = {.schedule = schedule};
    struct error error = {""};
    totals->schedules++;
    if (schedule->fallback)
        feed.cpu = cpu_engine_open(&schedule->spec,
                                   &(struct cpu_engine_options){.chunk_size = 64,
                                                                .chunks = schedule->threads,
                                                                .threads = schedule->threads});
    options.fallback = feed.cpu;
    emulated_device_plan(schedule->plan);
    unsigned open_before = emulated_devices_open();
    feed.gpu = gpu_engine_open(&schedule->spec, &options, &error);
    if (feed.gpu) {
        run_threads(&feed);
        judge(schedule, &feed);
        release_now(schedule, true);
        engine_close(feed.gpu);
    } else {
        totals->refused++;
        release_now(schedule, true);
        if (!error.text[0] || !may_stay_closed(schedule->plan.fault))
            complain(schedule, "not opened, and no reason");
    }
    release_now(schedule, false);
    totals->struck += emulated_device_struck();
    totals->stuck += schedule->plan.fault == FAULT_STUCK && emulated_device_struck();
    bool device_knows = schedule->plan.fault == FAULT_NONE || schedule->plan.fault == FAULT_ERROR ||
                        schedule->plan.fault == FAULT_LATE || schedule->plan.fault == FAULT_STOP;
    if (device_knows && emulated_devices_open() != open_before)
        complain(schedule, "a device was left open");
    if (feed.cpu)
        engine_close(feed.cpu);
}

/* How many calls of the seam the schedule makes when nothing fails; the number of looks at a
 * busy device varies a little. */
static unsigned calls_of(struct schedule schedule)
{
    schedule.plan = (struct fault_plan){.fault = FAULT_NONE};
    run(&schedule);
    return emulated_device_calls();
}

struct breaking {
    struct schedule schedule;
    bool fallback, for_good;
};

static void fail_part(const void *arg)
{
    const struct breaking *breaking = arg;
    struct schedule schedule = breaking->schedule;
    schedule.fallback = breaking->fallback;
    unsigned last = calls_of(schedule) + 2;
    if (last > 150)
        last = 150;
    unsigned step = scale_is_slow() ? 19 : scale_is_small() ? 11 : 1;
    for (unsigned at = 1; at <= last; at += at > (scale_is_small() ? 8 : 40) ? step : 1) {
        schedule.plan = (struct fault_plan){
            .fault = FAULT_ERROR, .at = at, .for_good = breaking->for_good, .seed = at};
        run(&schedule);
    }
}

/* Fails the schedule at every call, once and for good, with and without a fallback. */
static void fail_everywhere(const struct schedule *schedule)
{
    for (unsigned variant = 0; variant < 4; variant++)
        apart(fail_part, &(struct breaking){*schedule, variant & 1, variant & 2});
}

/* Counts too many in one of the snapshots. */
static void miscount_part(const void *arg)
{
    struct schedule schedule = *(const struct schedule *)arg;
    for (unsigned at = 1; at <= (unsigned)(schedule.len / schedule.chunk_size) + 1; at++)
        for (unsigned seed = at; seed <= at + 1; seed++) { /* of which one is odd */
            schedule.fallback = at % 2;
            schedule.plan = (struct fault_plan){.fault = FAULT_WRONG, .at = at, .seed = seed};
            run(&schedule);
        }
}

static void get_stuck_part(const void *arg)
{
    const struct breaking *breaking = arg;
    struct schedule schedule = breaking->schedule;
    schedule.fallback = breaking->fallback;
    const unsigned last = calls_of(schedule);
    const unsigned step = scale_is_slow() ? 19 : scale_is_small() ? 5 : 1;
    for (unsigned at = 1; at <= last; at += at > 8 ? step : 1) {
        schedule.plan = (struct fault_plan){.fault = FAULT_STUCK, .at = at, .seed = at};
        run(&schedule);
    }
}

/* Each call of the device does not return, with and without a fallback. */
static void get_stuck_everywhere(const struct schedule *schedule)
{
    for (unsigned fallback = 0; fallback < 2; fallback++)
        apart(get_stuck_part, &(struct breaking){*schedule, fallback, false});
}

/* So many that of two chunks in a row, or of three, only one has a snapshot of all counts. */
#define BUFFERS_THAT_SHARE 8
#define BUFFERS_THAT_SHARE_MORE 12

/* Has the device decompress a frame of text, in a chunk of compressed bytes that it gave. */
static void count_frame(struct gpu_decoder *decoder, struct chunk *chunk, const unsigned char *from,
                        size_t len)
{
    const struct frame_settings settings = {.level = 3};
    struct compressed_next next;
    struct compressed_rest rest;
    chunk->len = frame_compress(chunk->data, chunk->cap, &settings, from, len);
    chunk->origin.end = ENDS_FILE;
    gpu_decoder_submit(decoder, chunk, 0, &next);
    gpu_decoder_finish(decoder, &rest);
    free(rest.tail);
}

/* A device that was left alone for longer than the deadline, with a snapshot that was asked for
 * while a chunk of compressed bytes was waiting to be filled, is not lost when that is
 * submitted.
 */
static void leave_alone_part(const void *arg)
{
    const struct histogram_spec *spec = arg;
    static uint64_t counts[COUNTS_MAX];
    struct schedule schedule = {
        .spec = *spec, .chunk_size = 100, .len = 200, .buffers = BUFFERS_THAT_SHARE};
    const struct gpu_options options = {.strategy = strategy_find("numbers"),
                                        .chunk_size = schedule.chunk_size,
                                        .buffers = schedule.buffers,
                                        .deadline_ms = STOPPED_DEADLINE_MS};
    struct tally tally = tally_in(counts, spec);
    struct gpu_report report;
    struct error error;
    totals->schedules++;
    emulated_device_plan((struct fault_plan){.fault = FAULT_NONE, .seed = 1});
    struct engine *gpu = gpu_engine_open(spec, &options, &error);
    if (!gpu) {
        complain(&schedule, "not opened");
        return;
    }
    struct chunk *chunks[] = {engine_acquire(gpu, true), engine_acquire(gpu, true)};
    for (size_t i = 0; i < 2; i++) { /* of which the second has no snapshot of all counts */
        memcpy(chunks[i]->data, text + 100 * i, 100);
        chunks[i]->len = 100;
        chunks[i]->engine->ops->submit(chunks[i]->engine, chunks[i]);
    }
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    struct gpu_decoder *decoder = gpu_decoder_begin(
        gpu, &(struct compressed_start){.codec = &codec_zstd, .memlimit = 1 << 27});
    struct chunk *frame = decoder ? gpu_decoder_acquire(decoder) : NULL;
    engine_peek(gpu, &tally); /* asks for one */
    nanosleep(&(struct timespec){.tv_sec = STOPPED_DEADLINE_MS / 1000 + 1}, NULL);
    if (frame) /* with GPUHISTO_RACES few emulated devices decompress */
        count_frame(decoder, frame, text, DATA_SIZE);
    tally = tally_in(counts, spec);
    if (engine_finish(gpu, &tally) != 0 || engine_loss(gpu))
        complain(&schedule, "lost, because it was left alone");
    else if (gpu_group_report(gpu, &report) != 1 ||
             tally.samples != (200 + report.times.decompressed) / TOKEN)
        complain(&schedule, "wrong counts after it was left alone");
    engine_close(gpu);
}

static uint64_t memory_left;

static uint64_t tell_memory_left(void)
{
    return memory_left;
}

/* What no kernel counts is refused in words, whatever it is: as values of two channels. */
static void refuse_uncounted_part(const void *arg)
{
    const struct histogram_spec *values = arg;
    struct schedule schedule = {.chunk_size = 100, .buffers = 1};
    const struct gpu_options options = {
        .chunk_size = schedule.chunk_size, .buffers = schedule.buffers, .deadline_ms = 60000};
    struct error error = {""};
    schedule.spec = *values;
    histogram_spec_split(&schedule.spec, 2);
    totals->schedules++;
    struct engine *gpu = gpu_engine_open(&schedule.spec, &options, &error);
    if (gpu) {
        complain(&schedule, "opened, and nothing counts channels");
        engine_close(gpu);
    } else if (strcmp(error.text, "no GPU kernel can count this") != 0) {
        complain(&schedule, error.text);
    } else {
        totals->refused++;
    }
}

/* Where the device has no memory for the best strategy, another one counts. */
static void make_do_part(const void *arg)
{
    (void)arg;
    struct schedule schedule = {.chunk_size = 400, .buffers = 1};
    const struct gpu_options options = {
        .chunk_size = schedule.chunk_size, .buffers = schedule.buffers, .deadline_ms = 60000};
    struct binning binning;
    struct error error = {""};
    binning_own(&binning, 100000);
    histogram_spec_values(&schedule.spec, value_type_find("u32"), &binning);
    totals->schedules++;
    emulated_device_plan((struct fault_plan){.fault = FAULT_ERROR, .at = 1});
    struct engine *gpu = gpu_engine_open(&schedule.spec, &options, &error);
    struct gpu_report report;
    if (!gpu)
        complain(&schedule, error.text);
    else if (gpu_group_report(gpu, &report) != 1 || !strstr(report.name, ", matched"))
        complain(&schedule, "the device could not be opened, and then could");
    if (gpu)
        engine_close(gpu);
    binning_free(&binning);
}

/* Nothing fails: lengths around the chunk's, chunk sizes from one byte on, 1 to 4 buffers and
 * more.
 */
static void healthy_part(const void *arg)
{
    const struct histogram_spec spec = *(const struct histogram_spec *)arg;
    static const unsigned some_buffers[] = {
        1, 2, 3, 4, BUFFERS_THAT_SHARE, BUFFERS_THAT_SHARE_MORE};
    size_t size = record_size(&spec);
    static const size_t chunk_sizes[] = {1, 2, 15, 16, 17, 64, 1000};
    for (size_t i = 0; i < sizeof chunk_sizes / sizeof chunk_sizes[0]; i++) {
        size_t chunk = chunk_sizes[i] * size;
        size_t lens[] = {0,
                         size,
                         chunk - size,
                         chunk,
                         chunk + size,
                         3 * chunk,
                         3 * chunk + chunk / size / 2 * size,
                         13 * chunk};
        for (size_t j = 0; j < sizeof lens / sizeof lens[0]; j++)
            for (size_t k = 0; k < sizeof some_buffers / sizeof some_buffers[0]; k++) {
                if (scale_is_small_or_slow() && (i + j + k) % 3 != 0)
                    continue; /* each two of the three numbers are together */
                run(&(struct schedule){.spec = spec,
                                       .chunk_size = chunk,
                                       .len = lens[j],
                                       .buffers = some_buffers[k],
                                       .threads = 1 + some_buffers[k] % 3,
                                       .timing = some_buffers[k] % 2,
                                       .plan = {.seed = some_buffers[k]}});
            }
    }
}

/* Memory that is short: decompressing takes less of it, or none. */
static void little_memory_part(const void *arg)
{
    static const uint64_t lefts[] = {UINT64_MAX, 4000 << 10, 1 << 20, 1};
    const struct schedule *schedule = arg;
    uint64_t before = UINT64_MAX;
    for (unsigned i = 0; i < sizeof lefts / sizeof lefts[0]; i++) {
        struct error error;
        memory_left = lefts[i];
        totals->schedules++;
        emulated_device_plan((struct fault_plan){.fault = FAULT_NONE});
        struct engine *gpu = gpu_engine_open(&schedule->spec,
                                             &(struct gpu_options){.chunk_size = 65536,
                                                                   .buffers = 1,
                                                                   .deadline_ms = 60000,
                                                                   .memory_left = tell_memory_left},
                                             &error);
        struct gpu_decoder *decoder =
            gpu ? gpu_decoder_begin(
                      gpu, &(struct compressed_start){.codec = &codec_zstd, .memlimit = 1 << 27})
                : NULL;
        struct chunk *chunk = decoder ? gpu_decoder_acquire(decoder) : NULL;
        if (chunk)
            count_frame(decoder, chunk, data, DATA_SIZE);
        struct gpu_report report = {.number = 0};
        if (gpu)
            gpu_group_report(gpu, &report);
        const uint64_t host = report.times.decoding.host;
        if (!gpu || (decoder == NULL) != (i >= 2) || host > memory_left / 2 ||
            (host > 0) != (i < 2) || (i == 1 && host >= before))
            complain(schedule, "memory that is not there was taken, or none");
        before = host;
        if (gpu)
            engine_close(gpu);
    }
}

int main(void)
{
    struct histogram_spec bytes, letters, many, numbers, fields;
    struct binning binning;
    totals = apart_memory(sizeof *totals);
    binning_own(&binning, MANY_BINS);
    histogram_spec_values(&many, value_type_find("u16"), &binning);
    if (binning_equal(&binning, 0, 10, 100) != 0)
        return 1;
    histogram_spec_numbers(&numbers, &binning);
    fields = numbers;
    fields.lines.field = (struct field){.kind = FIELD_BLANKS, .number = -1};
    histogram_spec_bytes(&bytes);
    histogram_spec_letters(&letters, 4, true);
    samples_fill(SAMPLES_MIXED, data, sizeof data);
    for (size_t i = 0; i < sizeof text; i += TOKEN) {
        const char token[] = {"x0123456789"[i * 7 % 11], '.', (char)('0' + i * 3 % 10),
                              (char)('0' + i % 9), '\n'};
        memcpy(text + i, token, TOKEN);
    }
    apart(healthy_part, &bytes);
    apart(healthy_part, &letters);
    apart(healthy_part, &many);
    apart(healthy_part, &numbers);
    apart(healthy_part, &fields);
    const struct histogram_spec *const specs[] = {&bytes, &many, &numbers, &fields, &letters};
    for (unsigned i = 0; i < 5; i++) {
        struct schedule schedule = {.spec = *specs[i],
                                    .chunk_size = 100,
                                    .len = 650,
                                    .buffers = 1 + i % 3,
                                    .threads = 1 + i % 2,
                                    .timing = i % 2};
        fail_everywhere(&schedule);
        get_stuck_everywhere(&schedule);
        apart(miscount_part, &schedule);
        if (i == 1 || i == 4)
            continue;
        schedule.buffers = BUFFERS_THAT_SHARE;
        schedule.len = 1450;
        fail_everywhere(&schedule);
        apart(miscount_part, &schedule);
    }
    apart(leave_alone_part, &numbers);
    apart(refuse_uncounted_part, &many);
    apart(make_do_part, NULL);
    apart(little_memory_part, &(struct schedule){.spec = bytes});
    const struct totals *all = totals;
    printf(
        "%u schedules (in %u the fault struck, in %u of these a call never returned): %u exact, %u "
        "refused, %u wrong; peeked %u times\n",
        all->schedules, all->struck, all->stuck, all->exact, all->refused, all->wrong, all->peeked);
    return all->wrong != 0 || all->struck == 0 || all->stuck == 0 || all->peeked == 0;
}
