// What a sample maps to: the part of a kernel that knows what is counted.
//
// A strategy is a template over one of these. `most` bins is what to make room for; bin_of gives
// the bin of a byte, or `most` or more if it belongs to none.
#ifndef GPUHISTO_SAMPLES_CUH
#define GPUHISTO_SAMPLES_CUH

// The parameters of a mapping, passed to the kernel by value.
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

#endif
