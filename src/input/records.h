/* SPDX-License-Identifier: MIT */
/* The records that a stream is cut into: values of a fixed size, or the tokens, lines, records of
 * CSV, characters or pairs of bytes of a text. A byte belongs to two pairs. Chunks hold whole
 * records; those at the ends of segments of a file, which are read side by side, are joined. */
#ifndef GPUHISTO_RECORDS_H
#define GPUHISTO_RECORDS_H

#include "src/text/field.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chunk;
struct histogram_spec;

/* --- kinds of records --- */

enum record_type {
    RECORD_VALUES,
    RECORD_TOKENS, /* end before white space */
    RECORD_LINES,  /* as field.h has them: end before their newline */
    RECORD_CSV,    /* the same; but newlines in quotes end none */
    RECORD_CHARACTERS,
    RECORD_PAIRS, /* each byte with the one after it */
};

struct record_kind {
    enum record_type type;
    size_t size; /* bytes of a value, or of one of each channel; 0: of text */
    size_t max;  /* bytes of the longest record that can be valid */

    /* Text only. Returns how many bytes at the beginning of data[0..len) may belong to an earlier
     * record: of tokens and lines those up to the first white space or newline; of characters up to
     * three bytes that begin none; of pairs the first byte, with which the earlier pair ends. */
    size_t (*head)(const unsigned char *data, size_t len);

    /* Text but CSV. Returns how many bytes at the end of data[0..len) belong to a record that may
     * not be whole yet; all of them, if no record ends there. */
    size_t (*tail)(const unsigned char *data, size_t len);
};

/* Kinds of text. */
extern const struct record_kind record_tokens, record_lines, record_characters;

/* Returns the kind of values of `size` bytes. */
struct record_kind record_values(size_t size);

/* Returns the kind of a histogram's samples. */
struct record_kind record_kind_of(const struct histogram_spec *spec);

/* Returns the kind that a stream is cut into for a histogram and those after it
 * (spec->also). */
struct record_kind record_kind_of_all(const struct histogram_spec *spec);

/* True if only the bytes tell where records begin, or each does. */
static inline bool record_is_text(const struct record_kind *kind)
{
    return kind->type != RECORD_VALUES;
}

/* True if records are single bytes, which are never cut. */
static inline bool record_is_byte(const struct record_kind *kind)
{
    return kind->type == RECORD_VALUES && kind->size == 1;
}

/* True if records end with lines. */
static inline bool record_is_line(const struct record_kind *kind)
{
    return kind->type == RECORD_LINES || kind->type == RECORD_CSV;
}

/* Returns the bytes that a chunk has beyond its cap: for the record that it is cut in, one byte
 * more that shows that this is too long, and the byte before a piece of a file. */
static inline size_t record_slack(const struct record_kind *kind)
{
    return record_is_text(kind) ? kind->max + 2 : 0;
}

/* --- cutting a stream into chunks. A byte belongs to two pairs, so the last one of a chunk is not
 * cut off, but the next chunk begins with it again. --- */

/* The state of cutting a stream that is read in order. At first all zeros but for two members. */
struct records {
    struct record_kind kind;
    const struct field *field; /* of lines */
    bool too_long;             /* the stream goes on with a record longer than kind.max, which was
                                * counted already: the rest of it is dropped */
    size_t cut_len, cut_cap;   /* bytes in cut: the beginning of a record that waits for its end */
    unsigned char *cut;        /* owned; NULL until something is cut */
    struct csv_scan csv;       /* of CSV: after cut */
    char missing[128];         /* of CSV: which quoted field is not closed as it should; or "" */
};

/* Frees the memory, and forgets the stream. */
void records_close(struct records *records);

/* Moves the bytes that wait for their record's end to the beginning of a chunk. Sets the chunk's
 * len, begin and repeated. */
void records_resume(struct records *records, struct chunk *chunk);

/* Makes the stream begin with data[0..len), which wait for their end. 0, or -1: out of memory. */
int records_begin_with(struct records *records, const unsigned char *data, size_t len);

/* Cuts a chunk after its last whole record; the rest waits for records_resume, which gave
 * data[begin..waited). At the end of a stream the last token or line is whole. The rest of a record
 * that was too long is dropped. If `missing` is set then, the chunk must not be counted. 0, or -1:
 * out of memory. */
int records_cut(struct records *records, struct chunk *chunk, size_t waited, bool at_end);

/* Drops the first len bytes of a chunk, from begin on; of pairs nothing, as they share bytes. */
void records_drop(const struct record_kind *kind, struct chunk *chunk, size_t len);

/* True if lines in data[0..len) end with carriage returns, not newlines. */
bool records_are_one_line(const unsigned char *data, size_t len);

/* --- joining the records that are cut where one segment of a file ends and the next begins. Each
 * segment keeps its first and last bytes; the thread that finishes the second of two neighbours
 * joins them. --- */

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
    const struct record_kind *kind; /* NULL: of the file's beginning */
    uint64_t begin, end;
    size_t wanted;        /* of values: the bytes of head; of text not used */
    uint64_t before;      /* of values: the bytes before the record that head belongs to */
    size_t max;           /* bytes of a fragment */
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
 * of memory. The kind must outlive the span. */
struct span *span_open(uint64_t segment, const struct record_kind *kind, uint64_t before,
                       bool is_end);

/* Frees a span; does nothing with NULL. */
void span_close(struct span *span);

/* Takes the bytes of a chunk, the next of the segment, that stand before its first boundary, as
 * long as there was none. A part of a token or line is dropped (records_drop); that of a value is
 * taken out. 0, or -1: out of memory. */
int span_keep_head(struct span *span, struct chunk *chunk);

/* Takes the end of a segment, as records were cut. 0, or -1: out of memory. */
int span_keep_tail(struct span *span, const struct records *records);

/* Appends bytes, up to `max` in all. 0, or -1: out of memory. */
int fragment_append(struct fragment *fragment, size_t max, const unsigned char *data, size_t len);

/* Adds a span, which then belongs to the joiner. Sets *done to the spans that this completes, NULL
 * if there is none; the caller closes them one by one. In each, `head` is the record between the
 * segments begin - 1 and begin, which may be empty, is_end tells that the file ends with it, and
 * to_end that it goes up to that end. 0, or -1: out of memory. Any thread. */
int record_joiner_add(struct record_joiner *joiner, struct span *span, struct span **done);

#endif
