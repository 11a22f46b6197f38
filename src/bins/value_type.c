/* SPDX-License-Identifier: MIT */
/* The table of types. */
#include "value_type.h"

#include <stdio.h>
#include <string.h>

const struct value_type value_types[] = {
    {"u8", 1, 'u', false},
    {"u16", 2, 'u', false},
    {"u16be", 2, 'u', true},
    {"u24", 3, 'u', false},
    {"u24be", 3, 'u', true},
    {"u32", 4, 'u', false},
    {"u32be", 4, 'u', true},
    {"u64", 8, 'u', false},
    {"u64be", 8, 'u', true},
    {"i8", 1, 'i', false},
    {"i16", 2, 'i', false},
    {"i16be", 2, 'i', true},
    {"i24", 3, 'i', false},
    {"i24be", 3, 'i', true},
    {"i32", 4, 'i', false},
    {"i32be", 4, 'i', true},
    {"i64", 8, 'i', false},
    {"i64be", 8, 'i', true},
    {"f32", 4, 'f', false},
    {"f32be", 4, 'f', true},
    {"f64", 8, 'f', false},
    {"f64be", 8, 'f', true},
    {0},
};

const struct value_type *value_type_find(const char *name)
{
    const struct value_type *type = value_types;
    while (type->name && strcmp(type->name, name) != 0)
        type++;
    return type->name ? type : NULL;
}

void value_types_show(char *text, size_t size)
{
    const struct value_type *type = value_types, *next;
    for (size_t len = 0; type->name && len < size; type = next) {
        for (next = type + 1; next->name && next->big_endian; next++)
            continue;
        const char *before = type == value_types ? "" : next->name ? ", " : " or ";
        len += (size_t)snprintf(text + len, size - len, "%s%s", before, type->name);
    }
}
