/* SPDX-License-Identifier: MIT */
/* How a gzip file is cut into batches: however it arrives, and whatever a batch has room for, each
 * piece begins GZIP_MARGIN bytes before the end of the one before, the last one ends with the file,
 * and none is waited for longer than must be. */
#include "gpu/decode/plan.h"
#include "tests/helpers/random.h"

#include <stdio.h>

static unsigned cases, wrong;

static void check(bool is_right, const char *what, uint64_t size, uint64_t at)
{
    cases++;
    if (is_right)
        return;
    wrong++;
    printf("a file of %llu bytes, at %llu: %s\n", (unsigned long long)size, (unsigned long long)at,
           what);
}

/* A file on its way in. */
struct arriving {
    uint64_t size, arrived;
    uint64_t begin, end; /* of the last piece */
    bool is_first, is_over;
};

static size_t piece_max(const struct decode_plan *plan)
{
    const size_t room = plan->capacity.room / GZIP_RATIO;
    return room < plan->capacity.in ? room : plan->capacity.in;
}

static void check_piece(struct arriving *file, const struct decode_plan *plan, uint64_t at)
{
    const uint64_t end = at + plan->in_size;
    check(!file->is_over, "a piece after the last one", file->size, at);
    check(file->is_first || at == file->end - GZIP_MARGIN, "it begins elsewhere", file->size, at);
    check(plan->at == at, "it does not know where it is", file->size, at);
    check(end <= file->arrived, "bytes that have not come", file->size, at);
    check(plan->in_size <= piece_max(plan), "too large", file->size, at);
    check(plan->in_size >= GZIP_PIECE_MIN || plan->is_end, "too small", file->size, at);
    check(plan->in_at == 0 && plan->blocks == 0 && plan->is_complete, "not whole", file->size, at);
    check(!decode_copies_frames(
              &(struct decode_batch){.room = plan->room, .frame_room = plan->frame_room}),
          "copied by frames", file->size, at);
    check(plan->is_end == (end == file->size && file->arrived == file->size) || !plan->is_end,
          "it says wrongly that the file ends", file->size, at);
    file->begin = at;
    file->end = end;
    file->is_first = false;
    file->is_over = plan->is_end;
}

/* Plans what there is of a file, as decoder.c does. Returns what is needed from there on. */
static uint64_t plan_all(struct arriving *file, struct decode_walk *walk, struct decode_plan *plan,
                         uint64_t *at)
{
    for (;;) {
        const size_t len = (size_t)(file->arrived - *at);
        const enum decode_planned planned =
            decode_walk_plan(walk, plan, NULL, len, file->arrived == file->size);
        if (planned == DECODE_NEEDS_MORE) {
            check(plan->taken == 0, "something was taken", file->size, *at);
            return plan->need;
        }
        if (planned == DECODE_PLANNED)
            check_piece(file, plan, *at);
        else
            decode_plan_clear(plan);
        *at += plan->taken;
    }
}

static void go_through(uint64_t size, const struct decode_capacity *capacity, uint64_t step)
{
    struct arriving file = {.size = size, .is_first = true};
    struct decode_walk walk = {.format = DECODE_GZIP};
    struct decode_plan plan = {.capacity = *capacity};
    uint64_t at = 0;
    decode_plan_clear(&plan);
    while (file.arrived < size) {
        const uint64_t before = file.end, more = step > 0 ? step : 1 + random_below(20000);
        file.arrived += more < size - file.arrived ? more : size - file.arrived;
        const uint64_t need = plan_all(&file, &walk, &plan, &at);
        if (file.arrived < size)
            check(file.end > before || file.arrived - at < need, "it waits for more than it needs",
                  size, at);
        check(need <= GZIP_PIECE_MIN, "it needs too much", size, at);
    }
    check(file.is_over && file.end == size, "the end is left out", size, at);
}

/* Returns the content of a piece of a file, of which the `dense` bytes in the middle give 200 bytes
 * each, and others three. */
static uint32_t content_of(const struct decode_plan *plan, uint64_t size, uint64_t dense)
{
    const uint64_t begin = (size - dense) / 2, end = begin + dense, last = plan->at + plan->in_size;
    const uint64_t from = plan->at > begin ? plan->at : begin, to = last < end ? last : end;
    const uint64_t inside = from < to ? to - from : 0;
    return (uint32_t)(200 * inside + 3 * (plan->in_size - inside));
}

/* Goes back where there is no room for what a piece gives, to pieces that become smaller, and then
 * larger again. */
static void go_back(uint64_t size, uint64_t dense)
{
    struct decode_walk walk = {.format = DECODE_GZIP};
    struct decode_plan plan = {.capacity = {.in = 8 << 20, .room = 16 << 20}};
    unsigned refused = 0;
    uint64_t end = 0;
    for (bool is_end = false; !is_end;) {
        const uint64_t at = walk.at;
        decode_plan_clear(&plan);
        if (decode_walk_plan(&walk, &plan, NULL, (size_t)(size - at), true) != DECODE_PLANNED)
            break;
        const uint32_t content = content_of(&plan, size, dense);
        check(plan.in_size <= piece_max(&plan), "too large", size, at);
        if (content <= plan.capacity.room) {
            end = plan.at + plan.in_size;
            is_end = plan.is_end;
            gzip_plan_learn(&walk, &plan, content);
            continue;
        }
        refused++;
        check(gzip_plan_again(&walk, &plan) && walk.at == at, "it does not go back", size, at);
    }
    check(end == size, "the end is left out", size, end);
    check(refused <= 8, "it goes back too often", size, refused);
    check(dense > 0 || walk.max == piece_max(&plan), "pieces stay small", size, walk.max);
    plan.in_size = GZIP_PIECE_MIN;
    check(!gzip_plan_again(&walk, &plan), "smaller than the smallest", size, 0);
}

int main(void)
{
    static const uint64_t sizes[] = {1,     18,    4095,  4096,  4097,  8191,   8192,  8193,
                                     12288, 24575, 24576, 24577, 45056, 300000, 999999};
    static const struct decode_capacity capacities[] = {
        {.in = 512 << 10, .room = 3 << 17},
        {.in = 12000, .room = 1 << 20},
        {.in = 64 << 20, .room = 128 << 20},
    };
    static const uint64_t steps[] = {0, 1000, 8192, 100000, UINT64_MAX};
    random_seed(20261126);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t k = 0; k < sizeof capacities / sizeof capacities[0]; k++)
            for (size_t n = 0; n < sizeof steps / sizeof steps[0]; n++)
                go_through(sizes[i], &capacities[k], steps[n]);
    go_back(50000000, 0);
    go_back(50000000, 20000);
    go_back(50000000, 5000000);
    go_back(50000000, 50000000);
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong > 0;
}
