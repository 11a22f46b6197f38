/* SPDX-License-Identifier: MIT */
/* The part of a compressed FILE that belongs to a share; for part.c. */
#ifndef GPUHISTO_PART_UNITS_H
#define GPUHISTO_PART_UNITS_H

#include "part.h"

/* Limits the input to the units that begin in the share, and finds its edges. 0, or -1 with the
 * reason set. */
int part_enter_units(struct input *input, const struct share_cut *cut,
                     const struct codec_options *options, struct reason *why);

#endif
