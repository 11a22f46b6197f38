/* Memory of the batches that a device decompresses. */
#include "decompression.h"
#include "snapshot.h"
#include "src/engine/records.h"

#include <stdlib.h>

#define MIB ((uint32_t)1 << 20)

/* What is wanted for each batch. A few thousand blocks of 128 KiB, of several batches, keep a large
 * GPU busy. */
static const struct device_decoding decoding_wanted = {
    .capacity = {.in = 32 * MIB,
                 .blocks = 4096,
                 .frames = 4096,
                 .room = 128 * MIB,
                 .window = ZSTD_WINDOW_MOST},
    .batches = 6,
};

/* The fewest compressed bytes for which a batch is of use: a block must fit. */
#define IN_LEAST (MIB / 4)

/* What a batch has in host memory, one after the other, each on lines of its own. */
struct batch_memory {
    size_t bytes, blocks, frames, verdict, frame_ends, snapshot, size;
};

static struct batch_memory memory_of(const struct decompression *decompression)
{
    const struct zstd_capacity *capacity = &decompression->decoding.capacity;
    const struct histogram *histogram = decompression->histogram;
    struct batch_memory memory = {0};
    memory.blocks = pinned_round(capacity->in, PINNED_LINE);
    memory.frames =
        pinned_round(memory.blocks + capacity->blocks * sizeof(struct zstd_block), PINNED_LINE);
    memory.verdict =
        pinned_round(memory.frames + capacity->frames * sizeof(struct zstd_frame), PINNED_LINE);
    memory.frame_ends = pinned_round(memory.verdict + sizeof(struct zstd_verdict), PINNED_LINE);
    memory.snapshot =
        pinned_round(memory.frame_ends + capacity->frames * sizeof(uint32_t), PINNED_LINE);
    memory.size = memory.snapshot + (snapshot_each(histogram) ? snapshot_size(histogram) : 0);
    memory.size = pinned_round(memory.size, PINNED_PAGE);
    return memory;
}

static void open_batch(struct decompression *decompression, unsigned index, unsigned slots,
                       const struct batch_memory *memory)
{
    struct decompression_batch *batch = &decompression->batch[index];
    unsigned char *at = decompression->pinned.memory + index * memory->size;
    const struct zstd_capacity *capacity = &decompression->decoding.capacity;
    batch->slot.index = slots + index;
    if (snapshot_each(decompression->histogram))
        batch->slot.snapshot = (uint64_t *)(void *)(at + memory->snapshot);
    batch->bytes = at + memory->bytes;
    batch->verdict = (struct zstd_verdict *)(void *)(at + memory->verdict);
    batch->frame_ends = (uint32_t *)(void *)(at + memory->frame_ends);
    batch->plan = (struct zstd_plan){
        .capacity = *capacity,
        .block = (struct zstd_block *)(void *)(at + memory->blocks),
        .frame = (struct zstd_frame *)(void *)(at + memory->frames),
        .frame_end = calloc(capacity->frames, sizeof(struct zstd_frame_end)),
    };
}

/* Has batches take half as many compressed bytes. Whether that is enough to be of use. */
static bool halve_batches(struct decompression *decompression)
{
    struct zstd_capacity *capacity = &decompression->decoding.capacity;
    if (capacity->in / 2 < IN_LEAST)
        return false;
    capacity->in /= 2;
    return true;
}

/* Makes batches so small that they take half of the memory that is left at most, as they are
 * touched at once, and pinned: what they are used for can be done without. Whether they can be. */
static bool fit_host_memory(struct decompression *decompression)
{
    const uint64_t left = decompression->memory_left ? decompression->memory_left() : UINT64_MAX;
    bool fits = true;
    while (fits && decompression->decoding.batches * memory_of(decompression).size > left / 2)
        fits = halve_batches(decompression);
    return fits;
}

/* Maps as much for the batches as there is address space for. The device may have room for more.
 * Whether there is enough. */
static bool map_batches(struct decompression *decompression)
{
    for (;;) {
        size_t size = decompression->decoding.batches * memory_of(decompression).size;
        if (pinned_open(&decompression->pinned, size, decompression->device) == 0) {
            decompression->host_memory = size;
            return true;
        }
        if (!halve_batches(decompression))
            return false;
    }
}

/* Takes host memory for the batches that the device has. Whether there is so much. */
static bool open_memory(struct decompression *decompression, unsigned slots)
{
    const unsigned count = decompression->decoding.batches;
    decompression->batch = calloc(count, sizeof decompression->batch[0]);
    decompression->tail_bytes = malloc(decompression->decoding.keep_least);
    bool done = decompression->batch && decompression->tail_bytes && map_batches(decompression);
    const struct batch_memory memory = memory_of(decompression);
    for (unsigned i = 0; done && i < count; i++) {
        open_batch(decompression, i, slots, &memory);
        done = decompression->batch[i].plan.frame_end != NULL;
    }
    if (done && decompression->verifies)
        decompression->check = content_check_open(decompression->device);
    return done;
}

static void close_memory(struct decompression *decompression, bool is_lost)
{
    for (unsigned i = 0; decompression->batch && i < decompression->decoding.batches; i++)
        free(decompression->batch[i].plan.frame_end);
    if (!is_lost)
        pinned_close(&decompression->pinned, decompression->device);
    content_check_close(decompression->check, is_lost);
    free(decompression->batch);
    free(decompression->tail_bytes);
}

int decompression_open(struct decompression *decompression, unsigned slots)
{
    struct device_decoding *decoding = &decompression->decoding;
    const size_t size = records_size(decompression->histogram);
    decompression->is_open = true;
    *decoding = decoding_wanted;
    decoding->keep_least = (uint32_t)records_most(size);
    decoding->separators = size == RECORD_TOKENS  ? SEPARATORS_WHITE_SPACE
                           : size == RECORD_LINES ? SEPARATORS_NEWLINES
                                                  : SEPARATORS_NONE;
    if (!fit_host_memory(decompression)) {
        decoding->batches = 0;
        return 0;
    }
    if (device_open_decoding(decompression->device, decoding) != 0)
        return -1;
    if (decoding->batches > 0 && !open_memory(decompression, slots)) {
        close_memory(decompression, false);
        decompression->batch = NULL;
        decompression->tail_bytes = NULL;
        decoding->batches = 0;
    }
    return 0;
}

void decompression_close(struct decompression *decompression, bool is_lost)
{
    close_memory(decompression, is_lost);
}
