/* SPDX-License-Identifier: MIT */
/* Regular expressions of PCRE2, compiled for this processor where that is possible. They match
 * bytes; after (*UTF) characters, of which invalid ones match nothing. */
#ifndef GPUHISTO_REGEX_H
#define GPUHISTO_REGEX_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct line_span;

/* A compiled expression. It does not change, so any number of threads may match by it. */
struct regex;

/* Errors of regex_open. */
#define REGEX_WRONG (-1)  /* the pattern is no expression, or this build has none */
#define REGEX_FAILED (-2) /* the library is missing, or memory short */

/* Compiles a pattern, which is not kept. Before the sandbox is entered. 0 with *regex set, which
 * regex_close frees; or one of the errors with the error set. */
int regex_open(struct regex **regex, const char *pattern, struct error *error);

/* Frees it. NULL is fine. */
void regex_close(struct regex *regex);

/* The memory of one thread that matches, by any expressions. All zeros at the beginning. */
struct regex_matcher {
    void *data; /* of PCRE2 */
    int code;   /* why the last match failed */
};

/* Frees what a matcher has. */
void regex_matcher_close(struct regex_matcher *matcher);

enum regex_found {
    REGEX_FOUND,
    REGEX_MISSING,
    REGEX_UNDECIDED, /* a limit of PCRE2 was exceeded: regex_describe says which */
};

/* Matches text[0..len), a record. */
enum regex_found regex_match(const struct regex *regex, struct regex_matcher *matcher,
                             const unsigned char *text, size_t len);

/* Returns the number of the group with a name, or 0 if there is none, or several. */
unsigned regex_group(const struct regex *regex, const char *name);

/* Matches text[0..len) as regex_match, and sets a span for each of `count` groups. For all calls
 * with a matcher the expression is the same, and so is the function. */
enum regex_found regex_match_groups(const struct regex *regex, struct regex_matcher *matcher,
                                    const unsigned char *text, size_t len, const unsigned *groups,
                                    unsigned count, struct line_span *spans);

/* True once a match failed because memory was short. Any thread. */
bool regex_lacked_memory(const struct regex *regex);

/* True if regex_search_lines can search by the expression. */
bool regex_searches_lines(const struct regex *regex);

/* Searches text[0..len), lines of which the last has no newline, for the first one that regex_match
 * finds a match in, and sets *at to the offset of a byte of it or of its end. Costs far less than
 * to match each line. */
enum regex_found regex_search_lines(const struct regex *regex, struct regex_matcher *matcher,
                                    const unsigned char *text, size_t len, size_t *at);

/* Returns why a match was undecided, as the end of "... for PCRE2 to match": a constant. */
const char *regex_describe(const struct regex_matcher *matcher);

#endif
