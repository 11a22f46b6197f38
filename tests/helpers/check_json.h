/* SPDX-License-Identifier: MIT */
/* Compares all that finds values in JSON lines, or parts that --line names, with the definition
 * (src/text/field.h). */
#ifndef GPUHISTO_TESTS_CHECK_JSON_H
#define GPUHISTO_TESTS_CHECK_JSON_H

#include "src/text/field.h"

#include <stdbool.h>
#include <stddef.h>

/* True if every parser that this processor can run, asked for `cap` values at a time, gives the
 * values that field_find finds in text[0..len), to the bit, and the same field as a key, alone and
 * beside the values. Otherwise says so on standard error. Call number_prepare before. */
bool check_json(const struct field *field, const unsigned char *text, size_t len, size_t cap);

#endif
