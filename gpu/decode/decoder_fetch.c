/* SPDX-License-Identifier: MIT */
/* Content that the host needs: a batch with an invalid sample, and what follows the last record. */
#include "decoder_internal.h"

#include <stdlib.h>
#include <string.h>

/* Copies go by this number. */
#define FETCH_READ 0

/* Begins to copy content to `to`. */
static void begin_fetch(struct gpu_decoder *decoder, const struct device_content *content,
                        unsigned char *to)
{
    decoder->fetch = (struct decoder_fetch){.is_active = true, .content = *content, .to = to};
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
    const size_t left = fetch->content.len - fetch->done;
    fetch->is_active = left > 0;
    if (left == 0)
        return 1;
    fetch->under_way = left < decoder->memory.fetch_size ? left : decoder->memory.fetch_size;
    const struct device_content piece = {
        fetch->content.slot, fetch->content.begin + (int64_t)fetch->done, fetch->under_way};
    return calls_read_content(calls, &piece, decoder->memory.fetched, FETCH_READ);
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
        begin_fetch(decoder, &(struct device_content){slot->index, batch->begin, chunk->len},
                    chunk->data);
    }
    return go_on(decoder, moved);
}

int decoder_fetch_tail(struct gpu_decoder *decoder, bool *moved)
{
    const struct content_tail *tail = &decoder->file.tail;
    if (tail->len == 0 || !decoder_file_is_done(&decoder->file))
        return 1;
    if (!decoder->fetch.is_active) {
        const int64_t begin = (int64_t)tail->last->verdict->content - (int64_t)tail->len;
        begin_fetch(decoder, &(struct device_content){tail->last->slot.index, begin, tail->len},
                    tail->bytes);
    }
    return go_on(decoder, moved);
}
