/* SPDX-License-Identifier: MIT */
/* What messages show of the user's text: one printable line of bounded length, whatever the text.
 */
#include "src/base/error.h"
#include "tests/helpers/random.h"
#include "tests/helpers/vectors.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned cases, failures;

static void known_texts(void)
{
    while (vectors_next("escapes")) {
        const char *hex = vector_text("bytes"), *wanted = vector_text("shown");
        const size_t size = strtoul(vector_text("size"), NULL, 10);
        char text[64], shown[64];
        size_t len = 0;
        for (; hex[2 * len]; len++)
            text[len] = (char)(16 * show_digit(hex[2 * len]) + show_digit(hex[2 * len + 1]));
        memset(shown, '#', sizeof shown);
        const size_t length = show_text(text, len, shown, size);
        cases++;
        if (strcmp(shown, wanted) == 0 && length == strlen(wanted))
            continue;
        printf("FAILED: %s: '%s' instead of '%s'\n", hex, shown, wanted);
        failures++;
    }
}

/* Random bytes: terminated, within the size, printable, and the same as from a larger buffer if
 * they fit. */
static void random_texts(void)
{
    for (unsigned round = 0; round < 100000; round++) {
        char text[40], shown[240], small[240];
        size_t len = random_below(sizeof text), size = 16 + random_below(100);
        for (size_t i = 0; i < len; i++)
            text[i] = random_below(4) ? (char)random_below(256)
                                      : "\xe2\x82\xac\xc3\xf0\x9f\x1b\n"[random_below(8)];
        size_t all = show_text(text, len, shown, sizeof shown);
        memset(small, '#', sizeof small);
        size_t length = show_text(text, len, small, size);
        bool good = length == strlen(small) && length < size && small[size] == '#' &&
                    (all >= size || strcmp(shown, small) == 0);
        for (size_t i = 0; i < length; i++)
            good &= (unsigned char)small[i] >= ' ' && small[i] != 0x7f;
        cases++;
        failures += !good;
    }
}

static void errors(void)
{
    static char name[5000];
    memset(name, 'n', sizeof name - 1);
    struct error error;
    error_of(&error, name, "No such file or directory, %d", 7);
    cases++;
    failures +=
        !strstr(error.text, "nnn...nnn") || !strstr(error.text, ": No such file or directory, 7");
    error_of_option(&error, "--min", name, "must be a number");
    cases++;
    failures +=
        strncmp(error.text, "--min=nnn", 9) != 0 || !strstr(error.text, "n: must be a number");
}

int main(void)
{
    known_texts();
    random_texts();
    errors();
    printf("%u cases, %u failed\n", cases, failures);
    return failures != 0;
}
