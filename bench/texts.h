/* SPDX-License-Identifier: MIT */
/* Texts with one number on each line, as programs write them. */
#ifndef GPUHISTO_BENCH_TEXTS_H
#define GPUHISTO_BENCH_TEXTS_H

#include <stddef.h>

struct text_kind {
    const char *name;
    int (*put)(char *line); /* writes a line and returns its length */
};

extern const struct text_kind text_kinds[];
extern const size_t text_kind_count;

/* Fills text[0..size) with lines, the same in every call. Lines do not cross the end of a piece;
 * what is left of one is filled with empty lines. `size` is a multiple of `piece`. Not thread-safe.
 */
void text_fill(const struct text_kind *kind, unsigned char *text, size_t size, size_t piece);

#endif
