/* SPDX-License-Identifier: MIT */
/* The rank of a quantile by the definition alone: the least k for which k/n >= q, in fractions. */
#ifndef GPUHISTO_TESTS_NAIVE_RANK_H
#define GPUHISTO_TESTS_NAIVE_RANK_H

#include <stdint.h>

/* Returns the rank, at least 1, of the q-quantile of n samples. q is a decimal of the command line
 * from 0 to 1, which ends before a comma or with the text. */
uint64_t naive_rank(const char *q, uint64_t n);

#endif
