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

#endif
