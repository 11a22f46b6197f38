/* SPDX-License-Identifier: MIT */
/* Values of the binary types in memory, and the rows that they belong in. */
#ifndef GPUHISTO_TESTS_VALUES_H
#define GPUHISTO_TESTS_VALUES_H

#include "src/tally/histogram_spec.h"

/* The type of this name ("u16" to "f64") whose values are in this machine's byte order, as an array
 * of C's own type has them. */
const struct value_type *value_type_native(const char *name);

/* Writes value i of an array of values, in the type's byte order. `bits` are the value's, of which
 * the array takes the lowest 8 * type->size. */
void value_put(const struct value_type *type, unsigned char *data, size_t i, uint64_t bits);

/* The bits of value i of an array of values; those that the type does not have are 0. */
uint64_t value_get(const struct value_type *type, const unsigned char *data, size_t i);

/* The bits of the value of a floating-point type nearest to a double. */
uint64_t value_bits(const struct value_type *type, double value);

/* The row of value i of an array of values of the histogram's type, by the binning's own rows of
 * single values (binning_row, binning_row_whole); tests/unit/test_binning.c tests these. */
size_t value_row(const struct histogram_spec *spec, const unsigned char *data, size_t i);

#endif
