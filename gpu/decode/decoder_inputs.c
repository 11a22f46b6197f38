/* SPDX-License-Identifier: MIT */
/* Takes compressed bytes that are read into pinned memory, plans them as batches, and copies them
 * to the device. */
#include "gpu/engine/gpu_engine_internal.h"

int decoder_inputs_poll(struct gpu_decoder *decoder)
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

struct chunk *decoder_inputs_acquire(struct gpu_decoder *decoder)
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

bool decoder_inputs_are_busy(const struct gpu_decoder *decoder)
{
    bool are_busy = false;
    for (unsigned i = 0; i < decoder->memory.inputs; i++)
        are_busy |= decoder->memory.input[i].state == INPUT_COPYING;
    return are_busy;
}

/* --- planning --- */

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

int decoder_inputs_plan(struct gpu_decoder *decoder, struct chunk *chunk, uint64_t offset,
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
    *next = decoder_inputs_next(decoder);
    return 1;
}

struct compressed_next decoder_inputs_next(struct gpu_decoder *decoder)
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
