/* SPDX-License-Identifier: MIT */
/* Decodes a batch of frames, within the range that is counted. */
#ifndef GPUHISTO_DECODE_H
#define GPUHISTO_DECODE_H

#include "segment.h"
#include "src/work/worker.h"

#include <time.h>

#define WRONG_ON_GPU "the GPU decompressed it incorrectly; use --device=cpu"

/* The frame that is being decoded. */
struct current_frame {
    uint64_t offset; /* where in the file it begins, */
    uint64_t made;   /* how many bytes of content it has given, */
    uint64_t stated; /* of those that it states, or FRAME_UNSIZED */
};

/* The batch is in worker->batch, and its decoder is the worker's. */
struct decoding {
    struct worker *worker;
    struct segment segment;
    struct current_frame frame;
    bool in_order;         /* the batch is not FRAMES_WHOLE: the file is this worker's own */
    bool pending;          /* the decoder may give more without being fed */
    bool may_replay;       /* of a pipe, frames are kept from their beginning on (offload.h) */
    uint64_t skip;         /* bytes of content that come again, and were counted */
    struct timespec began; /* when the batch was, if it is decoded in order */
    unsigned waits;        /* see struct extent */
};

/* What came of decoding. */
enum decoded {
    DECODED_SOME, /* the batch goes on */
    DECODED_DRY,  /* it goes on, but there is nothing to read now */
    DECODED_ALL,  /* the batch has ended */
    DECODED_FAILED,
};

/* Decodes on, after what is in the chunk, up to limit. Waits for a stream if the segment is empty
 * or the chunk is worth filling. */
enum decoded decode_chunk(struct decoding *decoding, struct chunk *chunk, size_t limit);

/* True between two frames. */
static inline bool decode_is_complete(const struct decoding *decoding)
{
    const struct decoder *decoder = decoding->worker->decoder;
    return decoder->codec->complete(decoder);
}

#endif
