/* Compressed bytes to chunks: a reader takes a batch of units in its turn, and decodes it without.
 */
#include "source_internal.h"

#include <stdlib.h>
#include <string.h>

void decoding_drop(struct decoding *decoding)
{
    decoder_close(decoding->decoder);
    units_free(&decoding->units);
    records_close(&decoding->records);
    decoding->decoder = NULL;
}

/* --- taking a batch --- */

/* What a decoder takes beside what it must keep at hand, and beside compressed bytes. */
#define DECODER_SIZE ((size_t)256 << 10)

/* The FILE has been decoded to its end, but for batches that other readers have. 0 or -1. */
static int end_file(struct reader *reader, struct open_input *open)
{
    const struct content_range *range = &open->input.range;
    size_t size = open->input.records.size;
    if (range->is_stated && open->content < range->end) {
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
    if (open->in_stream)
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
    while (open->content < range->end || range->is_whole) {
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

int decoding_take(struct reader *reader)
{
    struct source *source = reader->source;
    struct open_input *open = source->current;
    struct units_ahead ahead;
    struct reason why;
    int rc;
    if (helpers_pending(&source->helpers))
        return 1;
    switch (look_on(source, open, &ahead, &why)) {
    case UNITS_AHEAD:
        if (input_is_serial(&open->input))
            take_all(open, &ahead);
        rc = take_batch(reader, open, &ahead);
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

/* --- decoding it --- */

/* What came of decoding. */
enum decoded {
    DECODED_SOME, /* the batch goes on */
    DECODED_DRY,  /* it goes on, but there is nothing to read now */
    DECODED_ALL,  /* the batch has ended */
    DECODED_FAILED,
};

static enum decoded fail_at(struct reader *reader, uint64_t offset, const char *fault)
{
    struct reason why;
    reason_of(&why, reader->decoding.open->input.name, "%s, at byte %llu", fault,
              (unsigned long long)offset);
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
    bool at_end = decoding->units.kind == UNITS_TO_END && is_complete(decoding);
    return at_end ? DECODED_ALL : fail_truncated(reader);
}

/* Whether the batch has ended where a unit has. */
static bool has_ended(const struct decoding *decoding)
{
    const struct units *units = &decoding->units;
    if (units->kind == UNITS_WHOLE)
        return units->pos == units->len;
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
    if (is_complete(decoding))
        decoding->unit_offset = units->offset + units->pos;
    enum decode_status status = decoding->decoder->codec->decode(decoding->decoder, &step, &why);
    if (status == DECODE_NO_MEMORY) {
        source_fail_for_memory(reader->source, decoding->open->input.name);
        return DECODED_FAILED;
    }
    if (status == DECODE_FAULT)
        return fail_at(reader, decoding->unit_offset, why.text);
    *made = step.made;
    units->pos += step.used;
    atomic_fetch_add(&reader->source->read, step.used);
    bool complete = is_complete(decoding);
    decoding->content += step.made;
    decoding->pending = !complete && step.made == cap;
    return complete && has_ended(decoding) ? DECODED_ALL : DECODED_SOME;
}

static enum decoded fail_of(struct reader *reader, const char *fault)
{
    struct reason why;
    reason_of(&why, reader->decoding.open->input.name, "%s", fault);
    source_fail(reader->source, &why);
    return DECODED_FAILED;
}

/* Takes a step, after what is in the chunk, up to limit. Bytes before the range are dropped, and
 * where it ends the batch ends, unless nothing may follow. */
static enum decoded step_in_range(struct reader *reader, struct chunk *chunk, size_t limit)
{
    const struct decoding *decoding = &reader->decoding;
    const struct content_range *range = &decoding->open->input.range;
    uint64_t position = decoding->begin + decoding->content;
    unsigned char *out = chunk->data + chunk->len;
    size_t cap = limit - chunk->len, made;
    if (!range->is_whole && position >= range->end)
        return DECODED_ALL; /* with the heading */
    if (!range->is_whole)
        cap = content_room(range, position, cap);
    enum decoded state = step_on(reader, out, cap, &made);
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
    int rc = heading_end(&reader->decoding.open->input.heading, &fault);
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

/* --- chunks --- */

/* Decodes on, after what is in the chunk, up to limit. Streams are waited for if there is nothing
 * in the segment that could be given, or the chunk is worth filling. */
static enum decoded decode(struct reader *reader, struct chunk *chunk, size_t limit)
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

/* Cuts a chunk after its last whole record. At the beginning of a segment, what belongs to a record
 * from before is kept for its seam. 0 or -1. */
static int cut_records(struct reader *reader, struct chunk *chunk, size_t waited, bool at_end)
{
    struct decoding *decoding = &reader->decoding;
    struct input *input = &decoding->open->input;
    struct records *records = decoding->open->in_stream ? &input->records : &decoding->records;
    struct reason why;
    if ((decoding->span && span_take_head(decoding->span, records, chunk) != 0) ||
        records_cut(records, chunk, waited, at_end) != 0)
        return source_fail_for_memory(reader->source, input->name);
    chunk->origin.bytes = chunk->len;
    if (decoding->open->in_stream && input_take_header(input, chunk, &why) != 0)
        return source_fail(reader->source, &why);
    return 0;
}

/* The same, with what the last chunk was cut from before it, and cut after the last whole record.
 */
static enum decoded decode_records(struct reader *reader, struct chunk *chunk)
{
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = decoding->open;
    source_begin_chunk(open, &decoding->at, chunk);
    records_resume(open->in_stream ? &open->input.records : &decoding->records, chunk);
    size_t waited = chunk->len;
    enum decoded state = decode(reader, chunk, source_fill_limit(&open->input, chunk, waited));
    if (state == DECODED_FAILED)
        return state;
    bool is_end = open->in_stream && state == DECODED_ALL;
    if (cut_records(reader, chunk, waited, is_end) != 0)
        return DECODED_FAILED;
    if (is_end)
        chunk->origin.end = ENDS_FILE;
    else if (!open->in_stream && state != DECODED_SOME)
        chunk->origin.end = ENDS_SEGMENT;
    return state;
}

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

/* Before a stream is waited for: all that there is should be counted, also what it begins with. So
 * what comes is another segment. 1 or -1. */
static int pause_batch(struct reader *reader)
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

/* The batch was decoded. 1 or -1. */
static int end_batch(struct reader *reader)
{
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = decoding->open;
    int rc = end_segment(reader) == 0 ? 1 : -1;
    reader->busy = false;
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

int decoding_read(struct reader *reader, source_memory *choose, void *arg, struct chunk **chunk)
{
    struct source *source = reader->source;
    if (source_has_failed(source))
        return -1;
    *chunk = choose(arg, FLOW_DECODED);
    if (!*chunk)
        return source_fail(source, &(struct reason){""});
    switch (decode_records(reader, *chunk)) {
    case DECODED_ALL:
        return end_batch(reader);
    case DECODED_DRY:
        (*chunk)->give = false;
        return pause_batch(reader);
    case DECODED_FAILED:
        return -1;
    default:
        return 1;
    }
}
