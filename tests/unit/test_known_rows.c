/* SPDX-License-Identifier: MIT */
/* Rows that are known against the library's reading of them: tables of every kind, also damaged
 * ones, and texts by hand. */
#include "src/merge/table_json.h"
#include "tests/helpers/made_tables.h"
#include "tests/helpers/random.h"
#include "tests/helpers/read_json.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long cases, wrong;

static void check_that(bool holds, const char *what, const char *detail)
{
    cases++;
    if (!holds && wrong++ < 20)
        printf("%s: %s\n", what, detail);
}

/* Tables that follow each other, and may be damaged. */
static void check_known(const char *const *words)
{
    struct memory_file file;
    struct words options;
    struct histogram histogram;
    struct tally tally;
    size_t len, known;
    bool right;
    made_lay(words, &options, &histogram);
    if (tally_open(&tally, &histogram) != 0)
        abort();
    const bool is_large = histogram.bins > 10000;
    made_file_open(&file);
    for (unsigned i = 0; i < 3; i++) {
        made_fill_tally(&tally, &histogram, i == 1 && is_large ? 300 : 1);
        made_write_table(&file, &histogram, &options, &tally);
    }
    char *text = made_file_text(&file, &len);
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
    check_known_texts();
    for (size_t i = 0; i < MADE_LAYOUTS; i++)
        check_known(made_layouts[i]);
    printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong != 0;
}
