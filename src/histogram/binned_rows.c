#include "binned_rows.h"

#include <string.h>

enum row_kind binned_row_kind(const struct histogram *histogram, size_t row)
{
    const struct binning *binning = &histogram->binning;
    if (row == ROW_BELOW)
        return ROW_KIND_BELOW;
    if (row == ROW_INVALID(binning))
        return ROW_KIND_INVALID;
    return row == ROW_ABOVE(binning) ? ROW_KIND_ABOVE : ROW_KIND_BIN;
}

void binned_label_row(const struct histogram *histogram, size_t row, struct row_label *label)
{
    const struct binning *binning = &histogram->binning;
    label->kind = binned_row_kind(histogram, row);
    const bool follows = label->next == row;
    label->next = row + 1;
    if (label->kind == ROW_KIND_INVALID) {
        *label = (struct row_label){.kind = ROW_KIND_INVALID, .name = "invalid"};
        return;
    }
    if (row == ROW_BELOW)
        strcpy(label->lo, "-inf");
    else if (follows)
        memcpy(label->lo, label->hi, sizeof label->lo);
    else
        binning_show_edge(binning, row - 1, label->lo);
    if (row < ROW_ABOVE(binning))
        binning_show_edge(binning, row, label->hi);
    else
        strcpy(label->hi, "inf");
    memcpy(label->name, label->lo, sizeof label->name);
    memcpy(label->note, label->hi, sizeof label->note);
}
