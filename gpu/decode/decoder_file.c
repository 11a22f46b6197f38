/* SPDX-License-Identifier: MIT */
#include "decoder_internal.h"
#include "src/input/records.h"

#include <stdlib.h>
#include <string.h>

struct decoder_file decoder_file_begin(const struct compressed_start *start,
                                       const struct record_kind *kind,
                                       const struct decode_walk *walk)
{
    return (struct decoder_file){.start = *start, .kind = *kind, .walk = *walk, .need = 1};
}

/* --- batches --- */

/* Gets the last bytes of the content up to and with a batch, of which `own` are to be counted: at
 * least as many as a character can be cut off after. Returns how many. */
static size_t last_bytes(const struct decoder_file *file, const struct decode_verdict *verdict,
                         uint32_t own, unsigned char bytes[2 * CHARACTER_SIZE_MAX])
{
    const size_t cut = file->tail.len, new = own < 4 ? own : 4;
    memcpy(bytes, file->tail.cut, cut);
    for (size_t i = 0; i < new; i++)
        bytes[cut + i] = (unsigned char)(verdict->last >> (32 - 8 * (new - i)));
    return cut + new;
}

uint64_t decoder_file_tail(const struct decoder_file *file, const struct decode_verdict *verdict)
{
    const struct record_kind *kind = &file->kind;
    const uint32_t own = verdict->content;
    const uint64_t all = (uint64_t)file->tail.len + own;
    unsigned char last[2 * CHARACTER_SIZE_MAX];
    if (kind->type == RECORD_PAIRS)
        return all > 0;
    if (kind->type == RECORD_CHARACTERS)
        return characters_tail(last, last_bytes(file, verdict, own, last));
    if (!record_is_text(kind))
        return all % kind->size;
    return verdict->tail >= own ? all : verdict->tail;
}

/* Returns the bytes from the tail of the batch before to that of a batch. */
static size_t bytes_between(const struct decoder_file *file, const struct decode_verdict *verdict,
                            uint64_t tail)
{
    return (size_t)file->tail.len + verdict->content - tail;
}

bool decoder_file_is_empty(const struct decoder_file *file, const struct decode_verdict *verdict,
                           uint64_t tail)
{
    return bytes_between(file, verdict, tail) == 0;
}

/* Goes on to the end of a batch. The last byte of pairs is shared, as it is in two of them. */
void decoder_file_advance(struct decoder_file *file, struct decoder_batch *batch, uint32_t tail)
{
    const struct decode_verdict *verdict = batch->verdict;
    struct chunk *chunk = &batch->slot.chunk;
    const size_t own = bytes_between(file, verdict, tail);
    batch->shared = file->kind.type == RECORD_PAIRS && own > 0 ? tail : 0;
    batch->begin = -(int64_t)file->tail.len;
    chunk->len = own + batch->shared;
    chunk->origin.bytes = own;
    if (file->kind.type == RECORD_CHARACTERS) {
        unsigned char last[2 * CHARACTER_SIZE_MAX];
        const size_t len = last_bytes(file, verdict, verdict->content, last);
        memcpy(file->tail.cut, last + len - tail, tail);
    }
    file->tail.len = tail;
    file->tail.last = batch;
    file->content += verdict->content;
}

void decoder_file_count(struct decoder_file *file, const struct decoder_batch *batch)
{
    file->counted += batch->slot.chunk.len - batch->shared;
    file->judged++;
}

/* --- the end --- */

struct compressed_rest decoder_file_end(struct decoder_file *file, bool is_lost)
{
    struct compressed_rest rest = {.is_refused = is_lost || file->end != FILE_WHOLE};
    if (!rest.is_refused) {
        rest.index = file->judged;
        rest.bytes = file->counted;
        rest.tail_len = file->tail.len;
        if (file->kind.type == RECORD_PAIRS)
            rest.bytes += rest.tail_len;
    }
    if (rest.tail_len > 0)
        rest.tail = file->tail.bytes;
    else
        free(file->tail.bytes);
    file->tail.bytes = NULL;
    return rest;
}
