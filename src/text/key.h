/* SPDX-License-Identifier: MIT */
/* The key of a record, for a result by key: a field, or some characters of it. Records are those of
 * field.h. A record that counts has no key, which differs from an empty one, if it is too long,
 * lacks the field, or has a field of more than KEY_SIZE_MAX bytes. */
#ifndef GPUHISTO_KEY_H
#define GPUHISTO_KEY_H

#include "field.h"

#define KEY_SIZE_MAX FIELD_RECORD_MAX /* bytes of a field, as written */

/* A character is a byte that does not continue one of UTF-8, and those after it that do. The first
 * byte of a key always begins a character. Past the end of a field there are no characters. */
struct key {
    struct field field;   /* FIELD_NONE: there are no keys */
    uint32_t first, last; /* characters of the field, from 1; 0, 0: all of it */
};

/* The bytes of a key, any bytes. */
struct key_name {
    const unsigned char *bytes; /* NULL: that of records without a key */
    size_t len;
};

static inline bool key_is_used(const struct key *key)
{
    return key->field.kind != FIELD_NONE;
}

/* True if a field [from, to), as field_find gives it, may not be the key as it is. */
static inline bool key_is_part(const struct key *key, const unsigned char *from,
                               const unsigned char *to)
{
    if (from == to)
        return false;
    const unsigned char last = to[-1]; /* of a colour: m or K */
    if (*from > '"' && last != 'm' && last != 'K')
        return key->first > 0;
    const enum field_kind kind = key->field.kind;
    const bool is_quoted = *from == '"' && (kind == FIELD_CSV || kind == FIELD_JSON);
    return key->first > 0 || is_quoted || *from == NUMBER_ESCAPE ||
           number_colour_begin(from, to) < to;
}

/* Returns the key in such a field, without colours around it (number_colour_end): the content of a
 * quoted field of CSV (field_csv_text) or of a string of JSON (json_value_text), and of that the
 * characters `first` to `last`. It is in the field, or in `scratch`, which has to - from bytes. */
struct key_name key_of_field(const struct key *key, const unsigned char *from,
                             const unsigned char *to, unsigned char *scratch);

/* Finds the key of the record [begin, end), as field_find. If it is FIELD_FOUND, sets *name;
 * `scratch` has end - begin bytes. */
enum field_found key_find(const struct key *key, const unsigned char *begin,
                          const unsigned char *end, unsigned char *scratch, struct key_name *name);

/* Finds the first record of text[0..len) that has no key, among those that count as records of
 * `field`. False if there is none. Slow. Any thread. */
bool key_find_missing(const struct key *key, const struct field *field, const unsigned char *text,
                      size_t len, struct field_fault *fault);

#endif
