/* SPDX-License-Identifier: MIT */
/* The part of a compressed file that belongs to a shard; for part.c. */
#ifndef GPUHISTO_FILE_SHARD_FRAMES_H
#define GPUHISTO_FILE_SHARD_FRAMES_H

#include "file_shard.h"

/* Limits the input to the frames that begin in the shard, and finds its edges. 0, or -1 with the
 * reason set. */
int file_shard_select_frames(struct input *input, const struct file_shard *shard,
                             const struct codec_options *options, struct reason *why);

#endif
