/* SPDX-License-Identifier: MIT */
/* Fetches content that the host needs: a batch with an invalid sample, and the bytes after the last
 * record. */
#include "gpu/engine/gpu_engine_internal.h"

#include <stdlib.h>
#include <string.h>

/* The number by which these copies are known to the device's calls. */
#define FETCH_READ 0

/* Begins to copy content of a slot. */
static void begin_fetch(struct gpu_decoder *decoder, const struct slot *slot,
                        struct device_content content)
{
    decoder->fetch = (struct decoder_fetch){.slot = slot->index, .left = content};
}

static int go_on(struct gpu_decoder *decoder, bool *moved)
{
    struct decoder_fetch *fetch = &decoder->fetch;
    struct device_content *left = &fetch->left;
    struct device_thread *thread = decoder->gpu->thread;
    if (fetch->under_way > 0) {
        int arrived = device_thread_arrived(thread, WORK_READ_CONTENT, FETCH_READ);
        if (arrived != 1)
            return arrived;
        memcpy(left->to, decoder->memory.fetched, fetch->under_way);
        left->to += fetch->under_way;
        left->begin += (int64_t)fetch->under_way;
        left->len -= fetch->under_way;
        fetch->under_way = 0;
        *moved = true;
    }
    if (left->len == 0)
        return 1;
    fetch->under_way =
        left->len < decoder->memory.fetch_size ? left->len : decoder->memory.fetch_size;
    const struct device_work work = {
        .kind = WORK_READ_CONTENT,
        .slot = fetch->slot,
        .copy = FETCH_READ,
        .content = {left->begin, fetch->under_way, decoder->memory.fetched},
    };
    return device_thread_post(thread, &work);
}

int decoder_fetch_batch(struct gpu_decoder *decoder, struct slot *slot, bool *moved)
{
    const struct decoder_batch *batch = (struct decoder_batch *)(void *)slot;
    struct chunk *chunk = &slot->chunk;
    if (decoder->fetch.left.len == 0) {
        const uint64_t left = decoder->gpu->options.memory_left();
        chunk->data = chunk->len <= left / 2 ? malloc(chunk->len) : NULL;
        if (!chunk->data)
            return 1;
        begin_fetch(decoder, slot, (struct device_content){batch->begin, chunk->len, chunk->data});
    }
    return go_on(decoder, moved);
}

int decoder_fetch_tail(struct gpu_decoder *decoder, bool *moved)
{
    const struct content_tail *tail = &decoder->file.tail;
    if (tail->len == 0 || decoder->file.end != FILE_WHOLE)
        return 1;
    if (decoder->fetch.left.len == 0) {
        const int64_t begin = (int64_t)tail->last->verdict->content - (int64_t)tail->len;
        begin_fetch(decoder, &tail->last->slot,
                    (struct device_content){begin, tail->len, tail->bytes});
    }
    return go_on(decoder, moved);
}
