/* SPDX-License-Identifier: MIT */
/* Finds the parts of lines. line_format_parse.c reads formats. */
#include "line_format.h"
#include "src/base/error.h"
#include "src/base/show.h"

#include <stdio.h>

/* The pieces of syslog, in the order of line_format_parse. */
enum syslog_piece {
    SYSLOG_TIME,
    SYSLOG_HOST,
    SYSLOG_TAG,
    SYSLOG_PID,
    SYSLOG_MESSAGE,
    SYSLOG_PIECES,
};

/* Returns where a byte is in [at, end), or end. */
static const unsigned char *find_byte(const unsigned char *at, const unsigned char *end,
                                      unsigned char byte)
{
    const unsigned char *found = at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

/* Returns where the quote that ends a quoted text is, or end. */
static const unsigned char *closing_quote(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *quote = find_byte(at, end, '"');
    for (;;) {
        at = find_byte(at, quote, '\\');
        if (at == quote)
            return quote;
        at += end - at < 2 ? 1 : 2;
        if (at > quote)
            quote = find_byte(at, end, '"');
    }
}

/* --- patterns --- */

static bool begins_with(const unsigned char *at, const unsigned char *end, const char *text,
                        size_t len)
{
    return (size_t)(end - at) >= len && memcmp(at, text, len) == 0;
}

/* Returns where a piece that begins at `at` ends, or NULL. */
static const unsigned char *piece_end(const struct line_piece *piece, const unsigned char *at,
                                      const unsigned char *end)
{
    if (piece->text_len == 0)
        return end;
    if (!piece->is_quoted)
        return memmem(at, (size_t)(end - at), piece->text, piece->text_len);
    const unsigned char *quote = closing_quote(at, end);
    return begins_with(quote, end, piece->text, piece->text_len) ? quote : NULL;
}

static bool match_pattern(const struct line_format *format, const unsigned char *begin,
                          const unsigned char *end, struct line_match *match)
{
    match->count = 0;
    if (!begins_with(begin, end, format->lead, format->lead_len))
        return false;
    const unsigned char *at = begin + format->lead_len;
    for (unsigned i = 0; i < format->count; i++) {
        const unsigned char *to = piece_end(&format->pieces[i], at, end);
        if (!to)
            return false;
        match->spans[match->count++] = (struct line_span){at, to};
        at = to + format->pieces[i].text_len;
    }
    return true;
}

/* --- syslog --- */

static bool is_digit(unsigned char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* Returns what follows <PRI>, or `at` if that is not there. */
static const unsigned char *after_priority(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *digit = at + 1;
    if (at == end || *at != '<')
        return at;
    while (digit < end && digit - at <= 3 && is_digit(*digit))
        digit++;
    return digit - at > 1 && digit < end && *digit == '>' ? digit + 1 : at;
}

/* Returns where the time at `at` ends: "Nov  2 10:05:07", or one as in RFC 3339. NULL if there is
 * none with a space behind it. */
static const unsigned char *time_end(const unsigned char *at, const unsigned char *end)
{
    static const char shape[] = "Aaa d0 00:00:00 ", iso[] = "0000-00-00T00:00:00";
    const bool is_iso = at < end && is_digit(*at);
    const char *want = is_iso ? iso : shape;
    for (size_t i = 0; want[i]; i++) {
        const unsigned char c = at + i < end ? at[i] : '\n';
        const bool is_right = want[i] == '0'   ? is_digit(c)
                              : want[i] == 'd' ? is_digit(c) || c == ' '
                              : want[i] == 'A' ? (unsigned char)(c - 'A') < 26
                              : want[i] == 'a' ? (unsigned char)(c - 'a') < 26
                                               : c == (unsigned char)want[i];
        if (!is_right)
            return NULL;
    }
    if (!is_iso)
        return at + 15;
    const unsigned char *blank = find_byte(at, end, ' ');
    return blank < end ? blank : NULL;
}

/* Sets tag, pid and message to those of RFC 3164 from `at` on. A tag has a colon or a pid behind
 * it; other lines are all message. */
static void split_tag(const unsigned char *at, const unsigned char *end, struct line_span *spans)
{
    const unsigned char *tag = at, *pid_end = NULL;
    while (at < end && *at != '[' && *at != ':' && *at != ' ')
        at++;
    const unsigned char *tag_end = at;
    if (at < end && *at == '[') {
        const unsigned char *bracket = find_byte(at, find_byte(at, end, ' '), ']');
        pid_end = bracket < end && *bracket == ']' ? bracket : NULL;
    }
    spans[SYSLOG_MESSAGE] = (struct line_span){tag, end};
    if (tag == tag_end || tag_end == end || (*tag_end != ':' && !pid_end))
        return;
    spans[SYSLOG_TAG] = (struct line_span){tag, tag_end};
    if (pid_end) {
        spans[SYSLOG_PID] = (struct line_span){tag_end + 1, pid_end};
        at = pid_end + 1;
    }
    at += at < end && *at == ':';
    at += at < end && *at == ' ';
    spans[SYSLOG_MESSAGE].from = at;
}

/* Returns what follows the structured data of RFC 5424 at `at`, or NULL if it has no end. */
static const unsigned char *after_structured_data(const unsigned char *at, const unsigned char *end)
{
    if (at < end && *at == '-')
        return at + 1;
    const unsigned char *begin = at;
    while (at < end && *at == '[') {
        while (at < end && *at != ']') {
            at = *at == '"' ? closing_quote(at + 1, end) : at;
            at += at < end;
        }
        if (at == end)
            return NULL;
        at++;
    }
    return at > begin ? at : NULL;
}

/* Sets tag, pid and message to those of RFC 5424 from the name of the application on. */
static bool split_rfc5424(const unsigned char *at, const unsigned char *end,
                          struct line_span *spans)
{
    struct line_span words[3]; /* application, process, kind of message */
    for (unsigned i = 0; i < 3; i++) {
        words[i] = (struct line_span){at, find_byte(at, end, ' ')};
        if (words[i].to == end)
            return false;
        at = words[i].to + 1;
        if (words[i].to - words[i].from == 1 && *words[i].from == '-')
            words[i].from = NULL;
    }
    at = after_structured_data(at, end);
    if (!at || (at < end && *at != ' '))
        return false;
    at += at < end;
    at += begins_with(at, end, "\xef\xbb\xbf", 3) ? 3 : 0;
    spans[SYSLOG_TAG] = words[0];
    spans[SYSLOG_PID] = words[1];
    spans[SYSLOG_MESSAGE] = (struct line_span){at, end};
    return true;
}

static bool match_syslog(const unsigned char *begin, const unsigned char *end,
                         struct line_match *match)
{
    const unsigned char *at = after_priority(begin, end);
    const bool is_rfc5424 = at > begin && begins_with(at, end, "1 ", 2);
    at += is_rfc5424 ? 2 : 0;
    const unsigned char *to = time_end(at, end);
    *match = (struct line_match){.count = SYSLOG_TIME};
    if (!to)
        return false;
    match->spans[match->count++] = (struct line_span){at, to};
    at = to + 1;
    to = find_byte(at, end, ' ');
    if (to == end)
        return false;
    match->spans[match->count++] = (struct line_span){at, to};
    if (!is_rfc5424)
        split_tag(to + 1, end, match->spans);
    else if (!split_rfc5424(to + 1, end, match->spans))
        return false;
    match->count = SYSLOG_PIECES;
    return true;
}

/* --- expressions --- */

static bool match_expression(const struct line_format *format, struct regex_matcher *matcher,
                             const unsigned char *begin, const unsigned char *end,
                             struct line_match *match)
{
    unsigned groups[LINE_PARTS_MAX];
    for (unsigned i = 0; i < format->count; i++)
        groups[i] = format->pieces[i].group;
    match->count = 0;
    return regex_match_groups(format->regex, matcher, begin, (size_t)(end - begin), groups,
                              format->count, match->spans) == REGEX_FOUND;
}

/* Finds the parts of a line [begin, end), not of logfmt. False if it does not match; then
 * match->count is the index of the piece that is missing, or whose end is. */
static bool match_line(const struct line_format *format, struct regex_matcher *matcher,
                       const unsigned char *begin, const unsigned char *end,
                       struct line_match *match)
{
    return format->kind == LINE_REGEX    ? match_expression(format, matcher, begin, end, match)
           : format->kind == LINE_SYSLOG ? match_syslog(begin, end, match)
                                         : match_pattern(format, begin, end, match);
}

struct line_span line_request_word(struct line_span request, unsigned word)
{
    const struct line_span none = {NULL, NULL};
    if (!request.from)
        return none;
    const unsigned char *first = find_byte(request.from, request.to, ' ');
    const unsigned char *second =
        first < request.to ? find_byte(first + 1, request.to, ' ') : first;
    if (first == request.from || second <= first + 1 || second >= request.to - 1 ||
        find_byte(second + 1, request.to, ' ') < request.to)
        return none;
    return word == 1   ? (struct line_span){request.from, first}
           : word == 2 ? (struct line_span){first + 1, second}
                       : (struct line_span){second + 1, request.to};
}

/* --- logfmt --- */

/* Returns where the word of logfmt at `at` ends: before white space or a control. */
static const unsigned char *word_end(const unsigned char *at, const unsigned char *end)
{
    while (at<end && * at> ' ')
        at++;
    return at;
}

/* Finds values. A quote that is never closed hides what follows it. */
static void find_values(const struct line_part *const *parts, unsigned count,
                        const unsigned char *at, const unsigned char *end, struct line_span *spans)
{
    for (unsigned found = 0; found < count; at = word_end(at, end)) {
        while (at < end && *at <= ' ')
            at++;
        const unsigned char *key = at;
        while (at<end && * at> ' ' && *at != '=')
            at++;
        if (at == end)
            return;
        if (*at != '=')
            continue;
        const size_t len = (size_t)(at - key);
        const unsigned char *from = ++at;
        if (at < end && *at == '"') {
            at = closing_quote(at + 1, end);
            if (at == end)
                return;
            at++;
        } else {
            at = word_end(at, end);
        }
        for (unsigned i = 0; i < count; i++)
            if (!spans[i].from && len == parts[i]->name_len &&
                memcmp(key, parts[i]->name, len) == 0) {
                spans[i] = (struct line_span){from, at};
                found++;
            }
    }
}

size_t line_value_text(const unsigned char *from, const unsigned char *to, unsigned char *text)
{
    static const char escapes[] = "\"\\nrt", meanings[] = "\"\\\n\r\t";
    const bool is_quoted = to - from >= 2 && *from == '"';
    size_t len = 0;
    from += is_quoted;
    to -= is_quoted;
    while (from < to) {
        const char *escape = is_quoted && *from == '\\' && to - from > 1 && from[1]
                                 ? strchr(escapes, from[1])
                                 : NULL;
        text[len++] = escape ? (unsigned char)meanings[escape - escapes] : *from;
        from += escape ? 2 : 1;
    }
    return len;
}

/* --- parts --- */

void line_parts_find(const struct line_part *const *parts, unsigned count,
                     struct regex_matcher *matcher, const unsigned char *begin,
                     const unsigned char *end, struct line_span *spans)
{
    struct line_match match;
    memset(spans, 0, count * sizeof spans[0]);
    if (parts[0]->format->kind == LINE_LOGFMT) {
        find_values(parts, count, begin, end, spans);
        return;
    }
    if (!match_line(parts[0]->format, matcher, begin, end, &match))
        return;
    for (unsigned i = 0; i < count; i++) {
        const struct line_span span = match.spans[parts[i]->piece];
        spans[i] = parts[i]->word > 0 ? line_request_word(span, parts[i]->word) : span;
    }
}

struct line_span line_part_find(const struct line_part *part, const unsigned char *begin,
                                const unsigned char *end)
{
    struct regex_matcher matcher = {.data = NULL};
    struct line_span span;
    line_parts_find(&part, 1, &matcher, begin, end, &span);
    regex_matcher_close(&matcher);
    return span;
}

/* Shows a text of a line or a format, shortened. */
#define SHOWN 40
#define SHOWN_SIZE (4 * SHOWN + 4)
static void show_short(const char *text, size_t len, char shown[SHOWN_SIZE])
{
    const size_t length = show_text(text, len < SHOWN ? len : SHOWN, shown, SHOWN_SIZE);
    if (len > SHOWN)
        memcpy(shown + length, "...", sizeof "...");
}

/* Sets *what to where a line stops matching. */
static void describe_mismatch(const struct line_format *format, const unsigned char *begin,
                              const unsigned char *end, unsigned piece, struct error *what)
{
    char shown[SHOWN_SIZE];
    const struct line_piece *missing = &format->pieces[piece];
    const int name_len = (int)missing->name_len;
    if (format->kind == LINE_REGEX) {
        struct regex_matcher matcher = {.data = NULL};
        const bool is_undecided =
            regex_match(format->regex, &matcher, begin, (size_t)(end - begin)) == REGEX_UNDECIDED;
        error_set(what, "%s", is_undecided ? regex_describe(&matcher) : "does not match --line");
        regex_matcher_close(&matcher);
    } else if (format->kind == LINE_SYSLOG) {
        error_set(what, "not a line of syslog, as there is no %.*s", name_len, missing->name);
    } else if (piece == 0 && !begins_with(begin, end, format->lead, format->lead_len)) {
        show_short(format->lead, format->lead_len, shown);
        error_set(what, "does not match --line, as it does not begin with '%s'", shown);
    } else {
        show_short(missing->text, missing->text_len, shown);
        error_set(what, "does not match --line, as no '%s' follows $%.*s", shown, name_len,
                  missing->name);
    }
}

void line_part_describe(const struct line_part *part, const unsigned char *begin,
                        const unsigned char *end, struct error *what)
{
    struct regex_matcher matcher = {.data = NULL};
    struct line_match match;
    char shown[SHOWN_SIZE];
    end -= begin < end && end[-1] == '\r';
    if (part->format->kind == LINE_LOGFMT) {
        show_short(part->name, part->name_len, shown);
        error_set(what, "no %s=", shown);
    } else if (!match_line(part->format, &matcher, begin, end, &match)) {
        describe_mismatch(part->format, begin, end, match.count, what);
    } else if (part->word > 0 && match.spans[part->piece].from) {
        const struct line_span request = match.spans[part->piece];
        show_short((const char *)request.from, (size_t)(request.to - request.from), shown);
        error_set(what, "no %.*s, as the request is '%s'", (int)part->name_len, part->name, shown);
    } else {
        error_set(what, "no %.*s", (int)part->name_len, part->name);
    }
    regex_matcher_close(&matcher);
}
