/* SPDX-License-Identifier: MIT */
#include "decompression_internal.h"
#include "src/records/records.h"

#include <stdlib.h>

/* With so many blocks for each batch that is being decoded the next one is launched: the more there
 * is to do already, the better it is to wait for more. */
#define BLOCKS_FOR_EACH 256

/* --- the FILE --- */

/* The largest window that is neither beyond the limit, as libzstd counts it, nor what batches have
 * memory for. */
static uint32_t window_max(const struct decompression *decompression, uint64_t memlimit)
{
    uint32_t most = ZSTD_WINDOW_MOST, has = decompression->decoding.capacity.window;
    while (most > memlimit)
        most /= 2;
    return most < has ? most : has;
}

/* Whether there is room for a tail. The one before may have been given away. */
static bool has_tail_room(struct decompression *decompression)
{
    if (!decompression->tail_bytes)
        decompression->tail_bytes = malloc(decompression->decoding.keep_least);
    return decompression->tail_bytes;
}

int decompression_begin(struct decompression *decompression, unsigned slots,
                        const struct compressed_start *start)
{
    const bool is_large = start->size == 0 || start->size > DECOMPRESSION_SMALL;
    if (decompression->is_active)
        return 0;
    if ((!decompression->is_open || (is_large && !decompression->is_large)) &&
        decompression_open(decompression, slots, is_large) != 0)
        return -1;
    if (decompression->decoding.batches == 0 || !has_tail_room(decompression))
        return 0;
    decompression->is_active = decompression->begins = true;
    decompression->is_over = decompression->is_refused = decompression->is_whole = false;
    decompression->is_wrong = decompression->is_bad = false;
    decompression->walk =
        (struct zstd_walk){.at = start->offset,
                           .frame_at = start->offset,
                           .window_max = window_max(decompression, start->memlimit),
                           .leave_checksums = decompression->verifies && !decompression->check};
    decompression->need = 1;
    decompression->tail = 0;
    decompression->last = NULL;
    decompression->content = 0;
    decompression->skip = decompression->counted = start->skip;
    decompression->repeated = start->repeated;
    decompression->fresh = 0;
    decompression->laid_index = decompression->counted_index = start->index;
    decompression->frames[0] = (struct decompression_frame){start->offset, 0};
    decompression->frame_count = 1;
    return 1;
}

/* --- inputs --- */

int decompression_look_at_inputs(struct decompression *decompression)
{
    int freed = 0;
    for (unsigned i = 0; i < decompression->inputs; i++) {
        struct decompression_input *input = &decompression->input[i];
        int copied =
            input->state == INPUT_COPYING
                ? calls_blocks_copied(decompression->calls, i, &decompression->copy_seconds)
                : 0;
        if (copied < 0)
            return -1;
        if (copied == 1) {
            input->state = INPUT_FREE;
            freed = 1;
        }
    }
    return freed;
}

static struct decompression_input *free_input(struct decompression *decompression)
{
    for (unsigned i = 0; i < decompression->inputs; i++)
        if (decompression->input[i].state == INPUT_FREE)
            return &decompression->input[i];
    return decompression_add_input(decompression);
}

int decompression_take(struct decompression *decompression, struct chunk **chunk)
{
    if (decompression_look_at_inputs(decompression) < 0)
        return -1;
    struct decompression_input *input = free_input(decompression);
    *chunk = NULL;
    if (!input)
        return 0;
    input->state = INPUT_FILLING;
    input->laid = 0;
    input->is_copied = false;
    input->chunk = (struct chunk){.engine = decompression->engine,
                                  .data = input->pinned.memory,
                                  .cap = decompression->input_size,
                                  .fill = true};
    *chunk = &input->chunk;
    return 1;
}

/* --- launching --- */

static void append(struct decompression *decompression, struct decompression_batch *batch)
{
    batch->next = NULL;
    if (decompression->newest)
        decompression->newest->next = batch;
    else
        decompression->oldest = batch;
    decompression->newest = batch;
}

/* Has the batch that is laid decoded. A batch leaves for the next one what that takes over, content
 * too, so that one must be free. 1; 0: it is not; -1: the device is lost. */
static int launch(struct decompression *decompression)
{
    struct decompression_batch *batch = decompression->laying;
    const struct zstd_walk *walk = &decompression->walk;
    if (decompression->batch[decompression->turn].state != DECOMPRESSION_FREE)
        return 0;
    batch->slot.chunk.origin.at.index = decompression->laid_index++;
    batch->slot.chunk.origin.end = ENDS_NOTHING;
    batch->next_at = walk->in_frame ? walk->frame_at : walk->at;
    batch->goes_on = walk->in_frame && walk->has_checksum;
    batch->state = DECOMPRESSION_DECODING;
    batch->is_hashed = false;
    decompression->laying = NULL;
    decompression->decoding_count++;
    append(decompression, batch);
    if (calls_decode(decompression->calls, batch->slot.index, &batch->plan, decompression->begins,
                     batch->verdict, batch->frame_ends) != 0)
        return -1;
    decompression->begins = false;
    return 1;
}

int decompression_launch_due(struct decompression *decompression)
{
    const struct decompression_batch *batch = decompression->laying;
    if (!batch || batch->plan.blocks == 0 || decompression->is_refused || decompression->is_bad)
        return 0;
    bool is_end = decompression->is_over || decompression->is_whole;
    bool has_enough = batch->plan.blocks >= BLOCKS_FOR_EACH * decompression->decoding_count;
    return is_end || has_enough ? launch(decompression) : 0;
}

void decompression_drop_laying(struct decompression *decompression)
{
    struct decompression_batch *batch = decompression->laying;
    if (!batch)
        return;
    batch->state = DECOMPRESSION_FREE;
    decompression->turn = (unsigned)(batch - decompression->batch);
    decompression->laying = NULL;
}

/* --- laying --- */

/* Begins to lay the next batch, of what a chunk holds. Whether it is free. */
static bool open_batch(struct decompression *decompression, const struct chunk *chunk)
{
    struct decompression_batch *batch = &decompression->batch[decompression->turn];
    if (decompression->laying)
        return true;
    if (batch->state != DECOMPRESSION_FREE)
        return false;
    batch->state = DECOMPRESSION_LAYING;
    batch->slot.chunk = (struct chunk){.engine = decompression->engine, .origin = chunk->origin};
    zstd_plan_clear(&batch->plan);
    decompression->laying = batch;
    decompression->turn = (decompression->turn + 1) % decompression->decoding.batches;
    return true;
}

/* Lays what there is in an input, and has it copied. 1, with what ended that; 0: a batch is waited
 * for; -1: the device is lost. */
static int lay_input(struct decompression *decompression, struct decompression_input *input,
                     enum zstd_planned *laid)
{
    const struct chunk *chunk = &input->chunk;
    for (;;) {
        if (!open_batch(decompression, chunk))
            return 0;
        struct decompression_batch *batch = decompression->laying;
        struct zstd_plan *plan = &batch->plan;
        const size_t done = input->laid < chunk->len ? (size_t)input->laid : chunk->len;
        *laid = zstd_plan_more(&decompression->walk, plan, chunk->data + done, chunk->len - done);
        input->laid += plan->taken;
        decompression->need = plan->need;
        if (*laid == ZSTD_NEEDS_MORE || *laid == ZSTD_LEFT)
            return 1;
        if (*laid == ZSTD_PLANNED) {
            input->is_copied = true;
            if (calls_copy_blocks(decompression->calls, batch->slot.index, plan->in_at,
                                  chunk->data + done, plan->in_size - plan->in_at,
                                  input->index) != 0)
                return -1;
            continue;
        }
        int launched = launch(decompression);
        if (launched != 1)
            return launched;
    }
}

/* Notes if nothing more is to be laid of the FILE. */
static void note_end(struct decompression *decompression, const struct decompression_input *input,
                     enum zstd_planned laid)
{
    const struct chunk *chunk = &input->chunk;
    bool is_last = chunk->origin.end == ENDS_FILE, is_full = chunk->len == chunk->cap;
    bool is_end = is_last && input->laid >= chunk->len;
    bool is_cut_short = is_end && (decompression->walk.in_frame || input->laid > chunk->len);
    bool is_stuck = laid == ZSTD_NEEDS_MORE && input->laid == 0 && (is_last || is_full);
    decompression->is_whole = is_end && !is_cut_short;
    decompression->is_over |= laid == ZSTD_LEFT || is_cut_short || is_stuck;
}

int decompression_lay(struct decompression *decompression, struct chunk *chunk, uint64_t offset,
                      struct compressed_next *next)
{
    struct decompression_input *input = (struct decompression_input *)(void *)chunk;
    enum zstd_planned laid;
    if (!decompression->is_over) {
        int rc = lay_input(decompression, input, &laid);
        if (rc != 1)
            return rc;
        note_end(decompression, input, laid);
    }
    input->state = input->is_copied ? INPUT_COPYING : INPUT_FREE;
    if (decompression_launch_due(decompression) < 0)
        return -1;
    *next = (struct compressed_next){
        .is_wanted = !decompression->is_over && !decompression->is_whole,
        .at = offset + input->laid,
        .need = decompression->need,
        .kept = decompression_kept(decompression),
    };
    return 1;
}
