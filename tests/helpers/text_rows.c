/* SPDX-License-Identifier: MIT */
#include "tests/helpers/text_rows.h"
#include "src/text/field_parser.h"

#define VALUES_MAX 4096

void text_rows_add(const struct histogram_spec *spec, const unsigned char *text, size_t len,
                   uint64_t *counts)
{
    static double values[VALUES_MAX];
    for (size_t at = 0, used; at < len; at += used) {
        size_t count =
            number_parser_find(NULL)->parse(text + at, len - at, values, VALUES_MAX, &used);
        for (size_t i = 0; i < count; i++)
            counts[binning_row(&spec->binning, values[i])]++;
    }
    for (size_t i = 0; i < len; i++)
        counts[spec->bins] += text[i] == '\n';
}
