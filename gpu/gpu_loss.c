/* SPDX-License-Identifier: MIT */
/* The device is lost, and what was in flight is counted by the fallback. */
#include "gpu_engine_internal.h"

#include <stdlib.h>

void gpu_lose(struct gpu_engine *gpu, const char *why)
{
    calls_leave(gpu->calls);
    recovery_lose(&gpu->recovery, why);
}

void gpu_lose_by_call(struct gpu_engine *gpu)
{
    gpu_lose(gpu, calls_reason(gpu->calls));
}

/* Content that was fetched in part is dropped: a batch is not recounted, but decoded again. */
bool gpu_recount(struct gpu_engine *gpu)
{
    if (!gpu->recovery.lost)
        return false;
    for (struct slot *slot = gpu->slots.oldest; slot; slot = slot->next) {
        if (!decoder_queue_has(&gpu->decoder, slot))
            continue;
        free(slot->chunk.data);
        slot->chunk.data = NULL;
    }
    gpu->decoder.fetch.left.len = 0;
    recovery_recount(&gpu->recovery, &gpu->slots, gpu->histogram, gpu->engine.lines);
    return true;
}
