/* SPDX-License-Identifier: MIT */
/* Memory: cache lines, lists that grow, lists of texts. */
#ifndef GPUHISTO_BASE_MEMORY_H
#define GPUHISTO_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- whole cache lines, for threads that write side by side: each write would move a shared line
 * away from the other core --- */

#define CACHE_LINE 64 /* bytes */

/* Rounds a size up to whole lines. */
static inline size_t cache_lines(size_t size)
{
    return (size + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1);
}

/* Returns memory of zeros that begins with a line; free it. NULL if memory is short. */
static inline void *cache_lines_open(size_t size)
{
    void *memory = aligned_alloc(CACHE_LINE, cache_lines(size));
    return memory ? memset(memory, 0, size) : NULL;
}

/* --- lists that grow --- */

/* Makes room for `count` elements of `size` bytes in a list that has a capacity of *capacity.
 * Returns the list, perhaps moved, and updates *capacity; or NULL if memory is short, and nothing
 * has changed. The capacity at least doubles, so elements can be added one at a time. */
void *grow_list(void *list, size_t *capacity, size_t count, size_t size);

/* Makes room for one more element in a list of `count`, whose capacity follows from that: the next
 * power of two. Returns the list, perhaps moved; or NULL if memory is short, and nothing has
 * changed. */
void *grow_by_one(void *list, size_t count, size_t size);

/* --- lists of texts, such as the words of a command line --- */

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
