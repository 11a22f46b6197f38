/* SPDX-License-Identifier: MIT */
/* Paths into a value of JSON (RFC 8259), as jq has them: .http.latency_ms, .spans[0].ms,
 * .spans[-1], ."odd name", .["odd name"], and . for the value itself. These functions define what a
 * path leads to; the CPU's fast way (src/text/field_json.h) finds the same.
 *
 * The whole record must be valid, whatever the path leads through, with two liberties: strings may
 * hold bytes that are not UTF-8, as in jq, and nothing may be nested deeper than JSON_DEPTH_MAX. Of
 * members with one name the last counts. Names are compared after escapes were decoded. */
#ifndef GPUHISTO_JSON_PATH_H
#define GPUHISTO_JSON_PATH_H

#include "json_reader.h"

#define JSON_STEPS_MAX 32
#define JSON_INDEX_MAX (1L << 20) /* a record has no more elements */

struct json_step {
    const char *name; /* of a member, within the text of the path; NULL: an element */
    size_t len;
    bool is_escaped; /* the name has escapes */
    int32_t index;   /* of an element, from 0; negative: from the end, -1 is the last one */
};

struct json_path {
    const char *text; /* as typed */
    unsigned count;
    struct json_step steps[JSON_STEPS_MAX];
};

/* Parses a path, which begins with a '.'; *path refers to its text. False if it is none. */
bool json_path_parse(const char *text, struct json_path *path);

/* Finds the value that the path leads to in the record [begin, end). False if that is not valid
 * JSON: *from is the first byte that cannot go on, or end. Otherwise sets [*from, *to) to the value
 * as written, strings with their quotes, or *from to NULL if there is none. */
bool json_find(const struct json_path *path, const unsigned char *begin, const unsigned char *end,
               const unsigned char **from, const unsigned char **to);

/* True if [from, to), the content of a valid string, is the name of a step. */
bool json_name_is(const struct json_step *step, const unsigned char *from, const unsigned char *to);

/* Writes a value [from, to) that json_find has found as text: a string decoded, other values as
 * written. Half of a surrogate pair becomes U+FFFD. `text` has room for to - from bytes. Returns
 * the length. */
size_t json_value_text(const unsigned char *from, const unsigned char *to, unsigned char *text);

#endif
