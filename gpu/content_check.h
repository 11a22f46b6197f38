/* Verifies the checksums of zstd frames whose content is on the device: it is copied back, and
 * hashed here. A frame's checksum is the lower half of the XXH64 of its content, which is one chain
 * from its first byte to its last. */
#ifndef GPUHISTO_CONTENT_CHECK_H
#define GPUHISTO_CONTENT_CHECK_H

#include "device.h"

#include <stdbool.h>
#include <stdint.h>

struct content_check;

enum content_verdict {
    CONTENT_GOOD,
    CONTENT_CORRUPT, /* a frame that begins in the batch does not have its checksum */
    CONTENT_WRONG,   /* one that has begun in a batch before does not */
    CONTENT_LOST,    /* the device is lost */
};

/* Opens one. NULL: memory is short, or this was built without xxHash. */
struct content_check *content_check_open(struct device *device);

/* Verifies a batch of a slot, whose verdict is good: `content` bytes. The batches of a FILE come in
 * order. `goes_on`: its last frame goes on, and has a checksum. */
enum content_verdict content_check_batch(struct content_check *check, unsigned slot,
                                         const struct zstd_plan *plan, const uint32_t *frame_ends,
                                         bool goes_on);

/* Frees it; NULL is fine. Memory that a lost device may write to is left to it. */
void content_check_close(struct content_check *check, bool is_lost);

#endif
