/* SPDX-License-Identifier: MIT */
/* Counts pairs of bytes, for --pairs. (count_bytes.h counts single bytes by tables of pairs.) */
#ifndef GPUHISTO_BYTE_PAIRS_H
#define GPUHISTO_BYTE_PAIRS_H

#include "src/tally/paged_counts.h"
#include "src/tally/tally.h"

#include <stdbool.h>
#include <stddef.h>

/* Adds the pairs of data[0..len) to a tally: each byte with the one after it, or, if aligned, bytes
 * 0 and 1, 2 and 3, and so on. Counts go to `paged` unless it is NULL. Any alignment and length;
 * nothing else is read. Any thread. */
void count_byte_pairs(const unsigned char *data, size_t len, bool is_aligned, struct tally *tally,
                      struct paged_counts *paged);

#endif
