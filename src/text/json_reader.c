/* SPDX-License-Identifier: MIT */
#include "json_reader.h"
#include "number.h"
#include "src/base/utf8.h"
#include "src/base/byte_word.h"

#include <stdlib.h>
#include <string.h>

/* --- what is wrong, and text that comes in pieces --- */

/* Says what is wrong at json->at. Returns false. */
static bool fail(struct json *json, const char *wrong)
{
    json->wrong = wrong;
    return false;
}

/* Says that the text is not JSON, and why, at `at`. Returns false. */
static bool refuse(struct json *json, const unsigned char *at, const char *wrong)
{
    json->at = at;
    json->is_invalid = true;
    return fail(json, wrong);
}

/* True if what is read at once, from json->at to `end`, is short enough. */
static inline bool is_short(struct json *json, const unsigned char *end)
{
    return !json->input || (size_t)(end - json->at) <= JSON_TOKEN_MAX ||
           fail(json, "a name or value of more than 8 MiB");
}

/* Moves the `kept` bytes that are not read yet to the beginning of a buffer with room for more. */
static bool make_room(struct json *json, size_t kept)
{
    struct json_input *input = json->input;
    if (!is_short(json, json->end))
        return false;
    input->before += (uint64_t)(json->at - input->buffer);
    memmove(input->buffer, json->at, kept);
    if (2 * kept + JSON_PIECE > input->capacity) {
        const size_t capacity = 2 * kept + JSON_PIECE;
        unsigned char *longer = realloc(input->buffer, capacity);
        input->buffer = longer ? longer : input->buffer;
        input->capacity = longer ? capacity : input->capacity;
        if (!longer)
            fail(json, "out of memory");
    }
    json->at = input->buffer;
    json->end = json->at + kept;
    return !json->wrong;
}

/* Reads on, and keeps what begins at json->at: there is at least as much again, or the text ends.
 * So whoever begins a token anew takes no more than twice as long. False, and nothing has moved, if
 * all of the text was read before; or if something is wrong. */
static bool read_more(struct json *json)
{
    struct json_input *input = json->input;
    const size_t kept = (size_t)(json->end - json->at);
    size_t len = kept;
    if (!input || input->has_ended || json->wrong || !make_room(json, kept))
        return false;
    do {
        const ssize_t more = input->read(input->arg, input->buffer + len, input->capacity - len);
        if (more < 0) {
            input->has_failed = true;
            return fail(json, "the text cannot be read");
        }
        input->has_ended = more == 0;
        len += (size_t)more;
    } while (!input->has_ended && len < 2 * kept);
    json->end = json->at + len;
    return true;
}

int json_start(struct json *json, struct json_input *input)
{
    if (!input->buffer && !(input->buffer = malloc(JSON_PIECE)))
        return -1;
    input->capacity = input->capacity ? input->capacity : JSON_PIECE;
    input->before = 0;
    input->has_ended = input->has_failed = false;
    *json = (struct json){
        .at = input->buffer, .end = input->buffer, .input = input, .depth_max = JSON_DEPTH_MAX};
    return 0;
}

/* --- strings --- */

/* Returns the value of a hexadecimal digit, or 16. */
static unsigned hex_digit(unsigned char c)
{
    const unsigned char lower = c | 0x20;
    return number_is_digit(c)             ? c - (unsigned)'0'
           : lower >= 'a' && lower <= 'f' ? lower - (unsigned)'a' + 10
                                          : 16;
}

/* Moves *at past what follows a backslash, of which the end may cut off a part. False if that is no
 * escape: *at is where. */
static bool skip_escape(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *escape = *at, *next = escape + 1;
    if (escape == end)
        return true;
    if (*escape != 'u' && !(*escape && strchr("\"\\/bfnrt", *escape)))
        return false;
    for (; *escape == 'u' && next < end && next - escape <= 4; next++)
        if (hex_digit(*next) > 15)
            return false;
    *at = next;
    return true;
}

/* The bits that tell what a string contains. */
enum { HAS_ESCAPES = 1, HAS_HIGH_BITS = 2 };

/* Returns a word whose lowest set bit is in the first byte that is a quote, a backslash or a
 * control character; or 0. */
static inline uint64_t text_ends(uint64_t word)
{
    const uint64_t quotes = word ^ EACH_BYTE('"'), backslashes = word ^ EACH_BYTE('\\');
    return (((quotes - EACH_BYTE(1)) & ~quotes) | ((backslashes - EACH_BYTE(1)) & ~backslashes) |
            ((word - EACH_BYTE(' ')) & ~word)) &
           EACH_BYTE(0x80);
}

/* Returns the closing quote of a string whose content begins at `at`; or the byte that is wrong, or
 * end. Adds what it contains to *has. */
static inline const unsigned char *string_end(const unsigned char *at, const unsigned char *end,
                                              unsigned *has)
{
    uint64_t all = 0;
    for (;;) {
        for (; end - at >= 8; at += 8) {
            const uint64_t word = byte_word(at), ends = text_ends(word);
            if (ends) {
                all |= word & (ends - 1) & ~ends;
                at += (unsigned)__builtin_ctzll(ends) / 8;
                break;
            }
            all |= word;
        }
        while (at < end && *at != '"' && *at != '\\' && *at >= ' ')
            all |= *at++;
        if (at == end || *at != '\\')
            break;
        *has |= HAS_ESCAPES;
        at++;
        if (!skip_escape(&at, end))
            break;
    }
    *has |= all & EACH_BYTE(0x80) ? HAS_HIGH_BITS : 0;
    return at;
}

/* Finds the string at the quote json->at, to which it does not move: sets from, to and what is
 * known of it. */
static inline bool find_string(struct json *json)
{
    const unsigned char *to;
    unsigned has = 0;
    do
        to = string_end(json->at + 1, json->end, &has);
    while (to == json->end && read_more(json));
    if (json->wrong || !is_short(json, to))
        return false;
    if (to == json->end)
        return refuse(json, to, "a string without an end");
    if (*to != '"')
        return refuse(json, to,
                      *to < ' ' ? "a control character in a string" : "an invalid escape");
    json->from = json->at + 1;
    json->to = to;
    json->has_escapes = has & HAS_ESCAPES;
    if (!json->is_utf8 || !(has & HAS_HIGH_BITS))
        return true;
    uint32_t character;
    for (const unsigned char *at = json->from; at < to;) {
        const size_t len = character_decode(at, (size_t)(to - at), &character);
        if (character == CHARACTER_INVALID)
            return refuse(json, at, "a string that is not UTF-8");
        at += len;
    }
    return true;
}

/* --- what strings stand for --- */

/* The content of a string, a byte at a time. */
struct decoded {
    const unsigned char *at, *end;
    unsigned char bytes[CHARACTER_SIZE_MAX]; /* of a character that was escaped */
    unsigned count, given;
};

static uint32_t hex_value(const unsigned char *at)
{
    return hex_digit(at[0]) << 12 | hex_digit(at[1]) << 8 | hex_digit(at[2]) << 4 |
           hex_digit(at[3]);
}

/* Decodes what follows \u. */
static void decode_units(struct decoded *decoded)
{
    uint32_t unit = hex_value(decoded->at);
    const unsigned char *next = decoded->at += 4;
    if (unit >= 0xd800 && unit < 0xdc00 && decoded->end - next >= 6 && next[0] == '\\' &&
        next[1] == 'u') {
        const uint32_t low = hex_value(next + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            decoded->at += 6;
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    unit = unit >= 0xd800 && unit < 0xe000 ? 0xfffd : unit;
    decoded->count = character_encode(unit, decoded->bytes);
    decoded->given = 0;
}

/* Returns the next byte, or -1 at the end. */
static int next_byte(struct decoded *decoded)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    if (decoded->given < decoded->count)
        return decoded->bytes[decoded->given++];
    if (decoded->at == decoded->end)
        return -1;
    if (*decoded->at != '\\')
        return *decoded->at++;
    const unsigned char c = decoded->at[1];
    decoded->at += 2;
    if (c == 'u') {
        decode_units(decoded);
        return decoded->bytes[decoded->given++];
    }
    const char *letter = memchr(letters, c, sizeof letters - 1);
    return letter ? meanings[letter - letters] : c;
}

size_t json_decode(const unsigned char *from, const unsigned char *to, unsigned char *text)
{
    struct decoded decoded = {.at = from, .end = to};
    size_t len = 0;
    for (int byte; (byte = next_byte(&decoded)) >= 0;)
        text[len++] = (unsigned char)byte;
    return len;
}

/* True if the contents of two valid strings stand for the same text. */
static bool same_text(const unsigned char *one, const unsigned char *one_end,
                      const unsigned char *other, const unsigned char *other_end)
{
    struct decoded a = {.at = one, .end = one_end}, b = {.at = other, .end = other_end};
    int byte;
    do
        if ((byte = next_byte(&a)) != next_byte(&b))
            return false;
    while (byte >= 0);
    return true;
}

/* --- numbers and words --- */

/* Returns the first byte that is no digit. */
static inline const unsigned char *digits_end(const unsigned char *at, const unsigned char *end)
{
    for (; end - at >= 8; at += 8) {
        const uint64_t word = byte_word(at) ^ EACH_BYTE('0');
        const uint64_t others =
            (((word & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | word) & EACH_BYTE(0x80);
        if (others)
            return at + __builtin_ctzll(others) / 8;
    }
    while (at < end && number_is_digit(*at))
        at++;
    return at;
}

const unsigned char *json_number_end(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *digits = at += at < end && *at == '-';
    at = digits_end(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1))
        return NULL;
    if (at < end && *at == '.') {
        digits = ++at;
        at = digits_end(at, end);
        if (at == digits)
            return NULL;
    }
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        digits = at += at < end && (*at == '+' || *at == '-');
        at = digits_end(at, end);
        if (at == digits)
            return NULL;
    }
    return at;
}

/* True if the number at json->at may go on behind what was read. */
static bool is_cut(const struct json *json)
{
    const unsigned char *at = json->at;
    while (at < json->end && *at && strchr("+-.eE0123456789", *at))
        at++;
    return at == json->end;
}

static inline enum json_kind read_number(struct json *json)
{
    const unsigned char *to;
    do
        to = json_number_end(json->at, json->end);
    while ((!to || to == json->end) && is_cut(json) && read_more(json));
    if (!to && !json->wrong)
        refuse(json, json->at,
               json->at < json->end && (*json->at == '-' || number_is_digit(*json->at))
                   ? "an invalid number"
                   : "no value");
    if (json->wrong || !is_short(json, to))
        return JSON_NONE;
    json->from = json->at;
    json->to = json->at = to;
    json->has_escapes = false;
    return JSON_NUMBER;
}

static inline enum json_kind read_word(struct json *json, const char *word, enum json_kind kind)
{
    const size_t len = strlen(word);
    size_t same = 0;
    while ((size_t)(json->end - json->at) < len && read_more(json))
        ;
    while (same < len && json->at + same < json->end && json->at[same] == (unsigned char)word[same])
        same++;
    if (same < len && !json->wrong)
        refuse(json, json->at + same, "no value");
    if (json->wrong)
        return JSON_NONE;
    json->from = json->at;
    json->to = json->at += len;
    return kind;
}

/* --- values, members and elements --- */

static inline void skip_space(struct json *json)
{
    do
        while (json->at < json->end && json_is_space(*json->at))
            json->at++;
    while (json->at == json->end && read_more(json));
}

void json_skip_space(struct json *json)
{
    skip_space(json);
}

static enum json_kind enter(struct json *json, enum json_kind kind)
{
    if (json->depth == json->depth_max) {
        fail(json, "nested too deeply");
        return JSON_NONE;
    }
    json->depth++;
    json->at++;
    json->is_first = true;
    return kind;
}

enum json_kind json_value(struct json *json)
{
    skip_space(json);
    switch (json->at < json->end ? *json->at : 0) {
    case '{':
        return enter(json, JSON_OBJECT);
    case '[':
        return enter(json, JSON_ARRAY);
    case '"':
        if (!find_string(json))
            return JSON_NONE;
        json->at = json->to + 1;
        return JSON_STRING;
    case 't':
        return read_word(json, "true", JSON_TRUE);
    case 'f':
        return read_word(json, "false", JSON_FALSE);
    case 'n':
        return read_word(json, "null", JSON_NULL);
    default:
        return read_number(json);
    }
}

/* Reads up to the next member or element. False if the container ends instead, with that byte. */
static inline bool go_on(struct json *json, unsigned char last, const char *wrong)
{
    skip_space(json);
    const unsigned char byte = json->at < json->end ? *json->at : 0;
    if (byte == last) {
        json->at++;
        json->depth--;
        json->is_first = false;
        return false;
    }
    if (json->is_first) {
        json->is_first = false;
        return true;
    }
    if (byte != ',')
        return json->wrong ? false : refuse(json, json->at, wrong);
    json->at++;
    return true;
}

bool json_next_element(struct json *json)
{
    return go_on(json, ']', "a comma or ']' is missing");
}

bool json_next_member(struct json *json)
{
    if (!go_on(json, '}', "a comma or '}' is missing"))
        return false;
    skip_space(json);
    if (json->at == json->end || *json->at != '"')
        return json->wrong ? false : refuse(json, json->at, "a name in quotes is missing");
    /* The name is kept until the colon is there. */
    const unsigned char *colon;
    do {
        if (!find_string(json))
            return false;
        for (colon = json->to + 1; colon < json->end && json_is_space(*colon);)
            colon++;
    } while (colon == json->end && read_more(json));
    if (json->wrong || !is_short(json, colon))
        return false;
    if (colon == json->end || *colon != ':')
        return refuse(json, colon, "a colon is missing");
    json->at = colon + 1;
    return true;
}

/* Reads to its end a value of that kind whose beginning was read. False if something is wrong. */
static bool skip_rest(struct json *json, enum json_kind kind)
{
    uint64_t objects[JSON_DEPTH_MAX / 64 + 1]; /* a bit for each container; others are arrays */
    const unsigned outer = json->depth - (kind == JSON_OBJECT || kind == JSON_ARRAY);
    for (; kind != JSON_NONE; kind = json_value(json)) {
        if (kind == JSON_OBJECT || kind == JSON_ARRAY) {
            const unsigned depth = json->depth - 1;
            const uint64_t bit = UINT64_C(1) << depth % 64;
            objects[depth / 64] &= bit - 1;
            objects[depth / 64] |= kind == JSON_OBJECT ? bit : 0;
        }
        for (;;) { /* to the next value */
            if (json->depth == outer)
                return true;
            const unsigned depth = json->depth - 1;
            if (objects[depth / 64] >> depth % 64 & 1 ? json_next_member(json)
                                                      : json_next_element(json))
                break;
            if (json->wrong)
                return false;
        }
    }
    return false;
}

bool json_skip(struct json *json)
{
    return skip_rest(json, json_value(json));
}

/* --- paths --- */

static const char *parse_string(const char *at, struct json_step *step)
{
    const unsigned char *begin = (const unsigned char *)at;
    unsigned has = 0;
    step->name = at;
    step->len = (size_t)(string_end(begin, begin + strlen(at), &has) - begin);
    step->is_escaped = memchr(at, '\\', step->len);
    return at[step->len] == '"' ? at + step->len + 1 : NULL;
}

static const char *parse_brackets(const char *at, struct json_step *step)
{
    if (*at == '"') {
        at = parse_string(at + 1, step);
    } else if (*at == ']') {
        step->index = JSON_EACH;
    } else {
        const bool is_negative = *at == '-';
        const char *digits = at += is_negative;
        long index = 0;
        for (; number_is_digit((unsigned char)*at) && index <= JSON_INDEX_MAX; at++)
            index = index * 10 + (*at - '0');
        if (at == digits || index > JSON_INDEX_MAX || (is_negative && index == 0))
            return NULL;
        step->index = (int32_t)(is_negative ? -index : index);
    }
    return at && *at == ']' ? at + 1 : NULL;
}

bool json_path_parse(const char *text, struct json_path *path)
{
    *path = (struct json_path){.text = text};
    if (strcmp(text, ".") == 0)
        return true;
    if (*text != '.')
        return false;
    for (const char *at = text; at && *at;) {
        if (path->all == JSON_STEPS_MAX)
            return false;
        struct json_step *step = &path->steps[path->all++];
        const bool has_dot = *at == '.';
        at += has_dot;
        if (*at == '[') {
            at = parse_brackets(at + 1, step);
        } else if (has_dot && *at == '"') {
            at = parse_string(at + 1, step);
        } else {
            for (step->name = at;
                 number_is_digit((unsigned char)*at) || *at & 0x80 ||
                 number_is_letter((unsigned char)*at) || (*at && strchr("_-@$", *at));
                 at++)
                step->len++;
            at = has_dot && step->len > 0 ? at : NULL;
        }
        if (!at)
            return false;
    }
    while (path->count < path->all && path->steps[path->count].index != JSON_EACH)
        path->count++;
    return true;
}

/* --- values --- */

bool json_name_is(const struct json_step *step, const unsigned char *from, const unsigned char *to)
{
    const unsigned char *name = (const unsigned char *)step->name;
    const size_t len = (size_t)(to - from);
    if (!step->is_escaped && !memchr(from, '\\', len))
        return len == step->len && memcmp(from, name, len) == 0;
    return same_text(from, to, name, name + step->len);
}

size_t json_value_text(const unsigned char *from, const unsigned char *to, unsigned char *text)
{
    if (*from == '"')
        return json_decode(from + 1, to - 1, text);
    memcpy(text, from, (size_t)(to - from));
    return (size_t)(to - from);
}

/* Returns the number of elements of an array, whose bracket was read. For an array that is not
 * valid, which is found later, it is any number. */
static int64_t count_elements(const struct json *json)
{
    struct json ahead = *json;
    int64_t count = 0;
    while (json_next_element(&ahead) && json_skip(&ahead))
        count++;
    return count;
}

bool json_follow(struct json *json, const struct json_step *step, const struct json_step *end,
                 const unsigned char **from, const unsigned char **to)
{
    json_skip_space(json);
    const unsigned char *begin = json->at;
    *from = *to = NULL; /* of members with one name the last counts */
    const enum json_kind kind = json_value(json);
    if (step == end) {
        if (!skip_rest(json, kind))
            return false;
        *from = begin;
        *to = json->at;
        return true;
    }
    if (kind != (step->name ? JSON_OBJECT : JSON_ARRAY))
        return skip_rest(json, kind);
    if (step->name) {
        while (json_next_member(json)) {
            const size_t len = (size_t)(json->to - json->from);
            const bool is_wanted =
                step->is_escaped || json->has_escapes
                    ? json_name_is(step, json->from, json->to)
                    : len == step->len && memcmp(json->from, step->name, len) == 0;
            if (is_wanted ? !json_follow(json, step + 1, end, from, to) : !json_skip(json))
                return false;
        }
    } else {
        int64_t before = step->index < 0 ? step->index + count_elements(json) : step->index;
        while (json_next_element(json))
            if (before-- == 0 ? !json_follow(json, step + 1, end, from, to) : !json_skip(json))
                return false;
    }
    return !json->wrong;
}

bool json_find(const struct json_path *path, const unsigned char *begin, const unsigned char *end,
               const unsigned char **from, const unsigned char **to)
{
    struct json json = {.at = begin, .end = end, .depth_max = JSON_DEPTH_MAX};
    bool is_valid = json_follow(&json, path->steps, path->steps + path->count, from, to);
    if (is_valid)
        json_skip_space(&json);
    is_valid &= json.at == end;
    if (!is_valid)
        *from = *to = json.at;
    return is_valid;
}
