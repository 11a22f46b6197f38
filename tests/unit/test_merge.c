/* Tables that are added up: sums of tables made here, in any order, in two steps and on several
 * threads, against plain addition; what is refused, which must not depend on threads; and rows that
 * are known against the library's reading of them, also of tables that were damaged. */
#include "src/cli/options.h"
#include "src/merge/merge_files.h"
#include "src/merge/table_json.h"
#include "src/report/format.h"
#include "src/report/report.h"
#include "tests/helpers/random.h"
#include "tests/helpers/read_json.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define FILES 12
#define LAYOUTS (sizeof layouts / sizeof layouts[0])

static const char *const layouts[][4] = {
    {"--bytes"},
    {"--letters=13"},
    {"--numbers", "--digits=2"},
    {"--numbers", "--log=2:32"},
    {"--numbers", "--edges=-100,0,1.5,200"},
    {"--numbers", "--log=1.5", "--min=1", "--max=500"},
    {"--values=u16be", "--bins=9"},
    {"--values=i8", "--edges=0,40,50,99"},
    {"--values=u16", "--bins=10", "--min=0", "--max=5"},
    {"--values=f32", "--digits=3"},
    {"--values=f64be", "--bins=4000", "--min=-1", "--max=1"},
    {"--values=u64", "--bins=7", "--min=0", "--max=18446744073709551616"},
    {"--values=u8", "--channels=2"},
};

static unsigned long cases, wrong;

static void check_that(bool holds, const char *what, const char *detail)
{
    cases++;
    if (!holds && wrong++ < 20)
        printf("%s: %s\n", what, detail);
}

/* --- FILEs without a name on a disk --- */

struct memory_file {
    int fd;
    char name[32];
};

static void file_open(struct memory_file *file)
{
    file->fd = memfd_create("table", 0);
    if (file->fd < 0)
        abort();
    snprintf(file->name, sizeof file->name, "/proc/self/fd/%d", file->fd);
}

static void file_add_text(struct memory_file *file, const char *text, size_t len)
{
    if (write(file->fd, text, len) != (ssize_t)len)
        abort();
}

static char *file_text(const struct memory_file *file, size_t *len)
{
    *len = (size_t)lseek(file->fd, 0, SEEK_END);
    char *text = malloc(*len + 1);
    if (!text || pread(file->fd, text, *len, 0) != (ssize_t)*len)
        abort();
    text[*len] = '\0';
    return text;
}

/* --- tables --- */

static void lay(const char *const *words, struct words *options, struct histogram *histogram)
{
    struct reason why;
    bool is_coarse;
    *options = (struct words){.list = NULL};
    for (size_t i = 0; i < 4 && words[i]; i++)
        words_format(options, "%s", words[i]);
    if (options_lay(options, histogram, &is_coarse, &why) != 0) {
        printf("%s: %s\n", words[0], why.text);
        abort();
    }
}

/* Whether a table can have counts there: not in a bin that no number can be in. */
static bool can_count(const struct histogram *histogram, size_t row)
{
    struct row_label label = {.next = 0};
    if (!histogram->mode->is_binned || histogram_channels(histogram) > 1)
        return true;
    histogram->mode->label_row(histogram, row, &label);
    return label.kind != ROW_KIND_BIN || strcmp(label.lo, label.hi) != 0 ||
           strcmp(label.lo, "0") == 0;
}

/* Counts of every size in one row of `sparse`. */
static void fill_tally(struct tally *tally, const struct histogram *histogram, unsigned sparse)
{
    const unsigned channels = histogram_channels(histogram);
    const size_t rows = histogram_rows(histogram);
    tally->samples = 0;
    for (size_t row = 0; row < rows; row++) {
        uint64_t count = random_word() >> 16 >> random_below(48);
        if (random_below(sparse) != 0 || !can_count(histogram, row))
            count = 0;
        for (unsigned channel = 0; channel < channels; channel++) /* which are equally long */
            tally->counts[channel * rows + row] = count;
        tally->samples += channels * count;
    }
}

static void write_table(struct memory_file *file, const struct histogram *histogram,
                        const struct words *options, const struct tally *tally)
{
    static struct writer out;
    struct report_options report = {.words = options};
    while (strcmp(format_names[report.format], "json") != 0)
        report.format++;
    writer_begin(&out, file->fd);
    report_write(&out, &report, histogram, tally);
    if (writer_flush(&out) != 0)
        abort();
}

/* --- sums --- */

static int merge_named(char *const *names, size_t count, unsigned threads, struct merge *merge,
                       struct reason *why)
{
    *merge = (struct merge){.lay = options_lay};
    *why = (struct reason){""};
    return merge_files(names, count, threads, 0, merge, why);
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
    file_open(&half);
    int rc = merge_named(names, first, 5, &merge, &why);
    if (rc == 0)
        write_table(&half, histogram, options, &merge.tally);
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
    lay(words, &options, &histogram);
    if (tally_open(&tally, &histogram) != 0 || tally_open(&expected, &histogram) != 0)
        abort();
    for (size_t i = 0; i < FILES; i++) {
        file_open(&files[i]);
        names[i] = files[i].name;
        for (unsigned tables = 1 + random_below(2); tables > 0; tables--) {
            fill_tally(&tally, &histogram, sparsities[random_below(5)]);
            write_table(&files[i], &histogram, &options, &tally);
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
    file_add_text(file, text, (size_t)len);
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
        file_add_text(file, "{\"schema", 8);
        break;
    case 2:
        file_add_text(file, "a-z\t4\n", 6);
        break;
    case 3:
        write_letters(file, 1ULL << 63, share);
        break;
    case 4:
        write_letters(file, UINT64_MAX, share);
        file_add_text(file, "x", 1);
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
        file_add_text(file, "\x1f\x8b", 2);
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
        file_open(&files[i]);
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
        ": is not JSON, as the tables before are",
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
                file_open(&files[i]);
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

/* --- known rows --- */

/* Tables that follow each other, and may be damaged. */
static void check_known(const char *const *words)
{
    struct memory_file file;
    struct words options;
    struct histogram histogram;
    struct tally tally;
    size_t len, known;
    bool right;
    lay(words, &options, &histogram);
    if (tally_open(&tally, &histogram) != 0)
        abort();
    const bool is_large = histogram.bins > 10000;
    file_open(&file);
    for (unsigned i = 0; i < 3; i++) {
        fill_tally(&tally, &histogram, i == 1 && is_large ? 300 : 1);
        write_table(&file, &histogram, &options, &tally);
    }
    char *text = file_text(&file, &len);
    check_that(read_json_agrees(text, len, 0, BINS_MAX, &right, &known) && right, words[0],
               "whole");
    const bool are_known = known_rows_pay(&histogram, UINT64_MAX);
    const size_t bins = histogram.binning.bins;
    check_that(are_known ? bins < 20 || known >= bins / 10 * 9 : known == 0, words[0],
               "known rows");
    check_that(read_json_agrees(text, len, 1 + random_below(700), BINS_MAX, &right, &known) &&
                   right,
               words[0], "in pieces");
    const unsigned few = scale_is_slow() ? 100 : 1000;
    const unsigned damages = is_large ? scale_of(1, 50, 50) : scale_of(few, 20000, 20000);
    char *copy = malloc(len + 1);
    for (unsigned i = 0; i < damages && copy; i++) {
        static const char likely[] = "0123456789{}[],:\" \\-lohicount";
        memcpy(copy, text, len + 1);
        for (unsigned changes = 1 + random_below(2); changes > 0; changes--)
            copy[random_word() % len] = likely[random_below(sizeof likely - 1)];
        check_that(read_json_agrees(copy, len, random_below(2) ? 0 : 1 + random_below(700),
                                    BINS_MAX, &right, &known),
                   words[0], "damaged");
    }
    free(copy);
    free(text);
    close(file.fd);
    tally_close(&tally);
    binning_free(&histogram.binning);
    words_free(&options);
}

/* Texts by hand, after a table of --edges=0,1,2 whose rows are known. */
static void check_known_texts(void)
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
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t piece = 0; piece < 60; piece++) {
            char text[2000], rest[500];
            bool right;
            size_t known;
            snprintf(rest, sizeof rest, texts[0],
                     "\"other\":0,\"below\":0,\"above\":0,\"invalid\":0,\"bins\":[");
            int len = snprintf(text, sizeof text, "%s%s\n%s", begin, rest, begin);
            snprintf(rest, sizeof rest, texts[i],
                     "\"other\":0,\"below\":0,\"above\":0,\"invalid\":0,\"bins\":[");
            len += snprintf(text + len, sizeof text - (size_t)len, "%s", rest);
            check_that(read_json_agrees(text, (size_t)len, piece, BINS_MAX, &right, &known),
                       texts[i], "known rows and the library differ");
            if (i == 0 && piece == 0)
                check_that(right && known == 1, texts[i], "not known");
        }
}

int main(void)
{
    if (!table_json_is_built()) {
        puts("skipped: this build does not read JSON");
        return 77;
    }
    const unsigned rounds = scale_is_slow() ? 50 : scale_of(200, 2000, 2000);
    for (size_t i = 0; i < LAYOUTS; i++)
        check_layout(layouts[i]);
    for (unsigned round = 0; round < rounds; round++)
        check_refusals(round);
    check_reasons();
    check_known_texts();
    for (size_t i = 0; i < LAYOUTS; i++)
        check_known(layouts[i]);
    printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong != 0;
}
