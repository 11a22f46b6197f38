// SPDX-License-Identifier: MIT
// fields: decimal numbers in a field of each line, taken apart and counted by warps, a line a lane.
//
// Lines are found as numbers.cuh finds tokens, with newlines in the place of white space: a warp
// takes 2 KiB of text at a time into shared memory, with a bit for each newline; a line belongs to
// the 2 KiB in which it begins, and a prefix sum lists where lines begin, which lanes then take in
// turn. The bits tell where a line ends, and it is read from shared memory, or from the data if it
// ends beyond the text. Rows are counted as in numbers.cuh; lines whose number only number_exactly
// can tell are put on the list for fields_rest, launched after this kernel, a line a thread.
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

// --- finding lines ---

// Returns a bit for each byte of a piece, set if the byte's offset is one of the data.
static __device__ __forceinline__ unsigned bits_inside(const text_span &span,
                                                       unsigned long long offset)
{
    unsigned inside = 0xffffffffu;
    if (offset >= span.end)
        return 0;
    if (span.end - offset < piece_bytes)
        inside = (1u << (span.end - offset)) - 1;
    if (offset < span.begin)
        inside &= inside << (span.begin - offset); // less than 16
    return inside;
}

static __device__ __forceinline__ unsigned newlines_of(const uint4 &vector)
{
    const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
    unsigned newlines = 0;
    UNROLL for (unsigned i = 0; i < 4; i++) newlines |=
        gather_bits(bytes_equal(words[i], 0x0a0a0a0au)) << 4 * i;
    return newlines;
}

// The warp together: takes the text from an offset on; what is outside of the data counts as
// newlines for where lines begin and end. Returns this lane's newlines in it.
static __device__ __forceinline__ unsigned take_lines(const text_span &span,
                                                      unsigned long long offset, warp_text *own)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned lines = 0;
    for (unsigned piece = lane; piece <= warp_pieces; piece += 32) {
        const unsigned long long at = offset + piece * piece_bytes;
        const uint4 a = vector_at(span, at, ' '), b = vector_at(span, at + 16, ' ');
        const unsigned inside = bits_inside(span, at);
        const unsigned newlines = (newlines_of(a) | newlines_of(b) << 16) & inside;
        own->text[2 * piece] = a;
        own->text[2 * piece + 1] = b;
        own->spaces[piece] = newlines | ~inside;
        lines += piece < warp_pieces ? static_cast<unsigned>(__popc(newlines)) : 0;
    }
    return lines;
}

// Returns the end of a line that does not end before `at`: a newline, or the end of the data. Bytes
// beyond the longest valid line are not looked at.
static __device__ __forceinline__ const unsigned char *
line_end(const unsigned char *begin, const unsigned char *at, const unsigned char *limit)
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

// Returns the line that begins in the warp's text at an offset, and in the data at `there`.
static __device__ __forceinline__ text_part line_at(const count_args &args, const warp_text *own,
                                                    unsigned begin, const unsigned char *there)
{
    const unsigned char *const text = reinterpret_cast<const unsigned char *>(own->text);
    unsigned piece = begin / piece_bytes;
    unsigned newlines = own->spaces[piece] & ~0u << begin % piece_bytes;
    while (!newlines && piece < warp_pieces)
        newlines = own->spaces[++piece];
    if (newlines) {
        const unsigned bit = static_cast<unsigned>(__ffs(static_cast<int>(newlines))) - 1;
        return {text + begin, text + piece * piece_bytes + bit};
    }
    const unsigned seen = warp_bytes + piece_bytes - begin;
    return {there, line_end(there, there + seen, args.data + args.len)};
}

// --- the kernels ---

// Counts a line; false if that is for fields_rest to do.
static __device__ __forceinline__ bool count_line(const count_args &args, row_cache &cache,
                                                  const text_part &line)
{
    text_part token;
    double value = __longlong_as_double(0x7ff8000000000000);
    const field_found what = find_field(args.map.field, line, &token);
    if (what == FIELD_EMPTY)
        return true;
    if (what == FIELD_FOUND && !number_of(args.powers, token.begin, token.end, &value))
        return false;
    count_row(cache, args, row_of_number(args, value));
    return true;
}

static __global__ void __launch_bounds__(NUMBERS_BLOCK) fields(count_args args)
{
    DYNAMIC_SHARED(row_cache, cache);
    unsigned char *const texts = reinterpret_cast<unsigned char *>(cache + 1);
    warp_text *const own =
        reinterpret_cast<warp_text *>(texts + threadIdx.x / 32 * sizeof(warp_text));
    const unsigned lane = threadIdx.x % 32;
    const text_span span = span_of(args);
    unsigned newlines = 0;
    open_cache(*cache);
    __syncthreads();

    for (unsigned long long offset = grid_thread() / 32 * warp_bytes; offset < span.end;
         offset += grid_threads() / 32 * warp_bytes) {
        const bool begins = offset == 0 || args.data[offset - span.begin - 1] == '\n';
        newlines += take_lines(span, offset, own);
        __syncwarp();
        const unsigned lines = list_tokens(own, begins ? 1u << 31 : 0);
        __syncwarp();
        for (unsigned i = lane; i < lines; i += 32) {
            const unsigned begin = own->begins[i];
            const unsigned long long there = offset + begin - span.begin;
            if (!count_line(args, *cache, line_at(args, own, begin, args.data + there)))
                put_off(args, there);
        }
        __syncwarp();
    }
    count_lines(args, newlines);
    __syncthreads();
    merge_cache(*cache, args);
}

// Counts what the kernel fields has put off: lines that have a number.
static __global__ void __launch_bounds__(NUMBERS_REST_BLOCK) fields_rest(count_args args)
{
    count_rest(args, [&](const unsigned char *begin, unsigned *scratch, unsigned stride) {
        text_part token = {begin, begin};
        double value;
        find_field(args.map.field, {begin, line_end(begin, begin, args.data + args.len)}, &token);
        return number_of(args.powers, token.begin, token.end, &value)
                   ? value
                   : number_exactly(token.begin, token.end, value, scratch, stride);
    });
}

#endif
