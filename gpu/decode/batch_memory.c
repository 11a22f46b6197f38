/* SPDX-License-Identifier: MIT */
#include "batch_memory.h"

#define ALIGNMENT 256u /* bytes */

/* Arrays, one after the other. */
struct memory {
    unsigned char *at; /* NULL: only sizes are asked for */
    size_t size;
};

static void *array(struct memory *memory, uint64_t count, size_t size)
{
    void *at = memory->at ? memory->at + memory->size : NULL;
    memory->size += (size_t)((count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return at;
}

size_t zstd_own_memory(struct zstd_batch *batch, const struct zstd_capacity *capacity,
                       unsigned char *at)
{
    struct memory memory = {at, 0};
    uint64_t sequences = (uint64_t)capacity->room / ZSTD_MATCH_MIN + 2 * (uint64_t)capacity->blocks;
    void *in = array(&memory, (uint64_t)ZSTD_CARRY + capacity->in + ZSTD_PADDING, 1);
    void *block = array(&memory, capacity->blocks, sizeof *batch->block);
    void *frame = array(&memory, capacity->frames, sizeof *batch->frame);
    void *verdict = array(&memory, 1, sizeof *batch->verdict);
    void *frame_ends = array(&memory, capacity->frames, sizeof *batch->frame_ends);
    void *heading = array(&memory, capacity->blocks, sizeof *batch->heading);
    void *outcome = array(&memory, capacity->blocks, sizeof *batch->outcome);
    void *literals = array(&memory, (uint64_t)capacity->room + ZSTD_PADDING, 1);
    void *sequence = array(&memory, sequences, sizeof *batch->sequences);
    (void)array(&memory, capacity->window, 1);
    void *out = array(&memory, (uint64_t)capacity->room + ZSTD_PADDING, 1);
    if (at) {
        batch->in = in;
        batch->block = block;
        batch->frame = frame;
        batch->verdict = verdict;
        batch->frame_ends = frame_ends;
        batch->heading = heading;
        batch->outcome = outcome;
        batch->literals = literals;
        batch->sequences = sequence;
        batch->out = out;
    }
    return memory.size;
}

size_t zstd_stage_memory(struct zstd_batch *batch, const struct zstd_capacity *capacity,
                         unsigned char *at)
{
    struct memory memory = {at, 0};
    void *links = array(&memory, capacity->room, sizeof *batch->links);
    if (at)
        batch->links = links;
    return memory.size;
}

/* The fewest blocks of content, and of compressed bytes, for which it is worth halving. */
#define FIT_ROOM (8 * ZSTD_BLOCK_CONTENT)
#define FIT_IN (2 * ZSTD_BLOCK_CONTENT)

uint64_t zstd_fit_memory(struct zstd_capacity *capacity, unsigned *batches, uint32_t keep_least,
                         uint64_t most)
{
    for (;;) {
        uint64_t size = *batches * (uint64_t)zstd_own_memory(NULL, capacity, NULL) +
                        zstd_stage_memory(NULL, capacity, NULL);
        if (size <= most)
            return size;
        if (*batches > ZSTD_BATCHES_FEW) {
            --*batches;
            continue;
        }
        capacity->room /= 2;
        if (capacity->in / 2 >= FIT_IN)
            capacity->in /= 2;
        if (capacity->window > capacity->room)
            capacity->window = capacity->room;
        if (capacity->room < FIT_ROOM || capacity->in < FIT_IN || capacity->window < keep_least)
            return 0;
    }
}
