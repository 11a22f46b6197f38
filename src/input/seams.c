#include "seams.h"

#include <stdlib.h>
#include <string.h>

struct span *span_open(uint64_t segment, size_t size, uint64_t phase, bool is_end)
{
    struct span *span = malloc(sizeof *span);
    if (!span)
        return NULL;
    span->next = NULL;
    span->begin = segment;
    span->end = is_end ? segment : segment + 1;
    span->wanted = size == RECORD_TOKENS ? 0 : (size_t)((size - phase % size) % size);
    span->has_boundary = is_end || (size != RECORD_TOKENS && span->wanted == 0);
    span->is_end = is_end;
    span->head.len = span->head.bytes = span->tail.len = span->tail.bytes = 0;
    span->head.given = span->tail.given = false;
    return span;
}

/* --- fragments --- */

static void fragment_append(struct fragment *fragment, const unsigned char *data, size_t len)
{
    size_t room = FRAGMENT_MAX - fragment->len, kept = len < room ? len : room;
    memcpy(fragment->data + fragment->len, data, kept);
    fragment->len += kept;
}

/* Puts `after` at the end of a fragment. What goes on after a token that was given out is dropped.
 */
static void fragment_join(struct fragment *fragment, const struct fragment *after)
{
    fragment->bytes += after->bytes;
    if (!fragment->given)
        fragment_append(fragment, after->data, after->len);
}

static void fragment_copy(struct fragment *to, const struct fragment *from)
{
    to->len = from->len;
    to->bytes = from->bytes;
    to->given = from->given;
    memcpy(to->data, from->data, from->len);
}

size_t span_take_head(struct span *span, const struct records *records, unsigned char *data,
                      size_t len)
{
    struct fragment *head = &span->head;
    if (span->has_boundary)
        return len;
    if (records->size == RECORD_TOKENS) {
        size_t end = records_head(data, len);
        fragment_append(head, data, end);
        memset(data, ' ', end);
        span->has_boundary = end < len;
        return len;
    }
    size_t missing = span->wanted - head->len, taken = len < missing ? len : missing;
    fragment_append(head, data, taken);
    head->bytes += taken;
    span->has_boundary = head->len == span->wanted;
    memmove(data, data + taken, len - taken);
    return len - taken;
}

void span_take_tail(struct span *span, const struct records *records)
{
    fragment_append(&span->tail, records->cut, records->cut_len);
    span->tail.bytes = records->cut_len;
    span->tail.given = records->too_long;
}

/* --- seams --- */

int seams_open(struct seams *seams)
{
    /* The FILE begins as if a segment without any content had ended. */
    seams->spans = span_open(0, 1, 0, true);
    if (!seams->spans)
        return -1;
    seams->spans->is_end = false;
    pthread_mutex_init(&seams->lock, NULL);
    return 0;
}

void seams_close(struct seams *seams)
{
    if (!seams->spans)
        return;
    while (seams->spans) {
        struct span *next = seams->spans->next;
        free(seams->spans);
        seams->spans = next;
    }
    pthread_mutex_destroy(&seams->lock);
}

/* Makes one of a span and the next one. What is left of that carries the record between them; if
 * one of the two has no boundary, that is a part of a longer record, and here is nothing. */
static struct span *merge(struct span *span)
{
    struct span *next = span->next;
    struct fragment *open = span->has_boundary ? &span->tail : &span->head;
    fragment_join(open, &next->head);
    next->head.len = next->head.bytes = 0;
    if (span->has_boundary && next->has_boundary) {
        if (!open->given)
            fragment_copy(&next->head, open);
        next->head.bytes = open->bytes;
    }
    if (next->has_boundary)
        fragment_copy(&span->tail, &next->tail);
    span->has_boundary |= next->has_boundary;
    span->end = next->end;
    span->next = next->next;
    return next;
}

struct span *seams_add(struct seams *seams, struct span *span)
{
    struct span *done = NULL;
    pthread_mutex_lock(&seams->lock);
    struct span *before = seams->spans; /* the beginning of the FILE, which comes before all */
    while (before->next && before->next->begin < span->begin)
        before = before->next;
    span->next = before->next;
    before->next = span;
    for (struct span *at = before; at && at->begin <= span->begin; at = at->next)
        while (at->next && at->end == at->next->begin) {
            struct span *seam = merge(at);
            seam->next = done;
            done = seam;
        }
    pthread_mutex_unlock(&seams->lock);
    return done;
}
