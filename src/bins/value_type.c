/* SPDX-License-Identifier: MIT */
/* The table of types. */
#include "value_type.h"

#include <stdio.h>
#include <string.h>

#define LITTLE_ENDIAN_TYPE(kind, bits)                                                             \
    {                                                                                              \
#kind #bits, bits / 8, #kind[0], false                                                     \
    }
#define BIG_ENDIAN_TYPE(kind, bits)                                                                \
    {                                                                                              \
#kind #bits "be", bits / 8, #kind[0], true                                                 \
    }
#define BOTH_ENDIAN_TYPES(kind, bits) LITTLE_ENDIAN_TYPE(kind, bits), BIG_ENDIAN_TYPE(kind, bits)

const struct value_type value_types[] = {
    LITTLE_ENDIAN_TYPE(u, 8),
    BOTH_ENDIAN_TYPES(u, 16),
    BOTH_ENDIAN_TYPES(u, 24),
    BOTH_ENDIAN_TYPES(u, 32),
    BOTH_ENDIAN_TYPES(u, 64),
    LITTLE_ENDIAN_TYPE(i, 8),
    BOTH_ENDIAN_TYPES(i, 16),
    BOTH_ENDIAN_TYPES(i, 24),
    BOTH_ENDIAN_TYPES(i, 32),
    BOTH_ENDIAN_TYPES(i, 64),
    BOTH_ENDIAN_TYPES(f, 32),
    BOTH_ENDIAN_TYPES(f, 64),
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
