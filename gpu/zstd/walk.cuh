// walk: follows the states of sequences through a block's stream of bits (RFC 8878, section
// 3.1.1.3.2), and says where each sequence's bits are and which codes it has. What they stand for
// is left to `sequences`, which looks at all sequences side by side: every state depends on the one
// before, so a step here is what a block waits for, and does nothing else.
//
// Takes struct zstd_heading, gives a block's struct zstd_step in the places of its sequences.
//
// Several lanes take a block: three of them build its tables, a table each, then one walks the
// stream. A warp takes as many blocks as it can, because a walk alone would leave 31 lanes idle;
// but the fewer, the more warps there are for a small batch.
//
// Shared memory: tables of 5 KiB a block, of 4-byte cells (fse.cuh), and 0.4 KiB for building them.
//
// What libzstd 1.5.4 accepts and this refuses: streams that do not end with their last bit, which
// it takes if they are too short, or longer by what the states after the last sequence take.
#ifndef GPUHISTO_ZSTD_WALK_CUH
#define GPUHISTO_ZSTD_WALK_CUH

#include "gpu/zstd/sequence_codes.cuh"
#include "gpu/zstd/stages.h"

constexpr unsigned walk_blocks = 2;               // zstd blocks of a warp
constexpr unsigned walk_lanes = 32 / walk_blocks; // of a zstd block
constexpr unsigned walk_warps = 1;                // of a CUDA block
constexpr unsigned walk_threads = 32 * walk_warps;
constexpr unsigned walk_tables = 3;

static_assert(walk_lanes >= walk_tables, "a lane for each table");

// A block's tables.
struct walk_work {
    uint32_t literal_lengths[1u << literal_length_log_most];
    uint32_t match_lengths[1u << match_length_log_most];
    uint32_t offsets[1u << offset_log_most];
    fse_count counts[walk_tables][sequence_codes_most];
    uint32_t logs[walk_tables]; // by enum zstd_table
};

static __device__ __forceinline__ uint32_t *walk_cells(walk_work *work, uint32_t table)
{
    return table == ZSTD_OFFSETS           ? work->offsets
           : table == ZSTD_LITERAL_LENGTHS ? work->literal_lengths
                                           : work->match_lengths;
}

// By a lane: builds the table of one kind. False if its description is malformed.
static __device__ bool walk_build(walk_work *work, const unsigned char *in,
                                  const zstd_source &source, uint32_t table)
{
    uint32_t *const cells = walk_cells(work, table);
    fse_count *const counts = work->counts[table];
    if (source.mode == ZSTD_ONE_SYMBOL) {
        const uint32_t code = byte_at(in, source.at);
        work->logs[table] = 0;
        if (code > sequence_code_most(table))
            return false;
        cells[0] = sequence_cell(table, code);
        return true;
    }
    const fse_description description =
        source.mode == ZSTD_PREDEFINED
            ? sequence_predefined(table, counts)
            : fse_read(in, {source.at, source.size}, sequence_code_most(table),
                       sequence_log_most(table),
                       [=](uint32_t symbol, fse_count count) { counts[symbol] = count; });
    work->logs[table] = description.log;
    if (!description.used)
        return false;
    fse_build(cells, description.log, counts, description.symbols,
              [=](uint32_t code) { return sequence_cell(table, code); });
    return true;
}

// The three cells that a sequence is of.
struct walk_cells_of {
    uint32_t literal, match, offset;
};

static __device__ __forceinline__ walk_cells_of walk_look(const walk_work *work, uint32_t literal,
                                                          uint32_t match, uint32_t offset)
{
    return {work->literal_lengths[literal], work->match_lengths[match], work->offsets[offset]};
}

// By one lane: walks through a stream of `count` sequences, at least one. False if these are not
// all that it holds. Nothing in a step depends on the bits of lengths and offsets, only on how many
// there are, which the cells say.
static __device__ bool walk_stream(const walk_work *work, backward &stream, uint32_t count,
                                   zstd_sequence *out)
{
    uint32_t literal = backward_take(stream, work->logs[ZSTD_LITERAL_LENGTHS]);
    uint32_t offset = backward_take(stream, work->logs[ZSTD_OFFSETS]);
    uint32_t match = backward_take(stream, work->logs[ZSTD_MATCH_LENGTHS]);
    walk_cells_of cells = walk_look(work, literal, match, offset);
    while (--count > 0) {
        const uint32_t sizes = cells.literal + cells.match + cells.offset;
        *out++ = sequence_step(stream.at, cells.literal, cells.match, cells.offset);
        backward_skip(stream, fse_extra(sizes));
        const uint32_t bits = backward_high(stream);
        backward_skip(stream, fse_bits(sizes));
        const uint32_t after_literal = bits_after(bits, cells.literal);
        literal = fse_next(bits, cells.literal);
        match = fse_next(after_literal, cells.match);
        offset = fse_next(bits_after(after_literal, cells.match), cells.offset);
        cells = walk_look(work, literal, match, offset);
        if (backward_left(stream) < 0)
            return false;
    }
    *out = sequence_step(stream.at, cells.literal, cells.match, cells.offset);
    backward_skip(stream, fse_extra(cells.literal + cells.match + cells.offset));
    return backward_left(stream) == 0;
}

// By one lane.
static __device__ void walk_block(const zstd_batch &batch, uint32_t index, const walk_work *work)
{
    const zstd_heading &heading = batch.heading[index];
    const zstd_block &block = batch.block[index];
    const byte_span bits = {heading.bits_at, block.at + block.size - heading.bits_at};
    backward stream;
    if (!backward_open(stream, batch.in, bits) ||
        !walk_stream(work, stream, heading.sequences,
                     batch.sequences + zstd_sequences_at(&block, index)))
        batch.outcome[index].refusal = ZSTD_BAD_BITS;
}

static __global__ void __launch_bounds__(walk_threads) zstd_walk_states(zstd_batch batch)
{
    __shared__ walk_work works[walk_warps * walk_blocks];
    const uint32_t lane = threadIdx.x % walk_lanes, place = threadIdx.x / walk_lanes;
    const uint32_t index = blockIdx.x * walk_warps * walk_blocks + place;
    walk_work *const work = &works[place];
    const bool taken = index < batch.blocks && batch.outcome[index].refusal == ZSTD_TAKEN &&
                       batch.heading[index].sequences > 0;
    bool built = true;
    if (taken && lane < walk_tables)
        built = walk_build(work, batch.in, batch.heading[index].tables[lane], lane);
    const unsigned failed = __ballot_sync(0xffffffffu, !built);
    __syncwarp();
    if (!taken || lane != 0)
        return;
    if (failed >> threadIdx.x % 32 & ((1u << walk_tables) - 1))
        batch.outcome[index].refusal = ZSTD_BAD_SEQUENCES;
    else
        walk_block(batch, index, work);
}

static inline unsigned walk_grid(const struct zstd_batch *batch, unsigned)
{
    return zstd_grid_of_blocks(batch, walk_warps * walk_blocks);
}

#endif
