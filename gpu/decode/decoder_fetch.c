/* SPDX-License-Identifier: MIT */
#include "decoder_fetch.h"

#include <stdlib.h>
#include <string.h>

/* Copies go by this number. */
#define FETCH_READ 0

/* Begins to copy content, from byte `begin` of a batch's on, to to[0..len). */
static void begin_fetch(struct gpu_decoder *decoder, const struct slot *slot, int64_t begin,
                        unsigned char *to, size_t len)
{
    decoder->fetch = (struct decoder_fetch){
        .is_active = true, .slot = slot->index, .begin = begin, .to = to, .len = len};
}

static int go_on(struct gpu_decoder *decoder, bool *moved)
{
    struct decoder_fetch *fetch = &decoder->fetch;
    struct calls *calls = decoder->options.calls;
    if (fetch->under_way > 0) {
        int arrived = calls_content_read(calls, FETCH_READ);
        if (arrived != 1)
            return arrived;
        memcpy(fetch->to + fetch->done, decoder->memory.fetched, fetch->under_way);
        fetch->done += fetch->under_way;
        fetch->under_way = 0;
        *moved = true;
    }
    const size_t left = fetch->len - fetch->done;
    fetch->is_active = left > 0;
    if (left == 0)
        return 1;
    fetch->under_way = left < decoder->memory.fetch_size ? left : decoder->memory.fetch_size;
    return calls_read_content(calls, fetch->slot, fetch->begin + (int64_t)fetch->done,
                              fetch->under_way, decoder->memory.fetched, FETCH_READ);
}

int decoder_fetch_batch(struct gpu_decoder *decoder, struct slot *slot, bool *moved)
{
    const struct decoder_batch *batch = (struct decoder_batch *)(void *)slot;
    struct chunk *chunk = &slot->chunk;
    if (!decoder->fetch.is_active) {
        uint64_t (*memory_left)(void) = decoder->options.memory_left;
        const uint64_t left = memory_left ? memory_left() : UINT64_MAX;
        chunk->data = chunk->len <= left / 2 ? malloc(chunk->len) : NULL;
        if (!chunk->data)
            return 1;
        begin_fetch(decoder, slot, batch->begin, chunk->data, chunk->len);
    }
    return go_on(decoder, moved);
}

int decoder_fetch_tail(struct gpu_decoder *decoder, bool *moved)
{
    const struct content_tail *tail = &decoder->file.tail;
    if (tail->len == 0 || !decoder_file_is_done(&decoder->file))
        return 1;
    if (!decoder->fetch.is_active)
        begin_fetch(decoder, &tail->last->slot,
                    (int64_t)tail->last->verdict->content - (int64_t)tail->len, tail->bytes,
                    tail->len);
    return go_on(decoder, moved);
}
