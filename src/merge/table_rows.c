#include "table_rows.h"
#include "table_json.h"

#include "src/histogram/edge_text.h"
#include "src/histogram/moments_text.h"
#include "src/histogram/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int rows_refuse(struct reason *why, const char *text)
{
    reason_set(why, "%s", text);
    return -1;
}

/* --- finding rows --- */

static size_t find_whole(const struct binning *binning, const char *lo, const char *hi)
{
    whole from, to;
    if (!edge_read_whole(lo, &from) || !edge_read_whole(hi, &to) || from >= to)
        return SIZE_MAX;
    const size_t row = binning_row_whole(binning, from);
    if (row < 1 || row > binning->bins || binning_whole_edge(binning, row - 1) != from ||
        binning_whole_edge(binning, row) != to)
        return SIZE_MAX;
    return row;
}

/* Edge k as it is shown. */
static double shown_edge(const struct binning *binning, size_t k)
{
    return binning->digits.scales ? digits_shown_edge(&binning->digits, k)
                                  : binning_edge(binning, k);
}

static size_t find_double(const struct binning *binning, const char *lo, const char *hi)
{
    double from, to;
    if (!edge_read(lo, &from) || !edge_read(hi, &to))
        return SIZE_MAX;
    const bool is_zero = from == 0 && to == 0;
    if (!is_zero && from >= to)
        return SIZE_MAX;
    /* A float's edge may lie just above or below the decimal that is shown. */
    const size_t near = binning_row(binning, from);
    for (size_t row = near > 1 ? near - 1 : 1; row <= near + 1 && row <= binning->bins; row++) {
        if (binning_is_zero_alone(binning, row - 1) ? is_zero
            : is_zero                               ? false
                      : shown_edge(binning, row - 1) == from && shown_edge(binning, row) == to)
            return row;
    }
    return SIZE_MAX;
}

size_t table_rows_find(const struct histogram *histogram, const char *lo, const char *hi)
{
    const struct binning *binning = &histogram->binning;
    return binning->is_whole ? find_whole(binning, lo, hi) : find_double(binning, lo, hi);
}

/* The row, at or after `from`, that is called as the one that was read. */
static size_t find_label(const struct read_table *table, const struct read_row *read,
                         const struct histogram *histogram, size_t from)
{
    struct row_label label = {.next = 0};
    for (; from < histogram->bins; from++) {
        histogram->mode->label_row(histogram, from, &label);
        if (strcmp(label.name, read_text(table, read->bin)) == 0 &&
            strcmp(label.lo, read_text(table, read->lo)) == 0 &&
            strcmp(label.hi, read_text(table, read->hi)) == 0)
            return from;
    }
    return SIZE_MAX;
}

/* --- adding up --- */

/* Sums of what was read, by channel. */
struct sums {
    uint64_t counted[CHANNELS_MAX];
};

/* *sum += count; whether it is still right. */
static bool add_count(uint64_t *sum, uint64_t count)
{
    return !__builtin_add_overflow(*sum, count, sum);
}

static int add_row(const struct read_table *table, const struct histogram *histogram, size_t index,
                   struct tally *tally, struct sums *sums, size_t *next, struct reason *why)
{
    const struct read_row *read = &table->rows[index];
    const char *lo = read_text(table, read->lo), *hi = read_text(table, read->hi);
    const size_t channels = histogram_channels(histogram), rows = histogram_rows(histogram);
    const uint64_t *counts = &table->counts[index * channels];
    const bool is_binned = histogram->mode->is_binned;
    const size_t row =
        is_binned ? table_rows_find(histogram, lo, hi) : find_label(table, read, histogram, *next);
    if (row == SIZE_MAX && is_binned && strcmp(lo, hi) == 0) {
        for (size_t channel = 0; channel < channels; channel++)
            if (counts[channel] != 0)
                return rows_refuse(why, "a bin that no number can be in has a count");
        return 0;
    }
    if (row == SIZE_MAX || row < *next) {
        reason_set(why, "there is no bin from %s to %s%s", lo, hi,
                   row == SIZE_MAX ? "" : " after the one before it");
        return -1;
    }
    *next = row + 1;
    for (size_t channel = 0; channel < channels; channel++)
        if (!add_count(&sums->counted[channel], counts[channel]) ||
            !add_count(&tally->counts[channel * rows + row], counts[channel]))
            return rows_refuse(why, "counts beyond 2^64");
    return 0;
}

/* Adds what is in no bin, of one channel. */
static int add_outside(const struct read_totals *totals, const struct binning *binning,
                       uint64_t *counts, struct reason *why)
{
    if (add_count(&counts[ROW_BELOW], totals->below) &&
        add_count(&counts[ROW_ABOVE(binning)], totals->above) &&
        add_count(&counts[ROW_INVALID(binning)], totals->invalid))
        return 0;
    return rows_refuse(why, "counts beyond 2^64");
}

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
    if (histogram->mode->is_binned && !adds_up(totals, counted))
        return rows_refuse(why,
                           "\"counted\", \"below\", \"above\" and \"invalid\" do not add up to "
                           "\"total\"");
    if (!histogram->mode->is_binned && !histogram_adds_up(histogram, counted, totals->total))
        return rows_refuse(why, "\"other\" is not 0, and every byte is in a bin");
    return channels > 1 ? check_channels(table, histogram, sums, why) : 0;
}

/* --- moments --- */

static int add_moments(const struct read_table *table, const struct histogram *histogram,
                       struct tally *tally, struct reason *why)
{
    const struct read_moments *read = &table->moments;
    const uint64_t numbers = table->totals.total - table->totals.invalid;
    struct moments moments = {.lowest = read->lowest, .highest = read->highest};
    struct moments_text text = {.least = ""};
    if (!(table->has & HAS_MOMENTS))
        return rows_refuse(why, "has no \"moments\", which --stats and --quantiles need; count "
                                "with --stats");
    snprintf(text.least, sizeof text.least, "%s", read_text(table, read->least));
    snprintf(text.greatest, sizeof text.greatest, "%s", read_text(table, read->greatest));
    snprintf(text.sum, sizeof text.sum, "%s", read_text(table, read->sum));
    snprintf(text.squares, sizeof text.squares, "%s", read_text(table, read->squares));
    snprintf(text.check, sizeof text.check, "%s", read_text(table, read->check));
    uint64_t infinite = moments.lowest;
    if (!moments_read(&text, histogram->binning.is_whole, &moments) ||
        moments.any != (numbers > 0) || !add_count(&infinite, moments.highest) ||
        infinite > numbers)
        return rows_refuse(why, "\"moments\" are damaged");
    moments_merge(tally->moments, &moments);
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
    if ((table->has & binned) != (histogram->mode->is_binned ? binned : 0))
        return rows_refuse(why, "\"below\", \"above\" and \"invalid\" do not go with the mode");
    if (table->channel_count != (channels > 1 ? channels : 0))
        return rows_refuse(why, "\"channels\" are not as many as the options say");
    if (table->count_count != table->row_count * channels)
        return rows_refuse(why, "a bin has not one count for each channel");
    return 0;
}

int table_rows_add(const struct read_table *table, const struct histogram *histogram,
                   struct tally *tally, struct reason *why)
{
    const size_t rows = histogram_rows(histogram);
    const unsigned channels = histogram_channels(histogram);
    struct sums sums = {{0}};
    size_t next = 0;
    if (check_form(table, histogram, why) != 0)
        return -1;
    number_prepare();
    if (!add_count(&tally->samples, table->totals.total))
        return rows_refuse(why, "the total goes beyond 2^64");
    for (size_t i = 0; i < table->row_count; i++)
        if (add_row(table, histogram, i, tally, &sums, &next, why) != 0)
            return -1;
    if (check_totals(table, histogram, &sums, why) != 0)
        return -1;
    for (unsigned channel = 0; histogram->mode->is_binned && channel < channels; channel++)
        if (add_outside(channels > 1 ? &table->channels[channel] : &table->totals,
                        &histogram->binning, tally->counts + channel * rows, why) != 0)
            return -1;
    return histogram->has_moments ? add_moments(table, histogram, tally, why) : 0;
}
