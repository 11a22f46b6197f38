#include "rows.h"

struct totals rows_add_up(const struct histogram *histogram, const struct tally *tally)
{
    struct totals totals = {.samples = tally->samples};
    for (size_t row = 0; row < tally->bins; row++)
        totals.of[histogram->mode->row_kind(histogram, row)] += tally->counts[row];
    return totals;
}

void rows_begin(struct rows *rows, const struct histogram *histogram, const struct tally *tally)
{
    *rows = (struct rows){.histogram = histogram, .tally = tally};
}

static bool is_shown(const struct rows *rows, size_t row)
{
    const struct histogram *histogram = rows->histogram;
    return rows->tally->counts[row] > 0 || !histogram_is_sparse(histogram) ||
           histogram->mode->row_kind(histogram, row) == ROW_KIND_INVALID;
}

const struct row *rows_next(struct rows *rows)
{
    const struct histogram *histogram = rows->histogram;
    while (rows->next < histogram->bins && !is_shown(rows, rows->next))
        rows->next++;
    if (rows->next == histogram->bins)
        return NULL;
    histogram->mode->label_row(histogram, rows->next, &rows->row.label);
    rows->row.count = rows->tally->counts[rows->next++];
    return &rows->row;
}
