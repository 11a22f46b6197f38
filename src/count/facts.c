/* SPDX-License-Identifier: MIT */
#include "facts.h"
#include "quantile.h"
#include "show_number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct fact *next_fact(struct facts *facts, const char *name)
{
    struct fact *fact = &facts->list[facts->count++];
    *fact = (struct fact){.name = ""};
    snprintf(fact->name, sizeof fact->name, "%s", name);
    return fact;
}

void facts_add_count(struct facts *facts, const char *name, uint64_t count)
{
    struct fact *fact = next_fact(facts, name);
    snprintf(fact->value, sizeof fact->value, "%" PRIu64, count);
}

void facts_add_number(struct facts *facts, const char *name, double value)
{
    show_double(value + 0.0, next_fact(facts, name)->value); /* not -0 */
}

void facts_add_rounded(struct facts *facts, const char *name, double value, int places)
{
    struct fact *fact = next_fact(facts, name);
    if (isfinite(value))
        snprintf(fact->value, sizeof fact->value, "%.*f", places, value);
    else
        show_double(value, fact->value);
}

void facts_add_deviation(struct facts *facts, const char *name, double value)
{
    facts_add_number(facts, name, value);
    facts->list[facts->count - 1].is_population = true;
}

void facts_add_text(struct facts *facts, const char *name, const char *number)
{
    struct fact *fact = next_fact(facts, name);
    snprintf(fact->value, sizeof fact->value, "%s", number);
}

void facts_add_interval(struct facts *facts, const char *name, const char *lower, const char *upper)
{
    struct fact *fact = next_fact(facts, name);
    fact->is_interval = true;
    snprintf(fact->value, sizeof fact->value, "%s", lower);
    if (strcmp(lower, upper) != 0)
        snprintf(fact->upper, sizeof fact->upper, "%s", upper);
}

double facts_entropy(const uint64_t *counts, size_t count)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        total += (double)counts[i];
    for (size_t i = 0; i < count; i++)
        if (counts[i] > 0)
            sum += (double)counts[i] / total * log2(total / (double)counts[i]);
    return total > 0 ? sum : NAN;
}

void facts_add_quantile(struct facts *facts, const struct probability *q,
                        const struct quantile *found)
{
    char name[1 + SHOW_DECIMAL(PROBABILITY_DIGITS)] = "p";
    show_decimal(q->digits, q->exponent + 2, name + 1);
    facts_add_interval(facts, name, found->lower_text, found->upper_text);
}
