/* SPDX-License-Identifier: MIT */
#include "records.h"
#include "src/base/byte_masks.h"
#include "src/count/field.h"
#include "src/count/histogram.h"
#include "src/count/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUT_LEAST 4096 /* bytes of the first buffer */

size_t records_of(const struct histogram *histogram)
{
    if (histogram->mode->has_characters)
        return RECORD_CHARACTERS;
    if (histogram->mode->has_pairs && !histogram->is_aligned)
        return RECORD_PAIRS;
    bool has_lines = histogram->field.kind != FIELD_NONE;
    return has_lines ? RECORD_LINES : histogram_sample_size(histogram);
}

/* Single bytes may be cut like all others. */
size_t records_size(const struct histogram *histogram)
{
    size_t size = 1;
    for (; histogram && size == 1; histogram = histogram->also)
        size = records_of(histogram);
    return size;
}

void records_close(struct records *records)
{
    free(records->cut);
    *records = (struct records){.size = records->size, .field = records->field};
}

size_t records_repeated(const struct records *records, size_t waited)
{
    return records->size == RECORD_PAIRS ? waited : 0;
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

size_t records_head(size_t size, const unsigned char *data, size_t len)
{
    if (size == RECORD_TOKENS)
        return (size_t)(number_token_end(data, data + len) - data);
    if (size == RECORD_CHARACTERS)
        return characters_head(data, len);
    if (size == RECORD_PAIRS)
        return len > 0;
    const unsigned char *newline = memchr(data, '\n', len);
    return newline ? (size_t)(newline - data) : len;
}

bool records_end_with(size_t size, unsigned char byte)
{
    if (size == RECORD_TOKENS)
        return number_is_space(byte);
    return size == RECORD_CHARACTERS ? byte < 0x80 : byte == '\n';
}

/* Blanks would make a record of a line's rest, so that is left out by moving the beginning. Tokens
 * stay where they are: an engine's memory is aligned. */
void records_drop(size_t size, struct chunk *chunk, size_t len)
{
    if (size == RECORD_TOKENS)
        memset(chunk->data + chunk->begin, ' ', len);
    else if (size != RECORD_PAIRS)
        chunk->begin += len;
}

/* The length of the token that data[0..len) ends with. */
static size_t last_token(const unsigned char *data, size_t len)
{
    size_t begin = len;
    while (begin > 0 && !number_is_space(data[begin - 1]))
        begin--;
    return len - begin;
}

size_t records_tail(const struct records *records, const unsigned char *data, size_t len)
{
    if (records->size == RECORD_TOKENS)
        return last_token(data, len);
    if (records->size == RECORD_CHARACTERS)
        return characters_tail(data, len);
    if (records->size == RECORD_PAIRS)
        return len > 0;
    if (records->size != RECORD_LINES)
        return len % records->size;
    const unsigned char *newline = memrchr(data, '\n', len);
    return newline ? (size_t)(data + len - newline) - 1 : len;
}

static bool is_csv(const struct records *records)
{
    return records->size == RECORD_LINES && records->field->kind == FIELD_CSV;
}

/* Drops what goes on from a record that was given out without it. A newline that ends it stays. */
static void drop_rest(struct records *records, struct chunk *chunk)
{
    const unsigned char *data = chunk->data + chunk->begin;
    size_t len = chunk->len - chunk->begin, rest;
    if (is_csv(records))
        rest = field_end_csv(records->field->separator, data, len, &records->csv);
    else
        rest = records_head(records->size, data, len);
    records->too_long = rest == len;
    records_drop(records->size, chunk, rest);
}

/* As records_tail, for data of which the first `waited` bytes were looked at before. */
static size_t tail_of(struct records *records, const unsigned char *data, size_t waited, size_t len)
{
    if (is_csv(records)) {
        size_t end = field_scan_csv(records->field->separator, data, waited, len, &records->csv);
        return len - end;
    }
    if (!records_are_text(records->size) || records->size == RECORD_CHARACTERS ||
        records->size == RECORD_PAIRS)
        return records_tail(records, data, len);
    size_t tail = records_tail(records, data + waited, len - waited);
    return tail == len - waited ? len : tail;
}

/* Looks again at records of CSV, of which all newlines were counted: sets records->missing if a
 * quote is missing, and otherwise records->csv to all that is known. */
static void look_at_quotes(struct records *records, const unsigned char *data, size_t len)
{
    const unsigned char separator = records->field->separator;
    struct csv_scan scan = {.newlines = records->csv.newlines - byte_count(data, len, '\n')};
    for (size_t at = 0; at < len; at++) {
        const size_t left = len - at;
        size_t end = left < FIELD_RECORD_MAX + 1 ? left : FIELD_RECORD_MAX + 1;
        end = field_end_csv(separator, data + at, end, &scan);
        if (end > FIELD_RECORD_MAX && scan.state == CSV_QUOTED) {
            records->missing = (struct missing_quote){QUOTE_TOO_FAR, scan.opened + 1, 0};
            return;
        }
        at += end + field_end_csv(separator, data + at + end, left - end, &scan);
        if (scan.matched > 0) {
            records->missing =
                (struct missing_quote){QUOTE_BEFORE_TEXT, scan.unmatched + 1, scan.matched + 1};
            return;
        }
        if (at < len)
            scan = (struct csv_scan){.newlines = scan.newlines + 1};
    }
    records->csv = scan;
}

/* Looks for a quote of CSV that is missing: in data[0..len), which end with `tail` bytes of a
 * record, or in the rest of a record that is dropped. Nearly always records are so short, and their
 * quotes so regular, that nothing has to be looked at. */
static void check_quotes(struct records *records, const unsigned char *data, size_t len,
                         size_t tail, bool at_end)
{
    const bool is_open = at_end && records->csv.state == CSV_QUOTED;
    if (len > FIELD_RECORD_MAX || records->csv.is_odd)
        look_at_quotes(records, data, len);
    else if (is_open && !records->too_long)
        look_at_quotes(records, data + len - tail, tail);
    if (is_open && records->missing.where == QUOTE_NONE_MISSING)
        records->missing = (struct missing_quote){QUOTE_AT_END, records->csv.opened + 1, 0};
}

int records_check(const struct records *records, const char *name, struct reason *why)
{
    const struct missing_quote *missing = &records->missing;
    char fault[96] = "never closed";
    if (missing->where == QUOTE_NONE_MISSING)
        return 0;
    if (missing->where == QUOTE_TOO_FAR)
        snprintf(fault, sizeof fault, "longer than %zu bytes", FIELD_RECORD_MAX);
    else if (missing->where == QUOTE_BEFORE_TEXT)
        snprintf(fault, sizeof fault, "followed by text in line %" PRIu64 ", so a quote is missing",
                 missing->end);
    reason_of(why, name,
              "a quoted field opened in line %" PRIu64
              " is %s; where quotes have no meaning, use --separator instead of --csv",
              missing->line, fault);
    return -1;
}

/* Keeps data[0..len). 0, or -1: out of memory. */
static int keep_cut(struct records *records, const unsigned char *data, size_t len)
{
    if (len > records->cut_cap) {
        size_t cap = records->cut_cap ? records->cut_cap : CUT_LEAST;
        while (cap < len)
            cap *= 2;
        unsigned char *cut = realloc(records->cut, cap);
        if (!cut)
            return -1;
        records->cut = cut;
        records->cut_cap = cap;
    }
    if (len > 0)
        memcpy(records->cut, data, len);
    records->cut_len = len;
    return 0;
}

int records_begin_with(struct records *records, const unsigned char *data, size_t len)
{
    return keep_cut(records, data, len);
}

int records_cut(struct records *records, struct chunk *chunk, size_t waited, bool at_end)
{
    if (records->too_long)
        drop_rest(records, chunk);
    bool is_whole = at_end && records_are_text(records->size);
    if (is_whole && !is_csv(records))
        return 0;
    size_t begin = chunk->begin, known = waited > begin ? waited - begin : 0;
    const unsigned char *data = chunk->data + begin;
    size_t tail = tail_of(records, data, known, chunk->len - begin);
    if (is_csv(records))
        check_quotes(records, data, chunk->len - begin, tail, at_end);
    if (is_whole)
        return 0;
    if (records_are_text(records->size) && tail > records_most(records->size)) {
        records->too_long = true;
        tail = 0;
    }
    const unsigned char *cut = chunk->data + chunk->len - tail;
    if (records->size != RECORD_PAIRS)
        chunk->len -= tail;
    return keep_cut(records, cut, tail);
}

size_t records_begin(const struct histogram *histogram, const struct chunk *chunk)
{
    size_t begin = chunk->begin;
    if (!chunk->origin.has_header)
        return begin;
    return begin + field_header_len(&histogram->field, chunk->data + begin, chunk->len - begin);
}

/* Both neighbours find the same boundary, from the byte before it and those after it. Of characters
 * it may be after the end of a piece that has few bytes. */
void records_of_piece(size_t size, struct chunk *chunk, size_t piece, size_t len)
{
    const unsigned char *data = chunk->data;
    size_t end = 1 + piece < len ? 1 + piece : len;
    size_t looked = size == RECORD_CHARACTERS ? len : end;
    size_t dropped =
        records_end_with(size, data[0]) ? 1 : 1 + records_head(size, data + 1, looked - 1);
    chunk->begin = 0;
    records_drop(size, chunk, dropped);
    chunk->len = end;
    if (!records_end_with(size, data[end - 1]) && (dropped < end || size == RECORD_CHARACTERS))
        chunk->len = end + records_head(size, data + end, len - end);
}

int records_find_column(const struct field *field, const unsigned char *text, size_t len,
                        const char *name, int32_t *column, struct reason *why)
{
    const unsigned char *end = field_record_end(field, text, text + len);
    char hint[FIELD_HINT_SIZE];
    *column = field_column(field, text, end);
    if (*column > 0)
        return 0;
    field_hint_after(text, end, field->name, strlen(field->name), hint);
    if (*hint)
        reason_of(why, name, "no column is called '%s'; did you mean --after='%s'?", field->name,
                  hint);
    else
        reason_of(why, name, "no column is called '%s'", field->name);
    return -1;
}

bool records_are_one_line(const unsigned char *data, size_t len)
{
    return len > 1 && memchr(data, '\r', len - 1) && !memchr(data, '\n', len);
}
