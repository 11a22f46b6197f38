/* SPDX-License-Identifier: MIT */
/* A reader of JSON (RFC 8259) from which the next value, member or element is pulled, so that the
 * functions of a caller have the form of what they read:
 *
 *     if (json_value(json) == JSON_OBJECT)
 *         while (json_next_member(json))
 *             if (!(is_wanted(json->from, json->to) ? read_it(json) : json_skip(json)))
 *                 break;
 *     if (json->wrong)
 *         ...
 *
 * The reader copies nothing but what is decoded. The text is in memory, or comes in pieces from a
 * function; a name or a scalar then lasts until something else is read. */
#ifndef GPUHISTO_JSON_READER_H
#define GPUHISTO_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define JSON_DEPTH_MAX 10000             /* as jq */
#define JSON_PIECE ((size_t)256 << 10)   /* bytes that are read at a time, as a rule */
#define JSON_TOKEN_MAX ((size_t)8 << 20) /* bytes of a name or scalar that comes in pieces */

enum json_kind {
    JSON_NONE, /* something is wrong */
    JSON_OBJECT,
    JSON_ARRAY,
    JSON_STRING,
    JSON_NUMBER,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NULL,
};

/* Text that comes in pieces. All zeros but `read` and `arg`, or as another text left it. */
struct json_input {
    /* Reads up to `size` bytes. Returns how many, 0 at the end; or -1 if it fails. */
    ssize_t (*read)(void *arg, unsigned char *to, size_t size);
    void *arg;
    unsigned char *buffer; /* of `capacity` bytes; free it */
    size_t capacity;
    uint64_t before; /* bytes of the text before the buffer's */
    bool has_ended;  /* all of the text was read */
    bool has_failed; /* `read` has */
};

/* A reader. Of text that is in memory, all zeros but `at`, `end` and what is to be set. */
struct json {
    const unsigned char *at, *end;  /* what is there of the text that was not read yet */
    const unsigned char *from, *to; /* the last name or scalar as written, strings without quotes;
                                     * until more is read */
    struct json_input *input;       /* what follows; NULL: nothing */
    const char *wrong;              /* what is, at `at`; NULL: nothing so far */
    bool is_invalid;                /* what is wrong is that the text is not JSON */
    bool has_escapes;               /* the last name or scalar */
    bool is_utf8;                   /* strings must be; set it */
    bool is_first;                  /* no member or element of the innermost container was read */
    unsigned depth, depth_max;      /* of containers that are open; set the most, JSON_DEPTH_MAX or
                                     * less */
};

/* Begins a text that comes in pieces, with a depth of JSON_DEPTH_MAX. 0, or -1: memory is short. */
int json_start(struct json *json, struct json_input *input);

/* Reads the beginning of a value: enters an object or an array, or reads a scalar into from and
 * to. */
enum json_kind json_value(struct json *json);

/* Reads the next name, and the colon, in the innermost object. False if there is none: the object
 * is left, or something is wrong. */
bool json_next_member(struct json *json);

/* Moves to the next element of the innermost array, which json_value then reads. False if there is
 * none: the array is left, or something is wrong. */
bool json_next_element(struct json *json);

/* Reads a value to its end. False if something is wrong. */
bool json_skip(struct json *json);

/* Moves past white space: json->at is the next token's first byte, or the text's end. */
void json_skip_space(struct json *json);

/* Decodes the content of a valid string. The text has no more bytes, and may be in the same place.
 * Half of a surrogate pair becomes U+FFFD. Returns the length. */
size_t json_decode(const unsigned char *from, const unsigned char *to, unsigned char *text);

/* Returns where the number that begins at `at` ends, or NULL if there is none. */
const unsigned char *json_number_end(const unsigned char *at, const unsigned char *end);

/* True if a byte is white space between tokens. */
static inline bool json_is_space(unsigned char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns how much was read of a text that comes in pieces. */
static inline uint64_t json_offset(const struct json *json)
{
    const struct json_input *input = json->input;
    return input->before + (uint64_t)(json->at - input->buffer);
}

/* Paths into a value of JSON (RFC 8259), as jq has them: .http.latency_ms, .spans[0].ms,
 * .spans[-1], ."odd name", .["odd name"], and . for the value itself. These functions define what a
 * path leads to; the CPU's fast way (json_loop.h) finds the same. For .spans[].ms, all elements of
 * an array, they lead to the array, and list_next goes on.
 *
 * The whole record must be valid, whatever the path leads through, with two liberties: strings may
 * hold bytes that are not UTF-8, as in jq, and nothing may be nested deeper than JSON_DEPTH_MAX. Of
 * members with one name the last counts. Names are compared after escapes were decoded. */

#define JSON_STEPS_MAX 32
#define JSON_INDEX_MAX (1L << 20) /* a record has no more elements */
#define JSON_EACH INT32_MIN       /* the index of all elements */

struct json_step {
    const char *name; /* of a member, within the text of the path; NULL: an element */
    size_t len;
    bool is_escaped; /* the name has escapes */
    int32_t index;   /* of an element, from 0; negative: from the end, -1 is the last one */
};

struct json_path {
    const char *text; /* as typed */
    unsigned count;   /* of steps up to the first [] */
    unsigned all;     /* with these, and those behind it */
    struct json_step steps[JSON_STEPS_MAX];
};

/* Parses a path, which begins with a '.'; *path refers to its text. False if it is none. */
bool json_path_parse(const char *text, struct json_path *path);

/* Finds the value that the path leads to in the record [begin, end). False if that is not valid
 * JSON: *from is the first byte that cannot go on, or end. Otherwise sets [*from, *to) to the value
 * as written, strings with their quotes, or *from to NULL if there is none. */
bool json_find(const struct json_path *path, const unsigned char *begin, const unsigned char *end,
               const unsigned char **from, const unsigned char **to);

/* Reads a value, which the steps [step, end), no [] among them, lead into: sets [*from, *to) to
 * what they lead to, or *from to NULL. False if it is not valid. */
bool json_follow(struct json *json, const struct json_step *step, const struct json_step *end,
                 const unsigned char **from, const unsigned char **to);

/* True if [from, to), the content of a valid string, is the name of a step. */
bool json_name_is(const struct json_step *step, const unsigned char *from, const unsigned char *to);

/* Writes a value [from, to) that json_find has found as text: a string decoded, other values as
 * written. Half of a surrogate pair becomes U+FFFD. `text` has room for to - from bytes. Returns
 * the length. */
size_t json_value_text(const unsigned char *from, const unsigned char *to, unsigned char *text);

#endif
