/* SPDX-License-Identifier: MIT */
/* What is read of a file: the range of its content, the columns that are named, the records of a
 * piece, and those of what is read in order. */
#include "input.h"
#include "src/base/show.h"

#include <stdio.h>
#include <string.h>

#define COLUMN_SHOWN 48   /* bytes of a column's name in a message */
#define COLUMNS_SHOWN 240 /* bytes of such names, after which no more are listed */

bool input_seeks_columns(const struct input *input)
{
    const struct field *field = input->records.field, *key = input->key;
    return (field && field->name && input->plan.column == 0) ||
           (key && key->name && input->plan.key_column == 0);
}

/* Appends the names of the columns that a header [begin, end) has, as many as fit on a screen. */
static void list_columns(const struct field *field, const unsigned char *begin,
                         const unsigned char *end, struct error *error)
{
    struct field column = *field;
    const unsigned char *from, *to;
    size_t used = strlen(error->text), max = used + COLUMNS_SHOWN;
    begin += field_bom_len(begin, (size_t)(end - begin));
    for (column.number = 1; field_find(&column, begin, end, &from, &to) == FIELD_FOUND;
         column.number++) {
        char name[COLUMN_SHOWN];
        field_strip(&from, &to);
        show_text((const char *)from, (size_t)(to - from), name, sizeof name);
        const bool fits = used < max && used + 2 * sizeof name < sizeof error->text;
        used += (size_t)snprintf(error->text + used, sizeof error->text - used,
                                 fits ? "%s'%s'" : "%s%s", column.number == 1 ? "; it has " : ", ",
                                 fits ? name : "...");
        if (!fits)
            return;
    }
}

/* Sets *column to the number of the column called field->name; the first record of text[0..len) has
 * the names. 0, or -1 with the error set; `name` is the file. */
static int find_column(const struct field *field, const unsigned char *text, size_t len,
                       const char *name, int32_t *column, struct error *error)
{
    const unsigned char *end = field_record_end(field, text, text + len);
    char hint[FIELD_HINT_SIZE];
    *column = field_column(field, text, end);
    if (*column > 0)
        return 0;
    if (records_are_one_line(text, (size_t)(end - text)))
        return error_of(error, name,
                        "no column is called '%s'; it has carriage returns instead of newlines; "
                        "use tr '\\r' '\\n' <FILE | gpuhisto",
                        field->name);
    field_hint(text, end, field->name, strlen(field->name), hint);
    if (*hint)
        error_of(error, name, "no column is called '%s'; did you mean %s%s?", field->name, hint,
                 strncmp(hint, "--field", 7) == 0 ? " without --header-line" : "");
    else
        error_of(error, name, "no column is called '%s'", field->name);
    if (!*hint)
        list_columns(field, text, end, error);
    return -1;
}

int input_find_columns(struct input *input, const unsigned char *text, size_t len,
                       struct error *error)
{
    const struct field *field = input->records.field, *key = input->key;
    const char *name = input->bytes.name;
    int rc = 0;
    if (field && field->name)
        rc = find_column(field, text, len, name, &input->plan.column, error);
    if (rc == 0 && key && key->name)
        rc = find_column(key, text, len, name, &input->plan.key_column, error);
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

/* Cuts a piece of a text, data[1..1 + piece), to the records that begin in it. data[0] is the byte
 * before it, and data[1 + piece..len) follow it. Drops data[0] and the end of a record from before.
 * Sets chunk->len to the end of the last record, or to len if it goes on there.
 *
 * Both neighbours find the same boundary, from the byte before it and those after it. Of characters
 * it may be after the end of a piece that has few bytes. */
static void cut_piece(const struct record_kind *kind, struct chunk *chunk, size_t piece, size_t len)
{
    const bool are_characters = kind->type == RECORD_CHARACTERS;
    const unsigned char *data = chunk->data;
    size_t end = 1 + piece < len ? 1 + piece : len;
    size_t looked = are_characters ? len : end;
    size_t dropped = kind->ends(data[0]) ? 1 : 1 + kind->head(data + 1, looked - 1);
    chunk->begin = 0;
    records_drop(kind, chunk, dropped);
    chunk->len = end;
    if (!kind->ends(data[end - 1]) && (dropped < end || are_characters))
        chunk->len = end + kind->head(data + end, len - end);
}

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
    cut_piece(kind, chunk, len, 1 + have);
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
    if (*records->missing)
        return error_of(error, input->bytes.name,
                        "a quoted field opened %s; where quotes have no meaning, use --separator "
                        "instead of --csv",
                        records->missing);
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
