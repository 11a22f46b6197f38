/* SPDX-License-Identifier: MIT */
/* Feeds a GPU with a compressed file, from its beginning (gpu_take) or from a frame on (offload.c).
 * What the GPU leaves is read again; of a stream the frame that is decompressed is kept for that.
 */
#ifndef GPUHISTO_RUN_GPU_H
#define GPUHISTO_RUN_GPU_H

#include "runner.h"
#include "gpu/decoder.h"

/* Returns a GPU that should decompress the rest of the file; NULL: there is none. In turn. */
struct engine *gpu_choose(struct worker *worker, const struct file *file);

/* Has a GPU begin with the file; sets the size and the limit of `start`. False: it cannot. */
bool gpu_begin(struct extent *extent, struct engine *gpu, struct compressed_start start);

/* Feeds the GPU until it wants no more. Sets *rest, whose tail the caller frees: its offset is the
 * end of the file, and nothing is to be skipped, if nothing is left. 0, or -1: the run has failed.
 */
int gpu_feed(struct extent *extent, struct compressed_rest *rest);

/* Makes the file go on with what is left. 0, or -1: the run has failed. */
int gpu_go_back(struct extent *extent, const struct compressed_rest *rest);

#endif
