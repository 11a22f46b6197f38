/* SPDX-License-Identifier: MIT */
#include "plan.h"

#define MAGIC 0xfd2fb528u
#define MAGIC_SKIPPABLE 0x184d2a50u /* to 0x184d2a5f */
#define MAGIC_SIZE 4u
#define BLOCK_HEADER 3u
#define CHECKSUM_SIZE 4u
#define ALIGNMENT 256u

/* The next `bytes` bytes, up to 8, as a number. */
static uint64_t little_endian(const unsigned char *in, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << 8 * i;
    return value;
}

/* --- frames --- */

/* What a frame's descriptor says of the header that it is in. */
struct frame_fields {
    bool has_window, has_checksum, is_valid;
    size_t dictionary, content; /* bytes of these fields */
};

static struct frame_fields fields_of(unsigned descriptor)
{
    static const uint8_t dictionaries[4] = {0, 1, 2, 4}, contents[4] = {0, 2, 4, 8};
    bool is_single_segment = descriptor >> 5 & 1;
    struct frame_fields fields = {
        .has_window = !is_single_segment,
        .has_checksum = descriptor >> 2 & 1,
        .is_valid = (descriptor & 8) == 0,
        .dictionary = dictionaries[descriptor & 3],
        .content = contents[descriptor >> 6],
    };
    if (is_single_segment && fields.content == 0)
        fields.content = 1;
    return fields;
}

static uint64_t window_of(unsigned descriptor)
{
    uint64_t power = (uint64_t)1 << (10 + (descriptor >> 3));
    return power + power / 8 * (descriptor & 7);
}

/* How a step of the walk ended. */
enum step {
    STEP_TAKEN,
    STEP_SHORT, /* `need` bytes must be there */
    STEP_FULL,  /* the block does not fit in the batch */
    STEP_LEFT   /* as ZSTD_LEFT */
};

/* Reads the header of a frame, all of which is there. */
static enum step begin_frame(struct zstd_walk *walk, const struct frame_fields *fields,
                             const unsigned char *in)
{
    uint64_t window = fields->has_window ? window_of(*in++) : 0;
    if (little_endian(in, fields->dictionary) != 0)
        return STEP_LEFT;
    in += fields->dictionary;
    uint64_t content = ZSTD_CONTENT_UNKNOWN;
    if (fields->content > 0)
        content = little_endian(in, fields->content) + (fields->content == 2 ? 256 : 0);
    if (!fields->has_window)
        window = content;
    if (window > walk->window_max || (fields->has_checksum && walk->leave_checksums))
        return STEP_LEFT;
    walk->content = content;
    walk->window = (uint32_t)window;
    walk->block_max = window < ZSTD_BLOCK_CONTENT ? (uint32_t)window : ZSTD_BLOCK_CONTENT;
    walk->has_checksum = fields->has_checksum;
    walk->in_frame = true;
    walk->has_begun = false;
    walk->known = 0;
    walk->frame_at = walk->at;
    return STEP_TAKEN;
}

/* Goes over the header of a frame, or over a skippable frame. *need are its bytes, or those that
 * must be there. */
static enum step lay_header(struct zstd_walk *walk, const unsigned char *in, uint64_t len,
                            uint64_t *need)
{
    *need = MAGIC_SIZE;
    if (len < *need)
        return STEP_SHORT;
    uint32_t magic = (uint32_t)little_endian(in, MAGIC_SIZE);
    bool is_skippable = (magic & ~15u) == MAGIC_SKIPPABLE;
    if (magic != MAGIC && !is_skippable)
        return STEP_LEFT;
    *need = is_skippable ? 2 * MAGIC_SIZE : MAGIC_SIZE + 1;
    if (len < *need)
        return STEP_SHORT;
    if (is_skippable) {
        *need += little_endian(in + MAGIC_SIZE, 4);
        return STEP_TAKEN;
    }
    struct frame_fields fields = fields_of(in[MAGIC_SIZE]);
    if (!fields.is_valid)
        return STEP_LEFT;
    *need += fields.has_window + fields.dictionary + fields.content;
    return len < *need ? STEP_SHORT : begin_frame(walk, &fields, in + MAGIC_SIZE + 1);
}

/* --- blocks --- */

/* The bytes of content that a compressed block may have: no more than the frame has left. */
static uint32_t room_of(const struct zstd_walk *walk)
{
    uint64_t left = walk->content < walk->known ? 0 : walk->content - walk->known;
    return left < walk->block_max ? (uint32_t)left : walk->block_max;
}

static void add_frame(struct zstd_walk *walk, struct zstd_plan *plan)
{
    plan->frame_end[plan->frames] = (struct zstd_frame_end){.at = walk->frame_at};
    plan->frame[plan->frames++] = (struct zstd_frame){
        .content = walk->content,
        .window = walk->window,
        .first = plan->blocks,
        .begins = !walk->has_begun,
    };
    walk->has_begun = true;
}

/* Whether the plan has no frame yet that the next block belongs to. */
static bool needs_frame(const struct zstd_walk *walk, const struct zstd_plan *plan)
{
    return !walk->has_begun || plan->blocks == 0;
}

/* Whether the batch has memory for a block that takes `size` bytes of what was laid for it. */
static bool fits(const struct zstd_walk *walk, const struct zstd_plan *plan,
                 const struct zstd_block *block, uint64_t size)
{
    return plan->blocks < plan->capacity.blocks &&
           block->room <= plan->capacity.room - plan->room &&
           plan->in_at + plan->taken + size <= plan->capacity.in &&
           (!needs_frame(walk, plan) || plan->frames < plan->capacity.frames);
}

/* Adds a block of `size` bytes, with its header and the frame's checksum, if that is after it. */
static void add_block(struct zstd_walk *walk, struct zstd_plan *plan, struct zstd_block *block,
                      const unsigned char *in, uint64_t size, bool is_last)
{
    if (needs_frame(walk, plan))
        add_frame(walk, plan);
    block->frame = plan->frames - 1;
    plan->frame[block->frame].blocks++;
    plan->frame[block->frame].ends = is_last;
    if (is_last && walk->has_checksum) {
        plan->frame_end[block->frame].has_checksum = true;
        plan->frame_end[block->frame].checksum =
            (uint32_t)little_endian(in + size - CHECKSUM_SIZE, CHECKSUM_SIZE);
    }
    plan->block[plan->blocks++] = *block;
    plan->room += block->room;
    uint32_t frame_room = plan->room - plan->block[plan->frame[block->frame].first].room_at;
    if (plan->frame_room < frame_room)
        plan->frame_room = frame_room;
    plan->in_size = (uint32_t)(plan->in_at + plan->taken + size);
    walk->known += block->type == ZSTD_COMPRESSED ? 0 : block->room;
    walk->in_frame = !is_last;
}

/* Lays a block. *need are its bytes, or those that must be there. */
static enum step lay_block(struct zstd_walk *walk, struct zstd_plan *plan, const unsigned char *in,
                           uint64_t len, uint64_t *need)
{
    enum { TYPE_RESERVED = 3 };
    *need = BLOCK_HEADER;
    if (len < *need)
        return STEP_SHORT;
    uint32_t header = (uint32_t)little_endian(in, BLOCK_HEADER);
    uint32_t type = header >> 1 & 3, size = header >> 3;
    bool is_last = header & 1;
    if (type == TYPE_RESERVED || size > walk->block_max)
        return STEP_LEFT;
    struct zstd_block block = {
        .at = (uint32_t)(ZSTD_CARRY + plan->in_at + plan->taken + BLOCK_HEADER),
        .size = type == ZSTD_RLE ? 1 : size,
        .room = type == ZSTD_COMPRESSED ? room_of(walk) : size,
        .room_at = plan->room,
        .type = type,
    };
    *need += block.size + (is_last && walk->has_checksum ? CHECKSUM_SIZE : 0);
    if (!fits(walk, plan, &block, *need))
        return STEP_FULL;
    if (len < *need)
        return STEP_SHORT;
    add_block(walk, plan, &block, in, *need, is_last);
    return STEP_TAKEN;
}

void zstd_plan_clear(struct zstd_plan *plan)
{
    plan->blocks = plan->frames = plan->room = plan->frame_room = 0;
    plan->in_size = plan->in_at = 0;
    plan->taken = 0;
}

/* Where a frame begins that may not fit in the batch. */
struct frame_begin {
    struct zstd_walk walk;
    struct zstd_plan plan;
    bool is_there;
};

static bool is_half_full(const struct zstd_plan *plan)
{
    const struct zstd_capacity *capacity = &plan->capacity;
    return plan->room >= capacity->room / 2 || plan->in_size >= capacity->in / 2 ||
           plan->blocks >= capacity->blocks / 2 || plan->frames >= capacity->frames / 2;
}

/* Gives the frame that does not fit back, all of it, if the batch will then be copied frame by
 * frame: it and the next one can stand alone. Not for a few tiny frames before a large one. */
static void end_before(const struct frame_begin *begin, struct zstd_walk *walk,
                       struct zstd_plan *plan)
{
    struct zstd_batch batch = {0};
    zstd_batch_set_plan(&batch, &begin->plan);
    if (!begin->is_there || batch.frames == 0 || !is_half_full(&begin->plan) ||
        !zstd_copies_frames(&batch))
        return;
    *walk = begin->walk;
    *plan = begin->plan;
}

enum zstd_planned zstd_plan_more(struct zstd_walk *walk, struct zstd_plan *plan,
                                 const unsigned char *in, size_t len)
{
    const uint32_t before = plan->blocks;
    enum step step = STEP_TAKEN;
    plan->in_at = plan->in_size;
    plan->taken = 0;
    struct frame_begin begin = {.is_there = false};
    while (step == STEP_TAKEN && plan->taken < len) {
        const unsigned char *at = in + plan->taken;
        uint64_t left = len - plan->taken;
        if (!walk->in_frame)
            begin = (struct frame_begin){*walk, *plan, true};
        step = walk->in_frame ? lay_block(walk, plan, at, left, &plan->need)
                              : lay_header(walk, at, left, &plan->need);
        if (step == STEP_TAKEN) {
            walk->at += plan->need;
            plan->taken += plan->need;
        }
    }
    if (step == STEP_TAKEN)
        plan->need = 1;
    if (step == STEP_FULL)
        end_before(&begin, walk, plan);
    if (plan->blocks > before)
        return ZSTD_PLANNED;
    if (step == STEP_FULL)
        return ZSTD_FULL;
    return step == STEP_LEFT ? ZSTD_LEFT : ZSTD_NEEDS_MORE;
}

enum zstd_planned zstd_plan_batch(struct zstd_walk *walk, struct zstd_plan *plan,
                                  const unsigned char *in, size_t len)
{
    zstd_plan_clear(plan);
    return zstd_plan_more(walk, plan, in, len);
}

void zstd_batch_set_plan(struct zstd_batch *batch, const struct zstd_plan *plan)
{
    batch->in_size = ZSTD_CARRY + plan->in_size;
    batch->blocks = plan->blocks;
    batch->frames = plan->frames;
    batch->room = plan->room;
    batch->frame_room = plan->frame_room;
    batch->begins = plan->frames > 0 && plan->frame[0].begins;
}

uint32_t zstd_window_after(const struct zstd_walk *walk)
{
    return walk->in_frame && walk->has_begun ? walk->window : 0;
}

/* --- memory --- */

/* Lays arrays one after the other. */
struct memory {
    unsigned char *at; /* NULL: only sizes are asked for */
    size_t size;
};

static void *array(struct memory *memory, uint64_t count, size_t size)
{
    void *at = memory->at ? memory->at + memory->size : NULL;
    memory->size += (size_t)((count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return at;
}

size_t zstd_own_memory(struct zstd_batch *batch, const struct zstd_capacity *capacity,
                       unsigned char *at)
{
    struct memory memory = {at, 0};
    uint64_t sequences = (uint64_t)capacity->room / ZSTD_MATCH_MIN + 2 * (uint64_t)capacity->blocks;
    void *in = array(&memory, (uint64_t)ZSTD_CARRY + capacity->in + ZSTD_PADDING, 1);
    void *block = array(&memory, capacity->blocks, sizeof *batch->block);
    void *frame = array(&memory, capacity->frames, sizeof *batch->frame);
    void *verdict = array(&memory, 1, sizeof *batch->verdict);
    void *frame_ends = array(&memory, capacity->frames, sizeof *batch->frame_ends);
    void *heading = array(&memory, capacity->blocks, sizeof *batch->heading);
    void *outcome = array(&memory, capacity->blocks, sizeof *batch->outcome);
    void *literals = array(&memory, (uint64_t)capacity->room + ZSTD_PADDING, 1);
    void *sequence = array(&memory, sequences, sizeof *batch->sequences);
    (void)array(&memory, capacity->window, 1);
    void *out = array(&memory, (uint64_t)capacity->room + ZSTD_PADDING, 1);
    if (at) {
        batch->in = in;
        batch->block = block;
        batch->frame = frame;
        batch->verdict = verdict;
        batch->frame_ends = frame_ends;
        batch->heading = heading;
        batch->outcome = outcome;
        batch->literals = literals;
        batch->sequences = sequence;
        batch->out = out;
    }
    return memory.size;
}

size_t zstd_stage_memory(struct zstd_batch *batch, const struct zstd_capacity *capacity,
                         unsigned char *at)
{
    struct memory memory = {at, 0};
    void *links = array(&memory, capacity->room, sizeof *batch->links);
    if (at)
        batch->links = links;
    return memory.size;
}

/* The fewest blocks of content, and of compressed bytes, for which it is worth halving. */
#define FIT_ROOM (8 * ZSTD_BLOCK_CONTENT)
#define FIT_IN (2 * ZSTD_BLOCK_CONTENT)

uint64_t zstd_fit(struct zstd_capacity *capacity, unsigned *batches, uint32_t keep_least,
                  uint64_t most)
{
    for (;;) {
        uint64_t size = *batches * (uint64_t)zstd_own_memory(NULL, capacity, NULL) +
                        zstd_stage_memory(NULL, capacity, NULL);
        if (size <= most)
            return size;
        if (*batches > ZSTD_BATCHES_FEW) {
            --*batches;
            continue;
        }
        capacity->room /= 2;
        if (capacity->in / 2 >= FIT_IN)
            capacity->in /= 2;
        if (capacity->window > capacity->room)
            capacity->window = capacity->room;
        if (capacity->room < FIT_ROOM || capacity->in < FIT_IN || capacity->window < keep_least)
            return 0;
    }
}
