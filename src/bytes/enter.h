/* SPDX-License-Identifier: MIT */
/* Where in a FILE counting begins, and where it ends. */
#ifndef GPUHISTO_ENTER_H
#define GPUHISTO_ENTER_H

#include "input.h"

/* Goes to the first byte of the FILE that is counted, after its header if there is one and the
 * options ask for that, and limits what may be taken. A stream is read up to there, and what was
 * read of the range waits in `units`. In what is compressed nothing is done yet, as only decoding
 * finds these places. 0, or -1 with the reason set. */
int enter_range(struct input *input, const struct content_options *options, struct reason *why);

/* Reads the header of a FILE that is not compressed. What was read waits in `units`; of a regular
 * file, nothing was taken. HEADER_NONE, HEADER_FOUND, or HEADER_WRONG with the reason set. */
enum header_status enter_read_header(struct input *input, struct header *header,
                                     struct reason *why);

#endif
