/* SPDX-License-Identifier: MIT */
#include "record_joiner.h"
#include "src/base/grow.h"

#include <stdlib.h>
#include <string.h>

struct span *span_open(uint64_t segment, const struct record_kind *kind, uint64_t before,
                       bool is_end)
{
    struct span *span = calloc(1, sizeof *span);
    if (!span)
        return NULL;
    bool is_text = record_is_text(kind);
    span->begin = segment;
    span->end = is_end ? segment : segment + 1;
    span->wanted = is_text ? 0 : (size_t)((kind->size - before % kind->size) % kind->size);
    span->before = is_text ? 0 : before - before % kind->size;
    span->is_characters = kind->type == RECORD_CHARACTERS;
    span->max = span->is_characters ? 2 * CHARACTER_SIZE_MAX : kind->max + is_text;
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

/* --- fragments --- */

/* Appends bytes, up to `max` in all. 0, or -1: out of memory. */
static int fragment_append(struct fragment *fragment, size_t max, const unsigned char *data,
                           size_t len)
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

/* Appends `after`, or drops it if the record was given out. 0, or -1: out of memory. */
static int fragment_join(struct fragment *fragment, size_t max, const struct fragment *after)
{
    fragment->bytes += after->bytes;
    return fragment->given ? 0 : fragment_append(fragment, max, after->data, after->len);
}

/* Moves what is in `from`, which is empty then, to another fragment. */
static void fragment_move(struct fragment *to, struct fragment *from)
{
    free(to->data);
    *to = *from;
    *from = (struct fragment){0};
}

int span_keep_head(struct span *span, const struct records *records, struct chunk *chunk)
{
    struct fragment *head = &span->head;
    unsigned char *data = chunk->data + chunk->begin;
    size_t len = chunk->len - chunk->begin;
    if (span->has_boundary)
        return 0;
    if (record_is_text(&records->kind)) {
        size_t end = records->kind.head(data, len);
        if (span->is_characters && end > CHARACTER_SIZE_MAX - 1 - head->len)
            end = CHARACTER_SIZE_MAX - 1 - head->len;
        int rc = fragment_append(head, span->max, data, end);
        records_drop(&records->kind, chunk, end);
        /* Each byte is a boundary of pairs. */
        span->has_boundary = records->kind.type == RECORD_PAIRS ? end > 0 : end < len;
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
    span->tail.bytes = records->cut_len - records_repeated(records, records->cut_len);
    span->tail.given = records->too_long;
    return fragment_append(&span->tail, span->max, records->cut, records->cut_len);
}

/* --- seams --- */

int span_extend(struct span *span, const unsigned char *data, size_t len)
{
    return fragment_append(&span->head, span->max, data, len);
}

int record_joiner_open(struct record_joiner *joiner, bool is_first, bool goes_on)
{
    /* The file begins as if a segment without any content had ended. */
    const struct record_kind bytes = record_values(1);
    joiner->spans = span_open(0, &bytes, 0, true);
    if (!joiner->spans)
        return -1;
    joiner->spans->is_end = joiner->spans->to_end = false;
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
    if (!next->is_characters || open->len <= max)
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
    int rc = fragment_join(open, next->max, &next->head);
    bool given = open->given;
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
