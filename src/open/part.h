/* SPDX-License-Identifier: MIT */
/* What of one FILE belongs to a share: from the cut of its bytes (share.h) to the records and
 * compressed units that begin there. A record belongs to the share in whose range it begins, and a
 * unit likewise. Where units have no known ends all of the FILE, or the rest of it, belongs to the
 * share in which the first such unit begins. */
#ifndef GPUHISTO_PART_H
#define GPUHISTO_PART_H

#include "src/base/reason.h"

#include <stdbool.h>
#include <stdint.h>

struct codec_options;
struct input;
struct share_cut;
struct span;

/* What lies around the units of a compressed FILE that belong to a share. */
struct part_edges {
    bool is_first;     /* no content comes before */
    bool goes_on;      /* a record that began before them goes on in them: it is not counted here */
    uint64_t content;  /* bytes of content before them, if it must be known of this FILE */
    uint64_t first;    /* where in the FILE they begin, */
    uint64_t next;     /* the units of the next share begin, */
    uint64_t file_end; /* and the FILE ends */
};

/* After a FILE was opened: compares it with its cut, which gets a fingerprint if one is wanted, and
 * forgets what was added to it since. 0, or -1 with the reason set. */
int part_check(struct input *input, struct share_cut *cut, struct reason *why);

/* Limits the input to what belongs to the share, once its format and its range are known. 0, or -1
 * with the reason set. */
int part_enter(struct input *input, const struct share_cut *cut,
               const struct codec_options *options, struct reason *why);

/* Completes the last record of the share, in the head of a span, from the units of the next share.
 * 0, or -1 with the reason set. */
int part_complete(const struct input *input, const struct codec_options *options, struct span *seam,
                  struct reason *why);

#endif
