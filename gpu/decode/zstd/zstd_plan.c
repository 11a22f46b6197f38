/* SPDX-License-Identifier: MIT */
#include "zstd_plan.h"

/* The end of a step of the walk. */
enum step {
    STEP_TAKEN,
    STEP_SHORT, /* `need` bytes must be there */
    STEP_FULL,  /* the block does not fit in the batch */
    STEP_LEFT   /* as DECODE_LEFT */
};

/* --- frames --- */

/* Goes over the header of a frame, or over a skippable frame. Sets *need to its bytes, or those
 * that must be there. */
static enum step plan_header(struct zstd_walk *walk, const unsigned char *in, size_t len,
                             uint64_t *need)
{
    const struct zstd_frame_header *header = &walk->parts.header;
    const enum zstd_parsed parsed = zstd_part_read(&walk->parts, in, len, need);
    if (parsed != ZSTD_PARSED)
        return parsed == ZSTD_SHORT ? STEP_SHORT : STEP_LEFT;
    if (header->dictionary != 0 || header->window > walk->window_max ||
        (header->has_checksum && walk->leave_checksums))
        return STEP_LEFT;
    *need += header->skipped;
    if (!header->is_skippable) {
        walk->has_begun = false;
        walk->known = 0;
    }
    zstd_part_pass(&walk->parts);
    return STEP_TAKEN;
}

/* --- blocks --- */

/* Returns the bytes of content that a compressed block may have: no more than the frame has
 * left. */
static uint32_t room_of(const struct zstd_walk *walk)
{
    const uint64_t content = walk->parts.header.content,
                   left = content < walk->known ? 0 : content - walk->known,
                   max = zstd_block_max(walk->parts.header.window);
    return (uint32_t)(left < max ? left : max);
}

static void add_frame(struct zstd_walk *walk, struct decode_plan *plan)
{
    plan->frame_end[plan->frames] = (struct decode_frame_end){.has_checksum = false};
    plan->frame[plan->frames++] = (struct decode_frame){
        .content = walk->parts.header.content,
        .window = (uint32_t)walk->parts.header.window,
        .first = plan->blocks,
        .begins = !walk->has_begun,
    };
    walk->has_begun = true;
}

/* True if the plan has no frame yet to which the next block belongs. */
static bool needs_frame(const struct zstd_walk *walk, const struct decode_plan *plan)
{
    return !walk->has_begun || plan->blocks == 0;
}

/* True if the batch has memory for a block that takes `size` compressed bytes. */
static bool fits(const struct zstd_walk *walk, const struct decode_plan *plan,
                 const struct decode_block *block, uint64_t size)
{
    return plan->blocks < plan->capacity.blocks &&
           block->room <= plan->capacity.room - plan->room &&
           plan->in_at + plan->taken + size <= plan->capacity.in &&
           (!needs_frame(walk, plan) || plan->frames < plan->capacity.frames);
}

static uint32_t checksum_at(const unsigned char *in)
{
    return in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

/* Ends the frame; in[0] is what follows its last block. */
static void end_frame(struct zstd_walk *walk, struct decode_plan *plan, const unsigned char *in)
{
    const uint32_t frame = plan->frames - 1;
    const bool has_checksum = walk->parts.header.has_checksum;
    plan->frame[frame].ends = true;
    plan->frame_end[frame].has_checksum = has_checksum;
    if (has_checksum) {
        plan->frame_end[frame].checksum = checksum_at(in);
        zstd_part_pass(&walk->parts);
    }
}

/* Adds a block that takes `size` bytes, with its header and the checksum after it. */
static void add_block(struct zstd_walk *walk, struct decode_plan *plan, struct decode_block *block,
                      uint64_t size)
{
    if (needs_frame(walk, plan))
        add_frame(walk, plan);
    block->frame = plan->frames - 1;
    plan->frame[block->frame].blocks++;
    plan->block[plan->blocks++] = *block;
    plan->room += block->room;
    uint32_t frame_room = plan->room - plan->block[plan->frame[block->frame].first].room_at;
    if (plan->frame_room < frame_room)
        plan->frame_room = frame_room;
    plan->in_size = (uint32_t)(plan->in_at + plan->taken + size);
    walk->known += block->type == DECODE_COMPRESSED ? 0 : block->room;
}

/* Plans a block. Sets *need to its bytes, or those that must be there. */
static enum step plan_block(struct zstd_walk *walk, struct decode_plan *plan,
                            const unsigned char *in, uint64_t len, uint64_t *need)
{
    const struct zstd_block_header *header = &walk->parts.block;
    const enum zstd_parsed parsed = zstd_part_read(&walk->parts, in, len, need);
    if (parsed != ZSTD_PARSED)
        return parsed == ZSTD_SHORT ? STEP_SHORT : STEP_LEFT;
    struct decode_block block = {
        .at = (uint32_t)(DECODE_CARRY + plan->in_at + plan->taken + ZSTD_BLOCK_HEADER_SIZE),
        .size = header->stored,
        .room = header->type == ZSTD_STORED_COMPRESSED ? room_of(walk) : header->size,
        .room_at = plan->room,
        .sequences_at = decode_sequences_at(plan->room, plan->blocks),
        .type = (uint32_t)header->type, /* enum decode_block_type has the same numbers */
    };
    const uint64_t end = *need;
    /* A frame may have any number of empty blocks, and a batch has few. */
    if (header->type != ZSTD_STORED_COMPRESSED && header->size == 0 && !header->is_last)
        return len < end ? STEP_SHORT : STEP_TAKEN;
    *need = end + (header->is_last && walk->parts.header.has_checksum ? ZSTD_CHECKSUM_SIZE : 0);
    if (!fits(walk, plan, &block, *need))
        return STEP_FULL;
    if (len < *need)
        return STEP_SHORT;
    add_block(walk, plan, &block, *need);
    zstd_part_pass(&walk->parts);
    if (header->is_last)
        end_frame(walk, plan, in + end);
    return STEP_TAKEN;
}

/* --- batches --- */

/* The state before a frame that may not fit in the batch. */
struct savepoint {
    struct zstd_walk walk;
    struct decode_plan plan;
    bool is_there;
};

static bool is_half_full(const struct decode_plan *plan)
{
    const struct decode_capacity *capacity = &plan->capacity;
    return plan->room >= capacity->room / 2 || plan->in_size >= capacity->in / 2 ||
           plan->blocks >= capacity->blocks / 2 || plan->frames >= capacity->frames / 2;
}

/* Gives back all of the frame that does not fit, if the batch will then be copied frame by frame:
 * it and the next one can stand alone. Does not do so for a few tiny frames before a large one. */
static void end_before(const struct savepoint *before, struct zstd_walk *walk,
                       struct decode_plan *plan)
{
    struct decode_batch batch = {0};
    decode_batch_set_plan(&batch, &before->plan);
    if (!before->is_there || batch.frames == 0 || !is_half_full(&before->plan) ||
        !decode_copies_frames(&batch))
        return;
    *walk = before->walk;
    *plan = before->plan;
}

enum decode_planned zstd_plan_blocks(struct zstd_walk *walk, struct decode_plan *plan,
                                     const unsigned char *in, size_t len)
{
    const uint32_t blocks = plan->blocks;
    enum step step = STEP_TAKEN;
    struct savepoint before = {.is_there = false};
    plan->in_at = plan->in_size;
    plan->taken = 0;
    while (step == STEP_TAKEN && plan->taken < len) {
        const unsigned char *at = in + plan->taken;
        const size_t left = len - (size_t)plan->taken;
        const bool in_frame = walk->parts.next == ZSTD_BLOCK;
        if (!in_frame)
            before = (struct savepoint){*walk, *plan, true};
        step = in_frame ? plan_block(walk, plan, at, left, &plan->need)
                        : plan_header(walk, at, left, &plan->need);
        if (step == STEP_TAKEN) {
            walk->at += plan->need;
            plan->taken += plan->need;
        }
    }
    if (step == STEP_TAKEN)
        plan->need = 1;
    if (step == STEP_FULL)
        end_before(&before, walk, plan);
    if (plan->blocks > blocks)
        return DECODE_PLANNED;
    if (step == STEP_FULL) /* without what was skipped, it may fit */
        return plan->blocks == 0 && plan->taken > 0 ? DECODE_NEEDS_MORE : DECODE_FULL;
    return step == STEP_LEFT ? DECODE_LEFT : DECODE_NEEDS_MORE;
}
