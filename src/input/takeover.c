/* FILEs that an engine takes over, which a reader has begun to decode: from the beginning of a unit
 * on, of which what was counted already is skipped. The reader keeps its decoder until the engine
 * has counted something, so an engine that can do nothing with the FILE costs nothing.
 *
 * A unit that other readers have, or had, stays theirs. The first one that is still in the FILE is
 * decoded in order, by one reader, and that is what is taken over. Where records are cut, this
 * reader gives out the end of the one before, and the engine begins after that. */
#include "source_internal.h"
#include "wide_read.h"
#include "src/base/clock.h"

#include <math.h>

/* Bytes of a unit that tell how much it holds. */
#define HEADER_SIZE 18

/* A rate that was measured for less time, in seconds, does not tell how long the rest takes. */
#define RATE_SECONDS 0.02

/* Chunks that are decoded until the engine can begin: records that are cut, one after the other,
 * may be longer than the units. */
#define WAITS_MAX 4

/* --- how much is left --- */

bool takeover_suits(const struct input *input)
{
    return input->codec && input->codec->coding != CODING_NONE && input->regular &&
           !input->may_be_short && !input_is_serial(input) && !content_is_partial(&input->range) &&
           !input->has_header;
}

void takeover_note_opened(struct source *source, struct open_input *open)
{
    struct compressed *compressed = &source->compressed;
    const struct input *input = &open->input;
    uint64_t size = input->regular ? input->opened_size - input->edges.first : 0;
    open->is_takeable = takeover_suits(input);
    atomic_fetch_add(&compressed->opened, size);
    if (!open->is_takeable)
        return;
    atomic_fetch_add(&compressed->takeable, size);
    atomic_fetch_add(&compressed->left, (int64_t)size);
}

void takeover_note_read(struct source *source, const struct open_input *open, int64_t in,
                        uint64_t out)
{
    struct compressed *compressed = &source->compressed;
    atomic_fetch_add(&source->read, (uint64_t)in);
    if (!open->is_takeable)
        return;
    atomic_fetch_sub(&compressed->left, in);
    if (out == 0)
        return;
    atomic_fetch_add(&compressed->in, (uint64_t)in);
    atomic_fetch_add(&compressed->out, out);
}

/* Bytes of content that a compressed one has given so far; 1: none was decoded. */
static double content_ratio(struct source *source)
{
    struct compressed *compressed = &source->compressed;
    uint64_t in = atomic_load(&compressed->in), out = atomic_load(&compressed->out);
    return in > 0 ? (double)out / (double)in : 1;
}

struct source_content source_content(struct source *source)
{
    struct compressed *compressed = &source->compressed;
    uint64_t opened = atomic_load(&compressed->opened);
    uint64_t takeable = atomic_load(&compressed->takeable);
    int64_t left = atomic_load(&compressed->left); /* a FILE may grow */
    if (takeable == 0)
        return (struct source_content){0, 0};
    double unopened = (double)atomic_load(&compressed->unopened);
    unopened *= (double)takeable / (double)opened;
    return (struct source_content){.done = (double)atomic_load(&compressed->out),
                                   .left = ((left > 0 ? (double)left : 0) + unopened) *
                                           content_ratio(source)};
}

/* --- what is offered --- */

struct engine *takeover_engine(struct reader *reader, const struct source_sink *sink,
                               const struct open_input *open)
{
    const struct input *input = &open->input;
    const struct source *source = reader->source;
    struct undecoded_offer offer = {.left = HUGE_VAL, .is_last = source->opened == source->count};
    if (input->regular)
        offer.left =
            (double)(input->opened_size - input->units.offset) * content_ratio(reader->source);
    return sink->undecoder ? sink->undecoder(sink->arg, &offer) : NULL;
}

bool takeover_is_wanted(struct reader *reader, const struct source_sink *sink,
                        const struct open_input *open)
{
    return !open->is_left && takeover_suits(&open->input) &&
           takeover_engine(reader, sink, open) != NULL;
}

/* Where a FILE that this reader decodes in order can be taken over. */
struct place {
    uint64_t offset;  /* where a unit begins, bytes into the FILE */
    uint64_t content; /* bytes of the segment before it */
    uint64_t skip;    /* bytes of content after that which were counted */
    bool is_within;   /* the unit was begun */
};

/* Whether there is such a place now. */
static bool find_place(const struct decoding *decoding, struct place *place)
{
    const struct units *units = &decoding->units;
    const struct records *records = &decoding->records;
    const uint64_t counted = decoding->content - records->cut_len;
    bool is_within = !decoding->decoder->codec->complete(decoding->decoder);
    *place = (struct place){
        .offset = decoding->unit_offset, .content = decoding->unit_content, .is_within = is_within};
    if (!is_within) {
        place->offset = units->offset + units->pos;
        place->content = decoding->content;
    }
    place->skip = counted - place->content;
    return counted >= place->content && !records->too_long && decoding->skip == 0 &&
           (!decoding->span || decoding->span->has_boundary) &&
           place->offset < decoding->open->input.opened_size;
}

/* Bytes of content that the unit which was begun says it holds, or UNIT_UNSIZED. */
static uint64_t stated_content(const struct input *input, uint64_t offset)
{
    unsigned char header[HEADER_SIZE];
    struct codec_unit unit;
    if (offset + HEADER_SIZE > input->opened_size ||
        !input_peek(input, header, HEADER_SIZE, offset) ||
        input->codec->look(header, HEADER_SIZE, &unit) == UNIT_UNKNOWN)
        return UNIT_UNSIZED;
    return unit.content;
}

static struct undecoded_offer offer_at(struct reader *reader, const struct place *place)
{
    const struct decoding *decoding = &reader->decoding;
    const struct input *input = &decoding->open->input;
    const uint64_t at = decoding->units.offset + decoding->units.pos;
    const double seconds = clock_seconds_since(&decoding->began);
    struct undecoded_offer offer = {.again = (double)(decoding->content - place->content)};
    if (at < input->opened_size)
        offer.left = (double)(input->opened_size - at) * content_ratio(reader->source);
    if (seconds >= RATE_SECONDS)
        offer.rate = (double)decoding->content / seconds;
    if (!place->is_within)
        return offer;
    double stated = (double)stated_content(input, place->offset);
    offer.unit_left = stated > offer.again ? stated - offer.again : 0;
    if (offer.unit_left > offer.left)
        offer.unit_left = offer.left;
    return offer;
}

/* --- taking over --- */

/* Has an engine that pays begin at a place. Whether it has. */
static bool begin_at(struct reader *reader, const struct source_sink *sink,
                     const struct place *place)
{
    struct source *source = reader->source;
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = decoding->open;
    const struct undecoded_offer offer = offer_at(reader, place);
    struct engine *engine = sink->undecoder(sink->arg, &offer);
    const struct undecoded_start start = {.offset = place->offset,
                                          .skip = place->skip,
                                          .index = decoding->at.index,
                                          .size = open->input.opened_size - place->offset,
                                          .memlimit = source->options.decoding.memlimit};
    struct chunk *chunk = NULL;
    if (engine)
        chunk = engine->ops->undecoded->begin(engine, open->input.codec->coding, &start);
    if (!chunk)
        return false;
    decoding->undecoder = chunk->engine;
    decoding->undecoded = chunk;
    decoding->wide = wide_read_open();
    decoding->undecoded_next =
        (struct undecoded_next){.is_wanted = true, .at = place->offset, .need = 1};
    decoding->is_taken_over = true;
    decoding->waits = 0;
    decoding->counted = place->content + place->skip;
    takeover_note_read(source, open,
                       (int64_t)(place->offset - decoding->units.offset - decoding->units.pos), 0);
    decoding->noted = place->offset;
    return true;
}

bool takeover_begin(struct reader *reader, const struct source_sink *sink)
{
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = decoding->open;
    struct place place;
    bool is_possible = decoding->in_order && open->is_takeable && !open->is_left &&
                       !open->input.heading.is_sought && !heading_waits(&open->input.heading) &&
                       takeover_suits(&open->input);
    if (!is_possible || !sink->undecoder || !sink->undecoder(sink->arg, NULL)) {
        decoding->waits = 0;
        return false;
    }
    if (find_place(decoding, &place) && begin_at(reader, sink, &place))
        return true;
    if (decoding->waits > 0 && --decoding->waits == 0)
        open->is_left = true;
    return false;
}

void takeover_await(struct decoding *decoding)
{
    decoding->waits = WAITS_MAX;
}

/* --- what is left --- */

/* Has the decoder begin anew with what the engine left of the FILE. 0 or -1. */
static int decode_rest(struct reader *reader, const struct undecoded_rest *rest)
{
    struct decoding *decoding = &reader->decoding;
    struct input *input = &decoding->open->input;
    struct units *units = &decoding->units;
    const uint64_t at = rest->is_left ? rest->offset : input->opened_size;
    bool is_end = at >= input->opened_size;
    units_seek(input, at);
    units->pos = units->len = 0;
    units->offset = at;
    units->kind = is_end ? UNITS_TO_END : UNITS_OPEN;
    decoding->pending = decoding->over = false;
    decoding->skip = rest->is_left ? rest->skip : 0;
    decoding->content = decoding->counted + rest->bytes + rest->tail_len - decoding->skip;
    if (records_begin_with(&decoding->records, rest->tail, rest->tail_len) != 0 ||
        decoding->decoder->codec->reserve(decoding->decoder, units->data, 0) != 0)
        return source_fail_for_memory(reader->source, input->name);
    return 0;
}

int takeover_end(struct reader *reader, const struct undecoded_rest *rest)
{
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = decoding->open;
    decoding->undecoder = NULL;
    decoding->is_taken_over = false;
    decoding->at.index = rest->index;
    open->is_left = true;
    open->is_wrong |= rest->is_wrong && rest->bytes > 0;
    bool is_begun_anew = !rest->is_left || rest->bytes > 0;
    if (is_begun_anew && decode_rest(reader, rest) != 0)
        return -1;
    const uint64_t at = decoding->units.offset + decoding->units.pos;
    takeover_note_read(reader->source, open, (int64_t)(at - decoding->noted), 0);
    return 1;
}
