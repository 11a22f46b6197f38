/* SPDX-License-Identifier: MIT */
/* Statistics of what was counted: quantiles of bins, a list of names and values for --stats, and
 * moments as text that reads back the same. */
#include "statistics.h"
#include "histogram_spec.h"
#include "src/text/number.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- which sample --- */

/* Returns a tenth, rounded down. Sets *more if it is cut off. */
static uint128 tenth_of(uint128 number, bool *more)
{
    const uint64_t low = (uint64_t)number;
    if (low == number) { /* which is much faster */
        *more |= low % 10 != 0;
        return low / 10;
    }
    *more |= number % 10 != 0;
    return number / 10;
}

uint64_t probability_rank(const struct probability *q, uint64_t n)
{
    uint128 rank = 0;  /* what n times the digits so far is, rounded down */
    bool more = false; /* something was cut off */
    if (q->exponent > 0)
        return n;
    /* From the last digit on, each is added and all are moved behind the point. Rounding down on
     * the way does not change how the end is rounded. */
    for (size_t i = strlen(q->digits); i-- > 0;)
        rank = tenth_of(rank + (uint128)(q->digits[i] - '0') * n, &more);
    for (int zeros = -q->exponent; zeros > 0 && rank > 0; zeros--)
        rank = tenth_of(rank, &more);
    return rank == 0 && !more ? 1 : (uint64_t)rank + more;
}

struct quantiles quantiles_of(const struct histogram_spec *spec, const struct tally *tally)
{
    const struct moments *moments = tally->moments;
    struct quantiles quantiles = {.binning = &spec->binning,
                                  .tally = tally,
                                  .samples =
                                      tally->samples - tally->counts[ROW_INVALID(&spec->binning)],
                                  .extremes = {.min = moments->min, .max = moments->max}};
    struct extremes *extremes = &quantiles.extremes;
    extremes->is_least = moments_least_large(moments, &extremes->least);
    extremes->is_greatest = moments_greatest_large(moments, &extremes->greatest);
    return quantiles;
}

/* Returns the row of the sample of a rank: ROW_BELOW, a bin or ROW_ABOVE. */
static size_t row_of_rank(struct quantiles *quantiles, uint64_t rank)
{
    const struct tally *tally = quantiles->tally;
    if (rank <= quantiles->before)
        quantiles->row = quantiles->before = 0;
    size_t row = quantiles->row, end = 0;
    for (uint64_t before = quantiles->before, sum;; row = end, before += sum) {
        row = tally_next_block(tally, row, &end);
        sum = tally_sum(tally, row, end);
        quantiles->before = before;
        if (before + sum >= rank)
            break;
    }
    for (; quantiles->before + tally->counts[row] < rank; row++)
        quantiles->before += tally->counts[row];
    quantiles->row = row;
    return row;
}

/* --- where it lies --- */

static void set_end(double value, double *end, char text[ROW_TEXT])
{
    *end = value + 0.0; /* not -0 */
    show_double(*end, text);
}

static void set_lower(struct quantile *found, const struct extremes *extremes)
{
    set_end(extremes->min, &found->lower, found->lower_text);
    if (extremes->is_least)
        show_whole(extremes->least, found->lower_text);
}

static void set_upper(struct quantile *found, const struct extremes *extremes)
{
    set_end(extremes->max, &found->upper, found->upper_text);
    if (extremes->is_greatest)
        show_whole(extremes->greatest, found->upper_text);
}
/* Sets the lower end to that of the row, unless it is below the extremes. */
static void set_lower_edge(struct quantile *found, const struct binning *binning,
                           const struct extremes *extremes, size_t row)
{
    const double edge = row != ROW_BELOW ? binning_edge(binning, row - 1) : -HUGE_VAL;
    if (edge <= extremes->min) {
        set_lower(found, extremes);
        return;
    }
    found->lower = edge;
    /* A float may be below the decimal that names the edge, and a sample. */
    if (binning->digits.singles && binning_shown_edge(binning, row - 1) > edge)
        show_double(edge, found->lower_text);
    else
        binning_show_edge(binning, row - 1, found->lower_text);
}

/* Sets the upper end, after the lower one, to that of the row, unless it is above the extremes. */
static void set_upper_edge(struct quantile *found, const struct binning *binning,
                           const struct extremes *extremes, size_t row)
{
    const double edge = row != ROW_ABOVE(binning) ? binning_edge(binning, row) : HUGE_VAL;
    if (row == ROW_ABOVE(binning) || edge > extremes->max) {
        set_upper(found, extremes);
        return;
    }
    /* The row excludes this edge, so the lower end may be the only double in it. If that is large
     * it may stand for several whole numbers. */
    if (fabs(found->lower) < MOMENTS_LARGE && nextafter(edge, -HUGE_VAL) <= found->lower) {
        set_end(found->lower, &found->upper, found->upper_text);
        return;
    }
    found->upper = binning->is_right ? binning_shown_edge(binning, row) : edge;
    binning_show_edge(binning, row, found->upper_text);
}

/* Sets the interval to the row, within the extremes. */
static void set_doubles(struct quantile *found, const struct binning *binning,
                        const struct extremes *extremes, size_t row)
{
    found->slack = extremes->is_least || extremes->is_greatest ? DBL_EPSILON : 0;
    if (row != ROW_BELOW && row != ROW_ABOVE(binning) && binning_is_zero_alone(binning, row - 1)) {
        set_end(0, &found->lower, found->lower_text);
        set_end(0, &found->upper, found->upper_text);
    } else if (extremes->min == extremes->max) { /* as rows need not be looked at then */
        set_lower(found, extremes);
        set_upper(found, extremes);
    } else {
        set_lower_edge(found, binning, extremes, row);
        set_upper_edge(found, binning, extremes, row);
    }
}

static void set_wholes(struct quantile *found, const struct binning *binning,
                       const struct extremes *extremes, size_t row)
{
    int128 from = extremes->least, to = extremes->greatest;
    if (row != ROW_BELOW && binning_whole_edge(binning, row - 1) > from)
        from = binning_whole_edge(binning, row - 1);
    if (row != ROW_ABOVE(binning) && binning_whole_edge(binning, row) - 1 < to)
        to = binning_whole_edge(binning, row) - 1;
    found->lower = (double)from;
    found->upper = (double)to;
    bool is_exact = (int128)found->lower == from && (int128)found->upper == to;
    found->slack = is_exact ? 0 : DBL_EPSILON;
    show_whole(from, found->lower_text);
    show_whole(to, found->upper_text);
}

struct quantile quantiles_find(struct quantiles *quantiles, const struct probability *q)
{
    const struct binning *binning = quantiles->binning;
    struct quantile found;
    if (quantiles->samples == 0)
        return (struct quantile){NAN, NAN, 0, "nan", "nan", false};
    const uint64_t rank = probability_rank(q, quantiles->samples);
    const size_t row = row_of_rank(quantiles, rank);
    struct extremes extremes = quantiles->extremes;
    if (rank == 1) { /* the first and the last sample are known */
        extremes.max = extremes.min;
        extremes.greatest = extremes.least;
        extremes.is_greatest = extremes.is_least;
    } else if (rank == quantiles->samples) {
        extremes.min = extremes.max;
        extremes.least = extremes.greatest;
        extremes.is_least = extremes.is_greatest;
    }
    if (binning->is_whole)
        set_wholes(&found, binning, &extremes, row);
    else
        set_doubles(&found, binning, &extremes, row);
    found.in_bin = row != ROW_BELOW && row != ROW_ABOVE(binning);
    return found;
}

/* --- one number for it --- */

/* Returns the greatest relative error of a value for samples from a to b, both over 0, or a little
 * more: two operations round it by a factor of 1 + 2^-53 each, and the decimal that is printed may
 * be half a unit of the last place lower. */
static double error_bound(double value, double a, double b)
{
    double low = fabs(value - a) / a, high = fabs(b - value) / b;
    return (low > high ? low : high) * (1 + 4 * DBL_EPSILON);
}

/* Returns the estimate for samples from a to b, 0 < a < b, which may be off by `slack`, relatively.
 * 2ab / (a + b) has the same relative error at both ends. It is rounded to as few digits as
 * increase the error little. */
static struct estimate estimate_between(double a, double b, double slack)
{
    char text[ROW_TEXT];
    double ratio = b / a, best = b * (2 / (1 + ratio)), least = error_bound(best, a, b);
    if (!(least < 1))
        return (struct estimate){0, 1};
    double value = best, limit = fmin(1.1 * least, 1);
    for (int digits = 1; digits < DBL_DECIMAL_DIG; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, best);
        value = strtod(text, NULL);
        if (value >= a && value <= b && error_bound(value, a, b) <= limit)
            break;
        value = best;
    }
    /* The error is rounded up to three digits. */
    const double error = error_bound(value, a, b) + slack;
    snprintf(text, sizeof text, "%.2e", error);
    const double nearest = strtod(text, NULL);
    snprintf(text, sizeof text, "%.2e", nearest + pow(10, floor(log10(error)) - 2));
    return (struct estimate){value, nearest >= error ? nearest : strtod(text, NULL)};
}

struct estimate quantile_estimate(const struct quantile *found)
{
    double a = found->lower, b = found->upper;
    if (a == b || isnan(a))
        return (struct estimate){a, isnan(a) ? NAN : found->slack};
    a = found->in_bin && a < -DBL_MAX ? -DBL_MAX : a;
    b = found->in_bin && b > DBL_MAX ? DBL_MAX : b;
    if (isinf(a) || isinf(b))
        return (struct estimate){isinf(b) ? HUGE_VAL : -HUGE_VAL, HUGE_VAL};
    if (a > 0)
        return estimate_between(a, b, found->slack);
    if (b < 0) {
        struct estimate mirrored = estimate_between(-b, -a, found->slack);
        return (struct estimate){-mirrored.value + 0.0, mirrored.error};
    }
    return (struct estimate){0, 1};
}

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

#define WORD_NIBBLES 16 /* hexadecimal digits of a word */

/* --- sums --- */

static void show_sum(const struct exact_sum *sum, char text[EXACT_SUM_TEXT])
{
    struct exact_number number;
    char digits[WORD_NIBBLES * EXACT_WORDS + 1], *end = digits, *begin = digits;
    exact_sum_read(sum, &number);
    if (number.count == 0) {
        strcpy(text, "0p0");
        return;
    }
    for (int i = number.count; i-- > 0; end += WORD_NIBBLES)
        snprintf(end, WORD_NIBBLES + 1, "%016" PRIx64, number.words[i]);
    while (*begin == '0')
        begin++;
    for (; end[-1] == '0'; end--)
        number.exponent += 4;
    snprintf(text, EXACT_SUM_TEXT, "%s%.*sp%d", number.is_negative ? "-" : "", (int)(end - begin),
             begin, number.exponent);
}

/* False if show_sum does not write the text. */
static bool read_sum(const char *text, struct exact_sum *sum)
{
    char again[EXACT_SUM_TEXT];
    const bool negative = *text == '-';
    const char *first = text + negative;
    const size_t count = strspn(first, "0123456789abcdef");
    exact_sum_clear(sum);
    if (strcmp(text, "0p0") == 0)
        return true;
    if (count == 0 || first[count] != 'p')
        return false;
    long exponent = strtol(first + count + 1, NULL, 10);
    if (exponent < EXACT_LOWEST || exponent > EXACT_HIGHEST ||
        count > (size_t)(EXACT_HIGHEST - exponent) / 4)
        return false;
    for (const char *at = first + count; at-- > first; exponent += 4) {
        const uint64_t value = (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
        exact_sum_add_words(sum, &value, 1, (int)exponent, negative);
    }
    show_sum(sum, again);
    return strcmp(text, again) == 0;
}

/* --- moments --- */

void moments_show(const struct moments *moments, bool is_whole, struct moments_text *text)
{
    show_double(NAN, text->least);
    show_double(NAN, text->greatest);
    if (moments->any && is_whole) {
        show_whole(moments->least, text->least);
        show_whole(moments->greatest, text->greatest);
    } else if (moments->any) {
        int128 number;
        show_double(moments->min + 0.0, text->least);
        show_double(moments->max + 0.0, text->greatest);
        if (moments_least_large(moments, &number))
            show_whole(number, text->least);
        if (moments_greatest_large(moments, &number))
            show_whole(number, text->greatest);
    }
    show_sum(&moments->sum, text->sum);
    show_sum(&moments->squares, text->squares);
    char infinite[2 * SHOW_NUMBER];
    snprintf(infinite, sizeof infinite, "%" PRIu64 " %" PRIu64, moments->lowest, moments->highest);
    const char *const texts[] = {text->least, text->greatest, infinite, text->sum, text->squares};
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a, of each text with its end */
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *at = texts[i];
        do
            hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
        while (*at++);
    }
    snprintf(text->check, sizeof text->check, "%016" PRIx64, hash);
}

static bool read_extreme(const char *text, bool is_whole, int128 *number, double *value)
{
    return is_whole ? read_shown_whole(text, number) : read_shown_double(text, value);
}

static void read_large(const char *text, double value, struct large_numbers *large)
{
    int128 number;
    if (!(fabs(value) <= MOMENTS_LARGE_END))
        return;
    if (!read_shown_whole(text, &number))
        number = (int128)value;
    large_numbers_add(large, value, number);
}

bool moments_read(const struct moments_text *text, bool is_whole, struct moments *moments)
{
    struct moments_text again;
    moments->any = strcmp(text->least, "nan") != 0;
    if (moments->any &&
        !(read_extreme(text->least, is_whole, &moments->least, &moments->min) &&
          read_extreme(text->greatest, is_whole, &moments->greatest, &moments->max)))
        return false;
    if (!moments->any && strcmp(text->greatest, "nan") != 0)
        return false;
    if (moments->least > moments->greatest || moments->min > moments->max)
        return false;
    if (moments->any && !is_whole) {
        struct large_numbers large = {.any = false};
        read_large(text->least, moments->min, &large);
        read_large(text->greatest, moments->max, &large);
        moments_add_large(moments, &large); /* the sums are set to those of the text below */
    }
    if (!read_sum(text->sum, &moments->sum) || !read_sum(text->squares, &moments->squares))
        return false;
    moments_show(moments, is_whole, &again);
    return strcmp(text->check, again.check) == 0;
}
