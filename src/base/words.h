/* SPDX-License-Identifier: MIT */
/* A list of texts, such as the words of a command line. */
#ifndef GPUHISTO_WORDS_H
#define GPUHISTO_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* All zeros is an empty list. The texts are the list's own. */
struct words {
    char **list;
    size_t count, room;
};

/* The options that a table was made with: those that say which mode and bins it has, and those that
 * say where the samples came from. */
struct table_words {
    struct words bins, sources;
};

/* Appends a copy of text[0..len), terminated. 0, or -1 if memory is short. */
int words_add(struct words *words, const char *text, size_t len);

/* Appends what printf would. 0, or -1 if memory is short. */
int words_format(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether both lists have the same texts in the same order. */
bool words_same(const struct words *one, const struct words *other);

/* Makes it an empty list. */
void words_free(struct words *words);
void table_words_free(struct table_words *words);

#endif
