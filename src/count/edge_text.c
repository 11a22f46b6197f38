/* SPDX-License-Identifier: MIT */
#include "edge_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_DIGITS 38 /* no more overflow */

bool edge_read_whole(const char *text, whole *value)
{
    const bool negative = *text == '-';
    const char *at = text + negative;
    const size_t count = strspn(at, "0123456789");
    if (count == 0 || count > WHOLE_DIGITS || at[count])
        return false;
    for (*value = 0; *at; at++)
        *value = *value * 10 + (*at - '0');
    *value = negative ? -*value : *value;
    return true;
}

bool edge_read(const char *text, double *value)
{
    char *end;
    if (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0) {
        *value = *text == '-' ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    if (!*text || text[strspn(text, "+-.0123456789eE")])
        return false;
    *value = strtod(text, &end);
    return !*end && isfinite(*value);
}
