// SPDX-License-Identifier: MIT
// pairs: pairs of bytes, all 65,536 of them in one table of a block.
//
// 65,536 counters of 32 bits are more than a block's shared memory holds, so those of the pairs
// whose first byte is in one eighth of all values share words with those of another eighth: the
// lower 20 bits count the one, the upper 12 the other. Which eighth is in the upper bits is chosen
// by a sample, as the one that occurs least: often not at all. A warp whose 512 bytes do not have
// it adds 1 to each counter, which the hardware does at once for all lanes that have the same pair;
// otherwise all its lanes add what their counters need, in one instruction too: two, for the one
// eighth and the others, would have the banks take turns twice.
//
// Nothing may be lost where such a counter comes round. Each thread knows how many it has added to
// upper counters, so that shows in their sum: a lower one that comes round adds one to it, an upper
// one takes 4096 from it. The block looks at it after a round of half a million pairs, and takes
// what has become large out of the shared words; the next round is twice as long if all counters
// in them are small. If the sum is wrong the round is gone through again: what was added to shared
// words is taken back, which leaves them as they were, and counted in global memory instead.
//
// Where a block has less shared memory the first bytes are counted in ranges, as in lanes_values.
#ifndef GPUHISTO_GPU_COUNT_PAIRS_CUH
#define GPUHISTO_GPU_COUNT_PAIRS_CUH

#include "gpu/count/counting.cuh"

// Words from a first byte's counters to the next one's: one more than there are second bytes, or
// all pairs with the same second byte would meet in a bank, as those of a letter and a blank.
constexpr unsigned pairs_stride = 257;

// Of 256 first bytes these have counters of their own, these share them as lower ones, and the
// others as upper ones.
constexpr unsigned pairs_own = 192, pairs_lower = 224;
constexpr unsigned pairs_upper_bit = 20, pairs_upper = 1u << pairs_upper_bit;
constexpr unsigned pairs_shift = (256 - pairs_lower) << 8; // from an upper pair to its lower one
constexpr unsigned pairs_words = pairs_lower * pairs_stride;

// After the table: counters of runs, by their byte; the eighths of a sample; and by how much the
// upper counters are wrong.
constexpr unsigned pairs_runs = pairs_words, pairs_eighths = pairs_runs + 256;
constexpr unsigned pairs_error = pairs_eighths + 8, pairs_all_words = pairs_error + 1;
constexpr unsigned pairs_shared = 226 * 1024; // bytes
static_assert(pairs_all_words * 4 <= pairs_shared, "the table is larger than its memory");

// All pairs at once; or the fewest passes over as many first bytes each as fit into `max` bytes.
static inline struct table_shape shape_of_pairs(unsigned max)
{
    if (max >= pairs_shared)
        return {256 * 256, 1, 0};
    const unsigned firsts = max / (4 * pairs_stride), passes = (256 + firsts - 1) / firsts;
    return {(256 + passes - 1) / passes * 256, passes, 0};
}

// A warp takes 1 KiB at a time, its tile: a lane two vectors, 512 bytes apart.
constexpr unsigned pairs_tile_vectors = 64, pairs_tile = 16 * pairs_tile_vectors;
constexpr unsigned pairs_block = 1024, pairs_warps = pairs_block / 32;

// How many tiles of each warp a round has, at least and at most. Even if all pairs of a round are
// the same, fewer than 4096 lower counters come round, so the sum cannot be right by chance.
constexpr unsigned pairs_round_min = 16, pairs_round_max = 128;
static_assert(1ull * pairs_round_max * pairs_warps * pairs_tile / (pairs_upper / 2) < 4096,
              "a sum that is wrong may look right");

// The data as tiles, each followed by one byte at least; and the bytes before and after them.
struct pair_tiles {
    const uint4 *body;
    unsigned count, head, outside;
};

DEVICE_INLINE unsigned word_of_pair(unsigned pair)
{
    return pair + (pair >> 8);
}

// --- the pairs of a vector ---

// Calls `found` with the pairs that begin in a vector; `next` has the byte after it lowest.
template <bool Aligned, class Found>
DEVICE_INLINE void each_pair(const uint4 &vector, unsigned next, const Found &found)
{
    const unsigned words[5] = {vector.x, vector.y, vector.z, vector.w, next};
    UNROLL for (unsigned i = 0; i < 4; i++)
    {
        const unsigned seam = __funnelshift_r(words[i], words[i + 1], 16);
        found(permute(words[i], 0x4401));
        if (!Aligned)
            found(permute(words[i], 0x4412));
        found(permute(words[i], 0x4423));
        if (!Aligned)
            found(permute(seam, 0x4412));
    }
}

// True if a lane's vector has a first byte whose counters are upper ones: its highest three bits
// are set.
template <bool Aligned> DEVICE_INLINE bool has_upper(const uint4 &vector)
{
    const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
    unsigned all = 0;
    UNROLL for (unsigned word : words) all |= word & word << 1 & word << 2;
    return (all & (Aligned ? 0x00800080u : 0x80808080u)) != 0;
}

// True if all pairs that begin in a vector are of the same byte twice.
template <bool Aligned> DEVICE_INLINE bool is_run(const uint4 &vector, unsigned next)
{
    const unsigned after = Aligned ? vector.x : next;
    return vector.x == vector.y && vector.x == vector.z && vector.x == vector.w &&
           __funnelshift_r(vector.w, after, 8) == vector.x;
}

// --- the pairs of a tile ---

// Calls `found` with each vector of this lane in a tile, all bytes exchanged by `key`, and the byte
// that follows it.
template <class Found>
DEVICE_INLINE void each_vector(const uint4 *tile, unsigned key, const Found &found)
{
    const unsigned lane = threadIdx.x % 32;
    uint4 one = tile[lane], other = tile[32 + lane];
    unsigned beyond = 0;
    if (lane == 31)
        beyond = *reinterpret_cast<const unsigned char *>(tile + pairs_tile_vectors);
    // The first bytes of both vectors, for the lane before this one. The last lane needs that of
    // the first lane's other vector, and the one after the tile.
    const unsigned firsts = __byte_perm(one.x, other.x, 0x4440);
    unsigned nexts = __shfl_sync(0xffffffffu, firsts, static_cast<int>((lane + 1) % 32));
    if (lane == 31)
        nexts = (nexts >> 8 & 0xff) | beyond << 8;
    nexts ^= key;
    one.x ^= key, one.y ^= key, one.z ^= key, one.w ^= key;
    other.x ^= key, other.y ^= key, other.z ^= key, other.w ^= key;
    found(one, nexts);
    found(other, nexts >> 8);
}

// Counts a tile. Returns how many of its pairs were added to upper counters.
template <bool Aligned>
DEVICE_INLINE unsigned count_tile(unsigned *table, const uint4 *tile, unsigned key)
{
    unsigned uppers = 0;
    each_vector(tile, key, [&](const uint4 &vector, unsigned next) {
        if (!__any_sync(0xffffffffu, has_upper<Aligned>(vector))) {
            each_pair<Aligned>(vector, next, [table](unsigned pair) {
                atomicAdd(&table[word_of_pair(pair)], 1u);
            });
        } else if (is_run<Aligned>(vector, next)) {
            atomicAdd(&table[pairs_runs + (vector.x & 0xff)], Aligned ? 8u : 16u);
        } else {
            each_pair<Aligned>(vector, next, [table, &uppers](unsigned pair) {
                const unsigned is_upper = (pair + pairs_shift) >> 16;
                const unsigned lower = pair - is_upper * pairs_shift;
                uppers += is_upper;
                atomicAdd(&table[word_of_pair(lower)], 1u + is_upper * (pairs_upper - 1));
            });
        }
    });
    return uppers;
}

// Takes back what count_tile added to shared words, and adds it to the histogram. Returns how many
// pairs of these were added to upper counters.
template <bool Aligned>
DEVICE_INLINE unsigned recount_tile(const count_args &args, unsigned *table, const uint4 *tile,
                                    unsigned key)
{
    unsigned uppers = 0;
    each_vector(tile, key, [&](const uint4 &vector, unsigned next) {
        const bool are_plain = !__any_sync(0xffffffffu, has_upper<Aligned>(vector));
        const bool were_added = are_plain || !is_run<Aligned>(vector, next);
        each_pair<Aligned>(vector, next, [&](unsigned pair) {
            const bool is_shared = were_added && pair >= pairs_own << 8;
            const unsigned is_upper = is_shared && pair >= pairs_lower << 8;
            const unsigned lane = threadIdx.x % 32, other = 1u << 16 | lane;
            const unsigned alike = __match_any_sync(0xffffffffu, is_shared ? pair : other);
            const unsigned count = static_cast<unsigned>(__popc(alike));
            uppers += is_upper;
            if (!is_shared || static_cast<unsigned>(__ffs(static_cast<int>(alike))) - 1 != lane)
                return;
            atomicAdd(&table[word_of_pair(pair - is_upper * pairs_shift)],
                      0u - count * (is_upper ? pairs_upper : 1));
            add_to_counts(args, pair ^ (key & 0xffff), count);
        });
    });
    return uppers;
}

// --- the shared words ---

// The block together: takes out of the shared words what makes them large. Returns whether there
// was nothing half as large. `uppers` is how many pairs this thread has added to upper counters,
// less those that it has taken out of them.
DEVICE_INLINE bool take_out(const count_args &args, unsigned *table, unsigned key, unsigned *uppers)
{
    constexpr unsigned lower_max = pairs_upper / 2, upper_max = 1u << (31 - pairs_upper_bit);
    bool are_small = true;
    for (unsigned pair = pairs_own << 8 | threadIdx.x; pair < pairs_lower << 8;
         pair += pairs_block) {
        unsigned *const word = &table[word_of_pair(pair)];
        const unsigned lower = *word % pairs_upper, upper = *word >> pairs_upper_bit;
        are_small &= lower < lower_max / 2 && upper < upper_max / 2;
        if (lower >= lower_max) {
            add_to_counts(args, pair ^ (key & 0xffff), lower_max);
            *word -= lower_max;
        }
        if (upper >= upper_max) {
            add_to_counts(args, (pair + pairs_shift) ^ (key & 0xffff), upper_max);
            *word -= upper_max << pairs_upper_bit;
            *uppers -= upper_max;
        }
    }
    return __syncthreads_and(are_small);
}

// The block together: counts the tiles of the last round, its own of [begin, end), again if they
// were not counted rightly. True if the next round may be longer.
template <bool Aligned>
DEVICE_INLINE bool finish(const count_args &args, unsigned *table, const pair_tiles &tiles,
                          unsigned begin, unsigned end, unsigned key, unsigned *uppers)
{
    unsigned error = *uppers;
    __syncthreads();
    for (unsigned pair = pairs_own << 8 | threadIdx.x; pair < pairs_lower << 8; pair += pairs_block)
        error -= table[word_of_pair(pair)] >> pairs_upper_bit;
    if (error)
        atomicAdd(&table[pairs_error], error);
    __syncthreads();
    const bool add_up = table[pairs_error] == 0; // no counter in a shared word has come round
    if (!add_up) {
        for (unsigned tile = begin + threadIdx.x / 32; tile < end; tile += gridDim.x * pairs_warps)
            *uppers -=
                recount_tile<Aligned>(args, table, tiles.body + tile * pairs_tile_vectors, key);
        __syncthreads();
        if (threadIdx.x == 0)
            table[pairs_error] = 0;
    }
    return take_out(args, table, key, uppers) && add_up;
}

// --- the kernel ---

// The block together: chooses the key that bytes are exchanged by, so that those of the rarest
// eighth are in the highest one. Four bytes of each thread are looked at, of every fourth vector
// from the block's first tile on. Returns it four times in a word.
DEVICE_INLINE unsigned choose_key(unsigned *table, const pair_tiles &tiles)
{
    const unsigned *const eighths = table + pairs_eighths;
    const unsigned vector = blockIdx.x * pairs_warps * pairs_tile_vectors + 4 * threadIdx.x;
    if (vector < tiles.count * pairs_tile_vectors) {
        const unsigned word = tiles.body[vector].x;
        UNROLL for (unsigned shift = 0; shift < 32; shift += 8)
            atomicAdd(&table[pairs_eighths + (word >> shift & 0xff) / 32], 1u);
    }
    __syncthreads();
    unsigned rarest = 7;
    for (unsigned eighth = 0; eighth < 7; eighth++)
        if (eighths[eighth] < eighths[rarest])
            rarest = eighth;
    return ((7 ^ rarest) << 5) * 0x01010101u;
}

template <bool Aligned>
DEVICE_INLINE void count_pairs_at_once(const count_args &args, unsigned *table,
                                       const pair_tiles &tiles)
{
    zero(table, pairs_all_words);
    __syncthreads();
    const unsigned key = choose_key(table, tiles), stride = gridDim.x * pairs_warps;
    unsigned uppers = 0, round = pairs_round_min;
    for (unsigned at = blockIdx.x * pairs_warps; at < tiles.count;) {
        const unsigned begin = at;
        for (unsigned n = 0; n < round && at < tiles.count; n++, at += stride) {
            const unsigned tile = at + threadIdx.x / 32;
            if (tile < tiles.count)
                uppers += count_tile<Aligned>(table, tiles.body + tile * pairs_tile_vectors, key);
        }
        const unsigned end = at < tiles.count ? at : tiles.count;
        const bool may_grow = finish<Aligned>(args, table, tiles, begin, end, key, &uppers);
        round = may_grow ? min(2 * round, pairs_round_max) : pairs_round_min;
    }
    for (unsigned pair = threadIdx.x; pair < pairs_lower << 8; pair += pairs_block) {
        const unsigned word = table[word_of_pair(pair)], row = pair ^ (key & 0xffff);
        if (pair < pairs_own << 8) {
            add_to_counts(args, row, word);
        } else {
            add_to_counts(args, row, word % pairs_upper);
            add_to_counts(args, (pair + pairs_shift) ^ (key & 0xffff), word >> pairs_upper_bit);
        }
    }
    for (unsigned byte = threadIdx.x; byte < 256; byte += pairs_block)
        add_to_counts(args, (byte << 8 | byte) ^ (key & 0xffff), table[pairs_runs + byte]);
}

// Counts those pairs alone whose first byte belongs to this block's pass.
template <bool Aligned>
DEVICE_INLINE void count_pairs_in_passes(const count_args &args, unsigned *table,
                                         const pair_tiles &tiles)
{
    const unsigned passes = args.shape.passes, pairs = args.shape.bins;
    const unsigned first = blockIdx.x % passes * pairs;
    zero(table, pairs / 256 * pairs_stride);
    __syncthreads();
    for (unsigned tile = blockIdx.x / passes * pairs_warps + threadIdx.x / 32; tile < tiles.count;
         tile += gridDim.x / passes * pairs_warps)
        each_vector(tiles.body + tile * pairs_tile_vectors, 0,
                    [=](const uint4 &vector, unsigned next) {
                        each_pair<Aligned>(vector, next, [=](unsigned pair) {
                            if (pair - first < pairs)
                                atomicAdd(&table[word_of_pair(pair - first)], 1u);
                        });
                    });
    __syncthreads();
    for (unsigned pair = threadIdx.x; pair < pairs && first + pair < args.map.bins;
         pair += pairs_block)
        add_to_counts(args, first + pair, table[word_of_pair(pair)]);
}

template <bool Aligned> __global__ void __launch_bounds__(pairs_block, 1) pairs(count_args args)
{
    DYNAMIC_SHARED(unsigned, table);
    const vector_span span = vectors_of(args);
    const unsigned len = static_cast<unsigned>(args.len), left = len - span.head;
    const unsigned count = left > 0 ? (left - 1) / pairs_tile : 0;
    const pair_tiles tiles = {span.body, count, span.head, len - count * pairs_tile};
    if (args.shape.passes > 1)
        count_pairs_in_passes<Aligned>(args, table, tiles);
    else
        count_pairs_at_once<Aligned>(args, table, tiles);

    constexpr unsigned step = Aligned ? 2 : 1;
    for (unsigned long long i = step * grid_thread(); i + 1 < tiles.outside;
         i += step * grid_threads()) {
        const unsigned long long at = i < tiles.head ? i : i + 1ull * tiles.count * pairs_tile;
        add_to_counts(args, args.data[at] * 256u + args.data[at + 1], 1);
    }
}

#endif
