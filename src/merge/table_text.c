/* SPDX-License-Identifier: MIT */
#include "table_text.h"
#include "find_rows.h"
#include "table_json.h"
#include "table_lines.h"

#include "src/histogram/characters.h"
#include "src/histogram/edge_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what was counted --- */

/* Adds up the rows [begin, end). */
static int text_sum(const struct read_table *table, size_t begin, size_t end, uint64_t *sum,
                    struct reason *why)
{
    *sum = 0;
    for (size_t i = begin; i < end; i++)
        if (__builtin_add_overflow(*sum, table->counts[i], sum)) {
            reason_set(why, "counts beyond 2^64");
            return -1;
        }
    return 0;
}

static int text_no_memory(struct reason *why)
{
    reason_set(why, "out of memory");
    return -1;
}

/* Sets what JSON would say besides rows. */
static int text_finish(struct read_table *table, const char *mode, const char *type,
                       struct reason *why)
{
    struct read_totals *totals = &table->totals;
    if (text_sum(table, 0, table->row_count, &totals->counted, why) != 0)
        return -1;
    if (__builtin_add_overflow(totals->below, totals->above, &totals->other) ||
        __builtin_add_overflow(totals->other, totals->invalid, &totals->other) ||
        __builtin_add_overflow(totals->other, totals->counted, &totals->total)) {
        reason_set(why, "counts beyond 2^64");
        return -1;
    }
    table->has |=
        HAS_SCHEMA | HAS_MODE | HAS_OPTIONS | HAS_TOTAL | HAS_COUNTED | HAS_OTHER | HAS_BINS;
    if (read_table_add_text(table, "gpuhisto/1", 10, &table->schema) != READ_TABLE_OK ||
        read_table_add_text(table, mode, strlen(mode), &table->mode) != READ_TABLE_OK ||
        read_table_add_text(table, type, strlen(type), &table->type) != READ_TABLE_OK)
        return text_no_memory(why);
    return 0;
}

/* Whether the note is the row's; TSV has a double quote as an escape. */
static bool text_is_note(const char *note, const struct row_label *label)
{
    return strcmp(note, label->note) == 0 ||
           (strcmp(label->note, "\"") == 0 && strcmp(note, "\\x22") == 0);
}

/* Bytes and letters: gives each row the name and the values that JSON has. */
static int text_name_rows(struct read_table *table, const struct histogram *histogram,
                          struct reason *why)
{
    struct row_label label = {.next = 0};
    if (table->row_count != histogram->bins || (table->has & HAS_INVALID)) {
        reason_set(why, "%zu rows, not %zu: the table is cut short, or made with --nonzero",
                   table->row_count, histogram->bins);
        return -1;
    }
    for (size_t i = 0; i < table->row_count; i++) {
        struct read_row *row = &table->rows[i];
        histogram->mode->label_row(histogram, i, &label);
        if (!text_is_note(read_text(table, row->hi), &label)) {
            reason_set(why, "the row %s is not of the byte that it shows",
                       read_text(table, row->lo));
            return -1;
        }
        row->bin = row->lo;
        if (read_table_add_text(table, label.lo, strlen(label.lo), &row->lo) != READ_TABLE_OK ||
            read_table_add_text(table, label.hi, strlen(label.hi), &row->hi) != READ_TABLE_OK)
            return text_no_memory(why);
    }
    return 0;
}

static int text_read_bytes(struct read_table *table, struct reason *why)
{
    struct histogram histogram;
    histogram_bytes(&histogram);
    if (words_format(&table->options, "--bytes") != 0)
        return text_no_memory(why);
    if (text_name_rows(table, &histogram, why) != 0)
        return -1;
    return text_finish(table, "bytes", "", why);
}

/* `first` is the name of the first row: "a", or "a-d". */
static int text_read_letters(struct read_table *table, const char *first, struct reason *why)
{
    struct histogram histogram;
    const unsigned width = first[1] ? (unsigned)(first[2] - 'a') + 1 : 1;
    histogram_letters(&histogram, width, false);
    if (words_format(&table->options, "--letters=%u", width) != 0)
        return text_no_memory(why);
    if (text_name_rows(table, &histogram, why) != 0)
        return -1;
    return text_finish(table, "letters", "", why);
}

/* Takes the rows below the first edge and from the last one on out of the list. */
static void text_take_outside(struct read_table *table, const struct histogram *histogram)
{
    struct row_label below = {.next = 0}, above = {.next = 0};
    size_t kept = 0;
    histogram->mode->label_row(histogram, ROW_BELOW, &below);
    histogram->mode->label_row(histogram, ROW_ABOVE(&histogram->binning), &above);
    for (size_t i = 0; i < table->row_count; i++) {
        const char *lo = read_text(table, table->rows[i].lo),
                   *hi = read_text(table, table->rows[i].hi);
        if (i == 0 && strcmp(lo, below.lo) == 0 && strcmp(hi, below.hi) == 0) {
            table->totals.below = table->counts[i];
        } else if (i + 1 == table->row_count && strcmp(lo, above.lo) == 0 &&
                   strcmp(hi, above.hi) == 0) {
            table->totals.above = table->counts[i];
        } else {
            table->rows[kept] = table->rows[i];
            table->counts[kept++] = table->counts[i];
        }
    }
    table->row_count = table->count_count = kept;
}

/* Whether all rows are the histogram's. */
static bool text_fits(const struct read_table *table, const struct histogram *histogram)
{
    struct row_label below = {.next = 0}, above = {.next = 0};
    struct row_finder finder;
    row_finder_begin(&finder, histogram);
    histogram->mode->label_row(histogram, ROW_BELOW, &below);
    histogram->mode->label_row(histogram, ROW_ABOVE(&histogram->binning), &above);
    for (size_t i = 0; i < table->row_count; i++) {
        const char *lo = read_text(table, table->rows[i].lo),
                   *hi = read_text(table, table->rows[i].hi);
        const bool is_below = i == 0 && strcmp(lo, below.lo) == 0 && strcmp(hi, below.hi) == 0;
        const bool is_above =
            i + 1 == table->row_count && strcmp(lo, above.lo) == 0 && strcmp(hi, above.hi) == 0;
        const bool is_empty = strcmp(lo, hi) == 0 && table->counts[i] == 0;
        if (!is_below && !is_above && !is_empty && row_finder_find(&finder, lo, hi) == SIZE_MAX)
            return false;
    }
    return true;
}

/* Whether each row begins where the one before it ends, and they go from -inf to inf: bins that
 * are not sparse have all their rows. */
static int text_check_chain(const struct read_table *table, struct reason *why)
{
    const size_t count = table->row_count;
    for (size_t i = 0; i + 1 < count; i++) {
        const char *hi = read_text(table, table->rows[i].hi);
        const char *lo = read_text(table, table->rows[i + 1].lo);
        if (strcmp(hi, lo) != 0) {
            reason_set(why, "rows are missing between %s and %s, or these are not all rows", hi,
                       lo);
            return -1;
        }
    }
    if (count >= 3 && strcmp(read_text(table, table->rows[0].lo), "-inf") == 0 &&
        strcmp(read_text(table, table->rows[count - 1].hi), "inf") == 0)
        return 0;
    reason_set(why, "the rows do not go from -inf to inf: there are others, or none");
    return -1;
}

/* Lists the edges of rows that follow each other, each edge once: bins that no number can be in
 * have none of their own. */
static int text_list_edges(struct read_table *table, bool *is_whole, struct reason *why)
{
    const size_t count = table->row_count;
    char *text = malloc(count * ROW_TEXT + 16), *end = text;
    whole number;
    *is_whole = true;
    if (!text)
        return text_no_memory(why);
    end = stpcpy(text, "--edges=");
    for (size_t i = 0; i + 1 < count; i++) {
        const char *hi = read_text(table, table->rows[i].hi);
        if (strcmp(hi, read_text(table, table->rows[i].lo)) == 0)
            continue;
        *is_whole &= edge_read_whole(hi, &number) && strcmp(hi, "-0") != 0;
        end += sprintf(end, "%s%s", i ? "," : "", hi);
    }
    const int rc = words_add(&table->options, text, (size_t)(end - text));
    free(text);
    return rc == 0 ? 0 : text_no_memory(why);
}

/* Finds a histogram that has these rows, which is to be freed, and its options. */
static int text_lay(struct read_table *table, const struct merge *merge,
                    struct histogram *histogram, struct reason *why)
{
    static const char *const layouts[] = {"--digits=3", "--digits=2", "--digits=4",
                                          "--digits=1", "--digits=5", "--log=2:32"};
    bool is_coarse, is_whole;
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (words_format(&table->options, "--numbers") != 0 ||
            words_format(&table->options, "%s", layouts[i]) != 0)
            return text_no_memory(why);
        if (merge->lay(&table->options, histogram, &is_coarse, why) != 0)
            return -1;
        if (text_fits(table, histogram))
            return 0;
        binning_free(&histogram->binning);
        words_free(&table->options);
    }
    if (words_format(&table->options, "--numbers") != 0)
        return text_no_memory(why);
    if (text_check_chain(table, why) != 0 || text_list_edges(table, &is_whole, why) != 0)
        return -1;
    if (is_whole) {
        free(table->options.list[0]);
        table->options.list[0] = strdup("--values=u64");
        if (!table->options.list[0])
            return text_no_memory(why);
    }
    return merge->lay(&table->options, histogram, &is_coarse, why);
}

static int text_read_binned(struct read_table *table, const struct merge *merge, struct reason *why)
{
    struct histogram laid = {.mode = NULL};
    const struct histogram *histogram = &merge->histogram;
    int rc = 0;
    if (!(table->has & HAS_INVALID)) {
        reason_set(why, "the last row is not 'invalid': the table is cut short, or made with "
                        "--nonzero");
        return -1;
    }
    if (merge->first && histogram->mode->is_binned && text_fits(table, histogram)) {
        if (!histogram_is_sparse(histogram) && text_check_chain(table, why) != 0)
            return -1;
        for (size_t i = 0; i < merge->options.count && rc == 0; i++)
            rc = words_format(&table->options, "%s", merge->options.list[i]);
        if (rc != 0)
            return text_no_memory(why);
    } else {
        if (text_lay(table, merge, &laid, why) != 0)
            return -1;
        histogram = &laid;
    }
    text_take_outside(table, histogram);
    table->has |= HAS_BELOW | HAS_ABOVE;
    rc = text_finish(table, histogram->mode->name,
                     histogram->mode->has_types ? histogram->type.name : "", why);
    if (laid.mode)
        binning_free(&laid.binning);
    return rc;
}

int table_text_read(struct read_table *table, const char *text, size_t len,
                    const struct merge *merge, struct reason *why)
{
    read_table_clear(table);
    if (table_lines_read(table, text, len, why) != 0)
        return -1;
    const char *first = table->row_count ? read_text(table, table->rows[0].lo) : "";
    if (character_is_row_name(first)) {
        reason_set(why, "tables of characters are added up in JSON alone");
        return -1;
    }
    if (strncmp(first, "0x", 2) == 0 && strlen(first) == strlen("0x0000")) {
        reason_set(why, "tables of --pairs are added up in JSON alone");
        return -1;
    }
    if (strcmp(first, "0x00") == 0)
        return text_read_bytes(table, why);
    if (table_lines_are_letters(first, strlen(first))) {
        char name[ROW_TEXT];
        snprintf(name, sizeof name, "%s", first);
        return text_read_letters(table, name, why);
    }
    return text_read_binned(table, merge, why);
}
