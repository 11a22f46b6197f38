// SPDX-License-Identifier: MIT
// Reads bytes and bits of a batch's compressed bytes, by one thread.
//
// `in` begins at a multiple of 16 bytes. It is read in whole aligned words of 32 or 64 bits, so
// that up to 7 bytes after what is asked for are read, but not used: DECODE_PADDING makes them
// readable.
#ifndef GPUHISTO_ZSTD_BITS_CUH
#define GPUHISTO_ZSTD_BITS_CUH

#include "gpu/ptx.cuh"

extern "C" {
#include "gpu/decode/batch.h"
}

// Some of the compressed bytes: in[at] to in[at + size - 1].
struct byte_span {
    uint32_t at, size;
};

// Returns four bytes from any byte on.
static __device__ __forceinline__ uint32_t bytes_at(const unsigned char *in, uint32_t at)
{
    const unsigned *const words = reinterpret_cast<const unsigned *>(in) + at / 4;
    return __funnelshift_r(__ldg(words), __ldg(words + 1), at % 4 * 8);
}

static __device__ __forceinline__ uint32_t byte_at(const unsigned char *in, uint32_t at)
{
    return __ldg(in + at);
}

// Returns the number of the highest bit that is set; for 0 that is 2^32 - 1.
static __device__ __forceinline__ uint32_t highest_bit(uint32_t value)
{
    return 31u - static_cast<uint32_t>(__clz(static_cast<int>(value)));
}

// Returns 25 bits and more, from bit `bit` of a span on, the first as the lowest. Bits after the
// span mean nothing; `bit` may be at most 32 after its end.
static __device__ __forceinline__ uint32_t bits_forward(const unsigned char *in, byte_span span,
                                                        uint32_t bit)
{
    return bytes_at(in, span.at + bit / 8) >> bit % 8;
}

// A stream of bits that is read from its last bit to its first, as streams of literals and of
// sequences are. The last byte's highest bit that is set marks the end, and does not belong to it.
//
// Only the place is kept, and bits are read from `in` as they are needed: no word has to be there
// before the next one is read, and threads of a warp read as many words each, whatever their bits.
// A read before the first bit gets other bytes of `in`, which begins with a carry. So a reader may
// be up to 1000 bits too far before it looks at how many are left. (`walk`, which reads copies of
// its own, may be farther.)
struct backward {
    const unsigned *words; // from the 16 bytes with the stream's first byte on
    int begin;             // bits of these before the stream
    int at;                // bits up to the next one, that one included
};

// Returns the words of a stream that begins at `at`, from a multiple of 16 bytes on.
static __device__ __forceinline__ const unsigned *backward_words(const unsigned char *in,
                                                                 uint32_t at)
{
    return reinterpret_cast<const unsigned *>(in) + at / 16 * 4;
}

// Opens a stream. False if it is empty, or its last byte lacks the mark.
static __device__ __forceinline__ bool backward_open(backward &stream, const unsigned char *in,
                                                     byte_span span)
{
    if (span.size == 0)
        return false;
    const uint32_t byte = byte_at(in, span.at + span.size - 1);
    stream.words = backward_words(in, span.at);
    stream.begin = static_cast<int>(span.at % 16 * 8);
    stream.at = stream.begin + static_cast<int>((span.size - 1) * 8 + highest_bit(byte));
    return byte != 0;
}

// The next 64 bits, the first as the highest.
struct backward_bits {
    uint32_t high, low;
};

static __device__ __forceinline__ backward_bits backward_peek(const backward &stream)
{
    const unsigned *const words = stream.words + (stream.at >> 5);
    const unsigned shift = static_cast<unsigned>(stream.at) & 31;
    const unsigned second = __ldg(words - 1);
    return {__funnelshift_r(second, __ldg(words), shift),
            __funnelshift_r(__ldg(words - 2), second, shift)};
}

// Returns the next 32 bits alone.
static __device__ __forceinline__ uint32_t backward_high(const backward &stream)
{
    const unsigned *const words = stream.words + (stream.at >> 5);
    return __funnelshift_r(__ldg(words - 1), __ldg(words), static_cast<unsigned>(stream.at));
}

// Returns the first of these bits, as many as the lowest five bits of `count` say, as a number.
static __device__ __forceinline__ uint32_t bits_first(uint32_t bits, uint32_t count)
{
    return __funnelshift_l(bits, 0, count);
}

// Returns the bits after these.
static __device__ __forceinline__ uint32_t bits_after(uint32_t bits, uint32_t count)
{
    return __funnelshift_l(0, bits, count);
}

static __device__ __forceinline__ void backward_skip(backward &stream, uint32_t bits)
{
    stream.at -= static_cast<int>(bits);
}

// Returns the next bits, up to 31, as a number, and takes them.
static __device__ __forceinline__ uint32_t backward_read(backward &stream, uint32_t bits)
{
    const uint32_t value = bits_first(backward_high(stream), bits);
    backward_skip(stream, bits);
    return value;
}

// Returns how many bits are left; negative if more were taken than there were.
static __device__ __forceinline__ int backward_left(const backward &stream)
{
    return stream.at - stream.begin;
}

// A stream for a reader that takes few bits at a time, and waits for them: pairs of words are
// loaded long before they are needed, and each only once.
struct backward_hold {
    const uint64_t *pairs;
    int at;
    uint64_t first, second, third; // the pair with bit `at`, and those before it
};

static __device__ __forceinline__ backward_hold hold_open(const backward &stream)
{
    const uint64_t *const pairs = reinterpret_cast<const uint64_t *>(stream.words);
    const int pair = stream.at >> 6;
    return {pairs, stream.at, __ldg(pairs + pair), __ldg(pairs + pair - 1),
            __ldg(pairs + pair - 2)};
}

// Returns the next 64 bits, the first as the highest.
static __device__ __forceinline__ uint64_t hold_peek(const backward_hold &hold)
{
    const bool is_upper = (hold.at & 32) != 0;
    const uint32_t words[4] = {
        static_cast<uint32_t>(hold.second), static_cast<uint32_t>(hold.second >> 32),
        static_cast<uint32_t>(hold.first), static_cast<uint32_t>(hold.first >> 32)};
    const uint32_t high = is_upper ? words[3] : words[2], middle = is_upper ? words[2] : words[1],
                   low = is_upper ? words[1] : words[0];
    const unsigned shift = static_cast<unsigned>(hold.at);
    return static_cast<uint64_t>(__funnelshift_r(middle, high, shift)) << 32 |
           __funnelshift_r(low, middle, shift);
}

// Goes on by up to 64 bits.
static __device__ __forceinline__ void hold_skip(backward_hold &hold, uint32_t bits)
{
    const int pair = hold.at >> 6;
    hold.at -= static_cast<int>(bits);
    const bool is_next = hold.at >> 6 != pair;
    hold.first = is_next ? hold.second : hold.first;
    hold.second = is_next ? hold.third : hold.second;
    hold.third = __ldg(hold.pairs + (hold.at >> 6) - 2);
}

#endif
