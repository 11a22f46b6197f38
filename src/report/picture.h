/* SPDX-License-Identifier: MIT */
/* Parts of pictures of tables: columns side by side, labels of rows, and bars. */
#ifndef GPUHISTO_PICTURE_H
#define GPUHISTO_PICTURE_H

#include "rows.h"
#include "writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PICTURE_CELLS_MAX 5 /* before the bar */
#define PICTURE_COLUMNS (PICTURE_CELLS_MAX + KEY_PARTS_MAX - 1)
#define PICTURE_ROWS 40    /* that people see at a glance */
#define PICTURE_GAP 2      /* blanks between columns */
#define PICTURE_CROWDED 90 /* percent of the samples in one bar: then others cannot be seen */
#define PICTURE_LABEL (ROW_TEXT + 2)
#define BAR_EIGHTHS 8 /* of a character, which the blocks of Unicode show */

/* The columns of a row, as text in UTF-8: one for each part of a name (GROUP_SEPARATOR). */
struct picture_cells {
    const char *text[PICTURE_CELLS_MAX];
    size_t count;
};

/* The measures of rows. 0 before the first one. */
struct picture {
    size_t widths[PICTURE_COLUMNS]; /* of the columns, in characters */
    uint64_t largest;               /* that a bar shows */
    size_t width;                   /* for the largest bar, in characters */
    bool utf8;
};

/* Widens columns so that the cells fit. */
void picture_widen(size_t widths[PICTURE_COLUMNS], const struct picture_cells *cells);

/* Returns the width of the columns of such cells, each with a gap. */
size_t picture_width(const size_t widths[PICTURE_COLUMNS], const struct picture_cells *cells);

/* Writes columns. Each cell is aligned to one side, as the letters of `sides` say: 'l' or 'r'.
 * Returns how many blanks separate the last one from what follows. */
size_t picture_write(struct writer *out, const struct picture_cells *cells,
                     const size_t widths[PICTURE_COLUMNS], const char *sides);

/* Writes the label of a row: its name; of numbers the lower edge, rounded to what people would
 * write: "0.15", or "2^-10" where edges are powers of two. The rows below and above all bins are
 * named by their edges. */
void picture_label(const struct histogram_spec *spec, const struct row *row,
                   char text[PICTURE_LABEL]);

/* Returns the length of a count's bar if the largest count, at least as large, is `max` units
 * long: rounded, but at least 1 unless the count is 0. Any `max` up to 2^62. */
uint64_t bar_length(uint64_t count, uint64_t largest, uint64_t max);

/* Writes the bar of a count, where that of the largest is `width` characters long: in UTF-8 by
 * blocks of eighths (U+2588 to U+258F), otherwise by whole '#'. */
void bar_write(struct writer *out, uint64_t count, uint64_t largest, size_t width, bool utf8);

#endif
