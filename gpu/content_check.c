#include "content_check.h"

#ifdef HAVE_XXHASH

#include "pinned.h"

#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Bytes that are copied and hashed at a time: they stay in a core's cache. */
#define STAGING_SIZE ((size_t)512 << 10)

struct content_check {
    struct device *device;
    struct pinned staging;
    XXH64_state_t state; /* of the frame that goes on */
};

struct content_check *content_check_open(struct device *device)
{
    struct content_check *check = calloc(1, sizeof *check);
    if (!check)
        return NULL;
    check->device = device;
    if (pinned_open(&check->staging, STAGING_SIZE, device) == 0)
        return check;
    free(check);
    return NULL;
}

void content_check_close(struct content_check *check, bool is_lost)
{
    if (!check)
        return;
    if (!is_lost)
        pinned_close(&check->staging, check->device);
    free(check);
}

/* Goes on with bytes [begin, end) of a slot's content. 0, or -1: the device is lost. */
static int hash_content(struct content_check *check, unsigned slot, uint32_t begin, uint32_t end)
{
    while (begin < end) {
        size_t len = end - begin < STAGING_SIZE ? end - begin : STAGING_SIZE;
        if (device_read_content(check->device, slot, begin, len, check->staging.memory) != 0)
            return -1;
        XXH64_update(&check->state, check->staging.memory, len);
        begin += (uint32_t)len;
    }
    return 0;
}

enum content_verdict content_check_batch(struct content_check *check, unsigned slot,
                                         const struct zstd_plan *plan, const uint32_t *frame_ends,
                                         bool goes_on)
{
    uint32_t begin = 0;
    for (uint32_t i = 0; i < plan->frames; begin = frame_ends[i++]) {
        const struct zstd_frame_end *end = &plan->frame_end[i];
        bool begins = plan->frame[i].begins, ends = plan->frame[i].ends;
        if (begins)
            XXH64_reset(&check->state, 0);
        if (!(ends ? end->has_checksum : goes_on))
            continue;
        if (hash_content(check, slot, begin, frame_ends[i]) != 0)
            return CONTENT_LOST;
        if (ends && end->checksum != (uint32_t)XXH64_digest(&check->state))
            return begins ? CONTENT_CORRUPT : CONTENT_WRONG;
    }
    return CONTENT_GOOD;
}

#else

struct content_check *content_check_open(struct device *device)
{
    (void)device;
    return NULL;
}

enum content_verdict content_check_batch(struct content_check *check, unsigned slot,
                                         const struct zstd_plan *plan, const uint32_t *frame_ends,
                                         bool goes_on)
{
    (void)check, (void)slot, (void)plan, (void)frame_ends, (void)goes_on;
    return CONTENT_CORRUPT;
}

void content_check_close(struct content_check *check, bool is_lost)
{
    (void)check, (void)is_lost;
}

#endif
