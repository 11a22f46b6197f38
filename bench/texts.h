/* Texts of numbers, a line each, as programs write them. */
#ifndef GPUHISTO_BENCH_TEXTS_H
#define GPUHISTO_BENCH_TEXTS_H

#include <stddef.h>

struct text_kind {
    const char *name;
    int (*put)(char *line); /* writes a line and returns its length */
};

extern const struct text_kind text_kinds[];
extern const size_t text_kind_count;

/* Fills text[0..size) with lines, always the same ones; whole ones, and empty ones up to the end of
 * each piece. `size` is a multiple of `piece`. Not for two threads at a time. */
void text_fill(const struct text_kind *kind, unsigned char *text, size_t size, size_t piece);

#endif
