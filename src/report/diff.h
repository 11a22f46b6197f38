/* SPDX-License-Identifier: MIT */
/* Two tables of the same bins, side by side. */
#ifndef GPUHISTO_DIFF_H
#define GPUHISTO_DIFF_H

#include "report.h"

/* Writes for each row both counts, both shares in percent, their difference in percentage points
 * and the ratio of the shares, in the format that the options name: of --header, --nonzero and
 * --all, and of pictures with a bar to the left for a share that fell and to the right for one that
 * rose. `both` is the sum of the two tallies, which all are of the histogram, and have one channel.
 * Errors stay with the writer. */
void diff_write(struct writer *out, const struct report_options *options,
                const struct histogram *histogram, const struct tally *before,
                const struct tally *after, const struct tally *both);

#endif
