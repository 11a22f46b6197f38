/* SPDX-License-Identifier: MIT */
/* The field of a line that is the number, as the kernel `fields` is given it: struct field
 * (src/text/field.h) without pointers. */
#ifndef GPUHISTO_LINE_FIELD_H
#define GPUHISTO_LINE_FIELD_H

#include "src/text/field.h"

/* The longest string of --after, in bytes; a longer one is left to the CPU. */
#define LINE_FIELD_AFTER_MAX 128

struct line_field {
    enum field_kind kind;
    int number;
    unsigned char separator;
    unsigned after_len;
    unsigned char after[LINE_FIELD_AFTER_MAX];
};

/* True if the kernel takes the field. Reading from the beginning of a file is needed to know where
 * records of CSV end, and each file's header to know the number of a named column. */
static inline bool line_field_takes(const struct field *field)
{
    return field->kind != FIELD_NONE && field->kind != FIELD_CSV && field->kind != FIELD_JSON &&
           field->kind != FIELD_LINE && !field->name && field->after_len <= LINE_FIELD_AFTER_MAX;
}

/* Returns the field as the kernel takes it. */
static inline struct line_field line_field_of(const struct field *field)
{
    struct line_field line = {
        field->kind, field->number, field->separator, (unsigned)field->after_len, {0}};
    for (size_t i = 0; i < field->after_len; i++)
        line.after[i] = (unsigned char)field->after[i];
    return line;
}

#endif
