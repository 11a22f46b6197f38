/* SPDX-License-Identifier: MIT */
/* Reads the value of --line, and names of parts. */
#include "line_format.h"
#include "src/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define COMBINED_PIECES                                                                            \
    "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent"

static const char presets[] = "common, combined, syslog or logfmt";

/* The words of a request, in their order. */
static const char *const request_words[] = {"method", "path", "protocol"};
#define REQUEST_WORDS (sizeof request_words / sizeof request_words[0])

static bool is_same(const char *name, size_t len, const char *other)
{
    return strlen(other) == len && memcmp(name, other, len) == 0;
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* --- formats --- */

/* Reads $name or ${name} at *at, which is a '$', and moves *at behind it. False: it is neither. */
static bool read_name(const char **at, struct line_piece *piece)
{
    const bool has_braces = (*at)[1] == '{';
    const char *name = *at + 1 + has_braces, *end = name;
    while (is_of_name(*end) && !(end == name && *end >= '0' && *end <= '9'))
        end++;
    *piece = (struct line_piece){.name = name, .name_len = (size_t)(end - name)};
    *at = end + has_braces;
    return end > name && (!has_braces || *end == '}');
}

static bool has_piece(const struct line_format *format, const char *name, size_t len)
{
    for (unsigned i = 0; i < format->count; i++)
        if (format->pieces[i].name_len == len && memcmp(format->pieces[i].name, name, len) == 0)
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

/* Refuses a piece that cannot follow those before it. */
static int check_name(const char *text, const struct line_format *format,
                      const struct line_piece *piece, struct error *error)
{
    const struct line_piece *before = format->count > 0 ? &format->pieces[format->count - 1] : NULL;
    if (before && before->text_len == 0)
        return error_of_option(
            error, "--line", text, "no text between $%.*s and $%.*s ends the first",
            (int)before->name_len, before->name, (int)piece->name_len, piece->name);
    if (has_piece(format, piece->name, piece->name_len))
        return error_of_option(error, "--line", text, "$%.*s stands twice; use another name",
                               (int)piece->name_len, piece->name);
    if (format->count == LINE_PARTS_MAX)
        return error_of_option(error, "--line", text, "there may be at most %d names",
                               LINE_PARTS_MAX);
    return 0;
}

static int parse_pattern(const char *text, struct line_format *format, struct error *error)
{
    const char *at = text + strcspn(text, "$");
    bool is_quoted = at > text && at[-1] == '"';
    *format = (struct line_format){.lead = text, .lead_len = (size_t)(at - text)};
    while (*at) {
        struct line_piece piece;
        if (!read_name(&at, &piece))
            return error_of_option(error, "--line", text,
                                   "a name must follow each $, as in $status or ${status}");
        piece.text = at;
        piece.text_len = strcspn(at, "$");
        piece.is_quoted = is_quoted && *at == '"';
        at += piece.text_len;
        is_quoted = at[-1] == '"';
        if (check_name(text, format, &piece, error) != 0)
            return -1;
        format->pieces[format->count++] = piece;
    }
    return format->count > 0 ? 0 : refuse_text(text, error);
}

/* Names the parts of syslog. */
static void set_syslog(struct line_format *format)
{
    static const char *const names[] = {"time", "host", "tag", "pid", "message"};
    *format = (struct line_format){.kind = LINE_SYSLOG, .lead = ""};
    for (; format->count < sizeof names / sizeof names[0]; format->count++)
        format->pieces[format->count] = (struct line_piece){
            .name = names[format->count], .name_len = strlen(names[format->count]), .text = ""};
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
    static const char common[] = COMBINED_PIECES;
    static const char combined[] = COMBINED_PIECES " \"$http_referer\" \"$http_user_agent\"";
    const size_t len = strlen(text);
    *format = (struct line_format){.kind = LINE_LOGFMT, .lead = ""};
    if (strcmp(text, "logfmt") == 0)
        return 0;
    if (strcmp(text, "syslog") == 0) {
        set_syslog(format);
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

/* Appends a name to the list, as far as there is room. */
static void list_name(const char *name, size_t len, char *list, size_t size)
{
    const size_t used = strlen(list);
    snprintf(list + used, size - used, "%s%.*s", used > 0 ? ", " : "", (int)len, name);
}

/* Lists the names of a format, with the words of its request that are no names of its own. */
static void list_names(const struct line_format *format, char *list, size_t size)
{
    *list = '\0';
    for (unsigned i = 0; i < format->count; i++) {
        const struct line_piece *piece = &format->pieces[i];
        list_name(piece->name, piece->name_len, list, size);
        for (unsigned k = 0; k < REQUEST_WORDS; k++)
            if (is_same(piece->name, piece->name_len, "request") &&
                !has_piece(format, request_words[k], strlen(request_words[k])))
                list_name(request_words[k], strlen(request_words[k]), list, size);
    }
}

/* Refuses a name that cannot stand before an equals sign of logfmt, and the number of a field. */
static int check_key(const char *option, const char *name, struct error *error)
{
    bool is_name = name[strspn(name, "-0123456789")] != '\0';
    for (const char *at = name; *at; at++)
        is_name &= (unsigned char)*at > ' ' && *at != '=';
    return is_name ? 0
                   : error_of_option(error, option, name,
                                     "must be a name that stands before an = in logfmt, as in "
                                     "%s=level",
                                     option);
}

int line_part_parse(const struct line_format *format, const char *option, const char *name,
                    struct line_part *part, struct error *error)
{
    char list[600];
    *part = (struct line_part){.format = format, .name = name, .name_len = strlen(name)};
    if (format->kind == LINE_LOGFMT)
        return check_key(option, name, error);
    for (; part->piece < format->count; part->piece++)
        if (is_same(format->pieces[part->piece].name, format->pieces[part->piece].name_len, name))
            return 0;
    for (part->piece = 0; part->piece < format->count; part->piece++) {
        const struct line_piece *piece = &format->pieces[part->piece];
        for (part->word = 1; part->word <= REQUEST_WORDS; part->word++)
            if (is_same(piece->name, piece->name_len, "request") &&
                strcmp(name, request_words[part->word - 1]) == 0)
                return 0;
    }
    list_names(format, list, sizeof list);
    return error_of_option(error, option, name, "--line has no such name; it has %s", list);
}
