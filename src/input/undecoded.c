/* Compressed FILEs that an engine decompresses by itself: a reader gives it their bytes, in order.
 */
#include "source_internal.h"
#include "src/engine/engine.h"

/* Whether nothing but its bytes need be known of the FILE: what the content begins with is looked
 * for, and headers and ranges are left out, only where it is decoded. */
static bool is_suitable(const struct open_input *open)
{
    const struct input *input = &open->input;
    bool is_plain = !input_is_serial(input) && !content_is_partial(&input->range) &&
                    !input->heading.is_sought && !input->has_header;
    return is_plain && input->regular && !input->may_be_short && input->opened_size > 0 &&
           input->taken == 0;
}

bool undecoded_take(struct reader *reader, const struct source_sink *sink)
{
    struct source *source = reader->source;
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = source->current;
    enum coding coding = open->input.codec->coding;
    if (coding == CODING_NONE || !is_suitable(open) || helpers_pending(&source->helpers))
        return false;
    struct engine *engine = sink->undecoder ? sink->undecoder(sink->arg) : NULL;
    struct chunk *chunk = engine ? engine->ops->undecoded->acquire(engine, coding, true) : NULL;
    if (!chunk)
        return false;
    decoding->open = open;
    decoding->undecoder = engine;
    decoding->undecoded = chunk;
    decoding->undecoded_at = 0;
    source_set_current(source, NULL);
    admission_begin(reader);
    helpers_leave(&source->helpers, &reader->helper);
    return true;
}

/* The engine takes no more: what it left is decoded here. 1 or -1. */
static int take_what_is_left(struct reader *reader)
{
    struct source *source = reader->source;
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = decoding->open;
    struct input *input = &open->input;
    struct undecoded_rest rest;
    int rc = decoding->undecoder->ops->undecoded->settle(decoding->undecoder, &rest);
    decoding->undecoder = NULL;
    reader->busy = false;
    if (rc != 0)
        rc = source_fail(source, &(struct reason){""});
    else if (records_begin_with(&input->records, rest.tail, rest.tail_len) != 0)
        rc = source_fail_for_memory(source, input->name);
    if (rc != 0) {
        source_leave(source, open);
    } else {
        open->is_wrong = rest.is_wrong;
        open->at.index = rest.index;
        units_seek(input, rest.is_left ? rest.offset : input->opened_size);
        input->range.begin = rest.is_left ? rest.skip : 0;
        rc = decoding_take_rest(reader, open);
    }
    admission_end(reader);
    return rc;
}

/* Fills the chunk from the FILE. 0, or -1. */
static int fill_chunk(struct reader *reader, struct chunk *chunk)
{
    struct source *source = reader->source;
    struct decoding *decoding = &reader->decoding;
    const struct input *input = &decoding->open->input;
    uint64_t left = input->opened_size - decoding->undecoded_at;
    size_t len = left < chunk->cap ? (size_t)left : chunk->cap;
    struct reason why;
    source_begin_chunk(decoding->open, &decoding->open->at, chunk);
    ssize_t got = input_read_at(input, chunk->data, len, decoding->undecoded_at, &why);
    chunk->len = got > 0 ? (size_t)got : 0;
    chunk->origin.end = len == left ? ENDS_FILE : ENDS_NOTHING;
    return got < 0 ? source_fail(source, &why) : 0;
}

int undecoded_read(struct reader *reader)
{
    struct decoding *decoding = &reader->decoding;
    struct engine *engine = decoding->undecoder;
    const struct undecoded_ops *ops = engine->ops->undecoded;
    struct chunk *chunk = decoding->undecoded;
    uint64_t next;
    decoding->undecoded = NULL;
    if (!chunk && !(chunk = ops->acquire(engine, CODING_NONE, false)))
        return take_what_is_left(reader);
    int rc = fill_chunk(reader, chunk);
    ops->submit(engine, chunk, decoding->undecoded_at, &next);
    if (rc != 0)
        return rc;
    if (next == 0 || next > decoding->open->input.opened_size) /* the FILE is cut short */
        return take_what_is_left(reader);
    atomic_fetch_add(&reader->source->read, next - decoding->undecoded_at);
    decoding->undecoded_at = next;
    return 1;
}
