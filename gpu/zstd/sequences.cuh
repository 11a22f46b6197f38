// sequences: decodes the sequences of blocks (RFC 8878, section 3.1.1.3.2), all but the values of
// repeat offsets.
//
// Takes struct zstd_heading, gives a block's sequences, how much content they make, and the repeat
// offsets after the block as a map of those before it (batch.h). Blocks of literals alone, raw and
// RLE ones among them, get their outcome here too.
//
// Several lanes take a block: three of them build its tables, a table each, then one walks the
// stream, as every state depends on the one before. A warp takes as many blocks as it can, because
// a walk alone would leave 31 lanes idle; but the fewer, the more warps there are for a small
// batch.
//
// Shared memory: tables of 5 KiB a block, of 4-byte cells (fse.cuh), and 0.4 KiB for building them;
// 0.3 KiB for the lengths of codes.
//
// What libzstd 1.5.4 accepts and this refuses: streams that do not end with their last bit, which
// it takes if they are too short, or longer by what the states after the last sequence take; an
// offset less 1 that is 0, which it takes for 1; and offsets above ZSTD_WINDOW_MOST.
#ifndef GPUHISTO_ZSTD_SEQUENCES_CUH
#define GPUHISTO_ZSTD_SEQUENCES_CUH

#include "gpu/zstd/sequence_codes.cuh"
#include "gpu/zstd/stages.h"

constexpr unsigned sequences_blocks = 4;                    // zstd blocks of a warp
constexpr unsigned sequences_lanes = 32 / sequences_blocks; // of a zstd block
constexpr unsigned sequences_warps = 1;                     // of a CUDA block
constexpr unsigned sequences_threads = 32 * sequences_warps;
constexpr unsigned sequences_tables = 3;

static_assert(sequences_lanes >= sequences_tables, "a lane for each table");

// A block's tables.
struct sequences_work {
    uint32_t literal_lengths[1u << literal_length_log_most];
    uint32_t match_lengths[1u << match_length_log_most];
    uint32_t offsets[1u << offset_log_most];
    fse_count counts[sequences_tables][sequence_codes_most];
    uint32_t logs[sequences_tables]; // by enum zstd_table
};

// How far a block has come. The offsets are those last used, the newest first, as in zstd_sequence.
struct sequences_walk {
    uint32_t content, literals;
    uint32_t offsets[3];
};

static __device__ __forceinline__ uint32_t *sequences_cells(sequences_work *work, uint32_t table)
{
    return table == ZSTD_OFFSETS           ? work->offsets
           : table == ZSTD_LITERAL_LENGTHS ? work->literal_lengths
                                           : work->match_lengths;
}

// By a lane: builds the table of one kind. False if its description is malformed.
static __device__ bool sequences_build(sequences_work *work, const unsigned char *in,
                                       const zstd_source &source, uint32_t table)
{
    uint32_t *const cells = sequences_cells(work, table);
    fse_count *const counts = work->counts[table];
    if (source.mode == ZSTD_ONE_SYMBOL) {
        const uint32_t code = byte_at(in, source.at);
        work->logs[table] = 0;
        if (code > sequence_code_most(table))
            return false;
        cells[0] = fse_cell(code, sequence_extra(table, code), 0, 0);
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
              [=](uint32_t code) { return sequence_extra(table, code); });
    return true;
}

// The newest offset less 1, or 0 if there is no such offset.
static __device__ __forceinline__ uint32_t sequences_one_less(uint32_t offset)
{
    return offset & ZSTD_REPEATS ? offset + 1 : offset - 1;
}

// The offset that a value stands for, in 29 bits; 0 if it is too large, or would be 0. The value 0
// does not come.
static __device__ __forceinline__ uint32_t sequences_offset(sequences_walk &walk, uint32_t value,
                                                            bool no_literals)
{
    uint32_t *const last = walk.offsets;
    const uint32_t repeat = value - 1 + no_literals;
    uint32_t offset;
    if (value > 3)
        offset = value - 3 > ZSTD_WINDOW_MOST ? 0 : value - 3;
    else
        offset = repeat == 0   ? last[0]
                 : repeat == 1 ? last[1]
                 : repeat == 2 ? last[2]
                               : sequences_one_less(last[0]);
    const bool rare = value > 3 || repeat >= 2;
    last[2] = rare ? last[1] : last[2];
    last[1] = rare || repeat == 1 ? last[0] : last[1];
    last[0] = offset;
    return offset;
}

static __device__ __forceinline__ zstd_sequence sequences_pack(const sequences_walk &walk,
                                                               uint32_t offset)
{
    return static_cast<uint64_t>(offset) << ZSTD_OFFSET_SHIFT |
           static_cast<uint64_t>(walk.literals) << ZSTD_LITERALS_SHIFT | walk.content;
}

// By one lane: decodes a block's sequences to `out`, with no check of what is left in the end.
static __device__ zstd_refusal sequences_decode(const zstd_heading &heading, uint32_t room,
                                                const sequences_work *work,
                                                const length_bases *bases, backward &stream,
                                                sequences_walk &walk, zstd_sequence *out)
{
    uint32_t literal_state = backward_take(stream, work->logs[ZSTD_LITERAL_LENGTHS]);
    uint32_t offset_state = backward_take(stream, work->logs[ZSTD_OFFSETS]);
    uint32_t match_state = backward_take(stream, work->logs[ZSTD_MATCH_LENGTHS]);
    for (uint32_t left = heading.sequences; left > 0; left--) {
        const uint32_t literal_cell = work->literal_lengths[literal_state];
        const uint32_t offset_cell = work->offsets[offset_state];
        const uint32_t match_cell = work->match_lengths[match_state];
        backward_fill(stream);
        const uint32_t offset_code = fse_symbol(offset_cell);
        const uint32_t value = (1u << offset_code) + backward_take(stream, offset_code);
        backward_fill(stream);
        const uint32_t match =
            bases->matches[fse_symbol(match_cell)] + backward_take(stream, fse_extra(match_cell));
        const uint32_t length = bases->literals[fse_symbol(literal_cell)] +
                                backward_take(stream, fse_extra(literal_cell));
        if (left > 1) {
            backward_fill(stream);
            literal_state = fse_next(stream, literal_cell);
            match_state = fse_next(stream, match_cell);
            offset_state = fse_next(stream, offset_cell);
        }
        const uint32_t offset = sequences_offset(walk, value, length == 0);
        *out++ = sequences_pack(walk, offset);
        walk.content += length + match;
        walk.literals += length;
        if (offset == 0)
            return ZSTD_BAD_OFFSET;
        if (walk.content > room || walk.literals > heading.literals)
            return ZSTD_BAD_LENGTHS;
    }
    *out = sequences_pack(walk, 0);
    return ZSTD_TAKEN;
}

static __device__ zstd_repeats sequences_repeats(const sequences_walk &walk)
{
    zstd_repeats after;
    UNROLL for (unsigned i = 0; i < 3; i++)
    {
        const uint32_t offset = walk.offsets[i];
        const bool repeats = (offset & ZSTD_REPEATS) != 0;
        after.which[i] = repeats ? offset >> ZSTD_REPEATS_WHICH & 3 : ZSTD_CONSTANT;
        after.value[i] = repeats ? offset & ZSTD_REPEATS_LESS : offset;
    }
    return after;
}

// By one lane: a block's sequences, if it has any, and its outcome.
static __device__ void sequences_of_block(const zstd_batch &batch, uint32_t index,
                                          const sequences_work *work, const length_bases *bases)
{
    const zstd_heading heading = batch.heading[index];
    const zstd_block block = batch.block[index];
    zstd_outcome *const outcome = &batch.outcome[index];
    sequences_walk walk = {0, 0, {}};
    UNROLL for (uint32_t i = 0; i < 3; i++) walk.offsets[i] =
        ZSTD_REPEATS | i << ZSTD_REPEATS_WHICH;
    zstd_refusal refusal = ZSTD_TAKEN;
    if (heading.sequences > 0) {
        const byte_span bits = {heading.bits_at, block.at + block.size - heading.bits_at};
        backward stream;
        refusal = backward_open(stream, batch.in, bits)
                      ? sequences_decode(heading, block.room, work, bases, stream, walk,
                                         batch.sequences + zstd_sequences_at(&block, index))
                      : ZSTD_BAD_BITS;
        if (refusal == ZSTD_TAKEN && backward_left(stream) != 0)
            refusal = ZSTD_BAD_BITS;
    }
    const uint32_t content = walk.content + heading.literals - walk.literals;
    if (refusal == ZSTD_TAKEN && content > block.room)
        refusal = ZSTD_BAD_LENGTHS;
    outcome->refusal = refusal;
    outcome->content = content;
    outcome->after = sequences_repeats(walk);
}

static __global__ void __launch_bounds__(sequences_threads) zstd_sequences(zstd_batch batch)
{
    __shared__ sequences_work works[sequences_warps * sequences_blocks];
    __shared__ length_bases bases;
    const uint32_t lane = threadIdx.x % sequences_lanes, place = threadIdx.x / sequences_lanes;
    const uint32_t index = blockIdx.x * sequences_warps * sequences_blocks + place;
    sequences_work *const work = &works[place];
    const bool taken = index < batch.blocks && batch.outcome[index].refusal == ZSTD_TAKEN;
    bool built = true;
    if (threadIdx.x < 32)
        length_bases_lay(&bases, threadIdx.x);
    if (taken && lane < sequences_tables && batch.heading[index].sequences > 0)
        built = sequences_build(work, batch.in, batch.heading[index].tables[lane], lane);
    const unsigned failed = __ballot_sync(0xffffffffu, !built);
    __syncthreads();
    if (!taken || lane != 0)
        return;
    if (failed >> threadIdx.x % 32 & ((1u << sequences_tables) - 1))
        batch.outcome[index].refusal = ZSTD_BAD_SEQUENCES;
    else
        sequences_of_block(batch, index, work, &bases);
}

static inline unsigned sequences_grid(const struct zstd_batch *batch, unsigned)
{
    return zstd_grid_of_blocks(batch, sequences_warps * sequences_blocks);
}

#endif
