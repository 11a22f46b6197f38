/* SPDX-License-Identifier: MIT */
#include "lines.h"

/* --- columns with names --- */

static struct field *field_at(struct line_spec *spec, size_t i)
{
    return i == 0                ? &spec->field
           : i <= KEY_FIELDS_MAX ? &spec->keys[i - 1].field
                                 : &spec->filter.conditions[i - 1 - KEY_FIELDS_MAX].key.field;
}

const struct field *line_spec_field(const struct line_spec *spec, size_t i)
{
    return field_at((struct line_spec *)spec, i);
}

bool line_spec_has_names(const struct line_spec *spec)
{
    bool has_names = false;
    for (size_t i = 0; i < LINE_FIELDS_MAX; i++)
        has_names |= line_spec_field(spec, i)->name != NULL;
    return has_names;
}

void line_spec_set_columns(struct line_spec *spec, const struct line_columns *columns)
{
    for (size_t i = 0; i < LINE_FIELDS_MAX; i++)
        if (columns->numbers[i] != 0)
            field_at(spec, i)->number = columns->numbers[i];
}
