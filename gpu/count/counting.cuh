// SPDX-License-Identifier: MIT
// What the strategies share: the arguments of a kernel, what a sample maps to, and the steps that
// are the same in several of them.
#ifndef GPUHISTO_GPU_COUNT_COUNTING_CUH
#define GPUHISTO_GPU_COUNT_COUNTING_CUH

#include <algorithm>

#include "gpu/count/rows.cuh"

extern "C" {
#include "gpu/count/strategy.h"
#include "src/tally/histogram_spec.h"
}

// The parameters of a mapping from samples to bins.
struct sample_map {
    unsigned bins;
    unsigned reciprocal; // of the letters in a bin: (letter * reciprocal) >> 16 is letter / width
    unsigned fold;       // the bit that turns upper case into lower, or 0
    struct row_map rows; // of values
    struct line_field field; // of numbers in lines
    struct group_map groups; // of characters
};

// Returns the mapping of a histogram, without the table of its values' rows or characters' groups.
// The rounded-up reciprocal is exact for 26 letters: it errs by less than 26 / 65536, and quotients
// lie at least 1 / 26 below the next whole number.
static inline struct sample_map sample_map_of(const struct histogram_spec *spec)
{
    struct sample_map map = {};
    map.bins = static_cast<unsigned>(spec->bins);
    if (spec->width)
        map.reciprocal = (65536 + spec->width - 1) / spec->width;
    map.fold = spec->fold ? 0x20u : 0u;
    if (spec->mode->is_binned)
        map.rows = row_map_of(spec);
    const struct field *const field = &spec->lines.field;
    if (line_field_takes(field)) {
        map.field = {field->kind,
                     field->number,
                     field->separator,
                     static_cast<unsigned>(field->after_len),
                     {}};
        std::copy_n(field->after, field->after_len, map.field.after); // after may be null
    }
    map.groups = group_map_of(spec);
    return map;
}

// The tables of a strategy whose tables need not hold all bins at once: blocks count in turn the
// bins of one pass or the other, in as many columns, a power of two, as fit.
struct table_shape {
    unsigned bins; // of a pass, or places of a cache
    unsigned passes;
    unsigned columns_log;
};

// The tables of a strategy that first sorts values into ranges of bins (partitioned.cuh). There is
// room for partition_ranges_max of them, a multiple of 32.
constexpr unsigned partition_ranges_max = 288;

struct partition_shape {
    unsigned ranges;     // of the bins, partition_ranges_max at most
    unsigned reciprocal; // of that: (x * reciprocal) >> 32 is x / ranges, of a group of bins x
    unsigned rows;       // of a range's table, below 65536: a multiple of 16
    unsigned tiles;      // the most of a launch: a multiple of 4
    unsigned tile_values;
    unsigned tile; // room for those, sorted: a multiple of 8
};

// The arguments of every kernel, which adds the bins of data[0..len) to counts[0..map.bins), and of
// text its newlines to counts[map.bins]. Data are whole samples, at any multiple of their size; len
// up to 2^32 - 1, so that no 32-bit counter inside overflows.
struct count_args {
    const unsigned char *data;
    unsigned long long len;
    struct sample_map map;
    unsigned long long *counts;
    unsigned *scratch;   // as many words as launch_scratch says; launch_all zeroes what must be
    unsigned coarsening; // samples a thread, for a strategy that has such a factor
    unsigned blocks;     // of the first kernel
    struct table_shape shape;
    struct partition_shape partition;
    const struct power *powers; // number_powers(), for numbers
    unsigned *rest; // words_for_rest(len) of them, for numbers: a count, and so many offsets
};

// Returns the words of args.rest for text of len bytes. A number that is put off for the second
// kernel has 20 digits or more, and is followed by white space unless it is the last.
static inline unsigned long long words_for_rest(unsigned long long len)
{
    return 1 + (len + 1) / 21;
}

// Blocks of 1024 that a multiprocessor has threads for, 2048 or fewer of them; the compiler is to
// keep them within its registers.
#if defined __CUDA_ARCH__ && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 ||                      \
                              (__CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1100))
constexpr unsigned resident_of_1024 = 2;
#else
constexpr unsigned resident_of_1024 = 1;
#endif

// --- samples ---
//
// A strategy is a template over one of these. bin_at gives the bin of sample i, or no_bin if it
// belongs to none; each calls `found` with the bin of every sample of a vector; count is how many
// samples that many bytes are.

constexpr unsigned no_bin = ~0u;

// Samples of a byte: Of::bin_of gives the bin of one.
template <class Of> struct samples_of_a_byte {
    DEVICE_INLINE unsigned long long count(const sample_map &, unsigned long long len)
    {
        return len;
    }

    DEVICE_INLINE unsigned bin_at(const count_args &args, unsigned long long i)
    {
        return Of::bin_of(args.data[i], args.map);
    }

    template <class Found>
    DEVICE_INLINE void each(const uint4 &vector, const sample_map &map, const Found &found)
    {
        const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
        UNROLL for (unsigned word : words) UNROLL for (unsigned shift = 0; shift < 32; shift += 8)
            found(Of::bin_of(word >> shift & 0xff, map));
    }
};

struct byte_samples : samples_of_a_byte<byte_samples> {
    DEVICE_INLINE unsigned bin_of(unsigned byte, const sample_map &)
    {
        return byte;
    }
};

struct letter_samples : samples_of_a_byte<letter_samples> {
    DEVICE_INLINE unsigned bin_of(unsigned byte, const sample_map &map)
    {
        unsigned letter = (byte | map.fold) - 'a'; // what is below 'a' wraps to a large number
        return letter < 26 ? letter * map.reciprocal >> 16 : no_bin;
    }
};

// Values of a byte.
struct byte_value_samples : samples_of_a_byte<byte_value_samples> {
    DEVICE_INLINE unsigned bin_of(unsigned byte, const sample_map &map)
    {
        return static_cast<const unsigned *>(map.rows.table)[byte];
    }
};

// Values of any type, which all threads of a launch have in common.
struct value_samples {
    DEVICE_INLINE unsigned long long count(const sample_map &map, unsigned long long len)
    {
        return len >> map.rows.size_log;
    }

    DEVICE_INLINE unsigned bin_at(const count_args &args, unsigned long long i)
    {
        return row_of_bits(args.map.rows, value_bits_at(args.map.rows, args.data, i));
    }

    template <class Found>
    DEVICE_INLINE void each(const uint4 &vector, const sample_map &map, const Found &found)
    {
        const auto found_bits = [&](unsigned long long bits) {
            found(row_of_bits(map.rows, bits));
        };
        if (map.rows.size == 1)
            byte_value_samples::each(vector, map, found);
        else if (map.rows.size == 2)
            each_value<2>(vector, map.rows, found_bits);
        else if (map.rows.size == 4)
            each_value<4>(vector, map.rows, found_bits);
        else
            each_value<8>(vector, map.rows, found_bits);
    }
};

// --- steps ---

// Return this thread's place in the whole grid, and the grid's size.
DEVICE_INLINE unsigned long long grid_thread()
{
    return static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

DEVICE_INLINE unsigned long long grid_threads()
{
    return static_cast<unsigned long long>(gridDim.x) * blockDim.x;
}

// Counts one sample into a private copy of 32-bit bins.
DEVICE_INLINE void count_bin(unsigned *bins, unsigned bin)
{
    if (bin != no_bin)
        atomicAdd(&bins[bin], 1u);
}

// The block together: zeroes n words, or adds a copy that all of the block have counted into to the
// histogram. Barriers before and after are the caller's.
DEVICE_INLINE void zero(unsigned *words, unsigned n)
{
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        words[i] = 0;
}

DEVICE_INLINE void add_to_counts(const count_args &args, unsigned bin, unsigned long long count)
{
    if (count)
        atomicAdd(&args.counts[bin], count);
}

DEVICE_INLINE void merge(const count_args &args, const unsigned *bins)
{
    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x)
        add_to_counts(args, bin, bins[bin]);
}

// Data of any alignment as whole 16-byte vectors, with fewer than 16 bytes before and after them.
struct vector_span {
    const uint4 *body;
    unsigned vectors;
    unsigned head, tail; // bytes
};

DEVICE_INLINE vector_span vectors_of(const count_args &args)
{
    const unsigned misaligned =
        static_cast<unsigned>(reinterpret_cast<unsigned long long>(args.data) % 16);
    const unsigned len = static_cast<unsigned>(args.len), to_align = (16 - misaligned) % 16;
    const unsigned head = to_align < len ? to_align : len, vectors = (len - head) / 16;
    return {reinterpret_cast<const uint4 *>(args.data + head), vectors, head,
            len - head - vectors * 16};
}

// Calls `found` with the bins of the samples before and after the vectors: the first threads of the
// grid, by their number `thread`, have one each.
template <class Samples, class Found>
DEVICE_INLINE void each_outside(const count_args &args, const vector_span &span,
                                unsigned long long thread, const Found &found)
{
    const unsigned long long tail = Samples::count(args.map, span.tail);
    if (thread < Samples::count(args.map, span.head))
        found(Samples::bin_at(args, thread));
    if (thread < tail)
        found(Samples::bin_at(args, Samples::count(args.map, args.len) - tail + thread));
}

// Exchanges the bits of `a` that the mask leaves out with those of `b` that are `shift` below them.
DEVICE_INLINE void exchange_bits(unsigned &a, unsigned &b, unsigned mask, unsigned shift)
{
    constexpr unsigned select = (lop3_a & lop3_b) | (lop3_c & ~lop3_b); // a where b is set, else c
    const unsigned low = lop3<select>(a, mask, b << shift);
    b = lop3<select>(a >> shift, mask, b);
    a = low;
}

// Turns 32 bytes into planes: bit 8 * b + w of plane k is bit k of byte b of word w.
DEVICE_INLINE void transpose_bits(unsigned (&w)[8])
{
    UNROLL for (unsigned i = 0; i < 4; i++) exchange_bits(w[i], w[i + 4], 0x0f0f0f0fu, 4);
    UNROLL for (unsigned i = 0; i < 8; i += 4)
    {
        exchange_bits(w[i], w[i + 2], 0x33333333u, 2);
        exchange_bits(w[i + 1], w[i + 3], 0x33333333u, 2);
    }
    UNROLL for (unsigned i = 0; i < 8; i += 2) exchange_bits(w[i], w[i + 1], 0x55555555u, 1);
}

// Text of any alignment as vectors, the first and the last of which may lie partly outside.
// `begin` and `end` are offsets from the first vector.
struct text_span {
    const uint4 *vectors;
    unsigned begin;
    unsigned long long end;
};

DEVICE_INLINE text_span span_of(const count_args &args)
{
    const unsigned begin =
        static_cast<unsigned>(reinterpret_cast<unsigned long long>(args.data) % 16);
    return {reinterpret_cast<const uint4 *>(args.data - begin), begin, begin + args.len};
}

// Returns the vector at an offset, with `blank` for each byte that is outside.
DEVICE_INLINE uint4 vector_at(const text_span &span, unsigned long long offset, unsigned char blank)
{
    if (offset >= span.begin && offset + 16 <= span.end)
        return span.vectors[offset / 16];
    const unsigned char *const bytes = reinterpret_cast<const unsigned char *>(span.vectors);
    unsigned long long halves[2] = {0, 0};
    for (unsigned i = 16; i-- > 0;) {
        const bool inside = offset + i >= span.begin && offset + i < span.end;
        halves[1] = halves[1] << 8 | halves[0] >> 56;
        halves[0] = halves[0] << 8 | (inside ? bytes[offset + i] : blank);
    }
    return make_uint4(static_cast<unsigned>(halves[0]), static_cast<unsigned>(halves[0] >> 32),
                      static_cast<unsigned>(halves[1]), static_cast<unsigned>(halves[1] >> 32));
}

// --- a block's cache of counters, each for the first bin that asked for its place ---

template <unsigned Slots> struct bin_cache {
    static constexpr unsigned slots = Slots;
    unsigned bins[slots]; // no_bin: free
    unsigned counts[slots];
};

// The block together: empties the cache; a barrier after it is the caller's.
template <unsigned Slots> DEVICE_INLINE void open_cache(bin_cache<Slots> &cache)
{
    for (unsigned slot = threadIdx.x; slot < Slots; slot += blockDim.x) {
        cache.bins[slot] = no_bin;
        cache.counts[slot] = 0;
    }
}

// Counts a bin so many times in a counter, if that is its own or free. True if it is counted.
DEVICE_INLINE bool count_if_own(unsigned *owner, unsigned *counter, unsigned bin,
                                unsigned count = 1)
{
    unsigned own = load_relaxed(owner);
    if (own == no_bin) {
        own = atomicCAS(owner, no_bin, bin);
        own = own == no_bin ? bin : own;
    }
    if (own == bin)
        atomicAdd(counter, count);
    return own == bin;
}

// Counts a bin at a place of the cache, as count_if_own does.
template <unsigned Slots>
DEVICE_INLINE bool count_at(bin_cache<Slots> &cache, unsigned slot, unsigned bin,
                            unsigned count = 1)
{
    return count_if_own(&cache.bins[slot], &cache.counts[slot], bin, count);
}

// The block together: adds what was counted to the histogram; a barrier before it is the caller's.
template <unsigned Slots>
DEVICE_INLINE void merge_cache(const bin_cache<Slots> &cache, const count_args &args)
{
    for (unsigned slot = threadIdx.x; slot < Slots; slot += blockDim.x)
        add_to_counts(args, cache.bins[slot], cache.counts[slot]); // a free slot has no count
}

// The warp together: adds the lanes' bins to the histogram, once for all lanes whose bins are
// alike. Lanes without a sample have no_bin.
DEVICE_INLINE void add_alike(const count_args &args, unsigned bin)
{
    const unsigned alike = __match_any_sync(0xffffffffu, bin);
    const unsigned lanes_below = (1u << threadIdx.x % 32) - 1;
    if (bin != no_bin && !(alike & lanes_below))
        atomicAdd(&args.counts[bin], static_cast<unsigned long long>(__popc(alike)));
}

// --- runs of a value ---
//
// Runs would have the lanes of a warp meet at one counter again and again. They are counted in a
// cache of the block, each for the first bin that asked for its place, and where the place is
// taken, in the histogram, which then takes one addition for many values.

using run_cache = bin_cache<1024>;

// Lanes with a run that are worth the search for those that are alike.
constexpr unsigned run_lanes_min = 8;

// The warp together. Counts the values of lanes that have but one, if there are many such lanes.
// True if those of this lane have been counted; never if they are not `in` what is to be counted.
template <unsigned Number>
DEVICE_INLINE bool acquire_run(run_cache &runs, const count_args &args,
                               const unsigned (&rows)[Number], bool in)
{
    // Few lanes have two values alike, where there are no runs.
    const unsigned maybe = __ballot_sync(0xffffffffu, in && rows[1] == rows[0]);
    if (static_cast<unsigned>(__popc(maybe)) < run_lanes_min)
        return false;
    bool alike = in;
    UNROLL for (unsigned i = 1; i < Number; i++) alike &= rows[i] == rows[0];
    const unsigned same = __match_any_sync(0xffffffffu, alike ? rows[0] : no_bin);
    if (alike && !(same & ((1u << threadIdx.x % 32) - 1))) {
        const unsigned count = Number * static_cast<unsigned>(__popc(same));
        if (!count_at(runs, rows[0] % run_cache::slots, rows[0], count))
            atomicAdd(&args.counts[rows[0]], static_cast<unsigned long long>(count));
    }
    return alike;
}

// --- counters of a byte, four of them in a word ---
//
// Counter i is byte i of the table. An atomic adds to the whole word, so that a counter which
// passes 255 carries one into the next, or out of the word. The atomic gives the word as it was
// before: the lane that made the carry, and no other, sees it there, and notes it.
//
// Why that is exact, in whatever order the lanes add: let c0 to c3 be what was added to the four
// counters of a word, and k0 to k3 how many carries left each. All additions together are the sum
// of the c times 256^i, of which the word holds what is left modulo 2^32. By the rule of written
// addition, applied once for each atomic, its bytes b0 to b3 are
//
//     bi = ci + k(i-1) - 256 * ki, with k(-1) = 0,
//
// hence ci = bi + 256 * ki - k(i-1). Carries are counted in a cache, each for the first counter
// that asked for its place, and in the histogram itself where the place is taken.

// The rows that a table's counters are for: eight neighbouring ones from 8 * first on, the next
// eight `step` times as far on, and so on. A counter whose row would be `end` or above has none.
struct table_rows {
    unsigned first, step, end;
};

DEVICE_INLINE unsigned row_at(const table_rows &rows, unsigned index)
{
    const unsigned row = (rows.first + index / 8 * rows.step) * 8 + index % 8;
    return row < rows.end ? row : no_bin;
}

// A cache of carries: how many left each counter, by its index.
using carry_cache = bin_cache<1024>;

struct byte_counters {
    unsigned *words; // shared memory: `size` bytes, and where adding is checked 32 words for
                     // what is counted nowhere
    unsigned size;   // counters
    carry_cache *carries;
    table_rows rows;
    unsigned long long *counts; // the histogram
};

// Adds to the histogram what carries out of a counter amount to: 256 each, of which one has gone
// into the next counter of the word.
DEVICE_INLINE void finish_carries(const byte_counters &counters, unsigned index,
                                  unsigned long long carries)
{
    const unsigned row = row_at(counters.rows, index), next = row_at(counters.rows, index + 1);
    if (row != no_bin)
        atomicAdd(&counters.counts[row], 256 * carries);
    if (index % 4 < 3 && next != no_bin)
        atomicAdd(&counters.counts[next], 0 - carries); // modulo 2^64
}

// Notes the carries of adding one to counter `index`, where the word was `before`: one out of it,
// and as long as the next one is full, one out of that.
inline __device__ OUT_OF_LINE void record_carries(byte_counters counters, unsigned index,
                                                  unsigned before)
{
    for (; index < counters.size && (before >> index % 4 * 8 & 255) == 255; index++) {
        if (!count_at(*counters.carries, index % carry_cache::slots, index))
            finish_carries(counters, index, 1);
        if (index % 4 == 3)
            return;
    }
}

// The words of a lane's counters before one was added to each. (With masks of the counters in these
// words, kept instead of made again, registers spill.)
template <unsigned Number> struct counters_before {
    unsigned indices[Number], words[Number];
};

// Returns a one where this counter is in its word: shifted by the lowest 5 bits of a number.
DEVICE_INLINE unsigned one_at(unsigned index)
{
    return __funnelshift_l(0, 1, index * 8);
}

// Adds one to each of the counters of a lane. If they are Checked, an index of `size` or more is
// none: zero is added to a word of the lane's own then, which is faster than a branch.
template <bool Checked, unsigned Number>
DEVICE_INLINE void add_to_counters(const byte_counters &counters, counters_before<Number> &before)
{
    const unsigned none = counters.size + threadIdx.x % 32 * 4;
    UNROLL for (unsigned i = 0; i < Number; i++)
    {
        const unsigned index = before.indices[i], one = one_at(index);
        const bool in = !Checked || index < counters.size;
        before.words[i] = atomicAdd(&counters.words[(in ? index : none) / 4], in ? one : 0);
    }
}

// Notes the carries of all these counters. This is a function of its own, so that other work can be
// done while the atomics are.
template <unsigned Number>
DEVICE_INLINE void record_all_carries(const byte_counters &counters,
                                      const counters_before<Number> &before)
{
    bool carried = false;
    UNROLL for (unsigned i = 0; i < Number; i++) carried |=
        !(~before.words[i] & 255 * one_at(before.indices[i]));
    if (carried)
        UNROLL for (unsigned i = 0; i < Number; i++)
            record_carries(counters, before.indices[i], before.words[i]);
}

// The block together, with a barrier after it: adds the carries to the histogram.
DEVICE_INLINE void finish_all_carries(const byte_counters &counters)
{
    const carry_cache &carries = *counters.carries;
    for (unsigned slot = threadIdx.x; slot < carry_cache::slots; slot += blockDim.x)
        if (carries.counts[slot])
            finish_carries(counters, carries.bins[slot], carries.counts[slot]);
}

#endif
