/* SPDX-License-Identifier: MIT */
/* The chi-square distribution. */
#ifndef GPUHISTO_CHI_SQUARE_H
#define GPUHISTO_CHI_SQUARE_H

/* The probability that a chi-square variable with so many degrees of freedom, over 0, is at least
 * `value`, 0 or more: to some twelve digits. Any thread. */
double chi_square_probability(double value, unsigned degrees);

#endif
