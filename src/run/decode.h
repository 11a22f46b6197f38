/* SPDX-License-Identifier: MIT */
/* Decodes a batch of frames, within the range that is counted. */
#ifndef GPUHISTO_DECODE_H
#define GPUHISTO_DECODE_H

#include "runner.h"

#define WRONG_ON_GPU "the GPU decompressed it incorrectly; use --device=cpu"

/* What came of decoding. */
enum decoded {
    DECODED_FAILED = -1, /* what source_fail returns */
    DECODED_SOME,        /* the batch goes on */
    DECODED_DRY,         /* it goes on, but there is nothing to read now */
    DECODED_ALL,         /* the batch has ended */
};

/* Decodes on, after what is in the chunk, up to limit. Waits for a stream if the segment is empty
 * or the chunk is worth filling. */
enum decoded decode_chunk(struct extent *extent, struct chunk *chunk, size_t limit);

/* True if the batch is decoded in order, by a worker that has the file to itself. */
static inline bool decode_is_in_order(const struct extent *extent)
{
    return extent->worker->batch.kind != FRAMES_WHOLE;
}

/* True between two frames. */
static inline bool decode_is_complete(const struct extent *extent)
{
    const struct decoder *decoder = extent->worker->decoder;
    return decoder->codec->complete(decoder);
}

#endif
