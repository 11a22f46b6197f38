// SPDX-License-Identifier: MIT
// What the stages of zstd read: bits, tables of finite state entropy coding (FSE; RFC 8878, section
// 4.1), the codes of which sequences are made (section 3.1.1.3.2.1.1), and repeat offsets.
//
// `in` begins at a multiple of 16 bytes, and is read in whole aligned words of 32 or 64 bits. Up to
// 7 bytes after those that are asked for are read, and not used: DECODE_PADDING makes them
// readable.
#ifndef GPUHISTO_GPU_DECODE_ZSTD_TABLES_CUH
#define GPUHISTO_GPU_DECODE_ZSTD_TABLES_CUH

#include "gpu/ptx.cuh"

extern "C" {
#include "gpu/decode/batch.h"
}

// --- bits ---

// Some of the compressed bytes: in[at] to in[at + size - 1].
struct byte_span {
    uint32_t at, size;
};

DEVICE_INLINE uint32_t byte_at(const unsigned char *in, uint32_t at)
{
    return __ldg(in + at);
}

// Returns four bytes from any byte on.
DEVICE_INLINE uint32_t bytes_at(const unsigned char *in, uint32_t at)
{
    const unsigned *const words = reinterpret_cast<const unsigned *>(in) + at / 4;
    return __funnelshift_r(__ldg(words), __ldg(words + 1), at % 4 * 8);
}

// These return the first of 32 bits as a number, as many as the lowest five bits of `count` say,
// and the bits after them.
DEVICE_INLINE uint32_t bits_first(uint32_t bits, uint32_t count)
{
    return __funnelshift_l(bits, 0, count);
}

DEVICE_INLINE uint32_t bits_after(uint32_t bits, uint32_t count)
{
    return __funnelshift_l(0, bits, count);
}

// Returns the words of a stream that begins at `at`, from a multiple of 16 bytes on.
DEVICE_INLINE const unsigned *backward_words(const unsigned char *in, uint32_t at)
{
    return reinterpret_cast<const unsigned *>(in) + at / 16 * 4;
}

// A stream of bits that is read from its last bit to its first, as those of literals and sequences
// are. The last byte's highest bit that is set marks the end, and does not belong to it.
//
// Only the position is kept, and bits are read from `in` as they are needed: no word has to be
// there before the next one is read, and the threads of a warp read as many words each, whatever
// their bits. A read before the first bit gets other bytes of `in`, which begins with a carry. So a
// reader may be up to 1000 bits too far before it looks at how many are left. (`walk`, which reads
// copies of its own, may be farther.)
struct backward {
    const unsigned *words; // from the 16 bytes with the stream's first byte on
    int begin;             // bits of these before the stream
    int at;                // bits up to the next one, that one included

    // Opens a stream. False if it is empty, or its last byte lacks the mark.
    __device__ __forceinline__ bool open(const unsigned char *in, byte_span span)
    {
        if (span.size == 0)
            return false;
        const uint32_t byte = byte_at(in, span.at + span.size - 1);
        words = backward_words(in, span.at);
        begin = static_cast<int>(span.at % 16 * 8);
        at = begin + static_cast<int>((span.size - 1) * 8 + highest_bit(byte));
        return byte != 0;
    }

    // Returns the next 32 bits, the first as the highest.
    __device__ __forceinline__ uint32_t peek() const
    {
        const unsigned *const word = words + (at >> 5);
        return __funnelshift_r(__ldg(word - 1), __ldg(word), static_cast<unsigned>(at));
    }

    __device__ __forceinline__ void skip(uint32_t bits)
    {
        at -= static_cast<int>(bits);
    }

    // Returns the next bits, up to 31, as a number, and takes them.
    __device__ __forceinline__ uint32_t read(uint32_t bits)
    {
        const uint32_t value = bits_first(peek(), bits);
        skip(bits);
        return value;
    }

    // Returns how many bits are left; negative if more were taken than there were.
    __device__ __forceinline__ int left() const
    {
        return at - begin;
    }
};

// --- finite state entropy ---
//
// Tables are read from their description and built in shared memory, by one thread each. A state is
// the index of a cell. From the lowest bit of a cell:
//
// - 5 bits: how many bits of the stream lead to the next state, 0 to 9;
// - 6 bits: how many more bits the symbol has (of sequences; 0 to 31);
// - 12 bits: the symbol, in a place of the table's own;
// - 9 bits: the next state, less what the stream adds to it.
//
// Numbers of bits come first and have room for the sum of three cells: those of a sequence are
// added without being taken apart. As shifts go by the lowest five bits, a cell is a shift, too.

constexpr uint32_t fse_log_min = 5;
constexpr uint32_t fse_extra_shift = 5, fse_extra_mask = 0x3f;
constexpr uint32_t fse_symbol_shift = 11, fse_next_shift = 23;

// These return the two numbers of bits of a cell, or of the sum of three.
DEVICE_INLINE uint32_t fse_bits(uint32_t cell)
{
    return cell & 0x1f;
}

DEVICE_INLINE uint32_t fse_extra(uint32_t cell)
{
    return cell >> fse_extra_shift & fse_extra_mask;
}

// Returns the state after that of a cell, if these are the stream's next bits.
DEVICE_INLINE uint32_t fse_next(uint32_t bits, uint32_t cell)
{
    return (cell >> fse_next_shift) + bits_first(bits, cell);
}

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
    // come, plus 1. `bit` is at most 32 after the end.
    uint32_t bit = 4, symbol = 0, left = (1u << log) + 1, bits = log + 1;
    while (left > 1) {
        const uint32_t half = 1u << (bits - 1), small = 2 * half - 1 - left;
        const uint32_t window = bytes_at(in, span.at + bit / 8) >> bit % 8; // 25 bits or more
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
        // After a count of 0, two bits say how many more there are; after 3, two more bits follow.
        for (uint32_t zeros = value == 1 ? 3 : 0; zeros == 3;) {
            zeros = bytes_at(in, span.at + bit / 8) >> bit % 8 & 3;
            bit += 2;
            if (symbol + zeros > symbol_max || bit > end)
                return malformed;
            for (uint32_t i = 0; i < zeros; i++)
                put(symbol++, static_cast<fse_count>(0));
        }
    }
    return {(bit + 7) / 8, log, symbol};
}

// Builds a table of 2^log cells. `counts` are as from fse_read and are changed; cell(symbol) is
// what a cell says of its symbol.
template <typename Cell>
static __device__ void fse_build(uint32_t *cells, uint32_t log, fse_count *counts, uint32_t symbols,
                                 Cell cell)
{
    // Each cell gets its symbol. Those with -1 go to the table's end, the others all over it.
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

// --- the codes of sequences ---
//
// The code of a length gives the least length, and how many more bits say how much is added to it.
// An offset's code c stands for 2^c and c more bits. Tables are numbered by enum decode_table.

constexpr uint32_t literal_length_codes = 36, match_length_codes = 53, offset_codes = 32;
constexpr uint32_t literal_length_log_max = 9, match_length_log_max = 9, offset_log_max = 8;

// Returns the value of one of the three tables.
template <typename Value>
DEVICE_INLINE Value of_table(uint32_t table, Value literal_length, Value offset, Value match_length)
{
    return table == ZSTD_OFFSETS           ? offset
           : table == ZSTD_LITERAL_LENGTHS ? literal_length
                                           : match_length;
}

// These return the highest code of a table, and the largest log of its cells.
DEVICE_INLINE uint32_t sequence_code_max(uint32_t table)
{
    return of_table(table, literal_length_codes, offset_codes, match_length_codes) - 1;
}

DEVICE_INLINE uint32_t sequence_log_max(uint32_t table)
{
    return of_table(table, literal_length_log_max, offset_log_max, match_length_log_max);
}

// --- repeat offsets ---
//
// A map from the three last offsets before a sequence, or before some blocks, to those after it, in
// three words, so that a warp can scan over maps. They compose, in any grouping.

constexpr unsigned offsets_value_mask = (1u << ZSTD_WHICH_SHIFT) - 1;

// Returns a position that is `value`, whatever was before.
DEVICE_INLINE unsigned offsets_constant(unsigned value)
{
    return ZSTD_CONSTANT << ZSTD_WHICH_SHIFT | min(value, ZSTD_WINDOW_MAX + 1);
}

// These return the map that changes nothing, and the one to the three offsets that a frame begins
// with, whatever was before.
DEVICE_INLINE zstd_offsets_map offsets_map_same()
{
    return {{0, 1u << ZSTD_WHICH_SHIFT, 2u << ZSTD_WHICH_SHIFT}};
}

DEVICE_INLINE zstd_offsets_map offsets_map_begin()
{
    return {{offsets_constant(1), offsets_constant(4), offsets_constant(8)}};
}

// Returns the map of a sequence whose offset has this value (RFC 8878, section 3.1.1.5).
DEVICE_INLINE zstd_offsets_map offsets_map_of_sequence(unsigned value, bool no_literals)
{
    const zstd_offsets_map same = offsets_map_same();
    const unsigned repeat = value - 1 + no_literals;
    const unsigned own = offsets_constant(value - 3);
    zstd_offsets_map map;
    map.position[0] = value > 3     ? own
                      : repeat == 0 ? same.position[0]
                      : repeat == 1 ? same.position[1]
                      : repeat == 2 ? same.position[2]
                                    : same.position[0] + 1; // the newest, less 1
    map.position[1] = value <= 3 && repeat == 0 ? same.position[1] : same.position[0];
    map.position[2] = value <= 3 && repeat <= 1 ? same.position[2] : same.position[1];
    return map;
}

// Returns the newest offset as in decode_sequence; 0 if it is too large, or 0.
DEVICE_INLINE unsigned offsets_map_newest(const zstd_offsets_map &map)
{
    const unsigned which = map.position[0] >> ZSTD_WHICH_SHIFT;
    const unsigned value = map.position[0] & offsets_value_mask;
    if (which != ZSTD_CONSTANT)
        return ZSTD_REPEAT_OFFSETS | which << ZSTD_REPEAT_OFFSETS_WHICH | value;
    return value > ZSTD_WINDOW_MAX ? 0 : value;
}

// Returns the map of `first` and then `second`. A constant offset is lowered to 0 at most, and the
// sum that several blocks take off stops at more than any offset: a sequence refers to each offset
// that comes about, so an offset of 0 and one beyond the window are refused there.
DEVICE_INLINE zstd_offsets_map offsets_map_then(const zstd_offsets_map &first,
                                                const zstd_offsets_map &second)
{
    zstd_offsets_map both;
    for (unsigned i = 0; i < 3; i++) {
        const unsigned which = second.position[i] >> ZSTD_WHICH_SHIFT;
        const unsigned less = second.position[i] & offsets_value_mask;
        const unsigned from = which == 0   ? first.position[0]
                              : which == 1 ? first.position[1]
                                           : first.position[2];
        const unsigned value = from & offsets_value_mask;
        const bool is_constant = from >> ZSTD_WHICH_SHIFT == ZSTD_CONSTANT;
        const unsigned combined =
            is_constant ? value - min(value, less) : min(value + less, ZSTD_WINDOW_MAX + 1);
        both.position[i] =
            which == ZSTD_CONSTANT ? second.position[i] : (from & ~offsets_value_mask) | combined;
    }
    return both;
}

#endif
