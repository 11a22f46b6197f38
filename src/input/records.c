/* SPDX-License-Identifier: MIT */
#include "records.h"
#include "engine.h"
#include "src/base/byte_masks.h"
#include "src/base/memory.h"
#include "src/tally/histogram_spec.h"
#include "src/tally/characters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- kinds --- */

static size_t token_head(const unsigned char *data, size_t len)
{
    return (size_t)(number_token_end(data, data + len) - data);
}

static size_t token_tail(const unsigned char *data, size_t len)
{
    size_t begin = len;
    while (begin > 0 && !number_is_space(data[begin - 1]))
        begin--;
    return len - begin;
}

static size_t line_head(const unsigned char *data, size_t len)
{
    const unsigned char *newline = memchr(data, '\n', len);
    return newline ? (size_t)(newline - data) : len;
}

static size_t line_tail(const unsigned char *data, size_t len)
{
    const unsigned char *newline = memrchr(data, '\n', len);
    return newline ? (size_t)(data + len - newline) - 1 : len;
}

static size_t one_byte(const unsigned char *data, size_t len)
{
    (void)data;
    return len > 0;
}

const struct record_kind record_tokens = {RECORD_TOKENS, .max = NUMBER_MAX, .head = token_head,
                                          .tail = token_tail};
/* A byte order mark may stand before the first line. */
const struct record_kind record_lines = {RECORD_LINES, .max = FIELD_RECORD_MAX + FIELD_BOM_SIZE,
                                         .head = line_head, .tail = line_tail};
const struct record_kind record_characters = {RECORD_CHARACTERS, .max = CHARACTER_SIZE_MAX,
                                              .head = characters_head, .tail = characters_tail};
static const struct record_kind record_pairs = {RECORD_PAIRS, .max = 2, .head = one_byte,
                                                .tail = one_byte};

struct record_kind record_values(size_t size)
{
    return (struct record_kind){.type = RECORD_VALUES, .size = size, .max = size};
}

struct record_kind record_kind_of(const struct histogram_spec *spec)
{
    if (spec->mode->has_characters)
        return record_characters;
    if (spec->mode->has_pairs && !spec->is_aligned)
        return record_pairs;
    if (spec->lines.field.kind != FIELD_NONE || spec->lines.field.has_units ||
        line_filter_is_used(&spec->lines.filter)) {
        struct record_kind lines = record_lines;
        lines.max = field_record_max(&spec->lines.field) + FIELD_BOM_SIZE;
        if (spec->lines.field.kind == FIELD_CSV)
            lines.type = RECORD_CSV;
        return lines;
    }
    const size_t size = histogram_spec_sample_size(spec);
    return size > 0 ? record_values(size) : record_tokens;
}

/* Single bytes may be cut like all others. All others are the same but for the longest. */
struct record_kind record_kind_of_all(const struct histogram_spec *spec)
{
    struct record_kind kind = record_values(1);
    for (; spec; spec = spec->also) {
        const struct record_kind other = record_kind_of(spec);
        if (record_is_byte(&kind) || (!record_is_byte(&other) && other.max > kind.max))
            kind = other;
    }
    return kind;
}

/* --- cutting --- */

void records_close(struct records *records)
{
    free(records->cut);
    *records = (struct records){.kind = records->kind, .field = records->field};
}

void records_resume(struct records *records, struct chunk *chunk)
{
    if (records->cut_len > 0)
        memcpy(chunk->data, records->cut, records->cut_len);
    chunk->begin = 0;
    chunk->len = records->cut_len;
    chunk->repeated = records->kind.type == RECORD_PAIRS ? chunk->len : 0;
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
    const bool is_csv = records->kind.type == RECORD_CSV;
    if (records->too_long) { /* a newline that ends the record stays */
        const unsigned char *from = chunk->data + chunk->begin;
        const size_t len = chunk->len - chunk->begin;
        const size_t rest = is_csv
                                ? field_end_csv(records->field->separator, from, len, &records->csv)
                                : records->kind.head(from, len);
        records->too_long = rest == len;
        records_drop(&records->kind, chunk, rest);
    }
    bool is_whole = at_end && record_is_text(&records->kind);
    if (is_whole && !is_csv)
        return 0;
    size_t begin = chunk->begin, known = waited > begin ? waited - begin : 0;
    const unsigned char *data = chunk->data + begin;
    size_t tail = tail_of(records, data, known, chunk->len - begin);
    if (is_csv)
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

bool records_are_one_line(const unsigned char *data, size_t len)
{
    return len > 1 && memchr(data, '\r', len - 1) && !memchr(data, '\n', len);
}

/* --- joining --- */

struct span *span_open(uint64_t segment, const struct record_kind *kind, uint64_t before,
                       bool is_end)
{
    struct span *span = calloc(1, sizeof *span);
    if (!span)
        return NULL;
    bool is_text = record_is_text(kind);
    span->kind = kind;
    span->begin = segment;
    span->end = is_end ? segment : segment + 1;
    span->wanted = is_text ? 0 : (size_t)((kind->size - before % kind->size) % kind->size);
    span->before = is_text ? 0 : before - before % kind->size;
    const bool is_character = kind->type == RECORD_CHARACTERS;
    span->max = is_character ? 2 * CHARACTER_SIZE_MAX : kind->max + is_text;
    span->has_boundary = is_end || (!is_text && span->wanted == 0);
    span->is_end = span->to_end = is_end;
    return span;
}

void span_close(struct span *span)
{
    if (!span)
        return;
    free(span->head.data);
    free(span->tail.data);
    free(span);
}

int fragment_append(struct fragment *fragment, size_t max, const unsigned char *data, size_t len)
{
    size_t space = max - fragment->len, kept = len < space ? len : space;
    if (kept == 0)
        return 0;
    unsigned char *larger = grow_list(fragment->data, &fragment->cap, fragment->len + kept, 1);
    if (!larger)
        return -1;
    memcpy(larger + fragment->len, data, kept);
    fragment->data = larger;
    fragment->len += kept;
    return 0;
}

/* Moves what is in `from`, which is empty then, to another fragment. */
static void fragment_move(struct fragment *to, struct fragment *from)
{
    free(to->data);
    *to = *from;
    *from = (struct fragment){0};
}

int span_keep_head(struct span *span, struct chunk *chunk)
{
    const struct record_kind *kind = span->kind;
    struct fragment *head = &span->head;
    unsigned char *data = chunk->data + chunk->begin;
    size_t len = chunk->len - chunk->begin;
    if (span->has_boundary)
        return 0;
    if (record_is_text(kind)) {
        size_t end = kind->head(data, len);
        if (kind->type == RECORD_CHARACTERS && end > CHARACTER_SIZE_MAX - 1 - head->len)
            end = CHARACTER_SIZE_MAX - 1 - head->len; /* three bytes are kept, at most */
        int rc = fragment_append(head, span->max, data, end);
        records_drop(kind, chunk, end);
        /* Each byte is a boundary of pairs. */
        span->has_boundary = kind->type == RECORD_PAIRS ? end > 0 : end < len;
        return rc;
    }
    size_t missing = span->wanted - head->len, taken = len < missing ? len : missing;
    int rc = fragment_append(head, span->max, data, taken);
    head->bytes += taken;
    span->has_boundary = head->len == span->wanted;
    memmove(data, data + taken, len - taken);
    chunk->len -= taken;
    return rc;
}

int span_keep_tail(struct span *span, const struct records *records)
{
    span->tail.bytes = records->kind.type == RECORD_PAIRS ? 0 : records->cut_len;
    span->tail.given = records->too_long;
    return fragment_append(&span->tail, span->max, records->cut, records->cut_len);
}

int record_joiner_open(struct record_joiner *joiner, bool is_first, bool goes_on)
{
    /* The file begins as if a segment without any content had ended. */
    joiner->spans = calloc(1, sizeof *joiner->spans);
    if (!joiner->spans)
        return -1;
    joiner->spans->has_boundary = true;
    joiner->spans->is_first = is_first;
    joiner->spans->tail.given = goes_on;
    pthread_mutex_init(&joiner->lock, NULL);
    return 0;
}

void record_joiner_close(struct record_joiner *joiner)
{
    if (!joiner->spans)
        return;
    while (joiner->spans) {
        struct span *next = joiner->spans->next;
        span_close(joiner->spans);
        joiner->spans = next;
    }
    pthread_mutex_destroy(&joiner->lock);
}

/* No character goes on after three bytes that may continue one, so a text may be cut there. Ends
 * `open`, to which the head of the next span was added, with that span if it is long enough, and
 * moves what follows the first three bytes of a head to the next one's. 0, or -1: no memory. */
static int end_characters(const struct span *span, struct span *next, struct fragment *open)
{
    const size_t max = CHARACTER_SIZE_MAX - 1;
    if (next->kind->type != RECORD_CHARACTERS || open->len <= max)
        return 0;
    next->has_boundary = true;
    if (span->has_boundary)
        return 0;
    const size_t after = open->len - max;
    open->len = max;
    return fragment_append(&next->head, next->max, open->data + max, after);
}

/* Makes one of a span and the next one. *left carries the record between them, or nothing if one of
 * the two has no boundary. 0, or -1: out of memory. */
static int merge(struct span *span, struct span **left)
{
    struct span *next = span->next;
    struct fragment *open = span->has_boundary ? &span->tail : &span->head;
    const bool given = open->given; /* then the rest is dropped */
    int rc = given ? 0 : fragment_append(open, next->max, next->head.data, next->head.len);
    open->bytes += next->head.bytes;
    next->head.len = next->head.bytes = 0;
    rc |= end_characters(span, next, open);
    if (span->has_boundary && next->has_boundary) {
        fragment_move(&next->head, open);
        if (given)
            next->head.len = 0;
        next->is_first = span->is_first;
        span->is_first = false;
    }
    if (!span->has_boundary)
        span->to_end = next->to_end;
    if (next->has_boundary)
        fragment_move(&span->tail, &next->tail);
    span->has_boundary |= next->has_boundary;
    span->end = next->end;
    span->next = next->next;
    *left = next;
    return rc;
}

int record_joiner_add(struct record_joiner *joiner, struct span *span, struct span **done)
{
    int rc = 0;
    *done = NULL;
    pthread_mutex_lock(&joiner->lock);
    struct span *before = joiner->spans; /* the beginning of the file, which comes before all */
    while (before->next && before->next->begin < span->begin)
        before = before->next;
    span->next = before->next;
    before->next = span;
    for (struct span *at = before; at && at->begin <= span->begin; at = at->next)
        while (at->next && at->end == at->next->begin) {
            struct span *joined;
            rc |= merge(at, &joined);
            joined->next = *done;
            *done = joined;
        }
    pthread_mutex_unlock(&joiner->lock);
    return rc;
}
