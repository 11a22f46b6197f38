// SPDX-License-Identifier: MIT
// fields: decimal numbers in a field of each line, taken apart and counted by warps, a line a lane.
//
// The kernels are those of numbers.cuh, which find lines as they find tokens, with newlines in the
// place of white space. A line is read from shared memory, or from the data if it ends beyond the
// warp's text. Lines whose number only number_exactly can tell are left to numbers_rest.
#ifndef GPUHISTO_GPU_COUNT_FIELDS_CUH
#define GPUHISTO_GPU_COUNT_FIELDS_CUH

#include "gpu/count/numbers.cuh"

extern "C" {
#include "src/text/field.h"
}

// The field of one line, by the rules of src/text/field.h, a byte at a time.

// Text between two places.
struct text_part {
    const unsigned char *begin, *end;
};

DEVICE_INLINE bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t';
}

// --- between separators, or blanks ---
//
// Step is 1 to count fields from the front of the line, and -1 to count them from its back.

template <int Step>
DEVICE_INLINE bool find_separated(const line_field &field, const text_part &line, text_part *found)
{
    const unsigned char *at = Step > 0 ? line.begin : line.end;
    const unsigned char *const end = Step > 0 ? line.end : line.begin;
    const auto is_separator = [&] { return at[Step > 0 ? 0 : -1] == field.separator; };
    int before = Step * field.number - 1;
    for (; before > 0 && at != end; at += Step)
        before -= is_separator();
    const unsigned char *const first = at;
    while (at != end && !is_separator())
        at += Step;
    *found = Step > 0 ? text_part{first, at} : text_part{at, first};
    return before == 0;
}

// FIELD_EMPTY if there is no field at all.
template <int Step>
DEVICE_INLINE field_found find_word(const line_field &field, const text_part &line,
                                    text_part *found)
{
    const unsigned char *at = Step > 0 ? line.begin : line.end;
    const unsigned char *const end = Step > 0 ? line.end : line.begin;
    for (int number = Step;; number += Step) {
        while (at != end && is_blank(at[Step > 0 ? 0 : -1]))
            at += Step;
        if (at == end)
            return number == Step ? FIELD_EMPTY : FIELD_MISSING;
        const unsigned char *const first = at;
        while (at != end && !is_blank(at[Step > 0 ? 0 : -1]))
            at += Step;
        *found = Step > 0 ? text_part{first, at} : text_part{at, first};
        if (number == field.number)
            return FIELD_FOUND;
    }
}

// --- after a string ---

// Returns where something other than blanks, and a colour after them, begins.
DEVICE_INLINE const unsigned char *after_blanks(const unsigned char *at, const unsigned char *limit)
{
    while (at < limit && is_blank(*at))
        at++;
    return number_colour_end(at, limit);
}

DEVICE_INLINE bool find_after(const line_field &field, const text_part &line, text_part *found)
{
    const long long len = field.after_len;
    const unsigned char *at = line.begin;
    const auto is_after_here = [&] {
        for (unsigned i = 0; i < field.after_len; i++)
            if (at[i] != field.after[i])
                return false;
        return true;
    };
    while (line.end - at >= len && !is_after_here())
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
DEVICE_INLINE void strip_ends(text_part *part)
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
DEVICE_INLINE field_found find_field(const line_field &field, text_part line, text_part *found)
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
        what =
            field.number > 0 ? find_word<1>(field, line, found) : find_word<-1>(field, line, found);
    else
        what = (field.number > 0 ? find_separated<1>(field, line, found)
                                 : find_separated<-1>(field, line, found))
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

// --- finding lines ---

DEVICE_INLINE unsigned newlines_of(const uint4 &vector)
{
    const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
    unsigned newlines = 0;
    UNROLL for (unsigned i = 0; i < 4; i++) newlines |=
        gather_bits(bytes_equal(words[i], 0x0a0a0a0au)) << 4 * i;
    return newlines;
}

// Returns the end of a line that does not end before `at`: a newline, or the end of the data. Bytes
// beyond the longest valid line are not looked at.
DEVICE_INLINE const unsigned char *line_end(const unsigned char *begin, const unsigned char *at,
                                            const unsigned char *limit)
{
    if (limit - begin > static_cast<long long>(FIELD_RECORD_MAX) + 1)
        limit = begin + FIELD_RECORD_MAX + 1;
    for (; at < limit && reinterpret_cast<unsigned long long>(at) % 16 != 0; at++)
        if (*at == '\n')
            return at;
    while (limit - at >= 16 && !newlines_of(*reinterpret_cast<const uint4 *>(at)))
        at += 16;
    while (at < limit && *at != '\n')
        at++;
    return at;
}

// Lines: what the kernels of numbers.cuh count here. What is outside of the data counts as newlines
// for where lines begin and end.
struct number_lines {
    DEVICE_INLINE bool is_end(unsigned char c)
    {
        return c == '\n';
    }

    DEVICE_INLINE unsigned ends_of(const text_span &span, unsigned long long offset, const uint4 &a,
                                   const uint4 &b, unsigned *lines)
    {
        unsigned inside = offset < span.end ? 0xffffffffu : 0; // a bit for each byte of the data
        if (offset < span.end && span.end - offset < piece_bytes)
            inside = (1u << (span.end - offset)) - 1;
        if (offset < span.begin)
            inside &= inside << (span.begin - offset); // less than 16
        const unsigned newlines = (newlines_of(a) | newlines_of(b) << 16) & inside;
        *lines += static_cast<unsigned>(__popc(newlines));
        return newlines | ~inside;
    }

    DEVICE_INLINE bool count(const count_args &args, row_cache &cache, const warp_text *own,
                             unsigned begin, const unsigned char *there)
    {
        const unsigned char *const text = reinterpret_cast<const unsigned char *>(own->text);
        unsigned piece = begin / piece_bytes;
        unsigned newlines = own->spaces[piece] & ~0u << begin % piece_bytes;
        while (!newlines && piece < warp_pieces)
            newlines = own->spaces[++piece];
        text_part line, token;
        if (newlines) {
            const unsigned bit = static_cast<unsigned>(__ffs(static_cast<int>(newlines))) - 1;
            line = {text + begin, text + piece * piece_bytes + bit};
        } else {
            const unsigned seen = warp_bytes + piece_bytes - begin;
            line = {there, line_end(there, there + seen, args.data + args.len)};
        }
        double value = __longlong_as_double(0x7ff8000000000000);
        const field_found what = find_field(args.map.field, line, &token);
        if (what == FIELD_EMPTY)
            return true;
        if (what == FIELD_FOUND && !number_of(args.powers, token.begin, token.end, &value))
            return false;
        count_number(cache, args, value);
        return true;
    }

    // Lines that were put off have a number.
    DEVICE_INLINE bool find(const count_args &args, const unsigned char **begin,
                            const unsigned char **end)
    {
        text_part token = {*begin, *begin};
        find_field(args.map.field, {*begin, line_end(*begin, *begin, args.data + args.len)},
                   &token);
        *begin = token.begin;
        *end = token.end;
        return true;
    }
};

#endif
