/* SPDX-License-Identifier: MIT */
#include "table_rows.h"
#include "find_rows.h"
#include "table_json.h"

#include "src/count/edge_text.h"
#include "src/count/moments_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int rows_refuse(struct reason *why, const char *text)
{
    reason_set(why, "%s", text);
    return -1;
}

/* Whether the row is a bin, and called as the one that was read. */
static bool is_called(const struct read_table *table, const struct read_row *read,
                      const struct histogram *histogram, size_t row)
{
    struct row_label label = {.next = 0};
    histogram->mode->label_row(histogram, row, &label);
    return label.kind == ROW_KIND_BIN && strcmp(label.name, read_text(table, read->bin)) == 0 &&
           strcmp(label.lo, read_text(table, read->lo)) == 0 &&
           strcmp(label.hi, read_text(table, read->hi)) == 0;
}

/* The row, at or after `from`, that is called as the one that was read: of bytes, pairs and
 * characters the one whose number is its first value. */
static size_t find_label(const struct read_table *table, const struct read_row *read,
                         const struct histogram *histogram, size_t from)
{
    whole first;
    if (edge_read_whole(read_text(table, read->lo), &first) && first >= 0 &&
        first < (whole)histogram->bins && (size_t)first >= from &&
        is_called(table, read, histogram, (size_t)first))
        return (size_t)first;
    while (from < histogram->bins && !is_called(table, read, histogram, from))
        from++;
    return from < histogram->bins ? from : SIZE_MAX;
}

/* --- rows --- */

/* Sums of what was read, by channel. */
struct sums {
    uint64_t counted[CHANNELS_MAX];
};

/* *sum += count; whether it is still right. */
static bool add_count(uint64_t *sum, uint64_t count)
{
    return !__builtin_add_overflow(*sum, count, sum);
}

/* Says that a row is not there, or comes too late. */
static int refuse_row(const struct read_table *table, const struct read_row *read,
                      const struct histogram *histogram, size_t row, struct reason *why)
{
    struct row_label label = {.next = 0};
    const bool is_known = read->row != READ_ROW_UNKNOWN; /* its texts were not kept */
    if (is_known)
        histogram->mode->label_row(histogram, row, &label);
    const char *place = row == SIZE_MAX ? "" : " after the one before it";
    if (!is_known && !read->lo)
        reason_set(why, "there is no bin '%s'%s", read_text(table, read->bin), place);
    else
        reason_set(why, "there is no bin from %s to %s%s",
                   is_known ? label.lo : read_text(table, read->lo),
                   is_known ? label.hi : read_text(table, read->hi), place);
    return -1;
}

/* Finds one row, at or after *next, and adds its counts to the sums. */
static int map_row(struct read_table *table, struct row_finder *finder, size_t index,
                   struct sums *sums, size_t *next, struct reason *why)
{
    const struct histogram *histogram = finder->histogram;
    struct read_row *read = &table->rows[index];
    const char *lo = read_text(table, read->lo), *hi = read_text(table, read->hi);
    const size_t channels = histogram_channels(histogram);
    const uint64_t *counts = &table->counts[index * channels];
    const bool is_binned = histogram->mode->is_binned;
    const size_t row = read->row != READ_ROW_UNKNOWN ? read->row
                       : is_binned                   ? row_finder_find(finder, lo, hi)
                                                     : find_label(table, read, histogram, *next);
    if (row == SIZE_MAX && is_binned && *lo && strcmp(lo, hi) == 0) {
        for (size_t channel = 0; channel < channels; channel++)
            if (counts[channel] != 0)
                return rows_refuse(why, "a bin that no number can be in has a count");
        read->row = READ_ROW_NONE;
        return 0;
    }
    if (row == SIZE_MAX || row < *next)
        return refuse_row(table, read, histogram, row, why);
    read->row = (uint32_t)row;
    *next = row + 1;
    for (size_t channel = 0; channel < channels; channel++)
        if (!add_count(&sums->counted[channel], counts[channel]))
            return rows_refuse(why, "counts beyond 2^64");
    return 0;
}

static int map_rows_of(struct read_table *table, const struct histogram *histogram,
                       struct sums *sums, struct reason *why)
{
    struct row_finder finder = {.histogram = histogram};
    size_t next = 0;
    if (histogram->mode->is_binned)
        row_finder_begin(&finder, histogram);
    const bool is_one = histogram_channels(histogram) == 1;
    for (size_t i = 0; i < table->row_count; i++) {
        const uint32_t row = table->rows[i].row;
        uint64_t sum;
        if (is_one && row < READ_ROW_NONE && row >= next &&
            !__builtin_add_overflow(sums->counted[0], table->counts[i], &sum)) {
            sums->counted[0] = sum;
            next = (size_t)row + 1;
        } else if (map_row(table, &finder, i, sums, &next, why) != 0) {
            return -1;
        }
    }
    return 0;
}

/* --- totals --- */

/* Whether a channel, or all together, adds up: counted is what its bins have. */
static bool adds_up(const struct read_totals *totals, uint64_t counted)
{
    uint64_t sum = counted;
    return add_count(&sum, totals->below) && add_count(&sum, totals->above) &&
           add_count(&sum, totals->invalid) && sum == totals->total;
}

static int check_channels(const struct read_table *table, const struct histogram *histogram,
                          const struct sums *sums, struct reason *why)
{
    struct read_totals all = {0};
    for (size_t channel = 0; channel < histogram_channels(histogram); channel++) {
        const struct read_totals *totals = &table->channels[channel];
        if (!adds_up(totals, sums->counted[channel])) {
            reason_set(why, "the counts of channel %zu do not add up to its total", channel + 1);
            return -1;
        }
        if (totals->total != table->totals.total / histogram_channels(histogram) ||
            !add_count(&all.total, totals->total) || !add_count(&all.below, totals->below) ||
            !add_count(&all.above, totals->above) || !add_count(&all.invalid, totals->invalid))
            return rows_refuse(why, "the channels are not as long as each other");
    }
    const struct read_totals *totals = &table->totals;
    if (all.total == totals->total && all.below == totals->below && all.above == totals->above &&
        all.invalid == totals->invalid)
        return 0;
    return rows_refuse(why, "the channels do not add up to the totals");
}

/* Proves the totals. */
static int check_totals(const struct read_table *table, const struct histogram *histogram,
                        const struct sums *sums, struct reason *why)
{
    const struct read_totals *totals = &table->totals;
    const unsigned channels = histogram_channels(histogram);
    uint64_t counted = 0;
    for (unsigned channel = 0; channel < channels; channel++)
        if (!add_count(&counted, sums->counted[channel]))
            return rows_refuse(why, "counts beyond 2^64");
    if (counted != totals->counted) {
        reason_set(why, "the bins add up to %" PRIu64 ", and \"counted\" is %" PRIu64, counted,
                   totals->counted);
        return -1;
    }
    if (totals->counted > totals->total || totals->total - totals->counted != totals->other) {
        reason_set(why, "\"counted\" and \"other\" do not add up to \"total\"");
        return -1;
    }
    const struct mode *mode = histogram->mode;
    if (mode->is_binned && !adds_up(totals, counted))
        return rows_refuse(why,
                           "\"counted\", \"below\", \"above\" and \"invalid\" do not add up to "
                           "\"total\"");
    if (mode->has_characters && totals->other != totals->invalid)
        return rows_refuse(why, "\"counted\" and \"invalid\" do not add up to \"total\"");
    if (!mode->is_binned && !mode->has_characters &&
        !histogram_adds_up(histogram, counted, totals->total))
        return rows_refuse(why, "\"other\" is not 0, and every byte is in a bin");
    return channels > 1 ? check_channels(table, histogram, sums, why) : 0;
}

/* --- moments --- */

/* Reads the moments of a channel that has so many numbers. */
static int read_moments_of(const struct read_table *table, size_t channel, uint64_t numbers,
                           bool is_whole, struct moments *moments)
{
    const struct read_moments *read = &table->moments[channel];
    struct moments_text text = {.least = ""};
    *moments = (struct moments){.lowest = read->lowest, .highest = read->highest};
    snprintf(text.least, sizeof text.least, "%s", read_text(table, read->least));
    snprintf(text.greatest, sizeof text.greatest, "%s", read_text(table, read->greatest));
    snprintf(text.sum, sizeof text.sum, "%s", read_text(table, read->sum));
    snprintf(text.squares, sizeof text.squares, "%s", read_text(table, read->squares));
    snprintf(text.check, sizeof text.check, "%s", read_text(table, read->check));
    uint64_t infinite = moments->lowest;
    const bool is_right = moments_read(&text, is_whole, moments) && moments->any == (numbers > 0) &&
                          add_count(&infinite, moments->highest) && infinite <= numbers;
    return is_right ? 0 : -1;
}

static int read_all_moments(const struct read_table *table, const struct histogram *histogram,
                            struct moments *moments, struct reason *why)
{
    const size_t channels = histogram_channels(histogram);
    if (table->moment_count != channels)
        return rows_refuse(why, "has no \"moments\", which --stats and --quantiles need; count "
                                "with --stats");
    for (size_t channel = 0; channel < channels; channel++) {
        const struct read_totals *totals =
            channels > 1 ? &table->channels[channel] : &table->totals;
        if (read_moments_of(table, channel, totals->total - totals->invalid,
                            histogram->binning.is_whole, &moments[channel]) != 0)
            return rows_refuse(why, "\"moments\" are damaged");
    }
    return 0;
}

/* --- all of it --- */

static int check_form(const struct read_table *table, const struct histogram *histogram,
                      struct reason *why)
{
    const unsigned channels = histogram_channels(histogram);
    const uint64_t binned = HAS_BELOW | HAS_ABOVE | HAS_INVALID;
    const uint64_t all = HAS_TOTAL | HAS_COUNTED | HAS_OTHER | HAS_BINS;
    if ((table->has & all) != all)
        return rows_refuse(why, "lacks \"total\", \"counted\", \"other\" or \"bins\"");
    const uint64_t outside = histogram->mode->is_binned        ? binned
                             : histogram->mode->has_characters ? HAS_INVALID
                                                               : 0;
    if ((table->has & binned) != outside)
        return rows_refuse(why, "\"below\", \"above\" and \"invalid\" do not go with the mode");
    if (table->channel_count != (channels > 1 ? channels : 0))
        return rows_refuse(why, "\"channels\" are not as many as the options say");
    if (table->count_count != table->row_count * channels)
        return rows_refuse(why, "a bin has not one count for each channel");
    return 0;
}

int table_rows_check(struct read_table *table, const struct histogram *histogram,
                     struct moments *moments, struct reason *why)
{
    struct sums sums = {{0}};
    if (check_form(table, histogram, why) != 0 || map_rows_of(table, histogram, &sums, why) != 0 ||
        check_totals(table, histogram, &sums, why) != 0)
        return -1;
    return histogram->has_moments ? read_all_moments(table, histogram, moments, why) : 0;
}

/* Adds what is in no bin, of one channel. */
static void add_outside(const struct read_totals *totals, const struct binning *binning,
                        uint64_t *counts)
{
    counts[ROW_BELOW] += totals->below;
    counts[ROW_ABOVE(binning)] += totals->above;
    counts[ROW_INVALID(binning)] += totals->invalid;
}

void table_rows_add(const struct read_table *table, const struct histogram *histogram,
                    const struct moments *moments, struct tally *tally)
{
    const size_t rows = histogram_rows(histogram);
    const size_t channels = histogram_channels(histogram);
    tally->samples += table->totals.total;
    for (size_t i = 0; i < table->row_count; i++) {
        const size_t row = table->rows[i].row;
        for (size_t channel = 0; row != READ_ROW_NONE && channel < channels; channel++)
            tally->counts[channel * rows + row] += table->counts[i * channels + channel];
    }
    for (size_t channel = 0; histogram->mode->is_binned && channel < channels; channel++)
        add_outside(channels > 1 ? &table->channels[channel] : &table->totals, &histogram->binning,
                    tally->counts + channel * rows);
    if (histogram->mode->has_characters) /* the last row */
        tally->counts[rows - 1] += table->totals.invalid;
    for (size_t channel = 0; histogram->has_moments && channel < channels; channel++)
        moments_merge(&tally->moments[channel], &moments[channel]);
}
