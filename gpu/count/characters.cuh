// SPDX-License-Identifier: MIT
// characters: characters of UTF-8, found in planes of bits, and what is not well-formed.
//
// A lane takes 32 bytes, and the 4 before them, as words. Their bits are transposed into planes, in
// which a byte is a bit: what begins a character, and which bytes continue one, are formulas over
// planes, for all bytes at once. A character is counted where it ends, so no lane has to know what
// comes after its bytes.
//
//     bytes     d0 b4 | 20 | e4 b8 ad | b8 | f0 9f                 -> planes of bits 7 ... 0
//     begins     x      x    x           x    x                    1 sample each, if not ASCII
//     ends          x               x                              1 character each
//
// What begins, but never ends, is invalid: a maximal subpart, as WHATWG substitutes U+FFFD. Its
// number is the difference of both, which is taken over all of the launch.
//
// ASCII is counted in columns, as `lanes` counts bytes. Other characters are taken in turn, an end
// a lane: from a copy of the words in shared memory, the four bytes up to the end. They are counted
// in a cache of the block's, of whose counters each is for the first character that asked for its
// place. Those that find no place are taken once more, by the warp together: lanes with the same
// one add to the histogram at once. With groups there is a counter for each of these instead.
#ifndef GPUHISTO_GPU_COUNT_CHARACTERS_CUH
#define GPUHISTO_GPU_COUNT_CHARACTERS_CUH

#include "gpu/count/counting.cuh"
#include "gpu/count/lanes.cuh"

extern "C" {
#include "src/tally/characters.h"
}

constexpr unsigned ascii_rows = 128;
constexpr unsigned lane_bytes = 32;
constexpr unsigned lane_words = lane_bytes / 4 + 1;    // with the word before these
constexpr unsigned plane_words = 5;                    // whose bits are planes: half of the bytes
constexpr unsigned characters_bytes = 32 * lane_bytes; // that a warp takes at a time

// What a block has in shared memory; after it the cache, of as many places as there is room for:
// their owners, and their counts; or a count for each group.
struct character_table {
    unsigned ascii[ascii_rows * lanes_columns];
    unsigned words[CHARACTERS_BLOCK / 32][lane_words * 32]; // of a warp: a column for each lane
};

// Places of the cache, at most.
constexpr unsigned characters_slots_max = 16384;

// As many places of the cache as fit into `max` bytes, a power of two; for groups, a row for each.
static inline struct table_shape shape_for_characters(const struct histogram_spec *spec,
                                                      unsigned max)
{
    struct table_shape shape = {characters_slots_max, 1, 0};
    while (shape.bins > 1 && sizeof(character_table) + shape.bins * 8 > max)
        shape.bins /= 2;
    if (spec->groups)
        shape.bins = CHARACTER_GROUPS_MAX;
    return shape;
}

// --- planes ---

// A mask of all but the bytes of the first word.
constexpr unsigned own_bytes = 0x1e1e1e1e;

// Moves a plane's bits to the bytes that come so many bytes later: from byte 3 of a word to byte 0
// of the next one. Words 5 to 7 have no bits.
template <unsigned Bytes> DEVICE_INLINE unsigned later(unsigned plane)
{
    return plane << 8 * Bytes | plane >> (31 - 8 * Bytes);
}

// The bytes that begin a character, or a part of one, that is not ASCII; and those that end
// characters of several bytes.
struct character_bounds {
    unsigned begins, ends;
};

// Returns the bounds in some words, as table 3-7 of the Unicode Standard has them: the bytes that a
// character begins with, and how the second byte is restricted after some of these.
DEVICE_INLINE character_bounds bounds_in(const unsigned *words)
{
    unsigned p[8] = {};
    UNROLL for (unsigned i = 0; i < plane_words; i++) p[i] = words[i];
    transpose_bits(p);
    const unsigned continues = p[7] & ~p[6], high = p[7] & p[6];
    const unsigned of_3 = high & p[5] & ~p[4], of_f = high & p[5] & p[4];
    const unsigned none = ~(p[3] | p[2] | p[1]); // of bits 3 to 1
    const unsigned of_2 = high & ~p[5] & (p[4] | ~none);
    const unsigned of_4 = of_f & ~p[3] & ~(p[2] & (p[1] | p[0]));

    const unsigned e0 = of_3 & none & ~p[0], ed = of_3 & p[3] & p[2] & ~p[1] & p[0];
    const unsigned f0 = of_f & none & ~p[0], f4 = of_4 & p[2];
    const unsigned from_90 = p[5] | p[4];
    const unsigned wrong = (later<1>(e0) & ~p[5]) | (later<1>(ed) & p[5]) |
                           (later<1>(f0) & ~from_90) | (later<1>(f4) & from_90);

    const unsigned second = continues & ~wrong & later<1>(of_2 | of_3 | of_4);
    const unsigned third = continues & later<1>(second) & later<2>(of_3 | of_4);
    const unsigned fourth = continues & later<1>(third) & later<3>(of_4);
    const unsigned ends = (second & later<1>(of_2)) | (third & later<2>(of_3)) | fourth;
    const unsigned begins = p[7] & ~(second | third | fourth);
    return {begins & own_bytes, ends & own_bytes};
}

// Returns the bounds of all the lane's bytes: word 1 becomes word 0, and so on.
DEVICE_INLINE character_bounds bounds_of(const unsigned (&words)[lane_words])
{
    const character_bounds a = bounds_in(words);
    const character_bounds b = bounds_in(words + plane_words - 1);
    return {a.begins >> 1 | b.begins << 3, a.ends >> 1 | b.ends << 3};
}

// --- characters ---

// Returns the code point of the valid character of two to four bytes that ends with byte `end` of
// planes, from a lane's column of words: six bits of each byte, and the first one's less its marks.
DEVICE_INLINE unsigned character_up_to(const unsigned *column, unsigned end)
{
    const unsigned *const word = column + end % 8 * 32;
    const unsigned bytes = __byte_perm(word[0], word[32], 0x1234 + end / 8 * 0x1111);
    const unsigned six = bytes & 0x3f3f3f3fu;
    const unsigned bits = __dp4a(six, 0x40010000u, 0u) << 12 | __dp4a(six, 0x00004001u, 0u);
    return bits & (bytes & 0x4000u ? 0x7ffu : bytes & 0x400000u ? 0xffffu : 0x1fffffu);
}

// --- counting ---

// The counts of characters that are not ASCII: a row each, or of groups of them.
template <bool Groups> struct character_rows {
    unsigned *owners, *counts; // groups have no owners
    unsigned slots;            // a power of two; of groups their number

    DEVICE_INLINE unsigned bin_of(unsigned character, const sample_map &map)
    {
        const group_map &groups = map.groups;
        if (!Groups)
            return character;
        const unsigned unit = character >> groups.shift, mask = (1u << groups.bits) - 1;
        const unsigned page = __ldg(&groups.table[unit >> groups.bits]);
        return __ldg(&groups.table[groups.units_at + (page << groups.bits | (unit & mask))]);
    }

    // True if the row is counted: it has two places, which others may have taken.
    __device__ __forceinline__ bool count(unsigned row) const
    {
        const auto count_at_slot = [&](unsigned slot) {
            const unsigned at = slot & (slots - 1); // which the compiler does not make of %
            return count_if_own(&owners[at], &counts[at], row);
        };
        if (!Groups)
            return count_at_slot(row) || count_at_slot(row + slots / 2);
        atomicAdd(&counts[row], 1u);
        return true;
    }
};

// Counts the bytes of a word that are ASCII; column is this thread's offset in a row. Others add 0
// somewhere: that takes less than to branch.
DEVICE_INLINE void count_ascii(unsigned char *table, unsigned word, unsigned column)
{
    const unsigned ones = ~word >> 7 & 0x01010101u, rows = word & 0x7f7f7f7fu;
    UNROLL for (unsigned byte = 0; byte < 4; byte++)
    {
        const unsigned offset = __byte_perm(rows, column, 0x5504 | byte << 4);
        atomicAdd(reinterpret_cast<unsigned *>(table + offset),
                  __byte_perm(ones, 0, 0x4440 | byte));
    }
}

template <bool Groups>
static __global__ void __launch_bounds__(CHARACTERS_BLOCK, 1) characters(count_args args)
{
    DYNAMIC_SHARED(character_table, table);
    using character_bins = character_rows<Groups>;
    unsigned *const memory = reinterpret_cast<unsigned *>(table + 1);
    const unsigned slots = args.shape.bins;
    const character_bins rows = {memory, Groups ? memory : memory + slots, slots};
    zero(table->ascii, ascii_rows * lanes_columns);
    zero(rows.counts, slots);
    for (unsigned slot = threadIdx.x; !Groups && slot < slots; slot += blockDim.x)
        rows.owners[slot] = no_bin;
    __syncthreads();

    const unsigned lane = threadIdx.x % 32, all = 0xffffffffu;
    unsigned char *const ascii = reinterpret_cast<unsigned char *>(table->ascii);
    unsigned *const own = table->words[threadIdx.x / 32] + lane;
    const unsigned column = threadIdx.x % lanes_columns * 4;
    const text_span span = span_of(args);
    unsigned invalid = 0; // to be added over all lanes
    for (unsigned long long text = grid_thread() / 32 * characters_bytes; text < span.end;
         text += grid_threads() / 32 * characters_bytes) {
        const uint4 a = vector_at(span, text + lane * lane_bytes, 0);
        const uint4 b = vector_at(span, text + lane * lane_bytes + 16, 0);
        const unsigned any = a.x | a.y | a.z | a.w | b.x | b.y | b.z | b.w;
        if (!__any_sync(all, (any & 0x80808080u) != 0)) {
            count_words(ascii, a, column);
            count_words(ascii, b, column);
            continue;
        }
        unsigned before = __shfl_up_sync(all, b.w, 1);
        if (lane == 0)
            before = text > 0 ? reinterpret_cast<const unsigned *>(span.vectors)[text / 4 - 1] : 0;
        const unsigned words[lane_words] = {before, a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
        UNROLL for (unsigned i = 0; i < lane_words; i++) own[32 * i] = words[i];
        UNROLL for (unsigned i = 1; i < lane_words; i++) count_ascii(ascii, words[i], column);
        const character_bounds bounds = bounds_of(words);
        unsigned left = 0; // ends of those that found no place
        for (unsigned ends = bounds.ends; ends;) {
            const unsigned end = highest_bit(ends);
            ends ^= 1u << end;
            if (!rows.count(character_bins::bin_of(character_up_to(own, end), args.map)))
                left |= 1u << end;
        }
        while (__any_sync(all, left != 0)) {
            unsigned bin = no_bin;
            if (left) {
                const unsigned end = highest_bit(left);
                left ^= 1u << end;
                bin = character_bins::bin_of(character_up_to(own, end), args.map);
            }
            add_alike(args, bin);
        }
        invalid += static_cast<unsigned>(__popc(bounds.begins) - __popc(bounds.ends));
    }
    for (int by = 16; by > 0; by /= 2)
        invalid += __shfl_xor_sync(all, invalid, by);
    const long long sum = static_cast<int>(invalid); // what ends here may have begun elsewhere
    if (lane == 0)
        add_to_counts(args, args.map.bins - 1, static_cast<unsigned long long>(sum));
    // The zeros that stood for bytes outside the data are taken off.
    const unsigned long long texts = (span.end + characters_bytes - 1) / characters_bytes;
    if (grid_thread() == 0)
        add_to_counts(args, character_bins::bin_of(0, args.map),
                      args.len - texts * characters_bytes);
    __syncthreads();
    sum_rows<ascii_rows>(
        table->ascii, [&](unsigned value) { return character_bins::bin_of(value, args.map); },
        [&](unsigned bin, unsigned found) {
            if (Groups)
                atomicAdd(&rows.counts[bin], found);
            else
                add_to_counts(args, bin, found);
        });
    if (Groups)
        __syncthreads();
    for (unsigned slot = threadIdx.x; slot < (Groups ? args.map.bins : slots); slot += blockDim.x)
        add_to_counts(args, Groups ? slot : rows.owners[slot], rows.counts[slot]); // free ones: 0
}

#endif
