/* SPDX-License-Identifier: MIT */
/* The rows that decimal text belongs in by the CPU's parser: what kernels are compared with.
 * tests/unit/test_number_parsers.c compares that parser with the definition. */
#ifndef GPUHISTO_TESTS_TEXT_ROWS_H
#define GPUHISTO_TESTS_TEXT_ROWS_H

#include "src/tally/histogram_spec.h"

/* Adds the numbers of text[0..len) to the histogram's rows, counts[0..spec->bins), and its
 * newlines to counts[spec->bins], as a device does. number_prepare need not be called. One
 * thread. */
void text_rows_add(const struct histogram_spec *spec, const unsigned char *text, size_t len,
                   uint64_t *counts);

#endif
