/* SPDX-License-Identifier: MIT */
#include "gpu/engine/gpu_engine_internal.h"
#include "src/input/records.h"

#include <stdlib.h>

#define KIB ((uint32_t)1 << 10)
#define MIB ((uint32_t)1 << 20)

/* The memory that is asked of the device. A few thousand blocks of 128 KiB, of several batches,
 * keep a large GPU busy while one batch is planned, and one or two are hashed and counted. Content
 * that hardly shrinks fills half of a batch. */
static const struct device_decoding decoding_of_size[] = {
    [DECODER_SMALL] = {.capacity = {.in = 8 * MIB,
                                    .blocks = 4096,
                                    .frames = 4096,
                                    .room = 64 * MIB,
                                    .window = ZSTD_WINDOW_MAX},
                       .batches = 3},
    [DECODER_LARGE] = {.capacity = {.in = 64 * MIB,
                                    .blocks = 4096,
                                    .frames = 4096,
                                    .room = 128 * MIB,
                                    .window = ZSTD_WINDOW_MAX},
                       .batches = 8},
};

/* Bytes of an input, which is copied as a whole. A block must fit at least. Several threads read a
 * large one. */
#define INPUT_LARGE ((size_t)8 * MIB)
#define INPUT_SMALL ((size_t)1 * MIB)
#define INPUT_MIN ((size_t)MIB / 4)

/* Content is copied back in parts: this fraction of a batch, but no fewer bytes than PART_MIN,
 * and no more than a core's cache holds a few of. */
#define PART_OF_ROOM 128
#define PART_MIN ((size_t)32 * KIB)
#define PART_MAX ((size_t)1 * MIB)

/* Takes an array, on cache lines of its own, from memory that begins at `at`, after the *size bytes
 * that were taken. NULL if only the size is asked for. */
static void *array(unsigned char *at, size_t *size, size_t count, size_t each)
{
    void *array = at ? at + *size : NULL;
    *size += pinned_round(count * each, PINNED_LINE);
    return array;
}

/* Gives a batch its arrays, in host memory from `at` on. With NULL it gets none. Returns the bytes
 * that they take. */
static size_t lay_out(struct decoder_batch *batch, const struct decode_capacity *capacity,
                      const struct histogram_spec *spec, unsigned char *at)
{
    const size_t blocks = capacity->blocks, frames = capacity->frames;
    struct decode_plan *plan = &batch->plan;
    size_t size = 0;
    *batch = (struct decoder_batch){.plan.capacity = *capacity};
    plan->block = array(at, &size, blocks, sizeof *plan->block);
    plan->frame = array(at, &size, frames, sizeof *plan->frame);
    plan->frame_end = array(at, &size, frames, sizeof *plan->frame_end);
    batch->verdict = array(at, &size, 1, sizeof *batch->verdict);
    batch->frame_ends = array(at, &size, frames, sizeof *batch->frame_ends);
    if (snapshot_is_of_chunk(spec))
        batch->slot.snapshot = array(at, &size, 1, snapshot_size(spec));
    return pinned_round(size, PINNED_PAGE);
}

static size_t part_size(uint32_t room)
{
    size_t part = room / PART_OF_ROOM;
    part = part < PART_MIN ? PART_MIN : part > PART_MAX ? PART_MAX : part;
    return pinned_round(part, PINNED_PAGE);
}

/* Returns the bytes that an input should have, or 0: memory is short. All engines together take at
 * most half of the memory that is left, as it is pinned at once. */
static size_t choose_input_size(const struct gpu_decoder *decoder, size_t batches)
{
    const struct decoder_memory *memory = &decoder->memory;
    const struct gpu_options *options = &decoder->gpu->options;
    const uint64_t max = options->memory_left() / 2 / options->sharers;
    const size_t others =
        batches + (options->no_check ? 0 : CONTENT_PARTS_MAX * memory->fetch_size);
    size_t size = memory->size == DECODER_LARGE ? INPUT_LARGE : INPUT_SMALL;
    while (size > memory->decoding.capacity.in)
        size /= 2;
    while (size >= INPUT_MIN && DEVICE_INPUTS * size + others > max)
        size /= 2;
    return size >= INPUT_MIN ? size : 0;
}

struct decoder_input *decoder_memory_add_input(struct gpu_decoder *decoder)
{
    struct decoder_memory *memory = &decoder->memory;
    struct decoder_input *input = &memory->input[memory->inputs];
    if (memory->inputs == DEVICE_INPUTS)
        return NULL;
    *input = (struct decoder_input){.index = memory->inputs};
    if (pinned_open(&input->pinned, memory->input_size, decoder->gpu->thread) != 0)
        return NULL;
    memory->inputs++;
    memory->host_bytes += memory->input_size;
    return input;
}

/* Adds a first input, as large as there is address space for. 0, or -1: memory is short. */
static int add_first_input(struct gpu_decoder *decoder)
{
    while (!decoder_memory_add_input(decoder)) {
        if (decoder->memory.input_size / 2 < INPUT_MIN)
            return -1;
        decoder->memory.input_size /= 2;
    }
    return 0;
}

/* Takes host memory for the batches that the device has. 0, or -1: memory is short. */
static int open_on_host(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    struct decoder_memory *memory = &decoder->memory;
    const unsigned count = memory->decoding.batches;
    const struct decode_capacity *capacity = &memory->decoding.capacity;
    const size_t each = lay_out(&(struct decoder_batch){0}, capacity, gpu->spec, NULL);
    memory->fetch_size = part_size(capacity->room);
    const size_t size = count * each + memory->fetch_size;
    memory->batch = calloc(count, sizeof memory->batch[0]);
    memory->input_size = choose_input_size(decoder, size);
    if (!memory->batch || memory->input_size == 0 ||
        pinned_open(&memory->pinned, size, gpu->thread) != 0)
        return -1;
    memory->host_bytes = size;
    memory->fetched = memory->pinned.memory + count * each;
    for (unsigned i = 0; i < count; i++) {
        lay_out(&memory->batch[i], capacity, gpu->spec, memory->pinned.memory + i * each);
        memory->batch[i].slot.index = gpu->slots.count + i;
    }
    if (add_first_input(decoder) != 0)
        return -1;
    if (!gpu->options.no_check)
        memory->check = content_check_open(gpu->thread, &decoder->source, memory->fetch_size);
    return 0;
}

static void close_on_host(struct decoder_memory *memory)
{
    memory->hash_seconds += content_check_close(memory->check); /* its threads use what follows */
    memory->check = NULL;
    for (unsigned i = 0; i < memory->inputs; i++)
        pinned_close(&memory->input[i].pinned);
    pinned_close(&memory->pinned);
    free(memory->batch);
    memory->batch = NULL;
    memory->inputs = 0;
    memory->host_bytes = 0;
}

static enum device_separators separators_of(enum record_type type)
{
    switch (type) {
    case RECORD_TOKENS:
        return SEPARATORS_WHITE_SPACE;
    case RECORD_LINES:
    case RECORD_CSV:
        return SEPARATORS_NEWLINES;
    case RECORD_CHARACTERS:
        return SEPARATORS_CHARACTERS;
    default:
        return SEPARATORS_NONE;
    }
}

int decoder_memory_open(struct gpu_decoder *decoder, enum decoder_size size)
{
    struct decoder_memory *memory = &decoder->memory;
    struct device_decoding *decoding = &memory->decoding;
    const struct record_kind kind = record_kind_of_all(decoder->gpu->spec);
    if (memory->size != DECODER_CLOSED) {
        memory->earlier = memory->pinned;
        memory->pinned = (struct pinned){.mapping = NULL};
    }
    close_on_host(memory);
    memory->size = size;
    *decoding = decoding_of_size[size];
    decoding->keep_min = (uint32_t)kind.max;
    decoding->separators = separators_of(kind.type);
    if (device_thread_open_decoding(decoder->gpu->thread, decoding) != 0) {
        decoding->batches = 0;
        return -1;
    }
    if (decoding->batches > 0 && open_on_host(decoder) != 0) {
        close_on_host(memory);
        decoding->batches = 0;
    }
    return 0;
}

void gpu_decoder_add_times(const struct gpu_decoder *decoder, struct gpu_times *times)
{
    const struct decoder_memory *memory = &decoder->memory;
    if (memory->decoding.batches > 0)
        times->decoding = (struct gpu_memory){
            .device = memory->decoding.memory,
            .host = memory->host_bytes + content_check_memory(memory->check),
            .batch = memory->decoding.capacity.room,
        };
    times->copy_seconds += device_thread_copy_seconds(decoder->gpu->thread);
    times->feeding.hashing = memory->hash_seconds + content_check_seconds(memory->check);
}

void gpu_decoder_close(struct gpu_decoder *decoder)
{
    close_on_host(&decoder->memory);
    pinned_close(&decoder->memory.earlier);
    free(decoder->file.tail.bytes);
}
