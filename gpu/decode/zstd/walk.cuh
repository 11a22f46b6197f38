// SPDX-License-Identifier: MIT
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
#ifndef GPUHISTO_ZSTD_WALK_CUH
#define GPUHISTO_ZSTD_WALK_CUH

#include "gpu/decode/zstd/sequence_codes.cuh"
#include "gpu/decode/stages.h"

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
        batch.outcome[index].refusal = DECODE_BAD_BITS;
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
        batch.outcome[index].refusal = DECODE_BAD_SEQUENCES;
    else
        walk_block(batch, index, work);
}

static inline unsigned walk_grid(const struct decode_batch *batch, unsigned)
{
    return decode_grid_of_blocks(batch, walk_warps * walk_blocks);
}

#endif
