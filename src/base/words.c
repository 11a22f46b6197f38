/* SPDX-License-Identifier: MIT */
#include "words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends a text, which the list then owns. 0; or -1 if it is NULL or memory is short. */
static int append(struct words *words, char *text)
{
    if (!text)
        return -1;
    if (words->count == words->capacity) {
        size_t capacity = words->capacity ? 2 * words->capacity : 8;
        char **list = realloc(words->list, capacity * sizeof *list);
        if (!list) {
            free(text);
            return -1;
        }
        words->list = list;
        words->capacity = capacity;
    }
    words->list[words->count++] = text;
    return 0;
}

int words_add(struct words *words, const char *text, size_t len)
{
    char *copy = malloc(len + 1);
    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return append(words, copy);
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
