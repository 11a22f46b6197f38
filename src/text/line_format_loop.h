/* SPDX-License-Identifier: MIT */
/* Parts of lines that --line names, by masks of 64 bytes: a pass over a line finds all of them and
 * its newline, for the number and the key. A part of a parser's file, after lines_loop.h. Where 64
 * bytes cannot be read, line_format.h finds them; also in syslog and in logfmt, whose short names
 * and values gain nothing by masks. */
#ifndef GPUHISTO_LINE_FORMAT_LOOP_H
#define GPUHISTO_LINE_FORMAT_LOOP_H

#include "lines_loop.h"
#include "line_format.h"

/* What stands where a piece should end. */
enum piece_stop {
    STOP_TEXT,     /* the text behind it, at *at */
    STOP_MISMATCH, /* that text is not in the line, which goes on at *at */
    STOP_LIMIT,    /* the limit is near */
};

/* True if the text behind a piece is at `at`, where its first byte is. Such a text has two or three
 * bytes, for which a call would take longer. */
INLINE bool has_text(const struct line_piece *piece, const unsigned char *at)
{
    size_t i = 1;
    while (i < piece->text_len && at[i] == (unsigned char)piece->text[i])
        i++;
    return i == piece->text_len;
}

/* Moves *at from the beginning of a piece between quotes to the quote that ends it. */
TARGET INLINE enum piece_stop stop_at_quote(const struct line_piece *piece,
                                            const unsigned char **at, const unsigned char *limit)
{
    const ptrdiff_t needed = WINDOW + (ptrdiff_t)piece->text_len;
    while (limit - *at >= needed) {
        const uint64_t newlines = bytes_equal(*at, '\n'), quotes = bytes_equal(*at, '"');
        const uint64_t before = below_first(newlines | quotes);
        const uint64_t backslashes = bytes_equal(*at, '\\') & before;
        if (backslashes) {
            const unsigned char *escaped = *at + first_bit(backslashes) + 1;
            *at = escaped + (*escaped != '\n');
            continue;
        }
        if (!(newlines | quotes)) {
            *at += WINDOW;
            continue;
        }
        *at += first_bit(newlines | quotes);
        return **at == '"' && has_text(piece, *at) ? STOP_TEXT : STOP_MISMATCH;
    }
    return STOP_LIMIT;
}

/* Moves *at from the beginning of a piece to the text behind it. */
TARGET INLINE enum piece_stop stop_at_text(const struct line_piece *piece, const unsigned char **at,
                                           const unsigned char *limit)
{
    const size_t len = piece->text_len, back = len - 1;
    const unsigned char first = (unsigned char)piece->text[0];
    const unsigned char last = (unsigned char)piece->text[back];
    for (; limit - *at >= (ptrdiff_t)(WINDOW + len); *at += WINDOW) {
        const uint64_t newlines = bytes_equal(*at, '\n');
        uint64_t candidates = bytes_equal(*at, first) & below_first(newlines);
        if (back > 0)
            candidates &= bytes_equal(*at + back, last);
        for (; candidates; candidates &= candidates - 1) {
            const unsigned char *text = *at + first_bit(candidates);
            if (has_text(piece, text)) {
                *at = text;
                return STOP_TEXT;
            }
        }
        if (newlines) {
            *at += first_bit(newlines);
            return STOP_MISMATCH;
        }
    }
    return STOP_LIMIT;
}

/* Finds the parts of the line at text->at, and sets *newline. match->count is 0 if it does not
 * match. False if the limit is near. */
TARGET INLINE bool match_quickly(const struct line_format *format, const struct record_text *text,
                                 struct line_match *match, const unsigned char **newline)
{
    const unsigned char *at = text->at, *limit = text->limit;
    const struct line_piece *piece = format->pieces, *end = piece + format->count;
    struct line_span *span = match->spans;
    match->count = 0;
    if (limit - at < (ptrdiff_t)format->lead_len)
        return false;
    const bool begins = memcmp(at, format->lead, format->lead_len) == 0;
    at += begins ? format->lead_len : 0;
    for (; begins && piece < end && piece->text_len > 0; piece++, span++) {
        span->from = at;
        const enum piece_stop stop =
            piece->is_quoted ? stop_at_quote(piece, &at, limit) : stop_at_text(piece, &at, limit);
        if (stop == STOP_LIMIT)
            return false;
        if (stop == STOP_MISMATCH)
            break;
        span->to = at;
        at += piece->text_len;
    }
    *newline = find_newline(at, limit);
    if (!*newline)
        return false;
    if (piece < end && piece->text_len == 0)
        *span = (struct line_span){at, text_end(at, *newline)};
    match->count = begins && (piece == end || piece->text_len == 0) ? format->count : 0;
    return true;
}

/* As line_request_word, of a request before the limit. */
TARGET INLINE struct line_span quick_word(struct line_span request, unsigned word,
                                          const unsigned char *limit)
{
    const size_t len = (size_t)(request.to - request.from);
    if (!request.from || len >= WINDOW || limit - request.from < WINDOW)
        return line_request_word(request, word);
    const uint64_t blanks = bytes_equal(request.from, ' ') & ((UINT64_C(1) << len) - 1);
    const uint64_t last = blanks & (blanks - 1);
    if (!last || (last & (last - 1)))
        return (struct line_span){NULL, NULL};
    const unsigned char *first = request.from + first_bit(blanks);
    const unsigned char *second = request.from + first_bit(last);
    if (first == request.from || second == first + 1 || second == request.to - 1)
        return (struct line_span){NULL, NULL};
    return word == 1   ? (struct line_span){request.from, first}
           : word == 2 ? (struct line_span){first + 1, second}
                       : (struct line_span){second + 1, request.to};
}

/* Finds the parts of one or two fields, which have a format in common, in the line at rest->at. */
TARGET INLINE void find_parts(const struct field *const *fields, unsigned count,
                              const struct record_text *rest, struct regex_matcher *matcher,
                              struct found_line *lines)
{
    const struct line_part *parts[FIELDS_AT_ONCE];
    const struct line_format *format = fields[0]->part.format;
    struct line_span spans[FIELDS_AT_ONCE] = {{NULL, NULL}};
    const unsigned char *newline;
    struct line_match match;
    for (unsigned i = 0; i < count; i++)
        parts[i] = &fields[i]->part;
    if (format->kind != LINE_PATTERN || !match_quickly(format, rest, &match, &newline)) {
        newline = field_record_end(fields[0], rest->at, rest->limit);
        if ((size_t)(newline - rest->at) <= FIELD_RECORD_MAX)
            line_parts_find(parts, count, matcher, rest->at, text_end(rest->at, newline), spans);
    } else if (match.count > 0) {
        for (unsigned i = 0; i < count; i++) {
            spans[i] = match.spans[parts[i]->piece];
            if (parts[i]->word > 0)
                spans[i] = quick_word(spans[i], parts[i]->word, rest->limit);
        }
    }
    for (unsigned i = 0; i < count; i++)
        found(&lines[i], rest->at, spans[i].from, spans[i].to, newline);
}

#endif
