/* SPDX-License-Identifier: MIT */
/* The regularized incomplete gamma function, by its series where that converges quickly and by its
 * continued fraction elsewhere (Abramowitz and Stegun, 6.5.29, and 6.5.31 by Lentz's method). */
#include "chi_square.h"

#include <float.h>
#include <math.h>

#define TERMS_MAX 100000 /* far more than either takes */

/* Returns the fraction of the gamma function of `a` below x. */
static double lower_by_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (int n = 1; n < TERMS_MAX && term > sum * DBL_EPSILON; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * exp(a * log(x) - x - lgamma(a));
}

/* Returns the fraction above x. */
static double upper_by_fraction(double a, double x)
{
    double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, value = d;
    for (int n = 1; n < TERMS_MAX; n++) {
        double numerator = -n * (n - a);
        b += 2;
        d = 1 / (numerator * d + b);
        c = b + numerator / c;
        value *= c * d;
        if (fabs(c * d - 1) < DBL_EPSILON)
            break;
    }
    return value * exp(a * log(x) - x - lgamma(a));
}

double chi_square_probability(double value, unsigned degrees)
{
    double a = degrees / 2.0, x = value / 2;
    if (!(x > 0))
        return 1;
    return x < a + 1 ? 1 - lower_by_series(a, x) : upper_by_fraction(a, x);
}
