/* SPDX-License-Identifier: MIT */
#include "gzip_plan.h"

/* The limit of pieces grows by this part of it with each batch that is good. */
#define GROWTH 32

/* Returns how many bytes a batch takes, if nothing else is known. */
static uint32_t piece_max(const struct decode_capacity *capacity)
{
    const uint32_t max = capacity->room / GZIP_RATIO;
    return max < capacity->in ? max : capacity->in;
}

void gzip_plan_learn(struct gzip_walk *walk, const struct decode_plan *plan, uint32_t content)
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

bool gzip_plan_again(struct gzip_walk *walk, const struct decode_plan *plan)
{
    const uint32_t half = plan->in_size / 2;
    if (plan->in_size <= GZIP_PIECE_MIN)
        return false;
    walk->at = plan->at;
    walk->max = walk->limit = half > GZIP_PIECE_MIN ? half : GZIP_PIECE_MIN;
    return true;
}

enum decode_planned gzip_plan_piece(struct gzip_walk *walk, struct decode_plan *plan, size_t len,
                                    bool is_end)
{
    const size_t max = walk->max > 0 ? walk->max : piece_max(&plan->capacity);
    plan->in_at = plan->in_size;
    plan->taken = 0;
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
