// SPDX-License-Identifier: MIT
// Tables of Huffman codes (RFC 8878, section 4.2.1): read from their description and built in
// shared memory.
//
// A code is looked up by as many bits of the stream as the longest code has. A cell is 16 bits: how
// many bits the code has, and above them, from bit 8 on, the symbol. Codes are given by weights: a
// symbol of weight w > 0 has 2^(w - 1) cells; those of weight 1 come first, and those of the same
// weight in the order of their symbols.
//
// What libzstd 1.5.4 accepts and this refuses: codes of 12 bits, which the format forbids, and a
// table of coded weights that knows weights above 11, even if there are none. libzstd takes some of
// the latter, as far as its memory for building the table goes.
#ifndef GPUHISTO_ZSTD_HUFFMAN_CUH
#define GPUHISTO_ZSTD_HUFFMAN_CUH

#include "gpu/decode/zstd/fse.cuh"

constexpr uint32_t huffman_log_max = 11; // bits of the longest code
constexpr uint32_t huffman_cells = 1u << huffman_log_max;
constexpr uint32_t huffman_weight_max = huffman_log_max;

// The most weights that a description lists: that of the last symbol follows from them.
constexpr uint32_t huffman_listed_max = 255;

// The table of the weights, if a description has them coded.
constexpr uint32_t huffman_weights_log_max = 6;
constexpr uint32_t huffman_direct = 128; // the first byte, from which on they are not

// Lanes that build a table together, lane 0 to 3 of a group whose first lane's number is a multiple
// of 4. Each builds the cells of the weights that are the lane's number modulo 4.
constexpr uint32_t huffman_lanes = 4;
constexpr uint32_t huffman_weights_a_lane = huffman_weight_max / huffman_lanes + 1;

struct huffman_table {
    union {
        alignas(8) uint16_t cells[huffman_cells];
        struct { // before the table is built
            uint32_t cells[1u << huffman_weights_log_max];
            fse_count counts[huffman_weight_max + 1];
        } weights_table;
    };
    alignas(4) uint8_t weights[huffman_listed_max + 1];
    uint32_t with_weight[huffman_weight_max + 1]; // how many symbols
    uint32_t listed;                              // weights; 0: the description is malformed
};

// Reads weights that are not coded, two a byte. Returns how many.
static __device__ uint32_t huffman_read_direct(huffman_table *table, const unsigned char *in,
                                               byte_span span)
{
    const uint32_t listed = byte_at(in, span.at) - (huffman_direct - 1);
    if (1 + (listed + 1) / 2 > span.size)
        return 0;
    for (uint32_t i = 0; i < listed; i++) {
        const uint32_t pair = byte_at(in, span.at + 1 + i / 2);
        table->weights[i] = static_cast<uint8_t>(i % 2 ? pair & 15 : pair >> 4);
    }
    return listed;
}

static __device__ __forceinline__ uint8_t huffman_weight_of(uint32_t cell)
{
    return static_cast<uint8_t>(cell >> fse_symbol_shift & 15);
}

// Takes weights from a stream by two states in turn. A state whose next one takes more bits than
// are left was the last but one. Returns how many.
static __device__ uint32_t huffman_read_weights(huffman_table *table, backward stream, uint32_t log)
{
    const uint32_t *const cells = table->weights_table.cells;
    uint32_t state = backward_read(stream, log), other = backward_read(stream, log), listed = 0;
    if (backward_left(stream) < 0)
        return 0;
    while (listed < huffman_listed_max - 1) {
        const uint32_t cell = cells[state];
        table->weights[listed++] = huffman_weight_of(cell);
        if (static_cast<int>(fse_bits(cell)) > backward_left(stream)) {
            table->weights[listed++] = huffman_weight_of(cells[other]);
            return listed;
        }
        state = other;
        other = fse_next(backward_high(stream), cell);
        backward_skip(stream, fse_bits(cell));
    }
    return 0;
}

static __device__ uint32_t huffman_read_coded(huffman_table *table, const unsigned char *in,
                                              byte_span span)
{
    const uint32_t size = byte_at(in, span.at);
    if (1 + size > span.size)
        return 0;
    fse_count *const counts = table->weights_table.counts;
    const fse_description description =
        fse_read(in, {span.at + 1, size}, huffman_weight_max, huffman_weights_log_max,
                 [=](uint32_t symbol, fse_count count) { counts[symbol] = count; });
    backward stream;
    if (!description.used ||
        !backward_open(stream, in, {span.at + 1 + description.used, size - description.used}))
        return 0;
    fse_build(table->weights_table.cells, description.log, counts, description.symbols,
              [](uint32_t weight) { return weight << fse_symbol_shift; });
    return huffman_read_weights(table, stream, description.log);
}

// By one lane: reads the weights that a description lists.
static __device__ void huffman_read(huffman_table *table, const unsigned char *in, byte_span span)
{
    table->listed = span.size == 0                          ? 0
                    : byte_at(in, span.at) < huffman_direct ? huffman_read_coded(table, in, span)
                                                            : huffman_read_direct(table, in, span);
}

// By each lane of a group: counts the symbols of its weights, and finds the weight of the last
// symbol, with which the cells are 2^log. Returns log, or 0 if no weight does that.
static __device__ uint32_t huffman_count(huffman_table *table, uint32_t lane)
{
    uint32_t counts[huffman_weights_a_lane] = {}, cells = 0;
    const uint32_t listed = table->listed;
    bool fits = true;
    for (uint32_t i = 0; i < listed; i++) {
        const uint32_t weight = table->weights[i];
        fits = fits && weight <= huffman_weight_max;
        cells += (1u << weight) >> 1;
        UNROLL for (uint32_t k = 0; k < huffman_weights_a_lane; k++) counts[k] +=
            weight == k * huffman_lanes + lane;
    }
    const uint32_t log = highest_bit(cells | 1) + 1, rest = (1u << log) - cells;
    if (!fits || cells == 0 || log > huffman_log_max || (rest & (rest - 1)) != 0)
        return 0;
    const uint32_t last = highest_bit(rest) + 1;
    UNROLL for (uint32_t k = 0; k < huffman_weights_a_lane; k++)
    {
        const uint32_t weight = k * huffman_lanes + lane;
        if (weight <= huffman_weight_max)
            table->with_weight[weight] = counts[k] + (weight == last);
    }
    if (lane == 0)
        table->weights[listed] = static_cast<uint8_t>(last);
    return log;
}

// True if there are codes of all their bits; then each weight's cells begin at a multiple of as
// many as a symbol of it has.
static __device__ bool huffman_is_complete(const huffman_table *table)
{
    const uint32_t longest = table->with_weight[1];
    return longest >= 2 && longest % 2 == 0;
}

static __device__ __forceinline__ void huffman_build_symbol(uint16_t *cells, uint32_t count,
                                                            uint32_t cell)
{
    if (count == 1) {
        *cells = static_cast<uint16_t>(cell);
        return;
    }
    uint32_t *const pairs = reinterpret_cast<uint32_t *>(cells);
    for (uint32_t i = 0; i < count / 2; i++)
        pairs[i] = cell | cell << 16;
}

// By each lane of a group: builds the cells of its weights.
static __device__ void huffman_build(huffman_table *table, uint32_t log, uint32_t lane)
{
    uint32_t next[huffman_weights_a_lane] = {};
    for (uint32_t weight = 1, at = 0; weight <= log; weight++) {
        UNROLL for (uint32_t k = 0; k < huffman_weights_a_lane; k++) next[k] =
            weight == k * huffman_lanes + lane ? at : next[k];
        at += table->with_weight[weight] << (weight - 1);
    }
    for (uint32_t symbol = 0; symbol <= table->listed; symbol++) {
        const uint32_t weight = table->weights[symbol];
        if (weight == 0 || weight % huffman_lanes != lane)
            continue;
        const uint32_t count = 1u << (weight - 1);
        uint32_t at = 0;
        UNROLL for (uint32_t k = 0; k < huffman_weights_a_lane; k++)
        {
            at = k == weight / huffman_lanes ? next[k] : at;
            next[k] += k == weight / huffman_lanes ? count : 0;
        }
        huffman_build_symbol(table->cells + at, count, symbol << 8 | (log + 1 - weight));
    }
}

#endif
