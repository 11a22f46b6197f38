/* SPDX-License-Identifier: MIT */
/* The parts of a line that --line=FORMAT names.
 *
 * A pattern is text and names, as in nginx's log_format. A part ends where the text behind it first
 * begins; between quotes it ends at the first quote that no backslash escapes, which has to begin
 * that text. The last part may have no text behind it, and goes to the end of the line. A line has
 * the pattern, or none of its parts is there; it may go on behind the pattern.
 *
 * Syslog is RFC 3164, also with a time as in RFC 3339, and RFC 5424. In logfmt the names are in the
 * line. A regular expression has them as named groups, and may match anywhere in the line; what
 * takes too much backtracking does not match. These functions define all that; line_format_loop.h
 * finds the same. */
#ifndef GPUHISTO_LINE_FORMAT_H
#define GPUHISTO_LINE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct error;
struct regex;
struct regex_matcher;

#define LINE_PARTS_MAX 32

enum line_kind {
    LINE_PATTERN,
    LINE_SYSLOG,
    LINE_LOGFMT,
    LINE_REGEX,
};

/* A part of a pattern, or of a line of syslog; or a group. */
struct line_piece {
    const char *name; /* of name_len bytes */
    size_t name_len;
    const char *text; /* behind it, of text_len bytes; none: it goes to the end of the line */
    size_t text_len;
    bool is_quoted; /* it stands between quotes */
    unsigned group; /* of the expression; 0: there is none with this name */
};

/* Refers to the text that it was parsed from. */
struct line_format {
    enum line_kind kind;
    const char *lead; /* what a line begins with, of lead_len bytes */
    size_t lead_len;
    unsigned count; /* of pieces; logfmt has none */
    struct line_piece pieces[LINE_PARTS_MAX];
    struct regex *regex; /* NULL before line_format_open */
};

/* What a name stands for. */
struct line_part {
    const struct line_format *format;
    unsigned piece;   /* its index */
    unsigned word;    /* of the request in that piece, from 1; 0: all of the piece */
    const char *name; /* of name_len bytes */
    size_t name_len;
};

/* Where a part is in a line; `from` is NULL if it is missing, as is a group that took no part. */
struct line_span {
    const unsigned char *from, *to;
};

/* The parts of a line. */
struct line_match {
    unsigned count; /* of pieces that were found, from the first one on: all, if the line matches */
    struct line_span spans[LINE_PARTS_MAX];
};

/* Parses the value of --line. 0, or -1 with an error. */
int line_format_parse(const char *text, struct line_format *format, struct error *error);

/* Compiles the expression of a format that is one. Before the sandbox is entered. 0, or an error of
 * regex_open with the error set; line_format_close is due in either case. */
int line_format_open(struct line_format *format, struct error *error);

/* Frees the expression. */
void line_format_close(struct line_format *format);

/* Sets *part to what a name stands for. `option` is --field or --by. 0, or -1 with an error that
 * lists the names there are. */
int line_part_parse(const struct line_format *format, const char *option, const char *name,
                    struct line_part *part, struct error *error);

/* True if quotes around the content of a part do not belong to it. */
static inline bool line_part_has_quotes(const struct line_part *part)
{
    return part->format->kind == LINE_LOGFMT;
}

/* Returns the span of a word of a request [from, to). A request is three words with a space between
 * two. */
struct line_span line_request_word(struct line_span request, unsigned word);

/* Sets the spans of `count` parts of a line [begin, end), which have a format in common: the line
 * is matched once. The matcher is for this format alone. */
void line_parts_find(const struct line_part *const *parts, unsigned count,
                     struct regex_matcher *matcher, const unsigned char *begin,
                     const unsigned char *end, struct line_span *spans);

/* Returns the span of one part. */
struct line_span line_part_find(const struct line_part *part, const unsigned char *begin,
                                const unsigned char *end);

/* Writes the content of a value [from, to) of logfmt: without the quotes around it, its escapes of
 * quotes, backslashes, \n, \r and \t decoded. `text` has room for to - from bytes. Returns the
 * length. */
size_t line_value_text(const unsigned char *from, const unsigned char *to, unsigned char *text);

/* Sets *what to why a part is missing in a line [begin, end). */
void line_part_describe(const struct line_part *part, const unsigned char *begin,
                        const unsigned char *end, struct error *what);

#endif
