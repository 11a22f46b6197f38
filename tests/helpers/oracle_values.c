/* SPDX-License-Identifier: MIT */
/* oracle_values TYPE MIN MAX BINS <data: what --values=TYPE with equal bins must count, a row a
 * line, by the definition and nothing else: each value is compared with one edge after the other.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

static wide wide_of(const char *text)
{
    wide value = 0;
    for (const char *at = text + (*text == '-'); *at; at++)
        value = value * 10 + (*at - '0');
    return *text == '-' ? -value : value;
}

/* The value's bits, most significant byte first or last. */
static uint64_t bits_of(const unsigned char *bytes, size_t size, bool big_endian)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++)
        bits = bits << 8 | bytes[big_endian ? i : size - 1 - i];
    return bits;
}

static double double_of(uint64_t bits, size_t size)
{
    uint32_t narrow = (uint32_t)bits;
    float single;
    double value;
    memcpy(&single, &narrow, sizeof single);
    memcpy(&value, &bits, sizeof value);
    return size == 4 ? (double)single : value;
}

static wide whole_of(uint64_t bits, size_t size, bool is_signed)
{
    bool negative = is_signed && bits >> (8 * size - 1);
    return (wide)bits - (negative ? (wide)1 << 8 * size : 0);
}

/* Returns how many of the edges k * (max - min) / bins + min are not above the value. */
static size_t row_of_whole(wide value, wide min, wide max, size_t bins)
{
    size_t row = 0;
    while (row <= bins && (value - min) * (wide)bins >= (wide)row * (max - min))
        row++;
    return row;
}

static size_t row_of_double(double value, double min, double max, size_t bins)
{
    volatile double step = (max - min) / (double)bins, offset;
    size_t row = 0;
    if (isnan(value))
        return bins + 2;
    for (; row <= bins; row++) {
        offset = (double)row * step;
        if (value < (row == bins ? max : offset + min))
            break;
    }
    return row;
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    char kind = argv[1][0];
    size_t size = strtoul(argv[1] + 1, NULL, 10) / 8, bins = strtoul(argv[4], NULL, 10);
    bool big_endian = strstr(argv[1], "be") != NULL;
    uint64_t *counts = calloc(bins + 3, sizeof *counts);
    unsigned char bytes[8];
    while (counts && fread(bytes, size, 1, stdin) == 1) {
        uint64_t bits = bits_of(bytes, size, big_endian);
        size_t row = kind == 'f' ? row_of_double(double_of(bits, size), strtod(argv[2], NULL),
                                                 strtod(argv[3], NULL), bins)
                                 : row_of_whole(whole_of(bits, size, kind == 'i'), wide_of(argv[2]),
                                                wide_of(argv[3]), bins);
        counts[row]++;
    }
    for (size_t row = 0; counts && row < bins + 3; row++)
        printf("%llu\n", (unsigned long long)counts[row]);
    free(counts);
    return 0;
}
