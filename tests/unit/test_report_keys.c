/* SPDX-License-Identifier: MIT */
/* Results by key as every format writes them: ugly names, the first keys and the others, records
 * without a key, heat maps. */
#include "src/tally/key_tallies.h"
#include "src/text/number.h"
#include "src/report/report.h"
#include "src/base/memory.h"
#include "src/report/writer.h"
#include "src/tally/histogram_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_MAX 65536

static unsigned tried, wrong;

static void check_text(const char *what, const char *found, const char *expected)
{
    tried++;
    if (strcmp(found, expected) == 0)
        return;
    wrong++;
    printf("%s:\n%s\nexpected:\n%s\n", what, found, expected);
}

/* Adds samples of a key, each with a number if the histogram counts these. */
static void add(struct key_tallies *keys, const struct histogram_spec *spec, const char *name,
                size_t len, uint64_t samples, double number)
{
    struct tally tally;
    if (tally_open(&tally, spec) != 0)
        exit(99);
    tally.samples = samples;
    tally.counts[spec->mode->is_binned ? binning_row(&spec->binning, number) : 0] = samples;
    key_tallies_add(keys, (struct key_name){(const unsigned char *)name, len}, &tally);
    tally_close(&tally);
}

/* Writes the first `top` keys, and returns the text, which is valid until the next call. */
static const char *write_keys(struct key_tallies *keys, const struct histogram_spec *spec,
                              const struct format *format, size_t top, bool header)
{
    static struct writer out;
    static char text[OUTPUT_MAX];
    const struct words none = {.count = 0};
    const struct report_options options = {.format = format, .header = header, .words = &none};
    FILE *file = tmpfile();
    struct tally tally;
    if (!file || tally_open(&tally, spec) != 0 ||
        key_tallies_sort(keys, top == SIZE_MAX ? KEYS_BY_NAME : KEYS_BY_COUNT, 2) != 0)
        exit(99);
    const struct groups groups = groups_of_keys(keys, top, "key", false);
    writer_begin(&out, fileno(file));
    report_write_groups(&out, &options, spec, &groups, &tally);
    if (writer_flush(&out) != 0)
        exit(99);
    tally_close(&tally);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void test_error_locator(void)
{
    struct histogram_spec spec;
    histogram_spec_lines(&spec);
    struct key_tallies *keys = key_tallies_open(&spec, 100, UINT64_MAX);
    if (!keys)
        exit(99);
    add(keys, &spec, "", 0, 1, 0);
    add(keys, &spec, "a\tb\n", 4, 2, 0);
    add(keys, &spec, "\0", 1, 3, 0);
    add(keys, &spec, "caf\xe9", 4, 4, 0);
    add(keys, &spec, "x,\"y\"", 5, 5, 0);
    check_text("tsv", write_keys(keys, &spec, &format_tsv, SIZE_MAX, true),
               "key\tcount\n\t1\n\\x00\t3\na\\x09b\\x0a\t2\ncaf\\xe9\t4\nx,\\x22y\\x22\t5\n");
    check_text("csv", write_keys(keys, &spec, &format_csv, SIZE_MAX, false),
               ",1\n\\x00,3\na\\x09b\\x0a,2\ncaf\\xe9,4\n\"x,\"\"y\"\"\",5\n");
    check_text("json", write_keys(keys, &spec, &format_json, SIZE_MAX, false),
               "{\"schema\":\"gpuhisto/1\",\"mode\":\"lines\",\"options\":[],\"total\":15,"
               "\"counted\":15,\"other\":0,\"invalid\":0,\"bins\":[{\"key\":\"\",\"count\":1},"
               "{\"key\":\"\\u0000\",\"key_bytes\":\"00\",\"count\":3},"
               "{\"key\":\"a\\u0009b\\u000a\",\"count\":2},"
               "{\"key\":\"caf\ufffd\",\"key_bytes\":\"636166e9\",\"count\":4},"
               "{\"key\":\"x,\\\"y\\\"\",\"count\":5}]}\n");
    struct tally lost;
    if (tally_open(&lost, &spec) != 0)
        exit(99);
    lost.samples = lost.counts[0] = 7;
    key_tallies_thaw(keys);
    key_tallies_add(keys, (struct key_name){NULL, 0}, &lost);
    tally_close(&lost);
    check_text("the two first, and a row for those without a key",
               write_keys(keys, &spec, &format_tsv, 2, false),
               "x,\\x22y\\x22\t5\ncaf\\xe9\t4\n(other)\t6\n(invalid)\t7\n");
    check_text(
        "all but one", write_keys(keys, &spec, &format_tsv, 4, false),
        "x,\\x22y\\x22\t5\ncaf\\xe9\t4\n\\x00\t3\na\\x09b\\x0a\t2\n(other)\t1\n(invalid)\t7\n");
    check_text("as many as there are", write_keys(keys, &spec, &format_tsv, 5, false),
               "x,\\x22y\\x22\t5\ncaf\\xe9\t4\n\\x00\t3\na\\x09b\\x0a\t2\n\t1\n(invalid)\t7\n");
    check_text("json of the first", write_keys(keys, &spec, &format_json, 1, false),
               "{\"schema\":\"gpuhisto/1\",\"mode\":\"lines\",\"options\":[],\"total\":22,"
               "\"counted\":5,\"other\":17,\"invalid\":7,\"bins\":["
               "{\"key\":\"x,\\\"y\\\"\",\"count\":5}]}\n");
    check_text("plot", write_keys(keys, &spec, &format_plot, 1, true),
               "key        count  share\n"
               "x,\"y\"          5  22.73  ########################\n"
               "(other)       10  45.45  ###############################################\n"
               "(invalid)      7  31.82  #################################\n");
    key_tallies_close(keys);
}

static void test_heat(void)
{
    struct histogram_spec spec;
    struct binning binning;
    number_prepare();
    if (binning_digits(&binning, 3, false) != BINNING_OK)
        exit(99);
    histogram_spec_numbers(&spec, &binning);
    spec.has_moments = false;
    struct key_tallies *keys = key_tallies_open(&spec, 100, UINT64_MAX);
    if (!keys)
        exit(99);
    check_text("no keys: one object, so that it can be read again",
               write_keys(keys, &spec, &format_json, SIZE_MAX, false),
               "{\"schema\":\"gpuhisto/1\",\"keys\":0,\"table\":1,\"tables\":1,"
               "\"mode\":\"numbers\",\"options\":[],"
               "\"total\":0,\"counted\":0,\"other\":0,\"below\":0,\"above\":0,\"invalid\":0,"
               "\"bins\":[]}\n");
    check_text("no keys, no rows", write_keys(keys, &spec, &format_tsv, SIZE_MAX, false), "");
    key_tallies_thaw(keys);
    add(keys, &spec, "b", 1, 128, 5);
    add(keys, &spec, "b", 1, 64, 3);
    add(keys, &spec, "b", 1, 16, 2);
    add(keys, &spec, "b", 1, 4, 1);
    add(keys, &spec, "b", 1, 1, 0);
    add(keys, &spec, "a", 1, 1, 5);
    check_text("few values: a column for each",
               write_keys(keys, &spec, &format_plot, SIZE_MAX, true),
               "key  0       1       2       3       5         count\n"
               "a                                    ########      1\n"
               "b    ::::::::--------========################    213\n");
    check_text("an object for each, and one for all others",
               write_keys(keys, &spec, &format_json, 1, false),
               "{\"schema\":\"gpuhisto/1\",\"key\":\"b\",\"table\":1,\"tables\":2,"
               "\"mode\":\"numbers\",\"options\":[],"
               "\"total\":213,\"counted\":213,\"other\":0,\"below\":0,\"above\":0,\"invalid\":0,"
               "\"bins\":[{\"lo\":0,\"hi\":0,\"count\":1},{\"lo\":1,\"hi\":1.01,\"count\":4},"
               "{\"lo\":2,\"hi\":2.01,\"count\":16},{\"lo\":3,\"hi\":3.01,\"count\":64},"
               "{\"lo\":5,\"hi\":5.01,\"count\":128}]}\n"
               "{\"schema\":\"gpuhisto/1\",\"keys\":1,\"table\":2,\"tables\":2,"
               "\"mode\":\"numbers\",\"options\":[],"
               "\"total\":1,\"counted\":1,\"other\":0,\"below\":0,\"above\":0,\"invalid\":0,"
               "\"bins\":[{\"lo\":5,\"hi\":5.01,\"count\":1}]}\n");
    check_text("tsv", write_keys(keys, &spec, &format_tsv, 1, true),
               "key\tlo\tcount\thi\nb\t0\t1\t0\nb\t1\t4\t1.01\nb\t2\t16\t2.01\nb\t3\t64\t3.01\n"
               "b\t5\t128\t5.01\nb\tinvalid\t0\n(other)\t5\t1\t5.01\n(other)\tinvalid\t0\n");
    key_tallies_thaw(keys);
    for (int i = 0; i < 100; i++)
        add(keys, &spec, "spread", 6, 1, 10.0 * i);
    check_text("many values: decades", write_keys(keys, &spec, &format_plot, SIZE_MAX, false),
               "        0    1    2    5    10   20   50   100  200  500\n"
               "a                      #####                                  1\n"
               "b       :::::-----##########                                213\n"
               "spread  :::::               :::::----------=====##########  100\n");
    key_tallies_close(keys);
    binning_free(&spec.binning);
}

int main(void)
{
    setenv("COLUMNS", "72", 1);
    setenv("LC_ALL", "C", 1);
    test_error_locator();
    test_heat();
    printf("%u texts, %u wrong\n", tried, wrong);
    return wrong > 0;
}
