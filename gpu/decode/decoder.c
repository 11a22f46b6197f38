/* SPDX-License-Identifier: MIT */
/* The way of a compressed file through a GPU, under the engine's lock.
 *
 * Compressed bytes come in pinned memory, inputs, that is small beside a batch. The host walks only
 * the headers of frames and blocks of each input. The blocks go to the batch that is planned, and
 * their bytes to the device at once, so a batch is there when it is launched. */
#include "decoder_internal.h"

#include <stdlib.h>
#include <string.h>

/* --- memory --- */

#define KIB ((uint32_t)1 << 10)
#define MIB ((uint32_t)1 << 20)

/* The most bytes of a small file, which does with less memory. */
#define SMALL_FILE ((uint64_t)8 * MIB)

/* The memory that is asked of the device. A few thousand blocks of 128 KiB, of several batches,
 * keep a large GPU busy while one batch is planned, and one or two are hashed and counted. Content
 * that hardly shrinks fills half of a batch. */
static const struct device_decoding decoding_of_size[] = {
    [DECODER_SMALL] = {{8 * MIB, 4096, 4096, 64 * MIB, ZSTD_WINDOW_MAX}, .batches = 3},
    [DECODER_LARGE] = {{64 * MIB, 4096, 4096, 128 * MIB, ZSTD_WINDOW_MAX}, .batches = 8},
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
    const uint64_t max = left / 2 / (options->sharers > 0 ? options->sharers : 1);
    const size_t others =
        batches + (options->no_check ? 0 : CHECK_THREADS * CHECK_PARTS * memory->fetch_size);
    size_t size = memory->size == DECODER_LARGE ? INPUT_LARGE : INPUT_SMALL;
    while (size > memory->decoding.capacity.in)
        size /= 2;
    while (size >= INPUT_MIN && DEVICE_INPUTS * size + others > max)
        size /= 2;
    return size >= INPUT_MIN ? size : 0;
}

/* Takes memory for one more input. NULL: there are as many as there may be, or memory is short. */
static struct decoder_input *add_input(struct gpu_decoder *decoder)
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
    while (!add_input(decoder)) /* there is little address space */
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

/* Takes memory of that size, unless there is, and gives back the memory before. False: it is short,
 * and there are no batches. */
static bool open_memory(struct gpu_decoder *decoder, enum decoder_size size)
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
        gpu_lose(decoder->gpu, device_thread_error(decoder->gpu->thread));
    if (is_lost || decoding->batches == 0 || !open_on_host(decoder)) {
        close_on_host(decoder);
        decoding->batches = 0;
        return false;
    }
    decoder->gpu->times.decoding.device = decoding->memory;
    decoder->gpu->times.decoding.batch = decoding->capacity.room;
    return true;
}

/* --- compressed bytes, on their way in --- */

/* Looks which inputs the device has copied. True if there is one more since the last look. */
static bool poll_inputs(struct gpu_decoder *decoder)
{
    bool has_one = false;
    for (unsigned i = 0; i < decoder->memory.inputs; i++) {
        struct decoder_input *input = &decoder->memory.input[i];
        if (input->state != INPUT_COPYING ||
            gpu_poll(decoder->gpu, WORK_COPY_BLOCKS, i, false) != 1)
            continue;
        input->state = INPUT_FREE;
        has_one = true;
    }
    return has_one;
}

/* True while the device is to copy an input. */
static bool inputs_are_busy(const struct gpu_decoder *decoder)
{
    bool are_busy = false;
    for (unsigned i = 0; i < decoder->memory.inputs; i++)
        are_busy |= decoder->memory.input[i].state == INPUT_COPYING;
    return are_busy;
}

/* Returns memory for the next compressed bytes. NULL: all inputs are in use. */
static struct chunk *acquire_input(struct gpu_decoder *decoder)
{
    struct decoder_memory *memory = &decoder->memory;
    struct decoder_input *input = NULL;
    for (unsigned i = 0; i < memory->inputs && !input; i++)
        if (memory->input[i].state == INPUT_FREE)
            input = &memory->input[i];
    if (!input)
        input = add_input(decoder);
    if (!input)
        return NULL;
    input->state = INPUT_FILLING;
    input->planned = 0;
    input->chunk = (struct chunk){.engine = &decoder->gpu->engine,
                                  .data = input->pinned.memory,
                                  .cap = memory->input_size,
                                  .fill = true};
    return &input->chunk;
}

/* --- content, on its way out --- */

/* The number by which these copies are known to the device's calls. */
#define FETCH_READ 0

/* Copies `len` bytes of a slot's content to `to`, a piece at a time: call it until they are there.
 * Returns 1 then, 0 before, -1 if the device is lost. */
static int fetch(struct gpu_decoder *decoder, const struct slot *slot, int64_t begin, size_t len,
                 unsigned char *to)
{
    struct decoder_memory *memory = &decoder->memory;
    struct decoder_fetch *fetch = &decoder->fetch;
    if (fetch->under_way > 0) {
        const int arrived = gpu_poll(decoder->gpu, WORK_READ_CONTENT, FETCH_READ, true);
        if (arrived != 1)
            return arrived;
        memcpy(to + fetch->done, memory->fetched, fetch->under_way);
        fetch->done += fetch->under_way;
    }
    const size_t left = len - fetch->done;
    fetch->under_way = left < memory->fetch_size ? left : memory->fetch_size;
    if (left == 0) {
        fetch->done = 0;
        return 1;
    }
    const struct device_work work = {
        .kind = WORK_READ_CONTENT,
        .slot = slot->index,
        .copy = FETCH_READ,
        .content = {begin + (int64_t)fetch->done, fetch->under_way, memory->fetched},
    };
    gpu_post(decoder->gpu, &work);
    return 0;
}

static int fetch_batch(struct gpu_engine *gpu, struct slot *slot)
{
    const struct decoder_batch *batch = (struct decoder_batch *)(void *)slot;
    struct chunk *chunk = &slot->chunk;
    const struct gpu_options *options = &gpu->options;
    if (!chunk->data && (!options->memory_left || chunk->len <= options->memory_left() / 2))
        chunk->data = malloc(chunk->len);
    return chunk->data ? fetch(gpu->decoder, slot, batch->begin, chunk->len, chunk->data) : 1;
}

/* True once the tail of a file, all of which was counted, is at its file.tail.bytes. */
static bool has_tail(struct gpu_decoder *decoder)
{
    const struct content_tail *tail = &decoder->file.tail;
    if (tail->len == 0 || decoder->file.end != FILE_WHOLE)
        return true;
    const int64_t begin = (int64_t)tail->last->work.verdict->content - (int64_t)tail->len;
    return fetch(decoder, &tail->last->slot, begin, tail->len, tail->bytes) == 1;
}

/* --- the decoder of an engine --- */

static void release_batch(struct slot *slot)
{
    free(slot->chunk.data);
    slot->chunk.data = NULL;
    decoder_queue_release((struct decoder_batch *)(void *)slot);
}

static void close_decoder(struct gpu_engine *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    close_on_host(gpu->decoder);
    pinned_close(&gpu->decoder->memory.earlier);
    pthread_mutex_unlock(&gpu->lock);
    free(gpu->decoder->file.tail.bytes);
    free(gpu->decoder);
}

static const struct gpu_extension extension = {
    .fetch = fetch_batch,
    .release = release_batch,
    .close = close_decoder,
};

/* Returns the decoder of an engine, with memory of that size. NULL: memory is short, or the device
 * is lost. */
static struct gpu_decoder *attach(struct gpu_engine *gpu, enum decoder_size size)
{
    if (!gpu->decoder) {
        struct gpu_decoder *decoder = calloc(1, sizeof *decoder);
        if (!decoder)
            return NULL;
        decoder->gpu = gpu;
        gpu->decoder = decoder;
        gpu->extension = &extension;
    }
    return open_memory(gpu->decoder, size) ? gpu->decoder : NULL;
}

void gpu_decoder_prepare(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    (void)attach(gpu, DECODER_LARGE);
    gpu_recount(gpu);
    pthread_mutex_unlock(&gpu->lock);
}

/* --- beginning --- */

/* Begins a file. False: memory is short, no GPU decompresses that, or the device is lost. */
static bool begin(struct gpu_decoder *decoder, const struct compressed_start *start)
{
    struct gpu_engine *gpu = decoder->gpu;
    struct decode_walk walk = {.at = start->offset,
                               .leave_checksums =
                                   !gpu->options.no_check && decoder->check.count == 0};
    /* Beyond the limit, which is rounded down to a power of two as libzstd does, and beyond what
     * batches have memory for, windows are left. */
    const uint32_t has = decoder->memory.decoding.capacity.window;
    walk.window_max = ZSTD_WINDOW_MAX;
    while (walk.window_max > start->memlimit)
        walk.window_max /= 2;
    if (walk.window_max > has)
        walk.window_max = has;
    if (!decode_format_of(start->codec, &walk.format))
        return false;
    unsigned char *tail = malloc(decoder->memory.decoding.keep_min);
    if (!tail || snapshots_save(&gpu->snapshots) != 0) {
        free(tail);
        return false;
    }
    decoder->file = (struct decoder_file){.start = *start,
                                          .kind = record_kind_of_all(gpu->spec),
                                          .walk = walk,
                                          .need = 1,
                                          .tail.bytes = tail};
    gpu_post(gpu, &(struct device_work){.kind = WORK_SAVE});
    return !gpu->is_lost;
}

/* Begins a file on a GPU if that is idle. NULL if it cannot. */
static struct gpu_decoder *begin_on(struct gpu_engine *gpu, const struct compressed_start *start)
{
    const struct timespec begun = clock_now();
    const bool is_small = start->size > 0 && start->size <= SMALL_FILE;
    struct gpu_decoder *decoder = NULL;
    enum gpu_loan idle = GPU_IDLE;
    if (!atomic_compare_exchange_strong(&gpu->loan, &idle, GPU_LENT))
        return NULL;
    pthread_mutex_lock(&gpu->lock);
    gpu_drain(gpu);
    if (!gpu->is_lost)
        decoder = attach(gpu, is_small ? DECODER_SMALL : DECODER_LARGE);
    if (decoder && !begin(decoder, start))
        decoder = NULL;
    gpu_recount(gpu);
    if (decoder)
        gpu->times.feeding.startup += clock_seconds_since(&begun);
    else
        atomic_store(&gpu->loan, GPU_NOT_LENT);
    pthread_mutex_unlock(&gpu->lock);
    return decoder;
}

struct gpu_decoder *gpu_decoder_begin(struct engine *gpu, const struct compressed_start *start)
{
    struct engine *engines[GPUS_MAX];
    struct gpu_decoder *decoder = NULL;
    const unsigned count = gpu_group_engines(gpu, true, engines);
    for (unsigned i = 0; i < count && !decoder && !gpu_group_state(gpu).has_failed; i++)
        decoder = begin_on(gpu_of(engines[i]), start);
    return decoder;
}

/* --- waiting --- */

/* Goes on with all that has arrived. Counts come first: one that arrived long ago and was not
 * polled must not make a batch late that has only just been sent. */
static void poll_all(struct gpu_engine *gpu)
{
    struct gpu_decoder *decoder = gpu->decoder;
    bool more = true;
    while (more && !gpu->is_lost) {
        more = gpu_retire(gpu) == 1;
        const bool waits =
            decoder_queue_oldest(decoder, BATCH_DECODING) || inputs_are_busy(decoder);
        bool moved = poll_inputs(decoder);
        moved |= decoder_queue_poll(decoder);
        moved |= decoder_queue_launch_due(decoder);
        more |= gpu_judge_poll(gpu, moved, waits) == 1;
    }
}

/* Waits a moment, and goes on with what has arrived meanwhile. */
static void wait_a_moment(struct gpu_engine *gpu)
{
    const struct gpu_decoder *decoder = gpu->decoder;
    struct gpu_feeding *feeding = &gpu->times.feeding;
    const bool is_hashing = decoder_queue_oldest(decoder, BATCH_HASHING | BATCH_DECODED) &&
                            !decoder_queue_oldest(decoder, BATCH_DECODING | BATCH_COUNTING);
    const struct timespec begin = clock_now();
    gpu_request_snapshot(gpu);
    gpu_pause_unlocked(gpu);
    poll_all(gpu);
    *(is_hashing ? &feeding->checking : &feeding->device) += clock_seconds_since(&begin);
}

/* True while any of the file is being copied, decoded, hashed or counted. */
static bool is_busy(const struct gpu_decoder *decoder)
{
    return inputs_are_busy(decoder) || decoder_queue_has_planned(decoder) ||
           decoder_queue_oldest(decoder, (unsigned)~BATCH_PLANNED);
}

/* --- chunks --- */

struct chunk *gpu_decoder_acquire(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    struct chunk *chunk = NULL;
    pthread_mutex_lock(&gpu->lock);
    poll_all(gpu);
    while (!gpu->is_lost && !(chunk = acquire_input(decoder)))
        wait_a_moment(gpu);
    gpu_recount(gpu);
    decoder->filling = clock_now();
    pthread_mutex_unlock(&gpu->lock);
    return chunk;
}

void gpu_decoder_submit(struct gpu_decoder *decoder, struct chunk *chunk, uint64_t offset,
                        struct compressed_next *next)
{
    struct gpu_engine *gpu = decoder->gpu;
    struct decoder_input *input = (struct decoder_input *)(void *)chunk;
    pthread_mutex_lock(&gpu->lock);
    gpu->times.feeding.reading += clock_seconds_since(&decoder->filling);
    while (!gpu->is_lost && !decoder_queue_take(decoder, input, offset))
        wait_a_moment(gpu); /* for a batch */
    /* At the end of a gzip file it waits until it is known whether some of it must come again. */
    while (!gpu->is_lost && decoder->file.end == FILE_WHOLE &&
           decoder->file.walk.format == DECODE_GZIP &&
           (decoder_queue_has_planned(decoder) || decoder_queue_oldest(decoder, BATCH_DECODING)))
        wait_a_moment(gpu);
    *next = decoder_queue_next(decoder);
    if (gpu_recount(gpu))
        next->is_wanted = false;
    pthread_mutex_unlock(&gpu->lock);
}

int gpu_decoder_poll(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    pthread_mutex_lock(&gpu->lock);
    poll_all(gpu);
    gpu_request_snapshot(gpu); /* for the next time */
    const int rc = gpu_recount(gpu) || decoder->file.goes_back ? -1 : is_busy(decoder);
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

/* --- the end --- */

int gpu_decoder_finish(struct gpu_decoder *decoder, struct compressed_rest *rest)
{
    struct gpu_engine *gpu = decoder->gpu;
    struct decoder_file *file = &decoder->file;
    pthread_mutex_lock(&gpu->lock);
    poll_all(gpu);
    while (!gpu->is_lost && (is_busy(decoder) || !has_tail(decoder)))
        wait_a_moment(gpu);
    decoder_queue_drop_planned(decoder);
    *rest = (struct compressed_rest){.is_refused = gpu_recount(gpu) || file->end != FILE_WHOLE};
    if (rest->is_refused) { /* as if it had not been begun */
        snapshots_go_back(&gpu->snapshots);
        error_locator_forget(gpu->engine.locator, file->start.number);
        gpu_post(gpu, &(struct device_work){.kind = WORK_SAVE, .goes_back = true});
    } else {
        /* The last byte of pairs is the end of a sample that was counted. */
        const uint64_t more = file->kind.type == RECORD_PAIRS ? file->tail.len : 0;
        rest->index = file->launched;
        rest->bytes = file->counted + more;
        rest->tail_len = file->tail.len;
        gpu->snapshots.good.bytes += more;
    }
    if (rest->tail_len > 0)
        rest->tail = file->tail.bytes;
    else
        free(file->tail.bytes);
    file->tail.bytes = NULL;
    atomic_store(&gpu->loan, gpu_recount(gpu) ? GPU_NOT_LENT : GPU_IDLE);
    gpu->times.decompressed += rest->bytes;
    rest->loss = engine_loss(&gpu->engine);
    int rc = gpu->has_failed ? -1 : 0;
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}
