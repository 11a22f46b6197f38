/* SPDX-License-Identifier: MIT */
/* A tally of decimal digits, counted again in wider bins that its own nest in. */
#ifndef GPUHISTO_MAP_ROWS_H
#define GPUHISTO_MAP_ROWS_H

#include "tally.h"

/* Adds each bin's count to the bin of `coarse` that has its lower edge, and the totals. The fine
 * bins are those of --digits, and each of them lies in one of the coarse ones. Both have the same
 * channels. */
void map_rows(const struct histogram *fine, const struct tally *tally,
              const struct histogram *coarse, struct tally *into);

#endif
