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
    label->lo[0] = label->hi[0] = label->note[0] = '\0';
    if (label->kind == ROW_KIND_INVALID) {
        strcpy(label->name, "invalid");
        return;
    }
    strcpy(label->lo, "-inf");
    strcpy(label->hi, "inf");
    if (row > ROW_BELOW)
        binning_show_edge(binning, row - 1, label->lo);
    if (row < ROW_ABOVE(binning))
        binning_show_edge(binning, row, label->hi);
    strcpy(label->name, label->lo);
    strcpy(label->note, label->hi);
}
