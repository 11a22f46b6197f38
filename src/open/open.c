/* SPDX-License-Identifier: MIT */
/* Opens a file: its format, what its content begins with, and what of it is counted. */
#include "beginning.h"
#include "input.h"
#include "src/frames/peek.h"

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
    enum codec_magic others = foreign_recognise(head, len, is_text, &input->plan.foreign);
    return others == MAGIC_OTHER ? ours : others;
}

/* Looks at the first bytes, as many as it takes. 0 or -1. */
static int recognise_by_magic(struct input *input, struct reason *why)
{
    unsigned char head[CODEC_MAGIC_MAX];
    const struct bytes *bytes = &input->bytes;
    const bool is_tiny =
        (bytes->opened_size > 0 || bytes->is_cut) && bytes->opened_size < sizeof head;
    const size_t cap = is_tiny ? (size_t)bytes->opened_size : sizeof head;
    enum codec_magic magic = MAGIC_PART;
    size_t len = 0;
    while (magic == MAGIC_PART && len < cap) {
        ssize_t got = bytes_see(&input->bytes, head + len, cap - len, len, why);
        if (got <= 0)
            return (int)got;
        len += (size_t)got;
        magic = recognise_head(input, head, len);
    }
    return 0;
}

static int recognise(struct input *input, const struct input_options *options, struct reason *why)
{
    if (options->decompress == DECOMPRESS_AUTO && recognise_by_magic(input, why) != 0)
        return -1;
    if (options->decompress == DECOMPRESS_CODEC)
        input->frames.codec = options->codec;
    return input->frames.codec ? input->frames.codec->load(why) : 0;
}

int input_recognise(struct input *input, struct held *file, const struct input_options *options,
                    struct file_shard *shard, struct reason *why)
{
    const struct content_range range = content_range_of(&options->content);
    const uint64_t frame_memory = options->frame_memory;
    *input = (struct input){.has_header = options->field && options->field->has_header,
                            .records = {.kind = options->record, .field = options->field}};
    input->frames =
        (struct frames){.bytes = &input->bytes,
                        .batch_size = options->batch_size,
                        .frame_memory = frame_memory > 0 ? frame_memory : FRAMES_MEMORY_MAX};
    input->plan = (struct plan){.range = range, .content = &options->content};
    if (bytes_open(&input->bytes, file, why) != 0)
        return -1;
    if (!input->bytes.regular)
        input->bytes.limit = range.end;
    int rc = shard ? file_shard_check(input, shard, why) : 0;
    if (rc == 0 && range.begin < range.end) /* otherwise the format does not matter */
        rc = recognise(input, options, why);
    if (!input->bytes.regular && input->frames.codec)
        input->bytes.limit = UINT64_MAX;
    if (rc != 0)
        input_close(input);
    return rc;
}

/* --- what the content begins with --- */

static int failed(const struct input *input, const char *fault, struct reason *why)
{
    return reason_of(why, input->bytes.name, "%s", fault);
}

/* Compares the size of a regular file with its range, which a header states. 0; or -1 and the
 * fault. */
static int check_size(const struct input *input, struct reason *fault)
{
    const struct content_range *range = &input->plan.range;
    const struct bytes *bytes = &input->bytes;
    if (!range->stated || input->frames.codec || !bytes->regular || bytes->may_be_short)
        return 0; /* reading shows it */
    if (bytes->opened_size < range->end)
        return content_ends_before(range, fault);
    if (bytes->opened_size > range->end && range->is_whole)
        return content_goes_on(range, fault);
    return 0;
}

/* Sets the range to what follows a header, if there is one. 0 or -1. */
static int follow_header(struct input *input, struct peek *peek, struct reason *why)
{
    const struct content_options *options = input->plan.content;
    struct header header;
    struct reason fault;
    switch (beginning_header(peek, &header, why)) {
    case HEADER_FOUND:
        break;
    case HEADER_NONE:
        return content_without_header(options, &fault) == 0 ? 0 : failed(input, fault.text, why);
    default:
        return -1;
    }
    if (content_follow(&input->plan.range, &header, options, &fault) == 0 &&
        check_size(input, &fault) == 0)
        return 0;
    return failed(input, fault.text, why);
}

/* Looks for a header of values. 0 or -1. */
static int find_header(struct input *input, const struct input_options *options, struct reason *why)
{
    const struct content_range *range = &input->plan.range;
    struct peek peek;
    if (!options->content.header_type || range->begin == range->end)
        return 0;
    if (peek_begin(&peek, &input->bytes, input->frames.codec, &options->decoding, why) != 0)
        return -1;
    int rc = follow_header(input, &peek, why);
    peek_end(&peek);
    return rc;
}

/* Finds the column that is named, in the first line of the range. In what is compressed, a range
 * that does not begin with the content is only found by decoding (input_cut). 0 or -1. */
static int find_column(struct input *input, const struct input_options *options, struct reason *why)
{
    const struct content_range *range = &input->plan.range;
    const struct field *field = options->field;
    struct peek peek;
    if (!input->has_header || !field->name || field->kind == FIELD_CSV ||
        (input->frames.codec && content_is_partial(range)))
        return 0;
    if (peek_begin(&peek, &input->bytes, input->frames.codec, &options->decoding, why) != 0)
        return -1;
    peek.offset = input->bytes.taken;
    if (range->end != CONTENT_TO_END)
        peek.end = content_add(peek.offset, range->end - range->begin);
    int rc = beginning_column(&peek, field, &input->plan.column, why);
    peek_end(&peek);
    return rc;
}

/* --- the plan --- */

/* Leaves out what is not in the range. In what is compressed only decoding finds these places. 0 or
 * -1. */
static int select_range(struct input *input, struct reason *why)
{
    const struct content_range *range = &input->plan.range;
    if (input->frames.codec)
        return 0;
    /* A byte more shows that a file goes on after what its header states. */
    return bytes_select(&input->bytes, range->begin, range->end + range->is_whole, why);
}

int input_open(struct input *input, struct held *file, const struct input_options *options,
               struct file_shard *shard, struct reason *why)
{
    if (input_recognise(input, file, options, shard, why) != 0)
        return -1;
    int rc = find_header(input, options, why);
    if (rc == 0)
        rc = select_range(input, why);
    if (rc == 0)
        rc = find_column(input, options, why);
    input->frames.needs_sizes = input_needs_positions(input);
    if (rc == 0)
        rc = shard ? file_shard_select(input, shard, &options->decoding, why)
                   : input_trim(input, why);
    if (rc != 0)
        input_close(input);
    return rc;
}

/* --- while it is read --- */

ssize_t input_read(struct input *input, void *buf, size_t cap, struct reason *why)
{
    const struct content_range *range = &input->plan.range;
    struct reason fault;
    ssize_t got = bytes_take(&input->bytes, buf, cap, why);
    if (got < 0 || !range->stated || input->bytes.is_cut)
        return got;
    const uint64_t position = bytes_position(&input->bytes);
    if (range->is_whole && position > range->end)
        content_goes_on(range, &fault);
    else if (got == 0 && position < range->end)
        content_ends_before(range, &fault);
    else
        return got;
    return failed(input, fault.text, why);
}

void input_close(struct input *input)
{
    bytes_close(&input->bytes);
    frame_batch_free(&input->frames.pending);
    records_close(&input->records);
}
