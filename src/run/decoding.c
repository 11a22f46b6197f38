/* SPDX-License-Identifier: MIT */
/* Compressed bytes to chunks: a reader takes a batch of units in its turn, and decodes it without.
 */
#include "src/work/source_internal.h"
#include "src/bytes/wide_read.h"

/* Bytes of a chunk while an engine is to take the FILE over: enough to find the end of a record. */
#define AWAITING_SIZE ((size_t)64 << 10)

void decoding_drop(struct decoding *decoding)
{
    decoder_close(decoding->decoder);
    units_free(&decoding->units);
    records_close(&decoding->records);
    wide_read_close(decoding->wide);
    decoding->wide = NULL;
    decoding->decoder = NULL;
}

/* Cuts a chunk after its last whole record. At the beginning of a segment, what belongs to a record
 * from before is kept for its seam. 0 or -1. */
static int cut_records(struct reader *reader, struct chunk *chunk, size_t waited, bool at_end)
{
    struct decoding *decoding = &reader->decoding;
    struct input *input = &decoding->open->input;
    struct records *records = &decoding->records;
    struct reason why;
    if (decoding->in_stream)
        return input_cut(input, chunk, waited, at_end, &why) == 0
                   ? 0
                   : source_fail(reader->source, &why);
    if ((decoding->span && span_take_head(decoding->span, records, chunk) != 0) ||
        records_cut(records, chunk, waited, false) != 0)
        return source_fail_for_memory(reader->source, input->name);
    chunk->origin.bytes = chunk->len - records_repeated(records, waited);
    return 0;
}

/* Decodes a chunk: what the last one was cut from before it, and what follows, up to the end of the
 * last whole record. */
static enum decoded decode_records(struct reader *reader, struct chunk *chunk)
{
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = decoding->open;
    source_begin_chunk(open, &decoding->at, chunk);
    records_resume(decoding->in_stream ? &open->input.records : &decoding->records, chunk);
    size_t waited = chunk->len, limit = source_fill_limit(&open->input, chunk, waited);
    if (decoding->waits > 0 && limit - waited > AWAITING_SIZE)
        limit = waited + AWAITING_SIZE;
    enum decoded state = decoding_go_on(reader, chunk, limit);
    if (state == DECODED_FAILED)
        return state;
    bool is_end = decoding->in_stream && state == DECODED_ALL;
    if (cut_records(reader, chunk, waited, is_end) != 0)
        return DECODED_FAILED;
    if (is_end)
        chunk->origin.end = ENDS_FILE;
    else if (!decoding->in_stream && state != DECODED_SOME)
        chunk->origin.end = ENDS_SEGMENT;
    return state;
}

int decoding_read(struct reader *reader, const struct source_sink *sink, struct chunk **chunk)
{
    struct source *source = reader->source;
    if (source_has_failed(source))
        return -1;
    if (reader->decoding.undecoder)
        return undecoded_read(reader);
    if (reader->decoding.in_order) {
        takeover_keep(reader, sink);
        if (takeover_begin(reader, sink))
            return 1;
    }
    *chunk = sink->choose(sink->arg, FLOW_DECODED);
    if (!*chunk)
        return source_fail(source, &(struct reason){""});
    switch (decode_records(reader, *chunk)) {
    case DECODED_ALL:
        return decoding_end(reader);
    case DECODED_DRY:
        (*chunk)->give = false;
        return decoding_pause(reader);
    case DECODED_FAILED:
        return -1;
    default:
        return 1;
    }
}
