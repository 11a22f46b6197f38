#include "facts.h"
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

/* --- quantiles --- */

uint64_t quantile_rank(double q, uint64_t samples)
{
    double wanted = q * (double)samples;
    uint64_t rank = wanted < (double)samples ? (uint64_t)wanted : samples;
    if (rank == 0 || (rank < samples && (double)rank < wanted))
        rank++;
    return rank;
}

size_t quantile_row(const uint64_t *counts, uint64_t rank)
{
    size_t row = ROW_BELOW;
    for (; counts[row] < rank; row++)
        rank -= counts[row];
    return row;
}

/* Between which doubles the samples of a row lie: no further than from the least to the greatest.
 */
static void double_interval(const struct binning *binning, const struct moments *moments,
                            size_t row, char lower[ROW_TEXT], char upper[ROW_TEXT])
{
    double from = moments->min, to = moments->max;
    if (row != ROW_BELOW && binning_edge(binning, row - 1) > from)
        from = binning_edge(binning, row - 1);
    if (row != ROW_ABOVE(binning) && binning_edge(binning, row) < to)
        to = binning_edge(binning, row);
    bool one_value =
        row != ROW_ABOVE(binning) && nextafter(binning_edge(binning, row), from) == from;
    if (one_value)
        to = from;
    show_double(from + 0.0, lower);
    show_double(to + 0.0, upper);
}

static void whole_interval(const struct binning *binning, const struct moments *moments, size_t row,
                           char lower[ROW_TEXT], char upper[ROW_TEXT])
{
    whole from = moments->least, to = moments->greatest;
    if (row != ROW_BELOW && binning_whole_edge(binning, row - 1) > from)
        from = binning_whole_edge(binning, row - 1);
    if (row != ROW_ABOVE(binning) && binning_whole_edge(binning, row) - 1 < to)
        to = binning_whole_edge(binning, row) - 1;
    show_whole(from, lower);
    show_whole(to, upper);
}

void facts_add_quantile(struct facts *facts, const struct histogram *histogram,
                        const struct tally *tally, double q)
{
    const struct binning *binning = &histogram->binning;
    const uint64_t samples = tally->samples - tally->counts[ROW_INVALID(binning)];
    const uint64_t rank = quantile_rank(q, samples);
    struct moments between = *tally->moments;
    char name[ROW_TEXT], lower[ROW_TEXT] = "nan", upper[ROW_TEXT] = "nan";
    snprintf(name, sizeof name, "p%.15g", 100 * q);
    if (rank == 1) { /* the least and the greatest are known */
        between.max = between.min;
        between.greatest = between.least;
    } else if (rank == samples) {
        between.min = between.max;
        between.least = between.greatest;
    }
    if (samples > 0) {
        size_t row = quantile_row(tally->counts, rank);
        if (binning->is_whole)
            whole_interval(binning, &between, row, lower, upper);
        else
            double_interval(binning, &between, row, lower, upper);
    }
    facts_add_interval(facts, name, lower, upper);
}
