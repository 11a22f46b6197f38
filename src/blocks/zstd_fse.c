/* SPDX-License-Identifier: MIT */
/* Tables of finite state entropy (RFC 8878, section 4.1). */
#include "src/base/byte_word.h"
#include "zstd_tables.h"

#include <string.h>

#define DESCRIPTION_MAX 96 /* bytes; the longest has 53 symbols of 10 bits */

/* The largest code of an offset. Larger codes are replaced by it, as their offsets could look
 * symbolic; no window that is parsed reaches back as far. */
#define OFFSET_CODE_MAX 30

/* --- descriptions --- */

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

/* Takes how many symbols more have no probability. */
static unsigned read_zeros(struct bits *bits, unsigned max)
{
    unsigned zeros = 0, some = 3;
    while (some == 3 && zeros <= max) {
        some = read_bits(bits, 2);
        zeros += some;
    }
    return zeros;
}

size_t fse_read(struct fse_probabilities *probabilities, const unsigned char *in, size_t len,
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
        if (probability == 0)
            count += read_zeros(&bits, symbols_max);
    }
    probabilities->count = count;
    const size_t used = (bits.at + 7) / 8;
    return count <= symbols_max && used <= len ? used : 0;
}

/* --- states --- */

void fse_spread(const struct fse_probabilities *probabilities, struct fse_state *states)
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

static struct length_code length_code_of(enum sequence_kind kind, unsigned symbol)
{
    if (kind == KIND_LITERALS)
        return literal_length_codes[symbol];
    if (kind == KIND_MATCH)
        return match_length_codes[symbol];
    const unsigned code = symbol < OFFSET_CODE_MAX ? symbol : OFFSET_CODE_MAX;
    return (struct length_code){UINT32_C(1) << code, (uint8_t)code};
}

static sequence_entry fse_entry_of(enum sequence_kind kind, struct fse_state state)
{
    const struct length_code length_code = length_code_of(kind, state.symbol);
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

static void set_table(struct sequence_table *table, enum sequence_kind kind,
                      const struct fse_probabilities *probabilities)
{
    struct fse_state states[1 << FSE_LOG_MAX];
    fse_spread(probabilities, states);
    for (uint32_t i = 0; i < UINT32_C(1) << probabilities->log; i++)
        table->entries[i] = fse_entry_of(kind, states[i]);
    table->log = probabilities->log;
    table->is_set = true;
}

static int read_rle(struct sequence_table *table, enum sequence_kind kind, const unsigned char *in,
                    size_t len)
{
    if (len < 1 || in[0] >= limits[kind].symbols)
        return -1;
    if (table) {
        table->entries[0] = fse_entry_of(kind, (struct fse_state){.symbol = in[0]});
        table->log = 0;
        table->is_set = true;
    }
    return 1;
}

int sequence_table_read(struct sequence_table *table, enum sequence_kind kind, enum table_mode mode,
                        const unsigned char *in, size_t len)
{
    struct fse_probabilities probabilities;
    switch (mode) {
    case TABLE_PREDEFINED:
        if (table)
            set_table(table, kind, &predefined[kind]);
        return 0;
    case TABLE_RLE:
        return read_rle(table, kind, in, len);
    case TABLE_CODED:
        break;
    default:
        return table && !table->is_set ? -1 : 0;
    }
    const size_t used = fse_read(&probabilities, in, len, limits[kind].symbols, limits[kind].log);
    if (used == 0)
        return -1;
    if (table)
        set_table(table, kind, &probabilities);
    return (int)used;
}
