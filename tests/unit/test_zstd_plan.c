/* SPDX-License-Identifier: MIT */
/* How the host plans batches of zstd blocks for the GPU: the same blocks and frames as the naive
 * decoder finds, however the bytes arrive and however little a batch has room for; and what it
 * leaves to libzstd. */
#include "gpu/decode/plan.h"
#include "tests/helpers/compressed.h"
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/zstd_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 1000

static unsigned cases, wrong;
static struct decode_block blocks[BLOCKS_MAX];
static struct decode_frame frames[BLOCKS_MAX];
static struct decode_frame_end frame_ends[BLOCKS_MAX];

static void check(bool right, const char *what, size_t at)
{
    cases++;
    wrong += !right;
    if (!right && wrong < 20)
        printf("FAIL: %s (%zu)\n", what, at);
}

static struct decode_plan plan_of(uint32_t blocks_max, uint32_t frames_max, uint32_t room)
{
    return (struct decode_plan){
        .capacity = {1 << 20, blocks_max, frames_max, room, 0},
        .block = blocks,
        .frame = frames,
        .frame_end = frame_ends,
    };
}

/* --- whole streams --- */

struct walked {
    const unsigned char *in;
    const struct naive_zstd *naive;
    size_t block, frame; /* of the naive decoder, that come next */
    bool has_checksums;
};

static void check_block(const struct walked *walked, const struct decode_plan *plan, uint32_t index,
                        size_t at)
{
    const struct decode_block *is = &plan->block[index];
    const struct naive_block *due = &walked->naive->blocks[walked->block];
    uint32_t room_at = index ? is[-1].room_at + is[-1].room : 0;
    check(at + is->at - DECODE_CARRY == due->at && is->size == due->size, "block elsewhere", index);
    check((int)is->type == (int)due->type, "a block of another type", index);
    check(is->room_at == room_at, "its room is elsewhere", index);
    check(is->type == DECODE_COMPRESSED ? is->room >= due->content : is->room == due->content,
          "another room", index);
    check(is->room <= DECODE_BLOCK_CONTENT, "too much room", index);
}

static void check_frame(struct walked *walked, const struct decode_plan *plan, uint32_t index,
                        bool begins)
{
    const struct decode_frame *is = &plan->frame[index];
    const struct naive_frame *due = &walked->naive->frames[walked->frame];
    check(is->begins == begins, "another begin", index);
    check(is->content == due->stated && is->window == due->window, "another header", index);
    if (is->ends) {
        const unsigned char *end = walked->in + due->at + due->size - 4;
        uint32_t hash = (uint32_t)end[0] | (uint32_t)end[1] << 8 | (uint32_t)end[2] << 16 |
                        (uint32_t)end[3] << 24;
        bool has = (walked->in[due->at + 4] & 4) != 0;
        check(plan->frame_end[index].has_checksum == has, "a checksum", index);
        check(!has || plan->frame_end[index].checksum == hash, "another checksum", index);
    }
}

/* Compares a batch that begins at `at` with what the naive decoder has next. */
static void check_batch(struct walked *walked, const struct decode_plan *plan, size_t at)
{
    uint32_t block = 0, frame_room = 0;
    for (uint32_t frame = 0; frame < plan->frames; frame++) {
        const struct decode_frame *is = &plan->frame[frame];
        const struct naive_frame *due = &walked->naive->frames[walked->frame];
        uint32_t room = 0;
        check(is->first == block && is->blocks > 0, "other blocks", frame);
        check_frame(walked, plan, frame, walked->block == due->first_block);
        for (; block < is->first + is->blocks; block++, walked->block++) {
            check(plan->block[block].frame == frame, "of another frame", block);
            check_block(walked, plan, block, at);
            room += plan->block[block].room;
        }
        if (frame_room < room)
            frame_room = room;
        check(is->ends == (walked->block == due->first_block + due->blocks), "another end", frame);
        walked->frame += is->ends;
    }
    check(block == plan->blocks, "blocks without a frame", block);
    check(frame_room == plan->frame_room, "another frame has more room", frame_room);
}

/* Walks over a stream as it arrives, `piece` bytes at a time. */
static void check_walk(const unsigned char *in, size_t len, const struct naive_zstd *naive,
                       struct decode_plan plan, size_t piece)
{
    struct decode_walk walk = {.window_max = ZSTD_WINDOW_MAX};
    struct walked walked = {.in = in, .naive = naive};
    size_t at = 0, there = 0;
    for (;;) {
        /* Exactly what has arrived, so that a sanitizer sees what is read beyond. */
        unsigned char *arrived = malloc(there - at + 1);
        if (!arrived)
            exit(1);
        memcpy(arrived, in + at, there - at);
        decode_plan_clear(&plan);
        enum decode_planned planned = decode_walk_plan(&walk, &plan, arrived, there - at, false);
        free(arrived);
        check(planned != DECODE_LEFT, "left", at);
        check(planned != DECODE_PLANNED || plan.blocks > 0, "no block", at);
        check(planned != DECODE_PLANNED || plan.in_size <= there - at, "beyond", at);
        if (planned == DECODE_LEFT)
            return;
        if (planned == DECODE_PLANNED)
            check_batch(&walked, &plan, at);
        at += plan.taken;
        check(walk.at == at, "another place", at);
        if (at >= len)
            break;
        if (planned == DECODE_NEEDS_MORE && at + plan.need <= there && plan.taken == 0) {
            check(false, "it asks for bytes that it was given", at);
            return;
        }
        there = there + piece < len ? there + piece : len;
        if (there < at)
            there = at;
    }
    check(walk.parts.next == ZSTD_HEADER && at == len, "not at the end", at);
    check(walked.block == naive->blocks_count && walked.frame == naive->frames_count,
          "blocks are missing", walked.block);
}

/* Compares a batch that was planned piece by piece, whose bytes are in `memory`, with what the
 * naive decoder has next. */
static void check_pieces(struct walked *walked, const struct decode_plan *plan,
                         const unsigned char *memory)
{
    for (uint32_t block = 0; block < plan->blocks; block++, walked->block++) {
        const struct decode_block *is = &plan->block[block];
        const struct naive_block *due = &walked->naive->blocks[walked->block];
        const struct decode_frame *frame = &plan->frame[is->frame];
        const struct naive_frame *due_frame = &walked->naive->frames[walked->frame];
        check(is->size == due->size && (int)is->type == (int)due->type, "another block", block);
        check(is->at - DECODE_CARRY + is->size <= plan->in_size, "a block beyond its batch", block);
        check(memcmp(memory + is->at - DECODE_CARRY, walked->in + due->at, is->size) == 0,
              "other bytes", block);
        bool is_last = walked->block + 1 == due_frame->first_block + due_frame->blocks;
        check(is->frame < plan->frames && block >= frame->first &&
                  block < frame->first + frame->blocks,
              "a block of another frame", block);
        check(!is_last || frame->ends, "a frame that does not end", block);
        walked->frame += is_last;
    }
}

/* Plans batches of pieces, each planned where the one before was left, and each batch until it is
 * full.
 */
static void check_laying_on(const unsigned char *in, size_t len, const struct naive_zstd *naive,
                            struct decode_plan plan, size_t piece)
{
    struct decode_walk walk = {.window_max = ZSTD_WINDOW_MAX};
    struct walked walked = {.in = in, .naive = naive};
    unsigned char *memory = malloc(plan.capacity.in);
    if (!memory)
        exit(1);
    size_t at = 0, end = 0;
    decode_plan_clear(&plan);
    while (at < len) {
        end = end > at ? end : at;
        end = end + piece < len ? end + piece : len;
        enum decode_planned planned = DECODE_PLANNED;
        while (planned == DECODE_PLANNED || planned == DECODE_FULL) {
            planned = decode_walk_plan(&walk, &plan, in + at, end > at ? end - at : 0, false);
            check(planned != DECODE_LEFT, "left", at);
            check(plan.in_size <= plan.capacity.in, "more than the batch holds", at);
            if (planned == DECODE_PLANNED)
                memcpy(memory + plan.in_at, in + at, plan.in_size - plan.in_at);
            check(planned == DECODE_PLANNED || plan.in_size == plan.in_at, "bytes of no block", at);
            at += (size_t)plan.taken;
            if (planned != DECODE_FULL)
                continue;
            check(plan.blocks > 0, "a block is too large", at);
            check_pieces(&walked, &plan, memory);
            decode_plan_clear(&plan);
        }
        if (planned == DECODE_LEFT)
            break;
    }
    check_pieces(&walked, &plan, memory);
    check(walked.block == naive->blocks_count && walked.frame == naive->frames_count,
          "blocks are missing", walked.block);
    free(memory);
}

static size_t make_stream(unsigned char *stream, size_t cap, unsigned count)
{
    static unsigned char data[300000];
    size_t len = 0;
    for (unsigned i = 0; i < count; i++) {
        struct frame_settings settings = {
            .level = (int)random_below(8),
            .window_log = random_below(2) ? 0 : 10 + (int)random_below(10),
            .checksum = random_below(2),
            .is_unsized = random_below(2),
            .flush = random_below(2) ? 0 : 100 + random_below(9000),
        };
        size_t size = random_below(random_below(4) ? 3000 : 300000);
        if (random_below(4) == 0)
            len += skippable_put(stream + len, random_below(3000));
        frame_content((enum frame_content)random_below(CONTENT_KINDS), data, size);
        len += frame_compress(stream + len, cap - len, &settings, data, size);
    }
    return len;
}

static void check_streams(void)
{
    size_t cap = 6000000;
    unsigned char *stream = malloc(cap);
    if (!stream)
        exit(1);
    for (unsigned round = 0; round < (scale_is_small_or_slow() ? 25 : 300); round++) {
        struct naive_zstd naive;
        size_t len = make_stream(stream, cap, 1 + random_below(12));
        check(naive_zstd_decode(&naive, stream, len), "the naive decoder refuses it", round);
        check_walk(stream, len, &naive, plan_of(BLOCKS_MAX, BLOCKS_MAX, 1 << 23), len);
        check_walk(stream, len, &naive, plan_of(1, 1, DECODE_BLOCK_CONTENT), len);
        check_walk(stream, len, &naive, plan_of(7, 2, 200000), 1 + random_below(2000));
        check_walk(stream, len, &naive, plan_of(BLOCKS_MAX, 3, 500000), 1 + random_below(200000));
        check_laying_on(stream, len, &naive, plan_of(BLOCKS_MAX, BLOCKS_MAX, 1 << 23),
                        1 + random_below(2000));
        check_laying_on(stream, len, &naive, plan_of(BLOCKS_MAX, 5, 700000),
                        1 + random_below(300000));
        check_laying_on(stream, len, &naive, plan_of(3, 2, 1 << 23), len);
        if (len < 3000)
            check_walk(stream, len, &naive, plan_of(2, 2, DECODE_BLOCK_CONTENT), 1);
        naive_zstd_free(&naive);
    }
    free(stream);
}

/* Plans `count` frames of `size` bytes each, in batches with room for `room` bytes, as `piece`
 * bytes arrive at a time. Returns how many batches begin with a frame and end with one; -1, if not
 * all blocks were planned. */
static int count_alone(size_t size, unsigned count, uint32_t room, size_t piece)
{
    struct frame_settings settings = {.level = 1};
    size_t cap = count * frame_bound(&settings, size), len = 0, planned_blocks = 0, at = 0;
    unsigned char *in = malloc(cap), *data = malloc(size);
    if (!in || !data)
        exit(1);
    frame_content(CONTENT_RANDOM, data,
                  size); /* in raw blocks, which need no more room than that */
    for (unsigned i = 0; i < count; i++)
        len += frame_compress(in + len, cap - len, &settings, data, size);
    struct decode_walk walk = {.window_max = ZSTD_WINDOW_MAX};
    struct decode_plan plan = plan_of(BLOCKS_MAX, BLOCKS_MAX, room);
    plan.capacity.in = 1 << 28;
    int alone = 0;
    while (at < len) {
        enum decode_planned planned = DECODE_PLANNED;
        decode_plan_clear(&plan);
        for (size_t there = at; planned != DECODE_FULL && there < len;) {
            there = piece < len - there ? there + piece : len;
            do {
                planned = decode_walk_plan(&walk, &plan, in + at, there - at, false);
                at += (size_t)plan.taken;
            } while (planned == DECODE_PLANNED);
        }
        planned_blocks += plan.blocks;
        if (plan.blocks == 0)
            break;
        alone += plan.frame[0].begins && plan.frame[plan.frames - 1].ends;
    }
    free(in);
    free(data);
    bool all = planned_blocks == count * ((size - 1) / DECODE_BLOCK_CONTENT + 1);
    return all ? alone : -1;
}

/* A batch of many frames ends between two of them; others hold as many blocks as there is room. */
static void check_many_frames(void)
{
    const size_t all = SIZE_MAX / 2;
    check(count_alone(150000, 300, 99 * 150000 + 140000, all) == 4, "one of 99 frames is cut", 0);
    check(count_alone(150000, 300, 90 * 150000 + 140000, all) < 4, "one of 90 frames is not", 0);
    check(count_alone(300000, 10, 800000, all) == 0, "one of few frames is not", 0);
    check(count_alone(150000, 300, 99 * 150000 + 140000, 1009) >= 0, "blocks are missing", 1009);
    check(count_alone(150000, 300, 99 * 150000 + 140000, 5000000) >= 2, "all are cut", 5000000);
}

/* Blocks without content take no place in a batch, however many there are; but for the last one. */
static void check_empty_blocks(size_t piece)
{
    static unsigned char frame[100000] = {0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3};
    const size_t len = 6 + 3 * 30000;
    struct decode_walk walk = {.window_max = ZSTD_WINDOW_MAX};
    struct decode_plan plan = plan_of(1, 1, 0);
    frame[len - 3] = 1;
    plan.capacity.in = 1000;
    decode_plan_clear(&plan);
    for (size_t at = 0; at < len; at += (size_t)plan.taken) {
        const size_t left = len - at, some = left < piece ? left : piece;
        const enum decode_planned planned = decode_walk_plan(&walk, &plan, frame + at, some, false);
        check(planned == (some < left || plan.blocks == 0 ? DECODE_NEEDS_MORE : DECODE_PLANNED),
              "empty blocks in a batch", at);
        if (plan.taken == 0)
            break;
    }
    check(plan.blocks == 1 && plan.frame[0].begins && plan.frame[0].ends &&
              walk.parts.next == ZSTD_HEADER,
          "not all of the frame", walk.at);
}

/* --- what is left to libzstd --- */

struct left {
    const char *what;
    size_t len;
    unsigned char in[16];
    enum decode_planned planned;
};

static const struct left all_left[] = {
    {"an empty block", 9, {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0}, DECODE_PLANNED},
    {"no content at all", 0, {0}, DECODE_NEEDS_MORE},
    {"part of a magic number", 3, {0x28, 0xb5, 0x2f}, DECODE_NEEDS_MORE},
    {"part of a block", 8, {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0}, DECODE_NEEDS_MORE},
    {"text", 8, "some text", DECODE_LEFT},
    {"a frame of zstd 0.7", 9, {0x27, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0}, DECODE_LEFT},
    {"a reserved bit", 9, {0x28, 0xb5, 0x2f, 0xfd, 0x28, 0, 1, 0, 0}, DECODE_LEFT},
    {"a dictionary", 10, {0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 0, 1, 0, 0}, DECODE_LEFT},
    {"no dictionary, as a number",
     10,
     {0x28, 0xb5, 0x2f, 0xfd, 0x21, 0, 0, 1, 0, 0},
     DECODE_PLANNED},
    {"a window of 128 MiB", 9, {0x28, 0xb5, 0x2f, 0xfd, 0, 17 << 3, 1, 0, 0}, DECODE_PLANNED},
    {"a larger window", 9, {0x28, 0xb5, 0x2f, 0xfd, 0, 17 << 3 | 1, 1, 0, 0}, DECODE_LEFT},
    {"the largest window", 9, {0x28, 0xb5, 0x2f, 0xfd, 0, 0xff, 1, 0, 0}, DECODE_LEFT},
    {"a reserved type of block", 9, {0x28, 0xb5, 0x2f, 0xfd, 0, 0, 7, 0, 0}, DECODE_LEFT},
    {"a block of a byte too many", 9, {0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0x09, 0x20, 0}, DECODE_LEFT},
    {"one that is not all there",
     9,
     {0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0x01, 0x20, 0},
     DECODE_NEEDS_MORE},
    {"without its checksum", 9, {0x28, 0xb5, 0x2f, 0xfd, 0x24, 0, 1, 0, 0}, DECODE_NEEDS_MORE},
    {"with its checksum",
     13,
     {0x28, 0xb5, 0x2f, 0xfd, 0x24, 0, 1, 0, 0, 1, 2, 3, 4},
     DECODE_PLANNED},
};

static void check_left(void)
{
    for (size_t i = 0; i < sizeof all_left / sizeof *all_left; i++) {
        const struct left *left = &all_left[i];
        struct decode_walk walk = {.window_max = ZSTD_WINDOW_MAX};
        struct decode_plan plan = plan_of(10, 10, DECODE_BLOCK_CONTENT);
        check(decode_walk_plan(&walk, &plan, left->in, left->len, false) == left->planned,
              left->what, left->len);
    }
    struct decode_walk walk = {.window_max = ZSTD_WINDOW_MAX, .leave_checksums = true};
    struct decode_plan plan = plan_of(10, 10, DECODE_BLOCK_CONTENT);
    const struct left *last = &all_left[sizeof all_left / sizeof *all_left - 1];
    check(decode_walk_plan(&walk, &plan, last->in, last->len, false) == DECODE_LEFT,
          "a checksum is taken", 0);
}

/* A skippable frame that is not all there, and what follows it. */
static void check_skippable(void)
{
    const unsigned char in[8] = {0x5f, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff};
    struct decode_walk walk = {.window_max = ZSTD_WINDOW_MAX};
    struct decode_plan plan = plan_of(10, 10, DECODE_BLOCK_CONTENT);
    check(decode_walk_plan(&walk, &plan, in, sizeof in, false) == DECODE_NEEDS_MORE, "planned", 0);
    check(plan.taken == 8 + (uint64_t)0xffffffff && walk.at == plan.taken, "not skipped", 0);
    decode_plan_clear(&plan);
    check(decode_walk_plan(&walk, &plan, all_left[0].in, 9, false) == DECODE_PLANNED,
          "nothing after it", 0);
}

/* --- memory --- */

static void check_inside(const void *at, size_t size, const unsigned char *memory, size_t all,
                         size_t before)
{
    size_t offset = (size_t)((const unsigned char *)at - memory);
    check(offset % 256 == 0 && offset >= before && offset + size <= all, "an array outside",
          offset);
}

static void check_memory(void)
{
    struct decode_capacity capacity = {300001, 77, 11, 200003, 70001};
    struct decode_batch batch;
    unsigned char *memory = malloc(decode_own_memory(NULL, &capacity, NULL) +
                                   decode_stage_memory(NULL, &capacity, NULL));
    if (!memory)
        exit(1);
    size_t all = decode_own_memory(&batch, &capacity, memory);
    check(all == decode_own_memory(NULL, &capacity, NULL), "another size", all);
    check_inside(batch.in, DECODE_CARRY + 300001 + DECODE_PADDING, memory, all, 0);
    check_inside(batch.block, 77 * sizeof *batch.block, memory, all,
                 DECODE_CARRY + 300001 + DECODE_PADDING);
    check_inside(batch.frame, 11 * sizeof *batch.frame, memory, all, 0);
    check_inside(batch.out, 200003 + DECODE_PADDING, memory, all, 70001);
    check_inside(batch.heading, 77 * sizeof *batch.heading, memory, all, 0);
    check_inside(batch.outcome, 77 * sizeof *batch.outcome, memory, all,
                 77 * sizeof *batch.heading);
    check_inside(batch.sequences, (200003 / 3 + 2 * 77) * sizeof *batch.sequences, memory, all, 0);
    check_inside(batch.literals, 200003 + DECODE_PADDING, memory, all, 0);
    check((unsigned char *)batch.out - 70001 >=
              (unsigned char *)(batch.sequences + 200003 / 3 + 2 * 77),
          "arrays overlap", 0);
    check((const unsigned char *)batch.out - 70001 >=
              (const unsigned char *)batch.verdict + sizeof *batch.verdict,
          "no room for the window", 0);
    all = decode_stage_memory(&batch, &capacity, memory);
    check(all == decode_stage_memory(NULL, &capacity, NULL), "another size", all);
    check_inside(batch.links, 200003 * sizeof *batch.links, memory, all, 0);
    free(memory);
}

/* Devices of every size: what is taken is no more than there is, and as much as half of it unless
 * that is more than was wanted. */
static void check_fit(void)
{
    const struct decode_capacity wanted = {32u << 20, 4096, 4096, 128u << 20, ZSTD_WINDOW_MAX};
    struct decode_capacity capacity = wanted;
    const unsigned many = DECODE_BATCHES_FEW + 2;
    unsigned batches = many;
    const uint64_t all = decode_fit_memory(&capacity, &batches, 4096, UINT64_MAX),
                   gib = (uint64_t)1 << 30;
    check(all > many * (uint64_t)wanted.room && capacity.room == wanted.room, "not all", all);
    check(batches == many, "fewer than were wanted", batches);
    check(decode_fit_memory(&capacity, &batches, 4096, 8 * gib / 4 * 3) > 0 && batches < many,
          "not fewer", batches);
    check(capacity.room == wanted.room && capacity.window == wanted.window, "too much for 8 GiB",
          capacity.room);
    for (uint64_t max = 2 * all; max > 0; max /= 2) {
        capacity = wanted;
        batches = many;
        uint64_t size = decode_fit_memory(&capacity, &batches, 4096, max);
        check(size <= max, "more than there is", max);
        check(size == 0 || size == all || size > max / 2 - max / 16, "little of it", max);
        check(size == 0 ||
                  (capacity.room >= 1 << 20 && capacity.in >= 1 << 18 && capacity.window >= 4096),
              "too small", max);
        check(size == 0 || batches >= DECODE_BATCHES_FEW, "too few", max);
        check(size > 0 || max < 64 << 20, "nothing fits", max);
    }
    capacity = wanted;
    batches = 3;
    check(decode_fit_memory(&capacity, &batches, 4096, all / 16) > 0 && batches == 3,
          "another number", 3);
    capacity = wanted;
    batches = many;
    check(decode_fit_memory(&capacity, &batches, 64 << 20, all / 11) == 0, "less than must be kept",
          0);
}

int main(void)
{
    check_fit();
    check_many_frames();
    check_empty_blocks(10);
    check_empty_blocks(1000);
    check_left();
    check_skippable();
    check_memory();
    check_streams();
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
