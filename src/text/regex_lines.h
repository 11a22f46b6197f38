/* SPDX-License-Identifier: MIT */
/* Regular expressions that can be searched in many lines at once: rewritten so that no part of a
 * match is a newline. */
#ifndef GPUHISTO_REGEX_LINES_H
#define GPUHISTO_REGEX_LINES_H

/* Returns an expression for a text of many lines, with PCRE2_MULTILINE, PCRE2_ALT_CIRCUMFLEX and
 * newlines that are line feeds; free it. It matches what `pattern`, which must be valid, matches in
 * each line alone. NULL: it cannot be said so simply, or memory is short. */
char *regex_of_lines(const char *pattern);

#endif
