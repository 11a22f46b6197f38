/* SPDX-License-Identifier: MIT */
/* What is formatted is written whole, or is an error: nothing is cut. */
#include "src/report/writer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FORMATTED_MAX 1000 /* bytes, as writer.h says */

static struct writer writer;
static unsigned tried, wrong;

static void check_that(bool holds, int width, const char *what)
{
    tried++;
    if (holds)
        return;
    wrong++;
    printf("%d bytes: %s\n", width, what);
}

/* Formats so many bytes between two letters. */
static void check_width(int width)
{
    char read_back[FORMATTED_MAX + 10];
    FILE *file = tmpfile();
    if (!file) {
        perror("tmpfile");
        exit(1);
    }
    const bool fits = width <= FORMATTED_MAX;
    writer_begin(&writer, fileno(file));
    writer_char(&writer, 'a');
    writer_format(&writer, "%*s", width, "");
    writer_char(&writer, 'z');
    check_that(writer_flush(&writer) == (fits ? 0 : EOVERFLOW), width, "the error");
    ssize_t len = pread(fileno(file), read_back, sizeof read_back, 0);
    check_that(len == (fits ? width + 2 : 0), width, "what was written");
    check_that(!fits || (len > 1 && read_back[len - 1] == 'z'), width, "the end");
    fclose(file);
}

int main(void)
{
    for (int width = 0; width < 4; width++)
        check_width(width);
    for (int width = FORMATTED_MAX - 3; width < FORMATTED_MAX + 4; width++)
        check_width(width);
    printf("test_writer: %u cases, %u wrong\n", tried, wrong);
    return wrong > 0;
}
