/* SPDX-License-Identifier: MIT */
/* The least, the greatest and the exact sums of numbers. Numbers that are added one by one must
 * have the sum, the mean and the deviation that vectors say; and all kernels of this processor,
 * which add them up in any order and in parts, must come to the same sums. Those of whole numbers
 * must be what 128 bits hold. */
#include "src/cpu/count.h"
#include "tests/helpers/bits.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/values.h"
#include "tests/helpers/vectors.h"
#include "src/bins/sums.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 5000

static unsigned long cases, wrong;

static void check(bool right, const char *kernels, const char *what, size_t count, double got)
{
    cases++;
    if (!right && wrong++ < 20)
        fprintf(stderr, "FAIL: %s, %zu numbers: %s is %.17g\n", kernels, count, what, got);
}

/* --- sums that are known --- */

/* True if a text is that of a number, or both are NaN. */
static bool is_shown(const char *text, double value)
{
    const double wanted = strtod(text, NULL);
    return isnan(value) ? isnan(wanted) : wanted == value;
}

static void check_vectors(void)
{
    while (vectors_next("sums")) {
        static struct moments moments;
        const size_t n = vector_count("numbers");
        moments_clear(&moments);
        for (size_t i = 0; i < n; i++)
            moments_add_double(&moments, strtod(vector_element("numbers", i), NULL), 1);
        const double sum = moments_sum(&moments), mean = moments_mean(&moments, n),
                     deviation = moments_deviation(&moments, n);
        check(is_shown(vector_text("sum"), sum), "a vector", vector_text("sum"), n, sum);
        check(is_shown(vector_text("mean"), mean), "a vector", vector_text("mean"), n, mean);
        check(is_shown(vector_text("deviation"), deviation), "a vector", vector_text("deviation"),
              n, deviation);
    }
}

/* --- numbers --- */

enum kind {
    KIND_NEAR,
    KIND_SPREAD,
    KIND_WHOLE,
    KIND_FULL,
    KIND_WIDE,
    KIND_ANY,
    KIND_CANCEL,
    KIND_LATE,
    KIND_TINY,
    KIND_SPAN,
    KIND_LIMIT,
    KINDS
};

static double random_unit(void)
{
    return (double)(random_word() >> 11) * 0x1p-53;
}

/* The largest limbs there are, in places where ways to add up change: what is nearest below a power
 * of two; half way between two units of a limb, for limbs of 22 to 25 bits; and few bits. */
static double random_limit(unsigned spread)
{
    const double below_one = 1 - 0x1p-53, unit = ldexp(1, -(int)(22 + spread % 4));
    switch (random_below(5)) {
    case 0:
        return 1 - unit / 2;
    case 1:
        return 0.5 + unit / 2;
    case 2:
        return 1 - 0x1p-50 * (1 + random_below(3));
    case 3:
        return spread % 8 < 4 ? 0.5 : ldexp(below_one, -(int)random_below(spread));
    default:
        return below_one;
    }
}

static double random_number(enum kind kind, unsigned spread)
{
    double sign = random_below(2) ? 1 : -1, value;
    switch (kind) {
    case KIND_NEAR:
        return 0.001 * random_below(100000);
    case KIND_SPREAD: /* around what the vector loops can take */
        return (spread % 2 ? sign : 1) * ldexp(1 + random_unit(), (int)random_below(spread));
    case KIND_WHOLE: /* with zeros; and bits below the last limb of those near 0 */
        return sign * (double)(random_word() >> (63 - spread % 24)) + (spread % 2 ? 0.3 : 0);
    case KIND_FULL: /* limbs as large as they get */
        value = random_below(2) ? 0x1p74 - 0x1p21 : 0x1p73;
        return value == 0x1p73 ? value + 0x1p49 + sign * 0x1p24 : value;
    case KIND_WIDE:
        return sign * ldexp(random_unit(), (int)random_below(200) - 100);
    case KIND_CANCEL:
        return sign * ldexp(1 + random_unit(), (int)random_below(60));
    case KIND_LATE:
        return 1.7e18 + 256.0 * random_below(1000000);
    case KIND_SPAN: /* as far apart as a way to add up takes them: all bits, and below more */
        return random_below(4) ? ldexp(1 + 0x1p-52, (int)(13 + spread % 12)) : 2 - 0x1p-52;
    case KIND_LIMIT:
        return (spread % 2 ? sign : 1) * random_limit(spread);
    case KIND_TINY:
        return sign * 0x1p-1074 * random_below(1000000);
    default:
        do
            value = double_of_bits(random_word());
        while (!isfinite(value));
        return value;
    }
}

static void make_numbers(enum kind kind, double *values, size_t count)
{
    static const int scales[] = {0, 0, 0, 300, 479 - 73, 480 - 73, -480 - 73, -481 - 73};
    const int scale = kind == KIND_FULL ? scales[random_below(8)] : 0;
    const bool same = (kind == KIND_FULL || kind == KIND_LIMIT) && random_below(2);
    unsigned spread = 10 + random_below(60);
    for (size_t i = 0; i < count; i++)
        values[i] = same && i > 0 ? values[0] : ldexp(random_number(kind, spread), scale);
    bool cancels = kind == KIND_CANCEL || (kind == KIND_SPREAD && random_below(2));
    for (size_t i = 0; cancels && i + 1 < count / 2; i++)
        values[count - 1 - i] = -values[i];
    if (random_below(5) == 0) /* one in a batch, which other numbers may hide */
        values[random_below((unsigned)count)] = random_below(2) ? 0 : NAN;
    if (random_below(3) == 0) /* what is no part of a sum */
        for (size_t i = 0; i < count; i += 1 + random_below(50))
            values[i] = NAN;
}

/* --- a run --- */

static void build_doubles(struct histogram_spec *spec)
{
    struct binning binning;
    if (binning_equal(&binning, 0, 1, 10) != BINNING_OK)
        abort();
    histogram_spec_values(spec, value_type_native("f64"), &binning);
    spec->has_moments = true;
}

/* Counts the numbers in random parts, into two tallies that are then added up. */
static void count_in_parts(const struct cpu_kernels *kernels, const struct histogram_spec *spec,
                           const unsigned char *data, size_t len, struct tally *tally)
{
    struct count_plan plan = count_plan(kernels, spec);
    size_t size = spec->type.size;
    struct tally other;
    if (tally_open(tally, spec) != 0 || tally_open(&other, spec) != 0)
        abort();
    for (size_t done = 0, part; done < len; done += part) {
        part = random_below(4) ? len - done
                               : size * (1 + random_below((unsigned)(len - done) / (unsigned)size));
        count_samples(&plan, data + done, part, random_below(2) ? tally : &other);
    }
    tally_add(tally, &other);
    tally_close(&other);
}

/* Whether two sums of squares, however they came about, are the same. */
static bool is_same_sum(const struct exact_sum *a, const struct exact_sum *b)
{
    static struct exact_number first, second;
    exact_sum_read(a, &first);
    exact_sum_read(b, &second);
    return first.count == second.count && first.is_negative == second.is_negative &&
           (first.count == 0 || first.exponent == second.exponent) &&
           memcmp(first.words, second.words, (size_t)first.count * sizeof first.words[0]) == 0;
}

static void check_doubles(const struct cpu_kernels *kernels, const double *values, size_t count)
{
    struct histogram_spec spec;
    struct tally tally;
    static struct exact_sum sum, squares;
    double min = HUGE_VAL, max = -HUGE_VAL;
    uint64_t n = 0;
    memset(&sum, 0, sizeof sum);
    memset(&squares, 0, sizeof squares);
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        n++;
        exact_sum_add(&sum, values[i]);
        exact_sum_add_square(&squares, values[i]);
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    build_doubles(&spec);
    count_in_parts(kernels, &spec, (const unsigned char *)values, count * sizeof values[0], &tally);
    const struct moments *moments = tally.moments;
    check(moments->any == (n > 0), kernels->name, "whether there is one", count, (double)n);
    if (n > 0) {
        check(moments->min == min, kernels->name, "the least", count, moments->min);
        check(moments->max == max, kernels->name, "the greatest", count, moments->max);
        check(is_same_sum(&sum, &moments->sum), kernels->name, "the sum", count,
              moments_sum(moments));
        check(is_same_sum(&squares, &moments->squares), kernels->name, "the sum of squares", count,
              moments_deviation(moments, n));
    }
    tally_close(&tally);
    binning_free(&spec.binning);
}

/* --- whole numbers of a type, which 128 bits hold --- */

static void check_wholes(const struct cpu_kernels *kernels, const char *name)
{
    const struct value_type *type = value_type_find(name);
    static unsigned char data[VALUES_MAX * 8];
    size_t count = 1 + random_below(VALUES_MAX);
    struct histogram_spec spec;
    struct binning binning;
    struct tally tally;
    int128 sum = 0, squares = 0, least = 0, greatest = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t value = (int64_t)random_below(1u << 30) >> random_below(30);
        value = type->kind == 'i' && random_below(2) ? -value : value;
        if (type->size < 4)
            value = type->kind == 'i' ? (type->size == 1 ? (int8_t)value : (int16_t)value)
                                      : (type->size == 1 ? (uint8_t)value : (uint16_t)value);
        for (size_t byte = 0; byte < type->size; byte++)
            data[i * type->size + byte] = (unsigned char)((uint64_t)value >> 8 * byte);
        sum += value;
        squares += (int128)value * value;
        least = i == 0 || value < least ? value : least;
        greatest = i == 0 || value > greatest ? value : greatest;
    }
    if (binning_equal_whole(&binning, 0, 100, 10) != BINNING_OK)
        abort();
    histogram_spec_values(&spec, type, &binning);
    spec.has_moments = true;
    count_in_parts(kernels, &spec, data, count * type->size, &tally);
    const struct moments *moments = tally.moments;
    double n = (double)count;
    double variance = (double)((int128)count * squares - sum * sum) / (n * n);
    double deviation = moments_deviation(moments, count);
    check(moments->least == least && moments->greatest == greatest, kernels->name, name, count, 0);
    check(moments_sum(moments) == (double)sum, kernels->name, name, count, moments_sum(moments));
    check(fabs(deviation - sqrt(variance)) <= 4 * DBL_EPSILON * deviation, kernels->name, name,
          count, deviation);
    tally_close(&tally);
    binning_free(&spec.binning);
}

/* --- values of 64 bits, around what doubles hold --- */

static void check_long_wholes(const struct cpu_kernels *kernels, const char *name)
{
    const struct value_type *type = value_type_native(name);
    static int64_t data[VALUES_MAX];
    static struct exact_sum squares;
    const size_t count = 1 + random_below(VALUES_MAX);
    const unsigned shift = random_below(3) ? 10 + random_below(8) : 1 + random_below(60);
    const bool zeros = random_below(8) == 0;
    struct histogram_spec spec;
    struct binning binning;
    struct tally tally;
    int128 sum = 0, least = 0, greatest = 0;
    memset(&squares, 0, sizeof squares);
    for (size_t i = 0; i < count; i++) {
        const int64_t magnitude = zeros ? 0 : (int64_t)(random_word() >> shift);
        data[i] = type->kind == 'i' && random_below(2) ? -magnitude : magnitude;
        sum += data[i];
        exact_sum_add_int128(&squares, (int128)data[i] * data[i], 0);
        least = i == 0 || data[i] < least ? data[i] : least;
        greatest = i == 0 || data[i] > greatest ? data[i] : greatest;
    }
    if (binning_equal_whole(&binning, 0, 100, 10) != BINNING_OK)
        abort();
    histogram_spec_values(&spec, type, &binning);
    spec.has_moments = true;
    count_in_parts(kernels, &spec, (const unsigned char *)data, count * sizeof data[0], &tally);
    const struct moments *moments = tally.moments;
    check(moments->least == least && moments->greatest == greatest, kernels->name, name, count, 0);
    check(moments->min == 0 && moments->max == 0, kernels->name, "a range of doubles", count, 0);
    check(moments_sum(moments) == (double)sum, kernels->name, name, count, moments_sum(moments));
    check(is_same_sum(&squares, &moments->squares), kernels->name, name, count,
          moments_deviation(moments, count));
    tally_close(&tally);
    binning_free(&spec.binning);
}

/* --- carries --- */

/* Digits that are as large as they get before they are carried, just before that is due. */
static void check_carries(void)
{
    static struct exact_sum late, early;
    for (int sign = -1; sign <= 1; sign += 2) {
        memset(&late, 0, sizeof late);
        memset(&early, 0, sizeof early);
        late.added = ((uint32_t)1 << 29) - 3;
        late.used = EXACT_DIGITS;
        late.end = EXACT_DIGITS - 8;
        for (int i = 0; i < EXACT_DIGITS - 8; i++)
            late.digits[i] = sign * (int64_t)late.added * (((int64_t)1 << 33) - 2);
        exact_sum_merge(&early, &late); /* in which all digits are carried */
        for (int i = 0; i < 6; i++) {
            const int128 max = ((((int128)1 << 126) - 1) << 1) + 1;
            exact_sum_add_int128(&late, sign * max, 31 + 32 * i);
            exact_sum_add_int128(&early, sign * max, 31 + 32 * i);
            exact_sum_add(&late, sign * DBL_MAX);
            exact_sum_add(&early, sign * DBL_MAX);
            exact_sum_add_square(&late, DBL_MAX);
            exact_sum_add_square(&early, DBL_MAX);
        }
        check(is_same_sum(&late, &early), "all", "a sum of which digits are carried", 6, sign);
    }
}

static void check_infinities(const struct cpu_kernels *kernels)
{
    static const double both[] = {1, HUGE_VAL, 2, -HUGE_VAL}, one[] = {-HUGE_VAL, 5, 7};
    struct histogram_spec spec;
    struct tally tally;
    build_doubles(&spec);
    count_in_parts(kernels, &spec, (const unsigned char *)both, sizeof both, &tally);
    check(isnan(moments_sum(tally.moments)), kernels->name, "inf - inf", 4, 0);
    check(tally.moments->min == -HUGE_VAL && tally.moments->max == HUGE_VAL, kernels->name, "inf",
          4, 0);
    tally_close(&tally);
    count_in_parts(kernels, &spec, (const unsigned char *)one, sizeof one, &tally);
    check(moments_mean(tally.moments, 3) == -HUGE_VAL, kernels->name, "-inf", 3, 0);
    check(isnan(moments_deviation(tally.moments, 3)), kernels->name, "its deviation", 3, 0);
    tally_close(&tally);
    binning_free(&spec.binning);
}

int main(void)
{
    static const char *const types[] = {"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"};
    static const size_t counts[] = {1, 2, 7, 1023, 1024, 1025, 2048};
    static double values[VALUES_MAX];
    check_vectors();
    check_carries();
    unsigned rounds = scale_is_small_or_slow() ? 6 : 60;
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++) {
        if (!(*kernels)->runs_here())
            continue;
        for (unsigned round = 0; round < rounds; round++) {
            for (enum kind kind = 0; kind < KINDS; kind++) {
                size_t count = round < 3 ? counts[random_below(7)] : 1 + random_below(VALUES_MAX);
                make_numbers(kind, values, count);
                check_doubles(*kernels, values, count);
            }
            for (size_t type = 0; type < sizeof types / sizeof types[0]; type++)
                check_wholes(*kernels, types[type]);
            check_long_wholes(*kernels, "i64");
            check_long_wholes(*kernels, "u64");
            check_infinities(*kernels);
        }
    }
    printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong ? 1 : 0;
}
