// SPDX-License-Identifier: MIT
// The field of one line on the device, by the rules of src/text/field.h, a byte at a time.
// Finding lines and counting their rows is done in gpu/count/fields.cuh.
#ifndef GPUHISTO_PARSE_FIELD_CUH
#define GPUHISTO_PARSE_FIELD_CUH

#include "line_field.h"
#include "gpu/count/parse_number.cuh"

extern "C" {
#include "src/text/field.h"
}

// Text between two places.
struct text_part {
    const unsigned char *begin, *end;
};

static __device__ __forceinline__ bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t';
}

// --- between separators ---

static __device__ __forceinline__ bool
find_separated_from_front(const line_field &field, const text_part &line, text_part *found)
{
    int before = field.number - 1;
    const unsigned char *at = line.begin;
    for (; before > 0 && at < line.end; at++)
        before -= *at == field.separator;
    found->begin = at;
    while (at < line.end && *at != field.separator)
        at++;
    found->end = at;
    return before == 0;
}

static __device__ __forceinline__ bool
find_separated_from_back(const line_field &field, const text_part &line, text_part *found)
{
    int after = -field.number - 1;
    const unsigned char *at = line.end;
    for (; after > 0 && at > line.begin; at--)
        after -= at[-1] == field.separator;
    found->end = at;
    while (at > line.begin && at[-1] != field.separator)
        at--;
    found->begin = at;
    return after == 0;
}

// --- between blanks ---

// FIELD_EMPTY if there is no field at all.
static __device__ __forceinline__ field_found find_word_from_front(const line_field &field,
                                                                   const text_part &line,
                                                                   text_part *found)
{
    const unsigned char *at = line.begin;
    for (int number = 1;; number++) {
        while (at < line.end && is_blank(*at))
            at++;
        if (at == line.end)
            return number == 1 ? FIELD_EMPTY : FIELD_MISSING;
        found->begin = at;
        while (at < line.end && !is_blank(*at))
            at++;
        found->end = at;
        if (number == field.number)
            return FIELD_FOUND;
    }
}

static __device__ __forceinline__ field_found find_word_from_back(const line_field &field,
                                                                  const text_part &line,
                                                                  text_part *found)
{
    const unsigned char *at = line.end;
    for (int number = -1;; number--) {
        while (at > line.begin && is_blank(at[-1]))
            at--;
        if (at == line.begin)
            return number == -1 ? FIELD_EMPTY : FIELD_MISSING;
        found->end = at;
        while (at > line.begin && !is_blank(at[-1]))
            at--;
        found->begin = at;
        if (number == field.number)
            return FIELD_FOUND;
    }
}

// --- after a string ---

// Returns where something other than blanks, and a colour after them, begins.
static __device__ __forceinline__ const unsigned char *after_blanks(const unsigned char *at,
                                                                    const unsigned char *limit)
{
    while (at < limit && is_blank(*at))
        at++;
    return number_colour_end(at, limit);
}

static __device__ __forceinline__ bool is_after_here(const line_field &field,
                                                     const unsigned char *at)
{
    for (unsigned i = 0; i < field.after_len; i++)
        if (at[i] != field.after[i])
            return false;
    return true;
}

static __device__ __forceinline__ bool find_after(const line_field &field, const text_part &line,
                                                  text_part *found)
{
    const long long len = field.after_len;
    const unsigned char *at = line.begin;
    while (line.end - at >= len && !is_after_here(field, at))
        at++;
    if (line.end - at < len)
        return false;
    at = after_blanks(at + len, line.end);
    if (at < line.end && *at == '"')
        at = after_blanks(at + 1, line.end);
    found->begin = at;
    found->end = field_token_end(at, line.end);
    return found->end > at;
}

// --- all of them ---

// Removes white space and colours at both ends.
static __device__ __forceinline__ void strip_ends(text_part *part)
{
    const unsigned char *before;
    do {
        before = part->begin;
        while (part->begin < part->end && number_is_space(*part->begin))
            part->begin++;
        part->begin = number_colour_end(part->begin, part->end);
    } while (part->begin > before);
    do {
        before = part->end;
        while (part->begin < part->end && number_is_space(part->end[-1]))
            part->end--;
        part->end = number_colour_begin(part->begin, part->end);
    } while (part->end < before);
}

// Finds what should be the number of a line, without its newline: in *found, if FIELD_FOUND, is a
// token of 1 to NUMBER_MAX bytes. FIELD_MISSING: the line is invalid.
static __device__ __forceinline__ field_found find_field(const line_field &field, text_part line,
                                                         text_part *found)
{
    if (line.end - line.begin > static_cast<long long>(FIELD_RECORD_MAX))
        return FIELD_MISSING;
    line.end -= line.begin < line.end && line.end[-1] == '\r';
    if (line.begin == line.end)
        return FIELD_EMPTY;
    field_found what;
    if (field.kind == FIELD_AFTER)
        what = find_after(field, line, found) ? FIELD_FOUND : FIELD_MISSING;
    else if (field.kind == FIELD_BLANKS)
        what = field.number > 0 ? find_word_from_front(field, line, found)
                                : find_word_from_back(field, line, found);
    else
        what = (field.number > 0 ? find_separated_from_front(field, line, found)
                                 : find_separated_from_back(field, line, found))
                   ? FIELD_FOUND
                   : FIELD_MISSING;
    if (what != FIELD_FOUND)
        return what;
    strip_ends(found);
    if (found->end - found->begin >= 2 && *found->begin == '"' && found->end[-1] == '"') {
        found->begin++;
        found->end--;
        strip_ends(found);
    }
    if (found->begin == found->end || found->end - found->begin > NUMBER_MAX)
        return FIELD_MISSING;
    for (const unsigned char *at = found->begin; at < found->end; at++)
        if (number_is_space(*at))
            return FIELD_MISSING;
    return FIELD_FOUND;
}

#endif
