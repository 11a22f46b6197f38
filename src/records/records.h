/* SPDX-License-Identifier: MIT */
/* Cuts a stream into chunks that hold whole records: values of a fixed size, the tokens of a text,
 * its lines, its characters, or pairs of bytes. A byte belongs to two pairs, so the last one of a
 * chunk is not cut off, but the next chunk begins with it again. */
#ifndef GPUHISTO_RECORDS_H
#define GPUHISTO_RECORDS_H

#include "src/engine/chunk.h"
#include "src/base/reason.h"
#include "src/count/characters.h"
#include "src/count/field.h"
#include "src/count/number.h"

#include <stdbool.h>
#include <stddef.h>

struct histogram;

#define RECORD_SIZE_MAX 512         /* bytes of a value, or of the values of all channels */
#define RECORD_TOKENS 0             /* instead of a size: tokens, which end before white space */
#define RECORD_PAIRS (SIZE_MAX - 2) /* each byte with the one after it */
#define RECORD_CHARACTERS (SIZE_MAX - 1) /* characters of UTF-8 */
#define RECORD_LINES SIZE_MAX /* records as field.h has them, which end before their newline */

/* What a histogram's samples are: the size of a value, RECORD_TOKENS, RECORD_LINES,
 * RECORD_CHARACTERS or RECORD_PAIRS. */
size_t records_of(const struct histogram *histogram);

/* The same of what a stream is cut into that is counted by a histogram, and by those after it
 * (histogram->also). */
size_t records_size(const struct histogram *histogram);

/* Whether only the bytes tell where records begin, or each does. */
static inline bool records_are_text(size_t size)
{
    return size == RECORD_TOKENS || size >= RECORD_PAIRS;
}

/* Bytes of the longest record that can be valid. */
static inline size_t records_most(size_t size)
{
    return size == RECORD_TOKENS       ? NUMBER_MAX
           : size == RECORD_LINES      ? FIELD_RECORD_MAX
           : size == RECORD_CHARACTERS ? CHARACTER_SIZE_MAX
           : size == RECORD_PAIRS      ? 2
                                       : size;
}

/* What a chunk of records of a size has beyond its cap, bytes: for the record that it is cut in,
 * one byte more that shows that this is too long, and the byte before a piece of a file. */
static inline size_t records_room(size_t size)
{
    return records_are_text(size) ? records_most(size) + 2 : 0;
}

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
    size_t size;               /* bytes of a value, or of one of each channel; or as above */
    const struct field *field; /* of lines */
    bool too_long;             /* the stream continues with the rest of a record that is longer than
                                * records_most and was given out without it: the rest is dropped */
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

/* Returns how many bytes at the end of data[0..len) belong to a record that may not be whole yet;
 * all of them, if no record ends there. Not for CSV. */
size_t records_tail(const struct records *records, const unsigned char *data, size_t len);

/* The length of the part of a record that data[0..len) may begin with: of a token or line up to the
 * first white space or newline; of a character up to three bytes that none begins with; of pairs
 * the first byte, with which a pair ends that began before. */
size_t records_head(size_t size, const unsigned char *data, size_t len);

/* Drops the first len bytes of a chunk from begin on, in front of which no record of it stands. Of
 * pairs nothing is dropped: the byte that one ends with begins another. */
void records_drop(size_t size, struct chunk *chunk, size_t len);

/* Where the samples of a chunk begin: after what was dropped, and the header if it has it. Of lines
 * that are not CSV nothing before that counts as a newline. */
size_t records_begin(const struct histogram *histogram, const struct chunk *chunk);

/* Whether no record goes on after this byte. */
bool records_end_with(size_t size, unsigned char byte);

/* Makes whole records of a piece of a text that was read to data[1..1 + piece), where a
 * record belongs to the piece that it begins in. data[0] is the byte before the piece, and bytes
 * after it follow, to data[len). Drops data[0] and the end of a record from before. Sets chunk->len
 * to the end of the last record, which may be len if it goes on there. */
void records_of_piece(size_t size, struct chunk *chunk, size_t piece, size_t len);

/* The number of the column that field->name names in a header, which is the first record of
 * text[0..len). 0, or -1 with the reason set, of which `name` is the subject. */
int records_find_column(const struct field *field, const unsigned char *text, size_t len,
                        const char *name, int32_t *column, struct reason *why);

/* True if lines in data[0..len) end with carriage returns alone, so that all of it is one line. */
bool records_are_one_line(const unsigned char *data, size_t len);

#endif
