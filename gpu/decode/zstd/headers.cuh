// SPDX-License-Identifier: MIT
// The first stages of zstd: what the headers of blocks say, and where the tables are described that
// a block repeats. They wait for those of the batch before, from which they may need tables.
// doc/decoding.md lists what libzstd accepts and the stages of zstd refuse.
//
// parse reads the headers of a block (RFC 8878, sections 3.1.1.3.1 and 3.1.1.3.2), a thread each.
// It takes struct decode_block, and gives struct decode_heading, and an outcome with the refusal
// alone: every later stage may rely on the bounds that it checks. Tables of sequences are described
// one after the other, so a description is gone through to find its end. That of a Huffman table
// says how long it is, and is read by `literals`.
//
// repeats finds the tables that a block takes from one before it in its frame: the nearest that
// defines such a table, or the carry, if the frame goes on from the batch before.
//
// tables leaves for the next batch the descriptions that its first blocks may repeat.
#ifndef GPUHISTO_GPU_DECODE_ZSTD_HEADERS_CUH
#define GPUHISTO_GPU_DECODE_ZSTD_HEADERS_CUH

#include "gpu/decode/stages.h"
#include "gpu/decode/zstd/tables.cuh"

#include <cstddef>

// --- parse ---

constexpr unsigned parse_threads = 128; // of a CUDA block

constexpr uint32_t parse_packed_min = 5;       // bytes of a block with packed literals
constexpr uint32_t parse_four_streams_min = 6; // literals in four streams
constexpr uint32_t parse_four_sizes = 6;       // bytes of the sizes of the first three of them
constexpr uint32_t parse_long_sequences = 0x7f00;

// The first byte of a Huffman table's description, from which on weights are not coded.
constexpr uint32_t huffman_direct = 128;

// The kind of a block's literals, as its header has it.
enum parse_literals { PARSE_RAW, PARSE_RLE, PARSE_PACKED, PARSE_TREELESS };

// The position of a thread in its block, up to `end`.
struct parse_cursor {
    const unsigned char *in;
    uint32_t at, end;

    __device__ __forceinline__ uint32_t left() const
    {
        return end - at;
    }
};

// Parses raw or RLE literals. This and those below return false if the block is refused.
static __device__ bool parse_plain_literals(parse_cursor &cursor, decode_heading &heading, bool raw)
{
    const uint32_t header = bytes_at(cursor.in, cursor.at), format = header >> 2 & 3;
    const uint32_t size = format == 1 ? 2 : format == 3 ? 3 : 1;
    heading.literals_type = raw ? DECODE_LITERALS_RAW : DECODE_LITERALS_RLE;
    heading.literals = size == 1   ? header >> 3 & 0x1f
                       : size == 2 ? header >> 4 & 0xfff
                                   : header >> 4 & 0xfffff;
    const uint32_t bytes = raw ? heading.literals : 1;
    if (size > cursor.left() || bytes > cursor.left() - size)
        return false;
    heading.literals_at = cursor.at + size;
    cursor.at += size + bytes;
    return true;
}

static __device__ bool parse_packed_literals(parse_cursor &cursor, decode_heading &heading,
                                             bool treeless)
{
    if (cursor.left() < parse_packed_min)
        return false;
    const uint64_t header = static_cast<uint64_t>(byte_at(cursor.in, cursor.at + 4)) << 32 |
                            bytes_at(cursor.in, cursor.at);
    const uint32_t format = header >> 2 & 3;
    const uint32_t bits = format == 3 ? 18 : format == 2 ? 14 : 10, mask = (1u << bits) - 1;
    const uint32_t size = static_cast<uint32_t>(header >> 4 >> bits) & mask;
    heading.literals_type = DECODE_LITERALS_PACKED;
    heading.literals = static_cast<uint32_t>(header >> 4) & mask;
    heading.streams = format == 0 ? 1 : 4;
    cursor.at += format == 3 ? 5 : format == 2 ? 4 : 3;
    if (size > cursor.left() || (heading.streams == 4 && heading.literals < parse_four_streams_min))
        return false;
    uint32_t tree = 0;
    heading.tables[ZSTD_HUFFMAN].mode = ZSTD_REPEATED;
    if (!treeless) {
        const uint32_t first = size > 0 ? byte_at(cursor.in, cursor.at) : 0;
        tree = 1 + (first < huffman_direct ? first : (first - huffman_direct + 2) / 2);
        if (tree > size)
            return false;
        heading.tables[ZSTD_HUFFMAN] = {ZSTD_CODED, cursor.at, tree};
        heading.defines |= 1u << ZSTD_HUFFMAN;
    }
    heading.literals_at = cursor.at + tree;
    heading.literals_size = size - tree;
    cursor.at += size;
    // Every stream has a byte at least.
    return heading.literals_size >= (heading.streams == 1 ? 1 : parse_four_sizes + 4);
}

// Finds where the table of one kind is described, and goes on to what follows it.
static __device__ bool parse_table(parse_cursor &cursor, decode_heading &heading, uint32_t table,
                                   uint32_t mode)
{
    const byte_span left = {cursor.at, cursor.left()};
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
    heading.tables[table] = {mode, size > 0 ? cursor.at : 0, size};
    cursor.at += size;
    return true;
}

static __device__ bool parse_sequences(parse_cursor &cursor, decode_heading &heading, uint32_t room)
{
    const uint32_t bytes = bytes_at(cursor.in, cursor.at), first = bytes & 0xff;
    const uint32_t size = first < 0x80 ? 1 : first < 0xff ? 2 : 3;
    if (cursor.left() < size)
        return false;
    heading.sequences = size == 1   ? first
                        : size == 2 ? (first - 0x80) << 8 | (bytes >> 8 & 0xff)
                                    : (bytes >> 8 & 0xffff) + parse_long_sequences;
    cursor.at += size;
    heading.bits_at = cursor.end;
    if (heading.sequences == 0)
        return size == 1 && cursor.at == cursor.end;
    if (cursor.left() == 0)
        return false;
    const uint32_t modes = byte_at(cursor.in, cursor.at++);
    if ((modes & 3) != 0)
        return false;
    for (uint32_t table = ZSTD_LITERAL_LENGTHS; table <= ZSTD_MATCH_LENGTHS; table++)
        if (!parse_table(cursor, heading, table, modes >> (6 - 2 * table) & 3))
            return false;
    heading.bits_at = cursor.at;
    return heading.sequences <= room / DECODE_MATCH_MIN;
}

static __device__ bool parse_block(const decode_batch &batch, const decode_block &block,
                                   decode_heading &heading)
{
    if (block.room > DECODE_BLOCK_CONTENT || block.at > batch.in_size ||
        block.size > batch.in_size - block.at)
        return false;
    if (block.type == DECODE_COMPRESSED) {
        parse_cursor cursor = {batch.in, block.at, block.at + block.size};
        if (block.size < 2 || block.size > DECODE_BLOCK_CONTENT)
            return false;
        const uint32_t type = byte_at(cursor.in, cursor.at) & 3;
        const bool good = type == PARSE_RAW || type == PARSE_RLE
                              ? parse_plain_literals(cursor, heading, type == PARSE_RAW)
                              : parse_packed_literals(cursor, heading, type == PARSE_TREELESS);
        return good && heading.literals <= block.room &&
               parse_sequences(cursor, heading, block.room);
    }
    const bool raw = block.type == DECODE_RAW;
    heading.literals_type = raw ? DECODE_LITERALS_RAW : DECODE_LITERALS_RLE;
    heading.literals = block.room;
    heading.literals_at = block.at;
    heading.bits_at = block.at + block.size;
    return (raw || block.type == DECODE_RLE) && block.size == (raw ? block.room : 1);
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
    if (!parse_block(batch, block, heading)) {
        outcome.refusal = DECODE_BAD;
        parse_clear(heading); // so that it defines nothing
    }
    batch.heading[index] = heading;
    batch.outcome[index] = outcome;
}

// --- repeats ---
//
// A thread takes a block, a CUDA block a tile of as many. A scan over the tile finds the nearest
// block before in it. Only blocks of the frame with which the tile begins may need an earlier one:
// for these the CUDA block looks through the tiles before, one at a time, which for real data ends
// with the first. No thread reads what another writes: `defines` does not change, and a table that
// a block defines does too.

constexpr unsigned repeats_threads = 256; // of a CUDA block; blocks of a tile

// A block is given by its index plus 1, and 0 is none.
struct repeats_work {
    uint32_t of_warp[ZSTD_TABLES][repeats_threads / 32]; // the last that defines it in a warp
    uint32_t before[ZSTD_TABLES];                        // the last before the tile
};

static __global__ void __launch_bounds__(repeats_threads) zstd_repeats(decode_batch batch)
{
    __shared__ repeats_work work;
    const uint32_t tile = blockIdx.x * repeats_threads, index = tile + threadIdx.x;
    const unsigned warp = threadIdx.x / 32;
    const uint32_t defines = index < batch.blocks ? batch.heading[index].defines : 0;
    uint32_t last[ZSTD_TABLES]; // before this thread's block
    if (threadIdx.x < ZSTD_TABLES)
        work.before[threadIdx.x] = 0;
    for (uint32_t table = 0; table < ZSTD_TABLES; table++) {
        const uint32_t scan = warp_max(defines >> table & 1 ? index + 1 : 0);
        const uint32_t before = warp_before(scan, 1);
        last[table] = threadIdx.x % 32 ? before : 0;
        if (threadIdx.x % 32 == 31)
            work.of_warp[table][warp] = scan;
    }
    // The last block before the tile that defines each table, back to the first one of the frame.
    const uint32_t first = batch.frame[batch.block[tile].frame].first;
    for (uint32_t end = tile, begin; end > first; end = begin) {
        begin = end - first > repeats_threads ? end - repeats_threads : first;
        const uint32_t before = begin + threadIdx.x;
        const uint32_t defined = before < end ? batch.heading[before].defines : 0;
        bool found = true;
        __syncthreads();
        for (uint32_t table = 0; table < ZSTD_TABLES; table++)
            if (defined >> table & 1)
                atomicMax(&work.before[table], before + 1);
        __syncthreads();
        for (uint32_t table = 0; table < ZSTD_TABLES; table++)
            found = found && work.before[table] > 0;
        if (found)
            break;
    }
    __syncthreads();
    for (uint32_t table = 0; table < ZSTD_TABLES; table++) {
        last[table] = max(last[table], work.before[table]);
        for (unsigned i = 0; i < warp; i++)
            last[table] = max(last[table], work.of_warp[table][i]);
    }
    if (index >= batch.blocks || batch.outcome[index].refusal != DECODE_TAKEN)
        return;
    const decode_frame frame = batch.frame[batch.block[index].frame];
    for (uint32_t table = 0; table < ZSTD_TABLES; table++) {
        decode_source source = {ZSTD_ABSENT, 0, 0};
        if (batch.heading[index].tables[table].mode != ZSTD_REPEATED)
            continue;
        if (last[table] > frame.first)
            source = batch.heading[last[table] - 1].tables[table];
        else if (!frame.begins)
            source = decode_carry_of(&batch)->tables[table];
        batch.heading[index].tables[table] = source;
        if (source.mode >= ZSTD_REPEATED) // none that it could take
            batch.outcome[index].refusal = DECODE_BAD;
    }
}

// --- tables ---

constexpr unsigned keep_tables_threads = 32 * ZSTD_TABLES;

// A warp for each table looks for the nearest block, from the last one backwards, that has one.
static __global__ void __launch_bounds__(keep_tables_threads) zstd_keep_tables(decode_batch batch)
{
    const decode_frame &frame = batch.frame[batch.frames - 1];
    const unsigned table = threadIdx.x / 32, lane = threadIdx.x % 32;
    decode_carry *const next = reinterpret_cast<decode_carry *>(batch.next);
    decode_source source = {ZSTD_ABSENT, 0, 0};
    if (frame.ends)
        return;
    if (!frame.begins)
        source = decode_carry_of(&batch)->tables[table];
    for (unsigned end = frame.first + frame.blocks, left; end > frame.first;
         end -= min(left, 32u)) {
        left = end - frame.first;
        const bool has =
            lane < left && batch.heading[end - 1 - lane].tables[table].mode != ZSTD_ABSENT;
        const unsigned found = __ballot_sync(all_lanes, has);
        if (found) {
            const unsigned index = end - static_cast<unsigned>(__ffs(static_cast<int>(found)));
            source = batch.heading[index].tables[table];
            break;
        }
    }
    const unsigned size = min(source.size, static_cast<unsigned>(sizeof next->described[0]));
    for (unsigned i = lane; i < size; i += 32)
        next->described[table][i] = batch.in[source.at + i];
    if (lane == 0)
        next->tables[table] = {source.mode,
                               static_cast<unsigned>(offsetof(decode_carry, described) +
                                                     table * sizeof next->described[0]),
                               size};
}

#endif
