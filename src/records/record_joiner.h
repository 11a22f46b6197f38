/* SPDX-License-Identifier: MIT */
/* Joins the records that are cut where one segment of a file ends and the next begins. Each segment
 * keeps its first and last bytes; the thread that finishes the second of two neighbours joins
 * them. */
#ifndef GPUHISTO_RECORD_JOINER_H
#define GPUHISTO_RECORD_JOINER_H

#include "records.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of a record; of a token or line, no more than shows that it is too long. */
struct fragment {
    size_t len, cap;     /* bytes in data: in use, and in all */
    size_t bytes;        /* of input that no chunk has accounted for */
    bool given;          /* it was too long and counted already: the rest is dropped */
    unsigned char *data; /* owned; NULL while there are none */
};

/* Neighbouring segments [begin, end) that were decoded, as seen from outside. */
struct span {
    struct span *next;
    uint64_t begin, end;
    size_t wanted;        /* of values: the bytes of head; of text not used */
    uint64_t before;      /* of values: the bytes before the record that head belongs to */
    size_t max;           /* bytes of a fragment */
    bool is_characters;   /* at most three bytes of head, and of tail, are kept */
    bool has_boundary;    /* a record begins or ends in it; if none does, all of it is in head */
    bool is_end;          /* the end of the file, or of the shard; not a segment */
    bool to_end;          /* its first boundary is that end */
    bool is_first;        /* the record in tail, and then in head, is the file's first */
    struct fragment head; /* up to the first boundary */
    struct fragment tail; /* from the last one */
};

struct record_joiner {
    pthread_mutex_t lock;
    struct span *spans; /* ascending; between them are segments that are not decoded yet */
};

/* Initializes the joiner of a file: segment 0 is the first of it, or a record that began before
 * goes on in it and is dropped, or neither. 0, or -1: out of memory. */
int record_joiner_open(struct record_joiner *joiner, bool is_first, bool goes_on);

/* Frees the spans that are left. */
void record_joiner_close(struct record_joiner *joiner);

/* Returns a span for one segment, or for the end of the file (`is_end`), that belongs to the caller
 * until record_joiner_add. With values, `before` bytes that are counted stand before it. NULL: out
 * of memory. */
struct span *span_open(uint64_t segment, const struct record_kind *kind, uint64_t before,
                       bool is_end);

/* Frees a span; does nothing with NULL. */
void span_close(struct span *span);

/* Takes the bytes of a chunk, the next of the segment, that stand before its first boundary, as
 * long as there was none. A part of a token or line is dropped (records_drop); that of a value is
 * taken out. 0, or -1: out of memory. */
int span_keep_head(struct span *span, const struct records *records, struct chunk *chunk);

/* Takes the end of a segment, as records were cut. 0, or -1: out of memory. */
int span_keep_tail(struct span *span, const struct records *records);

/* Appends bytes to the head of a span. 0, or -1: out of memory. */
int span_extend(struct span *span, const unsigned char *data, size_t len);

/* Adds a span, which then belongs to the seams. Sets *done to the seams that this completes, NULL
 * if there is none; the caller closes them one by one. In each, `head` is the record between the
 * segments begin - 1 and begin, which may be empty, is_end tells that the file ends with it, and
 * to_end that it goes up to that end. 0, or -1: out of memory. Any thread. */
int record_joiner_add(struct record_joiner *joiner, struct span *span, struct span **done);

#endif
