#include "binning.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whole numbers of options: no 64-bit value lies outside, and nothing overflows. */
#define WHOLE_MAX ((whole)1 << 64)

__extension__ typedef unsigned __int128 unsigned_whole;

/* --- numbers as text --- */

/* A whole number at text; *end is set behind it. False if there is none, or a larger one. */
static bool read_whole(const char *text, const char **end, whole *value)
{
    bool negative = *text == '-';
    text += *text == '-' || *text == '+';
    if (*text < '0' || *text > '9')
        return false;
    for (*value = 0; *text >= '0' && *text <= '9'; text++) {
        *value = *value * 10 + (*text - '0');
        if (*value > WHOLE_MAX)
            return false;
    }
    *value = negative ? -*value : *value;
    *end = text;
    return true;
}

static bool read_double(const char *text, const char **end, double *value)
{
    char *behind;
    if (!strchr("+-.0123456789", *text))
        return false; /* white space, inf, nan */
    *value = strtod(text, &behind);
    *end = behind;
    return behind != text && isfinite(*value);
}

/* One of the two, as the binning needs it. */
struct number {
    whole whole;
    double value;
};

static bool read_number(bool is_whole, const char *text, const char **end, struct number *number)
{
    return is_whole ? read_whole(text, end, &number->whole)
                    : read_double(text, end, &number->value);
}

static int parse(const char *option, bool is_whole, const char *text, struct number *number,
                 struct reason *why)
{
    const char *end;
    if (read_number(is_whole, text, &end, number) && !*end)
        return 0;
    reason_set(why, "%s=%s: must be a %s", option, text,
               is_whole ? "whole number of 64 bits" : "number");
    return -1;
}

static int parse_range(bool is_whole, const char *min_text, const char *max_text,
                       struct number *min, struct number *max, struct reason *why)
{
    if (parse("--min", is_whole, min_text, min, why) != 0 ||
        parse("--max", is_whole, max_text, max, why) != 0)
        return -1;
    bool ascending = is_whole ? min->whole < max->whole : min->value < max->value;
    if (!ascending)
        reason_set(why, "--max=%s: must be greater than --min=%s", max_text, min_text);
    else if (!is_whole && isinf(max->value - min->value))
        reason_set(why, "--max=%s: too far from --min=%s for a double", max_text, min_text);
    else
        return 0;
    return -1;
}

/* --- equal bins --- */

/* d * bins / span by one multiplication: d * reciprocal >> 64.
 *
 * Up to a span of 2^32 the reciprocal bins * 2^64 / span is rounded up. That errs by less than
 * d / 2^64, so by less than 1 / span where d is below the span; and a quotient that is no whole
 * number lies at least 1 / span below the next one: the result is exact.
 *
 * Up to 2^64 it is rounded down. That errs by less than 1, so the result may be one too small. */
static void set_reciprocal(struct binning *binning)
{
    unsigned_whole dividend = (unsigned_whole)binning->bins << 64;
    unsigned_whole divisor = (unsigned_whole)binning->span;
    if ((whole)binning->bins >= binning->span || binning->span > WHOLE_MAX)
        return;
    binning->exact = binning->span <= (whole)1 << 32;
    binning->reciprocal = (uint64_t)((dividend + (binning->exact ? divisor - 1 : 0)) / divisor);
}

static void lay_whole(struct binning *binning, whole first, whole span, size_t bins)
{
    *binning = (struct binning){.is_whole = true, .bins = bins, .first = first, .span = span};
    set_reciprocal(binning);
}

void binning_own(struct binning *binning, size_t bins)
{
    lay_whole(binning, 0, (whole)bins, bins);
}

int binning_equal(struct binning *binning, bool is_whole, const char *min_text,
                  const char *max_text, size_t bins, struct reason *why)
{
    struct number min, max;
    if (parse_range(is_whole, min_text, max_text, &min, &max, why) != 0)
        return -1;
    if (is_whole) {
        lay_whole(binning, min.whole, max.whole - min.whole, bins);
        return 0;
    }
    *binning = (struct binning){.bins = bins, .min = min.value, .max = max.value};
    binning->step = (max.value - min.value) / (double)bins;
    binning->per_step = (double)bins / (max.value - min.value);
    if (binning->step >= DBL_MIN) /* else it would be rounded so much that edges do not ascend */
        return 0;
    reason_set(why, "--bins=%zu: too narrow for doubles", bins);
    return -1;
}

whole binning_whole_edge(const struct binning *binning, size_t k)
{
    if (binning->whole_edges)
        return binning->whole_edges[k];
    whole bins = (whole)binning->bins;
    return binning->first + ((whole)k * binning->span + bins - 1) / bins;
}

/* The double whose bits above LOG_LINEAR_SHIFT are these. */
static double leading(size_t leading_bits)
{
    uint64_t bits = (uint64_t)leading_bits << LOG_LINEAR_SHIFT;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double log_linear_edge(size_t k)
{
    if (k < LOG_LINEAR_HALF)
        return -leading(LOG_LINEAR_HALF - k);
    if (k == LOG_LINEAR_HALF + 1)
        return DBL_TRUE_MIN; /* where zero's bin ends */
    return k == LOG_LINEAR_HALF ? 0 : leading(k - LOG_LINEAR_HALF - 1);
}

double binning_edge(const struct binning *binning, size_t k)
{
    if (binning->log_linear)
        return log_linear_edge(k);
    if (binning->edges)
        return binning->edges[k];
    if (k == binning->bins)
        return binning->max;
    return (double)k * binning->step + binning->min;
}

/* --- edges one by one --- */

static int keep_edges(struct binning *binning, bool is_whole, const struct number *numbers,
                      size_t count, struct reason *why)
{
    *binning = (struct binning){.is_whole = is_whole, .bins = count - 1};
    if (is_whole)
        binning->whole_edges = calloc(count, sizeof(whole));
    else
        binning->edges = calloc(count, sizeof(double));
    if (!binning->whole_edges && !binning->edges) {
        reason_set(why, "out of memory");
        return -1;
    }
    for (size_t k = 0; k < count; k++)
        if (is_whole)
            binning->whole_edges[k] = numbers[k].whole;
        else
            binning->edges[k] = numbers[k].value;
    return 0;
}

/* Reads the list into numbers, which has room. How many there are; 0 with a reason. */
static size_t read_list(bool is_whole, const char *list, struct number *numbers, struct reason *why)
{
    size_t count = 0;
    for (const char *at = list;; at++, count++) {
        struct number *number = &numbers[count];
        if (!read_number(is_whole, at, &at, number) || (*at && *at != ',')) {
            reason_set(why, "--edges=%s: must be %s, separated by commas", list,
                       is_whole ? "whole numbers of 64 bits" : "numbers");
            return 0;
        }
        if (count > 0 &&
            (is_whole ? number[-1].whole >= number->whole : number[-1].value >= number->value)) {
            reason_set(why, "--edges=%s: must ascend", list);
            return 0;
        }
        if (!*at)
            break;
    }
    if (++count < 2)
        reason_set(why, "--edges=%s: must be at least two", list);
    return count < 2 ? 0 : count;
}

int binning_edges(struct binning *binning, bool is_whole, const char *list, struct reason *why)
{
    struct number *numbers = calloc(strlen(list) / 2 + 1, sizeof *numbers);
    if (!numbers) {
        reason_set(why, "out of memory");
        return -1;
    }
    size_t count = read_list(is_whole, list, numbers, why);
    int rc = count ? keep_edges(binning, is_whole, numbers, count, why) : -1;
    free(numbers);
    return rc;
}

/* --- powers --- */

/* So that powers can be told apart and counted, and none that covers 64 bits overflows. */
#define BASE_MIN 1.0001
#define BASE_MAX 1e6
#define EXPONENT_MAX 8000000 /* the least base to this power is too large for a double */

/* base^exponent, exponent from 0, in more digits than a double has. */
static long double raise_to(double base, unsigned exponent)
{
    long double result = 1, square = base;
    for (; exponent; exponent >>= 1, square *= square)
        if (exponent & 1)
            result *= square;
    return result;
}

/* The same of any exponent as a double: a power of ten is the double that its literal is. */
static double power(double base, int exponent)
{
    char literal[16];
    if (base != 10)
        return (double)(exponent < 0 ? 1 / raise_to(base, (unsigned)-exponent)
                                     : raise_to(base, (unsigned)exponent));
    snprintf(literal, sizeof literal, "1e%d", exponent);
    return strtod(literal, NULL);
}

/* The same rounded up to a whole number, exactly where the base is one; exponent from 0. */
static whole whole_power(double base, int exponent)
{
    whole result = 1, factor = (whole)base;
    if ((double)factor != base) {
        long double exact = raise_to(base, (unsigned)exponent);
        result = (whole)exact;
        return result + ((long double)result < exact);
    }
    while (exponent-- > 0)
        result *= factor;
    return result;
}

/* Whether base^exponent is not above min. */
static bool reaches(double base, int exponent, bool is_whole, const struct number *min)
{
    return is_whole ? exponent < 0 || (raise_to(base, (unsigned)exponent) < 0x1p100L &&
                                       whole_power(base, exponent) <= min->whole)
                    : power(base, exponent) <= min->value;
}

/* The exponent of the last power of base that is not above min. */
static int exponent_below(double base, bool is_whole, const struct number *min)
{
    int low = -EXPONENT_MAX, high = EXPONENT_MAX; /* low is one such, high is none */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (reaches(base, middle, is_whole, min))
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int refuse_log(const char *what, struct reason *why)
{
    reason_set(why, "--log: %s", what);
    return -1;
}

/* Powers from exponent on until one is not below max; those that repeat are left out. */
static int lay_powers(struct binning *binning, bool is_whole, double base, int exponent,
                      const struct number *max, struct number *numbers, struct reason *why)
{
    size_t count = 0;
    bool covered = false;
    for (; !covered; exponent++) {
        struct number *number = &numbers[count];
        if (count > BINS_MAX)
            return refuse_log("more than 16777216 bins", why);
        number->value = power(base, exponent);
        if (isinf(number->value))
            return refuse_log("the powers that cover --max are too large for a double", why);
        number->whole = is_whole ? whole_power(base, exponent) : 0;
        covered = is_whole ? number->whole >= max->whole : number->value >= max->value;
        count += !is_whole || count == 0 || number->whole > number[-1].whole;
    }
    return keep_edges(binning, is_whole, numbers, count, why);
}

int binning_log(struct binning *binning, bool is_whole, const char *min_text, const char *max_text,
                const char *base_text, struct reason *why)
{
    struct number min, max, base;
    if (parse_range(is_whole, min_text, max_text, &min, &max, why) != 0 ||
        parse("--log", false, base_text, &base, why) != 0)
        return -1;
    if (base.value < BASE_MIN || base.value > BASE_MAX)
        return refuse_log("BASE must be from 1.0001 to 1000000", why);
    if (is_whole ? min.whole < 1 : !(min.value > 0))
        return refuse_log("--min must be greater than 0", why);
    struct number *numbers = calloc(BINS_MAX + 2, sizeof *numbers); /* touched as far as used */
    if (!numbers)
        return refuse_log("out of memory", why);
    int begin = exponent_below(base.value, is_whole, &min);
    int rc = lay_powers(binning, is_whole, base.value, begin, &max, numbers, why);
    free(numbers);
    return rc;
}

void binning_log_linear(struct binning *binning)
{
    *binning = (struct binning){.bins = LOG_LINEAR_BINS, .log_linear = true};
}

/* --- looking up --- */

static size_t search_whole(const struct binning *binning, whole value)
{
    size_t low = 0, high = binning->bins + 1; /* edges [0, low) are not above it, [high, ...) are */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (binning->whole_edges[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static size_t search(const struct binning *binning, double value)
{
    size_t low = 0, high = binning->bins + 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (binning_edge(binning, middle) <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t binning_row_whole(const struct binning *binning, whole value)
{
    if (binning->whole_edges)
        return search_whole(binning, value);
    whole offset = value - binning->first;
    if (offset < 0)
        return ROW_BELOW;
    if (offset >= binning->span)
        return ROW_ABOVE(binning);
    if (binning->reciprocal)
        return 1 + (size_t)binning_of_offset(binning, (uint64_t)offset);
    return 1 + (size_t)((unsigned_whole)offset * binning->bins / (unsigned_whole)binning->span);
}

/* Equal bins: a guess, which the edges themselves prove, or it is searched. */
size_t binning_row(const struct binning *binning, double value)
{
    if (binning->log_linear)
        return binning_row_log_linear(value);
    if (isnan(value))
        return ROW_INVALID(binning);
    double guess = (value - binning->min) * binning->per_step; /* also NaN */
    if (binning->edges || !(guess >= 0 && guess < (double)binning->bins))
        return search(binning, value);
    size_t bin = (size_t)guess;
    bool right = value >= binning_edge(binning, bin) && value < binning_edge(binning, bin + 1);
    return right ? 1 + bin : search(binning, value);
}

/* --- showing --- */

static void show_whole(whole value, char text[48])
{
    char digits[48], *at = digits + sizeof digits - 1;
    unsigned_whole rest = (unsigned_whole)(value < 0 ? -value : value);
    *at = '\0';
    do
        *--at = (char)('0' + (int)(rest % 10));
    while (rest /= 10);
    if (value < 0)
        *--at = '-';
    memcpy(text, at, (size_t)(digits + sizeof digits - at));
}

void binning_show_double(double value, char text[48])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 48, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (strchr(text, 'e') && fabs(value) >= 1 && fabs(value) < 1e17)
        snprintf(text, 48, "%.0f", value); /* 10, not 1e+01 */
}

void binning_show_edge(const struct binning *binning, size_t k, char text[48])
{
    if (binning->is_whole)
        show_whole(binning_whole_edge(binning, k), text);
    else
        binning_show_double(binning_edge(binning, k), text);
}

void binning_free(struct binning *binning)
{
    free(binning->whole_edges);
    free(binning->edges);
    *binning = (struct binning){0};
}
