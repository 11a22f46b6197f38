/* SPDX-License-Identifier: MIT */
#include "batch_memory.h"

#define ALIGNMENT 256u /* bytes */

/* Takes an array from memory that begins at `at`, after the *size bytes that were taken. NULL if
 * only the size is asked for. */
static void *array(unsigned char *at, size_t *size, uint64_t count, size_t each)
{
    void *array = at ? at + *size : NULL;
    *size += (size_t)((count * each + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return array;
}

/* Units of gzip for each block of zstd that a batch has memory for. Blocks of gzip mostly have a
 * hundred KiB, and so do units; a block may be parsed twice, and a candidate may be no block. */
#define UNITS_FOR_EACH 4u

/* Divides the memory of zstd's sequences between symbols and sequences of gzip. Symbols get most of
 * it, as gzip has fewer sequences: a match of three bytes takes more than one compressed byte, and
 * a batch has one compressed byte for sixteen bytes of room. */
static void share_sequences(struct decode_batch *batch, const struct decode_capacity *capacity)
{
    const uint32_t all = decode_sequences_at(capacity->room, capacity->blocks);
    const uint32_t symbols = capacity->room / (sizeof *batch->sequences / sizeof(uint16_t)) + 2;
    batch->gzip.sequences_max = (all - symbols) & ~1u;
    batch->gzip.symbols = (uint16_t *)(batch->sequences + batch->gzip.sequences_max);
}

static size_t take_gzip(struct gzip_batch *gzip, const struct decode_capacity *capacity,
                        unsigned char *at, size_t size)
{
    gzip->candidates_max =
        2 * capacity->blocks < GZIP_CANDIDATES_MAX ? 2 * capacity->blocks : GZIP_CANDIDATES_MAX;
    gzip->parts_max = gzip->candidates_max + capacity->blocks;
    gzip->units_max = UNITS_FOR_EACH * capacity->blocks;
    gzip->blocks_max = capacity->blocks;
    gzip->frames_max = capacity->frames;
    gzip->literals_max = capacity->room;
    gzip->candidates = array(at, &size, gzip->candidates_max, sizeof *gzip->candidates);
    gzip->parts = array(at, &size, gzip->parts_max, sizeof *gzip->parts);
    gzip->units = array(at, &size, gzip->units_max, sizeof *gzip->units);
    gzip->members = array(at, &size, capacity->frames, sizeof *gzip->members);
    gzip->counters = array(at, &size, 1, sizeof *gzip->counters);
    gzip->segments = array(at, &size, capacity->room / GZIP_SEGMENT + 1, sizeof *gzip->segments);
    return size;
}

size_t decode_own_memory(struct decode_batch *batch, const struct decode_capacity *capacity,
                         unsigned char *at)
{
    const uint64_t blocks = capacity->blocks, room = (uint64_t)capacity->room;
    struct decode_batch unused;
    size_t size = 0;
    if (!at)
        batch = &unused;
    batch->in = array(at, &size, (uint64_t)DECODE_CARRY + capacity->in + DECODE_PADDING, 1);
    batch->block = array(at, &size, blocks, sizeof *batch->block);
    batch->frame = array(at, &size, capacity->frames, sizeof *batch->frame);
    batch->verdict = array(at, &size, 1, sizeof *batch->verdict);
    batch->frame_ends = array(at, &size, capacity->frames, sizeof *batch->frame_ends);
    batch->heading = array(at, &size, blocks, sizeof *batch->heading);
    batch->outcome = array(at, &size, blocks, sizeof *batch->outcome);
    batch->literals = array(at, &size, room + DECODE_PADDING, 1);
    batch->sequences = array(at, &size, decode_sequences_at(capacity->room, capacity->blocks),
                             sizeof *batch->sequences);
    batch->counts = array(at, &size, 1, sizeof *batch->counts);
    size = take_gzip(&batch->gzip, capacity, at, size);
    if (at)
        share_sequences(batch, capacity);
    (void)array(at, &size, capacity->window, 1);
    batch->out = array(at, &size, room + DECODE_PADDING, 1);
    return size;
}

size_t decode_stage_memory(struct decode_batch *batch, const struct decode_capacity *capacity,
                           unsigned char *at)
{
    size_t size = 0;
    void *links = array(at, &size, capacity->room, sizeof *batch->links);
    if (at)
        batch->links = links;
    return size;
}

/* The fewest blocks of content, and of compressed bytes, for which it is worth halving. */
#define FIT_ROOM (8 * DECODE_BLOCK_CONTENT)
#define FIT_IN (2 * DECODE_BLOCK_CONTENT)

uint64_t decode_fit_memory(struct decode_capacity *capacity, unsigned *batches, uint32_t keep_min,
                           uint64_t max)
{
    for (;;) {
        uint64_t size = *batches * (uint64_t)decode_own_memory(NULL, capacity, NULL) +
                        decode_stage_memory(NULL, capacity, NULL);
        if (size <= max)
            return size;
        if (*batches > DECODE_BATCHES_FEW) {
            --*batches;
            continue;
        }
        capacity->room /= 2;
        if (capacity->in / 2 >= FIT_IN)
            capacity->in /= 2;
        if (capacity->window > capacity->room)
            capacity->window = capacity->room;
        if (capacity->room < FIT_ROOM || capacity->in < FIT_IN || capacity->window < keep_min)
            return 0;
    }
}
