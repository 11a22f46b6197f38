/* SPDX-License-Identifier: MIT */
#include "picture.h"
#include "screen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide_count;

/* --- columns --- */

/* Returns the length of a part of a name. */
static size_t part_length(const char *text)
{
    const char separator[] = {GROUP_SEPARATOR, '\0'};
    return strcspn(text, separator);
}

void picture_widen(size_t widths[PICTURE_COLUMNS], const struct picture_cells *cells)
{
    for (size_t i = 0, len; i < cells->count; i++)
        for (const char *text = cells->text[i]; text; text = text[len] ? text + len + 1 : NULL) {
            len = part_length(text);
            const size_t width = screen_width(text, len);
            *widths = width > *widths ? width : *widths;
            widths++;
        }
}

size_t picture_width(const size_t widths[PICTURE_COLUMNS], const struct picture_cells *cells)
{
    size_t sum = 0;
    for (size_t i = 0, len; i < cells->count; i++)
        for (const char *text = cells->text[i]; text; text = text[len] ? text + len + 1 : NULL) {
            len = part_length(text);
            sum += *widths++ + PICTURE_GAP;
        }
    return sum;
}

size_t picture_write(struct writer *out, const struct picture_cells *cells,
                     const size_t widths[PICTURE_COLUMNS], const char *sides)
{
    size_t blanks = 0;
    for (size_t i = 0, len; i < cells->count; i++)
        for (const char *text = cells->text[i]; text; text = text[len] ? text + len + 1 : NULL) {
            len = part_length(text);
            const size_t pad = *widths++ - screen_width(text, len);
            writer_format(out, "%*s", (int)(blanks + (sides[i] == 'r' ? pad : 0)), "");
            writer_bytes(out, text, len);
            blanks = PICTURE_GAP + (sides[i] == 'l' ? pad : 0);
        }
    return blanks;
}

/* --- labels --- */

#define LABEL_DIGITS 12    /* of an edge */
#define POWER_PLAIN 0x1p20 /* powers of two from 1 to this are short as they are */

/* Rounds an edge that is a fraction to LABEL_DIGITS digits; copies other edges. */
static void label_round(const char *edge, char text[ROW_TEXT])
{
    if (strchr(edge, '.'))
        snprintf(text, ROW_TEXT, "%.*g", LABEL_DIGITS, strtod(edge, NULL));
    else
        snprintf(text, ROW_TEXT, "%s", edge);
}

/* Equal bins of 0.05 have an edge at 0.15000000000000002, which people call 0.15. An edge keeps its
 * digits where the other one of the bin would look the same. */
static void label_edge(const char *edge, const char *other, char text[ROW_TEXT])
{
    char rounded_other[ROW_TEXT];
    label_round(edge, text);
    label_round(other, rounded_other);
    if (strcmp(text, rounded_other) == 0)
        snprintf(text, ROW_TEXT, "%s", edge);
}

/* True if the edges are powers of two and some have many digits: all are written as powers then. */
static bool has_powers(const struct binning *binning)
{
    if (!binning->powers_of_two)
        return false;
    const double first = binning->is_whole ? (double)binning_shown_whole_edge(binning, 0)
                                           : binning_shown_edge(binning, 0);
    const double last = binning->is_whole ? (double)binning_shown_whole_edge(binning, binning->bins)
                                          : binning_shown_edge(binning, binning->bins);
    return first < 1 || last > POWER_PLAIN;
}

void picture_label(const struct histogram_spec *spec, const struct row *row,
                   char text[PICTURE_LABEL])
{
    const struct row_label *label = &row->label;
    const bool has_edges = spec->mode->is_binned && label->kind != ROW_KIND_INVALID;
    const bool is_right = spec->binning.is_right;
    const bool is_below = label->kind == ROW_KIND_BELOW, is_above = label->kind == ROW_KIND_ABOVE;
    const bool by_upper = is_below || (is_right && !is_above);
    const char *side = is_below ? (is_right ? "<=" : "<") : is_above ? (is_right ? ">" : ">=") : "";
    const char *edge = by_upper ? label->hi : label->lo, *other = by_upper ? label->lo : label->hi;
    char shown[ROW_TEXT];
    if (!has_edges || strcmp(label->lo, label->hi) == 0) {
        snprintf(text, PICTURE_LABEL, "%s", label->name);
        return;
    }
    if (has_powers(&spec->binning))
        snprintf(shown, sizeof shown, "2^%d", ilogb(strtod(edge, NULL)));
    else
        label_edge(edge, other, shown);
    snprintf(text, PICTURE_LABEL, "%s%s", side, shown);
}

/* --- bars --- */

uint64_t bar_length(uint64_t count, uint64_t largest, uint64_t max)
{
    if (count == 0 || max == 0)
        return 0;
    const wide_count twice = (wide_count)count * max * 2 + largest;
    const uint64_t length = (uint64_t)(twice / largest / 2);
    return length > 0 ? length : 1;
}

/* U+2588 is a full block, and each of the next seven an eighth narrower. */
static void write_block(struct writer *out, unsigned eighths)
{
    const char block[] = {'\xe2', '\x96', (char)(0x88 + BAR_EIGHTHS - eighths)};
    writer_bytes(out, block, sizeof block);
}

void bar_write(struct writer *out, uint64_t count, uint64_t largest, size_t width, bool utf8)
{
    uint64_t length = bar_length(count, largest, utf8 ? (uint64_t)width * BAR_EIGHTHS : width);
    if (!utf8) {
        for (; length > 0; length--)
            writer_char(out, '#');
        return;
    }
    for (; length >= BAR_EIGHTHS; length -= BAR_EIGHTHS)
        write_block(out, BAR_EIGHTHS);
    if (length > 0)
        write_block(out, (unsigned)length);
}
