/* SPDX-License-Identifier: MIT */
/* The types of binary numbers that --values counts. */
#ifndef GPUHISTO_VALUE_TYPE_H
#define GPUHISTO_VALUE_TYPE_H

#include <stdbool.h>
#include <stddef.h>

struct value_type {
    const char *name; /* "u8" to "f64"; big-endian ones end in "be" */
    size_t size;      /* bytes: 1 to 4, or 8 */
    char kind;        /* 'u' and 'i': whole, without and with a sign; 'f': IEEE 754 */
    bool big_endian;
};

/* All types, ended by one whose name is NULL. */
extern const struct value_type value_types[];

/* Returns the type with this name, or NULL. */
const struct value_type *value_type_find(const char *name);

/* Writes the names of all types that are not big-endian to text[0..size): "u8, u16 or u32". */
void value_types_show(char *text, size_t size);

#endif
