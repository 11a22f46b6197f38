/* SPDX-License-Identifier: MIT */
/* Compressed files that a GPU decompresses, over a device that is emulated:
 * what it counts, with what it leaves, is the entire content, exactly once, whatever the frames,
 * the records, the damage to the data, and whenever the device fails.
 *
 * The format's own library is the oracle of what the content is, and the CPU's engine that of the
 * counts. The format is COMPRESSOR. */
#include "gpu/decode/decoder.h"
#include "gpu/engine/gpu_engine.h"
#include "src/cpu/count.h"
#include "src/input/records.h"
#include "tests/device/emulated_device.h"
#include "tests/helpers/compressor.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct compressor *const compressor = &COMPRESSOR;

#define DEADLINE_MS 20000
#define HUNG_DEADLINE_MS 50  /* of a device that never answers */
#define READ_DEADLINE_MS 600 /* of one that decodes a batch before it hangs */

/* Bytes of host memory with which inputs are smaller than the device could take; what is taken then
 * at most, and with larger ones at least. */
#define LITTLE_MEMORY ((uint64_t)4000 << 10)
#define SMALL_INPUTS ((uint64_t)600 << 10)

/* A frame with a wrong checksum, and what is in the batch that it begins in: no more bytes of
 * content than that. */
#define GOOD_BATCHES ((size_t)4 << 17)

/* A file, and what there is in it. */
struct file {
    unsigned char *bytes;
    size_t len, cap;
    unsigned char *content;
    size_t size;
    bool is_valid;
};

struct run {
    const struct file *file;
    const struct histogram_spec *spec;
    bool is_stream;            /* its bytes arrive in pieces */
    bool fallback;             /* the CPU replaces a lost device */
    bool may_leave;            /* not all of the file is for the device */
    uint64_t memory_left;      /* bytes of host memory; 0: any amount */
    bool is_small, is_refused; /* which leaves little for decompressing, or too little */
    struct fault_plan plan;
};

static unsigned runs, exact, refused, corrupt, left, taken_back, struck, wrong;
#define READ_FAULTS 4
static unsigned read_faults[READ_FAULTS]; /* that came to pass while content was copied back */

/* --- files --- */

/* Lines of numbers, and of what are none. */
static void make_text(unsigned char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        char token[24];
        int size = random_below(9) == 0
                       ? snprintf(token, sizeof token, "x%u\n", random_below(100))
                       : snprintf(token, sizeof token, "%u.%u%c", random_below(300),
                                  random_below(1000), random_below(5) ? '\n' : ' ');
        size_t part = (size_t)size < len - at ? (size_t)size : len - at;
        memcpy(text + at, token, part);
        at += part;
    }
}

/* Adds a frame of content, which is kept. */
static void add_frame(struct file *file, const struct frame_settings *settings,
                      const unsigned char *content, size_t size)
{
    size_t bound = compressor->bound(settings, size);
    file->bytes = need(realloc(file->bytes, file->len + bound));
    file->len += compressor->compress(file->bytes + file->len, bound, settings, content, size);
}

/* What there is in it. */
static void decode_file(struct file *file)
{
    const size_t cap = (size_t)8 << 20;
    file->content = need(malloc(cap));
    file->is_valid =
        compressor->decompress(file->bytes, file->len, file->content, cap, &file->size);
}

static struct file make_file(const unsigned char *content, size_t size, size_t frame,
                             struct frame_settings settings)
{
    struct file file = {0};
    for (size_t at = 0; at < size || at == 0; at += frame) {
        size_t part = size - at < frame ? size - at : frame;
        add_frame(&file, &settings, content + at, part);
        settings.checksum ^= file.len % 3 == 0; /* some have one, some have not */
    }
    decode_file(&file);
    return file;
}

static void free_file(struct file *file)
{
    free(file->bytes);
    free(file->content);
}

/* --- counting --- */

/* Has an engine count data[0..len), the rest of a text or of values; or the other one, if that is
 * lost. */
static void feed(struct engine *engine, struct engine *other, const struct histogram_spec *spec,
                 const unsigned char *data, size_t len)
{
    struct records records = {.kind = record_kind_of_all(spec), .field = &spec->lines.field};
    size_t done = 0;
    do {
        struct chunk *chunk = engine_acquire(engine, true);
        if (!chunk)
            chunk = engine_acquire(other, true);
        size_t part = len - done < chunk->cap ? len - done : chunk->cap;
        records_resume(&records, chunk);
        size_t waited = chunk->len;
        if (part > 0)
            memcpy(chunk->data + waited, data + done, part);
        chunk->len += part;
        done += part;
        chunk->origin = (struct origin){.bytes = part};
        if (records_cut(&records, chunk, waited, done == len) != 0)
            need(NULL);
        chunk->engine->ops->submit(chunk->engine, chunk);
    } while (done < len);
    records_close(&records);
}

/* Counted by the engine before and after the file: what is taken back of the file is not to take
 * that along. */
#define BESIDE_SIZE ((size_t)4096)
static unsigned char beside[BESIDE_SIZE];

static struct tally new_tally(const struct histogram_spec *spec)
{
    return (struct tally){.bins = spec->bins, .counts = need(calloc(spec->bins, sizeof(uint64_t)))};
}

/* How many bytes have arrived of a file that is a stream, of which the engine wants `need` from
 * `at` on. */
static size_t arrive(const struct run *run, const struct compressed_next *next, size_t arrived)
{
    size_t size = run->file->len, at = next->at < size ? (size_t)next->at : size;
    if (!run->is_stream || size - at <= next->need)
        return size;
    size_t min = at + (size_t)next->need;
    arrived += random_below(3) ? 0 : random_below(200000);
    arrived = arrived > min ? arrived : min;
    return arrived < size ? arrived : size;
}

/* Gives the file to the engine, as a reader does. 0 or -1. */
static int give(struct engine *gpu, const struct run *run, struct compressed_rest *rest)
{
    const struct file *file = run->file;
    const struct compressed_start start = {
        .codec = compressor->codec, .size = run->is_stream ? 0 : file->len, .memlimit = UINT64_MAX};
    struct gpu_decoder *decoder = gpu_decoder_begin(gpu, &start);
    struct compressed_next next = {.is_wanted = true, .need = 1};
    uint64_t index = 0, again = 0;
    size_t arrived = 0;
    *rest = (struct compressed_rest){.is_refused = true};
    if (!decoder)
        return engine_loss(gpu) && gpu_engine_failed(gpu) ? -1 : 0;
    while (next.is_wanted && next.at <= file->len) {
        struct chunk *chunk = gpu_decoder_acquire(decoder);
        if (!chunk)
            break;
        arrived = arrive(run, &next, arrived);
        size_t waiting = arrived - (size_t)next.at;
        size_t len = waiting < chunk->cap ? waiting : chunk->cap;
        uint64_t at = next.at;
        memcpy(chunk->data, file->bytes + at, len);
        chunk->len = len;
        chunk->origin = (struct origin){.at.index = index++,
                                        .end = at + len == file->len ? ENDS_FILE : ENDS_NOTHING};
        gpu_decoder_submit(decoder, chunk, at, &next);
        if (next.is_wanted && run->is_stream && random_below(2))
            (void)gpu_decoder_poll(decoder);
        if (next.is_wanted && next.at < again)
            fprintf(stderr, "what was not to be wanted again is wanted\n"), wrong++;
        again = next.again > again ? next.again : again;
    }
    return gpu_decoder_finish(decoder, rest);
}

static bool check_tail(const struct run *run, const struct compressed_rest *rest)
{
    const struct file *file = run->file;
    const size_t tail = rest->tail_len, counted = file->size - tail;
    return rest->bytes + (run->spec->mode->has_pairs ? 0 : tail) == file->size &&
           (tail == 0 || memcmp(rest->tail, file->content + counted, tail) == 0);
}

static bool same_counts(const struct histogram_spec *spec, const struct tally *a,
                        const struct tally *b)
{
    return a->samples == b->samples &&
           memcmp(a->counts, b->counts, spec->bins * sizeof a->counts[0]) == 0;
}

static void fail(const struct run *run, const char *what)
{
    if (wrong++ < 20)
        fprintf(stderr, "%s: %s, %zu bytes%s, fault %d at %u%s\n", what, run->spec->mode->name,
                run->file->len, run->is_stream ? " of a stream" : "", run->plan.fault, run->plan.at,
                run->fallback ? "" : ", nothing replaces the device");
}

/* What of the content the engine did not count is counted here; then all must be right. Of a file
 * that is not valid nothing is counted. */
static void check_counts(const struct run *run, struct engine *gpu, struct engine *cpu,
                         const struct compressed_rest *rest)
{
    const struct file *file = run->file;
    const struct histogram_spec *spec = run->spec;
    struct engine *entire = need(cpu_engine_open(
        spec, &(struct cpu_engine_options){.chunk_size = 1 << 18, .chunks = 1, .threads = 1}));
    struct tally counted = new_tally(spec), expected = new_tally(spec);
    const size_t size = file->is_valid ? file->size : 0;
    if (rest->is_refused)
        feed(cpu, NULL, spec, file->content, size);
    else if (!spec->mode->has_pairs) /* the tail of pairs is not a pair */
        feed(cpu, NULL, spec, rest->tail, rest->tail_len);
    feed(gpu, cpu, spec, beside, BESIDE_SIZE);
    feed(entire, NULL, spec, file->content, size);
    for (int i = 0; i < 2; i++)
        feed(entire, NULL, spec, beside, BESIDE_SIZE);
    bool done = engine_finish(gpu, &counted) == 0;
    engine_finish(cpu, &counted);
    engine_finish(entire, &expected);
    engine_close(entire);
    if (!done)
        refused++;
    else if (same_counts(spec, &counted, &expected) && counted.bytes == expected.bytes)
        exact++;
    else
        fail(run, "wrong counts");
    if (!done && (run->fallback || run->plan.fault == FAULT_NONE))
        fail(run, "refused for nothing");
    if (engine_loss(gpu) && run->plan.fault == FAULT_NONE)
        fail(run, engine_loss(gpu));
    free(counted.counts);
    free(expected.counts);
}

static uint64_t memory_left;

static uint64_t tell_memory_left(void)
{
    return memory_left;
}

/* What decompressing takes is known, and is as little as it must be. */
static void check_memory(const struct run *run, struct engine *gpu)
{
    struct gpu_times times = gpu_engine_times(gpu);
    gpu_decoder_add_times(gpu, &times);
    const struct gpu_memory memory = times.decoding;
    if (memory.host > run->memory_left / 2)
        fail(run, "more memory than is left");
    if ((memory.host > 0) != (memory.device > 0) || (memory.host > 0) != (memory.batch > 0))
        fail(run, "memory that is not known");
    if (!run->is_refused && (memory.host == 0 || (memory.host < SMALL_INPUTS) != run->is_small))
        fail(run, "memory that is not small");
    if (run->is_refused && memory.host > 0)
        fail(run, "memory that is not there");
}

/* A wrong byte of content that was copied to the host was not seen. Only the tail's may be: it is
 * copied once more, by itself, and that copy is not hashed. */
static void check_unseen(const struct run *run, const struct compressed_rest *rest)
{
    if (check_tail(run, rest))
        fail(run, "wrong content was taken");
    else
        refused++;
}

/* True if a device is lost only by its deadline. */
static bool is_silent(enum fault fault)
{
    return fault == FAULT_HANG || fault == FAULT_STUCK;
}

static unsigned deadline_of(const struct fault_plan *plan)
{
    if (!is_silent(plan->fault))
        return DEADLINE_MS;
    return plan->reads_only || plan->fault == FAULT_STUCK ? READ_DEADLINE_MS : HUNG_DEADLINE_MS;
}

/* Closes the engine, if there is one. A call that is stuck returns after that. */
static void close_gpu(const struct run *run, struct engine *gpu)
{
    if (gpu)
        engine_close(gpu);
    if (run->plan.fault == FAULT_STUCK)
        emulated_device_release();
}

static void check_run(const struct run *run)
{
    struct error error;
    struct engine *cpu = need(cpu_engine_open(
        run->spec, &(struct cpu_engine_options){.chunk_size = 1 << 18, .chunks = 2, .threads = 2}));
    const struct gpu_options options = {.chunk_size = 65536,
                                        .buffers = 1,
                                        .deadline_ms = deadline_of(&run->plan),
                                        .memory_left = run->memory_left ? tell_memory_left : NULL,
                                        .fallback = run->fallback ? cpu : NULL};
    memory_left = run->memory_left;
    emulated_device_plan(run->plan);
    struct engine *gpu = gpu_engine_open(run->spec, &options, &error);
    struct compressed_rest rest;
    runs++;
    if (!gpu) {
        refused++;
        close_gpu(run, NULL);
        engine_close(cpu);
        return;
    }
    const struct file *file = run->file;
    feed(gpu, cpu, run->spec, beside, BESIDE_SIZE);
    int rc = give(gpu, run, &rest);
    if (rc == 0 && rest.index < (rest.bytes > 0))
        fail(run, "chunks before the first one");
    if (run->memory_left)
        check_memory(run, gpu);
    struck += emulated_device_struck();
    left += rc == 0 && rest.is_refused;
    taken_back += rc == 0 && rest.is_refused && gpu_engine_times(gpu).bytes > BESIDE_SIZE;
    corrupt += !file->is_valid;
    if (rc != 0)
        refused++;
    else if (!file->is_valid && !rest.is_refused)
        fail(run, "corrupt data were taken");
    else if (run->plan.fault == FAULT_CONTENT && emulated_device_struck() && !rest.is_refused)
        check_unseen(run, &rest);
    else if (file->is_valid && rest.is_refused && run->plan.fault == FAULT_NONE && !run->may_leave)
        fail(run, "it was refused for nothing");
    else if (!rest.is_refused && !check_tail(run, &rest))
        fail(run, "the rest is another one");
    else
        check_counts(run, gpu, cpu, &rest);
    if (rc != 0 && (run->fallback || run->plan.fault == FAULT_NONE))
        fail(run, "refused for nothing");
    free(rest.tail);
    close_gpu(run, gpu);
    engine_close(cpu);
}

/* --- what is gone through --- */

static struct histogram_spec all_modes[5];
static unsigned mode_count;

static void build_modes(void)
{
    struct binning binning;
    histogram_spec_bytes(&all_modes[mode_count++]);
    histogram_spec_letters(&all_modes[mode_count++], 4, true);
    if (binning_digits(&binning, 1, false) != 0)
        need(NULL);
    histogram_spec_numbers(&all_modes[mode_count++], &binning);
    if (binning_digits(&binning, 2, false) != 0)
        need(NULL);
    histogram_spec_values(&all_modes[mode_count++], value_type_find("f64"), &binning);
    histogram_spec_pairs(&all_modes[mode_count++], false);
}

/* Files of many frames, and of one that takes many batches; entire, and with the device failing at
 * every call. */
static void go_through_faults(struct run run)
{
    check_run(&run);
    const unsigned calls = emulated_device_calls();
    const bool is_few = scale_is_small_or_slow();
    const unsigned step = 1 + calls / (is_few ? 2 : 5); /* memory of a lost device is lost, too */
    for (unsigned at = 1 + random_below(step); at <= calls; at += step)
        for (unsigned i = 0; i < 4; i++) {
            static const enum fault faults[] = {FAULT_ERROR, FAULT_ERROR, FAULT_HANG, FAULT_STUCK};
            if ((faults[i] == FAULT_HANG && !scale_is_all() && at % 4 != 0) ||
                (faults[i] == FAULT_STUCK && !scale_is_all() && at % 4 != 1 && at % 4 != 2))
                continue; /* each takes as long as the deadline */
            if (is_few && i < 2 && i != at % 2)
                continue; /* a lost device is replaced after every other call, and not after others
                           */
            run.plan =
                (struct fault_plan){.fault = faults[i], .at = at, .for_good = true, .seed = at};
            run.fallback = i != 1;
            check_run(&run);
        }
    for (unsigned at = is_few ? 1 + random_below(2) : 1; at <= (scale_is_all() ? 4u : 2u);
         at += is_few ? 2 : 1) {
        run.fallback = true;
        run.plan = (struct fault_plan){.fault = FAULT_LATE, .at = at, .for_good = true, .seed = at};
        check_run(&run);
        run.plan =
            (struct fault_plan){.fault = FAULT_WRONG, .at = at, .for_good = true, .seed = at};
        check_run(&run);
    }
}

/* The device fails, or hangs, while content is copied back to be hashed, or what comes is wrong. */
static void go_through_reads(const struct file *file, const struct histogram_spec *spec)
{
    static const enum fault faults[] = {FAULT_ERROR, FAULT_CONTENT, FAULT_HANG, FAULT_STUCK};
    for (unsigned i = 0; i < READ_FAULTS; i++)
        for (unsigned at = 1; at <= (scale_is_all() ? 40u : 7u);
             at += scale_is_small() ? 4 : 1 + at / 3) {
            struct run run = {.file = file, .spec = spec, .fallback = at % 2};
            run.plan = (struct fault_plan){
                .fault = faults[i], .at = at, .for_good = true, .seed = at, .reads_only = true};
            const unsigned before = struck;
            if (is_silent(faults[i]) && at != 1 && at != 5)
                continue; /* each takes as long as the deadline */
            check_run(&run);
            read_faults[i] += struck - before;
        }
}

/* The device fails, or hangs, while the last of the content is copied back, which is in no record
 * yet: nothing else is waited for then. */
static void go_through_tails(void)
{
    static const enum fault faults[] = {FAULT_ERROR, FAULT_HANG, FAULT_STUCK};
    static unsigned char content[20000];
    make_text(content, sizeof content - 1);
    content[sizeof content - 1] = '7';
    struct file file =
        make_file(content, sizeof content, sizeof content, (struct frame_settings){.level = 3});
    for (unsigned i = 0; i < 6; i++) {
        const unsigned before = struck;
        struct run run = {.file = &file, .spec = &all_modes[2], .fallback = i % 2};
        run.plan = (struct fault_plan){.fault = faults[i / 2], .at = 1, .reads_only = true};
        check_run(&run);
        if (struck == before && !scale_is_slow())
            fail(&run, "the end of the content was not copied");
    }
    free_file(&file);
}

/* The tail of one file stays what it is while the engine takes the next one, and is closed: another
 * reader may have it do so. */
static void go_through_two_files(void)
{
    static const char *const texts[] = {"1 23 456", "7 89 0123456789"};
    struct file files[2];
    struct compressed_rest rests[2];
    struct error error;
    const struct gpu_options options = {
        .chunk_size = 65536, .buffers = 1, .deadline_ms = DEADLINE_MS};
    emulated_device_plan((struct fault_plan){.fault = FAULT_NONE});
    struct engine *gpu = need(gpu_engine_open(&all_modes[2], &options, &error));
    struct tally tally = new_tally(&all_modes[2]);
    for (unsigned i = 0; i < 2; i++) {
        const struct frame_settings settings = {.level = 3};
        const size_t size = strlen(texts[i]);
        files[i] = make_file((const unsigned char *)texts[i], size, size, settings);
        runs++;
        struct run run = {.file = &files[i], .spec = &all_modes[2]};
        if (give(gpu, &run, &rests[i]) != 0 || rests[i].is_refused)
            fail(&run, "a small FILE is not taken");
    }
    if (engine_finish(gpu, &tally) != 0)
        fail(&(struct run){.file = &files[0], .spec = &all_modes[2]}, "counts are not there");
    engine_close(gpu);
    for (unsigned i = 0; i < 2; i++) {
        const struct run run = {.file = &files[i], .spec = &all_modes[2]};
        if (!rests[i].is_refused && !check_tail(&run, &rests[i]))
            fail(&run, "the tail is that of another FILE");
        free(rests[i].tail);
        free_file(&files[i]);
    }
    free(tally.counts);
}

/* A file of several frames, of so many bytes each; the n-th has a wrong checksum. */
static void check_checksum(const unsigned char *content, size_t size, size_t frame, size_t n,
                           const struct histogram_spec *spec)
{
    const struct frame_settings settings = {.level = 3, .checksum = true};
    struct file file = {0};
    for (size_t at = 0, i = 0; at < size; at += frame, i++) {
        add_frame(&file, &settings, content + at, size - at < frame ? size - at : frame);
        if (i == n)
            file.bytes[file.len - 1 - random_below((unsigned)compressor->checksum)] ^=
                (unsigned char)(1u << random_below(8));
    }
    decode_file(&file);
    const bool is_few = scale_is_small_or_slow();
    for (unsigned i = 0; i < (is_few ? 1u : 2u); i++)
        check_run(&(struct run){.file = &file,
                                .spec = spec,
                                .is_stream = is_few ? random_below(2) : i == 1,
                                .fallback = true});
    free_file(&file);
}

/* A wrong checksum in the first, a middle or the last frame, where these are of many batches, or
 * batches of many frames. */
static void go_through_checksums(void)
{
    static unsigned char content[1300000];
    static const size_t frames[] = {sizeof content, 650000, 433334, 200000, 90000, 9000};
    const unsigned before = taken_back;
    frame_content(CONTENT_MIXED, content, sizeof content);
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        const size_t count = (sizeof content + frames[i] - 1) / frames[i];
        const size_t wrong_frames[] = {0, count / 2, count - 1};
        for (size_t k = 0; k < 3; k++)
            if (!scale_is_small_or_slow() || k == i % 3)
                check_checksum(content, sizeof content, frames[i], wrong_frames[k],
                               &all_modes[k == 1 ? i % 2 : 0]);
    }
    if (taken_back == before && !scale_is_slow())
        fail(&(struct run){.spec = &all_modes[0], .file = &(struct file){0}},
             "nothing was taken back");
}

/* Where few cases are asked for, half of the forms go with each mode. */
static void go_through_files(const struct histogram_spec *spec)
{
    static unsigned char content[700000];
    const size_t mode = (size_t)(spec - all_modes);
    bool is_text = spec->mode->is_text;
    static const size_t frames[] = {sizeof content, 150001, 70000, 9999};
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        if (scale_is_small_or_slow() && (i + mode) % 2)
            continue;
        struct frame_settings settings = {.level = 1 + (int)i, .checksum = i % 2 == 0};
        const size_t max = scale_is_small_or_slow() ? sizeof content / 7 * 3 : sizeof content;
        size_t size = (i == 0 ? max : max / 3) - 8 * random_below(1000);
        if (is_text)
            make_text(content, size);
        else
            frame_content(CONTENT_MIXED, content, size);
        if (!is_text && histogram_spec_sample_size(spec) > 1)
            size -= size % histogram_spec_sample_size(spec);
        struct file file = make_file(content, size, frames[i], settings);
        struct run run = {.file = &file, .spec = spec, .fallback = true};
        run.is_stream = (i + mode) % 2;
        if (scale_is_small_or_slow())
            run.is_stream = i / 2 % 2; /* of those forms, too, half are streams */
        go_through_faults(run);
        if (settings.checksum && compressor->is_hashed)
            go_through_reads(&file, spec);
        free_file(&file);
    }
}

/* A record that is longer than any may be, and others that are nearly so, over frames and batches.
 */
static void go_through_long_records(void)
{
    static unsigned char content[900000];
    for (unsigned i = 0; i < 6; i += scale_is_small() && i < 4 ? 2 : 1) {
        make_text(content, sizeof content);
        size_t at = 100000 + random_below(500000),
               len = (size_t[]){4000, 4095, 4096, 4097, 9000, 290000}[i];
        memset(content + at, '7', len);
        struct file file = make_file(content, sizeof content, 60000,
                                     (struct frame_settings){.level = 3, .checksum = i % 2});
        check_run(&(struct run){
            .file = &file, .spec = &all_modes[2], .fallback = true, .may_leave = true});
        free_file(&file);
    }
}

/* Damage to any byte: what is taken is what the library takes. */
static void go_through_damage(void)
{
    static unsigned char content[600000];
    frame_content(CONTENT_MIXED, content, sizeof content);
    for (unsigned checksum = 0; checksum < 2; checksum++) {
        struct file entire =
            make_file(content, sizeof content, checksum ? 600000 : 170000,
                      (struct frame_settings){.level = 5, .checksum = checksum != 0});
        const unsigned times = scale_of(6, 80, 400);
        for (unsigned i = 0; i < times; i++) {
            struct file bad = {.bytes = need(malloc(entire.len)), .len = entire.len};
            memcpy(bad.bytes, entire.bytes, entire.len);
            if (i % 4 == 0)
                bad.len = random_below((unsigned)entire.len);
            else
                bad.bytes[random_below(i % 4 == 1 ? 40 : (unsigned)entire.len)] ^=
                    (unsigned char)(1u << random_below(8));
            decode_file(&bad);
            check_run(&(struct run){.file = &bad,
                                    .spec = &all_modes[0],
                                    .is_stream = i % 3 == 0,
                                    .fallback = true,
                                    .may_leave = true});
            free_file(&bad);
        }
        free_file(&entire);
    }
}

/* Many small frames: a device may leave them, but not those of a pipe. */
static void go_through_many(void)
{
    static unsigned char content[200000];
    frame_content(CONTENT_RANDOM, content, sizeof content);
    struct file file = make_file(content, sizeof content, 300, (struct frame_settings){.level = 6});
    struct run run = {.file = &file, .spec = &all_modes[0], .may_leave = true};
    for (unsigned i = 0; i < 2; i++) {
        run.is_stream = i % 2;
        run.may_leave = !run.is_stream;
        check_run(&run);
    }
    free_file(&file);
}

/* Memory that is short: batches are smaller, or there are none and all is left. */
static void go_through_memory(void)
{
    static unsigned char content[500000];
    frame_content(CONTENT_MIXED, content, sizeof content);
    struct file file =
        make_file(content, sizeof content, 300000, (struct frame_settings){.level = 3});
    struct run run = {.file = &file, .spec = &all_modes[0], .memory_left = UINT64_MAX};
    check_run(&run);
    run.memory_left = LITTLE_MEMORY;
    run.is_small = true;
    check_run(&run);
    run.is_small = false;
    run.is_refused = run.may_leave = true;
    for (unsigned i = 0; i < 2; i++) {
        run.memory_left = i == 0 ? 1 : 1 << 20;
        check_run(&run);
    }
    run.memory_left = UINT64_MAX;
    emulated_device_memory(1 << 20);
    check_run(&run);
    emulated_device_memory(0);
    free_file(&file);
}

int main(void)
{
    random_seed(20261122);
    build_modes();
    make_text(beside, BESIDE_SIZE);
    go_through_memory();
    go_through_many();
    go_through_checksums();
    go_through_tails();
    go_through_two_files();
    for (unsigned i = 0; i < mode_count; i++)
        go_through_files(&all_modes[i]);
    go_through_long_records();
    go_through_damage();
    printf(
        "%u runs (in %u the fault struck, in %u the FILE was left, in %u after some was counted): "
        "%u exact, %u refused, %u corrupt, %u wrong\n",
        runs, struck, left, taken_back, exact, refused, corrupt, wrong);
    printf("while content was copied back: %u errors, %u wrong bytes, %u times it hung, %u times a "
           "call did not return\n",
           read_faults[0], read_faults[1], read_faults[2], read_faults[3]);
    bool is_through =
        read_faults[0] > 0 && read_faults[1] > 0 && read_faults[2] > 0 && read_faults[3] > 0;
    return wrong > 0 || (compressor->is_hashed && !is_through && !scale_is_slow());
}
