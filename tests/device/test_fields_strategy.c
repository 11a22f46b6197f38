/* SPDX-License-Identifier: MIT */
/* Fields of lines counted by the device against the definition, on random lines of all kinds, and
 * on lines of every length around what a warp takes at a time and around the longest. Through the
 * seam, as test_strategies.c. */
#include "gpu/count/sample_map.h"
#include "gpu/count/strategy.h"
#include "tests/helpers/field_texts.h"
#include "tests/helpers/naive_field.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/seam.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_SIZE ((size_t)3 << 20)
#define WINDOW 2048 /* bytes that a warp takes at a time */

static unsigned char text[SLOT_SIZE];
static unsigned cases, wrong;

/* A device that counts a field, and what it must have counted so far. */
struct counted {
    struct device *device;
    struct histogram_spec spec;
    size_t size; /* bytes of the counts */
    uint64_t *expected, *counts;
};

static void open_counted(struct counted *counted, const struct field *field)
{
    struct binning binning;
    struct error error;
    binning_log_linear(&binning);
    histogram_spec_numbers(&counted->spec, &binning);
    counted->spec.lines.field = *field;
    counted->size = device_histogram_words(&counted->spec) * sizeof(uint64_t);
    counted->expected = calloc(1, counted->size);
    counted->counts = calloc(1, counted->size);
    counted->device = seam_open(STRATEGY_fields, &counted->spec, SLOT_SIZE, &error);
    if (!counted->expected || !counted->counts || !counted->device) {
        fprintf(stderr, "FAIL: no device\n");
        exit(1);
    }
}

static void close_counted(struct counted *counted)
{
    device_close(counted->device);
    free(counted->expected);
    free(counted->counts);
    binning_free(&counted->spec.binning);
}

static void expect(struct counted *counted, size_t len)
{
    static const enum naive_way ways[] = {[FIELD_BLANKS] = NAIVE_BLANKS,
                                          [FIELD_SEPARATED] = NAIVE_SEPARATED,
                                          [FIELD_AFTER] = NAIVE_AFTER};
    const struct field *field = &counted->spec.lines.field;
    const struct naive_fields fields = {ways[field->kind], field->number, field->separator,
                                        field->after};
    struct naive_record record;
    for (size_t at = 0; naive_record(&fields, text, len, &at, &record);)
        if (record.what != NAIVE_EMPTY)
            counted->expected[binning_row(&counted->spec.binning, record.value)]++;
    for (size_t i = 0; i < len; i++)
        counted->expected[counted->spec.bins] += text[i] == '\n';
}

static void check(struct counted *counted, size_t len, const char *what)
{
    const struct field *field = &counted->spec.lines.field;
    if (len == 0)
        return;
    cases++;
    expect(counted, len);
    if (seam_count(counted->device, cases % 2, text, len, counted->counts,
                   counted->size / sizeof(uint64_t)) != 0) {
        fprintf(stderr, "FAIL: %s\n", device_error(counted->device));
        exit(1);
    }
    if (memcmp(counted->counts, counted->expected, counted->size) == 0)
        return;
    fprintf(stderr, "FAIL: %s, %zu bytes: kind %d, field %d, separator 0x%02x\n", what, len,
            (int)field->kind, (int)field->number, field->separator);
    if (wrong++ == 20)
        exit(1);
    memcpy(counted->expected, counted->counts, counted->size);
}

static void check_random(unsigned rounds)
{
    static struct field_text lines;
    struct counted counted;
    struct field field;
    while (rounds-- > 0) {
        field_draw(&field);
        field.has_units = false; /* which are left to the CPU */
        if (!line_field_takes(&field))
            continue;
        open_counted(&counted, &field);
        for (unsigned i = 0; i < 5; i++) {
            size_t len = random_below(i == 0 ? FIELD_TEXT_SIZE : 3000);
            field_text_fill(&lines, &field, len);
            memcpy(text, lines.bytes, len);
            check(&counted, len, "random");
        }
        close_counted(&counted);
    }
}

/* Lines that end around a boundary, of which the last field is a number that only many digits can
 * tell from the middle of two doubles. */
static void check_boundary(const struct field *field, size_t boundary, size_t around)
{
    static const char number[] = " 9007199254740993.00000000000000000001";
    struct counted counted;
    open_counted(&counted, field);
    for (size_t end = boundary - around; end <= boundary + around; end++) {
        memset(text, 'a', end);
        memcpy(text + end - strlen(number), number, strlen(number));
        memcpy(text + end, "\n\r\nb 6\r\nc 7", 11);
        check(&counted, end, "a boundary at the end");
        check(&counted, end + 11, "a boundary");
    }
    close_counted(&counted);
}

int main(void)
{
    static const struct field fields[] = {
        {.kind = FIELD_BLANKS, .number = 2},
        {.kind = FIELD_BLANKS, .number = -1},
        {.kind = FIELD_SEPARATED, .number = 2, .separator = ' '},
        {.kind = FIELD_SEPARATED, .number = -1, .separator = ' '},
        {.kind = FIELD_AFTER, .after = "a ", .after_len = 2},
    };
    if (!seam_has_device())
        return SEAM_SKIP;
    check_random(scale_is_slow() ? 50 : scale_is_small() ? 300 : 3000);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        check_boundary(&fields[i], WINDOW, scale_is_small_or_slow() ? 40 : 200);
        check_boundary(&fields[i], 2 * WINDOW + 32, 2);
        check_boundary(&fields[i], FIELD_RECORD_MAX, 1);
    }
    printf("%u texts, %u wrong\n", cases, wrong);
    return wrong != 0;
}
