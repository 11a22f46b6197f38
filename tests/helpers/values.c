/* SPDX-License-Identifier: MIT */
#include "tests/helpers/values.h"
#include "tests/helpers/bits.h"

const struct value_type *value_type_native(const char *name)
{
    const struct value_type *type = value_type_find(name);
    const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return type[is_big].big_endian == is_big ? type + is_big : NULL;
}

/* Returns where byte k of the value, counted from its lowest, is in the array. */
static size_t position_of_byte(const struct value_type *type, size_t i, size_t k)
{
    return i * type->size + (type->big_endian ? type->size - 1 - k : k);
}

void value_put(const struct value_type *type, unsigned char *data, size_t i, uint64_t bits)
{
    for (size_t k = 0; k < type->size; k++)
        data[position_of_byte(type, i, k)] = (unsigned char)(bits >> 8 * k);
}

uint64_t value_get(const struct value_type *type, const unsigned char *data, size_t i)
{
    uint64_t bits = 0;
    for (size_t k = 0; k < type->size; k++)
        bits |= (uint64_t)data[position_of_byte(type, i, k)] << 8 * k;
    return bits;
}

uint64_t value_bits(const struct value_type *type, double value)
{
    return type->size == 4 ? bits_of_float((float)value) : bits_of_double(value);
}

size_t value_row(const struct histogram_spec *spec, const unsigned char *data, size_t i)
{
    const struct value_type *type = &spec->type;
    uint64_t bits = value_get(type, data, i);
    if (type->kind == 'f')
        return binning_row(&spec->binning, type->size == 4 ? (double)float_of_bits((uint32_t)bits)
                                                           : double_of_bits(bits));
    bool negative = type->kind == 'i' && bits >> (8 * type->size - 1);
    int128 value = (int128)bits - (negative ? (int128)1 << 8 * type->size : 0);
    return binning_row_whole(&spec->binning, value);
}
