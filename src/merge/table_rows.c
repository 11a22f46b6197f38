/* SPDX-License-Identifier: MIT */
/* Rows and keys: found in the histogram, checked, and added. */
#include "parsed_table.h"
#include "src/tally/key_tallies.h"

#include "src/base/memory.h"
#include "src/tally/statistics.h"
#include "src/text/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- rows that were seen before --- */

#define ROWS_TRIED 8 /* that may follow a row, as empty ones may be left out */
#define SEEN_LENGTH_MAX ((size_t)64 << 20) /* of all texts */

/* Returns the text of a row, and sets its length; or NULL, if it was not seen. First among those
 * that all threads share, which are nearly all. */
static inline const uint8_t *seen_text(const struct seen_rows *seen, size_t row, size_t *len)
{
    const struct seen_rows *base = seen->base;
    const bool is_in_base = base && base->at && base->at[row];
    if (!is_in_base && !(seen->at && seen->at[row]))
        return NULL;
    const uint8_t *text = is_in_base ? base->texts + base->at[row] : seen->texts + seen->at[row];
    *len = text[0];
    return text + 1;
}

size_t row_finder_see(const struct row_finder *finder, const unsigned char *text, size_t len,
                      size_t *next)
{
    const size_t first = *next;
    size_t seen_len;
    for (size_t row = first; row < finder->rows && row < first + ROWS_TRIED; row++) {
        const uint8_t *seen = seen_text(finder->seen, row, &seen_len);
        if (seen && seen_len <= len && memcmp(seen, text, seen_len) == 0) {
            *next = row;
            return seen_len;
        }
    }
    return 0;
}

/* Notes the text of a row, unless it has one or memory is short. */
static void note_seen(struct seen_rows *seen, size_t rows, size_t row, const char *text)
{
    const size_t at = seen->len ? seen->len : 1, len = strlen(text);
    size_t known;
    if (seen_text(seen, row, &known) || at + len >= SEEN_LENGTH_MAX)
        return;
    uint8_t *longer = grow_list(seen->texts, &seen->capacity, at + 1 + len, 1);
    if (!longer)
        return;
    seen->texts = longer;
    if (!seen->at && !(seen->at = calloc(rows, sizeof *seen->at)))
        return;
    seen->at[row] = (uint32_t)at;
    seen->texts[at] = (uint8_t)len;
    memcpy(seen->texts + at + 1, text, len);
    seen->len = at + 1 + len;
}

void seen_rows_free(struct seen_rows *seen)
{
    free(seen->at);
    free(seen->texts);
    *seen = (struct seen_rows){.base = NULL};
}

/* --- rows by their texts --- */

static size_t find_whole(const struct binning *binning, const char *lo, const char *hi)
{
    int128 from, to;
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

/* True if the row after the last one is shown with these edges: writing one of them is much faster
 * than reading both as numbers. Not for equal edges, which several rows may have. */
static bool is_next(struct row_finder *finder, const char *lo, const char *hi)
{
    const struct histogram_spec *spec = finder->spec;
    if (!finder->follows || finder->next > spec->binning.bins)
        return false;
    histogram_spec_label_row(spec, finder->next, &finder->label);
    return strcmp(finder->label.hi, hi) == 0 && strcmp(finder->label.lo, lo) == 0 &&
           strcmp(lo, hi) != 0;
}

/* True if a row is a bin with the label that was read. */
static bool has_label(struct row_finder *finder, const struct parsed_table *table,
                      const struct row_texts *texts, size_t row)
{
    struct row_label *label = &finder->label;
    *label = (struct row_label){.next = 0};
    histogram_spec_label_row(finder->spec, row, label);
    return label->kind == ROW_KIND_BIN && strcmp(label->name, table_text(table, texts->bin)) == 0 &&
           strcmp(label->lo, table_text(table, texts->lo)) == 0 &&
           strcmp(label->hi, table_text(table, texts->hi)) == 0;
}

/* Finds the row that has the label which was read, from the next one on. First the one whose number
 * is the first value, which it is with bytes, pairs and characters. */
static size_t find_label(struct row_finder *finder, const struct parsed_table *table,
                         const struct row_texts *texts)
{
    const size_t bins = finder->spec->bins;
    size_t row = finder->next;
    int128 first;
    if (read_shown_whole(table_text(table, texts->lo), &first) && first >= (int128)row &&
        first < (int128)bins && has_label(finder, table, texts, (size_t)first))
        return (size_t)first;
    while (row < bins && !has_label(finder, table, texts, row))
        row++;
    return row < bins ? row : SIZE_MAX;
}

void row_finder_begin(struct row_finder *finder, const struct histogram_spec *spec,
                      struct seen_rows *seen)
{
    *finder = (struct row_finder){.spec = spec,
                                  .seen = seen,
                                  .rows = histogram_spec_rows(spec),
                                  .next = spec->mode->is_binned ? ROW_BELOW + 1 : 0,
                                  .follows = true};
    number_prepare();
}

uint32_t row_finder_find(struct row_finder *finder, const struct parsed_table *table,
                         const struct row_texts *texts)
{
    const bool is_binned = finder->spec->mode->is_binned;
    const char *lo = table_text(table, texts->lo), *hi = table_text(table, texts->hi);
    const struct binning *binning = &finder->spec->binning;
    const size_t row = !is_binned                ? find_label(finder, table, texts)
                       : is_next(finder, lo, hi) ? finder->next
                       : binning->is_whole       ? find_whole(binning, lo, hi)
                                                 : find_double(binning, lo, hi);
    if (row == SIZE_MAX)
        return is_binned && *lo && strcmp(lo, hi) == 0 ? ROW_NONE : ROW_UNKNOWN;
    if (texts->all)
        note_seen(finder->seen, finder->rows, row, table_text(table, texts->all));
    finder->follows = row == finder->next;
    finder->next = row + 1;
    return (uint32_t)row;
}

/* --- what a table must have --- */

/* The state of a check that goes row by row. */
struct row_check {
    struct parsed_table *table;
    const struct histogram_spec *spec;
    size_t channels;
    struct row_finder finder;
    size_t unknown;                 /* rows that were found */
    size_t next;                    /* rows before this one would not ascend */
    uint64_t counted[CHANNELS_MAX]; /* the sum of what was read, for each channel */
};

/* Adds to a sum. False if it overflows. */
static bool add_count(uint64_t *sum, uint64_t count)
{
    return !__builtin_add_overflow(*sum, count, sum);
}

/* --- rows --- */

/* Says that a row does not exist, or comes too late. */
static int refuse_row(const struct row_check *check, uint32_t row, const struct row_texts *texts,
                      struct error *error)
{
    const struct parsed_table *table = check->table;
    struct row_label label = {.next = 0};
    if (row != ROW_UNKNOWN) {
        histogram_spec_label_row(check->spec, row, &label);
        return error_set(error, "there is no bin from %s to %s after the one before it", label.lo,
                         label.hi);
    }
    if (!texts->lo)
        return error_set(error, "there is no bin '%s'", table_text(table, texts->bin));
    return error_set(error, "there is no bin from %s to %s", table_text(table, texts->lo),
                     table_text(table, texts->hi));
}

/* Finds one row, and adds its counts. */
static int check_row(struct row_check *check, size_t index, struct error *error)
{
    struct parsed_table *table = check->table;
    const uint64_t *counts = &table->counts[index * check->channels];
    const struct row_texts *texts = NULL;
    uint32_t row = table->rows[index];
    if (row == ROW_UNKNOWN) {
        texts = &table->texts[check->unknown++];
        row = table->rows[index] = row_finder_find(&check->finder, table, texts);
    }
    if (row == ROW_NONE) {
        for (size_t channel = 0; channel < check->channels; channel++)
            if (counts[channel] != 0)
                return error_set(error, "a bin that cannot hold a number has a count");
        return 0;
    }
    if (row == ROW_UNKNOWN || row < check->next)
        return refuse_row(check, row, texts, error);
    check->next = row + (size_t)1;
    for (size_t channel = 0; channel < check->channels; channel++)
        if (!add_count(&check->counted[channel], counts[channel]))
            return error_set(error, "counts beyond 2^64");
    return 0;
}

static int check_rows(struct row_check *check, struct seen_rows *seen, struct error *error)
{
    row_finder_begin(&check->finder, check->spec, seen);
    for (size_t i = 0; i < check->table->row_count; i++) {
        const uint32_t row = check->table->rows[i];
        uint64_t sum = check->counted[0];
        /* Most rows are known ones that follow each other. */
        if (check->channels == 1 && row < ROW_NONE && row >= check->next &&
            add_count(&sum, check->table->counts[i])) {
            check->counted[0] = sum;
            check->next = row + (size_t)1;
        } else if (check_row(check, i, error) != 0) {
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

static int check_channels(const struct row_check *check, struct error *error)
{
    const struct read_totals *totals = &check->table->totals;
    struct read_totals all = {0};
    for (size_t channel = 0; channel < check->channels; channel++) {
        const struct read_totals *own = &check->table->channels[channel];
        if (!adds_up(own, check->counted[channel]))
            return error_set(error, "the counts of channel %zu do not add up to its total",
                             channel + 1);
        if (own->total != totals->total / check->channels || !add_count(&all.total, own->total) ||
            !add_count(&all.below, own->below) || !add_count(&all.above, own->above) ||
            !add_count(&all.invalid, own->invalid))
            return error_set(error, "the channels have different lengths");
    }
    if (all.total == totals->total && all.below == totals->below && all.above == totals->above &&
        all.invalid == totals->invalid)
        return 0;
    return error_set(error, "the channels do not add up to the totals");
}

static int check_totals(const struct row_check *check, struct error *error)
{
    const struct read_totals *totals = &check->table->totals;
    const struct mode *mode = check->spec->mode;
    uint64_t counted = 0;
    for (size_t channel = 0; channel < check->channels; channel++)
        if (!add_count(&counted, check->counted[channel]))
            return error_set(error, "counts beyond 2^64");
    if (counted != totals->counted)
        return error_set(error, "the bins add up to %" PRIu64 ", and \"counted\" is %" PRIu64,
                         counted, totals->counted);
    if (totals->counted > totals->total || totals->total - totals->counted != totals->other)
        return error_set(error, "\"counted\" and \"other\" do not add up to \"total\"");
    if (mode->is_binned && !adds_up(totals, counted))
        return error_set(error,
                         "\"counted\", \"below\", \"above\" and \"invalid\" do not add up to "
                         "\"total\"");
    if (mode->has_characters && totals->other != totals->invalid)
        return error_set(error, "\"counted\" and \"invalid\" do not add up to \"total\"");
    if (!mode->is_binned && !mode->has_characters &&
        !histogram_spec_adds_up(check->spec, counted, totals->total))
        return error_set(error, "\"other\" must be 0, because every byte is in a bin");
    return check->channels > 1 ? check_channels(check, error) : 0;
}

/* --- moments --- */

/* Reads the moments of a channel with so many numbers. False if they are damaged. */
static bool read_moments(const struct parsed_table *table, size_t channel, uint64_t numbers,
                         bool is_whole, struct moments *moments)
{
    const struct read_moments *read = &table->moments[channel];
    struct moments_text text;
    *moments = (struct moments){.lowest = read->lowest, .highest = read->highest};
    snprintf(text.least, sizeof text.least, "%s", table_text(table, read->least));
    snprintf(text.greatest, sizeof text.greatest, "%s", table_text(table, read->greatest));
    snprintf(text.sum, sizeof text.sum, "%s", table_text(table, read->sum));
    snprintf(text.squares, sizeof text.squares, "%s", table_text(table, read->squares));
    snprintf(text.check, sizeof text.check, "%s", table_text(table, read->check));
    uint64_t infinite = moments->lowest;
    return moments_read(&text, is_whole, moments) && moments->any == (numbers > 0) &&
           add_count(&infinite, moments->highest) && infinite <= numbers;
}

static int check_moments(const struct row_check *check, struct moments *moments,
                         struct error *error)
{
    const struct parsed_table *table = check->table;
    if (table->moment_count != check->channels)
        return error_set(error, "has no \"moments\", which --stats, --quantiles, --sort and "
                                "--format=prometheus need; count with --stats");
    for (size_t channel = 0; channel < check->channels; channel++) {
        const struct read_totals *totals =
            check->channels > 1 ? &table->channels[channel] : &table->totals;
        if (!read_moments(table, channel, totals->total - totals->invalid,
                          check->spec->binning.is_whole, &moments[channel]))
            return error_set(error, "\"moments\" are damaged");
    }
    return 0;
}

/* --- all of it --- */

/* Checks that the members are those of a table of the mode. */
static int check_form(const struct row_check *check, struct error *error)
{
    const struct parsed_table *table = check->table;
    const struct mode *mode = check->spec->mode;
    const uint64_t binned = HAS_BELOW | HAS_ABOVE | HAS_INVALID;
    const uint64_t all = HAS_TOTAL | HAS_COUNTED | HAS_OTHER | HAS_BINS;
    const uint64_t outside = mode->is_binned ? binned : mode->has_characters ? HAS_INVALID : 0;
    if ((table->has & all) != all)
        return error_set(error, "lacks \"total\", \"counted\", \"other\" or \"bins\"");
    if ((table->has & binned) != outside)
        return error_set(error, "\"below\", \"above\" and \"invalid\" do not belong to this mode");
    if (table->channel_count != (check->channels > 1 ? check->channels : 0))
        return error_set(error, "\"channels\" and \"options\" disagree on the number of channels");
    if (table->count_count != table->row_count * check->channels)
        return error_set(error, "a bin must have one count for each channel");
    return 0;
}

int table_rows_check(struct parsed_table *table, const struct histogram_spec *spec,
                     struct seen_rows *seen, struct moments *moments, struct error *error)
{
    struct row_check check = {
        .table = table, .spec = spec, .channels = histogram_spec_channels(spec)};
    if (check_form(&check, error) != 0 || check_rows(&check, seen, error) != 0 ||
        check_totals(&check, error) != 0)
        return -1;
    return spec->has_moments ? check_moments(&check, moments, error) : 0;
}

void table_rows_add(const struct parsed_table *table, const struct histogram_spec *spec,
                    const struct moments *moments, struct tally *tally)
{
    const struct binning *binning = &spec->binning;
    const size_t rows = histogram_spec_rows(spec);
    const size_t channels = histogram_spec_channels(spec);
    tally->samples += table->totals.total;
    for (size_t i = 0; i < table->row_count; i++) {
        const size_t row = table->rows[i];
        if (row == ROW_NONE)
            continue;
        for (size_t channel = 0; channel < channels; channel++)
            tally->counts[channel * rows + row] += table->counts[i * channels + channel];
        if (tally->blocks)
            row_blocks_mark(tally->blocks, row);
    }
    for (size_t channel = 0; spec->mode->is_binned && channel < channels; channel++) {
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
    if (spec->mode->has_characters) /* the last row */
        tally->counts[rows - 1] += table->totals.invalid;
    for (size_t channel = 0; spec->has_moments && channel < channels; channel++)
        moments_merge(&tally->moments[channel], &moments[channel]);
}

/* --- keys --- */

#define NO_MATCH "its keys and \"options\" do not match"

static int refuse_top(struct error *error)
{
    return error_set(error, "was printed with --top, so keys are missing; print it without, and "
                            "give --top to --merge");
}

/* True if a key has what it must have: a text, and perhaps bytes, or nothing at all; and as many
 * parts as there are keys. */
static bool is_complete(const struct read_key *key, const struct histogram_spec *spec)
{
    const unsigned parts = spec->lines.key_count > 1 ? spec->lines.key_count : 0;
    if (key->is_missing)
        return !key->text.is_there && !key->bytes.is_there;
    return key->text.is_there && key->text.parts == parts &&
           (!key->bytes.is_there || key->bytes.parts == parts);
}

static struct key_name name_of(const struct parsed_table *table, const struct read_key *key)
{
    const struct read_name *name = key->bytes.is_there ? &key->bytes : &key->text;
    if (key->is_missing)
        return (struct key_name){NULL, 0};
    return (struct key_name){(const unsigned char *)table_text(table, name->at), name->len};
}

/* --- keys and numbers: a table for each key --- */

static int check_numbers(const struct parsed_table *table, const struct histogram_spec *spec,
                         struct error *error)
{
    const bool has_key = table->has & HAS_KEY, has_keys = table->has & HAS_KEYS;
    if (has_key == has_keys || table->key_count > 0 || (has_key && !is_complete(&table->key, spec)))
        return error_set(error, NO_MATCH);
    if (!(table->has & HAS_TABLE) || !(table->has & HAS_TABLES) || table->table == 0 ||
        table->table > table->tables)
        return error_set(error, "lacks \"table\" or \"tables\", or they are wrong");
    if (has_keys && table->keys > 0)
        return refuse_top(error);
    if (has_keys && (table->totals.total > 0 || table->tables > 1))
        return error_set(error, NO_MATCH);
    return 0;
}

/* --- keys of lines: a row for each key --- */

/* True if each row has a key. */
static bool has_keys(const struct parsed_table *table, const struct histogram_spec *spec)
{
    if (table->key_count != table->row_count || table->count_count != table->row_count)
        return false;
    for (size_t i = 0; i < table->key_count; i++)
        if (!table->keys_of_rows[i].text.is_there || !is_complete(&table->keys_of_rows[i], spec))
            return false;
    return true;
}

static int check_lines(const struct parsed_table *table, const struct histogram_spec *spec,
                       struct error *error)
{
    const uint64_t needed = HAS_TOTAL | HAS_COUNTED | HAS_OTHER | HAS_INVALID | HAS_BINS;
    const struct read_totals *totals = &table->totals;
    uint64_t counted = 0;
    if ((table->has & needed) != needed)
        return error_set(error, "lacks \"total\", \"counted\", \"other\", \"invalid\" or \"bins\"");
    if ((table->has & (HAS_KEY | HAS_KEYS)) || !has_keys(table, spec))
        return error_set(error, NO_MATCH);
    for (size_t i = 0; i < table->row_count; i++)
        if (__builtin_add_overflow(counted, table->counts[i], &counted))
            return error_set(error, "counts beyond 2^64");
    if (counted != totals->counted)
        return error_set(error, "the bins add up to %" PRIu64 ", and \"counted\" is %" PRIu64,
                         counted, totals->counted);
    if (counted > totals->total || totals->total - counted != totals->other ||
        totals->invalid > totals->other)
        return error_set(error, "\"counted\" and \"other\" do not add up to \"total\"");
    return totals->other == totals->invalid ? 0 : refuse_top(error);
}

int table_keys_check(const struct parsed_table *table, const struct histogram_spec *spec,
                     struct error *error)
{
    if (spec->lines.key_count > 0)
        return spec->mode->is_binned ? check_numbers(table, spec, error)
                                     : check_lines(table, spec, error);
    return table->key_count > 0 || (table->has & HAS_KEY) ? error_set(error, NO_MATCH) : 0;
}

void table_keys_add(const struct parsed_table *table, const struct tally *tally,
                    struct key_tallies *keys)
{
    if (key_tallies_state(keys) != KEYS_COMPLETE) /* and memory is not to grow */
        return;
    if (tally->blocks) {
        if (table->has & HAS_KEY)
            key_tallies_add(keys, name_of(table, &table->key), tally);
        return;
    }
    const struct tally missing = {.samples = table->totals.invalid};
    for (size_t i = 0; i < table->row_count; i++)
        if (table->counts[i] > 0) /* or no line has the key, and it is not to be counted as one */
            key_tallies_add(keys, name_of(table, &table->keys_of_rows[i]),
                            &(struct tally){.samples = table->counts[i]});
    key_tallies_add(keys, (struct key_name){NULL, 0}, &missing);
}
