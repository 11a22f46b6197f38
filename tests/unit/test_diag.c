/* SPDX-License-Identifier: MIT */
/* A message is one line, whatever is in it, and leaves errno alone. */
#include "src/cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned cases, wrong;

/* What was written to the pipe that standard error is. */
static void check_written(int from, const char *expected)
{
    char text[4096];
    ssize_t len = read(from, text, sizeof text - 1);
    text[len > 0 ? len : 0] = '\0';
    cases++;
    if (strcmp(text, expected) == 0)
        return;
    wrong++;
    printf("FAIL: '%s', expected '%s'\n", text, expected);
}

int main(void)
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
    wrong += len < 1024 || text[len - 1] != '\n' || memchr(text, '\n', (size_t)len - 1);
    wrong += errno != EDOM;
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
