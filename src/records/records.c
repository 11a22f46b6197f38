/* SPDX-License-Identifier: MIT */
#include "records.h"
#include "src/base/byte_masks.h"
#include "src/base/grow.h"
#include "src/base/show.h"
#include "src/count/field.h"
#include "src/count/histogram_spec.h"
#include "src/count/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN_SHOWN 48   /* bytes of a column's name in a message */
#define COLUMNS_SHOWN 240 /* bytes of such names, after which no more are listed */

void records_close(struct records *records)
{
    free(records->cut);
    *records = (struct records){.kind = records->kind, .field = records->field};
}

size_t records_repeated(const struct records *records, size_t waited)
{
    return records->kind.type == RECORD_PAIRS ? waited : 0;
}

void records_resume(struct records *records, struct chunk *chunk)
{
    if (records->cut_len > 0)
        memcpy(chunk->data, records->cut, records->cut_len);
    chunk->begin = 0;
    chunk->len = records->cut_len;
    chunk->repeated = records_repeated(records, chunk->len);
    records->cut_len = 0;
}

/* Blanks would make a record of a line's rest, so that is left out by moving the beginning. Tokens
 * stay where they are: an engine's memory is aligned. */
void records_drop(const struct record_kind *kind, struct chunk *chunk, size_t len)
{
    if (kind->type == RECORD_TOKENS)
        memset(chunk->data + chunk->begin, ' ', len);
    else if (kind->type != RECORD_PAIRS)
        chunk->begin += len;
}

static bool is_csv(const struct records *records)
{
    return records->kind.type == RECORD_CSV;
}

/* Drops what goes on from a record that was given out without it. A newline that ends it stays. */
static void drop_rest(struct records *records, struct chunk *chunk)
{
    const unsigned char *data = chunk->data + chunk->begin;
    size_t len = chunk->len - chunk->begin, rest;
    if (is_csv(records))
        rest = field_end_csv(records->field->separator, data, len, &records->csv);
    else
        rest = records->kind.head(data, len);
    records->too_long = rest == len;
    records_drop(&records->kind, chunk, rest);
}

/* Returns the bytes of the record that data[0..len) end with and that may not be whole yet. The
 * first `waited` of them were looked at before. */
static size_t tail_of(struct records *records, const unsigned char *data, size_t waited, size_t len)
{
    const struct record_kind *kind = &records->kind;
    switch (kind->type) {
    case RECORD_VALUES:
        return len % kind->size;
    case RECORD_CSV:
        return len - field_scan_csv(records->field->separator, data, waited, len, &records->csv);
    case RECORD_TOKENS:
    case RECORD_LINES: {
        size_t tail = kind->tail(data + waited, len - waited);
        return tail == len - waited ? len : tail;
    }
    default:
        return kind->tail(data, len);
    }
}

/* Looks again at records of CSV, of which all newlines were counted: sets records->missing if a
 * quote is missing, and otherwise records->csv to all that is known. */
static void find_quotes(struct records *records, const unsigned char *data, size_t len)
{
    const unsigned char separator = records->field->separator;
    struct csv_scan scan = {.newlines = records->csv.newlines - byte_count(data, len, '\n')};
    for (size_t at = 0; at < len; at++) {
        const size_t left = len - at;
        size_t end = left < FIELD_RECORD_MAX + 1 ? left : FIELD_RECORD_MAX + 1;
        end = field_end_csv(separator, data + at, end, &scan);
        if (end > FIELD_RECORD_MAX && scan.state == CSV_QUOTED) {
            snprintf(records->missing, sizeof records->missing,
                     "in line %" PRIu64 " is longer than %zu bytes", scan.opened + 1,
                     FIELD_RECORD_MAX);
            return;
        }
        at += end + field_end_csv(separator, data + at + end, left - end, &scan);
        if (scan.matched > 0) {
            snprintf(records->missing, sizeof records->missing,
                     "in line %" PRIu64 " is followed by text in line %" PRIu64
                     ", so a quote is missing",
                     scan.unmatched + 1, scan.matched + 1);
            return;
        }
        if (at < len)
            scan = (struct csv_scan){.newlines = scan.newlines + 1};
    }
    records->csv = scan;
}

/* Looks for a missing quote of CSV in data[0..len), which end with `tail` bytes of a record. Nearly
 * always records are short and their quotes regular, so that there is nothing to look at. */
static void check_quotes(struct records *records, const unsigned char *data, size_t len,
                         size_t tail, bool at_end)
{
    const bool is_open = at_end && records->csv.state == CSV_QUOTED;
    if (len > FIELD_RECORD_MAX || records->csv.is_odd)
        find_quotes(records, data, len);
    else if (is_open && !records->too_long)
        find_quotes(records, data + len - tail, tail);
    if (is_open && !*records->missing)
        snprintf(records->missing, sizeof records->missing, "in line %" PRIu64 " is never closed",
                 records->csv.opened + 1);
}

int records_check(const struct records *records, const char *name, struct error *error)
{
    if (!*records->missing)
        return 0;
    return error_of(error, name,
                    "a quoted field opened %s; where quotes have no meaning, use --separator "
                    "instead of --csv",
                    records->missing);
}

int records_begin_with(struct records *records, const unsigned char *data, size_t len)
{
    unsigned char *cut = grow_list(records->cut, &records->cut_cap, len, 1);
    if (len > 0 && !cut)
        return -1;
    records->cut_len = len;
    if (len > 0)
        records->cut = memcpy(cut, data, len);
    return 0;
}

int records_cut(struct records *records, struct chunk *chunk, size_t waited, bool at_end)
{
    if (records->too_long)
        drop_rest(records, chunk);
    bool is_whole = at_end && record_is_text(&records->kind);
    if (is_whole && !is_csv(records))
        return 0;
    size_t begin = chunk->begin, known = waited > begin ? waited - begin : 0;
    const unsigned char *data = chunk->data + begin;
    size_t tail = tail_of(records, data, known, chunk->len - begin);
    if (is_csv(records))
        check_quotes(records, data, chunk->len - begin, tail, at_end);
    if (is_whole)
        return 0;
    if (record_is_text(&records->kind) && tail > records->kind.max) {
        records->too_long = true;
        tail = 0;
    }
    const unsigned char *cut = chunk->data + chunk->len - tail;
    if (records->kind.type != RECORD_PAIRS)
        chunk->len -= tail;
    return records_begin_with(records, cut, tail);
}

size_t records_begin(const struct histogram_spec *spec, const struct chunk *chunk)
{
    size_t begin = chunk->begin;
    if (!chunk->origin.has_header)
        return begin;
    return begin + field_header_len(&spec->field, chunk->data + begin, chunk->len - begin);
}

/* Both neighbours find the same boundary, from the byte before it and those after it. Of characters
 * it may be after the end of a piece that has few bytes. */
void records_of_piece(const struct record_kind *kind, struct chunk *chunk, size_t piece, size_t len)
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

int records_find_column(const struct field *field, const unsigned char *text, size_t len,
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

bool records_are_one_line(const unsigned char *data, size_t len)
{
    return len > 1 && memchr(data, '\r', len - 1) && !memchr(data, '\n', len);
}
