/* SPDX-License-Identifier: MIT */
/* Powers of a decimal number that can be rounded without error.
 *
 * A power is an interval: a long mantissa that is rounded down at each step, and a bound on what
 * was lost. Rounding succeeds only if all of the interval rounds to the same number; otherwise
 * powers are computed again with more limbs. That ends: a power exactly on a boundary has few bits
 * and is exact once they fit; any other has some distance to the boundary, and the interval gets
 * smaller. */
#ifndef GPUHISTO_LONG_POWER_H
#define GPUHISTO_LONG_POWER_H

#include "binning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Steps that a power may be away from 1. */
#define POWER_STEPS_MAX (1 << 24)

/* base^n for one n, which long_power_raise and long_power_lower change. */
struct long_power {
    uint64_t up, down; /* base = up / down * 2^shift; both odd, without a common divisor */
    int shift;
    size_t limbs;       /* of the mantissa, 64 bits each */
    uint64_t *mantissa; /* the least limb first, the highest bit set; a spare limb on each side */
    int64_t exponent;   /* the value is in [2^exponent, 2^(exponent + 1)) */
    uint64_t lossy;     /* steps taken since bits were first lost; 0: the value is exact */
};

/* Makes *power base^0, which is 1, with so many limbs, 1 or more. The base is over 0, and its
 * digits and 10^places are below 2^60. 0; or -1: out of memory, and there is nothing to free. */
int long_power_open(struct long_power *power, struct decimal base, size_t limbs);

void long_power_close(struct long_power *power);

/* Each makes base^n the power base^(n + 1) or base^(n - 1). A power is either raised or lowered,
 * never both, and POWER_STEPS_MAX times at most. */
void long_power_raise(struct long_power *power);
void long_power_lower(struct long_power *power);

/* Sets *value to the nearest double, half way to the even one, or to infinity if the power is too
 * large. False if more limbs are needed. */
bool long_power_nearest(const struct long_power *power, double *value);

/* Sets *value to the power, from 1 to below 2^100, rounded up to a whole number. False if more
 * limbs are needed. */
bool long_power_round_up(const struct long_power *power, int128 *value);

#endif
