/* SPDX-License-Identifier: MIT */
/* Finds the parts of lines; reads formats and the names of parts. */
#include "line_format.h"
#include "number.h"
#include "regex.h"
#include "src/base/byte_masks.h"
#include "src/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* The pieces of syslog, in the order of line_format_parse. */
enum syslog_piece {
    SYSLOG_TIME,
    SYSLOG_HOST,
    SYSLOG_TAG,
    SYSLOG_PID,
    SYSLOG_MESSAGE,
    SYSLOG_PIECES,
};

/* Returns where the quote that ends a quoted text is, or end. */
static const unsigned char *closing_quote(const unsigned char *at, const unsigned char *end)
{
    const unsigned char *quote = byte_find(at, end, '"');
    for (;;) {
        at = byte_find(at, quote, '\\');
        if (at == quote)
            return quote;
        at += end - at < 2 ? 1 : 2;
        if (at > quote)
            quote = byte_find(at, end, '"');
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

/* Returns where the time at `at` ends: "Nov  2 10:05:07", or one as in RFC 3339. NULL if there is
 * none with a space behind it. */
static const unsigned char *time_end(const unsigned char *at, const unsigned char *end)
{
    static const char shape[] = "Aaa d0 00:00:00 ", iso[] = "0000-00-00T00:00:00";
    const bool is_iso = at < end && number_is_digit(*at);
    const char *want = is_iso ? iso : shape;
    for (size_t i = 0; want[i]; i++) {
        const unsigned char c = at + i < end ? at[i] : '\n';
        const bool is_right = want[i] == '0'   ? number_is_digit(c)
                              : want[i] == 'd' ? number_is_digit(c) || c == ' '
                              : want[i] == 'A' ? (unsigned char)(c - 'A') < 26
                              : want[i] == 'a' ? (unsigned char)(c - 'a') < 26
                                               : c == (unsigned char)want[i];
        if (!is_right)
            return NULL;
    }
    if (!is_iso)
        return at + 15;
    const unsigned char *blank = byte_find(at, end, ' ');
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
        const unsigned char *bracket = byte_find(at, byte_find(at, end, ' '), ']');
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
        words[i] = (struct line_span){at, byte_find(at, end, ' ')};
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
    const unsigned char *at = begin, *digit = begin + 1;
    while (begin < end && *begin == '<' && digit < end && digit - begin <= 3 &&
           number_is_digit(*digit))
        digit++;
    if (begin < end && *begin == '<' && digit - begin > 1 && digit < end && *digit == '>')
        at = digit + 1; /* what follows <PRI> */
    const bool is_rfc5424 = at > begin && begins_with(at, end, "1 ", 2);
    at += is_rfc5424 ? 2 : 0;
    const unsigned char *to = time_end(at, end);
    *match = (struct line_match){.count = SYSLOG_TIME};
    if (!to)
        return false;
    match->spans[match->count++] = (struct line_span){at, to};
    at = to + 1;
    to = byte_find(at, end, ' ');
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

/* --- lines --- */

/* Finds the parts of a line [begin, end), not of logfmt. False if it does not match; then
 * match->count is the index of the piece that is missing, or whose end is. */
static bool match_line(const struct line_format *format, struct regex_matcher *matcher,
                       const unsigned char *begin, const unsigned char *end,
                       struct line_match *match)
{
    unsigned groups[LINE_PARTS_MAX];
    if (format->kind != LINE_REGEX)
        return format->kind == LINE_SYSLOG ? match_syslog(begin, end, match)
                                           : match_pattern(format, begin, end, match);
    for (unsigned i = 0; i < format->count; i++)
        groups[i] = format->pieces[i].group;
    match->count = 0;
    return regex_match_groups(format->regex, matcher, begin, (size_t)(end - begin), groups,
                              format->count, match->spans) == REGEX_FOUND;
}

struct line_span line_request_word(struct line_span request, unsigned word)
{
    const struct line_span none = {NULL, NULL};
    if (!request.from)
        return none;
    const unsigned char *first = byte_find(request.from, request.to, ' ');
    const unsigned char *second =
        first < request.to ? byte_find(first + 1, request.to, ' ') : first;
    if (first == request.from || second <= first + 1 || second >= request.to - 1 ||
        byte_find(second + 1, request.to, ' ') < request.to)
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
        const struct line_format *format = part->format;
        const struct line_piece *missing = &format->pieces[match.count];
        const int name_len = (int)missing->name_len;
        if (format->kind == LINE_REGEX) {
            struct regex_matcher again = {.data = NULL};
            const bool is_undecided =
                regex_match(format->regex, &again, begin, (size_t)(end - begin)) == REGEX_UNDECIDED;
            error_set(what, "%s", is_undecided ? regex_describe(&again) : "does not match --line");
            regex_matcher_close(&again);
        } else if (format->kind == LINE_SYSLOG) {
            error_set(what, "not a line of syslog, as there is no %.*s", name_len, missing->name);
        } else if (match.count == 0 && !begins_with(begin, end, format->lead, format->lead_len)) {
            show_short(format->lead, format->lead_len, shown);
            error_set(what, "does not match --line, as it does not begin with '%s'", shown);
        } else {
            show_short(missing->text, missing->text_len, shown);
            error_set(what, "does not match --line, as no '%s' follows $%.*s", shown, name_len,
                      missing->name);
        }
    } else if (part->word > 0 && match.spans[part->piece].from) {
        const struct line_span request = match.spans[part->piece];
        show_short((const char *)request.from, (size_t)(request.to - request.from), shown);
        error_set(what, "no %.*s, as the request is '%s'", (int)part->name_len, part->name, shown);
    } else {
        error_set(what, "no %.*s", (int)part->name_len, part->name);
    }
    regex_matcher_close(&matcher);
}

/* --- formats, and names of parts --- */

#define COMBINED_PIECES                                                                            \
    "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent"

static const char presets[] = "common, combined, syslog or logfmt";

static const char *const request_words[] = {"method", "path", "protocol"};
#define REQUEST_WORDS (sizeof request_words / sizeof request_words[0])

static bool is_same(const struct line_piece *piece, const char *name, size_t len)
{
    return piece->name_len == len && memcmp(piece->name, name, len) == 0;
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool has_piece(const struct line_format *format, const char *name, size_t len)
{
    for (unsigned i = 0; i < format->count; i++)
        if (is_same(&format->pieces[i], name, len))
            return true;
    return false;
}

/* Refuses a format without names; Apache's directives are named, as many people know them. */
static int refuse_text(const char *text, struct error *error)
{
    static const char combined[] = "{referer}";
    const size_t len = strlen(text);
    bool is_combined = false;
    for (size_t i = 0; i + sizeof combined - 1 <= len; i++)
        is_combined |= strncasecmp(text + i, combined, sizeof combined - 1) == 0;
    if (strstr(text, "%h") || strstr(text, "%>s") || strstr(text, "%r") || is_combined)
        return error_of_option(error, "--line", text,
                               "a format of Apache's; use --line=%s, or write $remote_addr for %%h",
                               is_combined ? "combined" : "common");
    return error_of_option(error, "--line", text,
                           "must be %s, or text with the $names of its parts, as in "
                           "--line='$time $level $message'",
                           presets);
}

static int parse_pattern(const char *text, struct line_format *format, struct error *error)
{
    const char *at = text + strcspn(text, "$");
    bool is_quoted = at > text && at[-1] == '"';
    *format = (struct line_format){.lead = text, .lead_len = (size_t)(at - text)};
    for (struct line_piece *piece = format->pieces; *at; piece++, format->count++) {
        const bool has_braces = at[1] == '{';
        const char *name = at + 1 + has_braces, *end = name;
        while (is_of_name(*end) && !(end == name && *end >= '0' && *end <= '9'))
            end++;
        const int len = (int)(end - name);
        if (len == 0 || (has_braces && *end != '}'))
            return error_of_option(error, "--line", text,
                                   "a name must follow each $, as in $status or ${status}");
        if (format->count > 0 && piece[-1].text_len == 0)
            return error_of_option(error, "--line", text,
                                   "no text between $%.*s and $%.*s ends the first",
                                   (int)piece[-1].name_len, piece[-1].name, len, name);
        if (has_piece(format, name, (size_t)len))
            return error_of_option(error, "--line", text, "$%.*s stands twice; use another name",
                                   len, name);
        if (format->count == LINE_PARTS_MAX)
            return error_of_option(error, "--line", text, "there may be at most %d names",
                                   LINE_PARTS_MAX);
        at = end + has_braces;
        *piece = (struct line_piece){.name = name,
                                     .name_len = (size_t)len,
                                     .text = at,
                                     .text_len = strcspn(at, "$"),
                                     .is_quoted = is_quoted && *at == '"'};
        at += piece->text_len;
        is_quoted = at[-1] == '"';
    }
    return format->count > 0 ? 0 : refuse_text(text, error);
}

/* Lists the named groups of an expression, /REGEX/: what looks like one, which line_format_open
 * then looks up. */
static int parse_expression(const char *text, struct line_format *format, struct error *error)
{
    *format = (struct line_format){.kind = LINE_REGEX, .lead = text, .lead_len = strlen(text)};
    for (const char *at = text; (at = strstr(at, "(?")) != NULL;) {
        bool is_escaped = false;
        for (const char *before = at; before > text && before[-1] == '\\'; before--)
            is_escaped = !is_escaped;
        at += 2;
        if (is_escaped)
            continue;
        const bool has_p = *at == 'P';
        if (at[has_p] != '<' && (has_p || *at != '\''))
            continue;
        const char *name = at + has_p + 1, *end = name;
        while (is_of_name(*end))
            end++;
        at = end;
        if (end == name || (*end != '>' && *end != '\''))
            continue;
        if (format->count == LINE_PARTS_MAX)
            return error_of_option(error, "--line", text, "may have at most %d names",
                                   LINE_PARTS_MAX);
        format->pieces[format->count++] =
            (struct line_piece){.name = name, .name_len = (size_t)(end - name), .text = ""};
    }
    return format->count > 0 ? 0
                             : error_of_option(error, "--line", text,
                                               "has no named group, such as (?<status>[0-9]+)");
}

static int fail_to_open(const struct line_format *format, int rc, struct error *error)
{
    const struct error why = *error;
    error_of_option(error, "--line", format->lead, "%s", why.text);
    return rc;
}

int line_format_open(struct line_format *format, struct error *error)
{
    if (format->kind != LINE_REGEX)
        return 0;
    char *pattern = strndup(format->lead + 1, format->lead_len - 2);
    if (!pattern) {
        error_set(error, "out of memory");
        return fail_to_open(format, REGEX_FAILED, error);
    }
    const int rc = regex_open(&format->regex, pattern, error);
    free(pattern);
    if (rc != 0)
        return fail_to_open(format, rc, error);
    for (unsigned i = 0; i < format->count; i++) {
        struct line_piece *piece = &format->pieces[i];
        char name[64];
        if (piece->name_len < sizeof name) { /* PCRE2 takes 32 bytes */
            memcpy(name, piece->name, piece->name_len);
            name[piece->name_len] = '\0';
            piece->group = regex_group(format->regex, name);
        }
        if (piece->group == 0) {
            error_set(error, "%.*s must be the name of one group", (int)piece->name_len,
                      piece->name);
            return fail_to_open(format, REGEX_WRONG, error);
        }
    }
    return 0;
}

void line_format_close(struct line_format *format)
{
    regex_close(format->regex);
    format->regex = NULL;
}

int line_format_parse(const char *text, struct line_format *format, struct error *error)
{
    static const char *const syslog[] = {"time", "host", "tag", "pid", "message"};
    static const char common[] = COMBINED_PIECES;
    static const char combined[] = COMBINED_PIECES " \"$http_referer\" \"$http_user_agent\"";
    const size_t len = strlen(text);
    *format = (struct line_format){.kind = LINE_LOGFMT, .lead = ""};
    if (strcmp(text, "logfmt") == 0)
        return 0;
    if (strcmp(text, "syslog") == 0) {
        format->kind = LINE_SYSLOG;
        for (; format->count < SYSLOG_PIECES; format->count++)
            format->pieces[format->count] =
                (struct line_piece){.name = syslog[format->count],
                                    .name_len = strlen(syslog[format->count]),
                                    .text = ""};
        return 0;
    }
    if (strcmp(text, "common") == 0)
        return parse_pattern(common, format, error);
    if (strcmp(text, "combined") == 0)
        return parse_pattern(combined, format, error);
    if (len >= 2 && *text == '/' && text[len - 1] == '/')
        return parse_expression(text, format, error);
    if (strpbrk(text, "\r\n"))
        return error_of_option(error, "--line", text, "must be one line");
    return parse_pattern(text, format, error);
}

/* --- names --- */

int line_part_parse(const struct line_format *format, const char *option, const char *name,
                    struct line_part *part, struct error *error)
{
    char list[600] = "";
    size_t used = 0;
    *part = (struct line_part){.format = format, .name = name, .name_len = strlen(name)};
    if (format->kind == LINE_LOGFMT) { /* the number of a field is no name */
        const size_t before = strcspn(name, "="), numeric = strspn(name, "-0123456789");
        bool is_name = name[before] == '\0' && name[numeric] != '\0';
        for (size_t i = 0; i < before; i++)
            is_name &= (unsigned char)name[i] > ' ';
        return is_name ? 0
                       : error_of_option(error, option, name,
                                         "must be a name that stands before an = in logfmt, as in "
                                         "%s=level",
                                         option);
    }
    for (; part->piece < format->count; part->piece++)
        if (is_same(&format->pieces[part->piece], name, part->name_len))
            return 0;
    /* The words of a request are listed, too, unless they are names of their own. */
    for (part->piece = 0; part->piece < format->count; part->piece++) {
        const struct line_piece *piece = &format->pieces[part->piece];
        const bool is_request = is_same(piece, "request", strlen("request"));
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", used > 0 ? ", " : "",
                                 (int)piece->name_len, piece->name);
        used = used < sizeof list ? used : sizeof list - 1;
        for (part->word = 1; is_request && part->word <= REQUEST_WORDS; part->word++) {
            const char *word = request_words[part->word - 1];
            if (strcmp(name, word) == 0)
                return 0;
            if (has_piece(format, word, strlen(word)))
                continue;
            used += (size_t)snprintf(list + used, sizeof list - used, ", %s", word);
            used = used < sizeof list ? used : sizeof list - 1;
        }
    }
    return error_of_option(error, option, name, "--line has no such name; it has %s", list);
}
