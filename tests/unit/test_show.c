/* SPDX-License-Identifier: MIT */
/* What messages show of the user's text: one printable line of bounded length, whatever the text.
 */
#include "src/base/error.h"
#include "src/cli/cli.h"
#include "tests/helpers/random.h"
#include "tests/helpers/vectors.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* What was written to the pipe that standard error is. */
static void check_written(int from, const char *expected)
{
    char text[4096];
    ssize_t len = read(from, text, sizeof text - 1);
    text[len > 0 ? len : 0] = '\0';
    cases++;
    if (strcmp(text, expected) == 0)
        return;
    failures++;
    printf("FAILED: '%s' instead of '%s'\n", text, expected);
}

/* A message is one line, whatever is in it, and leaves errno alone. The last of the tests: standard
 * error is a pipe afterwards. */
static void messages(void)
{
    int ends[2];
    char longer[5000], text[4096];
    if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0)
        abort();
    errno = EDOM;
    diag("%s: %d", "simple", 1);
    check_written(ends[0], "gpuhisto: simple: 1\n");
    diag("driver says:\n\033[31mno\r\x80 \xc3\xa4");
    check_written(ends[0], "gpuhisto: driver says:\\x0a\\x1b[31mno\\x0d\\x80 \xc3\xa4\n");
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    diag("%s", longer);
    ssize_t len = read(ends[0], text, sizeof text);
    cases += 2;
    failures += len < 1024 || text[len - 1] != '\n' || memchr(text, '\n', (size_t)len - 1);
    failures += errno != EDOM;
}

int main(void)
{
    known_texts();
    random_texts();
    errors();
    messages();
    printf("%u cases, %u failed\n", cases, failures);
    return failures != 0;
}
