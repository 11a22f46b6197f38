#include "diag.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void diag(const char *format, ...)
{
    int saved = errno;
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* stderr is unbuffered; glibc still collects one fprintf into one write. */
    fprintf(stderr, "gpuhisto: %s\n", line);
    errno = saved;
}
