/* SPDX-License-Identifier: MIT */
/* The way of a compressed file through a GPU, under the engine's lock.
 *
 * Compressed bytes come in pinned memory, inputs, that is small beside a batch. The host walks only
 * the headers of frames and blocks of each input. The blocks go to the batch that is planned, and
 * their bytes to the device at once, so a batch is there when it is launched. */
#include "decoder_internal.h"

#include <stdlib.h>
#include <string.h>

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
        input = decoder_memory_add_input(decoder);
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

/* Returns whether more of the file is to be planned after an input. */
static enum file_end end_after(const struct decoder_file *file, const struct decoder_input *input,
                               enum decode_planned planned)
{
    const struct chunk *chunk = &input->chunk;
    const bool is_last = chunk->origin.end == ENDS_FILE, is_full = chunk->len == chunk->cap;
    const bool is_stuck =
        planned == DECODE_NEEDS_MORE && input->planned == 0 && (is_last || is_full);
    if (is_last && input->planned >= chunk->len)
        return decode_walk_in_frame(&file->walk) || input->planned > chunk->len
                   ? FILE_REFUSED /* it is cut short */
                   : FILE_WHOLE;
    return planned == DECODE_LEFT || is_stuck ? FILE_REFUSED : FILE_GOES_ON;
}

/* Plans the bytes of an input, and copies them. False: it must wait for a batch. */
static bool plan_input(struct gpu_decoder *decoder, struct decoder_input *input)
{
    struct decoder_file *file = &decoder->file;
    const struct chunk *chunk = &input->chunk;
    enum decode_planned planned;
    do {
        if (!decoder_queue_open_batch(decoder, &chunk->origin))
            return false;
        struct decode_plan *plan = &decoder->planned->work.plan;
        const size_t done = input->planned < chunk->len ? (size_t)input->planned : chunk->len;
        planned = decode_walk_plan(&file->walk, plan, chunk->data + done, chunk->len - done,
                                   chunk->origin.end == ENDS_FILE);
        input->planned += plan->taken;
        file->need = plan->need;
        if (planned == DECODE_PLANNED) {
            const struct device_work work = {.kind = WORK_COPY_BLOCKS,
                                             .slot = decoder->planned->slot.index,
                                             .copy = (unsigned)(input - decoder->memory.input),
                                             .blocks = {.at = plan->in_at,
                                                        .bytes = chunk->data + done,
                                                        .len = plan->in_size - plan->in_at}};
            gpu_post(decoder->gpu, &work);
        } else if (planned == DECODE_FULL && !decoder_queue_launch(decoder)) {
            return false;
        }
    } while (planned == DECODE_PLANNED || planned == DECODE_FULL);
    file->end = end_after(file, input, planned);
    return true;
}

/* Plans a chunk of the file from byte `offset` on. That is copied, and decoded when it is due.
 * False: no batch is free, and it must be called again. */
static bool take_input(struct gpu_decoder *decoder, struct decoder_input *input, uint64_t offset)
{
    const struct decoder_file *file = &decoder->file;
    const bool is_next = offset + input->planned == file->walk.at;
    /* Otherwise it has gone back meanwhile. */
    if (file->end == FILE_GOES_ON && is_next && !plan_input(decoder, input))
        return false;
    input->state = INPUT_COPYING;
    decoder_queue_launch_due(decoder);
    return true;
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

/* A batch is not recounted, but decoded again, so content that was fetched in part is of no use. */
static void drop_fetched(struct gpu_engine *gpu)
{
    for (struct slot *slot = gpu->slots.oldest; slot; slot = slot->next) {
        if (!gpu_is_batch(gpu, slot))
            continue;
        free(slot->chunk.data);
        slot->chunk.data = NULL;
    }
}

static void close_decoder(struct gpu_engine *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    decoder_memory_close(gpu->decoder);
    pthread_mutex_unlock(&gpu->lock);
    free(gpu->decoder->file.tail.bytes);
    free(gpu->decoder);
}

static const struct gpu_extension extension = {
    .fetch = fetch_batch,
    .release = release_batch,
    .drop = drop_fetched,
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
    return decoder_memory_open(gpu->decoder, size) ? gpu->decoder : NULL;
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
    const bool is_small = start->size > 0 && start->size <= DECODER_SMALL_FILE;
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
    while (!gpu->is_lost && !take_input(decoder, input, offset))
        wait_a_moment(gpu); /* for a batch */
    /* At the end of a file of gzip it waits until it is known whether some of it must come again.
     */
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

/* Takes back what was counted of the file, as if it had not been begun. */
static void take_back(struct gpu_engine *gpu)
{
    snapshots_go_back(&gpu->snapshots);
    error_locator_forget(gpu->engine.locator, gpu->decoder->file.start.number);
    gpu_post(gpu, &(struct device_work){.kind = WORK_SAVE, .goes_back = true});
}

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
    if (rest->is_refused) {
        take_back(gpu);
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
