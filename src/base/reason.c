#include "reason.h"

#include <stdarg.h>
#include <stdio.h>

void reason_set(struct reason *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
}
