/* SPDX-License-Identifier: MIT */
/* Compares all that finds fields of lines with the definition (naive_field.h). */
#ifndef GPUHISTO_TESTS_CHECK_FIELDS_H
#define GPUHISTO_TESTS_CHECK_FIELDS_H

#include "src/text/field.h"

#include <stdbool.h>
#include <stddef.h>

/* True if every parser that this processor can run, asked for `cap` values at a time, gives the
 * values of the fields of text[0..len), to the bit; if field_find_invalid finds the first record
 * that is invalid; and if field_scan_csv finds the ends of CSV records when the text is cut at
 * `cut`. Otherwise says so on standard error. Call number_prepare before. */
bool check_fields(const struct field *field, const unsigned char *text, size_t len, size_t cap,
                  size_t cut);

#endif
