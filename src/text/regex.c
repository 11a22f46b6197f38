/* SPDX-License-Identifier: MIT */
/* Regular expressions, by libpcre2-8 in builds with it. */
#include "regex.h"
#include "line_format.h"
#include "src/base/error.h"

#if HAVE_PCRE2
#include "src/base/library.h"

#include <ctype.h>
#include <pcre2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CALLS(CALL)                                                                                \
    CALL(pcre2_compile_8)                                                                          \
    CALL(pcre2_compile_context_create_8)                                                           \
    CALL(pcre2_compile_context_free_8)                                                             \
    CALL(pcre2_set_newline_8)                                                                      \
    CALL(pcre2_pattern_info_8)                                                                     \
    CALL(pcre2_jit_compile_8)                                                                      \
    CALL(pcre2_code_free_8)                                                                        \
    CALL(pcre2_get_error_message_8)                                                                \
    CALL(pcre2_match_context_create_8)                                                             \
    CALL(pcre2_match_context_free_8)                                                               \
    CALL(pcre2_set_match_limit_8)                                                                  \
    CALL(pcre2_set_depth_limit_8)                                                                  \
    CALL(pcre2_set_heap_limit_8)                                                                   \
    CALL(pcre2_match_data_create_8)                                                                \
    CALL(pcre2_match_data_create_from_pattern_8)                                                   \
    CALL(pcre2_substring_number_from_name_8)                                                       \
    CALL(pcre2_match_data_free_8)                                                                  \
    CALL(pcre2_match_8)                                                                            \
    CALL(pcre2_get_ovector_pointer_8)
LIBRARY(libpcre2, LIBPCRE2_FILE, CALLS)

/* --- expressions of lines --- */

/* Only what is known not to take a newline is rewritten, so that one is as good as an end of the
 * text. On any doubt records are matched one by one. */

#define GROWTH 9 /* bytes that one of the pattern becomes, at most, as \s in a class */

/* A pattern that is read, and what is written of it. */
struct rewriting {
    const char *at;
    char *to;
};

static void copy(struct rewriting *rewriting, size_t len)
{
    memcpy(rewriting->to, rewriting->at, len);
    rewriting->at += len;
    rewriting->to += len;
}

static void replace(struct rewriting *rewriting, size_t len, const char *with)
{
    rewriting->at += len;
    rewriting->to = stpcpy(rewriting->to, with);
}

/* Returns the length of the name in [:NAME:] at `at`, with its brackets; 0: it is none. */
static size_t posix_class_len(const char *at)
{
    const char *end = strncmp(at, "[:", 2) == 0 ? strstr(at + 2, ":]") : NULL;
    return end && end == at + 2 + strspn(at + 2, "^abcdefghijklmnopqrstuvwxyz")
               ? (size_t)(end - at) + 2
               : 0;
}

/* Rewrites an item of a class that lists what matches. False if it may be a newline. */
static bool rewrite_item(struct rewriting *rewriting)
{
    static const char within_lines[] =
        "[:alnum:][:alpha:][:blank:][:digit:][:graph:][:lower:][:print:][:punct:][:upper:][:word:]"
        "[:xdigit:]";
    const char *at = rewriting->at;
    const size_t named = posix_class_len(at);
    if (named > 0) {
        copy(rewriting, named);
        return memmem(within_lines, sizeof within_lines, at, named) != NULL;
    }
    if (*at != '\\') {
        copy(rewriting, 1);
        return (unsigned char)*at > '\n'; /* a lower one could begin a range with it */
    }
    if (at[1] == 's')
        replace(rewriting, 2, "\\t\\x0b\\f\\r\\x20");
    else if (strchr("dwh", at[1]) || ispunct((unsigned char)at[1]))
        copy(rewriting, 2);
    else
        return false;
    return true;
}

/* Rewrites a class. One that lists what does not match lists newlines, too. */
static bool rewrite_class(struct rewriting *rewriting)
{
    const bool is_negated = rewriting->at[1] == '^';
    bool is_first = true;
    if (is_negated)
        replace(rewriting, 2, "[^\\n");
    else
        copy(rewriting, 1);
    for (; *rewriting->at && (*rewriting->at != ']' || is_first); is_first = false) {
        const char *at = rewriting->at;
        const size_t named = posix_class_len(at);
        if (at[0] == '\\' && (at[1] == 'Q' || at[1] == 'E' || !at[1]))
            return false;
        if (is_first && (*at == ']' || *at == '-')) /* which are not special there */
            replace(rewriting, 1, *at == ']' ? "\\]" : "\\-");
        else if (is_negated)
            copy(rewriting, named > 0 ? named : *at == '\\' ? 2 : 1);
        else if (!rewrite_item(rewriting))
            return false;
    }
    if (!*rewriting->at)
        return false;
    copy(rewriting, 1);
    return true;
}

static bool rewrite_escape(struct rewriting *rewriting)
{
    const char after = rewriting->at[1];
    if (!after)
        return false;
    if (after == 's')
        replace(rewriting, 2, "[^\\S\\n]");
    else if (after == 'D')
        replace(rewriting, 2, "[^\\d\\n]");
    else if (after == 'W')
        replace(rewriting, 2, "[^\\w\\n]");
    else if (strchr("dwShtbBN", after) || ispunct((unsigned char)after))
        copy(rewriting, 2);
    else
        return false;
    return true;
}

/* Copies what a group begins with, such as (?: or (?<name> or (?<! up to that. */
static bool rewrite_group(struct rewriting *rewriting)
{
    const char *at = rewriting->at;
    const size_t flags = at[1] == '?' ? strspn(at + 2, "i-") : 0, after = 2 + flags;
    if (at[1] == '*') /* a verb */
        return false;
    if (at[1] != '?')
        copy(rewriting, 1);
    else if (at[after] == ':' || (flags > 0 && at[after] == ')') ||
             (flags == 0 && at[after] && strchr("=!><", at[after])))
        copy(rewriting, after + 1);
    else
        return false;
    return true;
}

/* Returns an expression for a text of many lines, with PCRE2_MULTILINE, PCRE2_ALT_CIRCUMFLEX and
 * newlines that are line feeds; free it. It matches what `pattern`, which must be valid, matches in
 * each line alone. NULL: it cannot be said so simply, or memory is short. */
static char *regex_of_lines(const char *pattern)
{
    char *text = malloc(strlen(pattern) * GROWTH + 1);
    struct rewriting rewriting = {pattern, text};
    while (text && *rewriting.at) {
        const char at = *rewriting.at;
        bool is_within = at != '\n'; /* it sees no newline */
        if (at == '\\')
            is_within = rewrite_escape(&rewriting);
        else if (at == '[')
            is_within = rewrite_class(&rewriting);
        else if (at == '(')
            is_within = rewrite_group(&rewriting);
        else
            copy(&rewriting, 1);
        if (!is_within) {
            free(text);
            text = NULL;
        }
    }
    if (text)
        *rewriting.to = '\0';
    return text;
}

/* --- compiling and matching --- */

/* The limits of one match. The first is that of grep -P and Python's bindings, some seconds of
 * backtracking at most; it is met before the second one. */
#define MATCH_LIMIT 10000000
#define HEAP_LIMIT_KIB (64 << 10)

struct regex {
    pcre2_code_8 *record; /* matches a record */
    pcre2_code_8 *lines;  /* searches lines; NULL: records are matched */
    pcre2_match_context_8 *limits;
    atomic_bool *lacked_memory;
};

/* Compiles a pattern, for this processor if that is possible. NULL: it is wrong; *code and *at are
 * set. */
static pcre2_code_8 *compile(const char *pattern, uint32_t options, int *code, size_t *at)
{
    pcre2_compile_context_8 *context = libpcre2.pcre2_compile_context_create_8(NULL);
    if (!context) {
        *code = PCRE2_ERROR_NOMEMORY;
        return NULL;
    }
    libpcre2.pcre2_set_newline_8(context, PCRE2_NEWLINE_LF);
    pcre2_code_8 *compiled = libpcre2.pcre2_compile_8((PCRE2_SPTR8)pattern, PCRE2_ZERO_TERMINATED,
                                                      options, code, at, context);
    libpcre2.pcre2_compile_context_free_8(context);
    if (compiled) /* if this fails, as where no memory may be executable, it is interpreted */
        (void)libpcre2.pcre2_jit_compile_8(compiled, PCRE2_JIT_COMPLETE);
    return compiled;
}

int regex_open(struct regex **regex, const char *pattern, struct error *error)
{
    int code;
    size_t at = 0;
    uint32_t options = 0;
    if (libpcre2_load(error) != 0) {
        const struct error why = *error;
        error_set(error, "%s; install libpcre2-8-0 (Debian, Ubuntu) or pcre2 (Fedora, brew)",
                  why.text);
        return REGEX_FAILED;
    }
    struct regex *opened = calloc(1, sizeof *opened);
    if (opened) {
        opened->lacked_memory = calloc(1, sizeof *opened->lacked_memory);
        opened->limits = libpcre2.pcre2_match_context_create_8(NULL);
    }
    if (!opened || !opened->lacked_memory || !opened->limits) {
        regex_close(opened);
        error_set(error, "out of memory");
        return REGEX_FAILED;
    }
    libpcre2.pcre2_set_match_limit_8(opened->limits, MATCH_LIMIT);
    libpcre2.pcre2_set_depth_limit_8(opened->limits, MATCH_LIMIT);
    libpcre2.pcre2_set_heap_limit_8(opened->limits, HEAP_LIMIT_KIB);
    opened->record = compile(pattern, PCRE2_DOLLAR_ENDONLY, &code, &at);
    if (opened->record &&
        libpcre2.pcre2_pattern_info_8(opened->record, PCRE2_INFO_ALLOPTIONS, &options) == 0 &&
        options & PCRE2_UTF) { /* records may be invalid */
        libpcre2.pcre2_code_free_8(opened->record);
        opened->record =
            compile(pattern, PCRE2_DOLLAR_ENDONLY | PCRE2_MATCH_INVALID_UTF, &code, &at);
    }
    if (!opened->record) {
        unsigned char message[256] = "";
        regex_close(opened);
        if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED) {
            error_set(error, "out of memory");
            return REGEX_FAILED;
        }
        libpcre2.pcre2_get_error_message_8(code, message, sizeof message);
        error_set(error, "%s at byte %zu of the expression; see pcre2pattern(3)",
                  (const char *)message, at);
        return REGEX_WRONG;
    }
    char *of_lines = regex_of_lines(pattern);
    if (of_lines)
        opened->lines = compile(of_lines, PCRE2_MULTILINE | PCRE2_ALT_CIRCUMFLEX, &code, &at);
    free(of_lines);
    *regex = opened;
    return 0;
}

void regex_close(struct regex *regex)
{
    if (!regex)
        return;
    libpcre2.pcre2_code_free_8(regex->record);
    libpcre2.pcre2_code_free_8(regex->lines);
    libpcre2.pcre2_match_context_free_8(regex->limits);
    free(regex->lacked_memory);
    free(regex);
}

void regex_matcher_close(struct regex_matcher *matcher)
{
    if (matcher->data)
        libpcre2.pcre2_match_data_free_8(matcher->data);
    matcher->data = NULL;
}

/* Matches with the matcher's data. What takes more stack than compiled code has is interpreted,
 * which takes memory. */
static enum regex_found match(const pcre2_code_8 *code, const struct regex *regex,
                              struct regex_matcher *matcher, const unsigned char *text, size_t len)
{
    int rc = PCRE2_ERROR_NOMEMORY;
    if (matcher->data)
        rc = libpcre2.pcre2_match_8(code, text, len, 0, 0, matcher->data, regex->limits);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
        rc = libpcre2.pcre2_match_8(code, text, len, 0, PCRE2_NO_JIT, matcher->data, regex->limits);
    matcher->code = rc;
    if (rc == PCRE2_ERROR_NOMEMORY)
        atomic_store(regex->lacked_memory, true);
    return rc >= 0 ? REGEX_FOUND : rc == PCRE2_ERROR_NOMATCH ? REGEX_MISSING : REGEX_UNDECIDED;
}

/* Finds a match; *at is where it begins. */
static enum regex_found find(const pcre2_code_8 *code, const struct regex *regex,
                             struct regex_matcher *matcher, const unsigned char *text, size_t len,
                             size_t *at)
{
    if (!matcher->data)
        matcher->data = libpcre2.pcre2_match_data_create_8(1, NULL);
    const enum regex_found found = match(code, regex, matcher, text, len);
    if (found == REGEX_FOUND)
        *at = libpcre2.pcre2_get_ovector_pointer_8(matcher->data)[0];
    return found;
}

enum regex_found regex_match(const struct regex *regex, struct regex_matcher *matcher,
                             const unsigned char *text, size_t len)
{
    size_t at;
    return find(regex->record, regex, matcher, text, len, &at);
}

unsigned regex_group(const struct regex *regex, const char *name)
{
    const int number =
        libpcre2.pcre2_substring_number_from_name_8(regex->record, (PCRE2_SPTR8)name);
    return number > 0 ? (unsigned)number : 0;
}

enum regex_found regex_match_groups(const struct regex *regex, struct regex_matcher *matcher,
                                    const unsigned char *text, size_t len, const unsigned *groups,
                                    unsigned count, struct line_span *spans)
{
    if (!matcher->data)
        matcher->data = libpcre2.pcre2_match_data_create_from_pattern_8(regex->record, NULL);
    const enum regex_found found = match(regex->record, regex, matcher, text, len);
    if (found != REGEX_FOUND)
        return found;
    const PCRE2_SIZE *offsets = libpcre2.pcre2_get_ovector_pointer_8(matcher->data);
    for (unsigned i = 0; i < count; i++) {
        const PCRE2_SIZE from = offsets[2 * groups[i]], to = offsets[2 * groups[i] + 1];
        spans[i] = from == PCRE2_UNSET || from > to ? (struct line_span){NULL, NULL}
                                                    : (struct line_span){text + from, text + to};
    }
    return REGEX_FOUND;
}

bool regex_lacked_memory(const struct regex *regex)
{
    return atomic_load(regex->lacked_memory);
}

bool regex_searches_lines(const struct regex *regex)
{
    return regex->lines != NULL;
}

enum regex_found regex_search_lines(const struct regex *regex, struct regex_matcher *matcher,
                                    const unsigned char *text, size_t len, size_t *at)
{
    return find(regex->lines, regex, matcher, text, len, at);
}

const char *regex_describe(const struct regex_matcher *matcher)
{
    switch (matcher->code) {
    case PCRE2_ERROR_NOMEMORY:
        return "needs more memory than there is";
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT:
        return "takes more backtracking than PCRE2 is allowed";
    default:
        return "cannot be matched by PCRE2";
    }
}
#else
int regex_open(struct regex **regex, const char *pattern, struct error *error)
{
    (void)regex, (void)pattern;
    error_set(error, "this build has no regular expressions, for lack of PCRE2; pipe lines in, "
                     "as in grep -P REGEX FILE | gpuhisto -n");
    return REGEX_WRONG;
}

void regex_close(struct regex *regex)
{
    (void)regex;
}

void regex_matcher_close(struct regex_matcher *matcher)
{
    (void)matcher;
}

enum regex_found regex_match(const struct regex *regex, struct regex_matcher *matcher,
                             const unsigned char *text, size_t len)
{
    (void)regex, (void)matcher, (void)text, (void)len;
    return REGEX_UNDECIDED;
}

unsigned regex_group(const struct regex *regex, const char *name)
{
    (void)regex, (void)name;
    return 0;
}

enum regex_found regex_match_groups(const struct regex *regex, struct regex_matcher *matcher,
                                    const unsigned char *text, size_t len, const unsigned *groups,
                                    unsigned count, struct line_span *spans)
{
    (void)groups, (void)count, (void)spans;
    return regex_match(regex, matcher, text, len);
}

bool regex_lacked_memory(const struct regex *regex)
{
    (void)regex;
    return false;
}

bool regex_searches_lines(const struct regex *regex)
{
    (void)regex;
    return false;
}

enum regex_found regex_search_lines(const struct regex *regex, struct regex_matcher *matcher,
                                    const unsigned char *text, size_t len, size_t *at)
{
    (void)at;
    return regex_match(regex, matcher, text, len);
}

const char *regex_describe(const struct regex_matcher *matcher)
{
    (void)matcher;
    return "cannot be matched";
}
#endif
