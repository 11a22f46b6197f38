/* SPDX-License-Identifier: MIT */
/* Snapshots of a histogram most of whose rows are never used, such as that of characters: the pages
 * of rows in which anything was counted, in the order in which they came up. The words of such a
 * snapshot are
 *
 *     the number of pages | the page's number, a count for each of its rows | the next page ...
 *
 * A page stays at its place, so that snapshots can be compared word by word. The caller decides how
 * many words to copy; if there are more pages than that, the copy is not whole. */
#ifndef GPUHISTO_ROW_PAGES_H
#define GPUHISTO_ROW_PAGES_H

#include "src/tally/histogram_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROW_PAGE 256
#define ROW_PAGE_WORDS (ROW_PAGE + 1)

/* True if the histogram has such snapshots. */
static inline bool row_pages_has(const struct histogram_spec *spec)
{
    return spec->mode->has_characters && !spec->groups;
}

/* Returns the number of pages of `rows` rows. The last one may be shorter, and is counted as
 * whole. */
static inline size_t row_pages_of(size_t rows)
{
    return (rows + ROW_PAGE - 1) / ROW_PAGE;
}

/* Returns the words of `pages` pages, with their number. */
static inline size_t row_pages_words(size_t pages)
{
    return 1 + pages * ROW_PAGE_WORDS;
}

#endif
