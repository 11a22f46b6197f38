/* SPDX-License-Identifier: MIT */
#include "find_rows.h"

#include "src/count/show_number.h"
#include "src/count/number.h"

#include <string.h>

static size_t find_whole(const struct binning *binning, const char *lo, const char *hi)
{
    whole from, to;
    if (!read_shown_whole(lo, &from) || !read_shown_whole(hi, &to) || from >= to)
        return SIZE_MAX;
    const size_t row = binning_row_whole(binning, from + binning->is_right);
    if (row < 1 || row > binning->bins || binning_shown_whole_edge(binning, row - 1) != from ||
        binning_shown_whole_edge(binning, row) != to)
        return SIZE_MAX;
    return row;
}

static size_t find_double(const struct binning *binning, const char *lo, const char *hi)
{
    double from, to;
    if (!read_shown_double(lo, &from) || !read_shown_double(hi, &to))
        return SIZE_MAX;
    const bool is_zero = from == 0 && to == 0;
    if (!is_zero && from >= to)
        return SIZE_MAX;
    /* A float's edge may lie just above or below the decimal that is shown, and that of a bin that
     * includes its upper edge is above. */
    const size_t near = binning_row(binning, from);
    for (size_t row = near > 1 ? near - 1 : 1; row <= near + 1 && row <= binning->bins; row++) {
        const bool is_zero_alone = binning_is_zero_alone(binning, row - 1);
        if (is_zero != is_zero_alone)
            continue;
        if (is_zero || (binning_shown_edge(binning, row - 1) == from &&
                        binning_shown_edge(binning, row) == to))
            return row;
    }
    return SIZE_MAX;
}

void row_finder_begin(struct row_finder *finder, const struct histogram *histogram)
{
    *finder = (struct row_finder){.histogram = histogram, .next = ROW_BELOW + 1, .follows = true};
    number_prepare();
}

/* True if the row after the last one is shown with these edges: writing one of them is much faster
 * than reading both as numbers. */
static bool is_next(struct row_finder *finder, const char *lo, const char *hi)
{
    const struct histogram *histogram = finder->histogram;
    if (!finder->follows || finder->next > histogram->binning.bins)
        return false;
    histogram_label_row(histogram, finder->next, &finder->label);
    return strcmp(finder->label.hi, hi) == 0 && strcmp(finder->label.lo, lo) == 0;
}

size_t row_finder_find(struct row_finder *finder, const char *lo, const char *hi)
{
    const struct binning *binning = &finder->histogram->binning;
    size_t row = finder->next;
    if (!is_next(finder, lo, hi) || strcmp(lo, hi) == 0)
        row = binning->is_whole ? find_whole(binning, lo, hi) : find_double(binning, lo, hi);
    if (row == SIZE_MAX)
        return SIZE_MAX;
    finder->follows = row == finder->next;
    finder->next = row + 1;
    return row;
}
