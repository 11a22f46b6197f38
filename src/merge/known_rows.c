/* SPDX-License-Identifier: MIT */
#include "known_rows.h"
#include "src/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)64 << 20)
#define ROW_LENGTH_MAX (2 * ROW_TEXT + 32)
#define ROWS_TRIED 8     /* as empty rows may be left out */
#define BYTES_FOR_ROW 16 /* of tables: making a row known takes as long as it saves for so many */
#define DIGITS_READ 19   /* of a count: so many fit in 64 bits */

bool known_rows_pay(const struct histogram *histogram, uint64_t bytes)
{
    return histogram->mode->is_binned && histogram_channels(histogram) == 1 &&
           bytes / BYTES_FOR_ROW >= histogram->binning.bins;
}

/* Appends an edge. JSON knows no infinity: it is a string. Returns the end. */
static char *append_edge(char *end, const char *edge)
{
    const char *quote = strcmp(edge, "inf") == 0 || strcmp(edge, "-inf") == 0 ? "\"" : "";
    return stpcpy(stpcpy(stpcpy(end, quote), edge), quote);
}

/* Writes a row to a text that has room, and returns its length. Equal edges are those of a bin that
 * no number can be in, or of zero alone: row_finder_find tells them apart, so they have no text
 * here. */
static size_t show_row(const struct row_label *label, char *text)
{
    if (strcmp(label->lo, label->hi) == 0)
        return 0;
    char *end = append_edge(stpcpy(text, ",{\"lo\":"), label->lo);
    end = append_edge(stpcpy(end, ",\"hi\":"), label->hi);
    end = stpcpy(end, ",\"count\":");
    return (size_t)(end - text);
}

void known_rows_make(struct known_rows *known, const struct histogram *histogram)
{
    const size_t bins = histogram->binning.bins;
    struct row_label label = {.next = 0};
    size_t len = 0, room = 0;
    *known = (struct known_rows){.ends = malloc((bins + 1) * sizeof *known->ends)};
    if (!known->ends)
        return;
    known->ends[0] = 0;
    for (size_t row = 1; row <= bins && len + ROW_LENGTH_MAX <= TEXT_MAX; row++) {
        char *longer = grow_list(known->text, &room, len + ROW_LENGTH_MAX, 1);
        if (!longer) {
            known_rows_free(known);
            return;
        }
        known->text = longer;
        histogram_label_row(histogram, row, &label);
        len += show_row(&label, known->text + len);
        known->ends[row] = (uint32_t)len;
        known->rows = row;
    }
}

void known_rows_free(struct known_rows *known)
{
    free(known->text);
    free(known->ends);
    *known = (struct known_rows){0};
}

/* Reads a count without leading zeros and the end of the row. Returns the length, or 0: it is
 * something else, or incomplete. */
static size_t read_count(const char *text, size_t len, uint64_t *count)
{
    uint64_t number = 0;
    size_t digits = 0;
    while (digits < len && digits < DIGITS_READ && text[digits] >= '0' && text[digits] <= '9')
        number = number * 10 + (uint64_t)(text[digits++] - '0');
    if (digits == 0 || digits == len || text[digits] != '}' || (text[0] == '0' && digits > 1))
        return 0;
    *count = number;
    return digits + 1;
}

size_t known_rows_read(const struct known_rows *known, const char *text, size_t len, size_t *row,
                       uint64_t *count)
{
    for (size_t tried = *row + 1; tried <= *row + ROWS_TRIED && tried <= known->rows; tried++) {
        const uint32_t begin = known->ends[tried - 1];
        const size_t row_len = known->ends[tried] - begin;
        if (row_len == 0 || row_len > len || memcmp(text, known->text + begin, row_len) != 0)
            continue;
        const size_t count_len = read_count(text + row_len, len - row_len, count);
        if (count_len == 0)
            return 0;
        *row = tried;
        return row_len + count_len;
    }
    return 0;
}
