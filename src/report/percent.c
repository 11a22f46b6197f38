/* SPDX-License-Identifier: MIT */
#include "percent.h"

#include <inttypes.h>
#include <stdio.h>

__extension__ typedef unsigned __int128 wide_count;

void percent_show(uint64_t part, uint64_t whole, unsigned digits, char text[PERCENT_TEXT])
{
    wide_count unit = 1; /* of a percent */
    for (unsigned i = 0; i < digits; i++)
        unit *= 10;
    /* Below 2^64 * 10^8 * 2, so nothing overflows. */
    wide_count units = whole ? ((wide_count)part * 100 * unit * 2 + whole) / whole / 2 : 0;
    snprintf(text, PERCENT_TEXT, "%" PRIu64 ".%0*" PRIu64, (uint64_t)(units / unit), (int)digits,
             (uint64_t)(units % unit));
}
