/* SPDX-License-Identifier: MIT */
#include "tests/helpers/layouts.h"

enum binning_error layout_whole(const struct whole_layout *layout, struct binning *binning)
{
    if (layout->edge_count)
        return binning_edges_whole(binning, layout->edges, layout->edge_count);
    if (layout->base.digits)
        return binning_log_whole(binning, layout->min, layout->max, layout->base);
    if (layout->max != 0)
        return binning_equal_whole(binning, layout->min, layout->max, layout->bins);
    binning_own(binning, layout->bins);
    return BINNING_OK;
}

enum binning_error layout_double(const struct double_layout *layout, bool singles,
                                 struct binning *binning)
{
    if (layout->digits)
        return binning_digits(binning, layout->digits, singles);
    if (layout->edge_count)
        return binning_edges(binning, layout->edges, layout->edge_count);
    if (layout->base.digits)
        return binning_log(binning, layout->min, layout->max, layout->base);
    return binning_equal(binning, layout->min, layout->max, layout->bins);
}
