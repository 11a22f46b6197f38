#include "rows.h"

struct totals rows_add_up(const struct histogram *histogram, const struct tally *tally)
{
    struct totals totals = {.samples = tally->samples};
    for (size_t row = 0; row < tally->bins; row++)
        totals.of[histogram->mode->row_kind(histogram, row)] += tally->counts[row];
    return totals;
}

void rows_begin(struct rows *rows, const struct histogram *histogram, const struct tally *tally,
                enum empty_rows empty)
{
    *rows = (struct rows){.histogram = histogram, .tally = tally, .empty = empty};
}

static bool is_shown_empty(const struct rows *rows, size_t row)
{
    const struct histogram *histogram = rows->histogram;
    const enum row_kind kind = histogram->mode->row_kind(histogram, row);
    switch (rows->empty) {
    case EMPTY_SHOWN:
        return true;
    case EMPTY_LEFT_OUT:
        return false;
    case EMPTY_IN_PICTURE:
        return kind == ROW_KIND_BIN && !histogram_is_sparse(histogram) &&
               !histogram_counts_values(histogram);
    default:
        return kind == ROW_KIND_INVALID || !histogram_is_sparse(histogram);
    }
}

const struct row *rows_next(struct rows *rows)
{
    const struct histogram *histogram = rows->histogram;
    const uint64_t *counts = rows->tally->counts;
    while (rows->next < histogram->bins && counts[rows->next] == 0 &&
           !is_shown_empty(rows, rows->next))
        rows->next++;
    if (rows->next == histogram->bins)
        return NULL;
    histogram->mode->label_row(histogram, rows->next, &rows->row.label);
    rows->row.count = counts[rows->next++];
    rows->row.running += rows->row.count;
    return &rows->row;
}
