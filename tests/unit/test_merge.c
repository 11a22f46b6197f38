/* SPDX-License-Identifier: MIT */
/* Tables that are added up: sums of tables made here, in any order, in two steps and on several
 * threads, against plain addition; and what is refused, which must not depend on threads. */
#include "src/cli/options.h"
#include "src/merge/merge_files.h"
#include "src/merge/table_json.h"
#include "tests/helpers/made_tables.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

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
                       struct reason *why)
{
    *merge = (struct merge){.lay = options_lay};
    *why = (struct reason){""};
    struct held_list files;
    if (held_list_open(&files, names, count) != 0)
        return -1;
    const int rc = merge_files(&files, threads, 0, merge, why);
    held_list_close(&files);
    return rc;
}

static void check_sum(const struct merge *merge, int rc, const struct tally *expected,
                      const char *what, const struct reason *why)
{
    check_that(rc == 0, what, why->text);
    if (rc != 0)
        return;
    check_that(merge->tally.samples == expected->samples, what, "samples");
    check_that(merge->tally.bins == expected->bins &&
                   memcmp(merge->tally.counts, expected->counts,
                          expected->bins * sizeof expected->counts[0]) == 0,
               what, "counts");
}

/* Some FILEs in one merge, and that and the others in another one. */
static void check_steps(char **names, const struct histogram *histogram,
                        const struct words *options, const struct tally *expected)
{
    struct memory_file half;
    struct merge merge;
    struct reason why;
    const size_t first = 1 + random_below(FILES - 1);
    made_file_open(&half);
    int rc = merge_named(names, first, 5, &merge, &why);
    if (rc == 0)
        made_write_table(&half, histogram, options, &merge.tally);
    merge_free(&merge);
    char *rest[FILES + 1] = {half.name};
    memcpy(rest + 1, names + first, (FILES - first) * sizeof *rest);
    rc = merge_named(rest, FILES - first + 1, 2, &merge, &why);
    check_sum(&merge, rc, expected, options->list[0], &why);
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
    struct histogram histogram;
    struct tally tally, expected;
    struct merge merge;
    struct reason why;
    made_lay(words, &options, &histogram);
    if (tally_open(&tally, &histogram) != 0 || tally_open(&expected, &histogram) != 0)
        abort();
    for (size_t i = 0; i < FILES; i++) {
        made_file_open(&files[i]);
        names[i] = files[i].name;
        for (unsigned tables = 1 + random_below(2); tables > 0; tables--) {
            made_fill_tally(&tally, &histogram, sparsities[random_below(5)]);
            made_write_table(&files[i], &histogram, &options, &tally);
            tally_add(&expected, &tally);
        }
    }
    static const unsigned threads[] = {1, 2, 5};
    for (size_t i = 0; i < scale_of(3, 12, 12); i++) {
        const size_t one = random_below(FILES), other = random_below(FILES);
        char *name = names[one];
        names[one] = names[other];
        names[other] = name;
        const int rc = merge_named(names, FILES, threads[i % 3], &merge, &why);
        check_sum(&merge, rc, &expected, words[0], &why);
        merge_free(&merge);
    }
    check_steps(names, &histogram, &options, &expected);
    for (size_t i = 0; i < FILES; i++)
        close(files[i].fd);
    tally_close(&tally);
    tally_close(&expected);
    binning_free(&histogram.binning);
    words_free(&options);
}

/* --- what is refused --- */

static const char table_form[] =
    "{\"schema\":\"gpuhisto/1\",\"mode\":\"letters\",\"options\":[\"--letters=26\"],%s"
    "\"total\":%llu,\"counted\":%llu,\"other\":0,"
    "\"bins\":[{\"bin\":\"a-z\",\"lo\":97,\"hi\":122,\"count\":%llu}]}\n";

static void write_letters(struct memory_file *file, unsigned long long count, const char *share)
{
    char text[1000];
    const int len = snprintf(text, sizeof text, table_form, share, count, count, count);
    made_file_add_text(file, text, (size_t)len);
}

static void share_text(char *text, size_t size, unsigned part, unsigned of, unsigned begin)
{
    snprintf(text, size,
             "\"share\":{\"of\":%u,\"parts\":[[%u,%u]],\"list\":{\"files\":1,\"bytes\":120,"
             "\"digest\":\"00000000000000aa\"},\"files\":[{\"index\":1,\"name\":\"x\",\"size\":120,"
             "\"fingerprint\":\"0000000000000007\",\"ranges\":[[%u,%u]]}]},",
             of, part, part, begin, begin + 10);
}

/* Makes a FILE, one of them all, that may be refused for a reason of its own. */
static void write_any(struct memory_file *file, size_t index, bool shares, unsigned kind)
{
    char share[500] = "";
    if (shares)
        share_text(share, sizeof share, 1 + (unsigned)index, FILES, 10 * (unsigned)index);
    switch (kind) {
    case 0:
        strcpy(file->name, "/no/such/file");
        break;
    case 1:
        write_letters(file, 1, share);
        made_file_add_text(file, "{\"schema", 8);
        break;
    case 2:
        made_file_add_text(file, "a-z\t4\n", 6);
        break;
    case 3:
        write_letters(file, 1ULL << 63, share);
        break;
    case 4:
        write_letters(file, UINT64_MAX, share);
        made_file_add_text(file, "x", 1);
        break;
    case 5:
        share_text(share, sizeof share, 1 + (unsigned)index, FILES + 1, 10 * (unsigned)index);
        write_letters(file, 1, share);
        break;
    case 6: /* overlaps the one before it */
        share_text(share, sizeof share, 1 + (unsigned)index, FILES, 10 * (unsigned)index - 5);
        write_letters(file, 1, share);
        break;
    case 7: /* is there twice */
        share_text(share, sizeof share, (unsigned)index, FILES, 10 * (unsigned)index);
        write_letters(file, 1, share);
        break;
    case 8:
        made_file_add_text(file, "\x1f\x8b", 2);
        break;
    default:
        write_letters(file, index, share);
        break;
    }
}

/* FILEs of which some may be refused. The proof is part of the verdict. */
static void check_refusals(unsigned round)
{
    static const unsigned threads[] = {1, 2, 5, 5, 5};
    struct memory_file files[FILES];
    char *names[FILES];
    struct reason reasons[5];
    int verdicts[5];
    const bool shares = round % 2;
    for (size_t i = 0; i < FILES; i++) {
        made_file_open(&files[i]);
        write_any(&files[i], i, shares, i > 0 && random_below(3) == 0 ? random_below(10) : 9);
        names[i] = files[i].name;
    }
    for (size_t i = 0; i < 5; i++) {
        struct share_record record = {.of = 0};
        struct merge merge;
        verdicts[i] = merge_named(names, FILES, threads[i], &merge, &reasons[i]);
        if (verdicts[i] == 0 && merge.shares.first)
            verdicts[i] = share_join_finish(&merge.shares, false, &record, &reasons[i]);
        check_that((verdicts[i] == 0) == !reasons[i].text[0], "a verdict", reasons[i].text);
        check_that(verdicts[i] == verdicts[0] && strcmp(reasons[i].text, reasons[0].text) == 0,
                   reasons[0].text, reasons[i].text);
        share_free(&record);
        merge_free(&merge);
    }
    for (size_t i = 0; i < FILES; i++)
        close(files[i].fd);
}

/* One FILE with a fault of its own; the reason is the one that is expected. */
static void check_reasons(void)
{
    static const char *const expected[] = {
        "/no/such/file: No such file or directory",
        ": the table is cut short",
        ": not a table in JSON; make one with 'gpuhisto ... -F json'",
        ": the total goes beyond 2^64",
        ": the total goes beyond 2^64",
        ": is a share of 13, and ",
        ": bytes from ",
        " is in ",
        ": is compressed; decompress it first, with 'gzip -d'",
    };
    for (unsigned kind = 0; kind < sizeof expected / sizeof expected[0]; kind++)
        for (unsigned threads = 1; threads <= 5; threads += 2) {
            struct memory_file files[FILES];
            char *names[FILES];
            struct share_record record = {.of = 0};
            struct merge merge;
            struct reason why;
            for (size_t i = 0; i < FILES; i++) {
                made_file_open(&files[i]);
                write_any(&files[i], i, true,
                          i == 7 || (kind == 3 && i == 4) ? kind : 9); /* 2^63 twice */
                names[i] = files[i].name;
            }
            int rc = merge_named(names, FILES, threads, &merge, &why);
            if (rc == 0)
                rc = share_join_finish(&merge.shares, false, &record, &why);
            check_that(rc != 0 && strstr(why.text, expected[kind]), expected[kind], why.text);
            check_that(strncmp(why.text, names[7], strlen(names[7])) == 0, names[7], why.text);
            share_free(&record);
            merge_free(&merge);
            for (size_t i = 0; i < FILES; i++)
                close(files[i].fd);
        }
}

int main(void)
{
    if (!table_json_is_built()) {
        puts("skipped: this build does not read JSON");
        return 77;
    }
    const unsigned rounds = scale_is_slow() ? 50 : scale_of(200, 2000, 2000);
    for (size_t i = 0; i < MADE_LAYOUTS; i++)
        check_layout(made_layouts[i]);
    for (unsigned round = 0; round < rounds; round++)
        check_refusals(round);
    check_reasons();
    printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong != 0;
}
