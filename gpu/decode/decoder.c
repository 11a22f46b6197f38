/* SPDX-License-Identifier: MIT */
/* The way of a compressed file through a GPU, under the engine's lock.
 *
 * Compressed bytes come in pinned memory, inputs, that is small beside a batch. The host walks only
 * the headers of frames and blocks of each input. The blocks go to the batch that is planned, and
 * their bytes to the device at once, so a batch is there when it is launched. */
#include "decoder_internal.h"
#include "src/input/records.h"

#include <stdlib.h>
#include <string.h>

/* --- compressed bytes, on their way in --- */

/* Looks which inputs the device has copied. Returns 1 if there is one more since the last look. */
static int inputs_poll(struct gpu_decoder *decoder)
{
    int freed = 0;
    for (unsigned i = 0; i < decoder->memory.inputs; i++) {
        struct decoder_input *input = &decoder->memory.input[i];
        if (input->state != INPUT_COPYING)
            continue;
        int copied = device_thread_arrived(decoder->gpu->thread, WORK_COPY_BLOCKS, i);
        if (copied < 0)
            return -1;
        if (copied == 1) {
            input->state = INPUT_FREE;
            freed = 1;
        }
    }
    return freed;
}

static struct decoder_input *free_input(struct gpu_decoder *decoder)
{
    for (unsigned i = 0; i < decoder->memory.inputs; i++)
        if (decoder->memory.input[i].state == INPUT_FREE)
            return &decoder->memory.input[i];
    return decoder_memory_add_input(decoder);
}

/* Returns memory for the next compressed bytes. NULL: all inputs are in use. */
static struct chunk *inputs_acquire(struct gpu_decoder *decoder)
{
    struct decoder_input *input = free_input(decoder);
    if (!input)
        return NULL;
    input->state = INPUT_FILLING;
    input->planned = 0;
    input->is_copied = false;
    input->chunk = (struct chunk){.engine = &decoder->gpu->engine,
                                  .data = input->pinned.memory,
                                  .cap = decoder->memory.input_size,
                                  .fill = true};
    return &input->chunk;
}

/* True while the device is to copy an input. */
static bool inputs_are_busy(const struct gpu_decoder *decoder)
{
    bool are_busy = false;
    for (unsigned i = 0; i < decoder->memory.inputs; i++)
        are_busy |= decoder->memory.input[i].state == INPUT_COPYING;
    return are_busy;
}

/* Plans the bytes of an input, and copies them. Sets *planned to what ended that. Returns 0 if it
 * must wait for a batch. */
static int plan_input(struct gpu_decoder *decoder, struct decoder_input *input,
                      enum decode_planned *planned)
{
    struct decoder_file *file = &decoder->file;
    const struct chunk *chunk = &input->chunk;
    for (;;) {
        if (!decoder_queue_open_batch(decoder, &chunk->origin))
            return 0;
        struct decoder_batch *batch = decoder->queue.planned;
        struct decode_plan *plan = &batch->plan;
        const size_t done = input->planned < chunk->len ? (size_t)input->planned : chunk->len;
        *planned = file->walk.planner->plan(&file->walk, plan, chunk->data + done,
                                            chunk->len - done, chunk->origin.end == ENDS_FILE);
        input->planned += plan->taken;
        file->need = plan->need;
        if (*planned == DECODE_NEEDS_MORE || *planned == DECODE_LEFT)
            return 1;
        if (*planned == DECODE_PLANNED) {
            input->is_copied = true;
            const struct device_work work = {.kind = WORK_COPY_BLOCKS,
                                             .slot = batch->slot.index,
                                             .copy = input->index,
                                             .blocks = {.at = plan->in_at,
                                                        .bytes = chunk->data + done,
                                                        .len = plan->in_size - plan->in_at}};
            if (device_thread_post(decoder->gpu->thread, &work) != 0)
                return -1;
            continue;
        }
        int launched = decoder_queue_launch(decoder);
        if (launched != 1)
            return launched;
    }
}

/* Returns whether more of the file is to be planned after an input. */
static enum file_end end_after(const struct decoder_file *file, const struct decoder_input *input,
                               enum decode_planned planned)
{
    const struct chunk *chunk = &input->chunk;
    bool is_last = chunk->origin.end == ENDS_FILE, is_full = chunk->len == chunk->cap;
    bool is_end = is_last && input->planned >= chunk->len;
    bool is_cut_short =
        is_end && (file->walk.planner->peek(&file->walk).in_frame || input->planned > chunk->len);
    bool is_stuck = planned == DECODE_NEEDS_MORE && input->planned == 0 && (is_last || is_full);
    if (is_end && !is_cut_short)
        return FILE_WHOLE;
    return planned == DECODE_LEFT || is_cut_short || is_stuck ? FILE_LEFT : FILE_GOES_ON;
}

/* Returns the bytes of the file that come next. */
static struct compressed_next inputs_next(struct gpu_decoder *decoder)
{
    struct decoder_file *file = &decoder->file;
    file->goes_back = false;
    return (struct compressed_next){
        .is_wanted = file->end == FILE_GOES_ON,
        .at = file->walk.planner->peek(&file->walk).at,
        .need = file->need,
        .again = decoder_queue_again(decoder),
    };
}

/* Plans as much as it can of a chunk of the file from byte `offset` on. That is copied, and decoded
 * when it is due. Sets *next. Returns 0 if no batch is free, and it must be called again. */
static int inputs_plan(struct gpu_decoder *decoder, struct chunk *chunk, uint64_t offset,
                       struct compressed_next *next)
{
    struct decoder_input *input = (struct decoder_input *)(void *)chunk;
    struct decoder_file *file = &decoder->file;
    const struct decode_walk *walk = &file->walk;
    const bool is_next = offset + input->planned == walk->planner->peek(walk).at;
    if (file->end == FILE_GOES_ON && is_next) { /* otherwise it has gone back meanwhile */
        enum decode_planned planned;
        int rc = plan_input(decoder, input, &planned);
        if (rc != 1)
            return rc;
        file->end = end_after(file, input, planned);
    }
    input->state = input->is_copied ? INPUT_COPYING : INPUT_FREE;
    if (decoder_queue_launch_due(decoder) < 0)
        return -1;
    *next = inputs_next(decoder);
    return 1;
}

/* --- content, on its way out: copied a piece at a time --- */

/* The number by which these copies are known to the device's calls. */
#define FETCH_READ 0

/* Begins to copy content of a slot. */
static void begin_fetch(struct gpu_decoder *decoder, const struct slot *slot,
                        struct device_content content)
{
    decoder->fetch = (struct decoder_fetch){.slot = slot->index, .left = content};
}

/* Goes on with what is fetched, until it is there. Sets *moved if some bytes have arrived. */
static int go_on(struct gpu_decoder *decoder, bool *moved)
{
    struct decoder_fetch *fetch = &decoder->fetch;
    struct device_content *left = &fetch->left;
    struct device_thread *thread = decoder->gpu->thread;
    if (fetch->under_way > 0) {
        int arrived = device_thread_arrived(thread, WORK_READ_CONTENT, FETCH_READ);
        if (arrived != 1)
            return arrived;
        memcpy(left->to, decoder->memory.fetched, fetch->under_way);
        left->to += fetch->under_way;
        left->begin += (int64_t)fetch->under_way;
        left->len -= fetch->under_way;
        fetch->under_way = 0;
        *moved = true;
    }
    if (left->len == 0)
        return 1;
    fetch->under_way =
        left->len < decoder->memory.fetch_size ? left->len : decoder->memory.fetch_size;
    const struct device_work work = {
        .kind = WORK_READ_CONTENT,
        .slot = fetch->slot,
        .copy = FETCH_READ,
        .content = {left->begin, fetch->under_way, decoder->memory.fetched},
    };
    return device_thread_post(thread, &work);
}

static int fetch_batch(struct gpu_engine *gpu, struct slot *slot, bool *moved)
{
    struct gpu_decoder *decoder = gpu->decoder;
    const struct decoder_batch *batch = (struct decoder_batch *)(void *)slot;
    struct chunk *chunk = &slot->chunk;
    if (decoder->fetch.left.len == 0) {
        const uint64_t left = gpu->options.memory_left();
        chunk->data = chunk->len <= left / 2 ? malloc(chunk->len) : NULL;
        if (!chunk->data)
            return 1;
        begin_fetch(decoder, slot, (struct device_content){batch->begin, chunk->len, chunk->data});
    }
    return go_on(decoder, moved);
}

/* Copies the tail of a file, all of which was counted, to its file.tail.bytes. */
static int fetch_tail(struct gpu_decoder *decoder, bool *moved)
{
    const struct content_tail *tail = &decoder->file.tail;
    if (tail->len == 0 || decoder->file.end != FILE_WHOLE)
        return 1;
    if (decoder->fetch.left.len == 0) {
        const int64_t begin = (int64_t)tail->last->verdict->content - (int64_t)tail->len;
        begin_fetch(decoder, &tail->last->slot,
                    (struct device_content){begin, tail->len, tail->bytes});
    }
    return go_on(decoder, moved);
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
    gpu->decoder->fetch.left.len = 0;
}

/* --- waiting --- */

/* True while the device is to copy something, or to give a verdict. */
static bool is_decoding(const struct gpu_decoder *decoder)
{
    return decoder_queue_count_in(decoder, BATCH_DECODING) > 0 || decoder->fetch.under_way > 0 ||
           inputs_are_busy(decoder);
}

/* Goes on with all that the device has done for the decoder. Returns 1 if it has done something, 0
 * if nothing, -1 if it is lost. */
static int poll(struct gpu_engine *gpu)
{
    struct gpu_decoder *decoder = gpu->decoder;
    struct slot *good = NULL;
    const bool waits = is_decoding(decoder);
    int copied = inputs_poll(decoder);
    int moved = copied < 0 ? -1 : decoder_queue_poll(decoder, &good);
    int launched = moved < 0 ? -1 : decoder_queue_launch_due(decoder);
    int arrived = launched < 0 ? -1 : copied || moved || launched;
    if (good && good->chunk.len == 0) {
        snapshots_add_empty(&gpu->snapshots, &good->chunk, gpu->engine.locator);
    } else if (good) {
        gpu_queue_snapshot(gpu, good, true);
        gpu_put_in_flight(gpu, good);
    }
    return gpu_judge_poll(gpu, arrived, waits);
}

/* Goes on with all that has arrived. Counts come first: one that arrived long ago and was not
 * polled must not make a batch late that has only just been sent. */
static void poll_all(struct gpu_engine *gpu)
{
    bool more = true;
    while (more && !gpu->is_lost) {
        more = gpu_retire(gpu) == 1;
        if (!gpu->is_lost)
            more |= poll(gpu) == 1;
    }
}

/* Waits a moment, and goes on with what has arrived meanwhile. */
static void wait_a_moment(struct gpu_engine *gpu)
{
    struct gpu_feeding *feeding = &gpu->times.feeding;
    double *waited = decoder_queue_is_hashing(gpu->decoder) ? &feeding->checking : &feeding->device;
    const struct timespec begin = clock_now();
    gpu_request_snapshot(gpu);
    gpu_pause_unlocked(gpu);
    poll_all(gpu);
    *waited += clock_seconds_since(&begin);
}

/* True while any of the file is being copied, decoded, hashed or counted. */
static bool is_busy(const struct gpu_decoder *decoder)
{
    return inputs_are_busy(decoder) || decoder_queue_is_busy(decoder);
}

/* --- the decoder of an engine --- */

static void release_batch(struct gpu_engine *gpu, struct slot *slot)
{
    decoder_queue_count(gpu->decoder, slot);
}

static void close_decoder(struct gpu_engine *gpu)
{
    decoder_memory_close(&gpu->decoder->memory);
    free(gpu->decoder->file.tail.bytes);
    free(gpu->decoder);
}

static const struct gpu_extension extension = {
    .fetch = fetch_batch,
    .release = release_batch,
    .drop = drop_fetched,
    .close = close_decoder,
};

/* Returns the decoder of an engine, which is attached first if there is none. NULL: memory is
 * short. */
static struct gpu_decoder *attach(struct gpu_engine *gpu)
{
    if (gpu->decoder)
        return gpu->decoder;
    struct gpu_decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return NULL;
    decoder->gpu = gpu;
    gpu->decoder = decoder;
    gpu->extension = &extension;
    return decoder;
}

void gpu_decoder_prepare(struct engine *engine)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    struct gpu_decoder *decoder = attach(gpu);
    if (decoder && decoder_memory_open(decoder, DECODER_LARGE) != 0) {
        gpu_lose_by_call(gpu);
        gpu_recount(gpu);
    }
    pthread_mutex_unlock(&gpu->lock);
}

/* --- beginning --- */

/* Returns the largest window that is neither beyond the limit, which is rounded down to a power of
 * two as libzstd does, nor what batches have memory for. */
static uint32_t window_max(const struct gpu_decoder *decoder, uint64_t memlimit)
{
    uint32_t max = ZSTD_WINDOW_MAX, has = decoder->memory.decoding.capacity.window;
    while (max > memlimit)
        max /= 2;
    return max < has ? max : has;
}

/* Begins a file. Returns 1; 0: the device decompresses nothing, or memory is short; -1: it is
 * lost. */
static int begin(struct gpu_decoder *decoder, const struct compressed_start *start)
{
    struct decoder_memory *memory = &decoder->memory;
    const bool is_small = start->size > 0 && start->size <= DECODER_SMALL_FILE;
    const enum decoder_size size = is_small ? DECODER_SMALL : DECODER_LARGE;
    if (memory->size < size) {
        decoder->queue.turn = 0;
        if (decoder_memory_open(decoder, size) != 0)
            return -1;
    }
    const struct decode_planner *planner = decode_planner_find(start->codec);
    unsigned char *tail =
        planner && memory->decoding.batches > 0 ? malloc(memory->decoding.keep_min) : NULL;
    if (!tail || snapshots_save(&decoder->gpu->snapshots) != 0) {
        free(tail);
        return 0;
    }
    const struct decode_limits limits = {.window_max = window_max(decoder, start->memlimit),
                                         .no_check = decoder->gpu->options.no_check,
                                         .can_hash = memory->check != NULL};
    struct decode_walk walk = {.planner = planner};
    planner->begin(&walk, start->offset, &limits);
    const struct record_kind kind = record_kind_of_all(decoder->gpu->spec);
    decoder->file = (struct decoder_file){
        .start = *start, .kind = kind, .walk = walk, .need = 1, .tail.bytes = tail};
    const struct device_work work = {.kind = WORK_SAVE};
    return device_thread_post(decoder->gpu->thread, &work) == 0 ? 1 : -1;
}

/* Begins a file on a GPU if that is idle. NULL if it cannot. */
static struct gpu_decoder *begin_on(struct gpu_engine *gpu, const struct compressed_start *start)
{
    const struct timespec begun = clock_now();
    enum gpu_loan idle = GPU_IDLE;
    if (!atomic_compare_exchange_strong(&gpu->loan, &idle, GPU_LENT))
        return NULL;
    pthread_mutex_lock(&gpu->lock);
    gpu_drain(gpu);
    struct gpu_decoder *decoder = gpu->is_lost ? NULL : attach(gpu);
    int began = decoder ? begin(decoder, start) : 0;
    if (began < 0) {
        gpu_lose_by_call(gpu);
        gpu_recount(gpu);
    }
    if (began == 1)
        gpu->times.feeding.startup += clock_seconds_since(&begun);
    else
        atomic_store(&gpu->loan, GPU_NOT_LENT);
    pthread_mutex_unlock(&gpu->lock);
    return began == 1 ? decoder : NULL;
}

struct gpu_decoder *gpu_decoder_begin(struct engine *gpu, const struct compressed_start *start)
{
    struct engine *engines[GPUS_MAX];
    struct gpu_decoder *decoder = NULL;
    const unsigned count = gpu_group_engines(gpu, true, engines);
    for (unsigned i = 0; i < count && !decoder && !gpu_group_failed(gpu); i++)
        decoder = begin_on(gpu_of(engines[i]), start);
    return decoder;
}

/* --- chunks --- */

struct chunk *gpu_decoder_acquire(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    struct chunk *chunk = NULL;
    pthread_mutex_lock(&gpu->lock);
    poll_all(gpu);
    while (!gpu->is_lost && !(chunk = inputs_acquire(decoder)))
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
    int planned = 0;
    *next = (struct compressed_next){.is_wanted = false};
    pthread_mutex_lock(&gpu->lock);
    gpu->times.feeding.reading += clock_seconds_since(&decoder->filling);
    while (!gpu->is_lost && planned == 0) {
        planned = inputs_plan(decoder, chunk, offset, next);
        if (planned < 0)
            gpu_lose_by_call(gpu);
        else if (planned == 0)
            wait_a_moment(gpu); /* for a batch */
    }
    /* At the end of a file it waits until it is known whether some of it must come again. */
    while (!gpu->is_lost && !next->is_wanted && decoder_queue_may_go_back(decoder)) {
        wait_a_moment(gpu);
        *next = inputs_next(decoder);
    }
    if (gpu_recount(gpu))
        next->is_wanted = false;
    pthread_mutex_unlock(&gpu->lock);
}

bool gpu_decoder_goes_back(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    pthread_mutex_lock(&gpu->lock);
    const bool goes_back = decoder->file.goes_back;
    pthread_mutex_unlock(&gpu->lock);
    return goes_back;
}

bool gpu_decoder_poll(struct gpu_decoder *decoder)
{
    struct gpu_engine *gpu = decoder->gpu;
    pthread_mutex_lock(&gpu->lock);
    poll_all(gpu);
    gpu_request_snapshot(gpu); /* for the next time */
    bool busy = !gpu_recount(gpu) && is_busy(decoder);
    pthread_mutex_unlock(&gpu->lock);
    return busy;
}

/* --- the end --- */

/* Goes on with fetching the tail of the content. True once it is there. */
static bool has_tail(struct gpu_engine *gpu)
{
    bool moved = false;
    int fetched = fetch_tail(gpu->decoder, &moved);
    gpu_judge_poll(gpu, fetched == 0 ? moved : fetched, true);
    return fetched == 1;
}

/* Waits until all that was submitted is counted, and the tail is there, or the device is lost. */
static void wait_for_all(struct gpu_engine *gpu)
{
    poll_all(gpu);
    while (!gpu->is_lost && is_busy(gpu->decoder))
        wait_a_moment(gpu);
    while (!gpu->is_lost && !has_tail(gpu))
        wait_a_moment(gpu);
}

/* Takes back what was counted of the file, as if it had not been begun. */
static void take_back(struct gpu_engine *gpu)
{
    const struct device_work work = {.kind = WORK_SAVE, .goes_back = true};
    snapshots_go_back(&gpu->snapshots);
    error_locator_forget(gpu->engine.locator, gpu->decoder->file.start.number);
    if (!gpu->is_lost && device_thread_post(gpu->thread, &work) != 0)
        gpu_lose_by_call(gpu);
}

/* Returns the rest of the file. The tail's bytes, which must be there, go to the caller. */
static struct compressed_rest end_file(struct decoder_file *file, bool is_lost)
{
    struct compressed_rest rest = {.is_refused = is_lost || file->end != FILE_WHOLE};
    if (!rest.is_refused) {
        rest.index = file->judged;
        rest.bytes = file->counted;
        rest.tail_len = file->tail.len;
        if (file->kind.type == RECORD_PAIRS)
            rest.bytes += rest.tail_len;
    }
    if (rest.tail_len > 0)
        rest.tail = file->tail.bytes;
    else
        free(file->tail.bytes);
    file->tail.bytes = NULL;
    return rest;
}

int gpu_decoder_finish(struct gpu_decoder *decoder, struct compressed_rest *rest)
{
    struct gpu_engine *gpu = decoder->gpu;
    pthread_mutex_lock(&gpu->lock);
    wait_for_all(gpu);
    const uint64_t counted = decoder->file.counted;
    *rest = end_file(&decoder->file, gpu_recount(gpu));
    decoder_queue_drain(decoder);
    if (rest->is_refused)
        take_back(gpu);
    else
        snapshots_add_bytes(&gpu->snapshots, rest->bytes - counted);
    atomic_store(&gpu->loan, gpu_recount(gpu) ? GPU_NOT_LENT : GPU_IDLE);
    decoder->bytes += rest->bytes;
    int rc = gpu->has_failed ? -1 : 0;
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

/* --- what is known of it, without a file --- */

/* True if the loan of one of the GPUs is one of these. Answers without waiting for a lock, as this
 * is asked often. */
static bool any_loan(struct engine *gpu, enum gpu_loan a, enum gpu_loan b)
{
    struct engine *engines[GPUS_MAX];
    const unsigned count = gpu_group_engines(gpu, false, engines);
    bool is_any = false;
    for (unsigned i = 0; i < count; i++) {
        const enum gpu_loan loan = atomic_load(&gpu_of(engines[i])->loan);
        is_any |= loan == a || loan == b;
    }
    return is_any;
}

bool gpu_decoder_is_idle(struct engine *gpu)
{
    return any_loan(gpu, GPU_IDLE, GPU_IDLE);
}

bool gpu_decoder_is_usable(struct engine *gpu)
{
    return any_loan(gpu, GPU_IDLE, GPU_LENT);
}

const char *gpu_decoder_loss(struct gpu_decoder *decoder)
{
    return gpu_loss(&decoder->gpu->engine);
}

uint64_t gpu_decoder_bytes(struct engine *gpu)
{
    struct engine *engines[GPUS_MAX];
    const unsigned count = gpu_group_engines(gpu, false, engines);
    uint64_t bytes = 0;
    for (unsigned i = 0; i < count; i++) {
        struct gpu_engine *one = gpu_of(engines[i]);
        pthread_mutex_lock(&one->lock);
        bytes += one->decoder ? one->decoder->bytes : 0;
        pthread_mutex_unlock(&one->lock);
    }
    return bytes;
}

void gpu_decoder_add_times(struct engine *engine, struct gpu_times *times)
{
    struct gpu_engine *gpu = gpu_of(engine);
    pthread_mutex_lock(&gpu->lock);
    const struct decoder_memory *memory = gpu->decoder ? &gpu->decoder->memory : NULL;
    if (memory && memory->decoding.batches > 0)
        times->decoding = (struct gpu_memory){
            .device = memory->decoding.memory,
            .host = memory->host_bytes + content_check_memory(memory->check),
            .batch = memory->decoding.capacity.room,
        };
    times->copy_seconds += device_thread_copy_seconds(gpu->thread);
    if (memory)
        times->feeding.hashing = memory->hash_seconds + content_check_seconds(memory->check);
    pthread_mutex_unlock(&gpu->lock);
}
