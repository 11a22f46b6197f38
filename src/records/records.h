/* SPDX-License-Identifier: MIT */
/* Cuts a stream into chunks that hold whole records. A byte belongs to two pairs, so the last one
 * of a chunk is not cut off, but the next chunk begins with it again. */
#ifndef GPUHISTO_RECORDS_H
#define GPUHISTO_RECORDS_H

#include "record_kind.h"
#include "src/base/error.h"
#include "src/schedule/engine.h"

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
 * len and begin. */
void records_resume(struct records *records, struct chunk *chunk);

/* Returns how many of the `waited` bytes that records_resume moved were counted before, too. */
size_t records_repeated(const struct records *records, size_t waited);

/* Makes the stream begin with data[0..len), which wait for their end. 0, or -1: out of memory. */
int records_begin_with(struct records *records, const unsigned char *data, size_t len);

/* Cuts a chunk after its last whole record; the rest waits for records_resume, which gave
 * data[begin..waited). At the end of a stream the last token or line is whole. The rest of a record
 * that was too long is dropped. If records_check finds a quote missing, the chunk must not be
 * counted. 0, or -1: out of memory. */
int records_cut(struct records *records, struct chunk *chunk, size_t waited, bool at_end);

/* 0; or -1 with the error that a quote is missing in the file `name`. */
int records_check(const struct records *records, const char *name, struct error *error);

/* Drops the first len bytes of a chunk, from begin on; of pairs nothing, as they share bytes. */
void records_drop(const struct record_kind *kind, struct chunk *chunk, size_t len);

/* Returns where the samples of a chunk begin: after what was dropped, and after the header. */
size_t records_begin(const struct histogram_spec *spec, const struct chunk *chunk);

/* Cuts a piece of a text, data[1..1 + piece), to the records that begin in it. data[0] is the byte
 * before it, and data[1 + piece..len) follow it. Drops data[0] and the end of a record from before.
 * Sets chunk->len to the end of the last record, or to len if it goes on there. */
void records_of_piece(const struct record_kind *kind, struct chunk *chunk, size_t piece,
                      size_t len);

/* Sets *column to the number of the column called field->name; the first record of text[0..len) has
 * the names. 0, or -1 with the error set; `name` is the file. */
int records_find_column(const struct field *field, const unsigned char *text, size_t len,
                        const char *name, int32_t *column, struct error *error);

/* True if lines in data[0..len) end with carriage returns, not newlines. */
bool records_are_one_line(const unsigned char *data, size_t len);

#endif
