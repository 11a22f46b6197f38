/* SPDX-License-Identifier: MIT */
/* Which part of a line is the number: a field, as in sort and cut, or what follows a string. The
 * functions here define it for all readers; the CPU's fast ways (src/cpu/field_*.c) find the same.
 *
 * A record is a line, up to its newline or the end of the text; in CSV a quoted field may have
 * newlines in it. A carriage return at the end of a record is not part of it. An empty record does
 * not count, nor does one of blanks only where blanks separate fields. Every other record is one
 * sample: the number in its field. It is invalid if it has no such field, if the field is not a
 * number, or if the record is longer than FIELD_RECORD_MAX bytes. */
#ifndef GPUHISTO_FIELD_H
#define GPUHISTO_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a record without its newline, at most. */
#define FIELD_RECORD_MAX ((size_t)1 << 20)

enum field_kind {
    FIELD_NONE,      /* numbers are tokens between white space, wherever lines end */
    FIELD_BLANKS,    /* fields stand between runs of spaces and tabs, as awk has them */
    FIELD_SEPARATED, /* between single separators */
    FIELD_CSV,       /* the same by RFC 4180: quoted fields hold separators and newlines too */
    FIELD_AFTER,     /* the token after the first occurrence of a string (field_token.h) */
};

struct field {
    enum field_kind kind;
    int32_t number;          /* from 1; -1 is the last one; 0: the column called `name` */
    unsigned char separator; /* SEPARATED, CSV */
    bool has_header;         /* the first record of each FILE is not counted */
    const char *name;        /* or NULL */
    const char *after;       /* AFTER: the string, of after_len bytes, without a newline */
    size_t after_len;
    bool has_units; /* numbers may have units (number_units.h) */
};

/* What a record holds. */
enum field_found {
    FIELD_FOUND,
    FIELD_EMPTY, /* the record does not count */
    FIELD_MISSING,
    FIELD_TOO_LONG, /* the record is */
};

/* Where a scan for the ends of CSV records stands: between two bytes. */
enum csv_state {
    CSV_FIELD_START, /* a quote would open a quoted field */
    CSV_PLAIN,
    CSV_QUOTED,
    CSV_QUOTE, /* after a quote in a quoted field: the field's end, or half of a doubled quote */
};

/* How far a text of CSV was scanned; zeroed, it begins. */
struct csv_scan {
    enum csv_state state;
    bool is_odd;       /* text followed the closing quote of a field: found by field_scan_csv */
    uint64_t newlines; /* that were passed */

    /* Found by field_end_csv: */
    uint64_t opened;    /* newlines before the quote that opened the quoted field it is in */
    uint64_t unmatched; /* and before that of the first field which has newlines and is followed by
                         * text, so that its closing quote probably opens another one: */
    uint64_t matched;   /* newlines before that closing quote; 0: there is none */
};

/* Scans data[from..len) of CSV for newlines that end a record. Returns where the byte after the
 * last one is, or 0 if there is none. *scan is moved on to len. */
size_t field_scan_csv(unsigned char separator, const unsigned char *data, size_t from, size_t len,
                      struct csv_scan *scan);

/* Looks in data[0..len) for the newline that ends the record that CSV is in. Returns where it is,
 * or len if it is not there. *scan is moved on to that. Slow. */
size_t field_end_csv(unsigned char separator, const unsigned char *data, size_t len,
                     struct csv_scan *scan);

/* Where the record that begins at `at` ends: at its newline, or at limit. */
const unsigned char *field_record_end(const struct field *field, const unsigned char *at,
                                      const unsigned char *limit);

/* Finds the field of the record [begin, end). Only if it is FIELD_FOUND, [*from, *to) is set to it;
 * it may be empty. Without what field_strip takes off, it should be a number. */
enum field_found field_find(const struct field *field, const unsigned char *begin,
                            const unsigned char *end, const unsigned char **from,
                            const unsigned char **to);

/* Takes white space and a pair of quotes around a number off the bytes [*from, *to) of a field, of
 * whatever kind. */
void field_strip(const unsigned char **from, const unsigned char **to);

/* Copies the bytes [from, to) of a field, which field_strip has seen, as one token: not empty,
 * without white space, NUMBER_MAX bytes at most. A space before a unit is left out. Returns its
 * length; 0 if it is not one. */
size_t field_copy_token(bool has_units, const unsigned char *from, const unsigned char *to,
                        unsigned char *token);

/* Where a number may begin that follows a string at `at`: after blanks and a quote. */
const unsigned char *field_after_gap(const unsigned char *at, const unsigned char *limit);

/* Where the token [at, end) ends that follows a string, if a space and a unit may be part of it. */
const unsigned char *field_unit_end(const unsigned char *at, const unsigned char *end,
                                    const unsigned char *limit);

/* The first column of the header [begin, end) that is called field->name, from 1; 0 if there is
 * none. */
int32_t field_column(const struct field *field, const unsigned char *begin,
                     const unsigned char *end);

/* Bytes of the header that text[0..len) begins with, without its newline. */
size_t field_header_len(const struct field *field, const unsigned char *text, size_t len);

/* A record that counts as invalid. */
struct field_fault {
    size_t at;             /* where it begins in the text */
    enum field_found what; /* FOUND: its field is not a number */
    size_t from, len;      /* that field */
};

/* Finds the first record of text[0..len) that counts as invalid. False if there is none. Slow. Any
 * thread. */
bool field_find_invalid(const struct field *field, const unsigned char *text, size_t len,
                        struct field_fault *fault);

#endif
