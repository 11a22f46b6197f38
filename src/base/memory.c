/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdarg.h>
#include <stdio.h>

#define CAPACITY_MIN 16

void *grow_list(void *list, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return list;
    size_t more = *capacity ? *capacity : CAPACITY_MIN;
    while (more < count)
        more *= 2;
    void *longer = realloc(list, more * size);
    if (longer)
        *capacity = more;
    return longer;
}

void *grow_by_one(void *list, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return list;
    return realloc(list, (count ? 2 * count : 1) * size);
}

/* --- lists of texts --- */

/* Appends a text, which the list then owns. 0; or -1 if it is NULL or memory is short. */
static int append(struct words *words, char *text)
{
    if (!text)
        return -1;
    char **list = grow_list(words->list, &words->capacity, words->count + 1, sizeof *list);
    if (!list) {
        free(text);
        return -1;
    }
    words->list = list;
    words->list[words->count++] = text;
    return 0;
}

int words_add(struct words *words, const char *text, size_t len)
{
    return append(words, strndup(text, len));
}

int words_format(struct words *words, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const size_t size = (size_t)vsnprintf(NULL, 0, format, args) + 1;
    va_end(args);
    char *text = malloc(size);
    va_start(args, format);
    if (text)
        vsnprintf(text, size, format, args);
    va_end(args);
    return append(words, text);
}

int words_copy(struct words *words, const struct words *from)
{
    for (size_t i = 0; i < from->count; i++)
        if (words_add(words, from->list[i], strlen(from->list[i])) != 0)
            return -1;
    return 0;
}

bool words_same(const struct words *one, const struct words *other)
{
    if (one->count != other->count)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (strcmp(one->list[i], other->list[i]) != 0)
            return false;
    return true;
}

void words_free(struct words *words)
{
    for (size_t i = 0; i < words->count; i++)
        free(words->list[i]);
    free(words->list);
    *words = (struct words){0};
}

void table_words_free(struct table_words *words)
{
    words_free(&words->bins);
    words_free(&words->sources);
}
