/* SPDX-License-Identifier: MIT */
/* Memory of the batches that a device decompresses, and of what goes to them and comes back. */
#include "decompression_internal.h"
#include "snapshot.h"
#include "src/records/records.h"

#include <stdlib.h>

#define KIB ((uint32_t)1 << 10)
#define MIB ((uint32_t)1 << 20)

/* What is wanted of the device. A few thousand blocks of 128 KiB, of several batches, keep a large
 * GPU busy, while one batch is laid, and one or two are hashed and counted. Content that hardly
 * shrinks fills half of a batch. */
static const struct device_decoding decoding_large = {
    .capacity = {.in = 64 * MIB,
                 .blocks = 4096,
                 .frames = 4096,
                 .room = 128 * MIB,
                 .window = ZSTD_WINDOW_MOST},
    .batches = 8,
};

/* The same for FILEs of DECOMPRESSION_SMALL bytes: a batch or a few. */
static const struct device_decoding decoding_small = {
    .capacity = {.in = 8 * MIB,
                 .blocks = 4096,
                 .frames = 4096,
                 .room = 64 * MIB,
                 .window = ZSTD_WINDOW_MOST},
    .batches = 3,
};

/* Bytes of an input: what is copied at a time. A block must fit at least. Large ones are read by
 * several threads. */
#define INPUT_LARGE ((size_t)8 * MIB)
#define INPUT_SMALL ((size_t)1 * MIB)
#define INPUT_LEAST ((size_t)MIB / 4)

/* Bytes of content that are copied back at a time: a part of a batch, */
#define PART_OF_ROOM 128

/* but no fewer, and no more than a core's cache holds a few of. */
#define PART_LEAST ((size_t)32 * KIB)
#define PART_MOST ((size_t)1 * MIB)

/* What a batch has in host memory, one after the other, each on lines of its own. */
struct batch_memory {
    size_t blocks, frames, verdict, frame_ends, snapshot, size;
};

static struct batch_memory memory_of(const struct decompression *decompression)
{
    const struct zstd_capacity *capacity = &decompression->decoding.capacity;
    const struct histogram *histogram = decompression->histogram;
    struct batch_memory memory = {0};
    memory.frames = pinned_round(capacity->blocks * sizeof(struct zstd_block), PINNED_LINE);
    memory.verdict =
        pinned_round(memory.frames + capacity->frames * sizeof(struct zstd_frame), PINNED_LINE);
    memory.frame_ends = pinned_round(memory.verdict + sizeof(struct zstd_verdict), PINNED_LINE);
    memory.snapshot =
        pinned_round(memory.frame_ends + capacity->frames * sizeof(uint32_t), PINNED_LINE);
    memory.size =
        memory.snapshot + (snapshot_is_of_chunk(histogram) ? snapshot_size(histogram) : 0);
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
    if (snapshot_is_of_chunk(decompression->histogram))
        batch->slot.snapshot = (uint64_t *)(void *)(at + memory->snapshot);
    batch->verdict = (struct zstd_verdict *)(void *)(at + memory->verdict);
    batch->frame_ends = (uint32_t *)(void *)(at + memory->frame_ends);
    batch->plan = (struct zstd_plan){
        .capacity = *capacity,
        .block = (struct zstd_block *)(void *)(at + memory->blocks),
        .frame = (struct zstd_frame *)(void *)(at + memory->frames),
        .frame_end = calloc(capacity->frames, sizeof(struct zstd_frame_end)),
    };
}

static size_t part_size(const struct decompression *decompression)
{
    size_t part = decompression->decoding.capacity.room / PART_OF_ROOM;
    part = part < PART_LEAST ? PART_LEAST : part > PART_MOST ? PART_MOST : part;
    return pinned_round(part, PINNED_PAGE);
}

/* Bytes of all batches, and of content that is fetched. */
static size_t batches_size(const struct decompression *decompression)
{
    return decompression->decoding.batches * memory_of(decompression).size +
           part_size(decompression);
}

/* Chooses the size of inputs. Half of the memory that is left may be taken at most, by all engines
 * that share it, as it is touched at once, and pinned: what it is used for can be done without.
 * Whether there is enough. */
static bool fit_host_memory(struct decompression *decompression)
{
    const uint64_t left = decompression->memory_left ? decompression->memory_left() : UINT64_MAX;
    const uint64_t most = left / 2 / (decompression->sharers > 0 ? decompression->sharers : 1);
    const size_t batches =
        batches_size(decompression) +
        (decompression->verifies ? CONTENT_PARTS_MOST * part_size(decompression) : 0);
    size_t size = decompression->is_large ? INPUT_LARGE : INPUT_SMALL;
    while (size > decompression->decoding.capacity.in)
        size /= 2;
    while (size >= INPUT_LEAST && DEVICE_INPUTS * size + batches > most)
        size /= 2;
    decompression->input_size = size;
    return size >= INPUT_LEAST;
}

/* Maps the memory of an input, of which there is one more then. Whether there is so much. */
static bool map_input(struct decompression *decompression)
{
    struct decompression_input *input = &decompression->input[decompression->inputs];
    *input = (struct decompression_input){.index = decompression->inputs};
    if (pinned_open(&input->pinned, decompression->input_size, decompression->calls) != 0)
        return false;
    decompression->inputs++;
    decompression->host_memory += decompression->input_size;
    return true;
}

struct decompression_input *decompression_add_input(struct decompression *decompression)
{
    const unsigned index = decompression->inputs;
    if (index == DEVICE_INPUTS || !map_input(decompression))
        return NULL;
    return &decompression->input[index];
}

/* Maps the batches' memory, and a first input as large as there is address space for. Whether there
 * is enough. */
static bool map_memory(struct decompression *decompression)
{
    const size_t size = batches_size(decompression);
    if (pinned_open(&decompression->pinned, size, decompression->calls) != 0)
        return false;
    decompression->host_memory = size;
    while (!map_input(decompression)) {
        if (decompression->input_size / 2 < INPUT_LEAST)
            return false;
        decompression->input_size /= 2;
    }
    return true;
}

/* Takes host memory for the batches that the device has. Whether there is so much. */
static bool open_memory(struct decompression *decompression, unsigned slots)
{
    const unsigned count = decompression->decoding.batches;
    decompression->batch = calloc(count, sizeof decompression->batch[0]);
    decompression->tail_bytes = malloc(decompression->decoding.keep_least);
    bool done = decompression->batch && decompression->tail_bytes &&
                fit_host_memory(decompression) && map_memory(decompression);
    const struct batch_memory memory = memory_of(decompression);
    for (unsigned i = 0; done && i < count; i++) {
        open_batch(decompression, i, slots, &memory);
        done = decompression->batch[i].plan.frame_end != NULL;
    }
    decompression->fetch_size = part_size(decompression);
    if (done)
        decompression->fetched = decompression->pinned.memory + count * memory.size;
    if (done && decompression->verifies)
        decompression->check = content_check_open(decompression->calls, &decompression->source,
                                                  decompression->fetch_size);
    return done;
}

static void close_memory(struct decompression *decompression, bool is_lost)
{
    if (decompression->check)
        decompression->hash_seconds += content_check_seconds(decompression->check);
    content_check_close(decompression->check, is_lost); /* its threads use what follows */
    decompression->check = NULL;
    for (unsigned i = 0; decompression->batch && i < decompression->decoding.batches; i++)
        free(decompression->batch[i].plan.frame_end);
    for (unsigned i = 0; !is_lost && i < decompression->inputs; i++)
        pinned_close(&decompression->input[i].pinned, decompression->calls);
    if (!is_lost)
        pinned_close(&decompression->pinned, decompression->calls);
    free(decompression->batch);
    free(decompression->tail_bytes);
    decompression->batch = NULL;
    decompression->tail_bytes = NULL;
    decompression->inputs = decompression->turn = 0;
    decompression->host_memory = 0;
}

int decompression_open(struct decompression *decompression, unsigned slots, bool is_large)
{
    struct device_decoding *decoding = &decompression->decoding;
    const size_t size = records_size(decompression->histogram);
    if (decompression->is_open) {
        decompression->earlier = decompression->pinned;
        decompression->pinned = (struct pinned){.mapping = NULL};
    }
    close_memory(decompression, false);
    decompression->is_open = true;
    decompression->is_large = is_large;
    *decoding = is_large ? decoding_large : decoding_small;
    decoding->keep_least = (uint32_t)records_most(size);
    decoding->separators = size == RECORD_TOKENS       ? SEPARATORS_WHITE_SPACE
                           : size == RECORD_LINES      ? SEPARATORS_NEWLINES
                           : size == RECORD_CHARACTERS ? SEPARATORS_CHARACTERS
                                                       : SEPARATORS_NONE;
    if (calls_open_decoding(decompression->calls, decoding) != 0) {
        decoding->batches = 0;
        return -1;
    }
    if (decoding->batches > 0 && !open_memory(decompression, slots)) {
        close_memory(decompression, false);
        decoding->batches = 0;
    }
    return 0;
}

double decompression_hash_seconds(const struct decompression *decompression)
{
    struct content_check *check = decompression->check;
    return decompression->hash_seconds + (check ? content_check_seconds(check) : 0);
}

uint64_t decompression_host_memory(const struct decompression *decompression)
{
    struct content_check *check = decompression->check;
    return decompression->host_memory + (check ? content_check_memory(check) : 0);
}

void decompression_close(struct decompression *decompression, bool is_lost)
{
    close_memory(decompression, is_lost);
    if (!is_lost)
        pinned_close(&decompression->earlier, decompression->calls);
}
