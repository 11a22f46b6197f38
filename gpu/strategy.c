#include "gpu/tuning.h"

#include <string.h>

const struct strategy strategies[] = {
#define STRATEGY(name, about, modes, bytes, letters, values, numbers, table, scratch)              \
    {#name, about, modes},
#include "gpu/strategies.def"
#undef STRATEGY
};

const unsigned strategy_count = sizeof strategies / sizeof strategies[0];

const struct strategy *strategy_find(const char *name)
{
    for (unsigned i = 0; i < strategy_count; i++)
        if (strcmp(strategies[i].name, name) == 0)
            return &strategies[i];
    return NULL;
}

const struct strategy *strategy_best(const struct histogram *histogram)
{
    bool sliced = histogram->mode == SAMPLE_LETTERS && histogram->width >= BITSLICED_WIDTH_MIN;
    bool many = histogram->mode == SAMPLE_VALUES && histogram->type.size > 1 &&
                histogram->bins > LANES_ROWS_MAX;
    bool text = histogram->mode == SAMPLE_NUMBERS;
    return &strategies[sliced ? STRATEGY_bitsliced
                       : many ? STRATEGY_matched
                       : text ? STRATEGY_numbers
                              : STRATEGY_lanes];
}
