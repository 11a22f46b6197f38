/* SPDX-License-Identifier: MIT */
/* The records that a stream is cut into: values of a fixed size, or the tokens, lines, records of
 * CSV, characters or pairs of bytes of a text. A byte belongs to two pairs. */
#ifndef GPUHISTO_RECORD_KIND_H
#define GPUHISTO_RECORD_KIND_H

#include "src/count/characters.h"
#include "src/count/field.h"
#include "src/count/number.h"

#include <stdbool.h>
#include <stddef.h>

struct histogram_spec;
struct records;

#define RECORD_SIZE_MAX 512 /* bytes of a value, or of the values of all channels */

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

    /* Text only. True if no record goes on after this byte. */
    bool (*ends)(unsigned char byte);
};

/* The kinds of text. */
extern const struct record_kind record_tokens, record_lines, record_csv, record_characters,
    record_pairs;

/* Returns the kind of values of `size` bytes, 1 to RECORD_SIZE_MAX. */
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

/* True if two kinds cut a stream at the same places. */
static inline bool record_is_same(const struct record_kind *a, const struct record_kind *b)
{
    return a->type == b->type && a->size == b->size;
}

/* Returns the bytes that a chunk has beyond its cap: for the record that it is cut in, one byte
 * more that shows that this is too long, and the byte before a piece of a file. */
static inline size_t record_slack(const struct record_kind *kind)
{
    return record_is_text(kind) ? kind->max + 2 : 0;
}

#endif
