// What the strategies share: the arguments of a kernel, what a sample maps to, and the steps that
// are the same in several of them.
#ifndef GPUHISTO_COUNTING_CUH
#define GPUHISTO_COUNTING_CUH

#ifdef __CUDACC__
// Shared memory whose size the launch gives. (The tests' emulation has its own.)
#define DYNAMIC_SHARED(type, name)                                                                 \
    extern __shared__ __align__(16) unsigned char dynamic_shared[];                                \
    type *const name = reinterpret_cast<type *>(dynamic_shared)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

// The parameters of a mapping from bytes to bins.
struct sample_map {
    unsigned bins;
    unsigned reciprocal; // of the letters in a bin: (letter * reciprocal) >> 16 is letter / width
    unsigned fold;       // the bit that turns upper case into lower, or 0
};

// The mapping for a histogram's width and fold. The rounded-up reciprocal is exact for 26 letters:
// it errs by less than 26 / 65536, and quotients lie at least 1 / 26 below the next whole number.
static inline struct sample_map sample_map_of(unsigned bins, unsigned width, bool fold)
{
    return {bins, (65536 + width - 1) / width, fold ? 0x20u : 0u};
}

// What every kernel is given: it adds the bins of data[0..len) to counts[0..map.bins). Data of any
// alignment; len up to 2^32 - 1, so that no 32-bit counter inside overflows.
struct count_args {
    const unsigned char *data;
    unsigned long long len;
    struct sample_map map;
    unsigned long long *counts;
    unsigned *scratch;   // map.bins words a block, for a strategy that asks for them; not zeroed
    unsigned coarsening; // samples a thread, for a strategy that has such a factor
};

// A strategy is a template over one of these. `most` bins is what to make room for; bin_of gives
// the bin of a byte, or `most` if it belongs to none.
struct byte_samples {
    static constexpr unsigned most = 256;

    static __device__ __forceinline__ unsigned bin_of(unsigned byte, const sample_map &)
    {
        return byte;
    }
};

struct letter_samples {
    static constexpr unsigned most = 26;

    static __device__ __forceinline__ unsigned bin_of(unsigned byte, const sample_map &map)
    {
        unsigned letter = (byte | map.fold) - 'a'; // what is below 'a' wraps to a large number
        return letter < most ? letter * map.reciprocal >> 16 : most;
    }
};

// This thread's place in the whole grid, and the grid's size.
static __device__ __forceinline__ unsigned long long grid_thread()
{
    return static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ unsigned long long grid_threads()
{
    return static_cast<unsigned long long>(gridDim.x) * blockDim.x;
}

// Counts one byte into a private copy of 32-bit bins.
template <class Samples>
static __device__ __forceinline__ void count_byte(unsigned *bins, unsigned byte,
                                                  const sample_map &map)
{
    const unsigned bin = Samples::bin_of(byte, map);
    if (bin < Samples::most)
        atomicAdd(&bins[bin], 1u);
}

// The block together: zeroes n words, or adds a copy that all of the block have counted into to the
// histogram. Barriers before and after are the caller's.
static __device__ __forceinline__ void zero(unsigned *words, unsigned n)
{
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
        words[i] = 0;
}

static __device__ __forceinline__ void add_to_counts(const count_args &args, unsigned bin,
                                                     unsigned long long count)
{
    if (count)
        atomicAdd(&args.counts[bin], count);
}

static __device__ __forceinline__ void merge(const count_args &args, const unsigned *bins)
{
    for (unsigned bin = threadIdx.x; bin < args.map.bins; bin += blockDim.x)
        add_to_counts(args, bin, bins[bin]);
}

// Data of any alignment as whole 16-byte vectors, with fewer than 16 bytes before and after them.
struct vector_span {
    const uint4 *body;
    unsigned vectors;
    unsigned head, tail; // bytes
    const unsigned char *tail_data;
};

static __device__ __forceinline__ vector_span vectors_of(const count_args &args)
{
    const unsigned misaligned =
        static_cast<unsigned>(reinterpret_cast<unsigned long long>(args.data) % 16);
    const unsigned len = static_cast<unsigned>(args.len), to_align = (16 - misaligned) % 16;
    const unsigned head = to_align < len ? to_align : len, vectors = (len - head) / 16;
    const unsigned char *const body = args.data + head;
    return {reinterpret_cast<const uint4 *>(body), vectors, head, len - head - vectors * 16,
            body + vectors * 16ull};
}

#endif
