/* SPDX-License-Identifier: MIT */
#include "gpu_engine_internal.h"
#include "src/input/records.h"

#include <stdlib.h>
#include <string.h>

void gpu_lose(struct gpu_engine *gpu, const char *why)
{
    device_thread_leave(gpu->thread);
    if (gpu->is_lost)
        return;
    error_set(&gpu->error, "%s", why);
    gpu->is_lost = true;
}

void gpu_lose_by_call(struct gpu_engine *gpu)
{
    gpu_lose(gpu, device_thread_error(gpu->thread));
}

const char *gpu_loss(struct engine *engine)
{
    const struct gpu_engine *gpu = gpu_of(engine);
    if (gpu->has_failed && gpu->why_not_all.text[0])
        return gpu->why_not_all.text;
    return gpu->is_lost ? gpu->error.text : NULL;
}

/* Counts a chunk by the fallback, in memory of the fallback's, which no late copy of the device can
 * reach. 0, or -1: out of memory. */
static int recount_chunk(struct engine *fallback, const struct chunk *chunk,
                         const struct histogram_spec *spec)
{
    struct records records = {.kind = record_kind_of_all(spec), .field = &spec->lines.field};
    struct origin origin = {.bytes = chunk->origin.bytes,
                            .at.file = chunk->origin.at.file,
                            .columns = chunk->origin.columns,
                            .has_header = chunk->origin.has_header};
    int rc = 0;
    for (size_t done = chunk->begin; rc == 0 && done < chunk->len;) {
        struct chunk *fresh = engine_acquire(fallback, true);
        size_t left = chunk->len - done, len = left < fresh->cap ? left : fresh->cap;
        records_resume(&records, fresh); /* only of texts, which have room */
        size_t waited = fresh->len;
        memcpy(fresh->data + waited, chunk->data + done, len);
        fresh->len += len;
        fresh->origin = origin;
        done += len;
        rc = records_cut(&records, fresh, waited, done == chunk->len);
        origin.bytes = 0;
        origin.has_header &= fresh->len == 0; /* it is not whole yet */
        fallback->ops->submit(fallback, fresh);
    }
    records_close(&records);
    return rc;
}

/* Content that was fetched in part is dropped: a batch is not recounted, but decoded again. */
static void drop_fetched(struct gpu_engine *gpu)
{
    for (struct slot *slot = gpu->slots.oldest; slot; slot = slot->next) {
        if (!decoder_queue_has(&gpu->decoder, slot))
            continue;
        free(slot->chunk.data);
        slot->chunk.data = NULL;
    }
    gpu->decoder.fetch.left.len = 0;
}

bool gpu_recount(struct gpu_engine *gpu)
{
    struct engine *fallback = gpu->options.fallback;
    if (!gpu->is_lost)
        return false;
    drop_fetched(gpu);
    if (!fallback || !snapshot_is_small(gpu->spec))
        gpu->has_failed = true;
    while (gpu->slots.oldest && !gpu->has_failed) {
        const struct chunk *chunk = &slots_arrive(&gpu->slots)->chunk;
        if (!chunk->data)
            continue;
        if (recount_chunk(fallback, chunk, gpu->spec) == 0) {
            error_locator_add_unseen(gpu->engine.locator, chunk);
        } else {
            error_set(&gpu->why_not_all, "out of memory");
            gpu->has_failed = true;
        }
    }
    return true;
}
