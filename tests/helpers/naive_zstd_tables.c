/* SPDX-License-Identifier: MIT */
#include "tests/helpers/naive_zstd_tables.h"

#include <stdbool.h>
#include <string.h>

_Noreturn void naive_refuse(struct naive_trap *trap, const char *why)
{
    trap->why = why;
    longjmp(trap->where, 1);
}

/* --- bits --- */

static unsigned bit_at(const unsigned char *bytes, size_t bit)
{
    return bytes[bit / 8] >> bit % 8 & 1;
}

struct naive_bits naive_bits_backwards(struct naive_trap *trap, const unsigned char *bytes,
                                       size_t size)
{
    if (size == 0 || bytes[size - 1] == 0)
        naive_refuse(trap, "a stream of bits without an end");
    size_t left = 8 * size - 1;
    while (!bit_at(bytes, left))
        left--;
    return (struct naive_bits){trap, bytes, left};
}

uint64_t naive_bits_read(struct naive_bits *bits, unsigned count)
{
    uint64_t value = 0;
    if (count > bits->left)
        naive_refuse(bits->trap, "a stream of bits is too short");
    for (unsigned i = 0; i < count; i++)
        value = value << 1 | bit_at(bits->bytes, --bits->left);
    return value;
}

/* The log2 of the highest bit that is set; value is not 0. */
static unsigned highest_bit(uint64_t value)
{
    unsigned log = 0;
    while (value >>= 1)
        log++;
    return log;
}

/* --- FSE --- */

/* Gives rows to the symbols: those of less than one from the end, the others in steps. */
static void spread(struct naive_fse *table, const short *weights, size_t size)
{
    unsigned rows = 1u << table->log, end = rows, row = 0;
    for (size_t symbol = 0; symbol < size; symbol++)
        if (weights[symbol] == -1)
            table->rows[--end].symbol = (uint8_t)symbol;
    for (size_t symbol = 0; symbol < size; symbol++)
        for (short i = 0; i < weights[symbol]; i++) {
            table->rows[row].symbol = (uint8_t)symbol;
            do
                row = (row + (rows >> 1) + (rows >> 3) + 3) % rows;
            while (row >= end);
        }
}

void naive_fse_build(struct naive_fse *table, unsigned log, const short *weights, size_t size)
{
    unsigned next[256];
    table->log = log;
    spread(table, weights, size);
    for (size_t symbol = 0; symbol < size; symbol++)
        next[symbol] = weights[symbol] == -1 ? 1 : (unsigned)weights[symbol];
    for (unsigned row = 0; row < 1u << log; row++) {
        unsigned share = next[table->rows[row].symbol]++;
        unsigned bits = log - highest_bit(share);
        table->rows[row].bits = (uint8_t)bits;
        table->rows[row].base = (uint16_t)((share << bits) - (1u << log));
    }
}

void naive_fse_single(struct naive_fse *table, unsigned symbol)
{
    memset(table, 0, sizeof *table);
    table->rows[0].symbol = (uint8_t)symbol;
}

/* Reads forwards, beyond the end zeros: whoever is done says whether that was too far. */
static unsigned forward_bits(const unsigned char *bytes, size_t size, size_t *bit, unsigned count)
{
    unsigned value = 0;
    for (unsigned i = 0; i < count; i++, ++*bit)
        if (*bit < 8 * size)
            value |= bit_at(bytes, *bit) << i;
    return value;
}

/* A value from 0 to `max`, of which the small ones take a bit less. */
static unsigned forward_value(const unsigned char *bytes, size_t size, size_t *bit, unsigned max)
{
    unsigned count = highest_bit(max) + 1;
    unsigned shorter = (1u << count) - 1 - max; /* so many values take count - 1 bits */
    size_t begin = *bit;
    unsigned low = forward_bits(bytes, size, bit, count - 1);
    if (low < shorter)
        return low;
    *bit = begin;
    unsigned value = forward_bits(bytes, size, bit, count);
    return value < 1u << (count - 1) ? value : value - shorter;
}

size_t naive_fse_read(struct naive_fse *table, struct naive_trap *trap, const unsigned char *bytes,
                      size_t size, unsigned log_max, unsigned symbols)
{
    short weights[256] = {0};
    size_t bit = 0;
    unsigned symbol = 0, log = 5 + forward_bits(bytes, size, &bit, 4), left = 1u << log;
    if (log > log_max)
        naive_refuse(trap, "an FSE table of too many rows");
    while (left > 0) {
        if (symbol >= symbols)
            naive_refuse(trap, "an FSE table of too many symbols");
        int weight = (int)forward_value(bytes, size, &bit, left + 1) - 1;
        weights[symbol++] = (short)weight;
        left -= (unsigned)(weight < 0 ? 1 : weight);
        if (weight == 0) {
            unsigned zeros;
            do {
                zeros = forward_bits(bytes, size, &bit, 2);
                symbol += zeros;
            } while (zeros == 3 && symbol < symbols);
        }
    }
    if (bit > 8 * size)
        naive_refuse(trap, "an FSE table that is cut short");
    naive_fse_build(table, log, weights, symbol);
    return (bit + 7) / 8;
}

unsigned naive_fse_next(const struct naive_fse *table, unsigned row, struct naive_bits *bits)
{
    return table->rows[row].base + (unsigned)naive_bits_read(bits, table->rows[row].bits);
}

/* --- Huffman --- */

/* Weights that are coded by two FSE states in turn, until there are no bits for the next. */
static size_t coded_weights(struct naive_trap *trap, const unsigned char *bytes, size_t size,
                            uint8_t weights[256])
{
    struct naive_fse table;
    size_t head = naive_fse_read(&table, trap, bytes, size, 6, NAIVE_HUFFMAN_LOG_MAX + 1),
           count = 0;
    struct naive_bits bits = naive_bits_backwards(trap, bytes + head, size - head);
    unsigned rows[2];
    rows[0] = (unsigned)naive_bits_read(&bits, table.log);
    rows[1] = (unsigned)naive_bits_read(&bits, table.log);
    for (;;) {
        unsigned *row = &rows[count % 2];
        if (count > 253)
            naive_refuse(trap, "too many weights");
        weights[count++] = table.rows[*row].symbol;
        if (table.rows[*row].bits > bits.left)
            break;
        *row = naive_fse_next(&table, *row, &bits);
    }
    weights[count] = table.rows[rows[count % 2]].symbol;
    return count + 1;
}

static size_t direct_weights(const unsigned char *bytes, size_t count, uint8_t weights[256])
{
    for (size_t i = 0; i < count; i++)
        weights[i] = i % 2 ? bytes[i / 2] & 15 : bytes[i / 2] >> 4;
    return count;
}

/* The last symbol has the weight that makes the sum a power of two. */
static size_t add_last_weight(struct naive_huffman *table, struct naive_trap *trap,
                              uint8_t weights[256], size_t count)
{
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (weights[i] > NAIVE_HUFFMAN_LOG_MAX)
            naive_refuse(trap, "a weight that is too large");
        sum += weights[i] > 0 ? 1u << (weights[i] - 1) : 0;
    }
    if (sum == 0)
        naive_refuse(trap, "no weights");
    table->log = highest_bit(sum) + 1;
    unsigned rest = (1u << table->log) - sum;
    if (table->log > NAIVE_HUFFMAN_LOG_MAX || rest != 1u << highest_bit(rest))
        naive_refuse(trap, "weights that do not add up");
    weights[count] = (uint8_t)(highest_bit(rest) + 1);
    return count + 1;
}

size_t naive_huffman_read(struct naive_huffman *table, struct naive_trap *trap,
                          const unsigned char *bytes, size_t size)
{
    uint8_t weights[256] = {0};
    if (size == 0)
        naive_refuse(trap, "no Huffman table");
    size_t head = bytes[0], count = head < 128 ? 0 : head - 127;
    size_t described = head < 128 ? head : (count + 1) / 2;
    if (described > size - 1)
        naive_refuse(trap, "a Huffman table that is cut short");
    count = head < 128 ? coded_weights(trap, bytes + 1, head, weights)
                       : direct_weights(bytes + 1, count, weights);
    count = add_last_weight(table, trap, weights, count);
    unsigned row = 0, ones = 0;
    for (unsigned weight = 1; weight <= table->log; weight++)
        for (size_t symbol = 0; symbol < count; symbol++)
            for (unsigned i = 0; weights[symbol] == weight && i < 1u << (weight - 1); i++) {
                table->rows[row].symbol = (uint8_t)symbol;
                table->rows[row++].bits = (uint8_t)(table->log + 1 - weight);
                ones += weight == 1;
            }
    if (ones < 2)
        naive_refuse(trap, "fewer than two codes of full length");
    return 1 + described;
}

unsigned char naive_huffman_symbol(const struct naive_huffman *table, struct naive_bits *bits)
{
    unsigned next = 0; /* the next bits; beyond the end zeros */
    for (unsigned i = 0; i < table->log; i++)
        next = next << 1 | (i < bits->left ? bit_at(bits->bytes, bits->left - 1 - i) : 0);
    naive_bits_read(bits, table->rows[next].bits);
    return table->rows[next].symbol;
}

/* --- what the codes of sequences stand for --- */

static const uint32_t length_base[36] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,   9,   10,  11,   12,   13,   14,   15,    16,    18,
    20, 22, 24, 28, 32, 40, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};
static const uint8_t length_bits[36] = {0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0,
                                        0, 0, 0, 0, 1, 1,  1,  1,  2,  2,  3,  3,
                                        4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const short length_predefined[36] = {4, 3, 2, 2, 2, 2, 2, 2, 2,  2,  2,  2,
                                            2, 1, 1, 1, 2, 2, 2, 2, 2,  2,  2,  2,
                                            2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
static const uint32_t match_base[53] = {
    3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,   14,   15,   16,   17,    18,    19,   20,
    21, 22, 23, 24, 25, 26, 27, 28,  29,  30,  31,   32,   33,   34,   35,    37,    39,   41,
    43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539};
static const uint8_t match_bits[53] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0, 0,
                                       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  1,  1,  1, 1,
                                       2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
static const short match_predefined[53] = {
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
static const short offset_predefined[29] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                            1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

const struct naive_code naive_literal_lengths = {
    .symbols = 36,
    .log_max = 9,
    .base = length_base,
    .bits = length_bits,
    .predefined = length_predefined,
    .predefined_size = 36,
    .predefined_log = 6,
};
const struct naive_code naive_match_lengths = {
    .symbols = 53,
    .log_max = 9,
    .base = match_base,
    .bits = match_bits,
    .predefined = match_predefined,
    .predefined_size = 53,
    .predefined_log = 6,
};
const struct naive_code naive_offsets = {
    .symbols = 32,
    .log_max = 8,
    .predefined = offset_predefined,
    .predefined_size = 29,
    .predefined_log = 5,
};
