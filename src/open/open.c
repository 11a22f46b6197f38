/* SPDX-License-Identifier: MIT */
/* Opens a file: its format, what its content begins with, and what of it is counted. */
#include "input.h"

#include <stdlib.h>
#include <string.h>

/* --- the format --- */

/* Finds the format that data which begin with head[0..len) have. MAGIC_PART: more bytes must be
 * seen. */
static enum codec_magic recognise_head(struct input *input, const unsigned char *head, size_t len)
{
    enum codec_magic ours = codec_recognise(head, len, &input->frames.codec);
    if (ours == MAGIC_MATCH)
        return ours;
    const struct record_kind *kind = &input->records.kind;
    const bool is_text = record_is_text(kind) && kind->type != RECORD_PAIRS;
    enum codec_magic others =
        unsupported_format_recognise(head, len, is_text, &input->plan.unsupported);
    return others == MAGIC_OTHER ? ours : others;
}

/* Returns where the bytes end that may be looked at. */
static uint64_t end_of(const struct bytes *bytes)
{
    return bytes->is_cut ? bytes->opened_size : UINT64_MAX;
}

/* Looks at the first bytes, as many as it takes. 0 or -1. */
static int recognise_by_magic(struct input *input, struct error *error)
{
    unsigned char head[CODEC_MAGIC_MAX];
    const uint64_t end = end_of(&input->bytes);
    const size_t cap = end < sizeof head ? (size_t)end : sizeof head;
    enum codec_magic magic = MAGIC_PART;
    size_t len = 0;
    while (magic == MAGIC_PART && len < cap) {
        ssize_t got = bytes_peek(&input->bytes, head + len, cap - len, len, error);
        if (got <= 0)
            return (int)got;
        len += (size_t)got;
        magic = recognise_head(input, head, len);
    }
    return 0;
}

static int recognise(struct input *input, const struct input_options *options, struct error *error)
{
    input->frames.codec = options->codec;
    if (!options->codec && !options->is_as_stored && recognise_by_magic(input, error) != 0)
        return -1;
    struct error no_library;
    if (!input->frames.codec || input->frames.codec->load(&no_library) == 0)
        return 0;
    return error_of(error, input->bytes.name, "%s", no_library.text);
}

/* Opens a file and finds its format. Nothing is left out yet. As input_open. */
static int open_file(struct input *input, struct preopened *file,
                     const struct input_options *options, struct file_shard *shard,
                     struct error *error)
{
    const struct content_range range = content_range_of(&options->content);
    const uint64_t frame_memory = options->frame_memory;
    *input = (struct input){
        .frames = {.bytes = &input->bytes,
                   .decoding = &options->decoding,
                   .batch_size = options->batch_size,
                   .frame_memory = frame_memory > 0 ? frame_memory : FRAMES_MEMORY_MAX},
        .plan = {.range = range, .content = &options->content},
        .key = options->key,
        .wants_positions = options->wants_positions,
        .records = {.kind = options->record, .field = options->field},
        .has_header = options->field && options->field->has_header,
        .seeks_bom = options->skips_bom};
    if (bytes_open(&input->bytes, file, error) != 0)
        return -1;
    if (!input->bytes.regular)
        input->bytes.limit = range.end;
    int rc = shard ? file_shard_check(input, shard, error) : 0;
    if (rc == 0 && range.begin < range.end) /* otherwise the format does not matter */
        rc = recognise(input, options, error);
    if (input->frames.codec)
        input->bytes.limit = UINT64_MAX;
    if (rc != 0)
        input_close(input);
    return rc;
}

/* --- what the content begins with --- */

/* The first bytes of the content, which nobody else gets by that. */
struct beginning {
    unsigned char *data; /* owned */
    size_t len;
};

/* Adds what comes next. 0, or -1: out of memory. */
static int add(struct beginning *beginning, const unsigned char *data, size_t len)
{
    unsigned char *longer = realloc(beginning->data, beginning->len + len + 1);
    if (!longer)
        return -1;
    memcpy(longer + beginning->len, data, len);
    beginning->data = longer;
    beginning->len += len;
    return 0;
}

/* A header of values as far as it was read. */
struct header_search {
    struct beginning beginning;
    size_t wanted;
    enum header_status status;
    struct header *header;
    struct error fault;
};

static int add_header(void *arg, const unsigned char *data, size_t len)
{
    struct header_search *search = arg;
    const struct beginning *beginning = &search->beginning;
    if (add(&search->beginning, data, len) != 0)
        return -1;
    if (len == 0 || beginning->len >= search->wanted)
        search->status =
            header_peek(beginning->data, beginning->len, len > 0 ? &search->wanted : NULL,
                        search->header, &search->fault);
    return search->status == HEADER_PART;
}

/* Reads the header of values, if there is one. HEADER_NONE, HEADER_FOUND, or HEADER_WRONG with the
 * error set. */
static enum header_status read_header(const struct input *input, struct header *header,
                                      struct error *error)
{
    const struct peek peek = {&input->frames, 0, end_of(&input->bytes)};
    struct header_search search = {.status = HEADER_PART, .header = header};
    int rc = peek_content(&peek, add_header, &search, error);
    if (rc == 0 && search.status == HEADER_WRONG)
        error_of(error, input->bytes.name, "%s", search.fault.text);
    free(search.beginning.data);
    return rc == 0 ? search.status : HEADER_WRONG;
}

static int lacks_header(const struct input *input, struct error *error)
{
    return error_of(error, input->bytes.name, "has no .npy, WAV or PNM header; use --values=TYPE");
}

/* 0, or -1 with the error set if the first file does not say which type of values it holds. */
static int check_type(const struct input *input, enum header_status status,
                      const struct header *header, struct error *error)
{
    const struct unsupported_format *unsupported = input->plan.unsupported;
    if (status == HEADER_WRONG)
        return -1;
    if (status == HEADER_FOUND)
        return header->type[0] ? 0
                               : error_of(error, input->bytes.name,
                                          "holds %s, which --values cannot count", header->holds);
    if (unsupported && !unsupported->is_text)
        return error_of(error, input->bytes.name, "looks like %s data; use '%s FILE | gpuhisto'",
                        unsupported->name, unsupported->command);
    return lacks_header(input, error);
}

int input_find_header(struct preopened *file, const struct input_options *options,
                      struct header *header, struct error *error)
{
    struct input input;
    if (open_file(&input, file, options, NULL, error) != 0)
        return -1;
    int rc = check_type(&input, read_header(&input, header, error), header, error);
    if (rc == 0 && bytes_give_back(&input.bytes, file) != 0)
        rc = error_of(error, input.bytes.name, "out of memory");
    input_close(&input);
    return rc;
}

/* Compares the size of a regular file with its range, which a header states. 0; or -1 and the
 * fault. */
static int check_size(const struct input *input, struct error *fault)
{
    const struct bytes *bytes = &input->bytes;
    if (input->frames.codec || !bytes->regular || bytes->may_be_short)
        return 0; /* reading shows it */
    return content_check(&input->plan.range, bytes->opened_size, true, fault);
}

/* Sets the range to what follows a header, if there is one. 0 or -1. */
static int follow_header(struct input *input, struct error *error)
{
    const struct content_options *content = input->plan.content;
    struct content_range *range = &input->plan.range;
    struct header header;
    struct error fault;
    if (!content->header_type || range->begin == range->end)
        return 0;
    enum header_status status = read_header(input, &header, error);
    if (status == HEADER_NONE)
        return content->needs_header ? lacks_header(input, error) : 0;
    if (status == HEADER_WRONG)
        return -1;
    if (content_follow(range, &header, content, &fault) == 0 && check_size(input, &fault) == 0)
        return 0;
    return error_of(error, input->bytes.name, "%s", fault.text);
}

static int read_line(void *arg, const unsigned char *data, size_t len)
{
    struct beginning *beginning = arg;
    if (add(beginning, data, len) != 0)
        return -1;
    return beginning->len <= FIELD_RECORD_MAX && !memchr(data, '\n', len);
}

/* Finds the columns that are named, in the first line of a text that is not CSV. In what is
 * compressed, a range that does not begin with the content is only found by decoding (input_cut). 0
 * or -1. */
static int find_columns(struct input *input, struct error *error)
{
    const struct content_range *range = &input->plan.range;
    const struct field *field = input->records.field;
    const uint64_t end = end_of(&input->bytes);
    const struct peek peek = {&input->frames, range->begin, range->end < end ? range->end : end};
    struct beginning beginning = {.len = 0};
    if (!input->has_header || !input_seeks_columns(input) || field->kind == FIELD_CSV ||
        (input->frames.codec && content_is_partial(range)))
        return 0;
    int rc = peek_content(&peek, read_line, &beginning, error);
    if (rc == 0)
        rc = input_find_columns(input, beginning.data, beginning.len, error);
    free(beginning.data);
    return rc;
}

/* True if it must be known how many bytes of content stand before a frame: values or a range are
 * cut by that. */
static bool needs_positions(const struct input *input)
{
    const struct record_kind *kind = &input->records.kind;
    bool has_values = !record_is_text(kind) && !record_is_byte(kind);
    return has_values || input->wants_positions || content_is_partial(&input->plan.range);
}

int input_open(struct input *input, struct preopened *file, const struct input_options *options,
               struct file_shard *shard, struct error *error)
{
    if (open_file(input, file, options, shard, error) != 0)
        return -1;
    const struct content_range *range = &input->plan.range;
    int rc = follow_header(input, error);
    /* Of what is compressed only decoding finds the range. A byte more shows that a file goes on
     * after what its header states. */
    if (rc == 0 && !input->frames.codec)
        rc = bytes_select(&input->bytes, range->begin, range->end + range->is_whole, error);
    if (rc == 0)
        rc = find_columns(input, error);
    input->frames.needs_sizes = needs_positions(input);
    if (rc == 0)
        rc = shard ? file_shard_select(input, shard, error) : input_trim(input, error);
    if (rc != 0)
        input_close(input);
    return rc;
}

/* --- while it is read --- */

ssize_t input_read(struct input *input, void *buf, size_t cap, struct error *error)
{
    struct error fault;
    ssize_t got = bytes_read(&input->bytes, buf, cap, error);
    if (got < 0 || input->bytes.is_cut ||
        content_check(&input->plan.range, input->bytes.taken, got == 0, &fault) == 0)
        return got;
    return error_of(error, input->bytes.name, "%s", fault.text);
}

void input_close(struct input *input)
{
    bytes_close(&input->bytes);
    frame_batch_free(&input->frames.pending);
    records_close(&input->records);
}
