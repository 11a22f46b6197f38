#include "count.h"

#include <string.h>

const struct counter *const counters[] = {
#if defined __x86_64__ && defined __GNUC__
    &counter_avx512,
    &counter_avx2,
#elif defined __aarch64__ && defined __ARM_NEON
    &counter_neon,
#endif
    &counter_portable,
    NULL,
};

const struct counter *counter_find(const char *name)
{
    for (const struct counter *const *counter = counters; *counter; counter++)
        if ((!name || strcmp((*counter)->name, name) == 0) && (*counter)->runs_here())
            return *counter;
    return NULL;
}

struct count_plan count_plan(const struct counter *counter, const struct histogram *histogram)
{
    struct count_plan plan = {.counter = counter, .histogram = histogram};
    if (histogram->mode == SAMPLE_LETTERS)
        counter->prepare(&plan);
    return plan;
}

void count(const struct count_plan *plan, const unsigned char *data, size_t len, uint64_t *counts)
{
    if (plan->histogram->mode == SAMPLE_LETTERS)
        plan->counter->letters(plan, data, len, counts);
    else
        plan->counter->bytes(data, len, counts);
}

void count_few(const struct histogram *histogram, const unsigned char *data, size_t len,
               uint64_t *counts)
{
    for (size_t i = 0; i < len; i++)
        if (histogram->bin_of[data[i]] != NO_BIN)
            counts[histogram->bin_of[data[i]]]++;
}
