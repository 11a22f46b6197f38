/* SPDX-License-Identifier: MIT */
#include "row_pages.h"

static const uint64_t *page_at(const uint64_t *words, size_t position)
{
    return words + row_pages_words(position);
}

/* Returns the number of rows that a page has. */
static size_t rows_of(uint64_t page, size_t rows)
{
    const size_t left = rows - (size_t)page * ROW_PAGE;
    return left < ROW_PAGE ? left : ROW_PAGE;
}

/* True if a page can have come after `good`, which is NULL if the page is new; adds its counts to
 * *sum. */
static bool page_follows(const uint64_t *seen, const uint64_t *good, size_t rows, uint64_t *sum)
{
    bool is_down = false;
    if (seen[0] >= row_pages_of(rows) || (good && good[0] != seen[0]))
        return false;
    const size_t used = rows_of(seen[0], rows);
    for (size_t row = 1; row <= ROW_PAGE; row++) {
        is_down |= (good && seen[row] < good[row]) || (row > used && seen[row] > 0);
        *sum += seen[row];
    }
    return !is_down;
}

bool row_pages_follow(const uint64_t *seen, const uint64_t *good, size_t rows, uint64_t *sum)
{
    *sum = 0;
    if (seen[0] < good[0] || seen[0] > row_pages_of(rows))
        return false;
    for (size_t position = 0; position < seen[0]; position++)
        if (!page_follows(page_at(seen, position),
                          position < good[0] ? page_at(good, position) : NULL, rows, sum))
            return false;
    return true;
}

void row_pages_add(const uint64_t *words, uint64_t *rows, size_t n)
{
    for (size_t position = 0; position < words[0]; position++) {
        const uint64_t *page = page_at(words, position);
        uint64_t *to = rows + page[0] * ROW_PAGE;
        const size_t used = rows_of(page[0], n);
        for (size_t row = 0; row < used; row++)
            to[row] += page[1 + row];
    }
}
