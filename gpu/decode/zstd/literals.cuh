// SPDX-License-Identifier: MIT
// The stage literals of zstd: decodes packed literals (RFC 8878, section 3.1.1.3.1.6).
//
// Takes struct decode_heading, gives a block's literals in batch.literals from its room_at on. Raw
// and RLE literals need no work: later stages read them from where they are.
//
// Four lanes take a block and a warp eight, so that blocks of four streams keep all lanes busy, one
// stream each. They first build the block's table from its description.
//
// Shared memory: a table of 4.4 KiB a block.
#ifndef GPUHISTO_GPU_DECODE_ZSTD_LITERALS_CUH
#define GPUHISTO_GPU_DECODE_ZSTD_LITERALS_CUH

#include "gpu/decode/zstd/headers.cuh"

// --- Huffman codes (RFC 8878, section 4.2.1) ---
//
// A code is looked up by as many bits of the stream as the longest code has. A cell is 16 bits: how
// many bits the code has, and above them, from bit 8 on, the symbol. Codes are given by weights: a
// symbol of weight w > 0 has 2^(w - 1) cells; those of weight 1 come first, and those of the same
// weight in the order of their symbols.

constexpr uint32_t huffman_log_max = 11; // bits of the longest code
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
        alignas(8) uint16_t cells[1u << huffman_log_max];
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

// Reads weights that are coded, by two states in turn. A state whose next one takes more bits than
// are left was the last but one. Returns how many; 0: they are malformed.
static __device__ uint32_t huffman_read_coded(huffman_table *table, const unsigned char *in,
                                              byte_span span)
{
    const uint32_t size = byte_at(in, span.at);
    if (1 + size > span.size)
        return 0;
    uint32_t *const cells = table->weights_table.cells;
    fse_count *const counts = table->weights_table.counts;
    const fse_description description =
        fse_read(in, {span.at + 1, size}, huffman_weight_max, huffman_weights_log_max,
                 [=](uint32_t symbol, fse_count count) { counts[symbol] = count; });
    backward stream;
    if (!description.used ||
        !stream.open(in, {span.at + 1 + description.used, size - description.used}))
        return 0;
    fse_build(cells, description.log, counts, description.symbols,
              [](uint32_t weight) { return weight << fse_symbol_shift; });
    const auto put_weight = [=](uint32_t i, uint32_t cell) {
        table->weights[i] = static_cast<uint8_t>(cell >> fse_symbol_shift & 15);
    };
    uint32_t state = stream.read(description.log), other = stream.read(description.log);
    if (stream.left() < 0)
        return 0;
    for (uint32_t listed = 0; listed < huffman_listed_max - 1;) {
        const uint32_t cell = cells[state];
        put_weight(listed++, cell);
        if (static_cast<int>(fse_bits(cell)) > stream.left()) {
            put_weight(listed++, cells[other]);
            return listed;
        }
        state = other;
        other = fse_next(stream.peek(), cell);
        stream.skip(fse_bits(cell));
    }
    return 0;
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
        const uint32_t count = 1u << (weight - 1), cell = symbol << 8 | (log + 1 - weight);
        uint32_t at = 0;
        UNROLL for (uint32_t k = 0; k < huffman_weights_a_lane; k++)
        {
            at = k == weight / huffman_lanes ? next[k] : at;
            next[k] += k == weight / huffman_lanes ? count : 0;
        }
        uint32_t *const pairs = reinterpret_cast<uint32_t *>(table->cells + at);
        if (count == 1)
            table->cells[at] = static_cast<uint16_t>(cell);
        else
            for (uint32_t i = 0; i < count / 2; i++)
                pairs[i] = cell | cell << 16;
    }
}

// --- streams ---
//
// A lane waits for its own last symbol, mostly for the look-up in shared memory. Lanes read and
// write far from each other, so that each access to memory costs as many turns as there are lanes:
// pairs of words are loaded long before they are needed, each only once, and literals are stored
// eight at a time.

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
    const uint32_t first_three = size[0] + size[1] + size[2], room = all.size - parse_four_sizes;
    const uint32_t count = (heading.literals + 3) / 4;
    if (first_three >= room)
        return {{all.at, 0}, to, 0};
    const uint32_t before =
        (lane > 0 ? size[0] : 0) + (lane > 1 ? size[1] : 0) + (lane > 2 ? size[2] : 0);
    const uint32_t own = lane == 0   ? size[0]
                         : lane == 1 ? size[1]
                         : lane == 2 ? size[2]
                                     : room - first_three;
    return {{all.at + parse_four_sizes + before, own},
            to + lane * count,
            lane < 3 ? count : heading.literals - 3 * count};
}

// A stream of which few bits are taken at a time.
struct literals_hold {
    const uint64_t *pairs;
    int at;
    uint64_t first, second, third; // the pair with bit `at`, and those before it

    __device__ __forceinline__ explicit literals_hold(const backward &stream)
        : pairs(reinterpret_cast<const uint64_t *>(stream.words)), at(stream.at)
    {
        const int pair = at >> 6;
        first = __ldg(pairs + pair);
        second = __ldg(pairs + pair - 1);
        third = __ldg(pairs + pair - 2);
    }

    // Sets the next 64 bits, the first as the highest.
    __device__ __forceinline__ void peek(uint32_t &high, uint32_t &low) const
    {
        const bool is_upper = (at & 32) != 0;
        const uint32_t words[4] = {
            static_cast<uint32_t>(second), static_cast<uint32_t>(second >> 32),
            static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32)};
        const uint32_t middle = is_upper ? words[2] : words[1];
        high = __funnelshift_r(middle, is_upper ? words[3] : words[2], static_cast<unsigned>(at));
        low = __funnelshift_r(is_upper ? words[1] : words[0], middle, static_cast<unsigned>(at));
    }

    // Goes on by up to 64 bits.
    __device__ __forceinline__ void skip(uint32_t bits)
    {
        const int pair = at >> 6;
        at -= static_cast<int>(bits);
        const bool is_next = at >> 6 != pair;
        first = is_next ? second : first;
        second = is_next ? third : second;
        third = __ldg(pairs + (at >> 6) - 2);
    }
};

// Decodes four literals, whose codes have 44 bits at most; the first is the lowest byte.
DEVICE_INLINE uint32_t literals_four(literals_hold &hold, const uint16_t *cells, uint32_t shift)
{
    uint32_t high, low, cell[4];
    hold.peek(high, low);
    UNROLL for (unsigned i = 0; i < 4; i++)
    {
        cell[i] = cells[high >> shift];
        high = __funnelshift_l(low, high, cell[i]); // by the lowest five bits of the cell
        low = bits_after(low, cell[i]);
    }
    hold.skip((cell[0] + cell[1] + cell[2] + cell[3]) & 0xff);
    return __byte_perm(cell[0], cell[1], 0x2251) | __byte_perm(cell[2], cell[3], 0x5122);
}

// Decodes a stream of `count` literals, with codes of up to 32 - shift bits: one by one up to a
// multiple of 8, then eight at a time, then the rest. False if these are not all that it holds.
static __device__ bool literals_decode(backward &stream, const uint16_t *cells, uint32_t shift,
                                       unsigned char *out, uint32_t count)
{
    const auto decode_one = [&] {
        const uint32_t cell = cells[stream.peek() >> shift];
        stream.skip(cell & 0xff);
        return static_cast<unsigned char>(cell >> 8);
    };
    const uint32_t head = min(count, static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(out) & 7));
    for (uint32_t i = 0; i < head; i++)
        *out++ = decode_one();
    literals_hold hold(stream);
    uint32_t done = 0;
    count -= head;
    for (; count - done >= 8 && hold.at >= stream.begin; done += 8) {
        const uint32_t low = literals_four(hold, cells, shift);
        const uint32_t high = literals_four(hold, cells, shift);
        *reinterpret_cast<uint64_t *>(out + done) = static_cast<uint64_t>(high) << 32 | low;
    }
    stream.at = hold.at;
    if (count - done >= 8)
        return false;
    for (uint32_t i = done; i < count; i++)
        out[i] = decode_one();
    return stream.left() == 0;
}

// --- the stage ---

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
    const byte_span source = {heading.tables[ZSTD_HUFFMAN].at, heading.tables[ZSTD_HUFFMAN].size};

    if (packed && lane == 0)
        table->listed = source.size == 0 ? 0
                        : byte_at(batch.in, source.at) < huffman_direct
                            ? huffman_read_coded(table, batch.in, source)
                            : huffman_read_direct(table, batch.in, source);
    __syncwarp();
    const uint32_t log = packed ? huffman_count(table, lane) : 0;
    __syncwarp();
    // If there are codes of all their bits, each weight's cells begin at a multiple of as many as a
    // symbol of it has.
    bool good = log > 0 && table->with_weight[1] >= 2 && table->with_weight[1] % 2 == 0;
    if (good)
        huffman_build(table, log, lane);
    __syncwarp();

    if (good) {
        const uint32_t to = batch.block[index].room_at;
        const literals_stream own = literals_of_lane(batch, heading, to, lane);
        backward stream;
        if (stream.open(batch.in, own.from))
            good =
                literals_decode(stream, table->cells, 32 - log, batch.literals + own.to, own.count);
        else
            good = heading.streams == 1 && lane > 0;
    }
    // All lanes of the block must say so.
    const unsigned group = ((1u << literals_lanes) - 1) << (threadIdx.x % 32 - lane);
    good = (__ballot_sync(all_lanes, good) & group) == group;
    if (packed && lane == 0 && !good)
        batch.outcome[index].refusal = DECODE_BAD;
}

#endif
