// SPDX-License-Identifier: MIT
// The literals of zstd blocks: Huffman codes, and the stage that decodes them.
#ifndef GPUHISTO_GPU_DECODE_ZSTD_LITERALS_CUH
#define GPUHISTO_GPU_DECODE_ZSTD_LITERALS_CUH

#include "gpu/decode/zstd/headers.cuh"

// --- Huffman codes ---

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

constexpr uint32_t huffman_log_max = 11; // bits of the longest code
constexpr uint32_t huffman_cells = 1u << huffman_log_max;
constexpr uint32_t huffman_weight_max = huffman_log_max;

// The most weights that a description lists: that of the last symbol follows from them.
constexpr uint32_t huffman_listed_max = 255;

// The table of the weights, if a description has them coded.
constexpr uint32_t huffman_weights_log_max = 6;

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

// --- the stage ---

// The stage literals of zstd: decodes packed literals (RFC 8878, section 3.1.1.3.1.6).
//
// Takes struct decode_heading, gives a block's literals in batch.literals from its room_at on. Raw
// and RLE literals need no work: later stages read them from where they are.
//
// Four lanes take a block and a warp eight, so that blocks of four streams keep all lanes busy, one
// stream each. A lane waits for its own last symbol, mostly for the look-up in shared memory. Lanes
// read and write far from each other, so that each access to memory costs as many turns as there
// are lanes: bytes to come are loaded ahead, eight at a time, and literals stored so. The four
// lanes also build the block's table from its description.
//
// What libzstd 1.5.4 accepts and this refuses: streams that do not end with their last bit, or have
// no mark. Its fast loops do not look.
//
// Shared memory: a table of 4.4 KiB a block.

constexpr unsigned literals_lanes = huffman_lanes; // of a block: one a stream
constexpr unsigned literals_blocks = 8;            // zstd blocks of a CUDA block
constexpr unsigned literals_threads = literals_blocks * literals_lanes;

static_assert(literals_threads % 32 == 0, "whole warps");

// A stream: its bytes, and where its literals go.
struct literals_stream {
    byte_span from;
    uint32_t to, count;
};

// Returns the stream of a lane, or one of no bytes, which is none: if a block has one stream, only
// lane 0 has it.
static __device__ literals_stream literals_of_lane(const decode_batch &batch,
                                                   const decode_heading &heading, uint32_t to,
                                                   uint32_t lane)
{
    const byte_span all = {heading.literals_at, heading.literals_size};
    if (heading.streams == 1)
        return {{all.at, lane == 0 ? all.size : 0}, to, lane == 0 ? heading.literals : 0};
    const uint32_t sizes = bytes_at(batch.in, all.at);
    const uint32_t size[3] = {sizes & 0xffff, sizes >> 16, bytes_at(batch.in, all.at + 4) & 0xffff};
    const uint32_t first_three = size[0] + size[1] + size[2], room = all.size - 6;
    const uint32_t count = (heading.literals + 3) / 4;
    if (first_three >= room)
        return {{all.at, 0}, to, 0};
    const uint32_t before =
        (lane > 0 ? size[0] : 0) + (lane > 1 ? size[1] : 0) + (lane > 2 ? size[2] : 0);
    const uint32_t own = lane == 0   ? size[0]
                         : lane == 1 ? size[1]
                         : lane == 2 ? size[2]
                                     : room - first_three;
    return {{all.at + 6 + before, own},
            to + lane * count,
            lane < 3 ? count : heading.literals - 3 * count};
}

// Decodes one literal.
static __device__ __forceinline__ unsigned char *literals_put(unsigned char *out, backward &stream,
                                                              const uint16_t *cells, uint32_t shift)
{
    const uint32_t cell = cells[backward_high(stream) >> shift];
    backward_skip(stream, cell & 0xff);
    *out = static_cast<unsigned char>(cell >> 8);
    return out + 1;
}

// Decodes four literals, whose codes have 44 bits at most; the first is the lowest byte.
static __device__ __forceinline__ uint32_t literals_four(backward_hold &hold, const uint16_t *cells,
                                                         uint32_t shift)
{
    const uint64_t bits = hold_peek(hold);
    uint32_t high = static_cast<uint32_t>(bits >> 32), low = static_cast<uint32_t>(bits), cell[4];
    UNROLL for (unsigned i = 0; i < 4; i++)
    {
        cell[i] = cells[high >> shift];
        high = __funnelshift_l(low, high, cell[i]); // by the lowest five bits of the cell
        low = bits_after(low, cell[i]);
    }
    hold_skip(hold, (cell[0] + cell[1] + cell[2] + cell[3]) & 0xff);
    return __byte_perm(cell[0], cell[1], 0x2251) | __byte_perm(cell[2], cell[3], 0x5122);
}

// Decodes literals eight at a time, to `out` at a multiple of 8, as long as there are so many to
// come and the stream has not ended. Returns how many.
static __device__ uint32_t literals_eights(backward &stream, const uint16_t *cells, uint32_t shift,
                                           unsigned char *out, uint32_t count)
{
    backward_hold hold = hold_open(stream);
    uint32_t done = 0;
    for (; count - done >= 8 && hold.at >= stream.begin; done += 8) {
        const uint32_t low = literals_four(hold, cells, shift);
        const uint32_t high = literals_four(hold, cells, shift);
        *reinterpret_cast<uint64_t *>(out + done) = static_cast<uint64_t>(high) << 32 | low;
    }
    stream.at = hold.at;
    return done;
}

// Decodes a stream of `count` literals, with codes of up to 32 - shift bits. False if these are not
// all that it holds.
static __device__ bool literals_decode(backward &stream, const uint16_t *cells, uint32_t shift,
                                       unsigned char *out, uint32_t count)
{
    const uint32_t head = min(count, static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(out) & 7));
    for (uint32_t i = 0; i < head; i++)
        out = literals_put(out, stream, cells, shift);
    const uint32_t done = head + literals_eights(stream, cells, shift, out, count - head);
    if (count - done >= 8)
        return false;
    out += done - head;
    for (uint32_t i = done; i < count; i++)
        out = literals_put(out, stream, cells, shift);
    return backward_left(stream) == 0;
}

// By the warp together: true if all lanes of a block say so.
static __device__ __forceinline__ bool literals_all(bool predicate)
{
    const unsigned group = threadIdx.x % 32 / literals_lanes * literals_lanes;
    const unsigned mask = ((1u << literals_lanes) - 1) << group;
    return (__ballot_sync(0xffffffffu, predicate) & mask) == mask;
}

static __global__ void __launch_bounds__(literals_threads) zstd_literals(decode_batch batch)
{
    __shared__ huffman_table tables[literals_blocks];
    const uint32_t lane = threadIdx.x % literals_lanes, position = threadIdx.x / literals_lanes;
    const uint32_t index = blockIdx.x * literals_blocks + position;
    huffman_table *const table = &tables[position];
    decode_heading heading = {};
    if (index < batch.blocks && batch.outcome[index].refusal == DECODE_TAKEN)
        heading = batch.heading[index];
    const bool packed = heading.literals_type == DECODE_LITERALS_PACKED && heading.streams > 0;
    const decode_source source = heading.tables[ZSTD_HUFFMAN];

    if (packed && lane == 0)
        huffman_read(table, batch.in, {source.at, source.size});
    __syncwarp();
    const uint32_t log = packed ? huffman_count(table, lane) : 0;
    __syncwarp();
    const bool has_table = log > 0 && huffman_is_complete(table);
    if (has_table)
        huffman_build(table, log, lane);
    __syncwarp();

    bool good = has_table;
    if (has_table) {
        const uint32_t to = batch.block[index].room_at;
        const literals_stream own = literals_of_lane(batch, heading, to, lane);
        backward stream;
        if (backward_open(stream, batch.in, own.from))
            good =
                literals_decode(stream, table->cells, 32 - log, batch.literals + own.to, own.count);
        else
            good = heading.streams == 1 && lane > 0;
    }
    good = literals_all(good);
    if (packed && lane == 0 && !good)
        batch.outcome[index].refusal = DECODE_BAD;
}

static inline unsigned literals_grid(const struct decode_batch *batch, unsigned)
{
    return decode_grid_of_blocks(batch, literals_blocks);
}

#endif
