/* SPDX-License-Identifier: MIT */
/* A list of texts, such as the words of a command line. */
#ifndef GPUHISTO_WORDS_H
#define GPUHISTO_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* A list that owns its texts. An empty one is all zeros. */
struct words {
    char **list;
    size_t count, capacity;
};

/* The options that a table was made with: those about its mode and bins, and those about where the
 * samples came from. */
struct table_words {
    struct words bins, sources;
};

/* Appends a copy of text[0..len), terminated. 0, or -1 if memory is short. */
int words_add(struct words *words, const char *text, size_t len);

/* Appends what printf would. 0, or -1 if memory is short. */
int words_format(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends copies of all texts of another list. 0, or -1 if memory is short. */
int words_copy(struct words *words, const struct words *from);

/* True if both lists have the same texts in the same order. */
bool words_same(const struct words *one, const struct words *other);

/* Frees all texts, and leaves an empty list. */
void words_free(struct words *words);
void table_words_free(struct table_words *words);

#endif
