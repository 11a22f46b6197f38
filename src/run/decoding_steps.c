/* SPDX-License-Identifier: MIT */
/* Decodes a batch step by step: within the range that is counted, after the heading. */
#include "src/work/source_internal.h"
#include "src/base/clock.h"

#include <string.h>

/* --- steps of the decoder --- */

static enum decoded fail_at(struct reader *reader, uint64_t offset, const char *fault)
{
    struct reason why;
    reason_of(&why, reader->decoding.open->input.name, "%s, at byte %llu", fault,
              (unsigned long long)offset);
    source_fail(reader->source, &why);
    return DECODED_FAILED;
}

static enum decoded fail_of(struct reader *reader, const char *fault)
{
    struct reason why;
    reason_of(&why, reader->decoding.open->input.name, "%s", fault);
    source_fail(reader->source, &why);
    return DECODED_FAILED;
}

static enum decoded fail_truncated(struct reader *reader)
{
    const struct decoding *decoding = &reader->decoding;
    struct reason fault;
    reason_set(&fault, "truncated %s data", decoding->decoder->codec->name);
    return fail_at(reader, decoding->units.offset + decoding->units.len, fault.text);
}

static bool is_complete(const struct decoding *decoding)
{
    return decoding->decoder->codec->complete(decoding->decoder);
}

/* Feeds a decoder that has taken all there was. Unless `patient`, a stream is not waited for. */
static enum decoded feed(struct reader *reader, bool patient)
{
    struct decoding *decoding = &reader->decoding;
    struct input *input = &decoding->open->input;
    struct reason why;
    if (!decoding->in_order) /* the input is not this reader's */
        return fail_truncated(reader);
    if (!patient && !input_ready(input, 0))
        return DECODED_DRY;
    ssize_t got = units_feed(input, &decoding->units, &why);
    if (got > 0)
        return DECODED_SOME;
    if (got < 0) {
        source_fail(reader->source, &why);
        return DECODED_FAILED;
    }
    if (decoding->skip > 0 && is_complete(decoding))
        return fail_of(reader, "the GPU decompressed it incorrectly; use --device=cpu");
    bool at_end = decoding->units.kind == UNITS_TO_END && is_complete(decoding);
    return at_end ? DECODED_ALL : fail_truncated(reader);
}

/* Whether the batch has ended where a unit has, with the last `made` bytes of content. */
static bool has_ended(struct decoding *decoding, size_t made)
{
    struct units *units = &decoding->units;
    if (units->kind == UNITS_WHOLE)
        return units->pos == units->len;
    if (decoding->skip > made || (decoding->waits > 0 && units->pos < units->len))
        return false;
    return units->kind == UNITS_OPEN && !units_go_on(&decoding->open->input, units);
}

/* Takes one step of decoding, to out[0..cap). Sets *made to the bytes written there. */
static enum decoded step_on(struct reader *reader, unsigned char *out, size_t cap, size_t *made)
{
    struct decoding *decoding = &reader->decoding;
    struct units *units = &decoding->units;
    struct reason why;
    struct decode_step step = {
        .in = units->data + units->pos, .in_len = units->len - units->pos, .out = out, .cap = cap};
    *made = 0;
    if (is_complete(decoding)) {
        decoding->unit_offset = units->offset + units->pos;
        takeover_note_unit(reader);
    }
    struct timespec begin = {0};
    if (decoding->may_keep)
        begin = clock_now();
    enum decode_status status = decoding->decoder->codec->decode(decoding->decoder, &step, &why);
    if (status == DECODE_NO_MEMORY) {
        source_fail_for_memory(reader->source, decoding->open->input.name);
        return DECODED_FAILED;
    }
    if (status == DECODE_FAULT)
        return fail_at(reader, decoding->unit_offset, why.text);
    *made = step.made;
    units->pos += step.used;
    takeover_note_made(reader, step.used, step.made, &begin);
    takeover_note_read(reader->source, decoding->open, (int64_t)step.used, step.made);
    bool complete = is_complete(decoding);
    decoding->content += step.made;
    decoding->pending = !complete && step.made == cap;
    return complete && has_ended(decoding, step.made) ? DECODED_ALL : DECODED_SOME;
}

/* Drops what comes again of out[0..made). Returns how many bytes there are left. */
static size_t keep_new(struct decoding *decoding, unsigned char *out, size_t made)
{
    size_t again = decoding->skip < made ? (size_t)decoding->skip : made;
    decoding->skip -= again;
    memmove(out, out + again, made - again);
    return made - again;
}

/* Takes a step, after what is in the chunk, up to limit. Bytes before the range are dropped, and
 * where it ends the batch ends, unless nothing may follow. */
static enum decoded step_in_range(struct reader *reader, struct chunk *chunk, size_t limit)
{
    struct decoding *decoding = &reader->decoding;
    const struct content_range *range = &decoding->open->input.range;
    uint64_t position = decoding->begin + decoding->content;
    unsigned char *out = chunk->data + chunk->len;
    size_t cap = limit - chunk->len, made;
    if (!range->is_whole && position >= range->end)
        return DECODED_ALL; /* with the heading */
    if (!range->is_whole)
        cap = content_room(range, position, cap);
    enum decoded state = step_on(reader, out, cap, &made);
    if (decoding->skip > 0) { /* there is no range then */
        chunk->len += keep_new(decoding, out, made);
        return state;
    }
    if (range->is_whole && made > 0 && position + made > range->end) {
        struct reason fault;
        content_goes_on(range, &fault);
        return fail_of(reader, fault.text);
    }
    chunk->len += content_keep(range, position, out, made);
    bool is_all = !range->is_whole && position + made == range->end;
    return state == DECODED_SOME && is_all ? DECODED_ALL : state;
}

/* --- the heading of the content --- */

/* The FILE has ended before the heading was whole. */
static enum decoded end_heading(struct reader *reader)
{
    struct reason fault;
    const struct content_options *options = &reader->source->options.content;
    int rc = heading_end(&reader->decoding.open->input.heading, options, &fault);
    return rc == 0 ? DECODED_SOME : fail_of(reader, fault.text);
}

/* Takes a step that shows more of the heading. */
static enum decoded step_in_heading(struct reader *reader)
{
    struct decoding *decoding = &reader->decoding;
    struct input *input = &decoding->open->input;
    struct reason fault;
    size_t cap, made;
    unsigned char *out = heading_room(&input->heading, &cap);
    if (!out) {
        source_fail_for_memory(reader->source, input->name);
        return DECODED_FAILED;
    }
    enum decoded state = step_on(reader, out, cap, &made);
    const struct content_options *options = &reader->source->options.content;
    if (state != DECODED_FAILED &&
        heading_add(&input->heading, made, options, &input->range, &fault) != 0)
        return fail_of(reader, fault.text);
    return state;
}

/* Decodes on until it is known what the content begins with, or the batch ends. */
static enum decoded seek_heading(struct reader *reader)
{
    struct decoding *decoding = &reader->decoding;
    const struct units *units = &decoding->units;
    bool dry = units->pos == units->len && !decoding->pending;
    enum decoded state = dry ? feed(reader, true) : step_in_heading(reader);
    decoding->over = state == DECODED_ALL;
    if (decoding->over && units->kind == UNITS_TO_END && decoding->open->input.heading.is_sought)
        return end_heading(reader);
    return decoding->over ? DECODED_SOME : state;
}

enum decoded decoding_go_on(struct reader *reader, struct chunk *chunk, size_t limit)
{
    const struct decoding *decoding = &reader->decoding;
    const struct units *units = &decoding->units;
    struct input *input = &decoding->open->input;
    size_t begin = chunk->len;
    enum decoded state = DECODED_SOME;
    while (state == DECODED_SOME && chunk->len < limit) {
        if (decoding->in_order && heading_waits(&input->heading))
            chunk->len += heading_give(&input->heading, &input->range, chunk->data + chunk->len,
                                       limit - chunk->len);
        else if (decoding->over)
            state = DECODED_ALL;
        else if (decoding->in_order && input->heading.is_sought)
            state = seek_heading(reader);
        else if (units->pos == units->len && !decoding->pending)
            state = feed(reader, chunk->fill || (chunk->len == begin && decoding->content == 0));
        else
            state = step_in_range(reader, chunk, limit);
    }
    return state;
}
