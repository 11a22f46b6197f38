// Bytes and bits of a batch's compressed bytes, read by one thread.
//
// `in` begins at a multiple of 16 bytes. It is read in whole aligned words of 32 bits, so that up
// to 7 bytes after what is asked for are read, but not used: ZSTD_PADDING makes them readable.
#ifndef GPUHISTO_ZSTD_BITS_CUH
#define GPUHISTO_ZSTD_BITS_CUH

#include "gpu/ptx.cuh"

extern "C" {
#include "gpu/zstd/batch.h"
}

// Some of the compressed bytes: in[at] to in[at + size - 1].
struct byte_span {
    uint32_t at, size;
};

// Four bytes from any byte on.
static __device__ __forceinline__ uint32_t bytes_at(const unsigned char *in, uint32_t at)
{
    const unsigned *const words = reinterpret_cast<const unsigned *>(in) + at / 4;
    return __funnelshift_r(__ldg(words), __ldg(words + 1), at % 4 * 8);
}

static __device__ __forceinline__ uint32_t byte_at(const unsigned char *in, uint32_t at)
{
    return __ldg(in + at);
}

// The number of the highest bit that is set; of 0 it is 2^32 - 1.
static __device__ __forceinline__ uint32_t highest_bit(uint32_t value)
{
    return 31u - static_cast<uint32_t>(__clz(static_cast<int>(value)));
}

// 25 bits and more, from bit `bit` of a span on, the first as the lowest. Bits after the span mean
// nothing; `bit` may be at most 32 after its end.
static __device__ __forceinline__ uint32_t bits_forward(const unsigned char *in, byte_span span,
                                                        uint32_t bit)
{
    return bytes_at(in, span.at + bit / 8) >> bit % 8;
}

// A stream of bits that is read from its last bit to its first, as streams of literals and of
// sequences are. The last byte's highest bit that is set marks the end, and does not belong to it.
//
//     in     ...|  word index  | word index + 1 |...
//                 `next`          `hold`: its upper `have` bits are still to be read
//
// The word to come is loaded long before it is needed. What is read before the first bit is 0, or
// other bytes of `in` before the stream; backward_ended is false then.
struct backward {
    const unsigned *words;
    int first; // the word with the stream's first byte
    int index; // the word in `next`
    int begin; // bits of word `first` before the stream
    unsigned next;
    uint32_t have; // at most 64
    uint64_t hold;
};

static __device__ __forceinline__ unsigned backward_word(const backward &stream)
{
    return stream.index >= stream.first ? __ldg(stream.words + stream.index) : 0;
}

// Makes sure that 33 bits can be taken.
static __device__ __forceinline__ void backward_fill(backward &stream)
{
    if (stream.have <= 32) {
        stream.hold |= static_cast<uint64_t>(stream.next) << (32 - stream.have);
        stream.have += 32;
        stream.index--;
        stream.next = backward_word(stream);
    }
}

// False if the stream is empty, or its last byte lacks the mark.
static __device__ __forceinline__ bool backward_open(backward &stream, const unsigned char *in,
                                                     byte_span span)
{
    if (span.size == 0)
        return false;
    const uint32_t last = span.at + span.size - 1, byte = byte_at(in, last);
    stream.words = reinterpret_cast<const unsigned *>(in);
    stream.first = static_cast<int>(span.at / 4);
    stream.begin = static_cast<int>(span.at % 4 * 8);
    stream.index = static_cast<int>(last / 4);
    stream.have = 0;
    stream.hold = 0;
    if (byte == 0)
        return false;
    const uint32_t end = last % 4 * 8 + highest_bit(byte); // the mark, in its word
    stream.have = end;
    stream.hold = static_cast<uint64_t>(backward_word(stream) << (31 - end) << 1) << 32;
    stream.index--;
    stream.next = backward_word(stream);
    backward_fill(stream);
    return true;
}

// The next 32 bits, the first as the highest.
static __device__ __forceinline__ uint32_t backward_look(const backward &stream)
{
    return static_cast<uint32_t>(stream.hold >> 32);
}

static __device__ __forceinline__ void backward_skip(backward &stream, uint32_t bits)
{
    stream.hold <<= bits;
    stream.have -= bits;
}

// The next bits, up to 31, as a number; backward_fill must have come less than 34 bits before.
static __device__ __forceinline__ uint32_t backward_take(backward &stream, uint32_t bits)
{
    const uint32_t value = __funnelshift_l(backward_look(stream), 0, bits);
    backward_skip(stream, bits);
    return value;
}

// How many bits are left; negative if more were taken than there were.
static __device__ __forceinline__ int backward_left(const backward &stream)
{
    return (stream.index + 1 - stream.first) * 32 + static_cast<int>(stream.have) - stream.begin;
}

#endif
