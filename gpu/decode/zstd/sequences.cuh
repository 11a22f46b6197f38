// SPDX-License-Identifier: MIT
// The sequences of zstd blocks (RFC 8878, section 3.1.1.3.2), in two stages. Every state of the
// codes depends on the one before, so a block waits for each step of `walk`, which does nothing
// else: it says where each sequence's bits are and which codes it has. `sequences` then finds what
// they stand for, for all sequences side by side.
//
// walk takes struct decode_heading, gives a block's steps in the places of its sequences. Several
// lanes take a block: three of them build its tables, a table each, then one walks the stream. A
// warp takes several blocks, because a walk alone would leave 31 lanes idle. Shared memory for
// each: 5 KiB of 4-byte cells (tables.cuh), 0.4 KiB for building them, and 1 KiB of the stream.
//
// sequences gives decode_sequence in the place of each step, how much content a block's sequences
// make, and the repeat offsets after the block as a map of those before it. Blocks of literals
// alone, raw and RLE ones among them, get their outcome here too. A warp takes a block, and a lane
// a sequence, 32 at a time. A sequence begins at the sum of the lengths before it, and its offset
// may be one of the three last ones: both are one scan over the warp.
#ifndef GPUHISTO_GPU_DECODE_ZSTD_SEQUENCES_CUH
#define GPUHISTO_GPU_DECODE_ZSTD_SEQUENCES_CUH

#include "gpu/decode/stages.h"
#include "gpu/decode/zstd/tables.cuh"

// --- codes ---

constexpr uint32_t sequence_codes_max = match_length_codes;

static __constant__ const uint8_t literal_length_extra[literal_length_codes] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  1,  1,
    1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static __constant__ const uint8_t match_length_extra[match_length_codes] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0,  0,  0,  0,  0,  0, 0,
    0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

// The counts of the tables that a block need not describe.
static __constant__ const int8_t predefined_literal_lengths[] = {
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
    2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};

static __constant__ const int8_t predefined_offsets[] = {
    1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

static __constant__ const int8_t predefined_match_lengths[] = {
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};

constexpr uint32_t predefined_length_log = 6, predefined_offset_log = 5;

// The data of a code in a cell: how many more bits it has, and the code. Codes of lengths stand in
// different places, and that of an offset is its number of bits, so that the codes of a sequence's
// three cells can be combined unchanged.
constexpr uint32_t sequence_match_shift = fse_symbol_shift + 6;

DEVICE_INLINE uint32_t sequence_cell(uint32_t table, uint32_t code)
{
    if (table == ZSTD_OFFSETS)
        return code << fse_extra_shift;
    const bool literal = table == ZSTD_LITERAL_LENGTHS;
    const uint32_t extra = literal ? literal_length_extra[code] : match_length_extra[code];
    return code << (literal ? fse_symbol_shift : sequence_match_shift) | extra << fse_extra_shift;
}

// The three cells of a sequence.
struct sequence_cells {
    uint32_t literal, match, offset;
};

// The step that `walk` leaves of a sequence for `sequences`, in its place: the lower half is where
// its bits begin, as in struct backward, the upper half its codes, as in cells.
DEVICE_INLINE decode_sequence sequence_step(int at, const sequence_cells &cells)
{
    const uint32_t codes = (cells.literal & 0x3fu << fse_symbol_shift) |
                           (cells.match & 0x3fu << sequence_match_shift) |
                           (cells.offset & fse_extra_mask << fse_extra_shift);
    return static_cast<uint64_t>(codes) << 32 | static_cast<uint32_t>(at);
}

// --- walk ---
//
// A step must not wait for the stream. The bytes that its lane is about to read are copied to
// shared memory long before, and the bits that it may need are loaded while it still waits for its
// cells.

constexpr unsigned walk_blocks = 4;               // zstd blocks of a CUDA block, a warp
constexpr unsigned walk_lanes = 32 / walk_blocks; // of a zstd block
constexpr unsigned walk_threads = 32;
constexpr unsigned walk_tables = 3;
static_assert(walk_lanes >= walk_tables, "a lane for each table");

// Copies are in pieces of 16 bytes, and are looked after once a round of so many sequences. The
// lengths of a sequence have up to 16 bits each, the offset 31, and the states 9, 9 and 8. A step
// reads up to 127 bits from where it is.
constexpr unsigned walk_round = 16;
constexpr int walk_bits_max = 16 + 16 + 31 + 9 + 9 + 8;
constexpr int walk_passed = (static_cast<int>(walk_round) * walk_bits_max + 127) / 128 + 1;

// The pieces of a round are there if they were asked for two rounds before.
constexpr int walk_ahead = 3 * walk_passed;
constexpr int walk_pieces = 64; // that have a place, by the lowest bits of their number
static_assert(walk_pieces > walk_ahead + 1, "what is needed is not overwritten");

// A block's tables, and the part of its stream that is being read.
struct walk_work {
    uint32_t literal_lengths[1u << literal_length_log_max];
    uint32_t match_lengths[1u << match_length_log_max];
    uint32_t offsets[1u << offset_log_max];
    fse_count counts[walk_tables][sequence_codes_max];
    uint32_t logs[walk_tables]; // by enum decode_table
    // The last piece, since words before a piece are read with it; then all pieces.
    alignas(16) uint32_t stream[4 + 4 * walk_pieces];

    __device__ __forceinline__ sequence_cells cells(uint32_t literal, uint32_t match,
                                                    uint32_t offset) const
    {
        return {literal_lengths[literal], match_lengths[match], offsets[offset]};
    }
};

// By a lane: builds the table of one kind. False if its description is malformed.
static __device__ bool walk_build(walk_work *work, const unsigned char *in,
                                  const decode_source &source, uint32_t table)
{
    uint32_t *const cells =
        of_table<uint32_t *>(table, work->literal_lengths, work->offsets, work->match_lengths);
    fse_count *const counts = work->counts[table];
    fse_description description;
    if (source.mode == ZSTD_ONE_SYMBOL) {
        const uint32_t code = byte_at(in, source.at);
        work->logs[table] = 0;
        if (code > sequence_code_max(table))
            return false;
        cells[0] = sequence_cell(table, code);
        return true;
    }
    if (source.mode == ZSTD_PREDEFINED) {
        const int8_t *const from = of_table<const int8_t *>(
            table, predefined_literal_lengths, predefined_offsets, predefined_match_lengths);
        const uint32_t symbols =
            of_table<uint32_t>(table, sizeof predefined_literal_lengths, sizeof predefined_offsets,
                               sizeof predefined_match_lengths);
        for (uint32_t symbol = 0; symbol < symbols; symbol++)
            counts[symbol] = from[symbol];
        description = {1, table == ZSTD_OFFSETS ? predefined_offset_log : predefined_length_log,
                       symbols};
    } else
        description = fse_read(in, {source.at, source.size}, sequence_code_max(table),
                               sequence_log_max(table),
                               [=](uint32_t symbol, fse_count count) { counts[symbol] = count; });
    work->logs[table] = description.log;
    if (!description.used)
        return false;
    fse_build(cells, description.log, counts, description.symbols,
              [=](uint32_t code) { return sequence_cell(table, code); });
    return true;
}

// Asks for the pieces of the stream down to the last one of the next rounds, or to its first one;
// `copied` is the last one that was asked for.
DEVICE_INLINE void walk_copy(walk_work *work, const backward &stream, int &copied)
{
    const uint4 *const pieces = reinterpret_cast<const uint4 *>(stream.words);
    const int last = max(0, (stream.at >> 7) - walk_ahead);
    while (copied > last) {
        const int position = --copied & (walk_pieces - 1);
        copy_16(&work->stream[4 + 4 * position], pieces + copied);
        if (position == walk_pieces - 1)
            copy_16(&work->stream[0], pieces + copied);
    }
    copies_end_group();
}

// Goes over a sequence, and returns the cells of the next one. Nothing in a step depends on the
// bits of lengths and offsets, only on how many there are, which the cells say.
DEVICE_INLINE sequence_cells walk_step(const walk_work *work, backward &stream,
                                       const sequence_cells &cells)
{
    const uint32_t at = static_cast<uint32_t>(stream.at);
    const uint32_t *const words = &work->stream[4 + (at >> 5) % (4 * walk_pieces)];
    const uint32_t first = __funnelshift_r(words[-1], words[0], at),
                   second = __funnelshift_r(words[-2], words[-1], at),
                   third = __funnelshift_r(words[-3], words[-2], at);
    const uint32_t sizes = cells.literal + cells.match + cells.offset;
    const uint32_t extra = sizes >> fse_extra_shift; // and more above it, which shifts leave out
    const uint32_t bits =
        extra & 32 ? __funnelshift_l(third, second, extra) : __funnelshift_l(second, first, extra);
    stream.skip(fse_extra(sizes) + fse_bits(sizes));
    return work->cells(fse_next(bits, cells.literal),
                       fse_next(bits_after(bits, cells.literal), cells.match),
                       fse_next(bits_after(bits, cells.literal + cells.match), cells.offset));
}

// By one lane: walks through a stream of `count` sequences, at least one. False if these are not
// all that it holds. That is checked only after each round: any bits that are read beyond the
// stream's beginning, where there are no copies, lead from cells to cells, too.
static __device__ bool walk_stream(walk_work *work, backward &stream, uint32_t count,
                                   decode_sequence *out)
{
    int copied = (stream.at >> 7) + 1;
    walk_copy(work, stream, copied);
    const uint32_t literal = stream.read(work->logs[ZSTD_LITERAL_LENGTHS]);
    const uint32_t offset = stream.read(work->logs[ZSTD_OFFSETS]);
    const uint32_t match = stream.read(work->logs[ZSTD_MATCH_LENGTHS]);
    sequence_cells cells = work->cells(literal, match, offset);
    copies_wait<0>();
    for (; count > walk_round; count -= walk_round) {
        walk_copy(work, stream, copied);
        copies_wait<2>();
        UNROLL for (unsigned i = 0; i < walk_round; i++)
        {
            *out++ = sequence_step(stream.at, cells);
            cells = walk_step(work, stream, cells);
        }
        if (stream.left() < 0)
            return false;
    }
    copies_wait<0>();
    for (; count > 1; count--) {
        *out++ = sequence_step(stream.at, cells);
        cells = walk_step(work, stream, cells);
    }
    *out = sequence_step(stream.at, cells);
    stream.skip(fse_extra(cells.literal + cells.match + cells.offset));
    return stream.left() == 0;
}

static __global__ void __launch_bounds__(walk_threads) zstd_walk(decode_batch batch)
{
    __shared__ walk_work works[walk_blocks];
    const uint32_t lane = threadIdx.x % walk_lanes, position = threadIdx.x / walk_lanes;
    const uint32_t index = blockIdx.x * walk_blocks + position;
    walk_work *const work = &works[position];
    const bool taken = index < batch.blocks && batch.outcome[index].refusal == DECODE_TAKEN &&
                       batch.heading[index].sequences > 0;
    bool built = true;
    if (taken && lane < walk_tables)
        built = walk_build(work, batch.in, batch.heading[index].tables[lane], lane);
    const unsigned failed = __ballot_sync(all_lanes, !built);
    __syncwarp();
    if (!taken || lane != 0)
        return;
    const decode_heading &heading = batch.heading[index];
    const decode_block &block = batch.block[index];
    const byte_span bits = {heading.bits_at, block.at + block.size - heading.bits_at};
    backward stream;
    if ((failed >> threadIdx.x % 32 & ((1u << walk_tables) - 1)) != 0 ||
        !stream.open(batch.in, bits) ||
        !walk_stream(work, stream, heading.sequences, batch.sequences + block.sequences_at))
        batch.outcome[index].refusal = DECODE_BAD;
}

// --- sequences ---

constexpr unsigned sequences_blocks = 4; // zstd blocks of a CUDA block, a warp each
constexpr unsigned sequences_threads = 32 * sequences_blocks;

// The least lengths of codes, in shared memory, as lanes may read different ones.
struct length_bases {
    uint32_t literals[literal_length_codes];
    uint32_t matches[match_length_codes];
};

// By a lane: builds the least lengths of one kind. Each code begins where the one before it ends.
template <uint32_t Codes>
static __device__ void length_bases_build(uint32_t (&bases)[Codes], const uint8_t (&extra)[Codes],
                                          uint32_t base)
{
    for (uint32_t code = 0; code < Codes; base += 1u << extra[code++])
        bases[code] = base;
}

// The lengths that a sequence stands for, and its effect on the three last offsets.
struct sequence_parts {
    uint32_t literals, match;
    zstd_offsets_map offsets;
};

DEVICE_INLINE sequence_parts sequence_of_step(const unsigned *words, const length_bases *bases,
                                              decode_sequence step)
{
    const uint32_t codes = static_cast<uint32_t>(step >> 32);
    const uint32_t literal_code = codes >> fse_symbol_shift & 0x3f;
    const uint32_t match_code = codes >> sequence_match_shift & 0x3f;
    const uint32_t offset_code = fse_extra(codes), match_bits = match_length_extra[match_code];
    const int at = static_cast<int>(static_cast<uint32_t>(step));
    const unsigned *const word = words + (at >> 5);
    const unsigned second = __ldg(word - 1), shift = static_cast<unsigned>(at) & 31;
    const uint32_t high = __funnelshift_r(second, __ldg(word), shift),
                   low = __funnelshift_r(__ldg(word - 2), second, shift);
    const uint32_t value = (1u << offset_code) + bits_first(high, offset_code);
    const uint32_t lengths = __funnelshift_l(low, high, offset_code);
    sequence_parts parts;
    parts.match = bases->matches[match_code] + bits_first(lengths, match_bits);
    parts.literals = bases->literals[literal_code] +
                     bits_first(lengths << match_bits, literal_length_extra[literal_code]);
    parts.offsets = offsets_map_of_sequence(value, parts.literals == 0);
    return parts;
}

// The sum of the sequences up to a lane's.
struct sequences_sum {
    uint32_t content, literals;
    zstd_offsets_map offsets;
};

DEVICE_INLINE sequences_sum sequences_then(const sequences_sum &a, const sequences_sum &b)
{
    return {a.content + b.content, a.literals + b.literals, offsets_map_then(a.offsets, b.offsets)};
}

DEVICE_INLINE decode_sequence sequences_pack(uint32_t content, uint32_t literals, uint32_t offset)
{
    return static_cast<uint64_t>(offset) << DECODE_OFFSET_SHIFT |
           static_cast<uint64_t>(literals) << DECODE_LITERALS_SHIFT | content;
}

// By a warp: writes up to 32 sequences, from `out` on, after those whose sum is `before`, to which
// theirs is added. False if one of them is impossible.
static __device__ bool sequences_some(const decode_heading &heading, uint32_t room,
                                      const unsigned *words, const length_bases *bases,
                                      decode_sequence *out, uint32_t count, sequences_sum &before)
{
    const unsigned lane = threadIdx.x % 32;
    const bool is_there = lane < count;
    sequence_parts own = {0, 0, offsets_map_same()};
    if (is_there)
        own = sequence_of_step(words, bases, out[lane]);
    sequences_sum sum = {own.literals + own.match, own.literals, own.offsets};
    sum = sequences_then(before, warp_scan(sum, sequences_then));
    const uint32_t offset = offsets_map_newest(sum.offsets);
    const bool is_bad_offset = is_there && offset == 0;
    const bool is_too_long = sum.content > room || sum.literals > heading.literals;
    if (__ballot_sync(all_lanes, is_bad_offset || is_too_long))
        return false;
    if (is_there)
        out[lane] = sequences_pack(sum.content - own.literals - own.match,
                                   sum.literals - own.literals, offset);
    before = warp_last(sum);
    return true;
}

static __global__ void __launch_bounds__(sequences_threads) zstd_sequences(decode_batch batch)
{
    __shared__ length_bases bases;
    const uint32_t index = blockIdx.x * sequences_blocks + threadIdx.x / 32;
    if (threadIdx.x == 0)
        length_bases_build(bases.literals, literal_length_extra, 0);
    else if (threadIdx.x == 1)
        length_bases_build(bases.matches, match_length_extra, DECODE_MATCH_MIN);
    __syncthreads();
    if (index >= batch.blocks || batch.outcome[index].refusal != DECODE_TAKEN)
        return;
    const decode_heading &heading = batch.heading[index];
    const decode_block &block = batch.block[index];
    const unsigned *const words = backward_words(batch.in, heading.bits_at);
    decode_sequence *const out = batch.sequences + block.sequences_at;
    sequences_sum sum = {0, 0, offsets_map_same()};
    bool good = true;
    for (uint32_t at = 0; at < heading.sequences && good; at += 32)
        good = sequences_some(heading, block.room, words, &bases, out + at,
                              min(heading.sequences - at, 32u), sum);
    if (threadIdx.x % 32 != 0)
        return;
    if (heading.sequences > 0)
        out[heading.sequences] = sequences_pack(sum.content, sum.literals, 0);
    const uint32_t content = sum.content + heading.literals - sum.literals;
    decode_outcome *const outcome = &batch.outcome[index];
    if (!good || content > block.room)
        outcome->refusal = DECODE_BAD;
    outcome->content = content;
    outcome->after = sum.offsets;
}

#endif
