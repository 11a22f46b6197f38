/* SPDX-License-Identifier: MIT */
#include "field.h"
#include "src/base/byte_word.h"
#include "src/base/utf8.h"
#include "weight.h"
#include "lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the content of fields --- */

#define ESCAPE_SIZE 6 /* of \u0000, the longest one */

/* Returns where to cut [at, to), which has escapes, so that little more than `max` bytes less two
 * escapes are left; or `to`, if it has no more than max. */
static const unsigned char *cut_escaped(const unsigned char *at, const unsigned char *to,
                                        bool is_json, size_t max)
{
    const unsigned char *const begin = at;
    if ((size_t)(to - at) <= max)
        return to;
    while ((size_t)(at - begin) < max - 2 * ESCAPE_SIZE)
        at += *at != '\\' ? 1 : is_json && at[1] == 'u' ? ESCAPE_SIZE : 2;
    return at;
}

struct key_name key_content(const struct field *field, const unsigned char *from,
                            const unsigned char *to, size_t max, unsigned char *scratch)
{
    from = number_colour_end(from, to);
    to = number_colour_begin(from, to);
    const size_t len = (size_t)(to - from);
    const bool is_json = field->kind == FIELD_JSON;
    if (len == 0 || *from != '"')
        return (struct key_name){from, len};
    if (field->kind == FIELD_CSV) {
        const unsigned char *quote = memchr(from + 1, '"', len - 1);
        if (quote && quote == to - 1)
            return (struct key_name){from + 1, len - 2};
        to = len < max ? to : from + max;
        return (struct key_name){scratch, field_csv_text(from, to, scratch)};
    }
    const bool is_value = field->kind == FIELD_LINE && line_part_has_quotes(&field->part);
    if (!is_json && !(is_value && len > 1 && to[-1] == '"'))
        return (struct key_name){from, len};
    if (!memchr(from, '\\', len)) /* nothing is to be decoded */
        return (struct key_name){from + 1, len - 2};
    to = cut_escaped(from + 1, to - 1, is_json, max);
    return (struct key_name){scratch, is_json ? json_decode(from + 1, to, scratch)
                                              : line_value_text(from, to + 1, scratch)};
}

/* --- characters --- */

/* Returns where the character after `count` characters begins, or the end. */
static const unsigned char *after_characters(const unsigned char *at, const unsigned char *end,
                                             int32_t count)
{
    for (; at < end && count > 0; count--)
        for (at++; at < end && character_continues(*at);)
            at++;
    return at;
}

/* Returns where the last `count` characters of [begin, at) begin, or begin. */
static const unsigned char *before_characters(const unsigned char *begin, const unsigned char *at,
                                              int32_t count)
{
    for (; at > begin && count > 0; count--)
        for (at--; at > begin && character_continues(*at);)
            at--;
    return at;
}

static struct key_name characters_of(const struct key_modifier *modifier, struct key_name name)
{
    const int32_t first = modifier->first, last = modifier->last;
    const unsigned char *end = name.bytes + name.len, *from, *to;
    from = first > 0 ? after_characters(name.bytes, end, first - 1)
                     : before_characters(name.bytes, end, -first);
    if (last < 0)
        to = before_characters(name.bytes, end, -last - 1);
    else if (first > 0)
        to = after_characters(from, end, last - first + 1);
    else
        to = after_characters(name.bytes, end, last);
    return (struct key_name){from, to > from ? (size_t)(to - from) : 0};
}

/* --- routes --- */

/* The route of a path: without its query and fragment, that is up to the first '?' or '#', and with
 * '*' for each segment that is an id. Segments are what stands between slashes. An id is
 *
 *     digits only
 *     a UUID, 8-4-4-4-12 hexadecimal digits
 *     eight and more hexadecimal digits, one of which is a digit from 0 to 9
 *     sixteen and more of letters, digits, '-' and '_', with both a letter and a digit
 *
 * Letters are those of ASCII, in either case. Nothing is decoded. */

#define UUID_LENGTH 36
#define HEX_MIN 8
#define WORD_MIN 16

/* What a byte may be. Of an id all bytes are one of these. */
enum byte_kind {
    BYTE_DIGIT = 1,
    BYTE_HEX = 2,    /* a letter from a to f */
    BYTE_LETTER = 4, /* another one */
    BYTE_HYPHEN = 8,
    BYTE_UNDERSCORE = 16,
    BYTE_OTHER = 32,
};

static unsigned kind_of(unsigned char byte)
{
    const unsigned char letter = (unsigned char)((byte | 0x20) - 'a');
    if ((unsigned char)(byte - '0') < 10)
        return BYTE_DIGIT;
    if (letter < 26)
        return letter < 6 ? BYTE_HEX : BYTE_LETTER;
    return byte == '-' ? BYTE_HYPHEN : byte == '_' ? BYTE_UNDERSCORE : BYTE_OTHER;
}

/* True if the segment [begin, end) is an id. Any thread. */
static bool route_is_id(const unsigned char *begin, const unsigned char *end)
{
    const size_t len = (size_t)(end - begin);
    unsigned kinds = 0;
    for (const unsigned char *at = begin; at < end && !(kinds & BYTE_OTHER); at++)
        kinds |= kind_of(*at);
    const bool has_digit = kinds & BYTE_DIGIT;
    if (kinds & BYTE_OTHER)
        return false;
    if (kinds == BYTE_DIGIT)
        return true;
    bool is_uuid = len == UUID_LENGTH && !(kinds & (BYTE_LETTER | BYTE_UNDERSCORE));
    for (size_t i = 0; i < len && is_uuid; i++)
        is_uuid = (begin[i] == '-') == (i == 8 || i == 13 || i == 18 || i == 23);
    if (is_uuid)
        return true;
    if (len >= HEX_MIN && has_digit && !(kinds & ~(unsigned)(BYTE_DIGIT | BYTE_HEX)))
        return true;
    return len >= WORD_MIN && has_digit && kinds & (BYTE_HEX | BYTE_LETTER);
}

/* Returns the highest bit of each byte of a word that is less than `end`, which is 128 at most. */
static uint64_t bytes_below(uint64_t word, unsigned end)
{
    const uint64_t low = EACH_BYTE(0x7f);
    return ~(((word & low) + EACH_BYTE(128 - end)) | word) & ~low;
}

/* Returns the first '?' or '#' in [path, end), or end. Sets *may_have_id: if it is false, no
 * segment before that is an id, as in most paths. */
static const unsigned char *path_end(const unsigned char *path, const unsigned char *end,
                                     bool *may_have_id)
{
    uint64_t digits = 0, stops = 0;
    const unsigned char *at = path;
    for (; end - at >= 8 && !stops; at += stops ? __builtin_ctzll(stops) / 8 : 8) {
        const uint64_t word = byte_word(at);
        stops = bytes_below(word ^ EACH_BYTE('?'), 1) | bytes_below(word ^ EACH_BYTE('#'), 1);
        digits |= bytes_below(word ^ EACH_BYTE('0'), 10) & (stops - 1) & ~stops;
    }
    for (; at < end && *at != '?' && *at != '#'; at++)
        digits |= (unsigned char)(*at - '0') < 10;
    *may_have_id = digits || at - path >= UUID_LENGTH;
    return at;
}

/* Returns the route of path[0..*len), and sets *len to its length: the path itself if it has no id,
 * or written to `scratch`, which has *len bytes and may begin before the path and overlap it. */
static const unsigned char *route_of(const unsigned char *path, size_t *len, unsigned char *scratch)
{
    bool may_have_id;
    const unsigned char *end = path_end(path, path + *len, &may_have_id), *copied = path;
    unsigned char *to = scratch;
    for (const unsigned char *at = path; at < end && may_have_id; at++) {
        const unsigned char *segment = at;
        while (at < end && *at != '/')
            at++;
        const bool may_be_id =
            at - segment >= HEX_MIN || (at > segment && number_is_digit(*segment));
        if (!may_be_id || !route_is_id(segment, at))
            continue;
        memmove(to, copied, (size_t)(segment - copied));
        to += segment - copied;
        *to++ = '*';
        copied = at;
    }
    *len = (size_t)(end - copied);
    if (copied == path)
        return path;
    memmove(to, copied, *len);
    *len += (size_t)(to - scratch);
    return scratch;
}

/* --- times --- */

/* Returns the beginning of the bucket of a time. No bytes if there is none. */
static struct key_name bucket_of(const struct key_modifier *modifier, struct key_name text,
                                 unsigned char *scratch, struct key_memo *memo)
{
    struct time time;
    if (!time_read(text.bytes, text.bytes + text.len, &time))
        return (struct key_name){NULL, 0};
    if (modifier->is_fine && time.zone == TIME_OFFSET)
        time_floor_twice(&time, modifier->seconds);
    else if (!time_floor(&time, modifier->seconds))
        return (struct key_name){NULL, 0};
    /* Digits of a clock in the field that do not matter to the bucket: both of the seconds if it
     * has whole minutes, or one if it has whole tens of seconds. */
    if (text.bytes >= memo->from && text.bytes < memo->to && time.at > 0 &&
        text.bytes[time.at] != '6') {
        memo->digits = modifier->seconds % 60 == 0 ? 2 : modifier->seconds % 10 == 0 ? 1 : 0;
        memo->seconds = (size_t)(text.bytes - memo->from) + time.at + 2 - memo->digits;
    }
    return (struct key_name){scratch, time_write(&time, scratch)};
}

bool key_memo_has(const struct key_memo *memo, const unsigned char *from, const unsigned char *to)
{
    const unsigned char *other = memo->from;
    const size_t len = (size_t)(to - from), seconds = memo->seconds;
    size_t at = seconds + memo->digits;
    if (!other || len != (size_t)(memo->to - other) || memcmp(from, other, seconds) != 0)
        return false;
    for (size_t i = seconds; i < at; i++)
        if (from[i] < '0' || from[i] > (at - i == 2 ? '5' : '9'))
            return false;
    if (at > 0 && at < len && from[at] == other[at] && (from[at] == '.' || from[at] == ','))
        for (at++; at < len && number_is_digit(from[at]) && number_is_digit(other[at]);)
            at++;
    return memcmp(from + at, other + at, len - at) == 0;
}

/* --- weights --- */

#define WEIGHT_NONE UINT64_MAX /* there is no weight */

/* Returns the weight that a token [at, end) is, or WEIGHT_NONE. */
static uint64_t weight_of_token(const unsigned char *at, const unsigned char *end)
{
    const bool is_negative = at < end && *at == '-';
    const unsigned char *digits = at += at < end && (*at == '-' || *at == '+');
    uint64_t weight = 0;
    for (; at < end && number_is_digit(*at); at++)
        if (__builtin_mul_overflow(weight, 10, &weight) ||
            __builtin_add_overflow(weight, *at - '0', &weight))
            return WEIGHT_NONE;
    if (at == digits || weight > WEIGHT_MAX || (is_negative && weight > 0))
        return WEIGHT_NONE;
    if (at < end && *at == '.')
        for (at++; at < end && *at == '0';)
            at++;
    return at == end ? weight : WEIGHT_NONE;
}

/* Returns the weight in the field [from, to), as field_find gives it, or WEIGHT_NONE. */
static uint64_t weight_of_field(const struct field *field, const unsigned char *from,
                                const unsigned char *to)
{
    unsigned char token[NUMBER_MAX];
    uint64_t weight = 0;
    if (to - from <= 18) { /* most are digits alone, that fit */
        const unsigned char *at = from;
        while (at < to && number_is_digit(*at))
            weight = weight * 10 + (uint64_t)(*at++ - '0');
        if (at == to && at > from)
            return weight;
    }
    size_t len = field_token(field, &from, &to, to, token);
    if (field->has_comma)
        len = number_swap_comma(token, len);
    return weight_of_token(token, token + len);
}

bool weight_is_zero(const struct field *field, const unsigned char *begin, const unsigned char *end)
{
    const unsigned char *from, *to;
    return field_find(field, begin, end, &from, &to) == FIELD_FOUND &&
           weight_of_field(field, from, to) == 0;
}

void weights_read(struct line_batch *batch, struct weight_total *total)
{
    const unsigned key = batch->spec->key_count;
    const struct field *field = &batch->spec->keys[key].field;
    const struct key_span *spans = batch->keys[key];
    uint64_t sum = 0;
    bool is_too_large = false;
    for (size_t i = 0; i < batch->count; i++) {
        const unsigned char *from = spans[i].from;
        uint64_t weight = from ? weight_of_field(field, from, from + spans[i].len) : WEIGHT_NONE;
        if (weight == WEIGHT_NONE) {
            weight = 1;
            if (batch->values)
                batch->values[i] = NAN;
            else
                batch->keys[0][i].from = NULL;
        }
        batch->weights[i] = weight;
        is_too_large |= __builtin_add_overflow(sum, weight, &sum);
    }
    if (is_too_large || atomic_fetch_add(&total->sum, sum) > UINT64_MAX - sum)
        atomic_store(&total->is_too_large, true);
}

int weight_total_check(const struct weight_total *total, struct error *error)
{
    return !atomic_load(&total->is_too_large)
               ? 0
               : error_set(error,
                           "the weights add up to more than %" PRIu64
                           "; count fewer lines, as with --where or --lines-with",
                           UINT64_MAX);
}

/* --- the key --- */

struct key_name key_of_field(const struct key *key, const unsigned char *from,
                             const unsigned char *to, unsigned char *scratch, struct key_memo *memo)
{
    struct key_memo unused;
    memo = memo ? memo : &unused;
    memo->from = from;
    memo->to = to;
    memo->seconds = memo->digits = 0;
    struct key_name name = key_content(&key->field, from, to, SIZE_MAX, scratch);
    for (unsigned i = 0; i < key->modifier_count && name.bytes; i++) {
        const struct key_modifier *modifier = &key->modifiers[i];
        switch (modifier->kind) {
        case KEY_CHARACTERS:
            name = characters_of(modifier, name);
            break;
        case KEY_ROUTE:
            name.bytes = route_of(name.bytes, &name.len, scratch);
            break;
        case KEY_BUCKET:
            name = bucket_of(modifier, name, scratch, memo);
            break;
        }
    }
    memo->name = name;
    if (name.bytes >= memo->from && name.bytes < memo->to)
        memo->from = NULL; /* finding such a key again is as fast as comparing it */
    return name;
}

/* True if a field [from, to) has no key. */
static bool lacks_time(const struct key *key, const unsigned char *from, const unsigned char *to)
{
    bool needs_time = false;
    for (unsigned i = 0; i < key->modifier_count; i++)
        needs_time |= key->modifiers[i].kind == KEY_BUCKET;
    unsigned char *scratch = needs_time ? malloc(key_scratch_size((size_t)(to - from))) : NULL;
    const bool lacks = scratch && !key_of_field(key, from, to, scratch, NULL).bytes;
    free(scratch);
    return lacks;
}

bool key_find_missing(const struct key *key, const struct field *field, const unsigned char *text,
                      size_t len, struct field_fault *fault)
{
    const unsigned char *limit = text + len, *from = text, *to;
    for (const unsigned char *at = text, *end; at < limit; at = end + 1) {
        end = field_record_end(field, at, limit);
        enum field_found found = field_find(field, at, end, &from, &to);
        if (found == FIELD_EMPTY || (found == FIELD_FOUND && list_is_empty(field, from, to)))
            continue;
        from = NULL;
        found = field_find(&key->field, at, end, &from, &to);
        if (found == FIELD_FOUND && to - from > (ptrdiff_t)KEY_SIZE_MAX)
            found = FIELD_TOO_LONG;
        else if (found == FIELD_FOUND && key->is_weight)
            found = weight_of_field(&key->field, from, to) == WEIGHT_NONE ? FIELD_NO_WEIGHT : found;
        else if (found == FIELD_FOUND && lacks_time(key, from, to))
            found = FIELD_NO_TIME;
        if (found == FIELD_FOUND)
            continue;
        *fault = (struct field_fault){.at = (size_t)(at - text), .what = found};
        if (found == FIELD_BROKEN || found >= FIELD_NO_TIME)
            fault->from = (size_t)(from - text);
        if ((found == FIELD_TOO_LONG && from) || found >= FIELD_NO_TIME)
            fault->len = (size_t)(to - from);
        return true;
    }
    return false;
}

/* --- several keys --- */

struct key_name key_parts_join(const struct key_name *parts, unsigned count, unsigned char *to)
{
    unsigned char *end = to;
    for (unsigned i = 0; i < count; i++) {
        memcpy(end, parts[i].bytes, parts[i].len);
        end += parts[i].len;
    }
    for (unsigned i = 0; i + 1 < count; i++) {
        const uint32_t len = (uint32_t)parts[i].len; /* of KEY_SIZE_MAX at most, or of a table */
        memcpy(end, &len, sizeof len);
        end += sizeof len;
    }
    return (struct key_name){to, (size_t)(end - to)};
}

struct key_name key_parts_get(struct key_name name, unsigned count, unsigned i)
{
    const size_t content = name.len - (count - 1) * sizeof(uint32_t);
    const unsigned char *lengths = name.bytes + content;
    size_t begin = 0;
    uint32_t len = 0;
    for (unsigned part = 0; part + 1 < count && part <= i; part++) {
        begin += len;
        memcpy(&len, lengths + part * sizeof len, sizeof len);
    }
    if (i + 1 < count)
        return (struct key_name){name.bytes + begin, len};
    return (struct key_name){name.bytes + begin + len, content - begin - len};
}
