/* Compressed bytes to chunks: a reader takes a batch of units in its turn, and decodes it without.
 */
#include "source_internal.h"

void decoding_drop(struct decoding *decoding)
{
    decoder_close(decoding->decoder);
    units_free(&decoding->units);
    *decoding = (struct decoding){.decoder = NULL};
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

/* Takes what is ahead, with all the memory that decoding it needs: what another reader takes
 * meanwhile cannot stop this one. 1 or -1. */
static int take_batch(struct reader *reader, struct input *input, const struct units_ahead *ahead)
{
    struct decoding *decoding = &reader->decoding;
    if (prepare_decoder(reader, input, ahead) != 0 ||
        units_take(input, ahead, &decoding->units) != 0)
        return admission_refuse(reader) ? 1 : source_fail_for_memory(reader->source, input->name);
    decoding->name = input->name;
    decoding->codec = input->codec;
    decoding->in_order = decoding->units.kind != UNITS_WHOLE;
    decoding->pending = false;
    admission_begin(reader);
    return 1;
}

int decoding_take(struct reader *reader)
{
    struct source *source = reader->source;
    struct input *input = &source->current->input;
    struct units_ahead ahead;
    struct reason why;
    if (!admission_enter(reader))
        return 1;
    switch (units_look(input, &ahead, &why)) {
    case UNITS_AHEAD:
        return take_batch(reader, input, &ahead);
    case UNITS_END:
        return source_retire(source) == 0 ? 1 : -1;
    case UNITS_NO_MEMORY:
        return admission_refuse(reader) ? 1 : source_fail_for_memory(source, input->name);
    default:
        return source_fail(source, &why);
    }
}

/* What came of decoding. */
enum decoded {
    DECODED_SOME,  /* the batch goes on */
    DECODED_DRY,   /* it goes on, but there is nothing to read now */
    DECODED_ALL,   /* the batch has ended */
    DECODED_STUCK, /* for want of memory; may be tried again */
    DECODED_FAILED,
};

static enum decoded fail_at(struct reader *reader, uint64_t offset, const char *fault)
{
    struct reason why;
    reason_of(&why, reader->decoding.name, "%s, at byte %llu", fault, (unsigned long long)offset);
    source_fail(reader->source, &why);
    return DECODED_FAILED;
}

static enum decoded fail_truncated(struct reader *reader)
{
    const struct decoding *decoding = &reader->decoding;
    struct reason fault;
    reason_set(&fault, "truncated %s data", decoding->codec->name);
    return fail_at(reader, decoding->units.offset + decoding->units.len, fault.text);
}

static bool is_complete(const struct decoding *decoding)
{
    return decoding->codec->complete(decoding->decoder);
}

/* Feeds a decoder that has taken all there was. Unless `patient`, a stream is not waited for. */
static enum decoded feed(struct reader *reader, bool patient)
{
    struct decoding *decoding = &reader->decoding;
    struct reason why;
    if (!decoding->in_order) /* the current input may be another one by now */
        return fail_truncated(reader);
    struct input *input = &reader->source->current->input;
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
static bool has_ended(const struct reader *reader, const struct chunk *chunk)
{
    const struct units *units = &reader->decoding.units;
    if (units->kind == UNITS_WHOLE)
        return units->pos == units->len;
    if (units->kind == UNITS_TO_END)
        return false;
    const struct input *input = &reader->source->current->input;
    return !units_go_on(input, units, chunk->len % input->records.size != 0);
}

/* Takes one step of decoding, after what is in the chunk, up to limit. */
static enum decoded step_on(struct reader *reader, struct chunk *chunk, size_t limit)
{
    struct decoding *decoding = &reader->decoding;
    struct units *units = &decoding->units;
    struct reason why;
    struct decode_step step = {.in = units->data + units->pos,
                               .in_len = units->len - units->pos,
                               .out = chunk->data + chunk->len,
                               .cap = limit - chunk->len};
    if (is_complete(decoding))
        decoding->unit_offset = units->offset + units->pos;
    enum decode_status status = decoding->codec->decode(decoding->decoder, &step, &why);
    if (status == DECODE_NO_MEMORY)
        return DECODED_STUCK;
    if (status == DECODE_FAULT)
        return fail_at(reader, decoding->unit_offset, why.text);
    units->pos += step.used;
    chunk->len += step.made;
    atomic_fetch_add(&reader->source->read, step.used);
    bool complete = is_complete(decoding);
    decoding->pending = !complete && chunk->len == limit;
    return complete && has_ended(reader, chunk) ? DECODED_ALL : DECODED_SOME;
}

/* Decodes on, after what is in the chunk, up to limit. Streams are waited for if there is nothing
 * new to give, or the chunk is worth filling. */
static enum decoded decode(struct reader *reader, struct chunk *chunk, size_t limit)
{
    const struct decoding *decoding = &reader->decoding;
    const struct units *units = &decoding->units;
    size_t begin = chunk->len;
    enum decoded state = DECODED_SOME;
    while (state == DECODED_SOME && chunk->len < limit) {
        if (units->pos == units->len && !decoding->pending)
            state = feed(reader, chunk->fill || chunk->len == begin);
        else
            state = step_on(reader, chunk, limit);
    }
    return state;
}

/* The same for a batch that must be decoded in order. Only there may records be cut; and the input
 * is this reader's own. */
static enum decoded decode_in_order(struct reader *reader, struct chunk *chunk)
{
    struct input *input = &reader->source->current->input;
    source_begin_chunk(reader->source, chunk);
    chunk->len = records_resume(&input->records, chunk->data);
    enum decoded state = decode(reader, chunk, source_fill_limit(input, chunk, chunk->len));
    bool at_end = state == DECODED_ALL && reader->decoding.units.kind == UNITS_TO_END;
    chunk->len = records_cut(&input->records, chunk->data, chunk->len, at_end);
    return state;
}

/* Gives back what the batch did not need. A decoder that may have taken more memory than is allowed
 * side by side is closed. */
static void end_batch(struct reader *reader)
{
    struct decoding *decoding = &reader->decoding;
    if (decoding->in_order) {
        decoder_close(decoding->decoder);
        decoding->decoder = NULL;
    }
    if (decoding->units.kind == UNITS_OPEN)
        units_return(&reader->source->current->input, &decoding->units);
    admission_end(reader);
}

int decoding_read(struct reader *reader, source_memory *choose, void *arg, struct chunk **chunk)
{
    struct source *source = reader->source;
    if (source_has_failed(source))
        return -1;
    *chunk = choose(arg, FLOW_DECODED);
    if (!*chunk)
        return source_fail(source, &(struct reason){""});
    enum decoded state = reader->decoding.in_order ? decode_in_order(reader, *chunk)
                                                   : decode(reader, *chunk, (*chunk)->cap);
    (*chunk)->origin.bytes = (*chunk)->len;
    switch (state) {
    case DECODED_ALL:
        end_batch(reader);
        return 1;
    case DECODED_DRY: /* all that there is should be counted before the stream is waited for */
        (*chunk)->give = false;
        helpers_hurry(&source->helpers);
        return 1;
    case DECODED_STUCK:
        return admission_stall(reader) ? 1 : source_fail_for_memory(source, reader->decoding.name);
    case DECODED_FAILED:
        return -1;
    default:
        return 1;
    }
}
