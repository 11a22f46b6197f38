/* SPDX-License-Identifier: MIT */
/* Batches of compressed units: a reader takes one in its turn, and has it until all is decoded. */
#include "src/work/source_internal.h"
#include "src/base/clock.h"

/* What a decoder takes beside what it must keep at hand, and beside compressed bytes. */
#define DECODER_SIZE ((size_t)256 << 10)

/* --- taking one --- */

/* The FILE has been decoded to its end, but for batches that other readers have. 0 or -1. */
static int end_file(struct reader *reader, struct open_input *open)
{
    const struct content_range *range = &open->input.range;
    size_t size = open->input.records.size;
    bool is_short = open->is_left && open->in_stream && open->content < range->begin;
    if (open->is_wrong || is_short) {
        struct reason why;
        reason_of(&why, open->input.name, "the GPU decompressed it incorrectly; use --device=cpu");
        source_fail(reader->source, &why);
        source_leave(reader->source, open);
        return -1;
    }
    if (range->stated && open->content < range->end) {
        struct reason fault, why;
        content_ends_before(range, &fault);
        reason_of(&why, open->input.name, "%s", fault.text);
        source_fail(reader->source, &why);
        source_leave(reader->source, open);
        return -1;
    }
    if (size != 1 && !open->in_stream) {
        struct span *end = span_open(open->at.segment, size, 0, true);
        int rc = end ? decoding_keep_seams(reader, open, end)
                     : source_fail_for_memory(reader->source, open->input.name);
        if (rc != 0) {
            source_leave(reader->source, open);
            return -1;
        }
    }
    return source_retire(reader->source, open);
}

/* Makes decoder one of the input's codec, with the memory for the largest of the units ahead. 0, or
 * -1: out of memory. */
static int prepare_decoder(struct reader *reader, const struct input *input,
                           const struct units_ahead *ahead)
{
    struct decoding *decoding = &reader->decoding;
    const struct units *units = &input->units;
    if (decoding->decoder && decoding->decoder->codec != input->codec) {
        decoder_close(decoding->decoder);
        decoding->decoder = NULL;
    }
    if (!decoding->decoder)
        decoding->decoder = input->codec->open(&reader->source->options.decoding);
    if (!decoding->decoder)
        return -1;
    return input->codec->reserve(decoding->decoder, units->data + ahead->largest,
                                 units->len - ahead->largest);
}

/* Opens a span for the next segment, if it can cut records. 0, or -1: out of memory. */
static int open_span(struct decoding *decoding, const struct open_input *open)
{
    size_t size = open->input.records.size;
    if (size == 1 || open->in_stream)
        return 0;
    /* While a heading is sought, nothing has been given out. */
    bool at_begin = open->input.heading.is_sought;
    uint64_t before = at_begin ? 0 : content_before(&open->input.range, open->content);
    decoding->span = span_open(open->at.segment, size, before, false);
    return decoding->span ? 0 : -1;
}

/* What is decoded next is the next segment of the FILE. A stream is one segment. */
static void begin_segment(struct decoding *decoding)
{
    struct open_input *open = decoding->open;
    decoding->begin = open->content;
    decoding->content = 0;
    decoding->in_stream = open->in_stream;
    if (decoding->in_stream)
        return;
    decoding->at = (struct position){open->at.file, open->at.segment++, 1}; /* 0 is the seam's */
    decoding->records.size = open->input.records.size;
    decoding->records.field = open->input.records.field;
    decoding->records.cut_len = 0;
    decoding->records.too_long = false;
}

/* Moves the batch from the input to the reader, with all the memory that it needs. 0, or -1: out of
 * memory, and nothing has moved. */
static int move_batch(struct reader *reader, struct open_input *open,
                      const struct units_ahead *ahead)
{
    struct decoding *decoding = &reader->decoding;
    struct input *input = &open->input;
    if (prepare_decoder(reader, input, ahead) != 0)
        return -1;
    if (open_span(decoding, open) != 0)
        return -1;
    if (units_take(input, ahead, &decoding->units) == 0)
        return 0;
    span_close(decoding->span);
    decoding->span = NULL;
    return -1;
}

/* Takes what is ahead, and all memory for it before: what another reader takes meanwhile cannot
 * stop this one. A batch that must be decoded in order takes the input along. 1 or -1. */
static int take_batch(struct reader *reader, struct open_input *open,
                      const struct units_ahead *ahead)
{
    struct source *source = reader->source;
    struct decoding *decoding = &reader->decoding;
    struct input *input = &open->input;
    uint64_t limit = source->options.decoding.memlimit; /* beyond it the decoder refuses */
    size_t memory = (size_t)(ahead->memory < limit ? ahead->memory : limit);
    if (!admission_reserve(reader, DECODER_SIZE + input->units.cap + memory))
        return 1;
    if (move_batch(reader, open, ahead) != 0)
        return admission_refuse(reader) ? 1 : source_fail_for_memory(source, input->name);
    decoding->open = open;
    decoding->at = open->at;
    begin_segment(decoding);
    decoding->in_order = decoding->units.kind != UNITS_WHOLE;
    decoding->pending = decoding->over = false;
    decoding->waits = 0;
    decoding->skip = 0;
    if (decoding->in_order)
        decoding->began = clock_now();
    if (!decoding->in_order && input_needs_positions(input))
        open->content = content_add(open->content, decoding->units.content);
    admission_begin(reader);
    helpers_leave(&source->helpers, &reader->helper);
    return 1;
}

/* As units_look, for what the range still needs: units that end before it are dropped, and what is
 * after it is not looked at. */
static enum units_result look_on(struct source *source, struct open_input *open,
                                 struct units_ahead *ahead, struct reason *why)
{
    const struct content_range *range = &open->input.range;
    /* The range is one of values, which is not known while the heading may go on. */
    while (open->input.heading.is_sought || open->content < range->end || range->is_whole) {
        enum units_result result = units_look(&open->input, ahead, why);
        if (result == UNITS_END && open->input.heading.is_sought) {
            *ahead = (struct units_ahead){.kind = UNITS_TO_END}; /* which gives the heading out */
            return UNITS_AHEAD;
        }
        if (result != UNITS_AHEAD || ahead->kind != UNITS_WHOLE)
            return result;
        uint64_t end = content_add(open->content, ahead->content);
        if (range->begin == 0 || end > range->begin)
            return result;
        units_drop(&open->input, ahead);
        atomic_fetch_add(&source->read, ahead->whole);
        open->content = end;
    }
    return UNITS_END;
}

/* A FILE that has to be read in order is one batch, decoded by one reader. */
static void take_all(struct open_input *open, struct units_ahead *ahead)
{
    open->in_stream = true;
    ahead->kind = UNITS_TO_END;
    if (ahead->memory < UNITS_MEMORY_MAX)
        ahead->memory = UNITS_MEMORY_MAX; /* other units may need more than the first one */
}

int decoding_take_rest(struct reader *reader, struct open_input *open)
{
    struct units_ahead ahead = {0};
    if (units_reserve(&open->input.units, UNITS_SIZE_FIRST) != 0) {
        source_fail_for_memory(reader->source, open->input.name);
        source_leave(reader->source, open);
        return -1;
    }
    take_all(open, &ahead);
    int rc = take_batch(reader, open, &ahead);
    if (!reader->busy)
        source_park(reader->source, open);
    return rc;
}

int decoding_take(struct reader *reader, const struct source_sink *sink)
{
    struct source *source = reader->source;
    struct open_input *open = source->current;
    struct units_ahead ahead;
    struct reason why;
    bool awaits;
    int rc;
    if (helpers_pending(&source->helpers))
        return 1;
    if (open->in_stream) { /* it was parked before its rest could be taken */
        source_set_current(source, NULL);
        return decoding_take_rest(reader, open);
    }
    switch (look_on(source, open, &ahead, &why)) {
    case UNITS_AHEAD:
        if (input_is_serial(&open->input))
            take_all(open, &ahead);
        awaits = ahead.kind == UNITS_WHOLE && takeover_is_wanted(reader, sink, open);
        if (awaits)
            ahead.kind = UNITS_OPEN;
        rc = take_batch(reader, open, &ahead);
        if (reader->busy && awaits)
            takeover_await(&reader->decoding);
        if (reader->busy && reader->decoding.in_order)
            source_set_current(source, NULL);
        else if (reader->busy)
            source_use(source, open);
        return rc;
    case UNITS_END:
        source_set_current(source, NULL);
        return end_file(reader, open) == 0 ? 1 : -1;
    case UNITS_NO_MEMORY:
        reader->wanted = UNITS_SIZE_FIRST;
        return admission_refuse(reader) ? 1 : source_fail_for_memory(source, open->input.name);
    default:
        return source_fail(source, &why);
    }
}

/* --- ending it --- */

/* Adds what the segment begins and ends with. 0 or -1. */
static int end_segment(struct reader *reader)
{
    struct decoding *decoding = &reader->decoding;
    struct span *span = decoding->span;
    if (!span)
        return 0;
    int rc = span_take_tail(span, &decoding->records);
    decoding->span = NULL;
    if (decoding_keep_seams(reader, decoding->open, span) != 0)
        return -1;
    return rc == 0 ? 0 : source_fail_for_memory(reader->source, decoding->open->input.name);
}

int decoding_pause(struct reader *reader)
{
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = decoding->open;
    helpers_hurry(&reader->source->helpers);
    if (end_segment(reader) != 0)
        return -1;
    open->content += decoding->content;
    if (open_span(decoding, open) != 0)
        return source_fail_for_memory(reader->source, open->input.name);
    begin_segment(decoding);
    return 1;
}

/* Goes on with an input that this reader has to itself, if what follows must be decoded in order as
 * well; otherwise leaves it to all. A stream is left: it may have to be waited for. 1 or -1. */
static int go_on(struct reader *reader, struct open_input *open)
{
    struct source *source = reader->source;
    struct units_ahead ahead;
    struct reason why;
    enum units_result result =
        open->input.regular ? look_on(source, open, &ahead, &why) : UNITS_NO_MEMORY;
    int rc = 1;
    if (result == UNITS_END)
        return end_file(reader, open) == 0 ? 1 : -1;
    if (result == UNITS_FAILED)
        rc = source_fail(source, &why);
    else if (result == UNITS_AHEAD && ahead.kind != UNITS_WHOLE)
        rc = take_batch(reader, open, &ahead);
    if (!reader->busy)
        source_park(source, open);
    return rc;
}

int decoding_end(struct reader *reader)
{
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = decoding->open;
    int rc = end_segment(reader) == 0 ? 1 : -1;
    reader->busy = false;
    takeover_keep_no_more(reader);
    if (decoding->in_order)
        open->content += decoding->content;
    if (rc < 0 || !decoding->in_order) {
        source_leave(reader->source, open);
    } else if (decoding->units.kind == UNITS_TO_END) {
        rc = end_file(reader, open) == 0 ? 1 : -1;
    } else {
        units_return(&open->input, &decoding->units);
        rc = go_on(reader, open);
    }
    admission_end(reader);
    if (!reader->busy && decoding->in_order)
        admission_release(reader, DECODER_KEPT);
    return rc;
}
