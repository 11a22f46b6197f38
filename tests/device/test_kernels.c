/* SPDX-License-Identifier: MIT */
/* Every counting strategy, over data that are hard for it and lengths around everything that it
 * takes at a time, against counts by the definition. Through the seam, so that the same program
 * tests the kernels on the CPU (linked with the emulated device, which puts data at any address)
 * and on a GPU (linked with the real one; without a GPU it is skipped). With arguments only those
 * parts: test_kernels pairs.
 *
 * A device goes on adding, so each case also sees what the ones before have left. */
#include "gpu/count/sample_map.h"
#include "gpu/count/strategy.h"
#include "gpu/engine/device.h"
#include "src/tally/characters.h"
#include "tests/helpers/bits.h"
#include "tests/helpers/check_characters.h"
#include "tests/helpers/field_texts.h"
#include "tests/helpers/layouts.h"
#include "tests/helpers/naive_field.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/samples.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/seam.h"
#include "tests/helpers/text_rows.h"
#include "tests/helpers/values.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static unsigned char *data; /* of the case */
static unsigned cases, refused, wrong;

/* --- a device, and what it must have counted so far --- */

struct counted {
    const struct histogram_spec *spec;
    const char *strategy;
    struct device *device;
    size_t words; /* of a snapshot */
    uint64_t *expected, *seen, *rows;
};

/* False if the strategy's tables do not fit; with anything else that goes wrong the test ends. */
static bool open_counted(struct counted *counted, enum strategy_id strategy,
                         const struct histogram_spec *spec, size_t slot_size)
{
    struct error error = {""};
    *counted = (struct counted){
        .spec = spec, .strategy = strategies[strategy].name, .words = device_histogram_words(spec)};
    counted->device = seam_open(strategy, spec, slot_size, &error);
    if (!counted->device && strstr(error.text, "of a block's shared memory") &&
        spec->bins >= 3000) {
        refused++;
        return false;
    }
    if (!counted->device) {
        fprintf(stderr, "FAIL: %s, %zu bins: %s\n", counted->strategy, spec->bins, error.text);
        exit(1);
    }
    const size_t rows = spec->bins > counted->words ? spec->bins : counted->words;
    counted->expected = need(calloc(rows, sizeof(uint64_t)));
    counted->seen = need(calloc(counted->words, sizeof(uint64_t)));
    counted->rows = row_pages_has(spec) ? need(calloc(rows, sizeof(uint64_t))) : NULL;
    return true;
}

static void close_counted(struct counted *counted)
{
    device_close(counted->device);
    free(counted->expected);
    free(counted->seen);
    free(counted->rows);
}

/* Adds the counts of a snapshot in pages to rows[0..n). */
static void add_pages(const uint64_t *words, uint64_t *rows, size_t n)
{
    for (size_t i = 0; i < words[0]; i++) {
        const uint64_t *page = words + row_pages_words(i);
        for (size_t row = 0; row < ROW_PAGE && page[0] * ROW_PAGE + row < n; row++)
            rows[page[0] * ROW_PAGE + row] += page[1 + row];
    }
}

/* Counts data[0..len), of which counted->expected has what it must come to. */
static void check(struct counted *counted, size_t len, const char *what, unsigned kind)
{
    const struct histogram_spec *spec = counted->spec;
    const uint64_t *is = counted->seen;
    size_t words = counted->words;
    if (seam_count(counted->device, cases++ % 2, data, len, counted->seen, words) != 0) {
        fprintf(stderr, "FAIL: %s: %s\n", counted->strategy, device_error(counted->device));
        exit(1);
    }
    if (counted->rows) {
        memset(counted->rows, 0, spec->bins * sizeof(uint64_t));
        add_pages(counted->seen, counted->rows, spec->bins);
        is = counted->rows;
        words = spec->bins;
    }
    if (memcmp(is, counted->expected, words * sizeof(uint64_t)) == 0)
        return;
    size_t row = 0;
    while (is[row] == counted->expected[row])
        row++;
    fprintf(stderr, "FAIL: %s, %s %s, %zu bins, %zu bytes of %s %u: row %zu has %llu, not %llu\n",
            counted->strategy, spec->mode->name, spec->type.name ? spec->type.name : "", spec->bins,
            len, what, kind, row, (unsigned long long)is[row],
            (unsigned long long)counted->expected[row]);
    if (wrong++ == 10)
        exit(1);
    memcpy(counted->expected, is, words * sizeof(uint64_t));
}

/* --- bytes and letters --- */

static void check_samples(enum strategy_id strategy, const struct histogram_spec *spec)
{
    static const size_t all[] = {1,    2,    15,    16,    17,    31,    32,    33,    63,    64,
                                 65,   127,  255,   256,   257,   511,   512,   513,   4095,  4096,
                                 4097, 8191, 16383, 16384, 16385, 65535, 65536, 65537, 100003};
    static const size_t few[] = {1, 17, 4097, 16385};
    const size_t *const lens = scale_is_small_or_slow() ? few : all;
    const size_t len_count = scale_is_small_or_slow() ? COUNT_OF(few) : COUNT_OF(all);
    struct counted counted;
    if (!strategy_counts(&strategies[strategy], spec) ||
        !open_counted(&counted, strategy, spec, MIB))
        return;
    for (unsigned kind = 0; kind < SAMPLES_KINDS; kind += scale_is_small_or_slow() ? 3 : 1)
        for (size_t i = 0; i < len_count; i++) {
            samples_fill((enum samples)kind, data, lens[i]);
            samples_count(spec, data, lens[i], counted.expected);
            check(&counted, lens[i], "samples", kind);
        }
    close_counted(&counted);
}

static void check_bytes(void)
{
    const unsigned step = scale_is_small_or_slow()                ? 25
                          : seam_is_emulated() && !scale_is_all() ? 6
                                                                  : 1;
    struct histogram_spec spec;
    for (unsigned strategy = 0; strategy < strategy_count; strategy++) {
        histogram_spec_bytes(&spec);
        check_samples((enum strategy_id)strategy, &spec);
        for (unsigned width = 1; width <= LETTERS; width += step)
            for (unsigned fold = 0; fold < 2; fold++) {
                histogram_spec_letters(&spec, width, fold);
                check_samples((enum strategy_id)strategy, &spec);
            }
    }
}

/* --- values, by every type and way to build bins --- */

#define VALUES_MAX 26001 /* of any size: lanes takes four vectors a thread at a time */
#define VALUES_MAX_OF_OTHERS 5001
#define TOP ((int128)1 << 64)

static const struct whole_layout whole_layouts[] = {
    {.bins = 256},
    {.bins = 1000},
    {.bins = 65536},
    {.max = 1000, .bins = 7},
    {.max = 65536, .bins = 1000}, /* the reciprocal is rounded, as far as 16 bits allow */
    {.min = -32768, .max = 32768, .bins = 65535},
    {.min = -40001, .max = -39000, .bins = 10}, /* no value has so few */
    {.min = 70001, .max = 70100, .bins = 10},   /* or so many, of 16 bits */
    {.min = -3, .max = 100, .bins = 7},
    {.max = 4294967296, .bins = 1024},
    {.max = 4294967295, .bins = 7},
    {.min = -2147483648, .max = 2147483648, .bins = 64},
    {.min = -1000, .max = 9000000000, .bins = 12},
    {.max = TOP, .bins = 50},
    {.min = -TOP / 2, .max = TOP / 2, .bins = 33},
    {.min = 3, .max = TOP - 59, .bins = 1000}, /* the reciprocal is rounded */
    {.min = -TOP / 2, .max = TOP, .bins = 9},  /* no value has so many bits */
    {.min = 5, .max = 8, .bins = 20},          /* bins without a value */
    {.edges = {-5, 0, 3, 200, 70000, 5000000000, TOP - 1, TOP}, .edge_count = 8},
    {.min = 1, .max = 100000, .base = {2, 0}},
    {.max = 70000, .bins = 70000},              /* too many for one block's shared memory */
    {.min = -5, .max = 700000, .bins = 280000}, /* and for a few passes */
};

static const struct double_layout double_layouts[] = {
    {.max = 1, .bins = 10},
    {.min = -1e10, .max = 1e10, .bins = 1024},
    {.min = -1e300, .max = 1e300, .bins = 3},
    {.min = 1e-5, .max = 2e-5, .bins = 7},
    {.max = 1000, .bins = 1024},
    {.min = 0.1, .max = 0.9, .bins = 14000}, /* about as many as floats tell */
    {.min = 500, .max = 501, .bins = 100},   /* and as far from zero */
    {.max = 1e-40, .bins = 5},               /* floats have no number for a bin's reciprocal */
    {.min = -3e38, .max = 3e38, .bins = 1},  /* nor for this one's */
    {.min = -3e38, .max = 3e38, .bins = 12},
    {.min = 1, .max = 1.0000000000000018, .bins = 8},
    {.edges = {-1e308, -5e-324, 0, 5e-324, 0.1, 0.5, 3, 1e39}, .edge_count = 8},
    {.min = 1e-3, .max = 1e6, .base = {10, 0}},
    {.max = 1, .bins = 70000},
    {.digits = 1},
    {.digits = 2},
    {.digits = 3},
};

/* The bits of a value near an edge; for floats from the edge as it is shown, which reads back. */
static uint64_t near_edge(const struct histogram_spec *spec, size_t k, int beside)
{
    char text[48];
    if (spec->type.kind != 'f')
        return (uint64_t)(binning_whole_edge(&spec->binning, k) + beside);
    binning_show_edge(&spec->binning, k, text);
    return value_bits(&spec->type, strtod(text, NULL)) + (uint64_t)beside;
}

/* Values beside edges, odd ones, small ones, any. */
static uint64_t value_for(const struct histogram_spec *spec, size_t i)
{
    static const double odd[] = {0,      -0.0,   NAN,    -NAN,    INFINITY, -INFINITY,
                                 5e-324, -1e-45, 1e-310, DBL_MAX, 0.5,      -1};
    const struct value_type *type = &spec->type;
    const uint64_t random = random_word();
    switch (i % 5) {
    case 0:
        return near_edge(spec, random % (spec->binning.bins + 1), (int)(i / 5 % 3) - 1);
    case 1:
        if (type->kind == 'f')
            return value_bits(type, odd[i / 5 % COUNT_OF(odd)]);
        return (i / 5 % 2 ? 0 : ~0ull >> 1) + i / 10 % 2;
    case 2:
        return type->kind == 'f' ? value_bits(type, (double)random / 0x1p64) : random % 2000;
    case 3:
        return random;
    default:
        return type->kind == 'f' ? value_bits(type, ldexp(1, (int)(random % 2100) - 1075))
                                 : random >> random % 64;
    }
}

/* Several lengths, the last all one value. */
static void check_layout(enum strategy_id strategy, const struct histogram_spec *spec)
{
    static const size_t lens[] = {1, 2, 7, 17, 1000, 4097, VALUES_MAX_OF_OTHERS, VALUES_MAX, 3000};
    struct counted counted;
    if (!strategy_counts(&strategies[strategy], spec) ||
        !open_counted(&counted, strategy, spec, 8 * VALUES_MAX))
        return;
    for (unsigned n = 0; n < COUNT_OF(lens); n++) {
        const size_t len = lens[n];
        if (len > VALUES_MAX_OF_OTHERS && strategy != STRATEGY_lanes)
            continue;
        for (size_t i = 0; i < len; i++) {
            value_put(&spec->type, data, i,
                      len == 3000 && i > 0 ? value_get(&spec->type, data, 0)
                                           : value_for(spec, i + n));
            counted.expected[value_row(spec, data, i)]++;
        }
        check(&counted, len * spec->type.size, "values", n);
    }
    close_counted(&counted);
}

/* Each layout for some types, and each strategy for some layouts of each type, where few are asked
 * for. */
static void check_values(void)
{
    const size_t step = !scale_is_small_or_slow() ? 1 : 9;
    size_t begin = 0;
    for (const struct value_type *type = value_types; type->name; type++, begin++) {
        const bool is_whole = type->kind != 'f';
        const size_t count = is_whole ? COUNT_OF(whole_layouts) : COUNT_OF(double_layouts);
        for (size_t i = begin % step; i < count; i += step) {
            struct histogram_spec spec;
            struct binning binning;
            const enum binning_error error =
                is_whole ? layout_whole(&whole_layouts[i], &binning)
                         : layout_double(&double_layouts[i], type->size == 4, &binning);
            if (error)
                need(NULL);
            histogram_spec_values(&spec, type, &binning);
            for (unsigned strategy = 0; strategy < strategy_count; strategy++)
                check_layout((enum strategy_id)strategy, &spec);
            binning_free(&binning);
        }
    }
}

/* --- many bins: counters that overflow one by one and one into the next, values of one range of
 * bins, more data than there is memory for sorting --- */

/* Values; more than the sorting memory of an emulated device has room for. */
#define EMULATED_MAX 140001
#define DEVICE_MAX 5100001                  /* an eighth of their tiles is an odd number */
#define TILE ((size_t)PARTITION_BLOCK * 32) /* values that partitioned sorts at once, */
#define RANGE_ROWS 4096                     /* at least as many bins in a range of its, */
#define RANGES 263                          /* and at most as many ranges */

enum many {
    UNIFORM,
    ONE_VALUE,
    NEARLY_ONE,
    NEIGHBOURS,
    OF_EACH_256,
    ONE_RANGE,
    RUNS,
    SORTED,
    LATE,
    ONE_TILE,
    MANY_KINDS
};

/* Value i of len, below bins. */
static uint64_t many_value(enum many kind, size_t i, size_t len, uint64_t bins)
{
    static const unsigned char steps[16] = {0, 1, 2, 3, 0, 1, 2, 0, 1, 0, 0, 7, 6, 5, 4, 4};
    static uint64_t last;
    const uint64_t wanted = bins / RANGE_ROWS | 1, ranges = wanted < RANGES ? wanted : RANGES;
    switch (kind) {
    case ONE_VALUE: /* in the middle of a word of counters */
        return bins - 3;
    case NEARLY_ONE: /* so that no warp has a single one */
        return i % 5 == 3 ? i % bins : bins / 2;
    case NEIGHBOURS: /* counters next to each other that are full, or nearly so, when the one before
                        carries */
        return (bins / 3 & ~(uint64_t)7) + steps[i % 16];
    case OF_EACH_256: /* 255, 256 or 257, so that counters overflow at the very end or just not */
        return i / 768 * 3 % (bins - 3) + (i % 768 < 255 ? 0 : i % 768 < 511 ? 1 : 2);
    case ONE_RANGE: /* the first of partitioned: see partition_shape_for in gpu/count/launch.h */
        return random_word() % (bins / 8 / ranges) * ranges * 8 + i % 3;
    case RUNS:
        if (i == 0 || random_word() % 300 == 0)
            last = random_word() % bins;
        return last;
    case SORTED:
        return (uint64_t)i * bins / len;
    case LATE: /* counters that are full only after most of the data */
        return many_value(i < len / 4 * 3 ? UNIFORM : NEIGHBOURS, i, len, bins);
    case ONE_TILE: /* several blocks count a range, and one of them has a tile that fills counters
                    */
        return i / TILE == 7 ? i % 8 : many_value(ONE_RANGE, i, len, bins);
    default:
        return random_word() % bins;
    }
}

static size_t many_max(void)
{
    return seam_is_emulated() ? EMULATED_MAX : DEVICE_MAX;
}

static void check_one_of_many(struct counted *counted, enum many kind, size_t len)
{
    const struct histogram_spec *spec = counted->spec;
    for (size_t i = 0; i < len; i++) {
        value_put(&spec->type, data, i, many_value(kind, i, len, spec->binning.bins));
        counted->expected[value_row(spec, data, i)]++;
    }
    check(counted, len * spec->type.size, "many bins", kind);
}

/* Some kinds are long in the quick suite, too, and with so many bins that there is no more than one
 * that is large, only the last two. */
static void check_many_by(enum strategy_id strategy, const struct histogram_spec *spec, bool all)
{
    static const size_t lens[] = {1, 7, 8191, 8192, 8193, TILE - 1, TILE, TILE + 1, 65535, 65537};
    struct counted counted;
    if (!open_counted(&counted, strategy, spec, many_max() * spec->type.size))
        need(NULL);
    for (unsigned kind = all ? 0 : LATE; kind < MANY_KINDS; kind++) {
        const bool is_long = kind == ONE_VALUE || kind == OF_EACH_256 || kind >= LATE;
        check_one_of_many(&counted, (enum many)kind,
                          is_long || !scale_is_small_or_slow() ? many_max() : 9000);
    }
    for (size_t n = 0; all && n < COUNT_OF(lens); n++)
        check_one_of_many(&counted, n % 2 ? ONE_RANGE : UNIFORM, lens[n]);
    close_counted(&counted);
}

static void check_many_bins(void)
{
    static const struct {
        const char *type;
        size_t bins;
    } specs[] = {
        {"u16", 65536},
        {"u32", 300001}, /* two passes of packed, counters of words in partitioned */
        {"u32be", 70000},
        {"u32", 4400000}, /* counters of bytes in partitioned, and too many for packed */
        {"u64", 65537},
    };
    for (size_t i = 0; i < COUNT_OF(specs) - scale_is_small_or_slow(); i++) {
        struct histogram_spec spec;
        struct binning binning;
        binning_own(&binning, specs[i].bins);
        histogram_spec_values(&spec, value_type_find(specs[i].type), &binning);
        if (specs[i].bins < 1000000)
            check_many_by(STRATEGY_packed, &spec, true);
        check_many_by(STRATEGY_partitioned, &spec,
                      specs[i].bins < 1000000 || !scale_is_small_or_slow());
        binning_free(&binning);
    }
}

/* --- numbers --- */

#define TOKEN_MAX ((size_t)20004) /* bytes that one token takes at most, with white space */

enum token { LATENCY, DIGIT, INTEGER, DOUBLE, ODD, MIDDLE, LONG, TOKEN_KINDS };

static size_t put_token(unsigned kind, char *to)
{
    static const char *const odd[] = {"nan", "inf", "-Infinity", "0x10",  "12abc", "--1", ".",
                                      "1e",  "-0",  "\xff",      "1e999", "5.",    ".5"};
    static const unsigned lens[] = {31, 32, 33, 2048, 4095, 4096, 4097, 20000};
    switch (kind == TOKEN_KINDS ? random_below(LONG) : kind) { /* any but long ones */
    case LATENCY:
        return (size_t)sprintf(to, "0.%03u", random_below(1000));
    case DIGIT:
        return (size_t)sprintf(to, "%u", random_below(10));
    case INTEGER:
        return (size_t)sprintf(to, "%lld", (long long)random_word() >> random_below(64));
    case DOUBLE:
        return (size_t)sprintf(to, random_below(2) ? "%.*g" : "%.*e", (int)random_below(30),
                               double_of_bits(random_word()));
    case MIDDLE: /* of two doubles, or near it */
        return (size_t)sprintf(to, "%s%llu.%0*u", random_below(2) ? "-" : "",
                               (unsigned long long)1 << 53 | (random_word() & 0xffff),
                               3 + (int)random_below(900), random_below(2));
    case ODD:
        return (size_t)sprintf(to, "%s", odd[random_below(COUNT_OF(odd))]);
    default:
        return (size_t)sprintf(to, "%0*u", (int)lens[random_below(COUNT_OF(lens))],
                               random_below(1000));
    }
}

/* Text of one kind, up to len bytes; nothing need follow the last token. Returns how many. */
static size_t fill_numbers(unsigned kind, size_t len)
{
    static char token[TOKEN_MAX + 1];
    size_t at = 0;
    for (size_t size; at + (size = put_token(kind, token)) <= len;) {
        memcpy(data + at, token, size);
        at += size;
        do {
            if (at == len)
                return at;
            data[at++] = random_below(8) ? '\n' : (unsigned char)"\t\n\v\f\r "[random_below(6)];
        } while (random_below(20) == 0);
    }
    return at;
}

static void check_numbers_in(struct binning *binning)
{
    const size_t max = scale_is_small_or_slow() ? 70000 : MIB;
    struct histogram_spec spec;
    struct counted counted;
    histogram_spec_numbers(&spec, binning);
    if (!open_counted(&counted, STRATEGY_numbers, &spec, MIB))
        need(NULL);
    for (unsigned kind = 0; kind <= TOKEN_KINDS; kind++)
        for (size_t len = 1; len <= max; len = len * 5 + random_below(7)) {
            const size_t filled = fill_numbers(kind, len);
            if (filled == 0)
                continue;
            text_rows_add(&spec, data, filled, counted.expected);
            check(&counted, filled, "numbers", kind);
        }
    close_counted(&counted);
    binning_free(&spec.binning);
}

/* Tokens of every length, shifted over every boundary between lanes, warps and blocks. */
static void check_shifted_numbers(void)
{
    struct binning binning;
    struct histogram_spec spec;
    struct counted counted;
    binning_log_linear(&binning);
    histogram_spec_numbers(&spec, &binning);
    if (!open_counted(&counted, STRATEGY_numbers, &spec, MIB))
        need(NULL);
    for (size_t len = 1; len < 70; len += scale_is_small_or_slow() ? 4 : 1)
        for (size_t shift = 0; shift < 34; shift += scale_is_small_or_slow() ? 3 : 1) {
            const size_t size = 2048 + 3 * len + shift; /* a warp takes 2048 bytes */
            memset(data, ' ', shift);
            for (size_t i = 0; i < size - shift; i++)
                data[shift + i] =
                    (unsigned char)(i % (len + 1) == len ? ' ' : '0' + (i * 7 + len) % 10);
            text_rows_add(&spec, data, size, counted.expected);
            check(&counted, size, "tokens at", (unsigned)shift);
        }
    close_counted(&counted);
    binning_free(&spec.binning);
}

static void check_numbers(void)
{
    static const struct double_layout layouts[] = {
        {.max = 1, .bins = 10},
        {.min = -1e6, .max = 1e6, .bins = 1 << 20},
        {.edges = {-1e308, -1, 0, 0.25, 0.5, 9007199254740994, 1e300}, .edge_count = 7},
        {.digits = 1},
        {.digits = 3},
        {.digits = 5},
    };
    struct binning binning;
    binning_log_linear(&binning);
    check_numbers_in(&binning);
    for (size_t i = 0; i < COUNT_OF(layouts); i++) {
        if (layout_double(&layouts[i], false, &binning) != BINNING_OK)
            need(NULL);
        check_numbers_in(&binning);
    }
    check_shifted_numbers();
}

/* --- fields of lines --- */

#define WINDOW ((size_t)2048) /* bytes that a warp takes at a time */
#define FIELDS_SLOT (3 * MIB)

/* The histogram keeps the binning, which is to be freed. */
static void open_field(struct counted *counted, struct histogram_spec *spec,
                       const struct field *field)
{
    struct binning binning;
    binning_log_linear(&binning);
    histogram_spec_numbers(spec, &binning);
    spec->lines.field = *field;
    if (!open_counted(counted, STRATEGY_fields, spec, FIELDS_SLOT))
        need(NULL);
}

static void check_lines(struct counted *counted, size_t len, const char *what)
{
    static const enum naive_way ways[] = {[FIELD_BLANKS] = NAIVE_BLANKS,
                                          [FIELD_SEPARATED] = NAIVE_SEPARATED,
                                          [FIELD_AFTER] = NAIVE_AFTER};
    const struct field *field = &counted->spec->lines.field;
    const struct naive_fields fields = {ways[field->kind], field->number, field->separator,
                                        field->after};
    struct naive_record record;
    if (len == 0)
        return;
    for (size_t at = 0; naive_record(&fields, data, len, &at, &record);)
        if (record.what != NAIVE_EMPTY)
            counted->expected[binning_row(&counted->spec->binning, record.value)]++;
    for (size_t i = 0; i < len; i++)
        counted->expected[counted->spec->bins] += data[i] == '\n';
    check(counted, len, what, (unsigned)field->kind);
}

/* Random lines for random fields. */
static void check_random_fields(void)
{
    static struct field_text lines;
    const unsigned rounds = scale_is_slow() ? 20 : scale_is_small() ? 120 : 3000;
    for (unsigned round = 0; round < rounds; round++) {
        struct histogram_spec spec;
        struct counted counted;
        struct field field;
        field_draw(&field);
        field.has_units = false; /* which are left to the CPU */
        if (!line_field_takes(&field))
            continue;
        open_field(&counted, &spec, &field);
        for (unsigned i = 0; i < 8; i++) {
            const size_t len = random_below(i == 0 ? FIELD_TEXT_SIZE : 3000);
            field_text_fill(&lines, &field, len);
            memcpy(data, lines.bytes, len);
            check_lines(&counted, len, "lines");
        }
        close_counted(&counted);
        binning_free(&spec.binning);
    }
}

/* Lines that end around a boundary, of which the last field is a number that only many digits can
 * tell from the middle of two doubles. */
static void check_boundary(struct counted *counted, size_t boundary, size_t around)
{
    static const char number[] = " 9007199254740993.00000000000000000001";
    for (size_t end = boundary - around; end <= boundary + around; end++) {
        memset(data, 'a', end);
        memcpy(data + end - strlen(number), number, strlen(number));
        memcpy(data + end, "\n\r\nb 6\r\nc 7", 11);
        check_lines(counted, end, "a boundary at the end");
        check_lines(counted, end + 11, "a boundary");
    }
}

static void check_fields(void)
{
    static const struct field fields[] = {
        {.kind = FIELD_BLANKS, .number = 2},
        {.kind = FIELD_BLANKS, .number = -1},
        {.kind = FIELD_SEPARATED, .number = 2, .separator = ' '},
        {.kind = FIELD_SEPARATED, .number = -1, .separator = ' '},
        {.kind = FIELD_AFTER, .after = "a ", .after_len = 2},
    };
    check_random_fields();
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        struct histogram_spec spec;
        struct counted counted;
        open_field(&counted, &spec, &fields[i]);
        check_boundary(&counted, WINDOW, scale_is_small_or_slow() ? 40 : 200);
        check_boundary(&counted, 2 * WINDOW + 32, 2);
        check_boundary(&counted, FIELD_RECORD_MAX, 1);
        close_counted(&counted);
        binning_free(&spec.binning);
    }
}

/* --- pairs of bytes --- */

/* What a warp and a block take at a time, and what a block counts before it looks at its counters:
 * gpu/count/pairs.cuh. */
#define PAIR_TILE ((size_t)1024)
#define TILES_OF_BLOCK (32 * PAIR_TILE)
#define ROUND (16 * TILES_OF_BLOCK)

/* Data that are hard for this strategy alone, beside those of samples.h. */
enum pair_kind {
    EIGHTHS = SAMPLES_KINDS, /* few pairs, whose first bytes are of all eighths alike */
    EIGHTHS_RARELY,          /* the same after each 1000 bytes of one value */
    LOWER,                   /* one pair, whose counter shares its word */
    LATE_PAIRS,              /* ASCII, but not after the beginning */
    LATE_LOWER,              /* ASCII, and from the second round on one pair */
    PAIR_KINDS,
};

static size_t pair_blocks(void)
{
    return seam_is_emulated() ? 3 : 132;
}

static void fill_pairs(unsigned kind, size_t len)
{
    if (kind < SAMPLES_KINDS) {
        samples_fill((enum samples)kind, data, len);
        return;
    }
    random_seed(len);
    for (size_t i = 0; i < len; i++)
        if (kind == EIGHTHS || (kind == EIGHTHS_RARELY && i % 2000 < 1000))
            data[i] = (unsigned char)(i % 8 * 32 + i / 8 % 3);
        else if (kind == LATE_PAIRS)
            data[i] = (unsigned char)(i < TILES_OF_BLOCK ? 'a' + random_below(26)
                                                         : 0xff - random_below(2));
        else
            data[i] = kind == LATE_LOWER && i < pair_blocks() * ROUND
                          ? (unsigned char)('a' + random_below(26))
                          : 0xd5;
}

static void check_pairs_of(struct counted *counted, unsigned kind, size_t len)
{
    const bool is_aligned = counted->spec->is_aligned;
    len -= is_aligned ? len % 2 : 0;
    if (len == 0)
        return;
    fill_pairs(kind, len);
    for (size_t i = 0; i + 1 < len; i += is_aligned ? 2 : 1)
        counted->expected[data[i] << 8 | data[i + 1]]++;
    check(counted, len, is_aligned ? "aligned pairs" : "pairs", kind);
}

/* Lengths about everything that is taken at a time; and so long that each block has a round, one of
 * twice its length, and some more: of the emulated device, which has three, and of a GPU with up to
 * 132. */
static void check_pairs(void)
{
    static const size_t abouts[] = {
        2, 16, 32, PAIR_TILE, 2 * PAIR_TILE, TILES_OF_BLOCK, 3 * TILES_OF_BLOCK};
    const size_t max = pair_blocks() * (3 * ROUND + TILES_OF_BLOCK) + 12345;
    for (unsigned is_aligned = 0; is_aligned < 2; is_aligned++) {
        struct histogram_spec spec;
        struct counted counted;
        histogram_spec_pairs(&spec, is_aligned);
        if (!open_counted(&counted, STRATEGY_pairs, &spec, max))
            need(NULL);
        for (size_t i = 0; i < COUNT_OF(abouts); i++)
            for (size_t len = abouts[i] - 1; len <= abouts[i] + 2; len++)
                check_pairs_of(&counted, (unsigned)(len % PAIR_KINDS), len);
        for (unsigned kind = 0; kind < PAIR_KINDS; kind += scale_is_small_or_slow() ? 4 : 1)
            check_pairs_of(&counted, kind, 2 * TILES_OF_BLOCK + random_below(PAIR_TILE));
        for (unsigned kind = scale_is_small_or_slow() ? EIGHTHS : 0; kind < PAIR_KINDS; kind++)
            check_pairs_of(&counted, kind, max);
        close_counted(&counted);
    }
}

/* --- characters --- */

enum script {
    LETTERS_ALONE,
    TEXT,
    BROKEN,
    HARD,
    ANY_BYTES,
    ONE_BYTE,
    ONE_CHARACTER,
    PLANES,
    SCRIPTS
};

static void fill_with_points(size_t len, uint32_t first, unsigned count)
{
    size_t at = 0;
    while (at + 4 <= len)
        at += characters_put(data + at, first + random_below(count));
    memset(data + at, ' ', len - at);
}

static void fill_characters(enum script script, size_t len)
{
    if (script == TEXT || script == BROKEN)
        characters_make(data, len, script == TEXT ? 0 : (unsigned)len / 50 + 1);
    else if (script == HARD)
        characters_make_hard(data, len);
    else if (script == ONE_BYTE)
        memset(data, random_below(2) ? 'e' : 0x80, len);
    else if (script == ANY_BYTES)
        for (size_t i = 0; i < len; i++)
            data[i] = (unsigned char)random_word();
    else if (script == PLANES) /* with surrogates, and what is too great */
        fill_with_points(len, 0, 0x120000);
    else
        fill_with_points(len, script == ONE_CHARACTER ? 0x1f600 : 'a',
                         script == ONE_CHARACTER ? 1 : 26);
}

static void check_characters_of(const struct histogram_spec *spec)
{
    static const size_t all[] = {1,    2,    3,    4,    5,    15,   16,    17,    31,   32,
                                 33,   35,   63,   64,   65,   511,  512,   513,   1023, 1024,
                                 1025, 1027, 2047, 2048, 2049, 4097, 65537, 300007};
    static const size_t few[] = {1, 33, 34, 1025, 1026, 20011};
    const bool is_quick = scale_is_small_or_slow();
    struct counted counted;
    if (!open_counted(&counted, STRATEGY_characters, spec, MIB))
        need(NULL);
    for (unsigned script = 0; script < SCRIPTS; script++)
        for (size_t i = 0; i < (is_quick ? COUNT_OF(few) : COUNT_OF(all)); i++) {
            const size_t len = is_quick ? few[i] : all[i];
            uint32_t point;
            fill_characters((enum script)script, len);
            for (size_t at = 0; at < len;) {
                at += characters_naive(data + at, len - at, &point);
                counted.expected[spec->groups ? character_group(spec->groups, point) : point]++;
            }
            check(&counted, len, "characters", script);
        }
    close_counted(&counted);
}

static void check_characters_modes(void)
{
    struct histogram_spec spec;
    histogram_spec_characters(&spec);
    check_characters_of(&spec);
    histogram_spec_categories(&spec);
    check_characters_of(&spec);
    histogram_spec_blocks(&spec);
    check_characters_of(&spec);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(void);
    } parts[] = {{"bytes", check_bytes},
                 {"values", check_values},
                 {"many", check_many_bins},
                 {"numbers", check_numbers},
                 {"fields", check_fields},
                 {"pairs", check_pairs},
                 {"characters", check_characters_modes}};
    if (!seam_has_device())
        return SEAM_SKIP;
    const size_t pairs_max = pair_blocks() * (3 * ROUND + TILES_OF_BLOCK) + 12345,
                 values_max = 8 * many_max();
    data = need(malloc(pairs_max > values_max ? pairs_max : values_max));
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        bool is_wanted = argc == 1;
        for (int k = 1; k < argc; k++)
            is_wanted |= strcmp(argv[k], parts[i].name) == 0;
        const unsigned before = cases;
        random_seed(20261129);
        if (is_wanted)
            parts[i].check();
        if (is_wanted)
            printf("%s: %u counts\n", parts[i].name, cases - before);
    }
    free(data);
    printf("%u counts, %u refused as too many bins, %u wrong\n", cases, refused, wrong);
    return wrong != 0 || cases == 0;
}
