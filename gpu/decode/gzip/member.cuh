// SPDX-License-Identifier: MIT
// Reads the header of a member of gzip (RFC 1952), by a warp: all lanes call these functions and
// get the same. They refuse what src/codec/gzip.c refuses.
#ifndef GPUHISTO_GZIP_MEMBER_CUH
#define GPUHISTO_GZIP_MEMBER_CUH

#include "gpu/decode/gzip/codes.cuh"

constexpr unsigned GZIP_FIXED_BYTES = 10, GZIP_TRAILER_BYTES = 8; // of a member
constexpr unsigned GZIP_MAGIC = 0x088b1f;                         // with the only method

enum gzip_flag {
    GZIP_HAS_CHECKSUM = 2,
    GZIP_HAS_EXTRA = 4,
    GZIP_HAS_NAME = 8,
    GZIP_HAS_COMMENT = 16,
    GZIP_FLAGS_UNKNOWN = 0xe0
};

// Returns up to 4 bytes, the first one lowest.
static __device__ __forceinline__ unsigned gzip_bytes(const gzip_input &input, unsigned at)
{
    return gzip_bits(input.words, 8 * at);
}

// Returns the first byte from this one on that is zero, or that is not; the end of the input if
// none is.
static __device__ inline unsigned gzip_find_byte(const gzip_input &input, unsigned at, bool zero)
{
    const unsigned end = input.end / 8, lane = threadIdx.x % 32;
    for (; at < end; at = (at / 4 + 32) * 4) {
        const unsigned first = (at / 4 + lane) * 4; // the byte with which the lane's word begins
        const unsigned before = lane == 0 ? (1u << 8 * (at % 4)) - 1 : 0; // bits not asked for
        const unsigned word = first < end ? input.words[first / 4] : 0;
        const unsigned zeros = ((word | before) - 0x01010101) & ~(word | before) & 0x80808080;
        const unsigned marks = zero ? zeros : word & ~before; // the lowest one is right
        const unsigned found = __ballot_sync(GZIP_ALL_LANES, marks != 0);
        if (found) {
            const int which = __ffs(static_cast<int>(found)) - 1;
            const unsigned own =
                first + static_cast<unsigned>(__ffs(static_cast<int>(marks)) - 1) / 8;
            return min(end, __shfl_sync(GZIP_ALL_LANES, own, which));
        }
    }
    return end;
}

// Returns the lower half of the CRC-32 of some bytes.
static __device__ inline unsigned gzip_header_checksum(const gzip_input &input, unsigned at,
                                                       unsigned end)
{
    unsigned crc = 0xffffffff;
    for (; at < end; at++) {
        crc ^= gzip_bytes(input, at) & 255;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320 & (0 - (crc & 1)));
    }
    return ~crc & 0xffff;
}

// Reads the header of the member that begins at a byte of the input, and sets *end to where it
// ends.
static __device__ inline gzip_read gzip_read_member(const gzip_input &input, unsigned begin,
                                                    unsigned *end)
{
    const unsigned size = input.end / 8, left = size - begin;
    const unsigned fixed = gzip_bytes(input, begin), flags = fixed >> 24;
    const unsigned magic_bits = left < 3 ? 8 * left : 24;
    unsigned at = begin + GZIP_FIXED_BYTES;
    if ((fixed ^ GZIP_MAGIC) & ((1u << magic_bits) - 1))
        return GZIP_WRONG;
    if (left > 3 && (flags & GZIP_FLAGS_UNKNOWN))
        return GZIP_WRONG;
    // If the input ends before the flags, the result is the same with any flags.
    if (flags & GZIP_HAS_EXTRA) {
        if (at + 2 > size)
            return GZIP_SHORT;
        at += 2 + (gzip_bytes(input, at) & 0xffff);
    }
    for (unsigned flag = GZIP_HAS_NAME; flag <= GZIP_HAS_COMMENT; flag *= 2)
        if (flags & flag)
            at = gzip_find_byte(input, at, true) + 1;
    if (at + (flags & GZIP_HAS_CHECKSUM) > size)
        return GZIP_SHORT;
    if (flags & GZIP_HAS_CHECKSUM) {
        if ((gzip_bytes(input, at) & 0xffff) != gzip_header_checksum(input, begin, at))
            return GZIP_WRONG;
        at += 2;
    }
    *end = at;
    return GZIP_READ;
}

#endif
