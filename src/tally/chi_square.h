/* SPDX-License-Identifier: MIT */
/* The chi-square distribution. */
#ifndef GPUHISTO_CHI_SQUARE_H
#define GPUHISTO_CHI_SQUARE_H

/* Returns the probability, to some twelve digits, that a chi-square variable with so many degrees
 * of freedom, over 0, is at least `value`, 0 or more. Any thread. */
double chi_square_probability(double value, unsigned degrees);

#endif
