/* SPDX-License-Identifier: MIT */
/* Cuts a stream into chunks that hold whole records. A byte belongs to two pairs, so the last one
 * of a chunk is not cut off, but the next chunk begins with it again. */
#ifndef GPUHISTO_RECORDS_H
#define GPUHISTO_RECORDS_H

#include "record_kind.h"
#include "src/base/reason.h"
#include "src/engine/chunk.h"

/* A quote of CSV that is missing. */
struct missing_quote {
    enum {
        QUOTE_NONE_MISSING,
        QUOTE_AT_END,      /* a quoted field goes on at the end of the stream, */
        QUOTE_TOO_FAR,     /* or beyond FIELD_RECORD_MAX bytes of its record, */
        QUOTE_BEFORE_TEXT, /* or ends in another line, where text follows its quote */
    } where;
    uint64_t line, end; /* from 1: in which the field opened, and that other one */
};

/* How far a stream was cut that is read in order. All zeros but for its first two members to begin
 * with. */
struct records {
    struct record_kind kind;
    const struct field *field; /* of lines */
    bool too_long;             /* the stream continues with the rest of a record that is longer than
                                * kind.most and was given out without it: the rest is dropped */
    size_t cut_len, cut_cap;   /* bytes in cut: the beginning of a record that waits for its end */
    unsigned char *cut;        /* owned; NULL until something is cut */
    struct csv_scan csv;       /* of CSV: after cut */
    struct missing_quote missing; /* of CSV */
};

/* Frees the memory, and forgets the stream. */
void records_close(struct records *records);

/* Moves the beginning of a record that waits for its end to the chunk, whose len and begin it sets.
 */
void records_resume(struct records *records, struct chunk *chunk);

/* How many of the `waited` bytes that records_resume gave were in the chunk before, too. */
size_t records_repeated(const struct records *records, size_t waited);

/* Has the stream begin with data[0..len), the beginning of a record that waits for its end. 0, or
 * -1: out of memory. */
int records_begin_with(struct records *records, const unsigned char *data, size_t len);

/* Cuts a chunk after its last whole record; the rest waits for records_resume. data[begin..waited)
 * is what records_resume gave. At the end of a stream the last token or line is whole. What goes on
 * from a record that was too long is dropped from the beginning. 0, or -1: out of memory.
 *
 * A quote of CSV that is missing sets records->missing, and the chunk is of no use: which newlines
 * end records is not known any more (records_check). */
int records_cut(struct records *records, struct chunk *chunk, size_t waited, bool at_end);

/* 0; or -1 with the reason that a quote is missing, of which `name` is the subject. */
int records_check(const struct records *records, const char *name, struct reason *why);

/* Drops the first len bytes of a chunk from begin on, in front of which no record of it stands. Of
 * pairs nothing is dropped: the byte that one ends with begins another. */
void records_drop(const struct record_kind *kind, struct chunk *chunk, size_t len);

/* Where the samples of a chunk begin: after what was dropped, and the header if it has it. Of lines
 * that are not CSV nothing before that counts as a newline. */
size_t records_begin(const struct histogram *histogram, const struct chunk *chunk);

/* Makes whole records of a piece of a text that was read to data[1..1 + piece), where a
 * record belongs to the piece that it begins in. data[0] is the byte before the piece, and bytes
 * after it follow, to data[len). Drops data[0] and the end of a record from before. Sets chunk->len
 * to the end of the last record, which may be len if it goes on there. */
void records_of_piece(const struct record_kind *kind, struct chunk *chunk, size_t piece,
                      size_t len);

/* The number of the column that field->name names in a header, which is the first record of
 * text[0..len). 0, or -1 with the reason set, of which `name` is the subject. */
int records_find_column(const struct field *field, const unsigned char *text, size_t len,
                        const char *name, int32_t *column, struct reason *why);

/* True if lines in data[0..len) end with carriage returns alone, so that all of it is one line. */
bool records_are_one_line(const unsigned char *data, size_t len);

#endif
