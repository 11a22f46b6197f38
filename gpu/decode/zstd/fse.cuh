// SPDX-License-Identifier: MIT
// Tables of finite state entropy coding (RFC 8878, section 4.1): read from their description and
// built in shared memory, by one thread each.
//
// A state is the index of a cell, which says how many bits of the stream lead to the next state,
// and which symbol this one is. From the lowest bit of a cell:
//
// - 5 bits: how many bits of the stream lead to the next state, 0 to 9;
// - 6 bits: how many more bits the symbol has (of sequences; 0 to 31);
// - 12 bits: the symbol, in a place of the table's own;
// - 9 bits: the next state, less what the stream adds to it.
//
// Numbers of bits come first and have room for the sum of three cells: those of a sequence are
// added without being taken apart. As shifts go by the lowest five bits, a cell is a shift, too.
#ifndef GPUHISTO_ZSTD_FSE_CUH
#define GPUHISTO_ZSTD_FSE_CUH

#include "gpu/decode/zstd/bits.cuh"

constexpr uint32_t fse_log_min = 5;
constexpr uint32_t fse_bits_mask = 0x1f, fse_extra_shift = 5, fse_extra_mask = 0x3f;
constexpr uint32_t fse_symbol_shift = 11, fse_next_shift = 23;

// The probability of a symbol, as a number of the table's cells. A symbol that is less likely than
// one cell has -1, and gets a cell that goes to any state.
using fse_count = int16_t;

// The contents of a table's description, or used == 0 if it is malformed.
struct fse_description {
    uint32_t used;    // bytes of the description
    uint32_t log;     // the table has 2^log cells
    uint32_t symbols; // those that have a count, 0 ones among them; there are no more
};

// Reads the description at the beginning of a span, and calls put(symbol, count) for each symbol in
// turn. No symbol is above `symbol_max`, no table larger than 2^log_max, and their counts, a -1
// as 1, add up to 2^log.
template <typename Put>
static __device__ fse_description fse_read(const unsigned char *in, byte_span span,
                                           uint32_t symbol_max, uint32_t log_max, Put put)
{
    const uint32_t end = span.size * 8;
    const fse_description malformed = {0, 0, 0};
    if (span.size == 0)
        return malformed;
    const uint32_t log = (byte_at(in, span.at) & 15) + fse_log_min;
    if (log > log_max)
        return malformed;
    // A count, plus 1, takes `bits` bits, or one less if it is small; `left` is the sum of those to
    // come, plus 1.
    uint32_t bit = 4, symbol = 0, left = (1u << log) + 1, bits = log + 1;
    while (left > 1) {
        const uint32_t half = 1u << (bits - 1), small = 2 * half - 1 - left;
        const uint32_t window = bits_forward(in, span, bit);
        uint32_t value = window & (half - 1);
        bit += bits - 1;
        if (value >= small) {
            value = window & (2 * half - 1);
            value -= value >= half ? small : 0;
            bit++;
        }
        if (symbol > symbol_max || bit > end)
            return malformed;
        put(symbol++, static_cast<fse_count>(static_cast<int>(value) - 1));
        left -= value > 0 ? value - 1 : 1;
        bits = highest_bit(left) + 1;
        // A count of 0 is followed by two bits that say how many more there are, and 3 by two more
        // bits.
        for (uint32_t zeros = value == 1 ? 3 : 0; zeros == 3;) {
            zeros = bits_forward(in, span, bit) & 3;
            bit += 2;
            if (symbol + zeros > symbol_max || bit > end)
                return malformed;
            for (uint32_t i = 0; i < zeros; i++)
                put(symbol++, static_cast<fse_count>(0));
        }
    }
    return {(bit + 7) / 8, log, symbol};
}

// Gives each cell its symbol. Symbols with -1 go to the table's end, the others all over it.
static __device__ void fse_spread(uint32_t *cells, uint32_t log, const fse_count *counts,
                                  uint32_t symbols)
{
    const uint32_t size = 1u << log, step = size / 2 + size / 8 + 3;
    uint32_t free = size, at = 0; // cells from `free` on are taken
    for (uint32_t symbol = 0; symbol < symbols; symbol++)
        if (counts[symbol] < 0)
            cells[--free] = symbol;
    for (uint32_t symbol = 0; symbol < symbols; symbol++)
        for (int i = 0; i < counts[symbol]; i++) {
            cells[at] = symbol;
            do
                at = (at + step) & (size - 1);
            while (at >= free);
        }
}

// Builds a table of 2^log cells. `counts` are as from fse_read and are changed; cell(symbol) is
// what a cell says of its symbol.
template <typename Cell>
static __device__ void fse_build(uint32_t *cells, uint32_t log, fse_count *counts, uint32_t symbols,
                                 Cell cell)
{
    const uint32_t size = 1u << log;
    fse_spread(cells, log, counts, symbols);
    for (uint32_t symbol = 0; symbol < symbols; symbol++)
        if (counts[symbol] < 0)
            counts[symbol] = 1;
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t symbol = cells[i];
        const uint32_t number = static_cast<uint32_t>(counts[symbol]++);
        const uint32_t bits = log - highest_bit(number);
        cells[i] = cell(symbol) | bits | ((number << bits) - size) << fse_next_shift;
    }
}

// Returns the number of bits of a cell, or of the sum of three.
static __device__ __forceinline__ uint32_t fse_bits(uint32_t cell)
{
    return cell & fse_bits_mask;
}

static __device__ __forceinline__ uint32_t fse_extra(uint32_t cell)
{
    return cell >> fse_extra_shift & fse_extra_mask;
}

// Returns the state after that of a cell, if these are the stream's next bits.
static __device__ __forceinline__ uint32_t fse_next(uint32_t bits, uint32_t cell)
{
    return (cell >> fse_next_shift) + bits_first(bits, cell);
}

#endif
