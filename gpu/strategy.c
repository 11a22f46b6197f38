#include "strategy.h"

#include <string.h>

const struct strategy strategies[] = {
#define STRATEGY(name, about, modes, bytes, letters, block, coarsening, resident, shared, scratch) \
    {#name, about, modes},
#include "strategies.def"
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
    /* Both run at the speed of memory; bitsliced has nothing to set up, but was measured to keep up
     * for this width alone (doc/kernels.md). */
    bool sliced = histogram->mode == SAMPLE_LETTERS && histogram->width == 4;
    return strategy_find(sliced ? "bitsliced" : "lanes");
}
