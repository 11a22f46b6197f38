/* SPDX-License-Identifier: MIT */
/* Tables of finite state entropy and of Huffman's codes (RFC 8878, sections 4.1 and 4.2), read from
 * their descriptions. */
#include "src/base/byte_word.h"
#include "zstd_blocks.h"

#include <string.h>

#define FSE_SYMBOLS_MAX 53
#define DESCRIPTION_MAX 96 /* bytes; the longest has 53 symbols of 10 bits */

/* The largest code of an offset. Larger codes are replaced by it, as their offsets could look
 * symbolic; no window that is parsed reaches back as far. */
#define OFFSET_CODE_MAX 30

/* --- finite state entropy --- */

/* Probabilities of symbols, in parts of 1 << log; -1: less than one part. */
struct fse_probabilities {
    int16_t of[FSE_SYMBOLS_MAX];
    unsigned count, log;
};

/* A state: its symbol, and the next state, to which `bits` more bits are added. */
struct fse_state {
    uint8_t symbol, bits;
    uint16_t next;
};

/* The bits of a copy with zeros after it, the lowest first. */
struct bits {
    unsigned char bytes[DESCRIPTION_MAX + 8];
    size_t at;
};

static uint32_t see_bits(const struct bits *bits, unsigned count)
{
    const uint64_t word = byte_word(bits->bytes + bits->at / 8) >> bits->at % 8;
    return (uint32_t)word & ((UINT32_C(1) << count) - 1);
}

static uint32_t read_bits(struct bits *bits, unsigned count)
{
    const uint32_t value = see_bits(bits, count);
    bits->at += count;
    return value;
}

static unsigned log2_floor(uint32_t value)
{
    return 31 - (unsigned)__builtin_clz(value);
}

/* Takes a number from 0 to `max`: low ones have a bit less. */
static uint32_t read_up_to(struct bits *bits, uint32_t max)
{
    const unsigned count = log2_floor(max) + 1;
    const uint32_t half = UINT32_C(1) << (count - 1), spare = 2 * half - 1 - max;
    const uint32_t value = see_bits(bits, count), low = value & (half - 1);
    bits->at += count - (low < spare);
    if (low < spare)
        return low;
    return value < half ? value : value - spare;
}

/* Reads the description of a table of at most symbols_max symbols and 1 << log_max states at
 * in[0..len). Returns its bytes, or 0: it is wrong. */
static size_t fse_read(struct fse_probabilities *probabilities, const unsigned char *in, size_t len,
                       unsigned symbols_max, unsigned log_max)
{
    struct bits bits = {.at = 0};
    memcpy(bits.bytes, in, len < DESCRIPTION_MAX ? len : DESCRIPTION_MAX);
    *probabilities = (struct fse_probabilities){.log = read_bits(&bits, 4) + 5};
    if (probabilities->log > log_max)
        return 0;
    uint32_t left = UINT32_C(1) << probabilities->log;
    unsigned count = 0;
    while (left > 0) {
        if (count >= symbols_max)
            return 0;
        const int probability = (int)read_up_to(&bits, left + 1) - 1;
        probabilities->of[count++] = (int16_t)probability;
        left -= probability < 0 ? 1 : (uint32_t)probability;
        /* Symbols that follow without a probability. */
        for (unsigned zeros = 3; probability == 0 && zeros == 3 && count <= symbols_max;
             count += zeros)
            zeros = read_bits(&bits, 2);
    }
    probabilities->count = count;
    const size_t used = (bits.at + 7) / 8;
    return count <= symbols_max && used <= len ? used : 0;
}

/* Sets the 1 << log states. */
static void fse_spread(const struct fse_probabilities *probabilities, struct fse_state *states)
{
    const unsigned log = probabilities->log;
    const uint32_t size = UINT32_C(1) << log, step = size / 2 + size / 8 + 3;
    uint32_t high = size, at = 0;
    uint16_t seen[FSE_SYMBOLS_MAX];
    for (unsigned symbol = 0; symbol < probabilities->count; symbol++) {
        const int probability = probabilities->of[symbol];
        seen[symbol] = (uint16_t)(probability < 0 ? 1 : probability);
        if (probability < 0)
            states[--high].symbol = (uint8_t)symbol;
    }
    for (unsigned symbol = 0; symbol < probabilities->count; symbol++)
        for (int i = 0; i < probabilities->of[symbol]; i++) {
            states[at].symbol = (uint8_t)symbol;
            do
                at = (at + step) & (size - 1);
            while (at >= high);
        }
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t order = seen[states[i].symbol]++;
        states[i].bits = (uint8_t)(log - log2_floor(order));
        states[i].next = (uint16_t)((order << states[i].bits) - size);
    }
}

/* --- tables of sequences --- */

/* The meaning of a symbol: the least number, and how many bits are added to it. */
struct length_code {
    uint32_t min;
    uint8_t extra;
};

static const struct length_code literal_length_codes[36] = {
    {0, 0},     {1, 0},      {2, 0},      {3, 0},     {4, 0},   {5, 0},     {6, 0},     {7, 0},
    {8, 0},     {9, 0},      {10, 0},     {11, 0},    {12, 0},  {13, 0},    {14, 0},    {15, 0},
    {16, 1},    {18, 1},     {20, 1},     {22, 1},    {24, 2},  {28, 2},    {32, 3},    {40, 3},
    {48, 4},    {64, 6},     {128, 7},    {256, 8},   {512, 9}, {1024, 10}, {2048, 11}, {4096, 12},
    {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16}};

static const struct length_code match_length_codes[53] = {
    {3, 0},     {4, 0},     {5, 0},      {6, 0},      {7, 0},     {8, 0},   {9, 0},     {10, 0},
    {11, 0},    {12, 0},    {13, 0},     {14, 0},     {15, 0},    {16, 0},  {17, 0},    {18, 0},
    {19, 0},    {20, 0},    {21, 0},     {22, 0},     {23, 0},    {24, 0},  {25, 0},    {26, 0},
    {27, 0},    {28, 0},    {29, 0},     {30, 0},     {31, 0},    {32, 0},  {33, 0},    {34, 0},
    {35, 1},    {37, 1},    {39, 1},     {41, 1},     {43, 2},    {47, 2},  {51, 3},    {59, 3},
    {67, 4},    {83, 4},    {99, 5},     {131, 7},    {259, 8},   {515, 9}, {1027, 10}, {2051, 11},
    {4099, 12}, {8195, 13}, {16387, 14}, {32771, 15}, {65539, 16}};

static sequence_entry fse_entry_of(enum sequence_kind kind, struct fse_state state)
{
    const unsigned of_offset = state.symbol < OFFSET_CODE_MAX ? state.symbol : OFFSET_CODE_MAX;
    const struct length_code length_code =
        kind == KIND_LITERALS ? literal_length_codes[state.symbol]
        : kind == KIND_MATCH  ? match_length_codes[state.symbol]
                              : (struct length_code){UINT32_C(1) << of_offset, (uint8_t)of_offset};
    return (uint64_t)length_code.min << 32 | (uint64_t)state.next << 16 |
           (uint64_t)length_code.extra << 8 | state.bits;
}

static const struct fse_probabilities predefined[SEQUENCE_KINDS] = {
    [KIND_LITERALS] = {{4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
                        2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1},
                       36,
                       6},
    [KIND_OFFSET] = {{1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                      1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1},
                     29,
                     5},
    [KIND_MATCH] = {{1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                     1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                     1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1},
                    53,
                    6}};

static const struct {
    unsigned symbols, log;
} limits[SEQUENCE_KINDS] = {
    [KIND_LITERALS] = {36, 9}, [KIND_OFFSET] = {32, 8}, [KIND_MATCH] = {53, 9}};

int sequence_table_read(struct sequence_table *table, enum sequence_kind kind, enum table_mode mode,
                        const unsigned char *in, size_t len)
{
    struct fse_probabilities coded;
    const struct fse_probabilities *probabilities = &predefined[kind];
    struct fse_state states[1 << FSE_LOG_MAX];
    int used = 0;
    if (mode == TABLE_REPEATED)
        return 0;
    if (mode == TABLE_RLE) {
        if (len < 1 || in[0] >= limits[kind].symbols)
            return -1;
        used = 1;
    }
    if (mode == TABLE_CODED) {
        used = (int)fse_read(&coded, in, len, limits[kind].symbols, limits[kind].log);
        if (used == 0)
            return -1;
        probabilities = &coded;
    }
    if (!table)
        return used;
    if (mode == TABLE_RLE)
        states[0] = (struct fse_state){.symbol = in[0]};
    else
        fse_spread(probabilities, states);
    table->log = mode == TABLE_RLE ? 0 : probabilities->log;
    for (uint32_t i = 0; i < UINT32_C(1) << table->log; i++)
        table->entries[i] = fse_entry_of(kind, states[i]);
    return used;
}

/* --- Huffman ---
 *
 * A weight for each symbol, the last one left out. Weights are stored as they are, or coded by FSE
 * in two streams that take turns. */

#define WEIGHTS_LOG_MAX 6
#define WEIGHTS_BYTES_MAX 127 /* of coded weights */
#define DIRECT_MIN 128        /* a description that begins with this or more has plain weights */

struct weights {
    uint8_t of[HUFFMAN_SYMBOLS_MAX];
    unsigned count;
};

/* Bits that are read from the end to the beginning, with zeros before it. */
struct backward_bits {
    unsigned char bytes[8 + WEIGHTS_BYTES_MAX + 8];
    int at; /* bits that are left */
};

static uint32_t read_backward(struct backward_bits *bits, unsigned count)
{
    bits->at -= (int)count;
    const unsigned at = (unsigned)(bits->at + 64);
    return (uint32_t)(byte_word(bits->bytes + at / 8) >> at % 8) & ((UINT32_C(1) << count) - 1);
}

/* Decodes weights until the bits are used up; the last states of both streams count, too. */
static bool read_coded(struct weights *weights, const unsigned char *in, size_t len)
{
    struct fse_probabilities probabilities;
    struct fse_state states[1 << WEIGHTS_LOG_MAX];
    struct backward_bits bits = {.at = 0};
    uint32_t state[2];
    const size_t used = fse_read(&probabilities, in, len, HUFFMAN_LOG_MAX + 1, WEIGHTS_LOG_MAX);
    if (used == 0 || used == len || in[len - 1] == 0) /* the last byte marks the end */
        return false;
    memcpy(bits.bytes + 8, in + used, len - used);
    bits.at = (int)(len - used - 1) * 8 + 31 - __builtin_clz(in[len - 1]);
    fse_spread(&probabilities, states);
    state[0] = read_backward(&bits, probabilities.log);
    state[1] = read_backward(&bits, probabilities.log);
    if (bits.at < 0)
        return false;
    for (unsigned turn = 0; weights->count < HUFFMAN_SYMBOLS_MAX - 2; turn ^= 1) {
        const struct fse_state now = states[state[turn]];
        weights->of[weights->count++] = now.symbol;
        if (bits.at < now.bits) {
            weights->of[weights->count++] = states[state[turn ^ 1]].symbol;
            return true;
        }
        state[turn] = now.next + read_backward(&bits, now.bits);
    }
    return false;
}

/* Adds the weight of the last symbol, which makes the code complete. Returns the bits of the
 * longest code, or 0: there is no such weight. */
static unsigned complete(struct weights *weights)
{
    uint32_t sum = 0, left;
    for (unsigned i = 0; i < weights->count; i++) {
        if (weights->of[i] > HUFFMAN_LOG_MAX)
            return 0;
        sum += (UINT32_C(1) << weights->of[i]) >> 1;
    }
    if (sum == 0)
        return 0;
    const unsigned log = 32 - (unsigned)__builtin_clz(sum);
    left = (UINT32_C(1) << log) - sum;
    if (log > HUFFMAN_LOG_MAX || (left & (left - 1)) != 0)
        return 0;
    weights->of[weights->count++] = (uint8_t)(32 - __builtin_clz(left));
    return log;
}

/* Sets the entries. Symbols with the least weight, which have the longest codes, come first. False:
 * the codes of the longest length are not pairs. */
static bool set_entries(struct huffman_table *table, const struct weights *weights, unsigned log)
{
    uint32_t of_weight[HUFFMAN_LOG_MAX + 2] = {0}, at[HUFFMAN_LOG_MAX + 2], next = 0;
    for (unsigned i = 0; i < weights->count; i++)
        of_weight[weights->of[i]]++;
    if (of_weight[1] < 2 || of_weight[1] % 2 != 0)
        return false;
    for (unsigned weight = 1; weight <= log; weight++) {
        at[weight] = next;
        next += of_weight[weight] << (weight - 1);
    }
    for (unsigned symbol = 0; symbol < weights->count; symbol++) {
        const unsigned weight = weights->of[symbol];
        const uint32_t entries = (UINT32_C(1) << weight) >> 1;
        const uint16_t entry = (uint16_t)(symbol | (log + 1 - weight) << 8);
        for (uint32_t i = 0; i < entries; i++)
            table->entries[at[weight] + i] = entry;
        if (weight > 0)
            at[weight] += entries;
    }
    table->log = log;
    return true;
}

int huffman_table_read(struct huffman_table *table, const unsigned char *in, size_t len)
{
    struct weights weights = {.count = 0};
    if (len < 1)
        return -1;
    const bool is_direct = in[0] >= DIRECT_MIN;
    const unsigned count = is_direct ? in[0] - DIRECT_MIN + 1u : 0;
    const size_t size = is_direct ? (count + 1) / 2 : in[0];
    if (size > len - 1)
        return -1;
    for (; weights.count < count; weights.count++)
        weights.of[weights.count] = in[1 + weights.count / 2] >> (weights.count % 2 ? 0 : 4) & 15;
    if (!is_direct && !read_coded(&weights, in + 1, size))
        return -1;
    const unsigned log = complete(&weights);
    return log > 0 && set_entries(table, &weights, log) ? (int)(1 + size) : -1;
}
