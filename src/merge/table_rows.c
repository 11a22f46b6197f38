/* SPDX-License-Identifier: MIT */
#include "table_rows.h"
#include "find_rows.h"

#include "src/count/show_number.h"
#include "src/count/moments_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What is checked, row by row. */
struct row_check {
    struct read_table *table;
    const struct histogram *histogram;
    size_t channels;
    struct row_finder finder;       /* if the mode is_binned */
    size_t next;                    /* rows before this one would not ascend */
    uint64_t counted[CHANNELS_MAX]; /* the sum of what was read, for each channel */
};

/* Adds to a sum. False if it overflows. */
static bool add_count(uint64_t *sum, uint64_t count)
{
    return !__builtin_add_overflow(*sum, count, sum);
}

/* --- rows --- */

/* True if a row is a bin with the label that was read. */
static bool has_label(const struct row_check *check, const struct read_row *read, size_t row)
{
    struct row_label label = {.next = 0};
    histogram_label_row(check->histogram, row, &label);
    return label.kind == ROW_KIND_BIN &&
           strcmp(label.name, read_text(check->table, read->bin)) == 0 &&
           strcmp(label.lo, read_text(check->table, read->lo)) == 0 &&
           strcmp(label.hi, read_text(check->table, read->hi)) == 0;
}

/* Finds the row that has the label which was read, from check->next on. First the one whose number
 * is the first value, which it is with bytes, pairs and characters. */
static size_t find_label(const struct row_check *check, const struct read_row *read)
{
    const size_t bins = check->histogram->bins;
    size_t row = check->next;
    whole first;
    if (read_shown_whole(read_text(check->table, read->lo), &first) && first >= (whole)row &&
        first < (whole)bins && has_label(check, read, (size_t)first))
        return (size_t)first;
    while (row < bins && !has_label(check, read, row))
        row++;
    return row < bins ? row : SIZE_MAX;
}

/* Says that a row does not exist, or comes too late. */
static int refuse_row(const struct row_check *check, const struct read_row *read, size_t row,
                      struct reason *why)
{
    const struct read_table *table = check->table;
    struct row_label label = {.next = 0};
    const bool has_texts = read->row == READ_ROW_UNKNOWN; /* those of known rows are not kept */
    if (!has_texts)
        histogram_label_row(check->histogram, row, &label);
    const char *order = row == SIZE_MAX ? "" : " after the one before it";
    if (has_texts && !read->lo)
        reason_set(why, "there is no bin '%s'%s", read_text(table, read->bin), order);
    else
        reason_set(why, "there is no bin from %s to %s%s",
                   has_texts ? read_text(table, read->lo) : label.lo,
                   has_texts ? read_text(table, read->hi) : label.hi, order);
    return -1;
}

/* Finds one row, and adds its counts. */
static int check_row(struct row_check *check, size_t index, struct reason *why)
{
    struct read_table *table = check->table;
    struct read_row *read = &table->rows[index];
    const char *lo = read_text(table, read->lo), *hi = read_text(table, read->hi);
    const uint64_t *counts = &table->counts[index * check->channels];
    const bool is_binned = check->histogram->mode->is_binned;
    const size_t row = read->row != READ_ROW_UNKNOWN ? read->row
                       : is_binned                   ? row_finder_find(&check->finder, lo, hi)
                                                     : find_label(check, read);
    if (row == SIZE_MAX && is_binned && *lo && strcmp(lo, hi) == 0) {
        for (size_t channel = 0; channel < check->channels; channel++)
            if (counts[channel] != 0)
                return reason_set(why, "a bin that cannot hold a number has a count");
        read->row = READ_ROW_NONE;
        return 0;
    }
    if (row == SIZE_MAX || row < check->next)
        return refuse_row(check, read, row, why);
    read->row = (uint32_t)row;
    check->next = row + 1;
    for (size_t channel = 0; channel < check->channels; channel++)
        if (!add_count(&check->counted[channel], counts[channel]))
            return reason_set(why, "counts beyond 2^64");
    return 0;
}

static int check_rows(struct row_check *check, struct reason *why)
{
    const struct read_table *table = check->table;
    if (check->histogram->mode->is_binned)
        row_finder_begin(&check->finder, check->histogram);
    for (size_t i = 0; i < table->row_count; i++) {
        const uint32_t row = table->rows[i].row;
        uint64_t sum;
        /* Most rows are known ones that follow each other. */
        if (check->channels == 1 && row < READ_ROW_NONE && row >= check->next &&
            !__builtin_add_overflow(check->counted[0], table->counts[i], &sum)) {
            check->counted[0] = sum;
            check->next = (size_t)row + 1;
        } else if (check_row(check, i, why) != 0) {
            return -1;
        }
    }
    return 0;
}

/* --- totals --- */

/* True if a channel, or all together, add up: `counted` is what the bins have. */
static bool adds_up(const struct read_totals *totals, uint64_t counted)
{
    uint64_t sum = counted;
    return add_count(&sum, totals->below) && add_count(&sum, totals->above) &&
           add_count(&sum, totals->invalid) && sum == totals->total;
}

static int check_channels(const struct row_check *check, struct reason *why)
{
    const struct read_totals *totals = &check->table->totals;
    struct read_totals all = {0};
    for (size_t channel = 0; channel < check->channels; channel++) {
        const struct read_totals *own = &check->table->channels[channel];
        if (!adds_up(own, check->counted[channel]))
            return reason_set(why, "the counts of channel %zu do not add up to its total",
                              channel + 1);
        if (own->total != totals->total / check->channels || !add_count(&all.total, own->total) ||
            !add_count(&all.below, own->below) || !add_count(&all.above, own->above) ||
            !add_count(&all.invalid, own->invalid))
            return reason_set(why, "the channels have different lengths");
    }
    if (all.total == totals->total && all.below == totals->below && all.above == totals->above &&
        all.invalid == totals->invalid)
        return 0;
    return reason_set(why, "the channels do not add up to the totals");
}

static int check_totals(const struct row_check *check, struct reason *why)
{
    const struct read_totals *totals = &check->table->totals;
    const struct mode *mode = check->histogram->mode;
    uint64_t counted = 0;
    for (size_t channel = 0; channel < check->channels; channel++)
        if (!add_count(&counted, check->counted[channel]))
            return reason_set(why, "counts beyond 2^64");
    if (counted != totals->counted)
        return reason_set(why, "the bins add up to %" PRIu64 ", and \"counted\" is %" PRIu64,
                          counted, totals->counted);
    if (totals->counted > totals->total || totals->total - totals->counted != totals->other)
        return reason_set(why, "\"counted\" and \"other\" do not add up to \"total\"");
    if (mode->is_binned && !adds_up(totals, counted))
        return reason_set(why, "\"counted\", \"below\", \"above\" and \"invalid\" do not add up to "
                               "\"total\"");
    if (mode->has_characters && totals->other != totals->invalid)
        return reason_set(why, "\"counted\" and \"invalid\" do not add up to \"total\"");
    if (!mode->is_binned && !mode->has_characters &&
        !histogram_adds_up(check->histogram, counted, totals->total))
        return reason_set(why, "\"other\" must be 0, because every byte is in a bin");
    return check->channels > 1 ? check_channels(check, why) : 0;
}

/* --- moments --- */

/* Reads the moments of a channel with so many numbers. False if they are damaged. */
static bool read_moments(const struct read_table *table, size_t channel, uint64_t numbers,
                         bool is_whole, struct moments *moments)
{
    const struct read_moments *read = &table->moments[channel];
    struct moments_text text;
    *moments = (struct moments){.lowest = read->lowest, .highest = read->highest};
    snprintf(text.least, sizeof text.least, "%s", read_text(table, read->least));
    snprintf(text.greatest, sizeof text.greatest, "%s", read_text(table, read->greatest));
    snprintf(text.sum, sizeof text.sum, "%s", read_text(table, read->sum));
    snprintf(text.squares, sizeof text.squares, "%s", read_text(table, read->squares));
    snprintf(text.check, sizeof text.check, "%s", read_text(table, read->check));
    uint64_t infinite = moments->lowest;
    return moments_read(&text, is_whole, moments) && moments->any == (numbers > 0) &&
           add_count(&infinite, moments->highest) && infinite <= numbers;
}

static int check_moments(const struct row_check *check, struct moments *moments, struct reason *why)
{
    const struct read_table *table = check->table;
    if (table->moment_count != check->channels)
        return reason_set(why, "has no \"moments\", which --stats, --quantiles and "
                               "--format=prometheus need; count with --stats");
    for (size_t channel = 0; channel < check->channels; channel++) {
        const struct read_totals *totals =
            check->channels > 1 ? &table->channels[channel] : &table->totals;
        if (!read_moments(table, channel, totals->total - totals->invalid,
                          check->histogram->binning.is_whole, &moments[channel]))
            return reason_set(why, "\"moments\" are damaged");
    }
    return 0;
}

/* --- all of it --- */

/* Checks that the members are those of a table of the mode. */
static int check_form(const struct row_check *check, struct reason *why)
{
    const struct read_table *table = check->table;
    const struct mode *mode = check->histogram->mode;
    const uint64_t binned = HAS_BELOW | HAS_ABOVE | HAS_INVALID;
    const uint64_t all = HAS_TOTAL | HAS_COUNTED | HAS_OTHER | HAS_BINS;
    const uint64_t outside = mode->is_binned ? binned : mode->has_characters ? HAS_INVALID : 0;
    if ((table->has & all) != all)
        return reason_set(why, "lacks \"total\", \"counted\", \"other\" or \"bins\"");
    if ((table->has & binned) != outside)
        return reason_set(why, "\"below\", \"above\" and \"invalid\" do not belong to this mode");
    if (table->channel_count != (check->channels > 1 ? check->channels : 0))
        return reason_set(why, "\"channels\" and \"options\" disagree on the number of channels");
    if (table->count_count != table->row_count * check->channels)
        return reason_set(why, "a bin must have one count for each channel");
    return 0;
}

int table_rows_check(struct read_table *table, const struct histogram *histogram,
                     struct moments *moments, struct reason *why)
{
    struct row_check check = {
        .table = table, .histogram = histogram, .channels = histogram_channels(histogram)};
    if (check_form(&check, why) != 0 || check_rows(&check, why) != 0 ||
        check_totals(&check, why) != 0)
        return -1;
    return histogram->has_moments ? check_moments(&check, moments, why) : 0;
}

void table_rows_add(const struct read_table *table, const struct histogram *histogram,
                    const struct moments *moments, struct tally *tally)
{
    const struct binning *binning = &histogram->binning;
    const size_t rows = histogram_rows(histogram);
    const size_t channels = histogram_channels(histogram);
    tally->samples += table->totals.total;
    for (size_t i = 0; i < table->row_count; i++) {
        const size_t row = table->rows[i].row;
        if (row == READ_ROW_NONE)
            continue;
        for (size_t channel = 0; channel < channels; channel++)
            tally->counts[channel * rows + row] += table->counts[i * channels + channel];
        if (tally->blocks)
            row_blocks_mark(tally->blocks, row);
    }
    for (size_t channel = 0; histogram->mode->is_binned && channel < channels; channel++) {
        const struct read_totals *own = channels > 1 ? &table->channels[channel] : &table->totals;
        uint64_t *counts = tally->counts + channel * rows;
        counts[ROW_BELOW] += own->below;
        counts[ROW_ABOVE(binning)] += own->above;
        counts[ROW_INVALID(binning)] += own->invalid;
        if (tally->blocks) {
            row_blocks_mark(tally->blocks, ROW_BELOW);
            row_blocks_mark(tally->blocks, ROW_ABOVE(binning));
            row_blocks_mark(tally->blocks, ROW_INVALID(binning));
        }
    }
    if (histogram->mode->has_characters) /* the last row */
        tally->counts[rows - 1] += table->totals.invalid;
    for (size_t channel = 0; histogram->has_moments && channel < channels; channel++)
        moments_merge(&tally->moments[channel], &moments[channel]);
}
