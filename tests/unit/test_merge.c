/* SPDX-License-Identifier: MIT */
/* Tables that are added up: sums of tables made here, in any order, in two steps and on several
 * threads, against plain addition; what is refused, which must not depend on threads; and rows that
 * were seen before against the same rows read anew, damaged tables among them. */
#include "src/cli/cli.h"
#include "src/merge/merge.h"
#include "tests/helpers/made_tables.h"
#include "tests/helpers/random.h"
#include "tests/helpers/read_json.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/vectors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES 12

static unsigned long cases, wrong;

static void check_that(bool holds, const char *what, const char *detail)
{
    cases++;
    if (!holds && wrong++ < 20)
        printf("%s: %s\n", what, detail);
}

/* --- sums --- */

static int merge_named(char *const *names, size_t count, unsigned threads, struct merge *merge,
                       struct error *error)
{
    *merge = (struct merge){.form.build = options_build, .form.sort = options_sort};
    *error = (struct error){""};
    struct preopened_list files;
    if (preopened_list_open(&files, names, count) != 0)
        return -1;
    const int rc = merge_files(&files, threads, 0, merge, error);
    preopened_list_close(&files);
    return rc;
}

static void check_sum(const struct merge *merge, int rc, const struct tally *expected,
                      const char *what, const struct error *error)
{
    check_that(rc == 0, what, error->text);
    if (rc != 0)
        return;
    check_that(merge->tally.samples == expected->samples, what, "samples");
    check_that(merge->tally.bins == expected->bins &&
                   memcmp(merge->tally.counts, expected->counts,
                          expected->bins * sizeof expected->counts[0]) == 0,
               what, "counts");
}

/* Some FILEs in one merge, and that and the others in another one. */
static void check_steps(char **names, const struct histogram_spec *spec,
                        const struct words *options, const struct tally *expected)
{
    struct memory_file half;
    struct merge merge;
    struct error error;
    const size_t first = 1 + random_below(FILES - 1);
    made_file_open(&half);
    int rc = merge_named(names, first, 5, &merge, &error);
    if (rc == 0)
        made_write_table(&half, spec, options, &merge.tally);
    merge_free(&merge);
    char *rest[FILES + 1] = {half.name};
    memcpy(rest + 1, names + first, (FILES - first) * sizeof *rest);
    rc = merge_named(rest, FILES - first + 1, 2, &merge, &error);
    check_sum(&merge, rc, expected, options->list[0], &error);
    merge_free(&merge);
    close(half.fd);
}

/* FILEs of a table or two each. */
static void check_layout(const char *const *words)
{
    static const unsigned sparsities[] = {1, 1, 2, 7, 300};
    struct memory_file files[FILES];
    char *names[FILES];
    struct words options;
    struct histogram_spec spec;
    struct tally tally, expected;
    struct merge merge;
    struct error error;
    made_build(words, &options, &spec);
    if (tally_open(&tally, &spec) != 0 || tally_open(&expected, &spec) != 0)
        abort();
    for (size_t i = 0; i < FILES; i++) {
        const bool is_long = spec.bins > 10000 && i > 1 && scale_is_small();
        made_file_open(&files[i]);
        names[i] = files[i].name;
        for (unsigned tables = 1 + random_below(2); tables > 0; tables--) {
            made_fill_tally(&tally, &spec, is_long ? 300 : sparsities[random_below(5)]);
            made_write_table(&files[i], &spec, &options, &tally);
            tally_add(&expected, &tally);
        }
    }
    static const unsigned threads[] = {1, 2, 5};
    for (size_t i = 0; i < scale_of(3, 12, 12); i++) {
        const size_t one = random_below(FILES), other = random_below(FILES);
        char *name = names[one];
        names[one] = names[other];
        names[other] = name;
        const int rc = merge_named(names, FILES, threads[i % 3], &merge, &error);
        check_sum(&merge, rc, &expected, words[0], &error);
        merge_free(&merge);
    }
    check_steps(names, &spec, &options, &expected);
    for (size_t i = 0; i < FILES; i++)
        close(files[i].fd);
    tally_close(&tally);
    tally_close(&expected);
    binning_free(&spec.binning);
    words_free(&options);
}

/* --- what is refused --- */

static const char table_form[] =
    "{\"schema\":\"gpuhisto/1\",\"mode\":\"letters\",\"options\":[%s],%s"
    "\"total\":%llu,\"counted\":%llu,\"other\":0,"
    "\"bins\":[{\"bin\":\"a-z\",\"lo\":97,\"hi\":122,\"count\":%llu}]}\n";

#define ALL_LETTERS "\"--letters=26\""

static void write_letters(struct memory_file *file, unsigned long long count, const char *shard)
{
    char text[1000];
    const int len =
        snprintf(text, sizeof text, table_form, ALL_LETTERS, shard, count, count, count);
    made_file_add_text(file, text, (size_t)len);
}

/* A table of which the samples are a part of each FILE. */
static void write_others(struct memory_file *file, unsigned length, const char *shard)
{
    char text[1000], options[100];
    snprintf(options, sizeof options, ALL_LETTERS ",\"--length=%u\"", length);
    const int len = snprintf(text, sizeof text, table_form, options, shard, 1ULL, 1ULL, 1ULL);
    made_file_add_text(file, text, (size_t)len);
}

static void shard_text(char *text, size_t size, unsigned part, unsigned of, unsigned begin)
{
    snprintf(text, size,
             "\"share\":{\"of\":%u,\"parts\":[[%u,%u]],\"list\":{\"files\":1,\"bytes\":120,"
             "\"digest\":\"00000000000000aa\"},\"files\":[{\"index\":1,\"name\":\"x\",\"size\":120,"
             "\"fingerprint\":\"0000000000000007\",\"ranges\":[[%u,%u]]}]},",
             of, part, part, begin, begin + 10);
}

#define KINDS 12

/* Makes a FILE, one of them all, that may be refused for a reason of its own. */
static void write_any(struct memory_file *file, size_t index, bool shards, unsigned kind)
{
    char shard[500] = "";
    if (shards)
        shard_text(shard, sizeof shard, 1 + (unsigned)index, FILES, 10 * (unsigned)index);
    switch (kind) {
    case 0:
        strcpy(file->name, "/no/such/file");
        break;
    case 1:
        write_letters(file, 1, shard);
        made_file_add_text(file, "{\"schema", 8);
        break;
    case 2:
        made_file_add_text(file, "a-z\t4\n", 6);
        break;
    case 3:
        write_letters(file, 1ULL << 63, shard);
        break;
    case 4:
        write_letters(file, UINT64_MAX, shard);
        made_file_add_text(file, "x", 1);
        break;
    case 5:
        shard_text(shard, sizeof shard, 1 + (unsigned)index, FILES + 1, 10 * (unsigned)index);
        write_letters(file, 1, shard);
        break;
    case 6: /* overlaps the one before it */
        shard_text(shard, sizeof shard, 1 + (unsigned)index, FILES, 10 * (unsigned)index - 5);
        write_letters(file, 1, shard);
        break;
    case 7: /* is there twice */
        shard_text(shard, sizeof shard, (unsigned)index, FILES, 10 * (unsigned)index);
        write_letters(file, 1, shard);
        break;
    case 8:
        made_file_add_text(file, "\x1f\x8b", 2);
        break;
    case 9:
    case 10:
        write_others(file, kind == 9 ? 1 : 2, shard);
        break;
    case 11: /* of which the second is of other samples than the first */
        write_letters(file, 1, shard);
        write_others(file, 1, shard);
        break;
    default:
        write_letters(file, index, shard);
        break;
    }
}

/* FILEs of which some may be refused. The proof is part of the verdict. */
static void check_refusals(unsigned round)
{
    static const unsigned threads[] = {1, 2, 5, 5, 5};
    struct memory_file files[FILES];
    char *names[FILES];
    struct error errors[5], first_how;
    int verdicts[5];
    const bool shards = round % 2;
    for (size_t i = 0; i < FILES; i++) {
        made_file_open(&files[i]);
        write_any(&files[i], i, shards,
                  i > 0 && random_below(3) == 0 ? random_below(KINDS) : KINDS);
        names[i] = files[i].name;
    }
    for (size_t i = 0; i < 5; i++) {
        struct shard_record record = {.shard_count = 0};
        struct merge merge;
        verdicts[i] = merge_named(names, FILES, threads[i], &merge, &errors[i]);
        if (verdicts[i] == 0 && merge.shards.first)
            verdicts[i] = shard_join_finish(&merge.shards, false, &record, &errors[i]);
        check_that((verdicts[i] == 0) == !errors[i].text[0], "a verdict", errors[i].text);
        check_that(verdicts[i] == verdicts[0] && strcmp(errors[i].text, errors[0].text) == 0,
                   errors[0].text, errors[i].text);
        if (i == 0)
            first_how = merge.others.how;
        check_that(verdicts[i] != 0 || strcmp(merge.others.how.text, first_how.text) == 0,
                   first_how.text, merge.others.how.text);
        shard_record_free(&record);
        merge_free(&merge);
    }
    for (size_t i = 0; i < FILES; i++)
        close(files[i].fd);
}

/* One FILE with a fault of its own; the error is the one that is expected. */
static void check_errors(void)
{
    static const char *const expected[] = {
        "/no/such/file: No such file or directory",
        ": the table is truncated",
        ": not a table in JSON; make one with 'gpuhisto ... -F json'",
        ": the total exceeds 2^64",
        ": the total exceeds 2^64",
        ": is one of 13 shares, but ",
        ": bytes from ",
        " is also in ",
        ": is compressed; decompress it first, with 'gzip -d'",
        ": was counted with --length=1, but ",
        ": was counted with --length=2, but ",
        "; merge the tables of one histogram at a time",
    };
    for (unsigned kind = 0; kind < sizeof expected / sizeof expected[0]; kind++)
        for (unsigned threads = 1; threads <= 5; threads += 2) {
            struct memory_file files[FILES];
            char *names[FILES];
            struct shard_record record = {.shard_count = 0};
            struct merge merge;
            struct error error;
            for (size_t i = 0; i < FILES; i++) {
                made_file_open(&files[i]);
                write_any(&files[i], i, true,
                          i == 7 || (kind == 3 && i == 4) ? kind : KINDS); /* 2^63 twice */
                names[i] = files[i].name;
            }
            int rc = merge_named(names, FILES, threads, &merge, &error);
            if (rc == 0)
                rc = shard_join_finish(&merge.shards, false, &record, &error);
            check_that(rc != 0 && strstr(error.text, expected[kind]), expected[kind], error.text);
            check_that(strncmp(error.text, names[7], strlen(names[7])) == 0, names[7], error.text);
            shard_record_free(&record);
            merge_free(&merge);
            for (size_t i = 0; i < FILES; i++)
                close(files[i].fd);
        }
}

/* Returns what is said of the tables of a vector, a FILE each; they are refused as soon as they are
 * read or only by the proof. */
static const char *verdict_on(char *const *names, size_t count)
{
    struct shard_record record = {.shard_count = 0};
    struct merge merge;
    struct error error;
    const char *verdict = "refused";
    if (merge_named(names, count, 1, &merge, &error) == 0) {
        if (shard_join_finish(&merge.shards, false, &record, &error) == 0)
            verdict = "complete";
        else if (shard_join_finish(&merge.shards, true, &record, &error) == 0)
            verdict = "incomplete";
    }
    shard_record_free(&record);
    merge_free(&merge);
    return verdict;
}

static void check_proofs(void)
{
    while (vectors_next("merges")) {
        struct memory_file files[FILES];
        char *names[FILES];
        const size_t count = vector_count("tables");
        if (count < 1 || count > FILES)
            abort();
        for (size_t i = 0; i < count; i++) {
            const char *table = vector_element("tables", i);
            made_file_open(&files[i]);
            made_file_add_text(&files[i], table, strlen(table));
            names[i] = files[i].name;
        }
        const char *verdict = verdict_on(names, count);
        check_that(strcmp(verdict, vector_text("verdict")) == 0, vector_text("verdict"), verdict);
        for (size_t i = 0; i < count; i++)
            close(files[i].fd);
    }
}

/* --- what was damaged, with rows that were seen before and read anew --- */

#define NUMBERS "0123456789"

/* Makes a change in text[from..*len), which has room for 300 bytes more. */
static void damage(char *text, size_t from, size_t *len)
{
    static const char likely[] = NUMBERS "{}[],:\" \\-lohicount";
    static const char *const inserted[] = {"18446744073709551615", "9999999999999999999999999",
                                           "1e999", "-1"};
    const size_t at = from + random_word() % (*len - from);
    char *begin = text + at, *tail = begin;
    size_t span = 0;
    char more[256] = "";
    switch (random_below(8)) {
    case 0: /* cut short */
        *len = at;
        return;
    case 1: /* a member or a row is missing */
    case 2: /* or is there twice */
        begin = memchr(begin, random_below(2) ? ',' : '{', *len - at);
        tail = begin ? memchr(begin + 1, *begin == '{' ? '}' : ',', *len - at - 1) : NULL;
        if (!tail || tail >= text + *len || (size_t)(tail - begin) >= sizeof more - 2)
            break;
        span = (size_t)(tail - begin) + (*begin == '{');
        if (random_below(2)) {
            memcpy(more, begin, span);
            strcpy(more + span, *begin == '{' ? "," : "");
            span = 0;
        }
        break;
    case 3: /* another number */
        span = strspn(begin, NUMBERS);
        if (span > 0)
            strcpy(more, inserted[random_below(4)]);
        break;
    case 4: /* nested */
        memset(more, '[', 1 + random_below(200));
        break;
    default:
        *begin = likely[random_below(sizeof likely - 1)];
        return;
    }
    const size_t more_len = strlen(more);
    if (!begin || begin + span > text + *len)
        return;
    memmove(begin + more_len, begin + span, *len - (size_t)(begin - text) - span);
    memcpy(begin, more, more_len);
    *len += more_len - span;
    text[*len] = '\0';
}

/* Returns how many bins have a count; of several channels, whose rows are always read anew, 0. */
static size_t rows_counted(const struct tally *tally, const struct histogram_spec *spec)
{
    size_t rows = 0;
    for (size_t row = 0; histogram_spec_channels(spec) == 1 && row < tally->bins; row++)
        rows += tally->counts[row] > 0 && histogram_spec_row_kind(spec, row) == ROW_KIND_BIN;
    return rows;
}

/* A table that may be damaged, after one whose rows were seen. */
static void check_damages(const char *const *words)
{
    struct memory_file file;
    struct words options;
    struct histogram_spec spec;
    struct tally tally, both;
    struct read_json reading = {.piece = 0};
    size_t len, second = 0;
    made_build(words, &options, &spec);
    if (tally_open(&tally, &spec) != 0 || tally_open(&both, &spec) != 0)
        abort();
    const bool is_large = spec.bins > 10000;
    made_file_open(&file);
    for (unsigned i = 0; i < 2; i++) {
        second = (size_t)lseek(file.fd, 0, SEEK_END);
        made_fill_tally(&tally, &spec, i == 0 && is_large ? 300 : 1);
        made_write_table(&file, &spec, &options, &tally);
        tally_add(&both, &tally);
    }
    char *text = made_file_text(&file, &len), *copy = malloc(len + 1000);
    const size_t rows = rows_counted(&both, &spec);
    const unsigned few = scale_is_slow() ? 50 : 300;
    for (unsigned i = 0;
         i < 2 + (is_large ? scale_of(1, 50, 50) : scale_of(few, 20000, 20000)) && copy; i++) {
        const unsigned changes = i < 2 ? 0 : 1 + random_below(2);
        size_t copy_len = len;
        memcpy(copy, text, len + 1);
        for (unsigned change = 0; change < changes && copy_len > second + 1; change++)
            damage(copy, second + 1, &copy_len);
        reading.piece = i % 2 ? 1 + random_below(700) : 0;
        check_that(read_json_agrees(&reading, copy, copy_len), words[0], "seen rows differ");
        const bool is_right = reading.error.text[0] == '\0';
        check_that(changes > 0 || is_right, words[0], reading.error.text);
        if (is_right && changes < 2)
            check_sum(&reading.sum, 0, &both, words[0], &reading.error);
        if (i == 0)
            check_that(reading.rows_seen >= rows - rows / 10, words[0], "rows were not seen");
        merge_free(&reading.sum);
    }
    free(copy);
    free(text);
    close(file.fd);
    tally_close(&tally);
    tally_close(&both);
    binning_free(&spec.binning);
    words_free(&options);
}

/* Texts by hand, after a table of --edges=0,1,2 whose rows were seen. */
static void check_seen_texts(void)
{
    static const char begin[] = "{\"schema\":\"gpuhisto/1\",\"mode\":\"numbers\",\"options\":["
                                "\"--numbers\",\"--edges=0,1,2\"],\"total\":";
    static const char *const texts[] = {
        "3,\"counted\":3,%s{\"lo\":0,\"hi\":1,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":2}]}",
        "3,\"counted\":3,%s{\"lo\":0,\"hi\":1,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":02}]}",
        "3,\"counted\":3,%s{\"lo\":0,\"hi\":1,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":2} ]}",
        "3,\"counted\":3,%s{\"lo\":0,\"hi\":1,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":2.0}]}",
        "3,\"counted\":3,%s{\"lo\":0,\"hi\":1,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":}]}",
        "1,\"counted\":1,%s{\"lo\":0,\"hi\":1,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":0}]}",
        "1,\"counted\":1,%s{\"lo\":0,\"hi\":1,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":00}]}",
        "9,\"counted\":9,%s{\"lo\":0,\"hi\":1,\"count\":1},"
        "{\"lo\":1,\"hi\":2,\"count\":18446744073709551615}]}",
        "9,\"counted\":9,%s{\"lo\":0,\"hi\":1,\"count\":1},"
        "{\"lo\":1,\"hi\":2,\"count\":18446744073709551624}]}",
        "3,\"counted\":3,%s{\"lo\":1,\"hi\":2,\"count\":1},{\"lo\":0,\"hi\":1,\"count\":2}]}",
        "3,\"counted\":3,%s{\"lo\":1,\"hi\":2,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":2}]}",
        "3,\"counted\":3,%s{\"lo\":0,\"hi\":1,\"count\":1},,{\"lo\":1,\"hi\":2,\"count\":2}]}",
        "3,\"counted\":3,%s{\"lo\":0,\"hi\":1,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":2},]}",
        "3,\"counted\":3,%s{\"lo\":0,\"hi\":1,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":2}}",
        "1,\"counted\":1,%s{\"lo\":0,\"hi\":1,\"count\":1}],\"x\":["
        "{\"lo\":0,\"hi\":1,\"count\":1},{\"lo\":1,\"hi\":2,\"count\":2}]}",
        "1,\"counted\":1,%s{\"lo\":0,\"hi\":1,\"count\":1,\"x\":{}},{\"x\":\"},"
        "{\"lo\":1,\"hi\":2,\"count\":2}\"}]}",
        "1,\"counted\":1,%s{\"lo\":0,\"hi\":1,\"count\":1,\"x\":[{},{}"
        ",{\"lo\":1,\"hi\":2,\"count\":2}]}]}",
        /* After a string of braces, slices are long enough for the end of a row and a string. */
        "3,\"counted\":3,%s{\"lo\":0,\"hi\":1,\"count\":1,\"x\":\"}}}}}}}}\"},{\"x\":\"},"
        "{\"lo\":1,\"hi\":2,\"count\":2}\"}]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t piece = 0; piece < 60; piece++) {
            char text[2000], rest[500];
            struct read_json reading = {.piece = piece};
            snprintf(rest, sizeof rest, texts[0],
                     "\"other\":0,\"below\":0,\"above\":0,\"invalid\":0,\"bins\":[");
            int len = snprintf(text, sizeof text, "%s%s\n%s", begin, rest, begin);
            snprintf(rest, sizeof rest, texts[i],
                     "\"other\":0,\"below\":0,\"above\":0,\"invalid\":0,\"bins\":[");
            len += snprintf(text + len, sizeof text - (size_t)len, "%s", rest);
            check_that(read_json_agrees(&reading, text, (size_t)len), texts[i], "seen rows differ");
            if (i == 0 && piece == 0)
                check_that(!reading.error.text[0] && reading.rows_seen == 2, texts[i], "not seen");
            merge_free(&reading.sum);
        }
}

/* Rows in two tables that may look alike: the second is read as if there had been no first. */
static void check_alike(void)
{
    static const char form[] = "{\"schema\":\"gpuhisto/1\",\"mode\":\"numbers\",\"options\":["
                               "\"--numbers\",\"--edges=0,1,2\"],\"total\":1,\"counted\":1,"
                               "\"other\":0,\"below\":0,\"above\":0,\"invalid\":0,\"bins\":[%s]}";
    static const char *const rows[][3] = {
        {"{\"lo\":0,\"hi\":1,\"count\":1}", "{\"lo\":0,\"hi\":1,\"count\":1}", ""},
        {"{ \"lo\" : 0, \"hi\" : 1, \"count\" : 1}", "{ \"lo\" : 0, \"hi\" : 1, \"count\" : 1}",
         ""},
        {"{\"lo\":0,\"hi\":1,\"count\":1 }", "{\"lo\":0,\"hi\":1,\"count\":1 }", ""},
        {"{\"count\":1,\"lo\":0,\"hi\":1}", "{\"count\":1,\"lo\":0,\"hi\":2}",
         "there is no bin from 0 to 2"},
        {"{\"lo\":0,\"hi\":1,\"count\":1,\"x\":1}", "{\"lo\":0,\"hi\":1,\"count\":1,\"x\":7}", ""},
        {"{\"lo\":0,\"hi\":1,\"count\":1,\"x\":1}", "{\"lo\":0,\"hi\":1,\"count\":1,\"x\":1,}",
         "a name in quotes is missing"},
        /* Both orders of what stands for the other once it was decoded. */
        {"{\"l\\u006f\":0,\"hi\":1,\"count\":1}", "{\"lou006f\":0,\"hi\":1,\"count\":1}",
         "a bin has no \"lo\""},
        {"{\"l\\u006f\":0,\"hi\":1,\"count\":1}", "{\"lo\":0,\"hi\":1,\"count\":1}", ""},
        {"{\"lo\":0,\"hi\":1,\"count\":1}", "{\"l\\u006f\":0,\"hi\":1,\"count\":1}", ""},
        {"{\"lo\":0,\"hi\":\"\\u0031\",\"count\":1}", "{\"lo\":0,\"hi\":\"1u0031\",\"count\":1}",
         "there is no bin from 0 to 1u0031"},
        {"{\"lo\":0,\"hi\":1,\"count\":1}", "{\"lo\":0,\"hi\":1,\"count\":1,\"count\":1}",
         "occurs twice"},
        {"{\"lo\":0,\"hi\":1,\"count\":1}", "{\"lo\":0,\"hi\":1,\"count\":1e0}",
         "is not a whole number"},
        {"{\"lo\":0,\"hi\":1,\"count\":1}", "{\"lo\":0,\"hi\":1,\"count\":1]",
         "a comma or '}' is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[2000], first[800], second[800];
        struct read_json reading = {.piece = 1 << 18};
        snprintf(first, sizeof first, form, rows[i][0]);
        snprintf(second, sizeof second, form, rows[i][1]);
        snprintf(text, sizeof text, "%s\n%s\n", first, second);
        check_that(read_json_agrees(&reading, text, strlen(text)), rows[i][1], "differs");
        check_that(rows[i][2][0] ? strstr(reading.error.text, rows[i][2]) != NULL
                                 : !reading.error.text[0] && reading.sum.total == 2,
                   rows[i][1], reading.error.text);
        merge_free(&reading.sum);
    }
}

/* A string of braces is read once, and not again for each of them. */
static void check_braces(void)
{
    const size_t braces = 1000000;
    char *text = malloc(braces + 2000);
    struct read_json reading = {.piece = 1 << 18};
    if (!text)
        abort();
    static const char table[] =
        "\"schema\":\"gpuhisto/1\",\"mode\":\"numbers\",\"options\":[\"--numbers\","
        "\"--edges=0,1,2\"],\"total\":1,\"counted\":1,\"other\":0,\"below\":0,\"above\":0,"
        "\"invalid\":0,\"bins\":[{\"lo\":0,\"hi\":1,\"count\":1}]}\n";
    const int len = sprintf(text, "{%s{\"note\":\"", table);
    memset(text + len, '}', braces);
    sprintf(text + len + braces, "\",%s", table);
    read_json(&reading, text, strlen(text));
    check_that(!reading.error.text[0] && reading.sum.total == 2, "braces", reading.error.text);
    merge_free(&reading.sum);
    free(text);
}

/* One table in which a text is another one; the error has a part that is given. */
static void check_changes(void)
{
    static const char *const changes[][3] = {
        {"gpuhisto/1", "gpuhisto/2", "the schema is 'gpuhisto/2', not 'gpuhisto/1'"},
        {"\"schema\":\"gpuhisto/1\",", "", "not a table in JSON; make one with"},
        {"{\"schema\"", "x{\"schema\"", "not a table in JSON"},
        {"\"total\":1", "\"total\":2", "do not add up"},
        {"\"counted\":1", "\"counted\":2", "the bins add up to 1"},
        {"\"count\":1", "\"count\":2", "the bins add up to 2"},
        {"\"count\":1", "\"count\":1,\"count\":1", "occurs twice"},
        {"\"count\":1", "\"count\":-1", "is not a whole number"},
        {"\"count\":1", "\"count\":1e0", "is not a whole number"},
        {"\"count\":1", "\"count\":\"1\"", "is not a whole number"},
        {"\"count\":1", "\"count\":18446744073709551616", "is not a whole number"},
        {"\"count\":1", "\"count\":[1]", "cannot be a list"},
        {",\"count\":1", "", "has no \"count\""},
        {"\"total\":1,", "", "lacks \"total\""},
        {"\"options\":[\"--letters=26\"],", "", "has no \"options\""},
        {"=26", "=25", "there is no bin"},
        {"=26", "=026", "are not what gpuhisto writes"},
        {"--letters=26", "--help", "are not what gpuhisto writes"},
        {"--letters=26", "--output=x", "are not what gpuhisto writes"},
        {"--letters=26", "--numbers\",\"--digits=3\",\"--bins=5",
         "was counted with --bins but without --min"},
        {"letters\",\"options", "bytes\",\"options", "do not match"},
        {"\"lo\":97", "\"lo\":98", "there is no bin"},
        {"\"lo\":97,", "", "has no \"lo\""},
        {"\"hi\":122,", "", "has no \"hi\""},
        {"\"lo\":97,\"hi\":122,", "", "there is no bin 'a-z'"},
        {"}]}", "}]", "is truncated"},
        {"\"bins\"", "\"bins\":[],\"bins\"", "occurs twice"},
        {"letters\"", "letters\\u0000\"", "NUL byte"},
        {"{\"bin\"", "{\"bin\":\"a-z\",\"lo\":97,\"hi\":122,\"count\":0},{\"bin\"",
         "there is no bin"},
        {"}]}\n", "}]}\"abc", "is truncated"},
        {"}]}\n", "}]}tr", "is truncated"},
        {"}]}\n", "}]}{", "is truncated"},
        {"}]}\n", "}]}[", "a list in the text"},
        {"}]}\n", "}]}nul", "is truncated"},
        {"=26\"", "=26\",\"--also\"", "are not what gpuhisto writes"},
        /* Members in another order, others, and white space. */
        {"{\"schema\":\"gpuhisto/1\",",
         "{ \"new\": [ {\"a\" : null}, [true]], \"schema\"  : \"gpuhisto/1\"\n, ", ""},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char table[1000], text[2000];
        struct read_json reading = {.piece = 0};
        snprintf(table, sizeof table, table_form, ALL_LETTERS, "", 1ULL, 1ULL, 1ULL);
        const char *at = strstr(table, changes[i][0]);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - table), table, changes[i][1],
                 at + strlen(changes[i][0]));
        read_json(&reading, text, strlen(text));
        check_that(changes[i][2][0] ? strstr(reading.error.text, changes[i][2]) != NULL
                                    : !reading.error.text[0],
                   changes[i][1], reading.error.text);
        merge_free(&reading.sum);
    }
}

int main(void)
{
    const unsigned rounds = scale_of(50, 2000, 2000);
    check_changes();
    check_proofs();
    check_seen_texts();
    check_alike();
    check_braces();
    for (size_t i = 0; i < MADE_LAYOUTS; i++) {
        check_layout(made_layouts[i]);
        check_damages(made_layouts[i]);
    }
    for (unsigned round = 0; round < rounds; round++)
        check_refusals(round);
    check_errors();
    printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong != 0;
}
