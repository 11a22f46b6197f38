/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <string.h>

/* --- memory --- */

#define ALIGNMENT 256u /* bytes */

/* Takes an array from memory that begins at `at`, after the *size bytes that were taken. NULL if
 * only the size is asked for. */
static void *array(unsigned char *at, size_t *size, uint64_t count, size_t each)
{
    void *array = at ? at + *size : NULL;
    *size += (size_t)((count * each + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return array;
}

/* Units of gzip for each block of zstd that a batch has memory for. Blocks of gzip mostly have a
 * hundred KiB, and so do units; a block may be parsed twice, and a candidate may be no block. */
#define UNITS_FOR_EACH 4u

static size_t take_gzip(struct gzip_batch *gzip, const struct decode_capacity *capacity,
                        unsigned char *at, size_t size)
{
    gzip->candidates_max =
        2 * capacity->blocks < GZIP_CANDIDATES_MAX ? 2 * capacity->blocks : GZIP_CANDIDATES_MAX;
    gzip->parts_max = gzip->candidates_max + capacity->blocks;
    gzip->units_max = UNITS_FOR_EACH * capacity->blocks;
    gzip->blocks_max = capacity->blocks;
    gzip->frames_max = capacity->frames;
    gzip->literals_max = capacity->room;
    gzip->candidates = array(at, &size, gzip->candidates_max, sizeof *gzip->candidates);
    gzip->parts = array(at, &size, gzip->parts_max, sizeof *gzip->parts);
    gzip->units = array(at, &size, gzip->units_max, sizeof *gzip->units);
    gzip->members = array(at, &size, capacity->frames, sizeof *gzip->members);
    gzip->counters = array(at, &size, 1, sizeof *gzip->counters);
    gzip->segments = array(at, &size, capacity->room / GZIP_SEGMENT + 1, sizeof *gzip->segments);
    return size;
}

size_t decode_own_memory(struct decode_batch *batch, const struct decode_capacity *capacity,
                         unsigned char *at)
{
    const uint64_t blocks = capacity->blocks, room = (uint64_t)capacity->room;
    const uint32_t sequences = decode_sequences_at(capacity->room, capacity->blocks);
    const uint32_t symbols = capacity->room / (sizeof *batch->sequences / sizeof(uint16_t)) + 2;
    struct decode_batch unused;
    size_t size = 0;
    if (!at)
        batch = &unused;
    batch->in = array(at, &size, (uint64_t)DECODE_CARRY + capacity->in + DECODE_PADDING, 1);
    batch->block = array(at, &size, blocks, sizeof *batch->block);
    batch->frame = array(at, &size, capacity->frames, sizeof *batch->frame);
    batch->verdict = array(at, &size, 1, sizeof *batch->verdict);
    batch->frame_ends = array(at, &size, capacity->frames, sizeof *batch->frame_ends);
    batch->heading = array(at, &size, blocks, sizeof *batch->heading);
    batch->outcome = array(at, &size, blocks, sizeof *batch->outcome);
    batch->literals = array(at, &size, room + DECODE_PADDING, 1);
    batch->sequences = array(at, &size, sequences, sizeof *batch->sequences);
    batch->counts = array(at, &size, 1, sizeof *batch->counts);
    size = take_gzip(&batch->gzip, capacity, at, size);
    /* Symbols and sequences of gzip share the memory of zstd's sequences. Symbols get most of it,
     * as gzip has fewer sequences: a match of three bytes takes more than one compressed byte, and
     * a batch has one compressed byte for sixteen bytes of room. */
    batch->gzip.sequences_max = (sequences - symbols) & ~1u;
    if (at)
        batch->gzip.symbols = (uint16_t *)(batch->sequences + batch->gzip.sequences_max);
    (void)array(at, &size, capacity->window, 1);
    batch->out = array(at, &size, room + DECODE_PADDING, 1);
    return size;
}

size_t decode_stage_memory(struct decode_batch *batch, const struct decode_capacity *capacity,
                           unsigned char *at)
{
    size_t size = 0;
    void *links = array(at, &size, capacity->room, sizeof *batch->links);
    if (at)
        batch->links = links;
    return size;
}

/* The fewest blocks of content, and of compressed bytes, for which it is worth halving. */
#define FIT_ROOM (8 * DECODE_BLOCK_CONTENT)
#define FIT_IN (2 * DECODE_BLOCK_CONTENT)

uint64_t decode_fit_memory(struct decode_capacity *capacity, unsigned *batches, uint32_t keep_min,
                           uint64_t max)
{
    for (;;) {
        uint64_t size = *batches * (uint64_t)decode_own_memory(NULL, capacity, NULL) +
                        decode_stage_memory(NULL, capacity, NULL);
        if (size <= max)
            return size;
        if (*batches > DECODE_BATCHES_FEW) {
            --*batches;
            continue;
        }
        capacity->room /= 2;
        if (capacity->in / 2 >= FIT_IN)
            capacity->in /= 2;
        if (capacity->window > capacity->room)
            capacity->window = capacity->room;
        if (capacity->room < FIT_ROOM || capacity->in < FIT_IN || capacity->window < keep_min)
            return 0;
    }
}

/* --- a plan --- */

void decode_plan_clear(struct decode_plan *plan)
{
    plan->blocks = plan->frames = plan->room = plan->frame_room = 0;
    plan->in_size = plan->in_at = 0;
    plan->taken = 0;
    plan->is_complete = plan->is_end = false;
    plan->at = 0;
}

void decode_batch_set_plan(struct decode_batch *batch, const struct decode_plan *plan)
{
    batch->format = plan->format;
    batch->gzip.is_end = plan->is_end;
    batch->in_size = DECODE_CARRY + plan->in_size;
    if (plan->blocks > 0)
        batch->counts = NULL;
    batch->blocks = plan->blocks;
    batch->frames = plan->frames;
    batch->room = plan->room;
    batch->frame_room = plan->frame_room;
    batch->begins = plan->frames > 0 && plan->frame[0].begins;
}

/* --- zstd: frames --- */

/* Goes over the header of a frame, or over a skippable frame. DECODE_PLANNED: it was taken. Sets
 * *need to its bytes, or those that must be there. */
static enum decode_planned plan_header(struct decode_walk *walk, const unsigned char *in,
                                       size_t len, uint64_t *need)
{
    const struct zstd_frame_header *header = &walk->parts.header;
    const enum zstd_parsed parsed = zstd_part_read(&walk->parts, in, len, need);
    if (parsed != ZSTD_PARSED)
        return parsed == ZSTD_SHORT ? DECODE_NEEDS_MORE : DECODE_LEFT;
    if (header->dictionary != 0 || header->window > walk->window_max ||
        (header->has_checksum && walk->leave_checksums))
        return DECODE_LEFT;
    *need += header->skipped;
    if (!header->is_skippable) {
        walk->has_begun = false;
        walk->known = 0;
    }
    zstd_part_pass(&walk->parts);
    return DECODE_PLANNED;
}

/* --- zstd: blocks --- */

/* True if the plan has no frame yet to which the next block belongs. */
static bool needs_frame(const struct decode_walk *walk, const struct decode_plan *plan)
{
    return !walk->has_begun || plan->blocks == 0;
}

/* True if the batch has memory for a block that takes `size` compressed bytes. */
static bool fits(const struct decode_walk *walk, const struct decode_plan *plan,
                 const struct decode_block *block, uint64_t size)
{
    return plan->blocks < plan->capacity.blocks &&
           block->room <= plan->capacity.room - plan->room &&
           plan->in_at + plan->taken + size <= plan->capacity.in &&
           (!needs_frame(walk, plan) || plan->frames < plan->capacity.frames);
}

/* Ends the frame; in[0] is what follows its last block. */
static void end_frame(struct decode_walk *walk, struct decode_plan *plan, const unsigned char *in)
{
    const uint32_t frame = plan->frames - 1;
    plan->frame[frame].ends = true;
    if (!walk->parts.header.has_checksum)
        return;
    plan->frame_end[frame] = (struct decode_frame_end){
        true, in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24};
    zstd_part_pass(&walk->parts);
}

/* Adds a block that takes `size` bytes, with its header and the checksum after it. */
static void add_block(struct decode_walk *walk, struct decode_plan *plan,
                      struct decode_block *block, uint64_t size)
{
    if (needs_frame(walk, plan)) {
        plan->frame_end[plan->frames] = (struct decode_frame_end){.has_checksum = false};
        plan->frame[plan->frames++] =
            (struct decode_frame){.content = walk->parts.header.content,
                                  .window = (uint32_t)walk->parts.header.window,
                                  .first = plan->blocks,
                                  .begins = !walk->has_begun};
        walk->has_begun = true;
    }
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

/* Plans a block. The same. */
static enum decode_planned plan_block(struct decode_walk *walk, struct decode_plan *plan,
                                      const unsigned char *in, uint64_t len, uint64_t *need)
{
    const struct zstd_block_header *header = &walk->parts.block;
    const enum zstd_parsed parsed = zstd_part_read(&walk->parts, in, len, need);
    if (parsed != ZSTD_PARSED)
        return parsed == ZSTD_SHORT ? DECODE_NEEDS_MORE : DECODE_LEFT;
    /* A compressed block has no more content than the frame has left. */
    const uint64_t content = walk->parts.header.content;
    const uint64_t left = content < walk->known ? 0 : content - walk->known;
    const uint64_t max = zstd_block_max(walk->parts.header.window), room = left < max ? left : max;
    struct decode_block block = {
        .at = (uint32_t)(DECODE_CARRY + plan->in_at + plan->taken + ZSTD_BLOCK_HEADER_SIZE),
        .size = header->stored,
        .room = header->type == ZSTD_STORED_COMPRESSED ? (uint32_t)room : header->size,
        .room_at = plan->room,
        .sequences_at = decode_sequences_at(plan->room, plan->blocks),
        .type = (uint32_t)header->type, /* enum decode_block_type has the same numbers */
    };
    const uint64_t end = *need;
    /* A frame may have any number of empty blocks, and a batch has few. */
    if (header->type != ZSTD_STORED_COMPRESSED && header->size == 0 && !header->is_last)
        return len < end ? DECODE_NEEDS_MORE : DECODE_PLANNED;
    *need = end + (header->is_last && walk->parts.header.has_checksum ? ZSTD_CHECKSUM_SIZE : 0);
    if (!fits(walk, plan, &block, *need))
        return DECODE_FULL;
    if (len < *need)
        return DECODE_NEEDS_MORE;
    add_block(walk, plan, &block, *need);
    zstd_part_pass(&walk->parts);
    if (header->is_last)
        end_frame(walk, plan, in + end);
    return DECODE_PLANNED;
}

/* --- zstd: batches --- */

/* The state before a frame that may not fit in the batch. */
struct savepoint {
    struct decode_walk walk;
    struct decode_plan plan;
    bool is_there;
};

/* Gives back all of the frame that does not fit, if the batch will then be copied frame by frame:
 * it and the next one can stand alone. Does not do so for a few tiny frames before a large one. */
static void end_before(const struct savepoint *before, struct decode_walk *walk,
                       struct decode_plan *plan)
{
    struct decode_batch batch = {0};
    const struct decode_capacity *capacity = &before->plan.capacity;
    decode_batch_set_plan(&batch, &before->plan);
    const bool is_half_full =
        batch.room >= capacity->room / 2 || before->plan.in_size >= capacity->in / 2 ||
        batch.blocks >= capacity->blocks / 2 || batch.frames >= capacity->frames / 2;
    if (!before->is_there || batch.frames == 0 || !is_half_full || !decode_copies_frames(&batch))
        return;
    *walk = before->walk;
    *plan = before->plan;
}

static enum decode_planned plan_blocks(struct decode_walk *walk, struct decode_plan *plan,
                                       const unsigned char *in, size_t len)
{
    const uint32_t blocks = plan->blocks;
    enum decode_planned step = DECODE_PLANNED;
    struct savepoint before = {.is_there = false};
    while (step == DECODE_PLANNED && plan->taken < len) {
        const unsigned char *at = in + plan->taken;
        const size_t left = len - (size_t)plan->taken;
        const bool in_frame = walk->parts.next == ZSTD_BLOCK;
        if (!in_frame)
            before = (struct savepoint){*walk, *plan, true};
        step = in_frame ? plan_block(walk, plan, at, left, &plan->need)
                        : plan_header(walk, at, left, &plan->need);
        if (step == DECODE_PLANNED) {
            walk->at += plan->need;
            plan->taken += plan->need;
        }
    }
    if (step == DECODE_PLANNED)
        plan->need = 1;
    if (step == DECODE_FULL)
        end_before(&before, walk, plan);
    if (plan->blocks > blocks)
        return DECODE_PLANNED;
    if (step == DECODE_FULL && plan->blocks == 0 && plan->taken > 0)
        return DECODE_NEEDS_MORE; /* without what was skipped, it may fit */
    return step == DECODE_PLANNED ? DECODE_NEEDS_MORE : step;
}

/* --- gzip --- */

/* The limit of pieces grows by this part of it with each batch that is good. */
#define GROWTH 32

/* Returns how many bytes a batch takes, if nothing else is known. */
static uint32_t piece_max(const struct decode_capacity *capacity)
{
    const uint32_t max = capacity->room / GZIP_RATIO;
    return max < capacity->in ? max : capacity->in;
}

void gzip_plan_learn(struct decode_walk *walk, const struct decode_plan *plan, uint32_t content)
{
    const uint64_t room = plan->capacity.room / 4 * 3, all = piece_max(&plan->capacity);
    uint64_t max = content > 0 ? plan->in_size * room / content : all;
    if (walk->limit > 0)
        walk->limit += walk->limit / GROWTH + 1;
    if (walk->limit >= all)
        walk->limit = 0;
    if (max > all)
        max = all;
    if (walk->limit > 0 && max > walk->limit)
        max = walk->limit;
    walk->max = max < GZIP_PIECE_MIN ? GZIP_PIECE_MIN : (uint32_t)max;
}

bool gzip_plan_again(struct decode_walk *walk, const struct decode_plan *plan)
{
    const uint32_t half = plan->in_size / 2;
    if (plan->in_size <= GZIP_PIECE_MIN)
        return false;
    walk->at = plan->at;
    walk->max = walk->limit = half > GZIP_PIECE_MIN ? half : GZIP_PIECE_MIN;
    return true;
}

static enum decode_planned plan_piece(struct decode_walk *walk, struct decode_plan *plan,
                                      size_t len, bool is_end)
{
    const size_t max = walk->max > 0 ? walk->max : piece_max(&plan->capacity);
    plan->need = GZIP_PIECE_MIN;
    if (len == 0 || (len < GZIP_PIECE_MIN && !is_end))
        return DECODE_NEEDS_MORE;
    if (plan->is_complete)
        return DECODE_FULL;
    plan->is_complete = true;
    plan->is_end = is_end && len <= max;
    plan->at = walk->at;
    plan->in_size = (uint32_t)(len < max ? len : max);
    plan->room = plan->frame_room = plan->capacity.room;
    plan->taken = plan->in_size - (plan->is_end ? 0 : GZIP_MARGIN);
    walk->at += plan->taken;
    return DECODE_PLANNED;
}

/* --- any format --- */

bool decode_format_of(const struct codec *codec, enum decode_format *format)
{
    *format = DECODE_ZSTD;
    if (strcmp(codec->name, "zstd") == 0)
        return true;
    *format = DECODE_GZIP;
#if HAVE_ISAL
    return strcmp(codec->name, "gzip") == 0;
#else
    return false;
#endif
}

enum decode_planned decode_walk_plan(struct decode_walk *walk, struct decode_plan *plan,
                                     const unsigned char *in, size_t len, bool is_end)
{
    plan->format = walk->format;
    plan->in_at = plan->in_size;
    plan->taken = 0;
    return walk->format == DECODE_GZIP ? plan_piece(walk, plan, len, is_end)
                                       : plan_blocks(walk, plan, in, len);
}
