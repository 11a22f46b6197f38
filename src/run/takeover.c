/* SPDX-License-Identifier: MIT */
/* FILEs that an engine takes over, which a reader has begun to decode: from the beginning of a unit
 * on, of which what was counted already is skipped. The reader keeps its decoder until the engine
 * has counted something, so an engine that can do nothing with the FILE costs nothing.
 *
 * A unit that other readers have, or had, stays theirs. The first one that is still in the FILE is
 * decoded in order, by one reader, and that is what is taken over. Where records are cut, this
 * reader gives out the end of the one before, and the engine begins after that. */
#include "src/work/source_internal.h"
#include "src/bytes/wide_read.h"
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
    return input->codec && input->codec->on_gpu && input->regular && !input->may_be_short &&
           !input_is_serial(input) && !content_is_partial(&input->range) && !input->has_header;
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

/* --- pipes --- */

/* Whether nothing but its bytes need be known of a pipe, either. */
static bool suits_stream(const struct input *input)
{
    return input->codec && input->codec->on_gpu && !input->regular && !input_is_serial(input) &&
           !content_is_partial(&input->range) && !input->has_header;
}

/* Where the next unit begins, or the one that was begun. */
static uint64_t unit_begin(const struct decoding *decoding)
{
    bool is_within = !decoding->decoder->codec->complete(decoding->decoder);
    return is_within ? decoding->unit_offset : decoding->units.offset + decoding->units.pos;
}

/* Begins to keep a pipe's bytes with the next one to be decoded. */
static void keep_from_here(struct decoding *decoding)
{
    struct input *input = &decoding->open->input;
    const struct units *units = &decoding->units;
    input->kept.begin = input->kept.end = units->offset + units->pos;
    input->keeps = input->keeps_freely =
        kept_add(&input->kept, units->data + units->pos, units->len - units->pos) == 0;
    if (!input->keeps)
        kept_free(&input->kept);
}

void takeover_keep_no_more(struct reader *reader)
{
    struct decoding *decoding = &reader->decoding;
    struct input *input = &decoding->open->input;
    if (!decoding->may_keep)
        return;
    decoding->may_keep = false;
    if (input->keeps_freely) {
        input->keeps = input->keeps_freely = false;
        kept_free(&input->kept);
    }
    atomic_store(&reader->source->streamed.again, 0);
    atomic_store(&reader->source->streamed.left, 0);
}

void takeover_keep(struct reader *reader, const struct source_sink *sink)
{
    struct decoding *decoding = &reader->decoding;
    const struct open_input *open = decoding->open;
    if (open->is_left || decoding->in_stream || !suits_stream(&open->input) ||
        !sink->may_undecode || !sink->may_undecode(sink->arg)) {
        takeover_keep_no_more(reader);
        return;
    }
    decoding->may_keep = true;
    if (open->input.keeps_freely)
        kept_drop(&decoding->open->input.kept, unit_begin(decoding));
    else if (decoding->decoder->codec->complete(decoding->decoder))
        keep_from_here(decoding);
}

/* Drops what was kept if it has become too much: the next unit is kept again. */
static void keep_within_limit(struct reader *reader)
{
    struct input *input = &reader->decoding.open->input;
    if (!input->keeps_freely || kept_size(&input->kept) <= undecoded_kept_most(reader->source))
        return;
    input->keeps = input->keeps_freely = false;
    kept_free(&input->kept);
}

void takeover_note_unit(struct reader *reader)
{
    struct decoding *decoding = &reader->decoding;
    struct input *input = &decoding->open->input;
    const struct units *units = &decoding->units;
    struct codec_unit unit = {.content = UNIT_UNSIZED};
    decoding->unit_made = 0;
    decoding->unit_stated = UNIT_UNSIZED;
    if (!decoding->may_keep)
        return;
    if (input->codec->look(units->data + units->pos, units->len - units->pos, &unit) !=
        UNIT_UNKNOWN)
        decoding->unit_stated = unit.content;
    if (input->keeps_freely)
        kept_drop(&input->kept, units->offset + units->pos);
    else
        keep_from_here(decoding);
}

/* How much of a unit is left: what it states, or as much as has gone by. */
static uint64_t unit_left(const struct decoding *decoding)
{
    if (decoding->unit_stated == UNIT_UNSIZED)
        return decoding->unit_made;
    return decoding->unit_stated > decoding->unit_made ? decoding->unit_stated - decoding->unit_made
                                                       : 0;
}

void takeover_note_made(struct reader *reader, uint64_t used, uint64_t made,
                        const struct timespec *begin)
{
    struct decoding *decoding = &reader->decoding;
    struct streamed *streamed = &reader->source->streamed;
    decoding->unit_made += made;
    if (!decoding->may_keep)
        return;
    keep_within_limit(reader);
    atomic_fetch_add(&streamed->in, used);
    atomic_fetch_add(&streamed->out, made);
    atomic_fetch_add(&streamed->ns, (uint64_t)(clock_seconds_since(begin) * 1e9));
    atomic_store(&streamed->kept, kept_size(&decoding->open->input.kept));
    bool can_begin_anew = decoding->open->input.keeps_freely;
    atomic_store(&streamed->again, can_begin_anew ? decoding->unit_made : 0);
    atomic_store(&streamed->left, can_begin_anew ? unit_left(decoding) : 0);
}

struct stream_content source_stream_content(struct source *source)
{
    struct streamed *streamed = &source->streamed;
    const double out = (double)atomic_load(&streamed->out);
    const double again = (double)atomic_load(&streamed->again);
    if (again <= 0)
        return (struct stream_content){0};
    return (struct stream_content){
        .taken = (double)atomic_load(&streamed->in),
        .done = out,
        .seconds = (double)atomic_load(&streamed->ns) / 1e9,
        .again = again,
        .left = (double)atomic_load(&streamed->left) + (out > again ? out - again : 0),
        .room = (double)undecoded_kept_most(source) - (double)atomic_load(&streamed->kept)};
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
    uint64_t offset; /* where a unit begins, bytes into the FILE */
    uint64_t made;   /* bytes of content that it has given */
    uint64_t skip;   /* bytes of content after that which were counted */
    bool is_within;  /* the unit was begun */
};

/* Whether there is such a place now. */
static bool find_place(const struct decoding *decoding, struct place *place)
{
    const struct records *records = &decoding->records;
    const struct input *input = &decoding->open->input;
    const uint64_t end = input->regular ? input->opened_size : input->kept.end;
    bool is_within = !decoding->decoder->codec->complete(decoding->decoder);
    *place = (struct place){.offset = unit_begin(decoding), .is_within = is_within};
    if (is_within)
        place->made = decoding->unit_made;
    place->skip = place->made - records->cut_len;
    return place->made >= records->cut_len && !records->too_long && decoding->skip == 0 &&
           (!decoding->span || decoding->span->has_boundary) && place->offset < end &&
           (input->regular || (input->keeps_freely && place->offset >= input->kept.begin));
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

/* Of a regular FILE, what is left of it all, and of the unit. */
static void set_left_of_file(struct reader *reader, const struct place *place,
                             struct undecoded_offer *offer)
{
    const struct decoding *decoding = &reader->decoding;
    const struct input *input = &decoding->open->input;
    const uint64_t at = decoding->units.offset + decoding->units.pos;
    if (at < input->opened_size)
        offer->left = (double)(input->opened_size - at) * content_ratio(reader->source);
    if (!place->is_within)
        return;
    double stated = (double)stated_content(input, place->offset);
    offer->unit_left = stated > offer->again ? stated - offer->again : 0;
    if (offer->unit_left > offer->left)
        offer->unit_left = offer->left;
}

/* The same of a pipe; and the rate, which is that of the decoder alone, as the GPU would wait for
 * the producer as well. */
static void set_left_of_stream(struct reader *reader, const struct place *place,
                               struct undecoded_offer *offer)
{
    const struct decoding *decoding = &reader->decoding;
    const struct streamed *streamed = &reader->source->streamed;
    const double out = (double)atomic_load(&streamed->out), before = out - offer->again,
                 seconds = (double)atomic_load(&streamed->ns) / 1e9;
    if (seconds >= RATE_SECONDS)
        offer->rate = out / seconds;
    if (place->is_within)
        offer->unit_left = (double)unit_left(decoding);
    offer->left = offer->unit_left + (before > 0 ? before : 0);
}

static struct undecoded_offer offer_at(struct reader *reader, const struct place *place)
{
    const struct decoding *decoding = &reader->decoding;
    const double seconds = clock_seconds_since(&decoding->began);
    struct undecoded_offer offer = {.again = (double)place->made};
    if (!decoding->open->input.regular) {
        set_left_of_stream(reader, place, &offer);
        return offer;
    }
    if (seconds >= RATE_SECONDS)
        offer.rate = (double)decoding->content / seconds;
    set_left_of_file(reader, place, &offer);
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
    const bool is_file = open->input.regular;
    struct engine *engine = sink->undecoder(sink->arg, &offer);
    const struct compressed_start start = {
        .offset = place->offset,
        .skip = place->skip,
        .repeated = records_repeated(&decoding->records, decoding->records.cut_len),
        .index = decoding->at.index,
        .size = is_file ? open->input.opened_size - place->offset : 0,
        .memlimit = source->options.decoding.memlimit};
    struct gpu_decoder *decoder = engine ? gpu_decoder_begin(engine, &start) : NULL;
    if (!decoder)
        return false;
    decoding->undecoder = decoder;
    decoding->wide = is_file ? wide_read_open() : NULL;
    open->input.keeps_freely = false; /* the engine relies on it */
    takeover_keep_no_more(reader);
    decoding->undecoded_next =
        (struct compressed_next){.is_wanted = true, .at = place->offset, .need = 1};
    decoding->is_taken_over = true;
    decoding->waits = 0;
    decoding->counted = decoding->content - decoding->records.cut_len;
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
    bool is_suitable = open->input.regular ? open->is_takeable && takeover_suits(&open->input)
                                           : decoding->may_keep && open->input.keeps_freely;
    bool is_possible = is_suitable && decoding->in_order && !open->is_left &&
                       !open->input.heading.is_sought && !heading_waits(&open->input.heading);
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

/* Has a pipe be read again from byte `at` on, which must be kept. 0 or -1. */
static int read_kept_again(struct reader *reader, uint64_t at)
{
    struct input *input = &reader->decoding.open->input;
    input->keeps = false;
    if (at < input->kept.begin)
        return undecoded_fail_without_engine(reader);
    kept_drop(&input->kept, at);
    return 0;
}

/* Whether the engine has counted nothing, so that what was cut still waits for what follows it. */
static bool is_as_before(const struct compressed_rest *rest)
{
    return rest->is_left && rest->bytes == 0;
}

/* Has the decoder begin anew with what the engine left of the FILE. 0 or -1. */
static int decode_rest(struct reader *reader, const struct compressed_rest *rest)
{
    struct decoding *decoding = &reader->decoding;
    struct input *input = &decoding->open->input;
    struct units *units = &decoding->units;
    const uint64_t end = input->regular ? input->opened_size : input->kept.end;
    const uint64_t at = rest->is_left ? rest->offset : end;
    bool is_last = !input->regular || at >= end; /* a pipe is decoded to its end by this reader */
    if (input->regular)
        units_seek(input, at);
    else if (read_kept_again(reader, at) != 0)
        return -1;
    units->pos = units->len = 0;
    units->offset = at;
    units->kind = is_last ? UNITS_TO_END : UNITS_OPEN;
    decoding->pending = decoding->over = false;
    decoding->skip = rest->is_left ? rest->skip : 0;
    decoding->content = decoding->counted + rest->bytes + rest->tail_len - decoding->skip;
    if (is_as_before(rest))
        decoding->skip += decoding->records.cut_len;
    else if (records_begin_with(&decoding->records, rest->tail, rest->tail_len) != 0)
        return source_fail_for_memory(reader->source, input->name);
    if (decoding->decoder->codec->reserve(decoding->decoder, units->data, 0) != 0)
        return source_fail_for_memory(reader->source, input->name);
    return 0;
}

int takeover_end(struct reader *reader, const struct compressed_rest *rest)
{
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = decoding->open;
    decoding->is_taken_over = false;
    decoding->at.index = rest->index;
    open->is_left = true;
    open->is_wrong |= rest->is_wrong && rest->bytes > 0;
    /* Of a pipe the engine may keep only what it needs itself, from where it names on. */
    bool is_begun_anew = !open->input.regular || !is_as_before(rest);
    int rc = is_begun_anew ? decode_rest(reader, rest) : 0;
    decoding->undecoder = NULL;
    if (rc != 0)
        return -1;
    const uint64_t at = decoding->units.offset + decoding->units.pos;
    takeover_note_read(reader->source, open, (int64_t)(at - decoding->noted), 0);
    return 1;
}
