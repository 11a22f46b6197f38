/* SPDX-License-Identifier: MIT */
/* Only what is known not to take a newline is rewritten, so that one is as good as an end of the
 * text. On any doubt records are matched one by one. */
#include "regex_lines.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

/* True if a class with a name, such as [:digit:], has no newline. */
static bool posix_class_is_within_lines(const char *at)
{
    static const char *const names[] = {"alnum", "alpha", "blank", "digit", "graph", "lower",
                                        "print", "punct", "upper", "word",  "xdigit"};
    bool is_one = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        is_one |=
            strncmp(at + 2, names[i], strlen(names[i])) == 0 && at[2 + strlen(names[i])] == ':';
    return is_one;
}

/* Rewrites an item of a class that lists what matches. False if it may be a newline. */
static bool rewrite_item(struct rewriting *rewriting)
{
    const char *at = rewriting->at;
    const size_t named = posix_class_len(at);
    if (named > 0) {
        copy(rewriting, named);
        return posix_class_is_within_lines(at);
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

/* Rewrites what is next. False if it may see a newline. */
static bool rewrite(struct rewriting *rewriting)
{
    const char at = *rewriting->at;
    switch (at) {
    case '\\':
        return rewrite_escape(rewriting);
    case '[':
        return rewrite_class(rewriting);
    case '(':
        return rewrite_group(rewriting);
    default:
        copy(rewriting, 1);
        return at != '\n';
    }
}

char *regex_of_lines(const char *pattern)
{
    char *text = malloc(strlen(pattern) * GROWTH + 1);
    struct rewriting rewriting = {pattern, text};
    while (text && *rewriting.at)
        if (!rewrite(&rewriting)) {
            free(text);
            text = NULL;
        }
    if (text)
        *rewriting.to = '\0';
    return text;
}
