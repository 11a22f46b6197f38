/* SPDX-License-Identifier: MIT */
#include "rows.h"

/* Adds what the rows [begin, end) of a channel add up to. Rows that are no bins come before all
 * bins or after them. */
static void add_up_channel(struct totals *totals, const struct histogram *histogram,
                           const struct tally *tally, size_t begin, size_t end)
{
    enum row_kind kind;
    for (; begin < end && (kind = histogram_row_kind(histogram, begin)) != ROW_KIND_BIN; begin++)
        totals->of[kind] += tally->counts[begin];
    for (; end > begin && (kind = histogram_row_kind(histogram, end - 1)) != ROW_KIND_BIN; end--)
        totals->of[kind] += tally->counts[end - 1];
    totals->of[ROW_KIND_BIN] += tally_sum(tally, begin, end);
}

struct totals rows_add_up(const struct histogram *histogram, const struct tally *tally)
{
    const size_t rows = histogram_rows(histogram);
    struct totals totals = {.samples = tally->samples};
    for (size_t begin = 0; begin < tally->bins; begin += rows)
        add_up_channel(&totals, histogram, tally, begin, begin + rows);
    return totals;
}

/* Which rows are shown though they are empty. Kinds are asked for here, not for each of a hundred
 * thousand rows: rows that are no bins come before all bins or after them. */
static void choose_empty_rows(struct rows *rows, enum empty_rows empty)
{
    const struct histogram *histogram = rows->histogram;
    bool is_sparse = histogram_is_sparse(histogram);
    rows->bins_begin = 0;
    rows->bins_end = rows->invalid = histogram_rows(histogram);
    while (rows->bins_begin < rows->bins_end &&
           histogram_row_kind(histogram, rows->bins_begin) != ROW_KIND_BIN)
        rows->bins_begin++;
    for (; rows->bins_end > rows->bins_begin; rows->bins_end--) {
        enum row_kind kind = histogram_row_kind(histogram, rows->bins_end - 1);
        if (kind == ROW_KIND_BIN)
            break;
        if (kind == ROW_KIND_INVALID)
            rows->invalid = rows->bins_end - 1;
    }
    rows->empty_others = empty == EMPTY_SHOWN || (empty == EMPTY_DEFAULT && !is_sparse);
    rows->empty_invalid = empty == EMPTY_SHOWN || empty == EMPTY_DEFAULT;
    rows->empty_bins = rows->empty_others;
    if (empty == EMPTY_DEFAULT || empty == EMPTY_IN_PICTURE)
        tally_seen_decades(rows->tally, histogram, rows->within);
    if (empty == EMPTY_IN_PICTURE)
        rows->empty_bins = !is_sparse && !histogram_counts_values(histogram);
}

void rows_begin(struct rows *rows, const struct histogram *histogram, const struct tally *tally,
                enum empty_rows empty)
{
    *rows = (struct rows){.histogram = histogram,
                          .tally = tally,
                          .step = histogram_rows(histogram),
                          .at_least = UINT64_MAX};
    choose_empty_rows(rows, empty);
}

/* The row's count in all channels. */
static uint64_t row_count(const struct rows *rows, size_t row)
{
    uint64_t sum = 0;
    for (size_t at = row; at < rows->tally->bins; at += rows->step)
        sum += rows->tally->counts[at];
    return sum;
}

static bool is_within(const struct rows *rows, size_t row)
{
    const struct row_range *below = &rows->within[0], *above = &rows->within[1];
    return (row >= below->begin && row < below->end) || (row >= above->begin && row < above->end);
}

static bool is_shown(const struct rows *rows, size_t row)
{
    if (row_count(rows, row) > 0)
        return true;
    if (row >= rows->bins_begin && row < rows->bins_end)
        return rows->empty_bins || is_within(rows, row);
    return row == rows->invalid ? rows->empty_invalid : rows->empty_others;
}

/* The first row from `row` on that may be shown: empty bins are passed over at once. */
static size_t pass_over(const struct rows *rows, size_t row)
{
    bool has_channels = histogram_channels(rows->histogram) > 1;
    bool has_decades = rows->histogram->binning.decade_bins > 0;
    if (rows->empty_bins || has_channels || has_decades || row < rows->bins_begin ||
        row >= rows->bins_end)
        return row;
    row = tally_next_counted(rows->tally, row);
    return row < rows->bins_end ? row : rows->bins_end;
}

/* True if a row that would be shown was left out by rows_cut. */
static bool is_cut(struct rows *rows, uint64_t count)
{
    if (count != rows->least)
        return count < rows->least;
    if (rows->at_least == 0)
        return true;
    rows->at_least--;
    return false;
}

const struct row *rows_next(struct rows *rows)
{
    const struct histogram *histogram = rows->histogram;
    const size_t end = rows->step;
    for (size_t row = rows->next; (row = pass_over(rows, row)) < end; row++) {
        if (!is_shown(rows, row))
            continue;
        rows->row.count = row_count(rows, row);
        rows->row.running += rows->row.count;
        if (is_cut(rows, rows->row.count))
            continue;
        histogram_label_row(histogram, row, &rows->row.label);
        rows->row.index = row;
        rows->next = row + 1;
        return &rows->row;
    }
    rows->next = end;
    return NULL;
}

/* Puts a count into a list of the largest ones, in descending order, that has room for `most`. */
static void keep_largest(uint64_t *largest, size_t *kept, size_t most, uint64_t count)
{
    if (*kept == most && count <= largest[most - 1])
        return;
    size_t at = *kept < most ? (*kept)++ : most - 1;
    for (; at > 0 && largest[at - 1] < count; at--)
        largest[at] = largest[at - 1];
    largest[at] = count;
}

size_t rows_cut(struct rows *rows, size_t most)
{
    struct rows walk = *rows;
    const struct row *row;
    uint64_t largest[ROWS_CUT_MAX];
    size_t shown = 0, kept = 0;
    most = most < ROWS_CUT_MAX ? most : ROWS_CUT_MAX;
    for (; (row = rows_next(&walk)); shown++)
        keep_largest(largest, &kept, most, row->count);
    if (shown <= most)
        return 0;
    rows->least = largest[most - 2];
    for (rows->at_least = 0, kept = most - 1; kept > 0 && largest[kept - 1] == rows->least; kept--)
        rows->at_least++;
    return shown - (most - 1);
}
