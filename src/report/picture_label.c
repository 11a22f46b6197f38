/* SPDX-License-Identifier: MIT */
#include "picture_label.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_DIGITS 12    /* of an edge */
#define POWER_PLAIN 0x1p20 /* powers of two from 1 to this are short as they are */

/* Rounds an edge that is a fraction to LABEL_DIGITS digits, and copies any other one. */
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

/* True if the edges are powers of two of which some have many digits: all are written as powers
 * then. */
static bool has_powers(const struct binning *binning)
{
    if (!binning->powers_of_two)
        return false;
    const double first =
        binning->is_whole ? (double)binning_whole_edge(binning, 0) : binning_edge(binning, 0);
    const double last = binning->is_whole ? (double)binning_whole_edge(binning, binning->bins)
                                          : binning_edge(binning, binning->bins);
    return first < 1 || last > POWER_PLAIN;
}

void picture_label(const struct histogram *histogram, const struct row *row,
                   char text[PICTURE_LABEL])
{
    const struct row_label *label = &row->label;
    const bool has_edges = histogram->mode->is_binned && label->kind != ROW_KIND_INVALID;
    const bool is_below = label->kind == ROW_KIND_BELOW;
    const char *side = is_below ? "<" : label->kind == ROW_KIND_ABOVE ? ">=" : "";
    const char *edge = is_below ? label->hi : label->lo, *other = is_below ? label->lo : label->hi;
    char shown[ROW_TEXT];
    if (!has_edges || strcmp(label->lo, label->hi) == 0) {
        snprintf(text, PICTURE_LABEL, "%s", label->name);
        return;
    }
    if (has_powers(&histogram->binning))
        snprintf(shown, sizeof shown, "2^%d", ilogb(strtod(edge, NULL)));
    else
        label_edge(edge, other, shown);
    snprintf(text, PICTURE_LABEL, "%s%s", side, shown);
}
