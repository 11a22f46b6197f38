/* SPDX-License-Identifier: MIT */
/* Compressed FILEs that an engine decompresses by itself: a reader gives it their bytes, in order.
 *
 * What the engine leaves is read again. Of a stream the bytes are kept for that, from the frame on
 * that is being decompressed. */
#include "src/work/source_internal.h"
#include "src/bytes/wide_read.h"

#include <inttypes.h>
#include <stdlib.h>

/* Bytes of a stream that are kept. */
#define KEPT_SIZE ((uint64_t)256 << 20)

/* How long to wait for a stream before the engine, which is busy, is looked at again. */
#define LOOK_MS 1

/* Whether no record is cut where a share begins, or ends: such records are put together only where
 * they are decoded. */
static bool has_whole_records(const struct input *input)
{
    const struct part_edges *edges = &input->edges;
    bool is_all = input->taken == 0 && edges->next == edges->file_end;
    return input->records.size == 1 || is_all;
}

/* Whether a regular FILE of which nothing was decoded can be given from its first byte on. */
static bool is_suitable_file(const struct input *input)
{
    bool is_untouched = input->taken == input->edges.first;
    return takeover_suits(input) && is_untouched && input->taken < input->opened_size &&
           has_whole_records(input);
}

/* Whether a stream can be given from what was not handed out on: where it begins, or where a unit
 * does, if no record can be cut there. */
static bool is_suitable_stream(const struct input *input)
{
    bool is_untouched = input->taken == input->units.len && input->units.offset == 0;
    return !input->regular && !input_is_serial(input) && !content_is_partial(&input->range) &&
           !input->has_header && (is_untouched || input->records.size == 1);
}

/* Whether nothing but its bytes need be known of the FILE. What an engine left is not given to it
 * again. */
static bool is_suitable(const struct open_input *open)
{
    const struct input *input = &open->input;
    return !open->in_stream && !open->is_left && !input->heading.is_sought &&
           (is_suitable_file(input) || is_suitable_stream(input));
}

/* Begins to keep a stream with what was not handed out, or the next bytes, which are waited for.
 * Returns 1, 0 if there are none or no memory for them, and -1 if reading failed: a socket reports
 * an error only once, so reading again where it is decoded would find an end instead. */
static int keep_stream(struct source *source, struct input *input)
{
    struct units *first = &input->units;
    struct reason why;
    if (first->len == 0 && !input->ended && units_reserve(first, UNITS_SIZE_FIRST) == 0) {
        ssize_t got = input_take(input, first->data, first->cap, &why);
        if (got < 0)
            return source_fail(source, &why);
        first->len = (size_t)got;
    }
    input->kept.begin = input->kept.end = first->offset;
    if (first->len == 0 || kept_add(&input->kept, first->data, first->len) != 0) {
        kept_free(&input->kept);
        return 0;
    }
    return 1;
}

int undecoded_take(struct reader *reader, const struct source_sink *sink)
{
    struct source *source = reader->source;
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = source->current;
    struct input *input = &open->input;
    if (!input->codec->on_gpu || !is_suitable(open) || helpers_pending(&source->helpers))
        return 0;
    struct engine *engine = takeover_engine(reader, sink, open);
    if (!engine)
        return 0;
    int rc = input->regular ? 1 : keep_stream(source, input);
    if (rc <= 0)
        return rc;
    const uint64_t begin = input->regular ? input->taken : input->units.offset;
    const struct compressed_start start = {.offset = begin,
                                           .size = input->regular ? input->opened_size - begin : 0,
                                           .memlimit = source->options.decoding.memlimit};
    struct gpu_decoder *decoder = gpu_decoder_begin(engine, &start);
    if (!decoder) {
        kept_free(&input->kept);
        return 0;
    }
    input->units.len = 0;
    input->keeps = !input->regular;
    decoding->wide = input->regular ? wide_read_open() : NULL;
    decoding->open = open;
    decoding->undecoder = decoder;
    decoding->undecoded_next = (struct compressed_next){.is_wanted = true, .at = begin, .need = 1};
    decoding->is_taken_over = false;
    decoding->at = open->at;
    decoding->noted = begin;
    source_set_current(source, NULL);
    admission_begin(reader);
    helpers_leave(&source->helpers, &reader->helper);
    return 1;
}

/* --- what is left --- */

uint64_t undecoded_kept_most(const struct source *source)
{
    return source->options.kept_most > 0 ? source->options.kept_most : KEPT_SIZE;
}

int undecoded_fail_without_engine(struct reader *reader)
{
    struct source *source = reader->source;
    const char *name = reader->decoding.open->input.name;
    const char *loss = gpu_decoder_loss(reader->decoding.undecoder);
    struct reason why;
    reason_of(&why, name,
              "the GPU failed (%s), and the CPU cannot start again: more than %.0f MiB of a frame "
              "came through a pipe; use --device=cpu",
              loss ? loss : "it refuses the data", (double)undecoded_kept_most(source) / 0x1p20);
    return source_fail(source, &why);
}

/* Sees that the FILE has what is left. The engine goes over what it need not look at, as skippable
 * frames, and may have come to a place after the end of the FILE, as it was when it was opened: by
 * now it may have grown beyond that. 0 or -1. */
static int check_left(struct reader *reader, const struct compressed_rest *rest)
{
    const struct input *input = &reader->decoding.open->input;
    uint64_t end = input->regular ? input->opened_size : input->kept.end;
    const bool has_end = input->regular || input->ended;
    struct reason why;
    if (!rest->is_left || !has_end || rest->offset <= end)
        return 0;
    if (input->regular && input_find_end(input, &end, &why) != 0)
        return source_fail(reader->source, &why);
    if (rest->offset <= end)
        return 0;
    reason_of(&why, input->name, "truncated %s data, at byte %" PRIu64, input->codec->name, end);
    return source_fail(reader->source, &why);
}

/* Has what is left be what the input goes on with. 0 or -1. */
static int go_back(struct reader *reader, const struct compressed_rest *rest)
{
    struct input *input = &reader->decoding.open->input;
    if (input->regular) {
        units_seek(input, rest->is_left ? rest->offset : input->opened_size);
        takeover_note_read(reader->source, reader->decoding.open,
                           (int64_t)(input->taken - reader->decoding.noted), 0);
        return 0;
    }
    input->keeps = false;
    if (rest->is_left && rest->offset < input->kept.begin)
        return undecoded_fail_without_engine(reader);
    kept_drop(&input->kept, rest->is_left ? rest->offset : input->kept.end);
    input->units.offset = input->kept.begin;
    return 0;
}

/* The engine takes no more: what it left is decoded here. 1 or -1. */
static int take_what_is_left(struct reader *reader)
{
    struct source *source = reader->source;
    struct decoding *decoding = &reader->decoding;
    struct open_input *open = decoding->open;
    struct input *input = &open->input;
    struct compressed_rest rest;
    int rc = gpu_decoder_finish(decoding->undecoder, &rest);
    wide_read_close(decoding->wide);
    decoding->wide = NULL;
    rc = rc == 0 ? check_left(reader, &rest) : source_fail(source, &(struct reason){""});
    if (decoding->is_taken_over) {
        rc = rc == 0 ? takeover_end(reader, &rest) : -1;
        free(rest.tail);
        return rc;
    }
    reader->busy = false;
    open->is_left = true;
    if (rc == 0 && records_begin_with(&input->records, rest.tail, rest.tail_len) != 0)
        rc = source_fail_for_memory(source, input->name);
    if (rc == 0)
        rc = go_back(reader, &rest);
    free(rest.tail);
    decoding->undecoder = NULL;
    if (rc != 0) {
        source_leave(source, open);
    } else {
        open->is_wrong = rest.is_wrong;
        open->at.index = rest.index;
        open->content = 0; /* where the content goes on is counted from what is left, as its skip */
        input->range.begin = rest.is_left ? rest.skip : 0;
        rc = decoding_take_rest(reader, open);
    }
    admission_end(reader);
    return rc;
}

/* --- chunks --- */

/* Fills the chunk from byte `at` of a regular FILE. 0, or -1. */
static int fill_from_file(struct reader *reader, struct chunk *chunk, uint64_t at)
{
    const struct input *input = &reader->decoding.open->input;
    uint64_t left = input->opened_size - at;
    size_t len = left < chunk->cap ? (size_t)left : chunk->cap;
    struct reason why;
    ssize_t got = wide_read(reader->decoding.wide, input, chunk->data, len, at, &why);
    chunk->len = got > 0 ? (size_t)got : 0;
    chunk->origin.end = len == left ? ENDS_FILE : ENDS_NOTHING;
    return got < 0 ? source_fail(reader->source, &why) : 0;
}

/* Whether to read more of a stream: what has arrived is read at once, and more is waited for as
 * long as the engine is busy with earlier bytes, or has too few to go on. */
static bool is_read_on(const struct reader *reader, bool is_enough)
{
    const struct input *input = &reader->decoding.open->input;
    struct gpu_decoder *decoder = reader->decoding.undecoder;
    while (!input_ready(input, 0)) {
        if (!gpu_decoder_poll(decoder))
            return !is_enough && !gpu_decoder_loss(decoder);
        if (input_ready(input, LOOK_MS))
            break;
    }
    return true;
}

/* Reads on in a stream, to out[0..cap). 0, or -1. */
static int read_stream(struct reader *reader, unsigned char *out, size_t cap, size_t *len)
{
    struct input *input = &reader->decoding.open->input;
    struct reason why;
    ssize_t got = input_take(input, out, cap, &why);
    *len = got > 0 ? (size_t)got : 0;
    return got < 0 ? source_fail(reader->source, &why) : 0;
}

/* Fills the chunk from byte `at` of a stream: with what was kept, and what has arrived. 0, or -1.
 */
static int fill_from_stream(struct reader *reader, struct chunk *chunk, uint64_t at)
{
    const struct compressed_next *next = &reader->decoding.undecoded_next;
    struct input *input = &reader->decoding.open->input;
    struct kept *kept = &input->kept;
    size_t len;
    while (kept->end < at && !input->ended) { /* what is left out */
        size_t most = at - kept->end < chunk->cap ? (size_t)(at - kept->end) : chunk->cap;
        (void)is_read_on(reader, false); /* sees through what came before */
        if (read_stream(reader, chunk->data, most, &len) != 0)
            return -1;
        if (kept_size(kept) > undecoded_kept_most(reader->source))
            kept_drop(kept, kept->end);
    }
    chunk->len = kept_copy(kept, at, chunk->data, chunk->cap);
    while (chunk->len < chunk->cap && !input->ended &&
           is_read_on(reader, chunk->len >= next->need)) {
        if (read_stream(reader, chunk->data + chunk->len, chunk->cap - chunk->len, &len) != 0)
            return -1;
        chunk->len += len;
    }
    chunk->origin.end = input->ended && kept->end >= at ? ENDS_FILE : ENDS_NOTHING;
    return 0;
}

/* Whether the FILE is cut short before what comes next. Of a stream, drops what need not be kept,
 * or cannot. */
static bool is_cut_short(struct reader *reader)
{
    const struct compressed_next *next = &reader->decoding.undecoded_next;
    struct input *input = &reader->decoding.open->input;
    if (input->regular)
        return next->at > input->opened_size;
    kept_drop(&input->kept, next->kept);
    if (kept_size(&input->kept) > undecoded_kept_most(reader->source))
        kept_drop(&input->kept, next->at);
    return input->ended && next->at > input->kept.end;
}

int undecoded_read(struct reader *reader)
{
    struct decoding *decoding = &reader->decoding;
    struct gpu_decoder *decoder = decoding->undecoder;
    struct compressed_next *next = &decoding->undecoded_next;
    struct chunk *chunk = gpu_decoder_acquire(decoder);
    const uint64_t at = next->at;
    if (!chunk)
        return take_what_is_left(reader);
    source_begin_chunk(decoding->open, &decoding->at, chunk);
    int rc = decoding->open->input.regular ? fill_from_file(reader, chunk, at)
                                           : fill_from_stream(reader, chunk, at);
    gpu_decoder_submit(decoder, chunk, at, next);
    if (rc != 0)
        return rc;
    if (!next->is_wanted || is_cut_short(reader))
        return take_what_is_left(reader);
    takeover_note_read(reader->source, decoding->open, (int64_t)(next->at - at), 0);
    decoding->noted = next->at;
    return 1;
}
