/* SPDX-License-Identifier: MIT */
/* For libFuzzer: compressed FILEs through the source, by readers that take turns, against libzstd
 * and zlib. The bytes are a plan: what the FILEs hold, where it is cut into frames or members and
 * how these are made, which bytes are then inverted, and how all is read. `make fuzz` builds it if
 * there is zlib.
 */
#include "src/schedule/schedule.h"
#include "tests/fuzz/made_files.h"
#include "tests/helpers/layouts.h"
#include "tests/helpers/random.h"
#include "tests/helpers/readers.h"
#include "tests/helpers/texts.h"
#include "tests/helpers/values.h"
#include "src/input/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define FUZZED_MAX TEXT_MAX /* bytes; plans that hold more are left alone */
#define WINDOW_LOG_MAX 24

/* What an oracle says of a FILE. */
enum verdict {
    VERDICT_WHOLE,
    VERDICT_REFUSED,
    VERDICT_ODD, /* it depends on how it is decoded, or is too long: anything goes */
};

enum kind { COUNT_BYTES, COUNT_TEXT, COUNT_U16, COUNT_U24BE, COUNT_F64, COUNTS };

static struct made_file files[MADE_FILES_MAX];
static struct text content, other;
static struct histogram_spec spec;

/* --- oracles --- */

static bool has_frame_magic(const unsigned char *in, size_t len)
{
    return len >= 4 && (memcmp(in, "\x28\xb5\x2f\xfd", 4) == 0 ||
                        ((in[0] & 0xf0) == 0x50 && memcmp(in + 1, "\x2a\x4d\x18", 3) == 0));
}

/* Whether the frame at in[0..len) has a larger window than the limit. libzstd does not look where
 * it has room for the whole frame. */
static bool has_large_window(const unsigned char *in, size_t len)
{
    bool has_descriptor = len > 5 && in[0] == 0x28 && !(in[4] & 0x20);
    uint64_t power = has_descriptor ? (uint64_t)1 << (10 + (in[5] >> 3)) : 0;
    return has_descriptor && power + power / 8 * (in[5] & 7) > (uint64_t)1 << WINDOW_LOG_MAX;
}

/* Decodes the frame at in[0..len) to the end of `text`, in steps of `cap` bytes. The bytes that it
 * has; 0: it is wrong. */
static size_t decode_frame(const unsigned char *in, size_t len, struct text *text, size_t cap)
{
    ZSTD_DCtx *context = ZSTD_createDCtx(); /* its memory may decide what is wrong */
    ZSTD_inBuffer from = {in, len, 0};
    unsigned long long stated = ZSTD_getFrameContentSize(in, len);
    size_t before = text->len, hint = 1;
    bool is_wrong = false;
    fuzz_require(context, "out of memory");
    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    while (hint != 0 && !is_wrong) {
        size_t space = FUZZED_MAX - text->len;
        ZSTD_outBuffer to = {text->data + text->len, space < cap ? space : cap, 0};
        size_t taken = from.pos;
        hint = ZSTD_decompressStream(context, &to, &from);
        text->len += to.pos;
        is_wrong = ZSTD_isError(hint) || (hint != 0 && from.pos == taken && to.pos == 0);
    }
    ZSTD_freeDCtx(context);
    is_wrong |= stated < ZSTD_CONTENTSIZE_ERROR && stated != text->len - before;
    return is_wrong ? 0 : from.pos;
}

static enum verdict decode_frames(const struct made_file *file, struct text *text, size_t cap)
{
    text->len = 0;
    for (size_t at = 0; at < file->len;) {
        size_t left = file->len - at;
        if (!has_frame_magic(file->bytes + at, left) || has_large_window(file->bytes + at, left))
            return VERDICT_REFUSED;
        size_t taken = decode_frame(file->bytes + at, left, text, cap);
        if (text->len == FUZZED_MAX)
            return VERDICT_ODD;
        if (taken == 0)
            return VERDICT_REFUSED;
        at += taken;
    }
    return VERDICT_WHOLE;
}

/* By libzstd in two ways. As a stream it refuses what the other way may take; otherwise they agree
 * unless a frame is odd. */
static enum verdict judge_zstd(const struct made_file *file)
{
    enum verdict small = decode_frames(file, &content, 1000);
    enum verdict large = decode_frames(file, &other, FUZZED_MAX);
    if (small == VERDICT_REFUSED)
        return VERDICT_REFUSED;
    bool is_same = small == large &&
                   (small != VERDICT_WHOLE || (content.len == other.len &&
                                               memcmp(content.data, other.data, content.len) == 0));
    return is_same ? small : VERDICT_ODD;
}

/* Whether the member at in[0..len) states another size, as those of BGZF do. */
static bool is_misstated(const unsigned char *in, size_t len)
{
    return len > 18 && (in[3] & 4) && memcmp(in + 12, "BC\2", 4) == 0 &&
           (in[16] | (size_t)in[17] << 8) + 1 != len;
}

static enum verdict judge_gzip(const struct made_file *file)
{
    z_stream stream = {.next_in = (unsigned char *)file->bytes, .avail_in = (unsigned)file->len};
    const unsigned char *member = file->bytes;
    bool is_padding = false, is_lie = false;
    fuzz_require(inflateInit2(&stream, 15 + 16) == Z_OK, "zlib cannot begin");
    stream.next_out = content.data;
    stream.avail_out = FUZZED_MAX;
    int rc = inflate(&stream, Z_FINISH);
    while (rc == Z_STREAM_END && !is_padding) {
        is_lie |= is_misstated(member, (size_t)(stream.next_in - member));
        member = stream.next_in;
        is_padding = true;
        for (size_t i = 0; i < stream.avail_in; i++)
            is_padding &= stream.next_in[i] == 0;
        if (!is_padding) {
            inflateReset(&stream);
            rc = inflate(&stream, Z_FINISH);
        }
    }
    content.len = FUZZED_MAX - stream.avail_out;
    /* ISA-L is more lenient with the form of codes (gzip.c): such a block may pass. */
    bool is_odd = rc == Z_DATA_ERROR && stream.msg && !strstr(stream.msg, "check") &&
                  !strstr(stream.msg, "header");
    bool is_long = stream.avail_out == 0;
    inflateEnd(&stream);
    return is_odd || is_long || is_lie ? VERDICT_ODD
           : rc == Z_STREAM_END        ? VERDICT_WHOLE
                                       : VERDICT_REFUSED;
}

/* Leaves what the FILE holds in `content`. */
static enum verdict judge_file(const struct made_file *file)
{
    if (has_frame_magic(file->bytes, file->len))
        return judge_zstd(file);
    if (file->len >= 3 && memcmp(file->bytes, "\x1f\x8b\x08", 3) == 0)
        return judge_gzip(file);
    content.len = file->len < FUZZED_MAX ? file->len : FUZZED_MAX;
    memcpy(content.data, file->bytes, content.len);
    return file->len < FUZZED_MAX ? VERDICT_WHOLE : VERDICT_ODD;
}

/* --- counting --- */

static void build_spec(enum kind kind)
{
    static const char *const types[COUNTS] = {
        [COUNT_U16] = "u16", [COUNT_U24BE] = "u24be", [COUNT_F64] = "f64"};
    const struct double_layout doubles = {.min = 0, .max = 100, .bins = 10};
    const struct whole_layout wholes = {.min = 100, .max = 60000, .bins = 20};
    struct binning binning;
    if (kind == COUNT_BYTES) {
        histogram_spec_bytes(&spec);
        return;
    }
    fuzz_require((kind == COUNT_TEXT || kind == COUNT_F64
                      ? layout_double(&doubles, false, &binning)
                      : layout_whole(&wholes, &binning)) == BINNING_OK,
                 "no bins");
    if (kind == COUNT_TEXT)
        histogram_spec_numbers(&spec, &binning);
    else
        histogram_spec_values(&spec, value_type_find(types[kind]), &binning);
}

/* What all FILEs give. */
struct expected {
    uint64_t counts[256], samples, bytes;
    struct text_expectation text;
    char line[64]; /* what the message begins with */
};

static void expect_content(enum kind kind, struct expected *expected, const char *name)
{
    size_t size = histogram_spec_sample_size(&spec);
    bool is_first = !expected->text.invalid[0];
    expected->bytes += content.len;
    if (kind == COUNT_TEXT) {
        text_expect(&content, &spec.binning, &expected->text);
        if (is_first && expected->text.invalid[0])
            snprintf(expected->line, sizeof expected->line, "%s: %.*s", name,
                     (int)(strchr(expected->text.invalid, ':') - expected->text.invalid + 1),
                     expected->text.invalid);
        expected->samples = expected->text.samples;
        memcpy(expected->counts, expected->text.counts, sizeof expected->text.counts);
        return;
    }
    for (size_t i = 0; i < content.len / size; i++)
        expected
            ->counts[kind == COUNT_BYTES ? content.data[i] : value_row(&spec, content.data, i)]++;
    expected->samples += content.len / size;
}

static enum verdict expect_files(enum kind kind, size_t count, struct expected *expected)
{
    size_t size = histogram_spec_sample_size(&spec);
    enum verdict all = VERDICT_WHOLE;
    for (size_t i = 0; i < count; i++) {
        enum verdict verdict = judge_file(&files[i]);
        if (verdict == VERDICT_WHOLE && size > 1 && content.len % size != 0)
            verdict = VERDICT_REFUSED;
        if (verdict == VERDICT_ODD)
            return VERDICT_ODD; /* although another may be refused */
        if (verdict == VERDICT_REFUSED)
            all = VERDICT_REFUSED;
        expect_content(kind, expected, files[i].file.name);
    }
    return all;
}

static void compare(const struct reading *reading, const struct expected *expected)
{
    const struct tally *tally = &reading->tally;
    struct error what = {""};
    fuzz_require(tally->samples == expected->samples, "another number of samples");
    fuzz_require(tally->bytes == expected->bytes, "another number of bytes");
    fuzz_require(memcmp(tally->counts, expected->counts, tally->bins * sizeof tally->counts[0]) ==
                     0,
                 "counts differ");
    if (!reading->locator)
        return;
    fuzz_require(tally->newlines == expected->text.newlines, "another number of lines");
    error_locator_first(reading->locator, &what);
    fuzz_require(strncmp(what.text, expected->line, strlen(expected->line)) == 0 &&
                     (!what.text[0] || expected->line[0]),
                 "another token is the first invalid one");
}

static void read_files(struct drawn *plan, enum kind kind, size_t count)
{
    static const size_t chunks[] = {24, 48, 240, 4800, 65520}, batches[] = {1, 0, 1, 30, 500, 4000};
    static struct expected expected;
    struct count_plan counting = count_plan(cpu_kernels_find(NULL), &spec);
    char *operands[MADE_FILES_MAX];
    struct input_options options = {.decoding.memlimit = (uint64_t)1 << WINDOW_LOG_MAX,
                                    .record = record_kind_of_all(&spec),
                                    .batch_size = batches[plan_take(plan) % 6]};
    struct reading reading = {.plan = &counting, .chunk_size = chunks[plan_take(plan) % 5]};
    unsigned how = plan_take(plan);
    reading.readers = 1 + (how & 3);
    reading.fill = how >> 2 & 1;
    random_seed(how);
    for (size_t i = 0; i < count; i++)
        operands[i] = files[i].file.name;
    expected = (struct expected){.samples = 0};
    enum verdict verdict = expect_files(kind, count, &expected);
    struct source *source = source_open(operands, count, &options);
    fuzz_require(source && tally_open(&reading.tally, &spec) == 0, "out of memory");
    if (kind == COUNT_TEXT)
        reading.locator = error_locator_open(&spec, count, reading.readers, reading.readers);
    int rc = readers_read(source, &reading);
    fuzz_require(verdict != VERDICT_WHOLE || rc == 0, rc != 0 ? source_error(source) : "");
    fuzz_require(verdict != VERDICT_REFUSED || rc != 0, "what is wrong is not refused");
    if (verdict == VERDICT_WHOLE)
        compare(&reading, &expected);
    error_locator_close(reading.locator);
    tally_close(&reading.tally);
    source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct drawn plan = {data, data + size};
    if (size < 8)
        return 0;
    enum kind kind = plan_take(&plan) % COUNTS;
    struct drawn ways = {plan.at, plan.at + 3};
    plan.at += 3;
    build_spec(kind);
    read_files(&ways, kind, made_files(&plan, kind == COUNT_TEXT, files));
    return 0;
}
