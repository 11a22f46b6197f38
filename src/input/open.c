/* SPDX-License-Identifier: MIT */
/* Opens a file: its format, what its content begins with, and what of it is counted. */
#include "input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- formats that are not decoded --- */

/* The first bytes of a format: each is in the range that two strings give. */
struct signature {
    struct unsupported_format format;
    const char *min, *max; /* size bytes each */
    size_t size;
};

#define BYTES(bytes) bytes, bytes, sizeof(bytes) - 1
#define RANGES(min, max) min, max, sizeof(min) - 1

/* bzip2's header has a digit, and is followed by a block or the end of the data. That of .lzma has
 * the properties that all writers use, the size of the dictionary, and that of the content or, if
 * it is not known, all bits; the data begin with 0. Without a byte order mark, two characters of
 * ASCII tell UTF-16: text has no NULs. */
static const struct signature signatures[] = {
    {{"xz", "xz -dc", false},
     BYTES("\xfd"
           "7zXZ\0")},
    {{"bzip2", "bzip2 -dc", false},
     RANGES("BZh1\x31\x41\x59\x26\x53\x59", "BZh9\x31\x41\x59\x26\x53\x59")},
    {{"bzip2", "bzip2 -dc", false},
     RANGES("BZh1\x17\x72\x45\x38\x50\x90", "BZh9\x17\x72\x45\x38\x50\x90")},
    {{"lz4", "lz4 -dc", false}, BYTES("\x04\x22\x4d\x18")},
    {{"zip", "unzip -p", false}, BYTES("PK\x03\x04")},
    {{"zip", "unzip -p", false}, BYTES("PK\x05\x06")},
    {{"7z", "7z e -so", false}, BYTES("7z\xbc\xaf\x27\x1c")},
    {{".Z", "gzip -dc", false}, RANGES("\x1f\x9d\x89", "\x1f\x9d\x90")},
    {{".Z", "gzip -dc", false}, RANGES("\x1f\x9d\x09", "\x1f\x9d\x10")},
    {{"lzma", "xz -dc", false},
     RANGES("\x5d\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\0",
            "\x5d\0\0\xff\x10\xff\xff\xff\xff\xff\xff\xff\xff\0")},
    {{"lzma", "xz -dc", false},
     RANGES("\x5d\0\0\x01\0\0\0\0\0\0\0\0\0\0", "\x5d\0\0\xff\0\xff\xff\xff\xff\xff\0\0\0\0")},
    {{"lzma", "xz -dc", false},
     RANGES("\x5d\0\0\0\x01\0\0\0\0\0\0\0\0\0", "\x5d\0\0\0\x10\xff\xff\xff\xff\xff\0\0\0\0")},
#if !HAVE_ISAL
    {{"gzip", "gzip -dc", false}, BYTES("\x1f\x8b\x08")},
#endif
    {{"UTF-16", "iconv -f UTF-16 -t UTF-8", true}, BYTES("\xff\xfe")},
    {{"UTF-16", "iconv -f UTF-16 -t UTF-8", true}, BYTES("\xfe\xff")},
    {{"UTF-16", "iconv -f UTF-16LE -t UTF-8", true}, RANGES("\t\0\t\0", "~\0~\0")},
    {{"UTF-16", "iconv -f UTF-16BE -t UTF-8", true}, RANGES("\0\t\0\t", "\0~\0~")},
};
#define SIGNATURES (sizeof signatures / sizeof signatures[0])

/* Finds the format whose data begin with head[0..len); formats of text only where text is counted.
 * MAGIC_MATCH with *format set; MAGIC_PART if more bytes must be seen, CODEC_MAGIC_MAX at most; or
 * MAGIC_OTHER. */
static enum codec_magic recognise_unsupported(const unsigned char *head, size_t len, bool is_text,
                                              const struct unsupported_format **format)
{
    enum codec_magic result = MAGIC_OTHER;
    for (size_t i = 0; i < SIGNATURES; i++) {
        const struct signature *signature = &signatures[i];
        bool fits = is_text || !signature->format.is_text;
        for (size_t at = 0; at < len && at < signature->size && fits; at++)
            fits = head[at] >= (unsigned char)signature->min[at] &&
                   head[at] <= (unsigned char)signature->max[at];
        if (fits && len >= signature->size) {
            *format = &signature->format;
            return MAGIC_MATCH;
        }
        if (fits)
            result = MAGIC_PART;
    }
    return result;
}

const struct unsupported_format *unsupported_format_find(const char *name)
{
    for (size_t i = 0; i < SIGNATURES; i++)
        if (!signatures[i].format.is_text && strcmp(signatures[i].format.name, name) == 0)
            return &signatures[i].format;
    return NULL;
}

void unsupported_format_record(struct unsupported_seen *seen,
                               const struct unsupported_format *format, const char *name,
                               size_t number)
{
    if (!format)
        return;
    const size_t others = seen->others + (seen->format != NULL);
    if (!seen->format || number < seen->number)
        *seen = (struct unsupported_seen){format, name, number, others};
    seen->others = others;
}

void unsupported_format_warn(const struct unsupported_seen *seen, struct error *warning)
{
    const struct unsupported_format *format = seen->format;
    warning->text[0] = '\0';
    if (!format)
        return;
    char more[64] = "";
    if (seen->others > 0)
        snprintf(more, sizeof more, "; %zu more file%s encoded, too", seen->others,
                 seen->others == 1 ? " looks" : "s look");
    error_of(warning, seen->name,
             "looks like %s %s and was counted as it is; use '%s FILE | gpuhisto'%s", format->name,
             format->is_text ? "text" : "data", format->command, more);
}

/* --- the format --- */

/* Returns where the bytes end that may be looked at. */
static uint64_t end_of(const struct bytes *bytes)
{
    return bytes->is_cut ? bytes->opened_size : UINT64_MAX;
}

/* Finds the format by the first bytes, as many as it takes. 0 or -1. */
static int recognise_by_magic(struct input *input, struct error *error)
{
    unsigned char head[CODEC_MAGIC_MAX];
    const struct record_kind *kind = &input->records.kind;
    const bool is_text = record_is_text(kind) && kind->type != RECORD_PAIRS;
    const uint64_t end = end_of(&input->bytes);
    const size_t cap = end < sizeof head ? (size_t)end : sizeof head;
    enum codec_magic magic = MAGIC_PART;
    for (size_t len = 0; magic == MAGIC_PART && len < cap;) {
        ssize_t got = bytes_peek(&input->bytes, head + len, cap - len, len, error);
        if (got <= 0)
            return (int)got;
        len += (size_t)got;
        magic = codec_recognise(head, len, &input->frames.codec);
        if (magic == MAGIC_MATCH)
            return 0;
        enum codec_magic others =
            recognise_unsupported(head, len, is_text, &input->plan.unsupported);
        magic = others == MAGIC_OTHER ? magic : others;
    }
    return 0;
}

/* Opens a file and finds its format. Nothing is left out yet. As input_open. */
static int open_file(struct input *input, struct preopened *file,
                     const struct input_options *options, struct file_shard *shard,
                     struct error *error)
{
    const struct content_range range = content_range_of(&options->content);
    *input = (struct input){.options = options,
                            .frames = {.bytes = &input->bytes,
                                       .decoding = &options->decoding,
                                       .batch_size = options->batch_size,
                                       .frame_memory = options->frame_memory},
                            .plan.range = range,
                            .records = {.kind = options->record,
                                        .field = options->lines ? &options->lines->field : NULL},
                            .has_header = options->lines && options->lines->field.has_header,
                            .seeks_bom = options->skips_bom};
    if (input->frames.frame_memory == 0)
        input->frames.frame_memory = FRAMES_MEMORY_MAX;
    if (bytes_open(&input->bytes, file, error) != 0)
        return -1;
    if (!input->bytes.regular)
        input->bytes.limit = range.end;
    int rc = shard ? file_shard_check(input, shard, error) : 0;
    if (rc == 0 && range.begin < range.end) { /* otherwise the format does not matter */
        input->frames.codec = options->codec;
        if (!options->codec && !options->is_as_stored)
            rc = recognise_by_magic(input, error);
        if (rc == 0 && input->frames.codec && input->frames.codec->load(error) != 0) {
            error_begin(error, input->bytes.name);
            rc = -1;
        }
    }
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
    /* A header of values as far as it was read: */
    size_t wanted; /* bytes */
    enum header_status status;
    struct header *header;
    struct error *error;
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

static int add_header(void *arg, const unsigned char *data, size_t len)
{
    struct beginning *beginning = arg;
    if (add(beginning, data, len) != 0)
        return -1;
    if (len == 0 || beginning->len >= beginning->wanted)
        beginning->status =
            header_peek(beginning->data, beginning->len, len > 0 ? &beginning->wanted : NULL,
                        beginning->header, beginning->error);
    return beginning->status == HEADER_PART;
}

/* Reads the header of values, if there is one. HEADER_NONE, HEADER_FOUND, or HEADER_WRONG with the
 * error set. */
static enum header_status read_header(const struct input *input, struct header *header,
                                      struct error *error)
{
    struct beginning beginning = {.status = HEADER_PART, .header = header, .error = error};
    int rc = peek_content(&input->frames, 0, end_of(&input->bytes), add_header, &beginning, error);
    if (rc == 0 && beginning.status == HEADER_WRONG)
        error_begin(error, input->bytes.name);
    free(beginning.data);
    return rc == 0 ? beginning.status : HEADER_WRONG;
}

static int lacks_header(const struct input *input, struct error *error)
{
    return error_of(error, input->bytes.name, "has no .npy, WAV or PNM header; use --values=TYPE");
}

int input_find_header(struct preopened *file, const struct input_options *options,
                      struct header *header, struct error *error)
{
    struct input input;
    if (open_file(&input, file, options, NULL, error) != 0)
        return -1;
    const struct unsupported_format *unsupported = input.plan.unsupported;
    const char *name = input.bytes.name;
    const enum header_status status = read_header(&input, header, error);
    int rc = status == HEADER_FOUND && header->type[0] ? 0 : -1;
    if (status == HEADER_FOUND && rc != 0)
        error_of(error, name, "holds %s, which --values cannot count", header->holds);
    else if (status == HEADER_NONE && unsupported && !unsupported->is_text)
        error_of(error, name, "looks like %s data; use '%s FILE | gpuhisto'", unsupported->name,
                 unsupported->command);
    else if (status == HEADER_NONE)
        lacks_header(&input, error);
    if (rc == 0 && bytes_give_back(&input.bytes, file) != 0)
        rc = error_of(error, name, "out of memory");
    input_close(&input);
    return rc;
}

/* Sets the range to what follows a header, if there is one. 0 or -1. */
static int follow_header(struct input *input, struct error *error)
{
    const struct content_options *content = &input->options->content;
    const struct bytes *bytes = &input->bytes;
    const char *type = content->header_type;
    struct content_range *range = &input->plan.range;
    struct header header;
    if (!type || range->begin == range->end)
        return 0;
    enum header_status status = read_header(input, &header, error);
    if (status == HEADER_NONE)
        return content->needs_header ? lacks_header(input, error) : 0;
    if (status == HEADER_WRONG)
        return -1;
    if (content->needs_header && header.type[0] && strcmp(header.type, type) != 0)
        return error_of(error, bytes->name,
                        "holds %s, but another file holds values of %s; count them separately",
                        header.holds, type);
    if (header_fits(&header, type, content->channels, error)) {
        const bool is_cut = content->has_length && content->length < header.bytes;
        const bool is_open = header.extent == HEADER_OPEN || header.bytes == HEADER_TO_END;
        *range = (struct content_range){
            .begin = header.size,
            .end = content_add(header.size, is_cut ? content->length : header.bytes),
            .stated = is_open ? NULL : header.format,
            .is_whole = header.extent == HEADER_EXACT && !is_cut,
        };
        /* Of other files reading shows whether they have that length. */
        const bool is_sized = !input->frames.codec && bytes->regular && !bytes->may_be_short;
        if (!is_sized || content_check(range, bytes->opened_size, true, error) == 0)
            return 0;
    }
    error_begin(error, bytes->name);
    return -1;
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
    struct beginning beginning = {.len = 0};
    if (!input->has_header || !input_seeks_columns(input) || field->kind == FIELD_CSV ||
        (input->frames.codec && content_is_partial(range)))
        return 0;
    int rc = peek_content(&input->frames, range->begin, range->end < end ? range->end : end,
                          read_line, &beginning, error);
    if (rc == 0)
        rc = input_find_columns(input, beginning.data, beginning.len, error);
    free(beginning.data);
    return rc;
}

/* --- what of it is counted --- */

struct content_range content_range_of(const struct content_options *options)
{
    const uint64_t end = options->skip + options->length;
    return (struct content_range){.begin = options->skip,
                                  .end = options->has_length ? end : CONTENT_TO_END};
}

#define TAIL_FIRST 4096 /* bytes at the end of a file that are looked at first */

/* Sets *tail to how many of the last `size` bytes belong to a token or line that may not be whole.
 * All of them: a file that has less than it states, as in /sys, is read in order, as only then its
 * end shows. 0, or -1 with the error set. */
static int find_tail(const struct input *input, uint64_t size, uint64_t *tail, struct error *error)
{
    const struct record_kind *kind = &input->records.kind;
    const size_t max = size < kind->max + 1 ? (size_t)size : kind->max + 1;
    for (size_t peek = TAIL_FIRST + 1;; peek *= 4) {
        size_t len = peek < max ? peek : max;
        unsigned char *end = malloc(len);
        if (!end)
            return error_of(error, input->bytes.name, "out of memory");
        ssize_t got = bytes_read_at(&input->bytes, end, len, input->bytes.opened_size - len, error);
        *tail = got == (ssize_t)len ? kind->tail(end, len) : size;
        free(end);
        if (got < 0)
            return -1;
        if (len == max || *tail != len)
            return 0;
    }
}

/* Takes off the size what may not be a whole record, and is read in order. Not for shards. 0 or -1.
 */
static int trim(struct input *input, struct error *error)
{
    const struct record_kind *kind = &input->records.kind;
    const uint64_t size = input->bytes.opened_size - input->bytes.begin;
    uint64_t tail = size;
    if (input->frames.codec)
        return 0;
    if (!record_is_text(kind))
        tail = size % kind->size;
    else if (size > 0 && !input_is_serial(input) && find_tail(input, size, &tail, error) != 0)
        return -1;
    input->records.too_long = tail > kind->max && tail < size; /* its rest will be dropped */
    input->plan.end = input->bytes.opened_size - (input->records.too_long ? 0 : tail);
    input->plan.size = input->plan.end;
    return 0;
}

int input_open(struct input *input, struct preopened *file, const struct input_options *options,
               struct file_shard *shard, struct error *error)
{
    if (open_file(input, file, options, shard, error) != 0)
        return -1;
    const struct content_range *range = &input->plan.range;
    const struct record_kind *kind = &input->records.kind;
    int rc = follow_header(input, error);
    /* Of what is compressed only decoding finds the range. A byte more shows that a file goes on
     * after what its header states. */
    if (rc == 0 && !input->frames.codec)
        rc = bytes_select(&input->bytes, range->begin, range->end + range->is_whole, error);
    if (rc == 0)
        rc = find_columns(input, error);
    /* Values and a range are cut by how many bytes of content stand before a frame. */
    input->frames.needs_sizes = (!record_is_text(kind) && !record_is_byte(kind)) ||
                                input->options->wants_positions || content_is_partial(range);
    if (rc == 0)
        rc = shard ? file_shard_select(input, shard, error) : trim(input, error);
    if (rc != 0)
        input_close(input);
    return rc;
}

/* --- while it is read --- */

ssize_t input_read(struct input *input, void *buf, size_t cap, struct error *error)
{
    ssize_t got = bytes_read(&input->bytes, buf, cap, error);
    if (got < 0 || input->bytes.is_cut ||
        content_check(&input->plan.range, input->bytes.taken, got == 0, error) == 0)
        return got;
    error_begin(error, input->bytes.name);
    return -1;
}

void input_close(struct input *input)
{
    bytes_close(&input->bytes);
    frame_batch_free(&input->frames.pending);
    records_close(&input->records);
    csv_pieces_close(&input->csv);
}
