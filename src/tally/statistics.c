/* SPDX-License-Identifier: MIT */
#include "statistics.h"
#include "quantile.h"
#include "src/text/show_number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct statistic *next_statistic(struct statistics *statistics, const char *name)
{
    struct statistic *statistic = &statistics->list[statistics->count++];
    statistic->name = name;
    statistic->value[0] = statistic->upper[0] = '\0';
    statistic->is_population = statistic->is_interval = false;
    return statistic;
}

static void copy_text(char to[ROW_TEXT], const char *text)
{
    const size_t len = strnlen(text, ROW_TEXT - 1);
    memcpy(to, text, len);
    to[len] = '\0';
}

void statistics_add_count(struct statistics *statistics, const char *name, uint64_t count)
{
    show_unsigned(count, next_statistic(statistics, name)->value);
}

void statistics_add_number(struct statistics *statistics, const char *name, double value)
{
    show_double(value + 0.0, next_statistic(statistics, name)->value); /* not -0 */
}

void statistics_add_rounded(struct statistics *statistics, const char *name, double value,
                            int places)
{
    struct statistic *statistic = next_statistic(statistics, name);
    if (isfinite(value))
        snprintf(statistic->value, sizeof statistic->value, "%.*f", places, value);
    else
        show_double(value, statistic->value);
}

void statistics_add_deviation(struct statistics *statistics, const char *name, double value)
{
    statistics_add_number(statistics, name, value);
    statistics->list[statistics->count - 1].is_population = true;
}

void statistics_add_text(struct statistics *statistics, const char *name, const char *number)
{
    copy_text(next_statistic(statistics, name)->value, number);
}

double statistics_entropy(const uint64_t *counts, size_t count)
{
    double total = 0, sum = 0;
    for (size_t i = 0; i < count; i++)
        total += (double)counts[i];
    for (size_t i = 0; i < count; i++)
        if (counts[i] > 0)
            sum += (double)counts[i] / total * log2(total / (double)counts[i]);
    return total > 0 ? sum : NAN;
}

void statistics_add_quantile(struct statistics *statistics, const char *name,
                             const struct quantile *found)
{
    statistics_add_text(statistics, name, found->lower_text);
    struct statistic *statistic = &statistics->list[statistics->count - 1];
    statistic->is_interval = true;
    if (strcmp(found->lower_text, found->upper_text) != 0)
        copy_text(statistic->upper, found->upper_text);
}
