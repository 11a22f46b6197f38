/* SPDX-License-Identifier: MIT */
/* The batches of a GPU's decoder: their memory; and how they are launched, judged by their verdicts
 * and checksums, counted and freed, oldest first. */
#include "decoder_internal.h"
#include "src/input/records.h"

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
    batch->decoding = array(at, &size, 1, sizeof *batch->decoding);
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
        memory->check = content_check_open(gpu, memory->fetch_size);
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

_Static_assert(sizeof(struct device_decoding) <= DEVICE_CALL_MAX, "it is the argument of a call");

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
    if (device_thread_call(decoder->gpu->thread, device_open_decoding, decoding,
                           sizeof *decoding) != 0) {
        decoding->batches = 0;
        return -1;
    }
    if (decoding->batches > 0 && open_on_host(decoder) != 0) {
        close_on_host(memory);
        decoding->batches = 0;
    }
    return 0;
}

void decoder_memory_close(struct decoder_memory *memory)
{
    close_on_host(memory);
    pinned_close(&memory->earlier);
}

/* --- the content of a file, batch by batch --- */

/* Gets the last bytes of the content up to and with a batch, of which `own` are to be counted: at
 * least as many as a character can be cut off after. Returns how many. */
static size_t last_bytes(const struct decoder_file *file, const struct decode_verdict *verdict,
                         uint32_t own, unsigned char bytes[2 * CHARACTER_SIZE_MAX])
{
    const size_t cut = file->tail.len, new = own < 4 ? own : 4;
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
    const uint32_t own = verdict->content;
    const uint64_t all = (uint64_t)file->tail.len + own;
    unsigned char last[2 * CHARACTER_SIZE_MAX];
    if (kind->type == RECORD_PAIRS)
        return all > 0;
    if (kind->type == RECORD_CHARACTERS)
        return characters_tail(last, last_bytes(file, verdict, own, last));
    if (!record_is_text(kind))
        return all % kind->size;
    return verdict->tail >= own ? all : verdict->tail;
}

/* Returns the bytes from the tail of the batch before to that of a batch. */
static size_t bytes_between(const struct decoder_file *file, const struct decode_verdict *verdict,
                            uint64_t tail)
{
    return (size_t)file->tail.len + verdict->content - tail;
}

/* Goes on to the end of a good batch that has such a tail. Sets its begin, shared, and its chunk's
 * len and origin.bytes. The last byte of pairs is shared, as it is in two of them. */
static void advance(struct decoder_file *file, struct decoder_batch *batch, uint32_t tail)
{
    const struct decode_verdict *verdict = batch->verdict;
    struct chunk *chunk = &batch->slot.chunk;
    const size_t own = bytes_between(file, verdict, tail);
    batch->shared = file->kind.type == RECORD_PAIRS && own > 0 ? tail : 0;
    batch->begin = -(int64_t)file->tail.len;
    chunk->len = own + batch->shared;
    chunk->origin.bytes = own;
    if (file->kind.type == RECORD_CHARACTERS) {
        unsigned char last[2 * CHARACTER_SIZE_MAX];
        const size_t len = last_bytes(file, verdict, verdict->content, last);
        memcpy(file->tail.cut, last + len - tail, tail);
    }
    file->tail.len = tail;
    file->tail.last = batch;
    file->content += verdict->content;
}

/* --- batches --- */

/* The blocks for each batch that is being decoded with which the next one is launched: the more
 * there is to do already, the better it is to wait. */
#define BLOCKS_FOR_EACH 256

static struct decoder_batch *batch_of(struct slot *slot)
{
    return (struct decoder_batch *)(void *)slot;
}

/* Returns the oldest batch that is in one of the states, or NULL. Batches are launched in turn, so
 * the search begins with the one whose turn is next. */
static struct decoder_batch *oldest_in(const struct gpu_decoder *decoder, unsigned states)
{
    const struct decoder_memory *memory = &decoder->memory;
    for (unsigned i = 0; i < memory->decoding.batches; i++) {
        struct decoder_batch *batch =
            &memory->batch[(decoder->queue.turn + i) % memory->decoding.batches];
        if (batch->state & states)
            return batch;
    }
    return NULL;
}

unsigned decoder_queue_count_in(const struct gpu_decoder *decoder, unsigned states)
{
    unsigned count = 0;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++)
        count += (decoder->memory.batch[i].state & states) != 0;
    return count;
}

/* --- launching --- */

bool decoder_queue_open_batch(struct gpu_decoder *decoder, const struct origin *origin)
{
    struct decoder_queue *queue = &decoder->queue;
    struct decoder_batch *batch = &decoder->memory.batch[queue->turn];
    if (queue->planned)
        return true;
    if (batch->state != BATCH_FREE)
        return false;
    batch->state = BATCH_PLANNED;
    batch->is_dropped = false;
    batch->slot.chunk = (struct chunk){.engine = &decoder->gpu->engine, .origin = *origin};
    batch->plan.format = decoder->file.walk.planner->format;
    decode_plan_clear(&batch->plan);
    queue->planned = batch;
    queue->turn = (queue->turn + 1) % decoder->memory.decoding.batches;
    return true;
}

/* Launches the batch once the next one is free: it leaves content, and the rest of what the next
 * one goes on with, in the memory of that one. */
int decoder_queue_launch(struct gpu_decoder *decoder)
{
    struct decoder_queue *queue = &decoder->queue;
    struct decoder_file *file = &decoder->file;
    struct decoder_batch *batch = queue->planned;
    const struct decode_ahead ahead = file->walk.planner->peek(&file->walk);
    const bool begins = file->launched == 0;
    if (decoder->memory.batch[queue->turn].state != BATCH_FREE)
        return 0;
    batch->slot.chunk.origin.at.index = file->launched;
    batch->slot.chunk.origin.end = ENDS_NOTHING;
    batch->job = (struct content_job){.slot = batch->slot.index,
                                      .plan = &batch->plan,
                                      .frame_ends = batch->frame_ends,
                                      .goes_on = ahead.is_hashed};
    batch->state = BATCH_DECODING;
    file->launched++;
    queue->planned = NULL;
    *batch->decoding =
        (struct device_batch){batch->plan, begins, batch->verdict, batch->frame_ends};
    const struct device_work work = {
        .kind = WORK_DECODE, .slot = batch->slot.index, .batch = batch->decoding};
    return device_thread_post(decoder->gpu->thread, &work) == 0 ? 1 : -1;
}

/* True if there is a batch to be launched, now or later. */
static bool has_planned(const struct gpu_decoder *decoder)
{
    const struct decoder_batch *batch = decoder->queue.planned;
    return batch && batch->plan.in_size > 0 && decoder->file.end != FILE_REFUSED;
}

int decoder_queue_launch_due(struct gpu_decoder *decoder)
{
    if (!has_planned(decoder))
        return 0;
    const unsigned decoding = decoder_queue_count_in(decoder, BATCH_DECODING);
    const struct decode_plan *plan = &decoder->queue.planned->plan;
    bool has_enough = plan->is_complete || plan->blocks >= BLOCKS_FOR_EACH * decoding;
    return has_enough || decoder->file.end != FILE_GOES_ON ? decoder_queue_launch(decoder) : 0;
}

/* --- freeing --- */

/* Releases a batch that is neither decoded nor counted any more. */
static void release(struct gpu_decoder *decoder, struct decoder_batch *batch)
{
    struct content_check *check = decoder->memory.check;
    bool is_hashing = check && !content_check_is_done(check, &batch->job);
    batch->state = is_hashing ? BATCH_HASHING : BATCH_FREE;
}

/* Frees the batches whose content was hashed meanwhile. True if there was one. */
static bool free_hashed(struct gpu_decoder *decoder)
{
    bool freed = false;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++) {
        struct decoder_batch *batch = &decoder->memory.batch[i];
        if (batch->state != BATCH_HASHING)
            continue;
        release(decoder, batch);
        freed |= batch->state == BATCH_FREE;
    }
    return freed;
}

void decoder_queue_count(struct gpu_decoder *decoder, struct slot *slot)
{
    struct decoder_batch *batch = batch_of(slot);
    decoder->file.counted += slot->chunk.len - batch->shared;
    decoder->file.judged++;
    free(slot->chunk.data);
    slot->chunk.data = NULL;
    release(decoder, batch);
}

/* --- verdicts --- */

/* True if a smaller batch may not be refused, and is worth it. */
static bool is_too_large(const struct gpu_decoder *decoder, const struct decoder_batch *refused)
{
    const uint32_t why = refused->verdict->refusal;
    const bool is_pipe = decoder->file.start.size == 0; /* nobody else could go on with it */
    return why == DECODE_NO_ROOM || (why == DECODE_TOO_MANY && is_pipe);
}

/* Plans a batch anew that was too large, and all that follow, which were decoded in vain. The state
 * that the batch goes on from is still in its memory. False: it must be left. */
static bool go_back(struct gpu_decoder *decoder, struct decoder_batch *refused)
{
    struct decoder_file *file = &decoder->file;
    const struct decode_planner *planner = file->walk.planner;
    if (!is_too_large(decoder, refused) || !planner->plan_again || file->end == FILE_REFUSED ||
        !planner->plan_again(&file->walk, &refused->plan))
        return false;
    decoder_queue_drain(decoder);
    refused->state = BATCH_FREE;
    file->launched--;
    for (unsigned i = 0; i < decoder->memory.decoding.batches; i++) {
        struct decoder_batch *batch = &decoder->memory.batch[i];
        if (batch->state != BATCH_DECODING || batch->is_dropped)
            continue;
        batch->is_dropped = true;
        file->launched--;
    }
    decoder->queue.turn = (unsigned)(refused - decoder->memory.batch);
    file->end = FILE_GOES_ON;
    file->goes_back = true;
    return true;
}

/* Goes on with a batch that was decoded. If it is good, hashing begins. */
static void take_verdict(struct gpu_decoder *decoder, struct decoder_batch *batch)
{
    struct decoder_file *file = &decoder->file;
    const struct decode_planner *planner = file->walk.planner;
    const bool is_good = batch->verdict->refused == DECODE_NONE;
    batch->state = batch->is_dropped ? BATCH_FREE : BATCH_DECODED;
    if (batch->is_dropped || (!is_good && go_back(decoder, batch)))
        return;
    if (is_good && planner->learn)
        planner->learn(&file->walk, &batch->plan, batch->verdict->content);
    if (!is_good)
        file->end = FILE_REFUSED;
    else if (decoder->memory.check && file->end != FILE_REFUSED)
        content_check_begin(decoder->memory.check, &batch->job);
}

/* Looks whether the next verdict has arrived. */
static int poll_verdict(struct gpu_decoder *decoder)
{
    struct decoder_batch *batch = oldest_in(decoder, BATCH_DECODING);
    int arrived =
        batch ? device_thread_arrived(decoder->gpu->thread, WORK_DECODE, batch->slot.index) : 0;
    if (arrived != 1)
        return arrived;
    take_verdict(decoder, batch);
    return 1;
}

/* Judges the oldest batch, which has such a tail. From the first that is not good on, nothing is
 * counted. */
static enum content_verdict judge(struct gpu_decoder *decoder, const struct decoder_batch *batch,
                                  uint64_t tail)
{
    struct decoder_file *file = &decoder->file;
    enum content_verdict verdict = CONTENT_GOOD;
    if (file->is_cut_off)
        return CONTENT_CORRUPT;
    if (batch->verdict->refused != DECODE_NONE)
        verdict = CONTENT_CORRUPT;
    else if (tail > file->kind.max)
        verdict = CONTENT_CORRUPT;
    else if (decoder->memory.check)
        verdict = content_check_verdict(decoder->memory.check, &batch->job);
    if (verdict == CONTENT_CORRUPT) {
        file->is_cut_off = true;
        file->end = FILE_REFUSED;
    }
    return verdict;
}

/* Sends a good batch to be counted, unless it is empty. 0 or -1. */
static int count(struct gpu_decoder *decoder, struct decoder_batch *batch, uint32_t tail)
{
    advance(&decoder->file, batch, tail);
    if (batch->slot.chunk.len == 0) {
        decoder->file.judged++;
        release(decoder, batch);
        return 0;
    }
    batch->state = BATCH_COUNTING;
    const struct device_work work = {
        .kind = WORK_COUNT_CONTENT,
        .slot = batch->slot.index,
        .content = {.begin = batch->begin, .len = batch->slot.chunk.len},
    };
    return device_thread_post(decoder->gpu->thread, &work);
}

/* Sends the oldest batch to be counted, or drops it, once it is known which. */
static int poll_oldest(struct gpu_decoder *decoder, struct slot **good)
{
    struct decoder_batch *batch = oldest_in(decoder, BATCH_DECODING | BATCH_DECODED);
    if (!batch || batch->state != BATCH_DECODED)
        return 0;
    const uint64_t tail = tail_of(&decoder->file, batch->verdict);
    switch (judge(decoder, batch, tail)) {
    case CONTENT_LOST:
        return -1;
    case CONTENT_PENDING:
        return 0;
    case CONTENT_CORRUPT:
        release(decoder, batch);
        return 1;
    case CONTENT_GOOD:
        break;
    }
    /* An empty batch has its position at once, so the bytes before it must have been counted. */
    if (bytes_between(&decoder->file, batch->verdict, tail) == 0 &&
        decoder_queue_count_in(decoder, BATCH_COUNTING) > 0)
        return 0;
    if (count(decoder, batch, (uint32_t)tail) != 0)
        return -1;
    *good = &batch->slot;
    return 1;
}

int decoder_queue_poll(struct gpu_decoder *decoder, struct slot **good)
{
    *good = NULL;
    bool freed = free_hashed(decoder);
    int arrived = poll_verdict(decoder);
    int judged = arrived < 0 ? -1 : poll_oldest(decoder, good);
    return judged < 0 ? -1 : freed || arrived || judged;
}

/* --- the state of all --- */

bool decoder_queue_is_hashing(const struct gpu_decoder *decoder)
{
    return decoder_queue_count_in(decoder, BATCH_HASHING | BATCH_DECODED) > 0 &&
           decoder_queue_count_in(decoder, BATCH_DECODING | BATCH_COUNTING) == 0;
}

bool decoder_queue_is_busy(const struct gpu_decoder *decoder)
{
    return has_planned(decoder) ||
           decoder_queue_count_in(decoder, BATCH_DECODING | BATCH_DECODED | BATCH_COUNTING |
                                               BATCH_HASHING) > 0;
}

bool decoder_queue_may_go_back(const struct gpu_decoder *decoder)
{
    return decoder->file.walk.planner->plan_again && decoder->file.end != FILE_REFUSED &&
           (has_planned(decoder) || decoder_queue_count_in(decoder, BATCH_DECODING) > 0);
}

uint64_t decoder_queue_again(const struct gpu_decoder *decoder)
{
    const struct decode_walk *walk = &decoder->file.walk;
    uint64_t again = walk->planner->peek(walk).at;
    for (unsigned i = 0; walk->planner->plan_again && i < decoder->memory.decoding.batches; i++) {
        const struct decoder_batch *batch = &decoder->memory.batch[i];
        const bool is_open = batch->state & (BATCH_PLANNED | BATCH_DECODING);
        if (is_open && batch->plan.in_size > 0 && batch->plan.at < again)
            again = batch->plan.at;
    }
    return again;
}

void decoder_queue_drain(struct gpu_decoder *decoder)
{
    struct decoder_queue *queue = &decoder->queue;
    struct decoder_batch *batch = queue->planned;
    if (!batch)
        return;
    batch->state = BATCH_FREE;
    queue->turn = (unsigned)(batch - decoder->memory.batch);
    queue->planned = NULL;
}
