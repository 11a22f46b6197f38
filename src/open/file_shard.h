/* SPDX-License-Identifier: MIT */
/* What of one file belongs to a shard: from a range of its bytes (shard.h) to the records and
 * compressed frames that begin there. A record belongs to the shard in whose range it begins, and a
 * frame likewise. Where frames have no known ends all of the file, or the rest of it, belongs to
 * the shard in which the first such frame begins. */
#ifndef GPUHISTO_FILE_SHARD_H
#define GPUHISTO_FILE_SHARD_H

#include "src/base/reason.h"

#include <stdbool.h>
#include <stdint.h>

struct codec_options;
struct input;
struct file_shard;
struct span;

/* What lies around the frames of a compressed file that belong to a shard. */
struct shard_edges {
    bool is_first;     /* no content comes before */
    bool goes_on;      /* a record that began before them goes on in them: it is not counted here */
    uint64_t content;  /* bytes of content before them, if it must be known of this file */
    uint64_t first;    /* where in the file they begin, */
    uint64_t next;     /* the frames of the next shard begin, */
    uint64_t file_end; /* and the file ends */
};

/* After a file was opened: compares it with its shard, which gets a fingerprint if one is wanted,
 * and forgets what was added to it since. 0, or -1 with the reason set. */
int file_shard_check(struct input *input, struct file_shard *shard, struct reason *why);

/* Limits the input to what belongs to the shard, once its format and its range are known. 0, or -1
 * with the reason set. */
int file_shard_select(struct input *input, const struct file_shard *shard,
                      const struct codec_options *options, struct reason *why);

/* Completes the last record of the shard, in the head of a span, from the frames of the next shard.
 * 0, or -1 with the reason set. */
int file_shard_complete(const struct input *input, const struct codec_options *options,
                        struct span *seam, struct reason *why);

#endif
