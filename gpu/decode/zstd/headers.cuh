// SPDX-License-Identifier: MIT
// The first stages of zstd: what the headers of blocks say, and which tables a block repeats.
#ifndef GPUHISTO_GPU_DECODE_ZSTD_HEADERS_CUH
#define GPUHISTO_GPU_DECODE_ZSTD_HEADERS_CUH

#include "gpu/decode/stages.h"
#include "gpu/decode/zstd/tables.cuh"

#include <cstddef>

// --- parse ---

// The stage parse of zstd: reads the headers of blocks (RFC 8878, sections 3.1.1.3.1 and
// 3.1.1.3.2): how literals and sequences are coded, where each table is described, and where bits
// begin.
//
// Takes struct decode_block, gives struct decode_heading, and an outcome with the refusal alone:
// every later stage may rely on the bounds that it checks. Tables of sequences are described one
// after the other, so a description is gone through to find its end. A Huffman table's description
// says how long it is, and is read by `literals`.
//
// What libzstd 1.5.4 accepts and this refuses: reserved bits of the modes that are set, a
// compressed block of less than 2 bytes (libzstd does too, if it sees the whole frame), and, as
// libzstd does not hold a block to its window, blocks of more content than `room`. Not all versions
// of libzstd take a count of 0 sequences in two bytes; this does not.
//
// A thread takes a block. No shared memory.

constexpr uint32_t huffman_direct = 128; // the first byte, from which on they are not
constexpr unsigned parse_threads = 128;  // of a CUDA block

constexpr uint32_t parse_packed_min = 5;       // bytes of a block with packed literals
constexpr uint32_t parse_four_streams_min = 6; // literals in four streams
constexpr uint32_t parse_four_sizes = 6;       // bytes of the sizes of the first three of them
constexpr uint32_t parse_long_sequences = 0x7f00;

// The kind of a block's literals, as its header has it.
enum parse_literals { PARSE_RAW, PARSE_RLE, PARSE_PACKED, PARSE_TREELESS };

// The position of a thread in its block, up to `end`.
struct parse_cursor {
    const unsigned char *in;
    uint32_t at, end;
};

static __device__ __forceinline__ uint32_t parse_left(const parse_cursor &cursor)
{
    return cursor.end - cursor.at;
}

static __device__ __forceinline__ struct decode_source parse_source(uint32_t mode, uint32_t at,
                                                                    uint32_t size)
{
    return {mode, at, size};
}

// Sets how many raw or RLE literals there are, and where they are.
static __device__ decode_refusal parse_plain_literals(parse_cursor &cursor, decode_heading &heading,
                                                      bool raw)
{
    const uint32_t header = bytes_at(cursor.in, cursor.at), format = header >> 2 & 3;
    const uint32_t size = format == 1 ? 2 : format == 3 ? 3 : 1;
    heading.literals_type = raw ? DECODE_LITERALS_RAW : DECODE_LITERALS_RLE;
    heading.literals = size == 1   ? header >> 3 & 0x1f
                       : size == 2 ? header >> 4 & 0xfff
                                   : header >> 4 & 0xfffff;
    const uint32_t bytes = raw ? heading.literals : 1;
    if (size > parse_left(cursor) || bytes > parse_left(cursor) - size)
        return DECODE_BAD;
    heading.literals_at = cursor.at + size;
    cursor.at += size + bytes;
    return DECODE_TAKEN;
}

// Parses the `size` bytes after the header of packed literals: the tree, if there is one, and the
// streams.
static __device__ decode_refusal parse_tree(parse_cursor &cursor, decode_heading &heading,
                                            uint32_t size, bool treeless)
{
    uint32_t tree = 0;
    if (!treeless) {
        const uint32_t first = size > 0 ? byte_at(cursor.in, cursor.at) : 0;
        tree = 1 + (first < huffman_direct ? first : (first - huffman_direct + 2) / 2);
        if (tree > size)
            return DECODE_BAD;
        heading.tables[ZSTD_HUFFMAN] = parse_source(ZSTD_CODED, cursor.at, tree);
        heading.defines |= 1u << ZSTD_HUFFMAN;
    } else
        heading.tables[ZSTD_HUFFMAN] = parse_source(ZSTD_REPEATED, 0, 0);
    heading.literals_at = cursor.at + tree;
    heading.literals_size = size - tree;
    cursor.at += size;
    // Every stream has a byte at least.
    const uint32_t min = heading.streams == 1 ? 1 : parse_four_sizes + 4;
    return heading.literals_size >= min ? DECODE_TAKEN : DECODE_BAD;
}

static __device__ decode_refusal parse_packed_literals(parse_cursor &cursor,
                                                       decode_heading &heading, bool treeless)
{
    if (parse_left(cursor) < parse_packed_min)
        return DECODE_BAD;
    const uint64_t header = static_cast<uint64_t>(byte_at(cursor.in, cursor.at + 4)) << 32 |
                            bytes_at(cursor.in, cursor.at);
    const uint32_t format = header >> 2 & 3;
    const uint32_t bits = format == 3 ? 18 : format == 2 ? 14 : 10, mask = (1u << bits) - 1;
    const uint32_t size = static_cast<uint32_t>(header >> 4 >> bits) & mask;
    heading.literals_type = DECODE_LITERALS_PACKED;
    heading.literals = static_cast<uint32_t>(header >> 4) & mask;
    heading.streams = format == 0 ? 1 : 4;
    cursor.at += format == 3 ? 5 : format == 2 ? 4 : 3;
    if (size > parse_left(cursor) ||
        (heading.streams == 4 && heading.literals < parse_four_streams_min))
        return DECODE_BAD;
    return parse_tree(cursor, heading, size, treeless);
}

static __device__ decode_refusal parse_literals_section(parse_cursor &cursor,
                                                        decode_heading &heading, uint32_t room)
{
    const uint32_t type = byte_at(cursor.in, cursor.at) & 3;
    const decode_refusal refusal =
        type == PARSE_RAW || type == PARSE_RLE
            ? parse_plain_literals(cursor, heading, type == PARSE_RAW)
            : parse_packed_literals(cursor, heading, type == PARSE_TREELESS);
    return refusal == DECODE_TAKEN && heading.literals > room ? DECODE_BAD : refusal;
}

// Reads how many sequences there are; false if the bytes end before.
static __device__ bool parse_sequence_count(parse_cursor &cursor, uint32_t *count)
{
    const uint32_t left = parse_left(cursor);
    const uint32_t bytes = bytes_at(cursor.in, cursor.at), first = bytes & 0xff;
    const uint32_t size = first < 0x80 ? 1 : first < 0xff ? 2 : 3;
    if (left < size)
        return false;
    *count = size == 1   ? first
             : size == 2 ? (first - 0x80) << 8 | (bytes >> 8 & 0xff)
                         : (bytes >> 8 & 0xffff) + parse_long_sequences;
    cursor.at += size;
    return size == 1 || *count > 0;
}

// Finds where the table of one kind is described, and goes on to what follows it.
static __device__ bool parse_table(parse_cursor &cursor, decode_heading &heading, uint32_t table,
                                   uint32_t mode)
{
    const byte_span left = {cursor.at, parse_left(cursor)};
    uint32_t size = 0;
    if (mode == ZSTD_ONE_SYMBOL) {
        if (left.size == 0 || byte_at(cursor.in, left.at) > sequence_code_max(table))
            return false;
        size = 1;
    } else if (mode == ZSTD_CODED) {
        size = fse_read(cursor.in, left, sequence_code_max(table), sequence_log_max(table),
                        [](uint32_t, fse_count) {})
                   .used;
        if (size == 0)
            return false;
    }
    if (mode != ZSTD_REPEATED)
        heading.defines |= 1u << table;
    heading.tables[table] = parse_source(mode, size > 0 ? cursor.at : 0, size);
    cursor.at += size;
    return true;
}

static __device__ decode_refusal parse_sequences_section(parse_cursor &cursor,
                                                         decode_heading &heading, uint32_t room)
{
    if (!parse_sequence_count(cursor, &heading.sequences))
        return DECODE_BAD;
    heading.bits_at = cursor.end;
    if (heading.sequences == 0)
        return cursor.at == cursor.end ? DECODE_TAKEN : DECODE_BAD;
    if (parse_left(cursor) == 0)
        return DECODE_BAD;
    const uint32_t modes = byte_at(cursor.in, cursor.at++);
    if ((modes & 3) != 0)
        return DECODE_BAD;
    for (uint32_t table = ZSTD_LITERAL_LENGTHS; table <= ZSTD_MATCH_LENGTHS; table++)
        if (!parse_table(cursor, heading, table, modes >> (6 - 2 * table) & 3))
            return DECODE_BAD;
    heading.bits_at = cursor.at;
    return heading.sequences <= room / DECODE_MATCH_MIN ? DECODE_TAKEN : DECODE_BAD;
}

static __device__ decode_refusal parse_compressed(const decode_batch &batch,
                                                  const decode_block &block,
                                                  decode_heading &heading)
{
    parse_cursor cursor = {batch.in, block.at, block.at + block.size};
    if (block.size < 2 || block.size > DECODE_BLOCK_CONTENT)
        return DECODE_BAD;
    const decode_refusal refusal = parse_literals_section(cursor, heading, block.room);
    return refusal != DECODE_TAKEN ? refusal : parse_sequences_section(cursor, heading, block.room);
}

// Parses a block. Returns why it is refused.
static __device__ decode_refusal parse_block(const decode_batch &batch, const decode_block &block,
                                             decode_heading &heading)
{
    if (block.room > DECODE_BLOCK_CONTENT || block.at > batch.in_size ||
        block.size > batch.in_size - block.at)
        return DECODE_BAD;
    if (block.type == DECODE_COMPRESSED)
        return parse_compressed(batch, block, heading);
    const bool raw = block.type == DECODE_RAW;
    heading.literals_type = raw ? DECODE_LITERALS_RAW : DECODE_LITERALS_RLE;
    heading.literals = block.room;
    heading.literals_at = block.at;
    heading.bits_at = block.at + block.size;
    return (raw || block.type == DECODE_RLE) && block.size == (raw ? block.room : 1) ? DECODE_TAKEN
                                                                                     : DECODE_BAD;
}

static __device__ void parse_clear(decode_heading &heading)
{
    heading = {};
    UNROLL for (decode_source &table : heading.tables) table.mode = ZSTD_ABSENT;
}

static __global__ void __launch_bounds__(parse_threads) zstd_parse(decode_batch batch)
{
    const unsigned index = blockIdx.x * parse_threads + threadIdx.x;
    if (index >= batch.blocks)
        return;
    const decode_block block = batch.block[index];
    decode_heading heading;
    decode_outcome outcome = {};
    parse_clear(heading);
    outcome.refusal = parse_block(batch, block, heading);
    if (outcome.refusal != DECODE_TAKEN)
        parse_clear(heading); // so that it defines nothing
    batch.heading[index] = heading;
    batch.outcome[index] = outcome;
}

static inline unsigned parse_grid(const struct decode_batch *batch, unsigned)
{
    return decode_grid_of_blocks(batch, parse_threads);
}

// --- the tables that are repeated ---

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
            batch.outcome[index].refusal = DECODE_BAD;
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

// --- the tables for the next batch ---

constexpr unsigned ZSTD_KEEP_TABLES_THREADS = 32 * ZSTD_TABLES;

// Returns the table that the next block of the frame would repeat, by all lanes of a warp.
static __device__ inline decode_source keep_table(const decode_batch &batch,
                                                  const decode_frame &frame, unsigned table)
{
    for (unsigned end = frame.first + frame.blocks; end > frame.first;) {
        const unsigned lane = threadIdx.x % 32, left = end - frame.first;
        const bool has =
            lane < left && batch.heading[end - 1 - lane].tables[table].mode != ZSTD_ABSENT;
        const unsigned found = __ballot_sync(0xffffffffu, has);
        if (found)
            return batch.heading[end - static_cast<unsigned>(__ffs(static_cast<int>(found)))]
                .tables[table];
        end -= min(left, 32u);
    }
    if (!frame.begins)
        return reinterpret_cast<const decode_carry *>(batch.in)->tables[table];
    return {ZSTD_ABSENT, 0, 0};
}

// Writes the table and its description to the next carry, by all lanes of a warp.
static __device__ inline void keep_described(const decode_batch &batch, const decode_frame &frame,
                                             unsigned table)
{
    decode_carry *const next = reinterpret_cast<decode_carry *>(batch.next);
    const decode_source source = keep_table(batch, frame, table);
    const unsigned size = source.mode == ZSTD_CODED || source.mode == ZSTD_ONE_SYMBOL
                              ? min(source.size, static_cast<unsigned>(sizeof next->described[0]))
                              : 0;
    for (unsigned i = threadIdx.x % 32; i < size; i += 32)
        next->described[table][i] = batch.in[source.at + i];
    if (threadIdx.x % 32 == 0)
        next->tables[table] = {source.mode,
                               static_cast<unsigned>(offsetof(decode_carry, described) +
                                                     table * sizeof next->described[0]),
                               size};
}

static inline unsigned keep_tables_grid(const struct decode_batch *, unsigned)
{
    return 1;
}

static __global__ void __launch_bounds__(ZSTD_KEEP_TABLES_THREADS)
    zstd_keep_tables(decode_batch batch)
{
    const decode_frame &frame = batch.frame[decode_frame_count(&batch) - 1];
    if (!frame.ends)
        keep_described(batch, frame, threadIdx.x / 32);
}

#endif
