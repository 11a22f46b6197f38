/* SPDX-License-Identifier: MIT */
/* The key of a record, for a result by key: a field, or what modifiers make of it. Records are
 * those of field.h. A record that counts has no key, which differs from an empty one, if it is too
 * long, lacks the field, has a field of more than KEY_SIZE_MAX bytes, or one that should be a time
 * and is none. */
#ifndef GPUHISTO_KEY_H
#define GPUHISTO_KEY_H

#include "field.h"
#include "time.h"

#define KEY_SIZE_MAX FIELD_RECORD_MAX /* bytes of a field, as written */
#define KEY_MODIFIERS_MAX 4
#define KEY_PARTS_MAX 4 /* keys by which a record is counted together (key_parts_join) */
#define KEY_FIELDS_MAX (KEY_PARTS_MAX + 1) /* the weight follows the keys */

enum key_modifier_kind {
    KEY_CHARACTERS, /* some characters */
    KEY_ROUTE,      /* the route of a path */
    KEY_BUCKET,     /* the beginning of the bucket that a time is in (time.h) */
};

/* What is done with a text. A character is a byte that does not continue one of UTF-8, and those
 * after it that do. The first byte always begins a character. Before the beginning and past the end
 * there are no characters. */
struct key_modifier {
    enum key_modifier_kind kind;
    int32_t first, last; /* CHARACTERS: from 1, or negative from the end: -1 is the last one */
    uint32_t seconds;    /* BUCKET */
    bool is_fine;        /* BUCKET: made as fine as other offsets need (time_floor_twice) */
};

struct key {
    struct field field;
    struct key_modifier modifiers[KEY_MODIFIERS_MAX]; /* each is for what the one before made */
    unsigned modifier_count;
    bool is_weight; /* it is no key: its field is a weight (weight.h) */
};

/* The bytes of a key, any bytes. */
struct key_name {
    const unsigned char *bytes; /* NULL: that of records without a key */
    size_t len;
};

/* True if a field [from, to), as field_find gives it, may not be the key as it is. */
static inline bool key_is_part(const struct key *key, const unsigned char *from,
                               const unsigned char *to)
{
    if (key->modifier_count > 0 || from == to)
        return key->modifier_count > 0;
    const unsigned char last = to[-1]; /* of a colour: m or K */
    if (*from > '"' && last != 'm' && last != 'K')
        return false;
    const enum field_kind kind = key->field.kind;
    const bool is_quoted =
        *from == '"' && (kind == FIELD_CSV || kind == FIELD_JSON || kind == FIELD_LINE);
    return is_quoted || *from == NUMBER_ESCAPE || number_colour_begin(from, to) < to;
}

/* A field and its key, which is not in the field, as long as both are where they were. All zeros:
 * none. If the key is that of a clock, it does not depend on the last digits of the seconds, and on
 * a fraction after them. */
struct key_memo {
    const unsigned char *from, *to; /* the field; NULL: there is none */
    size_t seconds;                 /* where in it these digits begin; 0: there is no clock */
    unsigned digits;                /* how many they are, up to 2 */
    struct key_name name;
};

/* True if the field [from, to) has the key that the memo has. Perhaps false even so. */
bool key_memo_has(const struct key_memo *memo, const unsigned char *from, const unsigned char *to);

/* Returns the bytes of `scratch` that the key of a field of `len` bytes may take. */
static inline size_t key_scratch_size(size_t len)
{
    return len > TIME_TEXT_MAX ? len : TIME_TEXT_MAX;
}

/* Returns the content of such a field, without colours around it (number_colour_end): of a quoted
 * field of CSV (field_csv_text), of a string of JSON (json_decode) or logfmt (line_value_text) what
 * is in it. It is in the field, or in `scratch`, which has as many bytes as the field, or `max`: of
 * a longer one there may be only the first `max` bytes less two escapes. */
struct key_name key_content(const struct field *field, const unsigned char *from,
                            const unsigned char *to, size_t max, unsigned char *scratch);

/* Returns the key in such a field: what the modifiers make of its content. It is in the field, or
 * in `scratch`, which has key_scratch_size bytes; its bytes are NULL if a modifier needs a time,
 * and there is none. Sets *memo unless it is NULL. */
struct key_name key_of_field(const struct key *key, const unsigned char *from,
                             const unsigned char *to, unsigned char *scratch,
                             struct key_memo *memo);

/* Finds the first record of text[0..len) that has no key, among those that count as records of
 * `field`; or that has no weight, if the key is one. False if there is none, or memory is short.
 * Slow. Any thread. */
bool key_find_missing(const struct key *key, const struct field *field, const unsigned char *text,
                      size_t len, struct field_fault *fault);

/* --- several keys --- */

/* Names of keys of several fields, such as status and path: the part of each field, one after the
 * other, and then the length of each but the last. So no two lists of parts have one name, and
 * whatever bytes a part has, nothing is escaped. A key of one field is its own only part. */

/* Returns the bytes of a name whose `count` parts have `len` bytes together. */
static inline size_t key_parts_size(unsigned count, size_t len)
{
    return len + (count - 1) * sizeof(uint32_t);
}

/* Writes a name of 1 to KEY_PARTS_MAX parts to `to`, which has key_parts_size bytes and is none of
 * the parts. Returns it. Any thread. */
struct key_name key_parts_join(const struct key_name *parts, unsigned count, unsigned char *to);

/* Returns part i of a name that was joined of `count` parts. Any thread. */
struct key_name key_parts_get(struct key_name name, unsigned count, unsigned i);

#endif
