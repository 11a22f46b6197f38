/* SPDX-License-Identifier: MIT */
/* JSON, a byte at a time. What is open is kept as a bit each, so that no nesting overflows a stack.
 */
#include "json_path.h"
#include "number.h"

#include <string.h>

#define REPLACEMENT 0xfffd /* the character U+FFFD */

/* --- strings --- */

/* Returns the value of four hexadecimal digits; -1 if they are not there. */
static int32_t hex_value(const unsigned char *at, const unsigned char *end)
{
    int32_t value = 0;
    if (end - at < 4)
        return -1;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned char lower = at[i] | 0x20;
        if (number_is_digit(at[i]))
            value = value * 16 + (at[i] - '0');
        else if (lower >= 'a' && lower <= 'f')
            value = value * 16 + (lower - 'a' + 10);
        else
            return -1;
    }
    return value;
}

/* Moves *at past a string, of which the opening quote was read. False if it is not valid: *at is
 * where. */
static bool skip_string(const unsigned char **at, const unsigned char *end)
{
    for (; *at < end; ++*at) {
        if (**at == '"') {
            ++*at;
            return true;
        }
        if (**at < ' ')
            return false;
        if (**at != '\\')
            continue;
        if (++*at == end)
            return false;
        if (**at == 'u' && hex_value(*at + 1, end) >= 0)
            *at += 4;
        else if (!memchr("\"\\/bfnrt", **at, 8))
            return false;
    }
    return false;
}

/* What the content of a string stands for, a byte at a time. */
struct decoded {
    const unsigned char *at, *end;
    unsigned char bytes[4]; /* of a character that was escaped */
    unsigned count, given;
};

static void encode(uint32_t character, struct decoded *decoded)
{
    unsigned char *bytes = decoded->bytes;
    const unsigned count = character < 0x80      ? 1
                           : character < 0x800   ? 2
                           : character < 0x10000 ? 3
                                                 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (unsigned i = count - 1; i > 0; i--, character >>= 6)
        bytes[i] = (unsigned char)(0x80 | (character & 0x3f));
    bytes[0] = (unsigned char)(first[count] | character);
    decoded->count = count;
    decoded->given = 0;
}

/* Decodes what follows \u. */
static void decode_units(struct decoded *decoded)
{
    uint32_t unit = (uint32_t)hex_value(decoded->at, decoded->end);
    const unsigned char *next = decoded->at += 4;
    if (unit >= 0xd800 && unit < 0xdc00 && decoded->end - next >= 6 && next[0] == '\\' &&
        next[1] == 'u') {
        const uint32_t low = (uint32_t)hex_value(next + 2, decoded->end);
        if (low >= 0xdc00 && low < 0xe000) {
            decoded->at += 6;
            unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    encode(unit >= 0xd800 && unit < 0xe000 ? REPLACEMENT : unit, decoded);
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

bool json_name_is(const struct json_step *step, const unsigned char *from, const unsigned char *to)
{
    const unsigned char *name = (const unsigned char *)step->name;
    const size_t len = (size_t)(to - from);
    if (!step->is_escaped && !memchr(from, '\\', len))
        return len == step->len && memcmp(from, name, len) == 0;
    struct decoded member = {.at = from, .end = to}, wanted = {.at = name, .end = name + step->len};
    int byte;
    do
        if ((byte = next_byte(&member)) != next_byte(&wanted))
            return false;
    while (byte >= 0);
    return true;
}

size_t json_value_text(const unsigned char *from, const unsigned char *to, unsigned char *text)
{
    size_t len = 0;
    if (*from != '"') {
        memcpy(text, from, (size_t)(to - from));
        return (size_t)(to - from);
    }
    struct decoded decoded = {.at = from + 1, .end = to - 1};
    for (int byte; (byte = next_byte(&decoded)) >= 0;)
        text[len++] = (unsigned char)byte;
    return len;
}

/* --- paths --- */

static bool is_of_bare_name(unsigned char c)
{
    return number_is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 26 || c >= 0x80 ||
           (c && strchr("_-@$", c));
}

static const char *parse_string(const char *at, struct json_step *step)
{
    const unsigned char *end = (const unsigned char *)at;
    if (!skip_string(&end, end + strlen(at)))
        return NULL;
    step->name = at;
    step->len = (size_t)((const char *)end - at) - 1;
    step->is_escaped = memchr(at, '\\', step->len);
    return (const char *)end;
}

static const char *parse_name(const char *at, struct json_step *step)
{
    if (*at == '"')
        return parse_string(at + 1, step);
    for (step->name = at; is_of_bare_name((unsigned char)*at); at++)
        step->len++;
    return step->len > 0 ? at : NULL;
}

/* Parses what stands in brackets. */
static const char *parse_brackets(const char *at, struct json_step *step)
{
    if (*at == '"') {
        at = parse_string(at + 1, step);
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
        if (path->count == JSON_STEPS_MAX)
            return false;
        struct json_step *step = &path->steps[path->count++];
        const bool has_dot = *at == '.';
        at += has_dot;
        if (*at == '[')
            at = parse_brackets(at + 1, step);
        else
            at = has_dot ? parse_name(at, step) : NULL;
        if (!at)
            return false;
    }
    return true;
}

/* --- records --- */

/* A walk over all of a record. The containers that are open and that the path leads through are the
 * first `on` of `depth`. */
struct walk {
    const struct json_path *path;
    const unsigned char *at, *end;
    const unsigned char *from, *to; /* the value; `from` is NULL if there is none so far */
    unsigned depth, on;
    bool is_first;                  /* the innermost container has no member or element so far */
    int64_t before[JSON_STEPS_MAX]; /* elements before the wanted one; negative: there is none */
    uint64_t objects[JSON_DEPTH_MAX / 64 + 1]; /* a bit for each that is open: it is no array */
};

static bool is_in_object(const struct walk *walk)
{
    const unsigned innermost = walk->depth - 1;
    return walk->objects[innermost / 64] >> innermost % 64 & 1;
}

static void skip_space(struct walk *walk)
{
    while (walk->at < walk->end && json_is_space(*walk->at))
        walk->at++;
}

/* Moves past a byte and the white space after it. False if another one is there. */
static bool skip_byte(struct walk *walk, unsigned char byte)
{
    if (walk->at == walk->end || *walk->at != byte)
        return false;
    walk->at++;
    skip_space(walk);
    return true;
}

/* Returns the number of elements of an array, of which the bracket was read. Of one that is not
 * valid, which is found later, any number. */
static int64_t count_elements(const unsigned char *at, const unsigned char *end)
{
    int64_t commas = 0, depth = 1;
    bool any = false;
    for (; at < end && depth > 0; at++) {
        const unsigned char c = *at;
        depth += c == '[' || c == '{';
        depth -= c == ']' || c == '}';
        commas += c == ',' && depth == 1;
        any |= depth > 0 && !json_is_space(c);
        if (c == '"') {
            at++;
            if (!skip_string(&at, end))
                break;
            at--;
        }
    }
    return any ? commas + 1 : 0;
}

/* Enters a container. False if it is nested too deep. */
static bool open_container(struct walk *walk, bool is_object, bool is_wanted)
{
    const unsigned depth = walk->depth;
    const uint64_t bit = UINT64_C(1) << depth % 64;
    if (depth == JSON_DEPTH_MAX)
        return false;
    walk->objects[depth / 64] &= bit - 1;
    walk->objects[depth / 64] |= is_object ? bit : 0;
    walk->depth++;
    walk->at++;
    walk->is_first = true;
    if (!is_wanted || depth == walk->path->count)
        return true;
    const struct json_step *step = &walk->path->steps[depth];
    if (is_object != (step->name != NULL))
        return true;
    walk->on = depth + 1;
    if (!is_object)
        walk->before[depth] =
            step->index < 0 ? step->index + count_elements(walk->at, walk->end) : step->index;
    return true;
}

static void close_container(struct walk *walk)
{
    walk->at++;
    walk->depth--;
    walk->on = walk->on < walk->depth ? walk->on : walk->depth;
    walk->is_first = false;
    if (walk->from && !walk->to && walk->depth == walk->path->count)
        walk->to = walk->at;
}

static bool skip_word(struct walk *walk, const char *word)
{
    for (; *word; word++, walk->at++)
        if (walk->at == walk->end || *walk->at != (unsigned char)*word)
            return false;
    return true;
}

const unsigned char *json_number_end(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *digits = at += at < end && *at == '-';
    while (at < end && number_is_digit(*at))
        at++;
    if (at == digits || (*digits == '0' && at - digits > 1))
        return NULL;
    if (at < end && *at == '.') {
        digits = ++at;
        while (at < end && number_is_digit(*at))
            at++;
        if (at == digits)
            return NULL;
    }
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        digits = at += at < end && (*at == '+' || *at == '-');
        while (at < end && number_is_digit(*at))
            at++;
        if (at == digits)
            return NULL;
    }
    return at;
}

/* Moves past a string, number, true, false or null. */
static bool skip_scalar(struct walk *walk)
{
    switch (*walk->at) {
    case '"':
        walk->at++;
        return skip_string(&walk->at, walk->end);
    case 't':
        return skip_word(walk, "true");
    case 'f':
        return skip_word(walk, "false");
    case 'n':
        return skip_word(walk, "null");
    default:
        break;
    }
    const unsigned char *end = json_number_end(walk->at, walk->end);
    walk->at = end ? end : walk->at;
    return end;
}

/* Reads a value, or enters it. If it is wanted, it or a part of it is what the path leads to,
 * instead of what was found before. */
static bool begin_value(struct walk *walk, bool is_wanted)
{
    const bool is_it = is_wanted && walk->depth == walk->path->count;
    if (is_wanted)
        walk->from = is_it ? walk->at : NULL;
    if (is_wanted)
        walk->to = NULL;
    if (walk->at == walk->end)
        return false;
    if (*walk->at == '{' || *walk->at == '[')
        return open_container(walk, *walk->at == '{', is_wanted);
    walk->is_first = false;
    if (!skip_scalar(walk))
        return false;
    walk->to = is_it ? walk->at : walk->to;
    return true;
}

/* Reads the name of a member. False if it is not valid. */
static bool read_name(struct walk *walk, bool *is_wanted)
{
    if (walk->at == walk->end || *walk->at != '"')
        return false;
    const unsigned char *name = ++walk->at;
    if (!skip_string(&walk->at, walk->end))
        return false;
    *is_wanted = walk->on == walk->depth &&
                 json_name_is(&walk->path->steps[walk->depth - 1], name, walk->at - 1);
    skip_space(walk);
    return skip_byte(walk, ':');
}

/* Reads on in a container: to the next value, or its end. */
static bool read_next(struct walk *walk)
{
    const bool is_object = is_in_object(walk);
    bool is_wanted;
    skip_space(walk);
    if (walk->at < walk->end && *walk->at == (is_object ? '}' : ']')) {
        close_container(walk);
        return true;
    }
    if (!walk->is_first && !skip_byte(walk, ','))
        return false;
    if (!is_object)
        is_wanted = walk->on == walk->depth && walk->before[walk->depth - 1]-- == 0;
    else if (!read_name(walk, &is_wanted))
        return false;
    return begin_value(walk, is_wanted);
}

bool json_find(const struct json_path *path, const unsigned char *begin, const unsigned char *end,
               const unsigned char **from, const unsigned char **to)
{
    struct walk walk;
    walk.path = path;
    walk.at = begin;
    walk.end = end;
    walk.depth = walk.on = 0;
    skip_space(&walk);
    bool is_valid = begin_value(&walk, true);
    while (is_valid && walk.depth > 0)
        is_valid = read_next(&walk);
    if (is_valid)
        skip_space(&walk);
    is_valid &= walk.at == end;
    *from = is_valid ? walk.from : walk.at;
    *to = is_valid ? walk.to : walk.at;
    return is_valid;
}
