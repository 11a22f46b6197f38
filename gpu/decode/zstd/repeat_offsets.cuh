// SPDX-License-Identifier: MIT
// The stage repeat offsets of zstd: finds the tables that blocks take from blocks before them in
// their frame (RFC 8878, sections 3.1.1.3.1.4 and 3.1.1.3.2.1).
//
// Takes struct decode_heading with its tables REPEATED, gives it with the source of the nearest
// block before that defines such a table, or of the carry if the frame goes on from the batch
// before; a block for which there is none is refused.
//
// A thread takes a block, a CUDA block a tile of as many. A scan over the tile finds the nearest
// block before in it. Only blocks of the frame with which the tile begins may need an earlier one:
// for these the CUDA block looks through the tiles before, one at a time, which for real data ends
// with the first. No thread reads what another writes: `defines` stays as it is, and a table that a
// block defines does too.
//
// Shared memory: 0.3 KiB.
#ifndef GPUHISTO_ZSTD_REPEAT_OFFSETS_CUH
#define GPUHISTO_ZSTD_REPEAT_OFFSETS_CUH

#include "gpu/decode/zstd/bits.cuh"
#include "gpu/decode/stages.h"

#include <cstddef>

constexpr unsigned repeat_offsets_threads = 256; // of a CUDA block; blocks of a tile

// The facts of each table that the blocks of a tile share. A block is given by its index plus 1,
// and 0 is none.
struct repeat_offsets_work {
    uint32_t of_warp[ZSTD_TABLES]
                    [repeat_offsets_threads / 32]; // the last that defines it in a warp
    uint32_t before[ZSTD_TABLES];                  // the last before the tile
};

// Returns the last block up to this lane's that defines a table, if `mine` is this lane's block or
// 0.
static __device__ __forceinline__ uint32_t repeat_offsets_scan(uint32_t mine)
{
    const unsigned lane = threadIdx.x % 32;
    for (unsigned by = 1; by < 32; by *= 2) {
        const uint32_t other = __shfl_up_sync(0xffffffffu, mine, by);
        mine = lane >= by ? max(mine, other) : mine;
    }
    return mine;
}

// By the CUDA block together: finds the last block before a tile that defines each table, back to
// the first block of the frame.
static __device__ void repeat_offsets_look_back(const decode_batch &batch,
                                                repeat_offsets_work *work, uint32_t tile,
                                                uint32_t first)
{
    for (uint32_t end = tile; end > first;) {
        const uint32_t begin =
            end - first > repeat_offsets_threads ? end - repeat_offsets_threads : first;
        const uint32_t index = begin + threadIdx.x;
        const uint32_t defines = index < end ? batch.heading[index].defines : 0;
        bool found = true;
        __syncthreads();
        for (uint32_t table = 0; table < ZSTD_TABLES; table++)
            if (defines >> table & 1)
                atomicMax(&work->before[table], index + 1);
        __syncthreads();
        for (uint32_t table = 0; table < ZSTD_TABLES; table++)
            found = found && work->before[table] > 0;
        if (found)
            return;
        end = begin;
    }
}

// Returns the source of a table that the batch's first frame brings along.
static __device__ decode_source repeat_offsets_carried(const decode_batch &batch, uint32_t table)
{
    const decode_carry *const carry = reinterpret_cast<const decode_carry *>(batch.in);
    return carry->tables[table];
}

// Finds a table for a block. `last` is the last block before it that defines one, if any. False
// if there is none.
static __device__ bool repeat_offsets_find(const decode_batch &batch, const decode_frame &frame,
                                           uint32_t index, uint32_t table, uint32_t last)
{
    decode_source source = {ZSTD_ABSENT, 0, 0};
    if (last > frame.first)
        source = batch.heading[last - 1].tables[table];
    else if (!frame.begins)
        source = repeat_offsets_carried(batch, table);
    batch.heading[index].tables[table] = source;
    return source.mode < ZSTD_REPEATED;
}

static __device__ void repeat_offsets_of_block(const decode_batch &batch, uint32_t index,
                                               const uint32_t last[ZSTD_TABLES])
{
    const decode_frame frame = batch.frame[batch.block[index].frame];
    for (uint32_t table = 0; table < ZSTD_TABLES; table++)
        if (batch.heading[index].tables[table].mode == ZSTD_REPEATED &&
            !repeat_offsets_find(batch, frame, index, table, last[table]))
            batch.outcome[index].refusal =
                table == ZSTD_HUFFMAN ? DECODE_BAD_HUFFMAN : DECODE_BAD_SEQUENCES;
}

static __global__ void __launch_bounds__(repeat_offsets_threads)
    zstd_repeat_offset_tables(decode_batch batch)
{
    __shared__ repeat_offsets_work work;
    const uint32_t tile = blockIdx.x * repeat_offsets_threads, index = tile + threadIdx.x;
    const unsigned warp = threadIdx.x / 32;
    const uint32_t defines = index < batch.blocks ? batch.heading[index].defines : 0;
    uint32_t last[ZSTD_TABLES]; // before this thread's block
    if (threadIdx.x < ZSTD_TABLES)
        work.before[threadIdx.x] = 0;
    for (uint32_t table = 0; table < ZSTD_TABLES; table++) {
        const uint32_t scan = repeat_offsets_scan(defines >> table & 1 ? index + 1 : 0);
        const uint32_t before = __shfl_up_sync(0xffffffffu, scan, 1);
        last[table] = threadIdx.x % 32 ? before : 0;
        if (threadIdx.x % 32 == 31)
            work.of_warp[table][warp] = scan;
    }
    repeat_offsets_look_back(batch, &work, tile, batch.frame[batch.block[tile].frame].first);
    __syncthreads();
    for (uint32_t table = 0; table < ZSTD_TABLES; table++) {
        last[table] = max(last[table], work.before[table]);
        for (unsigned i = 0; i < warp; i++)
            last[table] = max(last[table], work.of_warp[table][i]);
    }
    if (index < batch.blocks && batch.outcome[index].refusal == DECODE_TAKEN)
        repeat_offsets_of_block(batch, index, last);
}

static inline unsigned repeat_offsets_grid(const struct decode_batch *batch, unsigned)
{
    return decode_grid_of_blocks(batch, repeat_offsets_threads);
}

#endif
