/* SPDX-License-Identifier: MIT */
/* Powers of a decimal number, computed so that they can be rounded without error.
 *
 * A power is kept as an interval: a long mantissa that is rounded down at each step, and a bound on
 * what has been lost. Rounding it succeeds only if the whole interval rounds to the same number;
 * otherwise the powers have to be computed again with more limbs. This ends: a power that lies
 * exactly on a boundary has few bits, and is computed without loss once they fit; any other has
 * some distance to the boundary, and the interval becomes smaller than that. */
#ifndef GPUHISTO_POWER_H
#define GPUHISTO_POWER_H

#include "binning.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many steps a power may be away from 1. */
#define POWER_STEPS_MAX (1 << 24)

/* base^n for one n, which power_raise and power_lower change. */
struct long_power {
    uint64_t up, down; /* base = up / down * 2^shift; both odd, without a common divisor */
    int shift;
    size_t limbs; /* of the mantissa, 64 bits each */
    uint64_t
        *mantissa; /* limbs, the least first, the highest bit set; and a spare one on each side */
    int64_t exponent; /* the value is in [2^exponent, 2^(exponent + 1)) */
    uint64_t lossy;   /* steps taken since bits were first lost; 0: the value is exact */
};

/* Makes *power base^0, which is 1, with so many limbs, 1 or more. The base is over 0, and its
 * digits and 10^places are below 2^60. 0; or -1: out of memory, and there is nothing to free. */
int power_open(struct long_power *power, struct decimal base, size_t limbs);

/* Frees the mantissa. */
void power_close(struct long_power *power);

/* From base^n to base^(n + 1). A power is either raised or lowered, never both, and
 * POWER_STEPS_MAX times at most. */
void power_raise(struct long_power *power);

/* From base^n to base^(n - 1). */
void power_lower(struct long_power *power);

/* Sets *value to the nearest double; to the even one half way, to infinity if the power is too
 * large. False: it takes more limbs to tell. */
bool power_nearest(const struct long_power *power, double *value);

/* Sets *value to the least whole number that is not below the power, which is 1 or more and below
 * 2^100. False: it takes more limbs to tell. */
bool power_round_up(const struct long_power *power, whole *value);

#endif
