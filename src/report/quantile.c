#include "quantile.h"
#include "src/histogram/facts.h"

#include <float.h>
#include <math.h>

/* The greatest relative error of a value for samples from a up to b, both over 0, or a little more:
 * two operations have rounded it, by a factor of 1 + 2^-53 each, and the decimal that is printed
 * may be half a unit of the last place lower. */
static double error_bound(double value, double a, double b)
{
    double low = fabs(value - a) / a, high = fabs(b - value) / b;
    return (low > high ? low : high) * (1 + 4 * DBL_EPSILON);
}

/* The value that errs least for samples from a up to b, both over 0. 2ab / (a + b) errs as much,
 * relatively, at both ends. */
static struct quantile between(double a, double b)
{
    double ratio = b / a, value = b * (2 / (1 + ratio)), error = error_bound(value, a, b);
    return error < 1 ? (struct quantile){value, error} : (struct quantile){0, 1};
}

static struct quantile in_bin(const struct binning *binning, size_t bin)
{
    double a = binning_edge(binning, bin), b = binning_edge(binning, bin + 1);
    a = a < -DBL_MAX ? -DBL_MAX : a; /* samples in bins are finite */
    b = b > DBL_MAX ? DBL_MAX : b;
    if (a > 0)
        return between(a, b);
    if (b < 0) {
        struct quantile mirrored = between(-b, -a);
        return (struct quantile){-mirrored.value, mirrored.error};
    }
    return (struct quantile){0, binning_is_zero_alone(binning, bin) ? 0 : 1};
}

struct quantile quantile(const struct binning *binning, const struct tally *tally, double q)
{
    uint64_t samples = tally->samples - tally->counts[ROW_INVALID(binning)];
    if (samples == 0)
        return (struct quantile){NAN, NAN};
    size_t row = quantile_row(tally->counts, quantile_rank(q, samples));
    if (row != ROW_BELOW && row != ROW_ABOVE(binning))
        return in_bin(binning, row - 1);
    /* Infinity itself, or what may be anything beyond the bins. */
    return (struct quantile){row == ROW_BELOW ? -HUGE_VAL : HUGE_VAL,
                             binning->log_linear ? 0 : HUGE_VAL};
}
