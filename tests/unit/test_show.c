/* SPDX-License-Identifier: MIT */
/* What messages show of the user's text: one printable line of bounded length, whatever the text.
 */
#include "src/base/error.h"
#include "tests/helpers/random.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned cases, failures;

static void expect(const char *what, const char *text, size_t len, size_t size, const char *wanted)
{
    char shown[64];
    memset(shown, '#', sizeof shown);
    size_t length = show_text(text, len, shown, size);
    cases++;
    if (strcmp(shown, wanted) == 0 && length == strlen(wanted))
        return;
    printf("FAILED: %s: '%s' instead of '%s'\n", what, shown, wanted);
    failures++;
}

#define EXPECT(what, text, size, wanted) expect(what, text, sizeof text - 1, size, wanted)

static void known_texts(void)
{
    EXPECT("empty", "", 16, "");
    EXPECT("plain", "a name", 16, "a name");
    EXPECT("newline", "no\nsuch", 16, "no\\x0asuch");
    EXPECT("escape", "\x1b[31m", 16, "\\x1b[31m");
    EXPECT("a NUL", "a\0b", 16, "a\\x00b");
    EXPECT("DEL", "\x7f", 16, "\\x7f");
    EXPECT("UTF-8", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 16,
           "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    EXPECT("C1 control",
           "\xc2\x9b"
           "31m",
           16, "\\xc2\\x9b31m");
    EXPECT("Latin-1", "caf\xe9", 16, "caf\\xe9");
    EXPECT("cut character", "\xe2\x82", 16, "\\xe2\\x82");
    EXPECT("overlong", "\xc0\xaf", 16, "\\xc0\\xaf");
    EXPECT("surrogate", "\xed\xa0\x80", 16, "\\xed\\xa0\\x80");
    EXPECT("above U+10FFFF", "\xf4\x90\x80\x80", 20, "\\xf4\\x90\\x80\\x80");
    EXPECT("byte order mark",
           "\xef\xbb\xbf"
           "1",
           16, "\\xef\\xbb\\xbf1");
    EXPECT("spaces that do not break",
           "1\xc2\xa0"
           "2\xe2\x80\xaf"
           "3",
           32, "1\\xc2\\xa02\\xe2\\x80\\xaf3");
    EXPECT("a turn of direction",
           "\xe2\x80\xae"
           "a\xe2\x81\xa6",
           32, "\\xe2\\x80\\xaea\\xe2\\x81\\xa6");
    EXPECT("signs beside those", "\xc2\xa1\xe2\x80\x93\xe2\x81\x9f\xef\xbb\xbe", 16,
           "\xc2\xa1\xe2\x80\x93\xe2\x81\x9f\xef\xbb\xbe");
    EXPECT("just fits", "123456789012345", 16, "123456789012345");
    EXPECT("one too long", "1234567890123456", 16, "123456...123456");
    EXPECT("escapes are not cut", "\n\n\n\n\n\n", 16, "\\x0a...\\x0a");
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
