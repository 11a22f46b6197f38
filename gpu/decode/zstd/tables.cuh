// SPDX-License-Identifier: MIT
// The bits of a zstd block, and the tables of finite state entropy coding: what all its stages
// read.
#ifndef GPUHISTO_GPU_DECODE_ZSTD_TABLES_CUH
#define GPUHISTO_GPU_DECODE_ZSTD_TABLES_CUH

#include "gpu/ptx.cuh"

extern "C" {
#include "gpu/decode/batch.h"
}

// --- bits ---

// Reads bytes and bits of a batch's compressed bytes, by one thread.
//
// `in` begins at a multiple of 16 bytes. It is read in whole aligned words of 32 or 64 bits, so
// that up to 7 bytes after what is asked for are read, but not used: DECODE_PADDING makes them
// readable.

// Some of the compressed bytes: in[at] to in[at + size - 1].
struct byte_span {
    uint32_t at, size;
};

// Returns four bytes from any byte on.
static __device__ __forceinline__ uint32_t bytes_at(const unsigned char *in, uint32_t at)
{
    const unsigned *const words = reinterpret_cast<const unsigned *>(in) + at / 4;
    return __funnelshift_r(__ldg(words), __ldg(words + 1), at % 4 * 8);
}

static __device__ __forceinline__ uint32_t byte_at(const unsigned char *in, uint32_t at)
{
    return __ldg(in + at);
}

// Returns the number of the highest bit that is set; for 0 that is 2^32 - 1.
static __device__ __forceinline__ uint32_t highest_bit(uint32_t value)
{
    return 31u - static_cast<uint32_t>(__clz(static_cast<int>(value)));
}

// Returns 25 bits and more, from bit `bit` of a span on, the first as the lowest. Bits after the
// span mean nothing; `bit` may be at most 32 after its end.
static __device__ __forceinline__ uint32_t bits_forward(const unsigned char *in, byte_span span,
                                                        uint32_t bit)
{
    return bytes_at(in, span.at + bit / 8) >> bit % 8;
}

// A stream of bits that is read from its last bit to its first, as streams of literals and of
// sequences are. The last byte's highest bit that is set marks the end, and does not belong to it.
//
// Only the place is kept, and bits are read from `in` as they are needed: no word has to be there
// before the next one is read, and threads of a warp read as many words each, whatever their bits.
// A read before the first bit gets other bytes of `in`, which begins with a carry. So a reader may
// be up to 1000 bits too far before it looks at how many are left. (`walk`, which reads copies of
// its own, may be farther.)
struct backward {
    const unsigned *words; // from the 16 bytes with the stream's first byte on
    int begin;             // bits of these before the stream
    int at;                // bits up to the next one, that one included
};

// Returns the words of a stream that begins at `at`, from a multiple of 16 bytes on.
static __device__ __forceinline__ const unsigned *backward_words(const unsigned char *in,
                                                                 uint32_t at)
{
    return reinterpret_cast<const unsigned *>(in) + at / 16 * 4;
}

// Opens a stream. False if it is empty, or its last byte lacks the mark.
static __device__ __forceinline__ bool backward_open(backward &stream, const unsigned char *in,
                                                     byte_span span)
{
    if (span.size == 0)
        return false;
    const uint32_t byte = byte_at(in, span.at + span.size - 1);
    stream.words = backward_words(in, span.at);
    stream.begin = static_cast<int>(span.at % 16 * 8);
    stream.at = stream.begin + static_cast<int>((span.size - 1) * 8 + highest_bit(byte));
    return byte != 0;
}

// The next 64 bits, the first as the highest.
struct backward_bits {
    uint32_t high, low;
};

static __device__ __forceinline__ backward_bits backward_peek(const backward &stream)
{
    const unsigned *const words = stream.words + (stream.at >> 5);
    const unsigned shift = static_cast<unsigned>(stream.at) & 31;
    const unsigned second = __ldg(words - 1);
    return {__funnelshift_r(second, __ldg(words), shift),
            __funnelshift_r(__ldg(words - 2), second, shift)};
}

// Returns the next 32 bits alone.
static __device__ __forceinline__ uint32_t backward_high(const backward &stream)
{
    const unsigned *const words = stream.words + (stream.at >> 5);
    return __funnelshift_r(__ldg(words - 1), __ldg(words), static_cast<unsigned>(stream.at));
}

// Returns the first of these bits, as many as the lowest five bits of `count` say, as a number.
static __device__ __forceinline__ uint32_t bits_first(uint32_t bits, uint32_t count)
{
    return __funnelshift_l(bits, 0, count);
}

// Returns the bits after these.
static __device__ __forceinline__ uint32_t bits_after(uint32_t bits, uint32_t count)
{
    return __funnelshift_l(0, bits, count);
}

static __device__ __forceinline__ void backward_skip(backward &stream, uint32_t bits)
{
    stream.at -= static_cast<int>(bits);
}

// Returns the next bits, up to 31, as a number, and takes them.
static __device__ __forceinline__ uint32_t backward_read(backward &stream, uint32_t bits)
{
    const uint32_t value = bits_first(backward_high(stream), bits);
    backward_skip(stream, bits);
    return value;
}

// Returns how many bits are left; negative if more were taken than there were.
static __device__ __forceinline__ int backward_left(const backward &stream)
{
    return stream.at - stream.begin;
}

// A stream for a reader that takes few bits at a time, and waits for them: pairs of words are
// loaded long before they are needed, and each only once.
struct backward_hold {
    const uint64_t *pairs;
    int at;
    uint64_t first, second, third; // the pair with bit `at`, and those before it
};

static __device__ __forceinline__ backward_hold hold_open(const backward &stream)
{
    const uint64_t *const pairs = reinterpret_cast<const uint64_t *>(stream.words);
    const int pair = stream.at >> 6;
    return {pairs, stream.at, __ldg(pairs + pair), __ldg(pairs + pair - 1),
            __ldg(pairs + pair - 2)};
}

// Returns the next 64 bits, the first as the highest.
static __device__ __forceinline__ uint64_t hold_peek(const backward_hold &hold)
{
    const bool is_upper = (hold.at & 32) != 0;
    const uint32_t words[4] = {
        static_cast<uint32_t>(hold.second), static_cast<uint32_t>(hold.second >> 32),
        static_cast<uint32_t>(hold.first), static_cast<uint32_t>(hold.first >> 32)};
    const uint32_t high = is_upper ? words[3] : words[2], middle = is_upper ? words[2] : words[1],
                   low = is_upper ? words[1] : words[0];
    const unsigned shift = static_cast<unsigned>(hold.at);
    return static_cast<uint64_t>(__funnelshift_r(middle, high, shift)) << 32 |
           __funnelshift_r(low, middle, shift);
}

// Goes on by up to 64 bits.
static __device__ __forceinline__ void hold_skip(backward_hold &hold, uint32_t bits)
{
    const int pair = hold.at >> 6;
    hold.at -= static_cast<int>(bits);
    const bool is_next = hold.at >> 6 != pair;
    hold.first = is_next ? hold.second : hold.first;
    hold.second = is_next ? hold.third : hold.second;
    hold.third = __ldg(hold.pairs + (hold.at >> 6) - 2);
}

// --- finite state entropy ---

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

// --- the codes of sequences ---

// The codes of which sequences are made (RFC 8878, section 3.1.1.3.2.1.1): a length's code gives
// the least length, and how many more bits say how much is added to it. An offset's code c stands
// for 2^c and c more bits. Tables are numbered by enum decode_table.

constexpr uint32_t literal_length_codes = 36, match_length_codes = 53, offset_codes = 32;
constexpr uint32_t sequence_codes_max = match_length_codes;

constexpr uint32_t literal_length_log_max = 9, match_length_log_max = 9, offset_log_max = 8;

static __constant__ const uint8_t literal_length_extra[literal_length_codes] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  1,  1,
    1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static __constant__ const uint8_t match_length_extra[match_length_codes] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0, 0,
    0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

// The tables that a block need not describe, and their logs.
static __constant__ const int8_t predefined_literal_lengths[] = {
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
    2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};

static __constant__ const int8_t predefined_offsets[] = {
    1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

static __constant__ const int8_t predefined_match_lengths[] = {
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};

constexpr uint32_t predefined_length_log = 6, predefined_offset_log = 5;

// These return the highest code of a table, and the largest log of its cells.
static __device__ __forceinline__ uint32_t sequence_code_max(uint32_t table)
{
    return (table == ZSTD_OFFSETS           ? offset_codes
            : table == ZSTD_LITERAL_LENGTHS ? literal_length_codes
                                            : match_length_codes) -
           1;
}

static __device__ __forceinline__ uint32_t sequence_log_max(uint32_t table)
{
    return table == ZSTD_OFFSETS           ? offset_log_max
           : table == ZSTD_LITERAL_LENGTHS ? literal_length_log_max
                                           : match_length_log_max;
}

// The data of a code in a cell: how many more bits it has, and the code. Codes of lengths stand in
// different places, and that of an offset is its number of bits, so that the codes of a sequence's
// three cells can be combined unchanged.
constexpr uint32_t sequence_match_shift = fse_symbol_shift + 6;

static __device__ __forceinline__ uint32_t sequence_cell(uint32_t table, uint32_t code)
{
    if (table == ZSTD_OFFSETS)
        return code << fse_extra_shift;
    const bool literal = table == ZSTD_LITERAL_LENGTHS;
    const uint32_t extra = literal ? literal_length_extra[code] : match_length_extra[code];
    return code << (literal ? fse_symbol_shift : sequence_match_shift) | extra << fse_extra_shift;
}

// Builds the counts of a predefined table.
static __device__ fse_description sequence_predefined(uint32_t table, fse_count *counts)
{
    const int8_t *const from = table == ZSTD_OFFSETS           ? predefined_offsets
                               : table == ZSTD_LITERAL_LENGTHS ? predefined_literal_lengths
                                                               : predefined_match_lengths;
    const uint32_t symbols = table == ZSTD_OFFSETS           ? sizeof predefined_offsets
                             : table == ZSTD_LITERAL_LENGTHS ? sizeof predefined_literal_lengths
                                                             : sizeof predefined_match_lengths;
    for (uint32_t symbol = 0; symbol < symbols; symbol++)
        counts[symbol] = from[symbol];
    return {1, table == ZSTD_OFFSETS ? predefined_offset_log : predefined_length_log, symbols};
}

#endif
