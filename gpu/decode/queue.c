/* SPDX-License-Identifier: MIT */
/* The batches of a GPU's decoder: their memory; and how they are launched, judged by their verdicts
 * and checksums, counted and freed, oldest first. */
#include "decoder_internal.h"

#include <stdlib.h>
#include <string.h>

/* --- memory --- */

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

/* Sets the pointers to what lies in pinned memory from `at` on, which is all zeros: batches, their
 * arrays, and `fetched`. With NULL there is none. Returns the bytes needed. */
static size_t lay_out(struct decoder_memory *memory, const struct gpu_engine *gpu,
                      unsigned char *at)
{
    const size_t blocks = memory->decoding.capacity.blocks,
                 frames = memory->decoding.capacity.frames;
    struct decoder_batch unused;
    size_t size = 0;
    memory->batch = array(at, &size, memory->decoding.batches, sizeof *memory->batch);
    memory->fetched = array(at, &size, memory->fetch_size, 1);
    for (unsigned i = 0; i < memory->decoding.batches; i++) {
        struct decoder_batch *batch = at ? &memory->batch[i] : &unused;
        struct decode_plan *plan = &batch->work.plan;
        plan->capacity = memory->decoding.capacity;
        plan->block = array(at, &size, blocks, sizeof *plan->block);
        plan->frame = array(at, &size, frames, sizeof *plan->frame);
        plan->frame_end = array(at, &size, frames, sizeof *plan->frame_end);
        batch->work.verdict = array(at, &size, 1, sizeof *batch->work.verdict);
        batch->work.frame_ends = array(at, &size, frames, sizeof *batch->work.frame_ends);
        batch->slot.index = gpu->slots.count + i;
        if (snapshot_is_of_chunk(gpu->spec))
            batch->slot.snapshot = array(at, &size, 1, snapshot_size(gpu->spec));
    }
    return size;
}

/* Returns the bytes that an input should have, or 0: memory is short. All engines together take at
 * most half of the memory that is left, as it is pinned at once. */
static size_t choose_input_size(const struct gpu_decoder *decoder, size_t batches)
{
    const struct decoder_memory *memory = &decoder->memory;
    const struct gpu_options *options = &decoder->gpu->options;
    const uint64_t left = options->memory_left ? options->memory_left() : UINT64_MAX;
    const uint64_t max = left / 2 / options->sharers;
    const size_t others =
        batches + (options->no_check ? 0 : CHECK_THREADS * CHECK_PARTS * memory->fetch_size);
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
    *input = (struct decoder_input){.state = INPUT_FREE};
    if (pinned_open(&input->pinned, memory->input_size, decoder->gpu->thread) != 0)
        return NULL;
    memory->inputs++;
    decoder->gpu->times.decoding.host += memory->input_size;
    return input;
}

/* Takes host memory for the batches that the device has. False: memory is short. */
static bool open_on_host(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    struct decoder_memory *memory = &decoder->memory;
    const size_t part = memory->decoding.capacity.room / PART_OF_ROOM;
    memory->fetch_size = pinned_round(part < PART_MIN   ? PART_MIN
                                      : part > PART_MAX ? PART_MAX
                                                        : part,
                                      PINNED_PAGE);
    const size_t size = lay_out(memory, gpu, NULL);
    memory->input_size = choose_input_size(decoder, size);
    if (memory->input_size == 0 || pinned_open(&memory->pinned, size, gpu->thread) != 0)
        return false;
    lay_out(memory, gpu, memory->pinned.memory);
    gpu->times.decoding.host = size;
    while (!decoder_memory_add_input(decoder)) /* there is little address space */
        if ((memory->input_size /= 2) < INPUT_MIN)
            return false;
    if (!gpu->options.no_check)
        content_check_open(decoder);
    return true;
}

static void close_on_host(struct gpu_decoder *decoder)
{
    struct decoder_memory *memory = &decoder->memory;
    content_check_close(decoder); /* its threads use what follows */
    for (unsigned i = 0; i < memory->inputs; i++)
        pinned_close(&memory->input[i].pinned);
    pinned_close(&memory->pinned);
    memory->inputs = 0;
    decoder->gpu->times.decoding = (struct gpu_memory){0};
}

_Static_assert(sizeof(struct device_decoding) <= DEVICE_CALL_MAX, "it is the argument of a call");

bool decoder_memory_open(struct gpu_decoder *decoder, enum decoder_size size)
{
    struct decoder_memory *memory = &decoder->memory;
    struct device_decoding *decoding = &memory->decoding;
    const struct record_kind kind = record_kind_of_all(decoder->gpu->spec);
    if (memory->size >= size)
        return decoding->batches > 0;
    if (memory->size != DECODER_CLOSED) {
        memory->earlier = memory->pinned;
        memory->pinned = (struct pinned){.mapping = NULL};
    }
    close_on_host(decoder);
    memory->size = size;
    decoder->turn = 0;
    *decoding = decoding_of_size[size];
    decoding->keep_min = (uint32_t)kind.max;
    decoding->lines = kind.type == RECORD_LINES || kind.type == RECORD_CSV;
    decoding->has_tail =
        decoding->lines || kind.type == RECORD_TOKENS || kind.type == RECORD_CHARACTERS;
    const bool is_lost = device_thread_call(decoder->gpu->thread, device_open_decoding, decoding,
                                            sizeof *decoding) != 0;
    if (is_lost)
        gpu_lose_by_call(decoder->gpu);
    if (is_lost || decoding->batches == 0 || !open_on_host(decoder)) {
        close_on_host(decoder);
        decoding->batches = 0;
        return false;
    }
    decoder->gpu->times.decoding.device = decoding->memory;
    decoder->gpu->times.decoding.batch = decoding->capacity.room;
    return true;
}

void decoder_memory_close(struct gpu_decoder *decoder)
{
    close_on_host(decoder);
    pinned_close(&decoder->memory.earlier);
}

/* --- launching --- */

/* The blocks for each batch that is being decoded with which the next one is launched: the more
 * there is to do already, the better it is to wait. */
#define BLOCKS_FOR_EACH 256

/* Batches are launched in turn, so the search begins with the one whose turn is next. */
struct decoder_batch *decoder_queue_oldest(const struct gpu_decoder *decoder, unsigned states)
{
    const struct decoder_memory *memory = &decoder->memory;
    for (unsigned i = 0; i < memory->decoding.batches; i++) {
        struct decoder_batch *batch =
            &memory->batch[(decoder->turn + i) % memory->decoding.batches];
        if (batch->state & states)
            return batch;
    }
    return NULL;
}

bool decoder_queue_open_batch(struct gpu_decoder *decoder, const struct origin *origin)
{
    struct decoder_batch *batch = &decoder->memory.batch[decoder->turn];
    if (decoder->planned)
        return true;
    if (batch->state != BATCH_FREE)
        return false;
    batch->state = BATCH_PLANNED;
    batch->is_dropped = batch->is_corrupt = false;
    batch->left = batch->ending = 0;
    batch->slot.chunk = (struct chunk){.engine = &decoder->gpu->engine, .origin = *origin};
    decode_plan_clear(&batch->work.plan);
    decoder->planned = batch;
    decoder->turn = (decoder->turn + 1) % decoder->memory.decoding.batches;
    return true;
}

void decoder_queue_drop_planned(struct gpu_decoder *decoder)
{
    struct decoder_batch *batch = decoder->planned;
    if (!batch)
        return;
    batch->state = BATCH_FREE;
    decoder->turn = (unsigned)(batch - decoder->memory.batch);
    decoder->planned = NULL;
}

/* A batch leaves content, and the rest of what the next one goes on with, in the memory of that
 * one. */
bool decoder_queue_launch(struct gpu_decoder *decoder)
{
    struct decoder_file *file = &decoder->file;
    struct decoder_batch *batch = decoder->planned;
    if (decoder->memory.batch[decoder->turn].state != BATCH_FREE)
        return false;
    batch->slot.chunk.origin.at.index = file->launched;
    batch->slot.chunk.origin.end = ENDS_NOTHING;
    batch->goes_on = decode_walk_in_frame(&file->walk) && file->walk.parts.header.has_checksum;
    batch->has_hash = false; /* the next one, which is free, has read it */
    batch->state = BATCH_DECODING;
    batch->work.begins = file->launched++ == 0;
    decoder->planned = NULL;
    gpu_post(decoder->gpu, &(struct device_work){.kind = WORK_DECODE,
                                                 .slot = batch->slot.index,
                                                 .batch = &batch->work});
    return true;
}

bool decoder_queue_has_planned(const struct gpu_decoder *decoder)
{
    const struct decoder_batch *batch = decoder->planned;
    return batch && batch->work.plan.in_size > 0 && decoder->file.end != FILE_REFUSED;
}

bool decoder_queue_launch_due(struct gpu_decoder *decoder)
{
    if (!decoder_queue_has_planned(decoder))
        return false;
    const struct decode_plan *plan = &decoder->planned->work.plan;
    unsigned decoding = 0;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++)
        decoding += decoder->memory.batch[i].state == BATCH_DECODING;
    return (plan->is_complete || plan->blocks >= BLOCKS_FOR_EACH * decoding ||
            decoder->file.end != FILE_GOES_ON) &&
           decoder_queue_launch(decoder);
}

/* Of gzip, batches that are not decoded yet may have to be planned again. */
struct compressed_next decoder_queue_next(struct gpu_decoder *decoder)
{
    struct decoder_file *file = &decoder->file;
    uint64_t again = file->walk.at;
    for (unsigned i = 0; file->walk.format == DECODE_GZIP && i < decoder->memory.decoding.batches;
         i++) {
        const struct decoder_batch *batch = &decoder->memory.batch[i];
        const struct decode_plan *plan = &batch->work.plan;
        if (batch->state & (BATCH_PLANNED | BATCH_DECODING) && plan->in_size > 0 &&
            plan->at < again)
            again = plan->at;
    }
    file->goes_back = false;
    return (struct compressed_next){.is_wanted = file->end == FILE_GOES_ON,
                                    .at = file->walk.at,
                                    .need = file->need,
                                    .again = again};
}

/* --- verdicts --- */

void decoder_queue_release(struct decoder_batch *batch)
{
    batch->state = batch->left > 0 ? BATCH_HASHING : BATCH_FREE;
}

/* Plans a batch anew that was too large, and all that follow, which were decoded in vain. The state
 * that the batch goes on from is still in its memory. False: it must be left, or a smaller batch
 * would be refused, too; or it is not worth it, as the cores can begin the file anew. */
static bool go_back(struct gpu_decoder *decoder, struct decoder_batch *refused)
{
    struct decoder_file *file = &decoder->file;
    const uint32_t why = refused->work.verdict->refusal;
    const bool is_pipe = file->start.size == 0;
    if ((why != DECODE_NO_ROOM && (why != DECODE_TOO_MANY || !is_pipe)) ||
        file->walk.format != DECODE_GZIP || file->end == FILE_REFUSED ||
        !gzip_plan_again(&file->walk, &refused->work.plan))
        return false;
    decoder_queue_drop_planned(decoder);
    refused->state = BATCH_FREE;
    file->launched--;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++) {
        struct decoder_batch *batch = &decoder->memory.batch[i];
        if (batch->state != BATCH_DECODING || batch->is_dropped)
            continue;
        batch->is_dropped = true;
        file->launched--;
    }
    decoder->turn = (unsigned)(refused - decoder->memory.batch);
    file->end = FILE_GOES_ON;
    file->goes_back = true;
    return true;
}

/* Looks whether the next verdict has arrived. If it is good, hashing begins. True if it has. */
static bool poll_verdict(struct gpu_decoder *decoder)
{
    struct decoder_file *file = &decoder->file;
    struct decoder_batch *batch = decoder_queue_oldest(decoder, BATCH_DECODING);
    if (!batch || gpu_poll(decoder->gpu, WORK_DECODE, batch->slot.index, false) != 1)
        return false;
    const bool is_good = batch->work.verdict->refused == DECODE_NONE;
    batch->state = batch->is_dropped ? BATCH_FREE : BATCH_DECODED;
    if (batch->is_dropped || (!is_good && go_back(decoder, batch)))
        return true;
    if (!is_good)
        file->end = FILE_REFUSED;
    else if (file->walk.format == DECODE_GZIP)
        gzip_plan_learn(&file->walk, &batch->work.plan, batch->work.verdict->content);
    else if (decoder->check.count > 0 && file->end != FILE_REFUSED)
        content_check_begin(decoder, batch);
    return true;
}

/* --- the content of a file, batch by batch --- */

/* Gets the last bytes of the content up to and with a batch, of which `own` are to be counted: at
 * least as many as a character can be cut off after. Returns how many. */
static size_t last_bytes(const struct decoder_file *file, const struct decode_verdict *verdict,
                         unsigned char bytes[2 * CHARACTER_SIZE_MAX])
{
    const size_t cut = file->tail.len, new = verdict->content < 4 ? verdict->content : 4;
    memcpy(bytes, file->tail.cut, cut);
    for (size_t i = 0; i < new; i++)
        bytes[cut + i] = (unsigned char)(verdict->last >> (32 - 8 * (new - i)));
    return cut + new;
}

/* Returns the bytes at the end of the next batch to be judged that are not counted with it. If they
 * are more than a record can have, the batch must not be counted. */
static uint64_t tail_of(const struct decoder_file *file, const struct decode_verdict *verdict)
{
    const struct record_kind *kind = &file->kind;
    const uint64_t all = (uint64_t)file->tail.len + verdict->content;
    unsigned char last[2 * CHARACTER_SIZE_MAX];
    if (kind->type == RECORD_PAIRS)
        return all > 0;
    if (kind->type == RECORD_CHARACTERS)
        return characters_tail(last, last_bytes(file, verdict, last));
    if (!record_is_text(kind))
        return all % kind->size;
    return verdict->tail >= verdict->content ? all : verdict->tail;
}

/* Sends a good batch to be counted that has such a tail, with the tail of the one before. An empty
 * one has its position at once. The last byte of pairs is counted again, as it is in two of
 * them. */
static void count(struct gpu_decoder *decoder, struct decoder_batch *batch, uint32_t tail)
{
    struct gpu_engine *gpu = decoder->gpu;
    struct decoder_file *file = &decoder->file;
    const struct decode_verdict *verdict = batch->work.verdict;
    struct chunk *chunk = &batch->slot.chunk;
    const size_t own = (size_t)file->tail.len + verdict->content - tail;
    chunk->len = own + (file->kind.type == RECORD_PAIRS && own > 0 ? tail : 0);
    chunk->origin.bytes = own;
    batch->begin = -(int64_t)file->tail.len;
    if (file->kind.type == RECORD_CHARACTERS) {
        unsigned char last[2 * CHARACTER_SIZE_MAX];
        const size_t len = last_bytes(file, verdict, last);
        memcpy(file->tail.cut, last + len - tail, tail);
    }
    file->tail.len = tail;
    file->tail.last = batch;
    file->counted += own;
    if (own == 0) {
        snapshots_add_empty(&gpu->snapshots, chunk, gpu->engine.locator);
        decoder_queue_release(batch);
        return;
    }
    batch->state = BATCH_COUNTING;
    gpu_post(gpu, &(struct device_work){.kind = WORK_COUNT_CONTENT,
                                        .slot = batch->slot.index,
                                        .content = {.begin = batch->begin, .len = chunk->len}});
    gpu_queue_snapshot(gpu, &batch->slot, true);
    gpu_put_in_flight(gpu, &batch->slot);
}

/* Sends the oldest batch to be counted, or drops it, once it is known which. True if it was. */
static bool poll_oldest(struct gpu_decoder *decoder)
{
    struct decoder_file *file = &decoder->file;
    struct decoder_batch *batch = decoder_queue_oldest(decoder, BATCH_DECODING | BATCH_DECODED);
    if (!batch || batch->state != BATCH_DECODED)
        return false;
    const uint64_t tail = file->end == FILE_REFUSED ? 0 : tail_of(file, batch->work.verdict);
    if (tail > file->kind.max || (batch->is_corrupt && batch->ending == 0))
        file->end = FILE_REFUSED;
    if (file->end == FILE_REFUSED) {
        decoder_queue_release(batch);
        return true;
    }
    /* An empty batch has its position at once, so the bytes before it must have been counted. */
    if (batch->ending > 0 || (tail == (uint64_t)file->tail.len + batch->work.verdict->content &&
                              decoder_queue_oldest(decoder, BATCH_COUNTING)))
        return false;
    count(decoder, batch, (uint32_t)tail);
    return true;
}

bool decoder_queue_poll(struct gpu_decoder *decoder)
{
    bool moved = false;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++) {
        struct decoder_batch *batch = &decoder->memory.batch[i];
        if (batch->state == BATCH_HASHING && batch->left == 0) {
            batch->state = BATCH_FREE;
            moved = true;
        }
    }
    moved |= poll_verdict(decoder);
    return poll_oldest(decoder) || moved;
}
