/* SPDX-License-Identifier: MIT */
/* What of one file belongs to a shard: from a range of its bytes (shard.h) to the records and
 * frames that begin there. A record belongs to the shard that it begins in, and so does a frame.
 * From the first frame on whose end cannot be found, the whole rest of a file belongs to the shard
 * that this frame begins in. */
#ifndef GPUHISTO_FILE_SHARD_H
#define GPUHISTO_FILE_SHARD_H

#include "src/base/reason.h"

#include <stdbool.h>
#include <stdint.h>

struct codec_options;
struct input;
struct file_shard;
struct span;

/* Where the frames of a compressed file begin and end that belong to a shard. */
struct shard_edges {
    bool is_first;     /* no content comes before */
    bool goes_on;      /* a record that began before them ends in them: it is not counted here */
    uint64_t content;  /* bytes of content before them, if that must be known */
    uint64_t first;    /* where in the file they begin, */
    uint64_t next;     /* the frames of the next shard begin, */
    uint64_t file_end; /* and the file ends */
};

/* Compares a file that was opened with its shard, and sets the fingerprint if it is wanted. What
 * was added to the file since it was measured is ignored. 0, or -1 with the reason set. */
int file_shard_check(struct input *input, struct file_shard *shard, struct reason *why);

/* Limits a file, whose format and range are known, to what belongs to the shard. 0, or -1 with the
 * reason set. */
int file_shard_select(struct input *input, const struct file_shard *shard,
                      const struct codec_options *options, struct reason *why);

/* Completes the last record of the shard, in the head of a span, from the frames of the next shard.
 * 0, or -1 with the reason set. */
int file_shard_complete(struct input *input, const struct codec_options *options, struct span *seam,
                        struct reason *why);

#endif
