/* SPDX-License-Identifier: MIT */
/* Bars and shares: for counts of every size, up to 2^64 - 1, compared with what their definitions
 * say in wider arithmetic. */
#include "src/report/format.h"
#include "tests/helpers/random.h"
#include "src/report/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned tried, wrong;

__extension__ typedef unsigned __int128 wide;

static void check_that(bool holds, const char *what, uint64_t a, uint64_t b, const char *text)
{
    tried++;
    if (holds)
        return;
    if (wrong++ < 20)
        printf("%s: %" PRIu64 " of %" PRIu64 " gives '%s'\n", what, a, b, text);
}

/* --- shares --- */

static void check_text(uint64_t part, uint64_t total, unsigned digits, const char *expected)
{
    char text[PERCENT_TEXT];
    percent_show(part, total, digits, text);
    check_that(strcmp(text, expected) == 0, "share", part, total, text);
}

/* A share of u units of its last decimal is the nearest one if |2 * total * u - 2000000 * part| <=
 * total. If that holds for two, the greater one is right. */
static void check_percent(uint64_t part, uint64_t total)
{
    char text[PERCENT_TEXT], *end;
    percent_show(part, total, 4, text);
    uint64_t units = strtoull(text, &end, 10) * 10000;
    bool has_form = *end == '.' && strlen(end) == 5;
    units += strtoull(end + 1, &end, 10);
    /* Wide enough: 2^64 * 10^6 * 4. */
    wide twice = (wide)part * 2000000, below = (wide)total * 2 * units;
    bool is_nearest = below + total > twice && (below < total || below - total <= twice);
    check_that(has_form && *end == '\0' && is_nearest, "share", part, total, text);
}

static void check_percents(void)
{
    check_text(0, 0, 2, "0.00");
    check_text(0, 1, 2, "0.00");
    check_text(1, 1, 2, "100.00");
    check_text(1, 3, 2, "33.33");
    check_text(2, 3, 2, "66.67");
    check_text(1, 8, 2, "12.50");
    check_text(1, 20000, 2, "0.01");       /* half way: up */
    check_text(1, 20001, 2, "0.00");       /* just below */
    check_text(19999, 20000, 2, "100.00"); /* half way below 100 */
    check_text(9999, 10000, 4, "99.9900");
    check_text(1, 1, PERCENT_DIGITS_MAX, "100.000000");
    check_text(UINT64_MAX, UINT64_MAX, PERCENT_DIGITS_MAX, "100.000000");
    check_text(UINT64_C(1) << 63, UINT64_MAX, 4, "50.0000");
    check_text(1, UINT64_MAX, 4, "0.0000");
}

/* --- bars --- */

static void check_length(uint64_t count, uint64_t largest, uint64_t max)
{
    char text[32];
    uint64_t length = bar_length(count, largest, max);
    snprintf(text, sizeof text, "%" PRIu64 " of %" PRIu64, length, max);
    wide exact = (wide)count * max * 2, twice = (wide)largest * 2 * length;
    bool is_nearest = twice + largest > exact && (twice < largest || twice - largest <= exact);
    bool is_least = length == 1 && count > 0 && exact < largest;
    check_that((is_nearest || is_least) && length <= max && (length > 0) == (count > 0), "bar",
               count, largest, text);
}

static void check_bar(uint64_t count, size_t capacity, bool utf8, const char *expected)
{
    static struct writer out;
    writer_begin(&out, -1);
    bar_write(&out, count, 16, capacity, utf8);
    writer_char(&out, '\0');
    check_that(strcmp(out.buffer, expected) == 0, "picture", count, 16, out.buffer);
}

static void check_bars(void)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
    for (unsigned count = 0; count <= 8; count++)
        check_bar(2 * count, 1, true, parts[count]);
    check_bar(16, 3, true, "███");
    check_bar(9, 2, true, "█▏");
    check_bar(1, 1, true, "▏");
    check_bar(1, 5, false, "#");
    check_bar(16, 5, false, "#####");
    check_bar(8, 5, false, "###"); /* half way: up */
    check_bar(0, 5, false, "");
    check_bar(0, 5, true, "");
}

/* A number whose size, not only its value, is random. */
static uint64_t random_count(void)
{
    uint64_t bits = random_word();
    return bits >> (random_word() % 64);
}

int main(void)
{
    check_percents();
    check_bars();
    for (unsigned i = 0; i < 200000; i++) {
        uint64_t a = random_count(), b = random_count();
        uint64_t part = a < b ? a : b, total = a < b ? b : a;
        if (total == 0)
            continue;
        check_percent(part, total);
        check_length(part, total, 1 + random_word() % (65535 * BAR_EIGHTHS));
    }
    printf("test_plot: %u cases, %u wrong\n", tried, wrong);
    return wrong > 0;
}
