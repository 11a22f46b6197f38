/* SPDX-License-Identifier: MIT */
#include "plan.h"

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
