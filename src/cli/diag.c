/* SPDX-License-Identifier: MIT */
#include "diag.h"
#include "src/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 2048 /* twice an error, so that nothing of one is left out */

void diag(const char *format, ...)
{
    int saved = errno;
    char line[LINE_MAX_BYTES], shown[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* Text of others, such as a driver's, stays on one line and cannot control a terminal. */
    show_text(line, strlen(line), shown, sizeof shown);
    /* Standard error is unbuffered, but glibc still collects one fprintf into one write. */
    fprintf(stderr, "gpuhisto: %s\n", shown);
    errno = saved;
}
