/* SPDX-License-Identifier: MIT */
/* Counts numbers in text by key: a part of a file of kernels after count_numbers.h, whose functions
 * it uses. Gives count_keyed_numbers for the struct cpu_kernels. */
#include "src/tally/keyed_counts.h"

_Static_assert(BATCH <= KEYED_MAX, "a batch is counted together");

static bool has_large(const double *values, size_t n)
{
    bool is_large = false;
    for (size_t i = 0; i < n; i++)
        is_large |= fabs(values[i]) >= MOMENTS_LARGE;
    return is_large;
}

/* Adds the values of a batch to the sums of their keys. Not inlined, as the list is long. */
static __attribute__((noinline)) void add_large_values(const struct count_plan *plan,
                                                       const struct record_text *text,
                                                       const uint32_t *numbers,
                                                       const double *values, size_t n,
                                                       struct keyed_counts *keyed)
{
    struct listed_number wholes[BATCH];
    large_numbers_list(plan->parser, &plan->field, *text, wholes);
    keyed_add_values(keyed, numbers, values, wholes, n);
}

static void count_keyed_numbers(const struct count_plan *plan, const unsigned char *data,
                                size_t len, struct tally *tally, struct keyed_counts *keyed)
{
    struct record_text text = {data, data, data + len};
    struct key_span spans[BATCH];
    union batch values;
    ALIGNED uint32_t rows[BATCH], numbers[BATCH];
    tally->newlines += count_newlines(data, len);
    while (text.at < text.limit) {
        const unsigned char *begin = text.at;
        const size_t n = fields_parse_keyed(plan->parser, &plan->field, &plan->key.field, &text,
                                            values.doubles, spans, BATCH);
        const struct record_text batch = {begin, begin, text.at};
        memset(values.doubles + n, 0, (BATCH - n) * sizeof values.doubles[0]);
        rows_of_tokens(plan, &values, rows);
        keyed_count(keyed, &plan->key, spans, n, numbers);
        keyed_count_rows(keyed, numbers, rows, n);
        if (plan->spec->has_moments && has_large(values.doubles, n))
            add_large_values(plan, &batch, numbers, values.doubles, n, keyed);
        else
            keyed_add_values(keyed, numbers, values.doubles, NULL, n);
    }
}
