/* SPDX-License-Identifier: MIT */
/* The description of the records of a text: which of them count, and where in them the number, the
 * keys and the weight stand. It is built from the options and never changes afterwards. */
#ifndef GPUHISTO_LINES_H
#define GPUHISTO_LINES_H

#include "line_filter.h"

/* All zeros: numbers are tokens between white space of all lines. */
struct line_spec {
    struct field field;              /* the number; if records only have keys, that of the first */
    struct key keys[KEY_FIELDS_MAX]; /* what is counted by */
    unsigned key_count;              /* 0: there are no keys */
    bool has_weight;                 /* that of a record is in keys[key_count] */
    struct line_filter filter;       /* the records that count */
};

/* Fields of a description: the number, the keys with the weight, and those of conditions. */
#define LINE_FIELDS_MAX (1 + KEY_FIELDS_MAX + CONDITIONS_MAX)

/* The columns of a file that such fields name, by their numbers. 0: not known, or no name. */
struct line_columns {
    int32_t numbers[LINE_FIELDS_MAX];
};

/* Returns field i of a description, below LINE_FIELDS_MAX; one that is not used has no name. */
const struct field *line_spec_field(const struct line_spec *spec, size_t i);

/* True if a field is a column that has a name. */
bool line_spec_has_names(const struct line_spec *spec);

/* Sets the numbers of the fields whose columns are known. */
void line_spec_set_columns(struct line_spec *spec, const struct line_columns *columns);

#endif
