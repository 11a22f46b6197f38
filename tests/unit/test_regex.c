/* SPDX-License-Identifier: MIT */
/* The first line that an expression finds in a text, against a match of each line alone: random
 * expressions and lines between pages that fault. Without PCRE2 there is nothing to test. */
#include "src/text/regex.h"
#include "tests/helpers/guarded.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "src/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_SIZE ((size_t)1 << 12)
#define PATTERN_SIZE 256
#define TEXTS 20 /* for each expression */

static unsigned long cases, searched, wrong;

/* Not (?=a), with which PCRE2 10.42 itself misses matches: (?=a)a wants a second a. */
static const char *const atoms[] = {
    "a",
    "b",
    "ab",
    " ",
    "5",
    ".",
    "^",
    "$",
    "\\w",
    "\\W",
    "\\d",
    "\\D",
    "\\s",
    "\\S",
    "\\b",
    "\\B",
    "\\h",
    "\\N",
    "\\t",
    "\\n",
    "\\.",
    "\\x0a",
    "\\x00",
    "\\R",
    "\\v",
    "\\H",
    "\\A",
    "\\z",
    "\\Z",
    "\\Qa\\E",
    "\\1",
    "\\C",
    "[ab]",
    "[^ab]",
    "[\\s5]",
    "[^\\d]",
    "[\\W]",
    "[\\t-b]",
    "[^-a]",
    "[]a]",
    "[^]a]",
    "[-5]",
    "[[:alpha:]]",
    "[[:space:]]",
    "[^[:space:]]",
    "[[:^digit:]]",
    "[^\\w\\n]",
    "[\x01-b]",
    "[a\\-b]",
    "[^\\\\]",
    "\xff",
    "[\x80-\xff]",
    "(?=[ab])",
    "(?!a)",
    "(?=$)",
    "(?<=a)",
    "(?<! )",
    "(?<=^a)",
    "(?i:A)",
    "(?s:.)",
    "(?m:^)",
    "(?-i)",
    "(?#a)",
    "(?>a+)",
    "(?<n>b)",
    "(?|a|b)",
    "(?:a|\\s)",
    "([^5]|a)",
    "(?!.)",
    "(?!\\s)",
    "(?<!\\W)",
    "(*COMMIT)",
};
static const char *const repeats[] = {"*", "+", "?", "{2}", "{0,2}", "*?", "+?", "*+", "++", "?+"};
static const char *const beginnings[] = {"(?i)",  "(?s)",   "(?m)",      "(?x)",
                                         "(*CR)", "(*UTF)", "(*ANYCRLF)"};

#define COUNT(list) ((unsigned)(sizeof(list) / sizeof(list)[0]))

static void draw_pattern(char pattern[PATTERN_SIZE])
{
    char *end = pattern;
    *end = '\0';
    if (random_below(10) == 0)
        end = stpcpy(end, beginnings[random_below(COUNT(beginnings))]);
    for (unsigned count = 1 + random_below(4); count > 0; count--) {
        end = stpcpy(end, atoms[random_below(COUNT(atoms))]);
        if (random_below(3) == 0)
            end = stpcpy(end, repeats[random_below(COUNT(repeats))]);
        if (count > 1 && random_below(6) == 0)
            end = stpcpy(end, "|");
    }
}

static void draw_text(unsigned char *text, size_t len)
{
    static const char bytes[] = "aaabbA 5\t.\n\n\n\\\xff-]\v";
    const unsigned kinds = random_below(2) ? 12 : sizeof bytes; /* with the NUL at its end */
    for (size_t i = 0; i < len; i++)
        text[i] = (unsigned char)bytes[random_below(kinds)];
}

/* Returns the beginning of the first line that the expression matches alone, or NULL; *end is its
 * end. */
static const unsigned char *first_line(const struct regex *regex, struct regex_matcher *matcher,
                                       const unsigned char *text, size_t len,
                                       const unsigned char **end)
{
    const unsigned char *limit = text + len;
    for (const unsigned char *at = text;; at = *end + 1) {
        const unsigned char *newline = memchr(at, '\n', (size_t)(limit - at));
        *end = newline ? newline : limit;
        if (regex_match(regex, matcher, at, (size_t)(*end - at)) == REGEX_FOUND)
            return at;
        if (!newline)
            return NULL;
    }
}

static void check(const char *pattern, const struct regex *regex, struct regex_matcher *matcher,
                  const unsigned char *text, size_t len)
{
    size_t at = 0;
    const unsigned char *end, *begin = first_line(regex, matcher, text, len, &end);
    const enum regex_found found = regex_search_lines(regex, matcher, text, len, &at);
    cases++;
    searched += found == REGEX_FOUND;
    if (found == (begin ? REGEX_FOUND : REGEX_MISSING) &&
        (!begin || (text + at >= begin && text + at <= end)))
        return;
    printf("FAILED: /%s/, text of %zu bytes: found %d at %zu, expected %td to %td\n", pattern, len,
           (int)found, at, begin ? begin - text : -1, begin ? end - text : -1);
    if (++wrong == 20)
        exit(1);
}

static void check_random(unsigned rounds)
{
    unsigned char *memory = guarded_memory(TEXT_SIZE);
    struct regex_matcher matcher = {.data = NULL};
    char pattern[PATTERN_SIZE];
    struct error error;
    for (unsigned round = 0; round < rounds; round++) {
        struct regex *regex = NULL;
        draw_pattern(pattern);
        if (regex_open(&regex, pattern, &error) != 0)
            continue;
        for (unsigned i = 0; i < TEXTS && regex_searches_lines(regex); i++) {
            const size_t len = random_below(random_below(8) == 0 ? TEXT_SIZE : 40);
            unsigned char *text = random_below(2) ? memory : memory + TEXT_SIZE - len;
            draw_text(text, len);
            check(pattern, regex, &matcher, text, len);
        }
        regex_close(regex);
    }
    regex_matcher_close(&matcher);
}

int main(void)
{
    struct regex *regex = NULL;
    struct error error;
    if (regex_open(&regex, "a", &error) == REGEX_WRONG) {
        printf("test_regex: skipped: built without PCRE2\n");
        return 77;
    }
    regex_close(regex);
    check_random(scale_of(20000, 200000, 2000000));
    printf("test_regex: %lu cases, %lu found, %lu wrong\n", cases, searched, wrong);
    return wrong > 0 || searched < cases / 4;
}
