/* SPDX-License-Identifier: MIT */
/* Bars of characters. */
#ifndef GPUHISTO_BAR_H
#define GPUHISTO_BAR_H

#include "writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BAR_EIGHTHS 8 /* of a character, which the blocks of Unicode show */

/* How long the bar of a count is if that of the largest count, at least as large, is `most` long:
 * to the nearest unit, but at least 1 unless the count is 0. Any `most` up to 2^62. */
uint64_t bar_length(uint64_t count, uint64_t largest, uint64_t most);

/* Writes the bar of a count, where that of the largest is `room` characters long: in UTF-8 by
 * blocks of eighths (U+2588 to U+258F), otherwise by whole '#'. */
void bar_write(struct writer *out, uint64_t count, uint64_t largest, size_t room, bool utf8);

#endif
