/* SPDX-License-Identifier: MIT */
/* The records of a file: whether they can be read in pieces, those of a piece, and those of what is
 * read in order. */
#include "input.h"

#include <stdlib.h>
#include <string.h>

bool input_seeks_columns(const struct input *input)
{
    const struct field *field = input->records.field, *key = input->key;
    return (field && field->name && input->plan.column == 0) ||
           (key && key->name && input->plan.key_column == 0);
}

int input_find_columns(struct input *input, const unsigned char *text, size_t len,
                       struct error *error)
{
    const struct field *field = input->records.field, *key = input->key;
    const char *name = input->bytes.name;
    int rc = 0;
    if (field && field->name)
        rc = records_find_column(field, text, len, name, &input->plan.column, error);
    if (rc == 0 && key && key->name)
        rc = records_find_column(key, text, len, name, &input->plan.key_column, error);
    return rc;
}

bool input_is_serial(const struct input *input)
{
    const bool is_sought = input->frames.codec && input_seeks_columns(input);
    return is_sought || input->records.kind.type == RECORD_CSV;
}

int input_cut_off(const struct input *input, size_t len, struct error *error)
{
    const char *name = input->bytes.name;
    const struct content_options *options = input->plan.content;
    const size_t size = input->records.kind.size;
    if (options->channels > 1)
        return error_of(error, name,
                        "ends inside a record of %u channels, after %zu of its %zu bytes",
                        options->channels, len, size);
    if (options->has_pairs)
        return error_of(error, name, "ends inside a pair: its number of bytes is odd");
    return error_of(error, name, "ends inside a value, after %zu of its %zu bytes", len, size);
}

/* --- the range of the content --- */

int content_check(const struct content_range *range, uint64_t position, bool at_end,
                  struct error *error)
{
    const bool is_short = at_end && position < range->end;
    const bool is_long = range->is_whole && position > range->end;
    if (!range->stated || (!is_short && !is_long))
        return 0;
    return error_set(error, "the %s header states %llu bytes of values, but %s follow",
                     range->stated, (unsigned long long)(range->end - range->begin),
                     is_short ? "fewer" : "more");
}

uint64_t content_before(const struct content_range *range, uint64_t position)
{
    uint64_t last = position < range->end ? position : range->end;
    return last > range->begin ? last - range->begin : 0;
}

size_t content_left(const struct content_range *range, uint64_t position, size_t max)
{
    const uint64_t end = range->end + range->is_whole;
    const uint64_t left = position < end ? end - position : 0;
    return left < max ? (size_t)left : max;
}

size_t content_keep(const struct content_range *range, uint64_t position, unsigned char *data,
                    size_t len)
{
    if (position >= range->begin)
        return len;
    uint64_t left_out = range->begin - position;
    if (left_out >= len)
        return 0;
    memmove(data, data + left_out, len - (size_t)left_out);
    return len - (size_t)left_out;
}

/* --- pieces --- */

/* Bytes after a piece of text that are read with it: all that a token needs. */
#define PIECE_MORE ((size_t)NUMBER_MAX)

/* Reads a piece of text, the byte before it, and what its last record needs. That of a line is read
 * in steps, as nearly all are short. */
static ssize_t read_text(const struct input *input, struct chunk *chunk, size_t len,
                         uint64_t offset, struct error *error)
{
    const struct record_kind *kind = &input->records.kind;
    const size_t before = offset > input->bytes.begin, end = before + len;
    const uint64_t from = offset - before, left = input->plan.size - from;
    const size_t max = left < end + kind->max ? (size_t)left : end + kind->max;
    unsigned char *data = chunk->data + 1 - before;
    size_t have = 0, wanted = end + PIECE_MORE;
    bool ends = false;
    chunk->data[0] = record_is_line(kind) ? '\n' : ' '; /* stands before the first piece */
    for (; !ends; wanted = 2 * wanted - end) {
        wanted = wanted < max ? wanted : max;
        ssize_t got = bytes_read_at(&input->bytes, data + have, wanted - have, from + have, error);
        if (got < 0)
            return -1;
        const size_t begun = have > end ? have : end - 1;
        have += (size_t)got;
        ends = have < wanted || have == max || kind->type == RECORD_TOKENS ||
               memchr(data + begun, '\n', have - begun);
    }
    have -= have < before ? have : before;
    records_of_piece(kind, chunk, len, 1 + have);
    return (ssize_t)(have < len ? have : len);
}

ssize_t input_read_piece(const struct input *input, struct chunk *chunk, size_t len,
                         uint64_t offset, struct error *error)
{
    const struct record_kind *kind = &input->records.kind;
    const bool is_pairs = kind->type == RECORD_PAIRS;
    chunk->repeated = 0;
    if (record_is_text(kind) && !is_pairs)
        return read_text(input, chunk, len, offset, error);
    /* A pair belongs to the piece that it begins in. */
    const size_t after = is_pairs && input->bytes.opened_size - offset > len;
    ssize_t got = bytes_read_at(&input->bytes, chunk->data, len + after, offset, error);
    chunk->len = got > 0 ? (size_t)got : 0;
    if (!is_pairs && chunk->len % kind->size != 0)
        return input_cut_off(input, chunk->len % kind->size, error);
    return got > (ssize_t)len ? (ssize_t)len : got;
}

/* Marks the chunk if its first record is the file's header, and finds the columns that are named.
 * 0, or -1 with the error set. */
static int skip_header(struct input *input, struct chunk *chunk, bool at_end, struct error *error)
{
    const bool is_empty = chunk->begin == chunk->len, seeks = input_seeks_columns(input);
    const struct field *field = input->records.field;
    const bool is_named = (field && field->name) || (input->key && input->key->name);
    if (!input->has_header || (is_empty && !(at_end && is_named)))
        return 0;
    input->has_header = false;
    chunk->origin.has_header = true;
    if (seeks && input_find_columns(input, chunk->data + chunk->begin, chunk->len - chunk->begin,
                                    error) != 0)
        return -1;
    chunk->origin.column = input->plan.column;
    chunk->origin.key_column = input->plan.key_column;
    return 0;
}

/* Cuts the first chunk of a content, and leaves out the byte order mark that it may begin with. A
 * part of one waits for the rest. 0, or -1: out of memory. */
static int cut_after_bom(struct input *input, struct chunk *chunk, bool at_end)
{
    const size_t len = chunk->len;
    input->seeks_bom = !at_end && (len == 0 || (len < FIELD_BOM_SIZE && chunk->data[0] == 0xef));
    if (!input->seeks_bom) {
        chunk->begin = field_bom_len(chunk->data, len);
        return records_cut(&input->records, chunk, 0, at_end);
    }
    chunk->len = 0;
    return records_begin_with(&input->records, chunk->data, len);
}

int input_cut(struct input *input, struct chunk *chunk, size_t waited, bool at_end,
              struct error *error)
{
    struct records *records = &input->records;
    if ((input->seeks_bom ? cut_after_bom(input, chunk, at_end)
                          : records_cut(records, chunk, waited, at_end)) != 0)
        return error_of(error, input->bytes.name, "out of memory");
    chunk->origin.bytes = chunk->len - records_repeated(records, waited);
    if (records_check(records, input->bytes.name, error) != 0)
        return -1;
    if (!input->is_begun && record_is_line(&records->kind) && chunk->begin < chunk->len) {
        input->is_begun = true;
        input->is_one_line =
            records_are_one_line(chunk->data + chunk->begin, chunk->len - chunk->begin);
    }
    return skip_header(input, chunk, at_end, error);
}

int input_check_end(const struct input *input, struct error *error)
{
    const struct records *records = &input->records;
    if (records->cut_len == 0 || record_is_text(&records->kind))
        return 0;
    return input_cut_off(input, records->cut_len, error);
}
