// SPDX-License-Identifier: MIT
// The sequences of zstd blocks.
#ifndef GPUHISTO_GPU_DECODE_ZSTD_SEQUENCES_CUH
#define GPUHISTO_GPU_DECODE_ZSTD_SEQUENCES_CUH

#include "gpu/decode/stages.h"
#include "gpu/decode/zstd/tables.cuh"

// --- the three last offsets ---

// A map from the three last offsets before some blocks to those after them, in three words, so that
// a warp can scan over blocks. Such maps compose, in any grouping.

// One of the three: the upper two bits are `which`, the others the value, of struct
// zstd_repeat_offsets.
constexpr unsigned repeat_offsets_which_shift = 30;
constexpr unsigned repeat_offsets_value_mask = (1u << repeat_offsets_which_shift) - 1;

struct repeat_offsets_map {
    unsigned position[3];
};

static __device__ inline repeat_offsets_map
repeat_offsets_map_of(const zstd_repeat_offsets &repeat_offsets)
{
    repeat_offsets_map map;
    for (unsigned i = 0; i < 3; i++)
        map.position[i] = (repeat_offsets.which[i] & 3) << repeat_offsets_which_shift |
                          min(repeat_offsets.value[i], ZSTD_WINDOW_MAX + 1);
    return map;
}

// Returns a place that is `value`, whatever was before.
static __device__ inline unsigned repeat_offsets_map_constant(unsigned value)
{
    return ZSTD_CONSTANT << repeat_offsets_which_shift | value;
}

// These return the map that changes nothing, and the one to the three offsets that a frame begins
// with, whatever was before.
static __device__ inline repeat_offsets_map repeat_offsets_map_same()
{
    return {{0u << repeat_offsets_which_shift, 1u << repeat_offsets_which_shift,
             2u << repeat_offsets_which_shift}};
}

static __device__ inline repeat_offsets_map repeat_offsets_map_begin()
{
    return {{repeat_offsets_map_constant(1), repeat_offsets_map_constant(4),
             repeat_offsets_map_constant(8)}};
}

static __device__ inline zstd_repeat_offsets repeat_offsets_of_map(const repeat_offsets_map &map)
{
    zstd_repeat_offsets repeat_offsets;
    for (unsigned i = 0; i < 3; i++) {
        repeat_offsets.which[i] = map.position[i] >> repeat_offsets_which_shift;
        repeat_offsets.value[i] = map.position[i] & repeat_offsets_value_mask;
    }
    return repeat_offsets;
}

// Returns the map of `first` and then `second`. A constant offset is lowered to 0 at most, and the
// sum that several blocks take off stops at more than any offset: a sequence refers to each offset
// that comes about, so an offset of 0 and one beyond the window are refused there.
static __device__ inline repeat_offsets_map
repeat_offsets_map_then(const repeat_offsets_map &first, const repeat_offsets_map &second)
{
    repeat_offsets_map both;
    for (unsigned i = 0; i < 3; i++) {
        const unsigned which = second.position[i] >> repeat_offsets_which_shift;
        const unsigned less = second.position[i] & repeat_offsets_value_mask;
        const unsigned from = which == 0   ? first.position[0]
                              : which == 1 ? first.position[1]
                                           : first.position[2];
        const unsigned value = from & repeat_offsets_value_mask;
        const bool is_constant = from >> repeat_offsets_which_shift == ZSTD_CONSTANT;
        const unsigned combined =
            is_constant ? value - min(value, less) : min(value + less, ZSTD_WINDOW_MAX + 1);
        both.position[i] = which == ZSTD_CONSTANT ? second.position[i]
                                                  : (from & ~repeat_offsets_value_mask) | combined;
    }
    return both;
}

// --- steps ---

// The step that `walk` leaves of a sequence for `sequences`, in its place: the lower half is where
// its bits begin, as in struct backward, the upper half its codes, as in cells.
using zstd_step = decode_sequence;

static __device__ __forceinline__ zstd_step sequence_step(int at, uint32_t literal_cell,
                                                          uint32_t match_cell, uint32_t offset_cell)
{
    const uint32_t codes = (literal_cell & 0x3fu << fse_symbol_shift) |
                           (match_cell & 0x3fu << sequence_match_shift) |
                           (offset_cell & fse_extra_mask << fse_extra_shift);
    return static_cast<uint64_t>(codes) << 32 | static_cast<uint32_t>(at);
}

static __device__ __forceinline__ int step_at(zstd_step step)
{
    return static_cast<int>(static_cast<uint32_t>(step));
}

static __device__ __forceinline__ uint32_t step_literal_code(zstd_step step)
{
    return static_cast<uint32_t>(step >> 32) >> fse_symbol_shift & 0x3f;
}

static __device__ __forceinline__ uint32_t step_match_code(zstd_step step)
{
    return static_cast<uint32_t>(step >> 32) >> sequence_match_shift & 0x3f;
}

static __device__ __forceinline__ uint32_t step_offset_code(zstd_step step)
{
    return fse_extra(static_cast<uint32_t>(step >> 32));
}

// The least lengths of codes; to be built in shared memory, where lanes may read different ones.
struct length_bases {
    uint32_t literals[literal_length_codes];
    uint32_t matches[match_length_codes];
};

// By the warp together: builds the least lengths. Each code begins where the one before it ends.
static __device__ void length_bases_build(length_bases *bases, unsigned lane)
{
    uint32_t base = 0;
    if (lane == 0)
        for (uint32_t code = 0; code < literal_length_codes; code++) {
            bases->literals[code] = base;
            base += 1u << literal_length_extra[code];
        }
    else if (lane == 1) {
        base = DECODE_MATCH_MIN;
        for (uint32_t code = 0; code < match_length_codes; code++) {
            bases->matches[code] = base;
            base += 1u << match_length_extra[code];
        }
    }
}

// --- walk ---

// The stage walk of zstd: follows the states of sequences through a block's stream of bits (RFC
// 8878, section 3.1.1.3.2), and says where each sequence's bits are and which codes it has. The
// stage `sequences` finds what they stand for, for all sequences side by side: every state depends
// on the one before, so a block waits for each step here, which does nothing else.
//
// Takes struct decode_heading, gives a block's struct zstd_step in the places of its sequences.
//
// Several lanes take a block: three of them build its tables, a table each, then one walks the
// stream. A warp takes several blocks, because a walk alone would leave 31 lanes idle.
//
// A step must not wait for the stream. The bytes that its lane is about to read are copied to
// shared memory long before, and the bits that it may need are loaded while it still waits for its
// cells.
//
// Shared memory: tables of 5 KiB a block, of 4-byte cells (fse.cuh), 0.4 KiB for building them, and
// 1 KiB of the stream.
//
// What libzstd 1.5.4 accepts and this refuses: streams that do not end with their last bit, which
// it takes if they are too short, or longer by what the states after the last sequence take.

constexpr unsigned walk_blocks = 4;               // zstd blocks of a warp
constexpr unsigned walk_lanes = 32 / walk_blocks; // of a zstd block
constexpr unsigned walk_warps = 1;                // of a CUDA block
constexpr unsigned walk_threads = 32 * walk_warps;
constexpr unsigned walk_tables = 3;

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

static_assert(walk_lanes >= walk_tables, "a lane for each table");

// A block's tables, and the part of its stream that is being read.
struct walk_work {
    uint32_t literal_lengths[1u << literal_length_log_max];
    uint32_t match_lengths[1u << match_length_log_max];
    uint32_t offsets[1u << offset_log_max];
    fse_count counts[walk_tables][sequence_codes_max];
    uint32_t logs[walk_tables]; // by enum decode_table
    // The last piece comes first, once more, since words before a piece are read with it; then all
    // pieces.
    alignas(16) uint32_t stream[4 + 4 * walk_pieces];
};

static __device__ __forceinline__ uint32_t *walk_cells(walk_work *work, uint32_t table)
{
    return table == ZSTD_OFFSETS           ? work->offsets
           : table == ZSTD_LITERAL_LENGTHS ? work->literal_lengths
                                           : work->match_lengths;
}

// By a lane: builds the table of one kind. False if its description is malformed.
static __device__ bool walk_build(walk_work *work, const unsigned char *in,
                                  const decode_source &source, uint32_t table)
{
    uint32_t *const cells = walk_cells(work, table);
    fse_count *const counts = work->counts[table];
    if (source.mode == ZSTD_ONE_SYMBOL) {
        const uint32_t code = byte_at(in, source.at);
        work->logs[table] = 0;
        if (code > sequence_code_max(table))
            return false;
        cells[0] = sequence_cell(table, code);
        return true;
    }
    const fse_description description =
        source.mode == ZSTD_PREDEFINED
            ? sequence_predefined(table, counts)
            : fse_read(in, {source.at, source.size}, sequence_code_max(table),
                       sequence_log_max(table),
                       [=](uint32_t symbol, fse_count count) { counts[symbol] = count; });
    work->logs[table] = description.log;
    if (!description.used)
        return false;
    fse_build(cells, description.log, counts, description.symbols,
              [=](uint32_t code) { return sequence_cell(table, code); });
    return true;
}

// The three cells of a sequence.
struct walk_cells_of {
    uint32_t literal, match, offset;
};

static __device__ __forceinline__ walk_cells_of walk_peek(const walk_work *work, uint32_t literal,
                                                          uint32_t match, uint32_t offset)
{
    return {work->literal_lengths[literal], work->match_lengths[match], work->offsets[offset]};
}

// Asks for the pieces of the stream down to the last one of the next rounds, or to its first one;
// `copied` is the last one that was asked for.
static __device__ __forceinline__ void walk_copy(walk_work *work, const backward &stream,
                                                 int &copied)
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
static __device__ __forceinline__ walk_cells_of walk_step(const walk_work *work, backward &stream,
                                                          const walk_cells_of &cells)
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
    backward_skip(stream, fse_extra(sizes) + fse_bits(sizes));
    return walk_peek(work, fse_next(bits, cells.literal),
                     fse_next(bits_after(bits, cells.literal), cells.match),
                     fse_next(bits_after(bits, cells.literal + cells.match), cells.offset));
}

static __device__ __forceinline__ zstd_step walk_step_of(const backward &stream,
                                                         const walk_cells_of &cells)
{
    return sequence_step(stream.at, cells.literal, cells.match, cells.offset);
}

// By one lane: walks through a stream of `count` sequences, at least one. False if these are not
// all that it holds. That is checked only after each round: any bits that are read beyond the
// stream's beginning, where there are no copies, lead from cells to cells, too.
static __device__ bool walk_stream(walk_work *work, backward &stream, uint32_t count,
                                   decode_sequence *out)
{
    int copied = (stream.at >> 7) + 1;
    walk_copy(work, stream, copied);
    const uint32_t literal = backward_read(stream, work->logs[ZSTD_LITERAL_LENGTHS]);
    const uint32_t offset = backward_read(stream, work->logs[ZSTD_OFFSETS]);
    const uint32_t match = backward_read(stream, work->logs[ZSTD_MATCH_LENGTHS]);
    walk_cells_of cells = walk_peek(work, literal, match, offset);
    copies_wait<0>();
    for (; count > walk_round; count -= walk_round) {
        walk_copy(work, stream, copied);
        copies_wait<2>();
        UNROLL for (unsigned i = 0; i < walk_round; i++)
        {
            *out++ = walk_step_of(stream, cells);
            cells = walk_step(work, stream, cells);
        }
        if (backward_left(stream) < 0)
            return false;
    }
    copies_wait<0>();
    for (; count > 1; count--) {
        *out++ = walk_step_of(stream, cells);
        cells = walk_step(work, stream, cells);
    }
    *out = walk_step_of(stream, cells);
    backward_skip(stream, fse_extra(cells.literal + cells.match + cells.offset));
    return backward_left(stream) == 0;
}

// By one lane: walks through a block.
static __device__ void walk_block(const decode_batch &batch, uint32_t index, walk_work *work)
{
    const decode_heading &heading = batch.heading[index];
    const decode_block &block = batch.block[index];
    const byte_span bits = {heading.bits_at, block.at + block.size - heading.bits_at};
    backward stream;
    if (!backward_open(stream, batch.in, bits) ||
        !walk_stream(work, stream, heading.sequences, batch.sequences + block.sequences_at))
        batch.outcome[index].refusal = DECODE_BAD;
}

static __global__ void __launch_bounds__(walk_threads) zstd_walk_states(decode_batch batch)
{
    __shared__ walk_work works[walk_warps * walk_blocks];
    const uint32_t lane = threadIdx.x % walk_lanes, position = threadIdx.x / walk_lanes;
    const uint32_t index = blockIdx.x * walk_warps * walk_blocks + position;
    walk_work *const work = &works[position];
    const bool taken = index < batch.blocks && batch.outcome[index].refusal == DECODE_TAKEN &&
                       batch.heading[index].sequences > 0;
    bool built = true;
    if (taken && lane < walk_tables)
        built = walk_build(work, batch.in, batch.heading[index].tables[lane], lane);
    const unsigned failed = __ballot_sync(0xffffffffu, !built);
    __syncwarp();
    if (!taken || lane != 0)
        return;
    if (failed >> threadIdx.x % 32 & ((1u << walk_tables) - 1))
        batch.outcome[index].refusal = DECODE_BAD;
    else
        walk_block(batch, index, work);
}

static inline unsigned walk_grid(const struct decode_batch *batch, unsigned)
{
    return decode_grid_of_blocks(batch, walk_warps * walk_blocks);
}

// --- sequences ---

// The stage sequences of zstd: finds what sequences stand for (RFC 8878, section 3.1.1.3.2.1), all
// but the values of repeat offsets.
//
// Takes struct zstd_step, gives decode_sequence in its place, how much content a block's sequences
// make, and the repeat offsets after the block as a map of those before it (batch.h). Blocks of
// literals alone, raw and RLE ones among them, get their outcome here too.
//
// A warp takes a block, and a lane a sequence, 32 at a time. A sequence begins at the sum of the
// lengths before it, and its offset may be one of the three last ones: maps of these compose. Both
// are scans over the warp. Shared memory: 0.3 KiB for the lengths of codes.
//
// What libzstd 1.5.4 accepts and this refuses: an offset less 1 that is 0, which it takes for 1;
// and offsets above ZSTD_WINDOW_MAX.

constexpr unsigned sequences_blocks = 4; // zstd blocks of a CUDA block, a warp each
constexpr unsigned sequences_threads = 32 * sequences_blocks;

// The lengths and the offset that a sequence stands for.
struct sequences_parts {
    uint32_t literals, match;          // lengths
    repeat_offsets_map repeat_offsets; // from the three last offsets before it to those after it
};

// The sum of the sequences up to a lane's.
struct sequences_sum {
    uint32_t content, literals;
    repeat_offsets_map repeat_offsets;
};

// Returns the three last offsets after a sequence whose offset has this value.
static __device__ __forceinline__ repeat_offsets_map sequences_repeat_offsets(uint32_t value,
                                                                              bool no_literals)
{
    const repeat_offsets_map same = repeat_offsets_map_same();
    const uint32_t repeat = value - 1 + no_literals;
    const uint32_t own = repeat_offsets_map_constant(min(value - 3, ZSTD_WINDOW_MAX + 1));
    repeat_offsets_map map;
    map.position[0] = value > 3     ? own
                      : repeat == 0 ? same.position[0]
                      : repeat == 1 ? same.position[1]
                      : repeat == 2 ? same.position[2]
                                    : same.position[0] + 1; // the newest, less 1
    map.position[1] = value <= 3 && repeat == 0 ? same.position[1] : same.position[0];
    map.position[2] = value <= 3 && repeat <= 1 ? same.position[2] : same.position[1];
    return map;
}

static __device__ __forceinline__ sequences_parts sequences_of_step(const unsigned *words,
                                                                    const length_bases *bases,
                                                                    zstd_step step)
{
    const backward_bits bits = backward_peek({words, 0, step_at(step)});
    const uint32_t literal_code = step_literal_code(step), match_code = step_match_code(step);
    const uint32_t offset_code = step_offset_code(step);
    const uint32_t value = (1u << offset_code) + bits_first(bits.high, offset_code);
    const uint32_t lengths = __funnelshift_l(bits.low, bits.high, offset_code);
    const uint32_t match_bits = match_length_extra[match_code];
    sequences_parts parts;
    parts.match = bases->matches[match_code] + bits_first(lengths, match_bits);
    parts.literals = bases->literals[literal_code] +
                     bits_first(lengths << match_bits, literal_length_extra[literal_code]);
    parts.repeat_offsets = sequences_repeat_offsets(value, parts.literals == 0);
    return parts;
}

// Returns the sums of the lanes up to and with this one.
static __device__ __forceinline__ sequences_sum sequences_scan(const sequences_parts &own)
{
    const unsigned lane = threadIdx.x % 32;
    sequences_sum sum = {own.literals + own.match, own.literals, own.repeat_offsets};
    for (unsigned by = 1; by < 32; by *= 2) {
        const uint32_t content = __shfl_up_sync(0xffffffffu, sum.content, by);
        const uint32_t literals = __shfl_up_sync(0xffffffffu, sum.literals, by);
        repeat_offsets_map before;
        UNROLL for (unsigned i = 0; i < 3; i++) before.position[i] =
            __shfl_up_sync(0xffffffffu, sum.repeat_offsets.position[i], by);
        if (lane >= by)
            sum = {sum.content + content, sum.literals + literals,
                   repeat_offsets_map_then(before, sum.repeat_offsets)};
    }
    return sum;
}

// Returns a block's sum so far, from that of the last lane of 32 sequences.
static __device__ __forceinline__ sequences_sum sequences_of_last(const sequences_sum &sum)
{
    sequences_sum last;
    last.content = __shfl_sync(0xffffffffu, sum.content, 31);
    last.literals = __shfl_sync(0xffffffffu, sum.literals, 31);
    UNROLL for (unsigned i = 0; i < 3; i++) last.repeat_offsets.position[i] =
        __shfl_sync(0xffffffffu, sum.repeat_offsets.position[i], 31);
    return last;
}

// Returns the newest offset as in decode_sequence; 0 if it is too large, or 0.
static __device__ __forceinline__ uint32_t
sequences_offset(const repeat_offsets_map &repeat_offsets)
{
    const uint32_t which = repeat_offsets.position[0] >> repeat_offsets_which_shift;
    const uint32_t value = repeat_offsets.position[0] & repeat_offsets_value_mask;
    if (which != ZSTD_CONSTANT)
        return ZSTD_REPEAT_OFFSETS | which << ZSTD_REPEAT_OFFSETS_WHICH | value;
    return value > ZSTD_WINDOW_MAX ? 0 : value;
}

static __device__ __forceinline__ decode_sequence sequences_pack(uint32_t content,
                                                                 uint32_t literals, uint32_t offset)
{
    return static_cast<uint64_t>(offset) << DECODE_OFFSET_SHIFT |
           static_cast<uint64_t>(literals) << DECODE_LITERALS_SHIFT | content;
}

// By a warp: writes up to 32 sequences, from `out` on, after those whose sum is `before`, to which
// theirs is added. Refuses if one of them is impossible.
static __device__ decode_refusal sequences_some(const decode_heading &heading, uint32_t room,
                                                const unsigned *words, const length_bases *bases,
                                                decode_sequence *out, uint32_t count,
                                                sequences_sum &before)
{
    const unsigned lane = threadIdx.x % 32;
    const bool is_there = lane < count;
    sequences_parts own = {0, 0, repeat_offsets_map_same()};
    if (is_there)
        own = sequences_of_step(words, bases, out[lane]);
    sequences_sum sum = sequences_scan(own);
    sum = {before.content + sum.content, before.literals + sum.literals,
           repeat_offsets_map_then(before.repeat_offsets, sum.repeat_offsets)};
    const uint32_t offset = sequences_offset(sum.repeat_offsets);
    const bool is_bad_offset = is_there && offset == 0;
    const bool is_too_long = sum.content > room || sum.literals > heading.literals;
    const unsigned bad_offsets = __ballot_sync(0xffffffffu, is_bad_offset);
    const unsigned too_long = __ballot_sync(0xffffffffu, is_too_long);
    if (bad_offsets | too_long)
        return DECODE_BAD;
    if (is_there)
        out[lane] = sequences_pack(sum.content - own.literals - own.match,
                                   sum.literals - own.literals, offset);
    before = sequences_of_last(sum);
    return DECODE_TAKEN;
}

// By a warp: writes a block's sequences, if it has any, and its outcome.
static __device__ void sequences_of_block(const decode_batch &batch, uint32_t index,
                                          const length_bases *bases)
{
    const decode_heading &heading = batch.heading[index];
    const decode_block &block = batch.block[index];
    const unsigned *const words = backward_words(batch.in, heading.bits_at);
    decode_sequence *const out = batch.sequences + block.sequences_at;
    sequences_sum sum = {0, 0, repeat_offsets_map_same()};
    decode_refusal refusal = DECODE_TAKEN;
    for (uint32_t at = 0; at < heading.sequences && refusal == DECODE_TAKEN; at += 32)
        refusal = sequences_some(heading, block.room, words, bases, out + at,
                                 min(heading.sequences - at, 32u), sum);
    if (threadIdx.x % 32 != 0)
        return;
    if (heading.sequences > 0)
        out[heading.sequences] = sequences_pack(sum.content, sum.literals, 0);
    const uint32_t content = sum.content + heading.literals - sum.literals;
    if (refusal == DECODE_TAKEN && content > block.room)
        refusal = DECODE_BAD;
    decode_outcome *const outcome = &batch.outcome[index];
    if (refusal != DECODE_TAKEN)
        outcome->refusal = refusal;
    outcome->content = content;
    outcome->after = repeat_offsets_of_map(sum.repeat_offsets);
}

static __global__ void __launch_bounds__(sequences_threads) zstd_sequences(decode_batch batch)
{
    __shared__ length_bases bases;
    const uint32_t index = blockIdx.x * sequences_blocks + threadIdx.x / 32;
    if (threadIdx.x < 32)
        length_bases_build(&bases, threadIdx.x);
    __syncthreads();
    if (index < batch.blocks && batch.outcome[index].refusal == DECODE_TAKEN)
        sequences_of_block(batch, index, &bases);
}

static inline unsigned sequences_grid(const struct decode_batch *batch, unsigned)
{
    return decode_grid_of_blocks(batch, sequences_blocks);
}

#endif
