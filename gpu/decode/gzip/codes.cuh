// SPDX-License-Identifier: MIT
// Reads the header of a block of deflate, and makes tables for its codes (RFC 1951, section 3.2),
// by a warp.
//
// All lanes call these functions together and get the same answer. Code lengths come one after the
// other, so every lane reads them all; the lanes share the work that can be done for many codes at
// a time.
//
// A code is canonical: codes of one length are consecutive numbers, and begin where those one bit
// shorter end. So the bits of a code, the first one highest, say how long it is by comparisons, and
// which symbol it is by a subtraction. The table that most codes are looked up in is made that way,
// each entry by itself, and longer codes are decoded that way.
#ifndef GPUHISTO_GPU_DECODE_GZIP_CODES_CUH
#define GPUHISTO_GPU_DECODE_GZIP_CODES_CUH

#include "gpu/ptx.cuh"

extern "C" {
#include "gpu/decode/batch.h"
}

constexpr unsigned GZIP_LITERAL_CODES = 288, GZIP_DISTANCE_CODES = 32; // with those never valid
constexpr unsigned GZIP_CODE_MAX = 15;                                 // bits
constexpr unsigned GZIP_LITERAL_BITS = 11, GZIP_DISTANCE_BITS = 9;     // that tables are indexed by
constexpr unsigned GZIP_PRECODES = 19, GZIP_PRECODE_BITS = 7;
constexpr unsigned GZIP_END_CODE = 256;

// The compressed bits.
struct gzip_input {
    const unsigned *words;
    unsigned end; // bits; 64 more may be read, and mean nothing
};

DEVICE_INLINE gzip_input gzip_input_of(const decode_batch &batch)
{
    return {reinterpret_cast<const unsigned *>(batch.in + DECODE_CARRY),
            8 * (batch.in_size - DECODE_CARRY)};
}

// The meaning of a code. From the lowest bit:
//
// - 4 bits: its own bits, 1 to 15;
// - 4 bits: how many bits follow it that are added to the value;
// - 2 bits: enum gzip_kind;
// - 16 bits from bit 16 on: the value, a literal, a length or a distance.
using gzip_entry = unsigned;

enum gzip_kind { GZIP_LITERAL, GZIP_LENGTH, GZIP_END, GZIP_INVALID };

constexpr unsigned GZIP_KIND_SHIFT = 8, GZIP_VALUE_SHIFT = 16;

DEVICE_INLINE unsigned gzip_entry_kind(gzip_entry entry)
{
    return entry >> GZIP_KIND_SHIFT & 3;
}

DEVICE_INLINE gzip_entry gzip_entry_of(unsigned kind, unsigned value, unsigned extra, unsigned bits)
{
    return value << GZIP_VALUE_SHIFT | kind << GZIP_KIND_SHIFT | extra << 4 | bits;
}

constexpr gzip_entry GZIP_NO_CODE = GZIP_INVALID << GZIP_KIND_SHIFT | 1;

// Returns the entry of a literal or a length, or of the end of the block.
DEVICE_INLINE gzip_entry gzip_literal_entry(unsigned symbol, unsigned bits)
{
    const unsigned length = symbol - GZIP_END_CODE - 1, extra = length / 4 - 1;
    if (symbol < GZIP_END_CODE)
        return gzip_entry_of(GZIP_LITERAL, symbol, 0, bits);
    if (symbol == GZIP_END_CODE)
        return gzip_entry_of(GZIP_END, 0, 0, bits);
    if (length < 8)
        return gzip_entry_of(GZIP_LENGTH, 3 + length, 0, bits);
    if (length < 28)
        return gzip_entry_of(GZIP_LENGTH, 3 + ((4 + length % 4) << extra), extra, bits);
    return length == 28 ? gzip_entry_of(GZIP_LENGTH, 258, 0, bits) : GZIP_NO_CODE;
}

DEVICE_INLINE gzip_entry gzip_distance_entry(unsigned symbol, unsigned bits)
{
    const unsigned extra = symbol / 2 - 1;
    if (symbol < 4)
        return gzip_entry_of(GZIP_LENGTH, 1 + symbol, 0, bits);
    return symbol < 30 ? gzip_entry_of(GZIP_LENGTH, 1 + ((2 + symbol % 2) << extra), extra, bits)
                       : GZIP_NO_CODE;
}

// A canonical code of Symbols symbols. Codes of `l` bits, followed by zeros up to GZIP_CODE_MAX,
// are below limit[l]; the first bits of such a one, as a number, and position[l] added to it, are
// an index of `entries`.
template <unsigned Symbols> struct gzip_code {
    unsigned limit[GZIP_CODE_MAX + 1], position[GZIP_CODE_MAX + 1];
    unsigned next[GZIP_CODE_MAX + 1]; // while it is made
    gzip_entry entries[Symbols];      // by the lengths of their codes
};

// The shared memory that a warp needs to parse blocks.
struct gzip_codes {
    gzip_entry literal_table[1 << GZIP_LITERAL_BITS]; // 0: a longer code, or none
    gzip_entry distance_table[1 << GZIP_DISTANCE_BITS];
    gzip_code<GZIP_LITERAL_CODES> literals;
    gzip_code<GZIP_DISTANCE_CODES> distances;
    uint8_t lengths[GZIP_LITERAL_CODES + GZIP_DISTANCE_CODES];
    uint8_t precode_lengths[32];
    uint8_t precode[1 << GZIP_PRECODE_BITS]; // symbol << 3 | bits of the code
};

// Returns up to 32 bits from `bit` on, the first as the lowest.
DEVICE_INLINE unsigned gzip_bits(const unsigned *words, unsigned bit)
{
    return __funnelshift_r(words[bit / 32], words[bit / 32 + 1], bit);
}

// Returns the entry of the code with which these bits begin, if it has First to Last bits;
// otherwise 0. No loop ends early, as lanes would wait for each other in it.
template <unsigned First, unsigned Last, unsigned Symbols>
DEVICE_INLINE gzip_entry gzip_find_code(const gzip_code<Symbols> &code,
                                        const unsigned (&limit)[GZIP_CODE_MAX + 1], unsigned bits)
{
    const unsigned number = __brev(bits) >> (32 - GZIP_CODE_MAX); // the first bit is the highest
    unsigned length = First;
    UNROLL for (unsigned i = First; i <= Last; i++) length += number >= limit[i] ? 1 : 0;
    if (length > Last)
        return 0;
    return code.entries[(number >> (GZIP_CODE_MAX - length)) + code.position[length]];
}

// --- making a code ---

// Makes a code, and the table of 1 << Bits entries. False if zlib would refuse the code. It takes
// one that is complete, or has one code of one bit, or is of distances and has none.
template <unsigned Bits, unsigned Symbols>
DEVICE_INLINE bool gzip_make_code(gzip_code<Symbols> &code, gzip_entry *table,
                                  const uint8_t *lengths, unsigned count)
{
    const unsigned lane = threadIdx.x % 32;
    constexpr unsigned space = 1u << GZIP_CODE_MAX;
    if (lane <= GZIP_CODE_MAX)
        code.next[lane] = 0;
    __syncwarp();
    for (unsigned i = lane; i < count; i += 32)
        atomicAdd(&code.next[lengths[i]], 1u);
    __syncwarp();
    const unsigned own = lane <= GZIP_CODE_MAX ? code.next[lane] : 0;
    unsigned first = 0, at = 0, used = 0, own_first = 0, own_at = 0;
    for (unsigned length = 1; length <= GZIP_CODE_MAX; length++) {
        const unsigned codes = __shfl_sync(all_lanes, own, static_cast<int>(length));
        first *= 2;
        if (lane == length) {
            own_first = first;
            own_at = at;
        }
        first += codes;
        at += codes;
        used += codes << (GZIP_CODE_MAX - length);
    }
    const bool is_single = at == 1 && used == space / 2;
    const bool is_none = Symbols == GZIP_DISTANCE_CODES && at == 0;
    if (used != space && !is_single && !is_none)
        return false;
    if (lane > 0 && lane <= GZIP_CODE_MAX) {
        code.limit[lane] = (own_first + own) << (GZIP_CODE_MAX - lane);
        code.position[lane] = own_at - own_first;
        code.next[lane] = own_at;
    }
    __syncwarp();
    for (unsigned group = 0; group < count; group += 32) { // symbols, by the lengths of their codes
        const unsigned symbol = group + lane;
        const unsigned length = symbol < count ? lengths[symbol] : 0;
        const unsigned same = __match_any_sync(all_lanes, length);
        const unsigned before = static_cast<unsigned>(__popc(same & ((1u << lane) - 1)));
        const unsigned entry = code.next[length];
        __syncwarp();
        if (length > 0) {
            code.entries[entry + before] = Symbols == GZIP_LITERAL_CODES
                                               ? gzip_literal_entry(symbol, length)
                                               : gzip_distance_entry(symbol, length);
            if (before == 0)
                code.next[length] = entry + static_cast<unsigned>(__popc(same));
        }
        __syncwarp();
    }
    unsigned limit[GZIP_CODE_MAX + 1]; // in registers
    UNROLL for (unsigned i = 1; i <= GZIP_CODE_MAX; i++) limit[i] = code.limit[i];
    for (unsigned i = lane; i < 1u << Bits; i += 32)
        table[i] = gzip_find_code<1, Bits>(code, limit, i);
    __syncwarp();
    return true;
}

// --- reading a header ---

enum gzip_read { GZIP_READ, GZIP_SHORT, GZIP_WRONG };

// Makes the table of the precode, whose `count` lengths begin at `bit`. False: it is incomplete.
DEVICE_INLINE bool gzip_read_precode(gzip_codes &codes, const gzip_input &input, unsigned bit,
                                     unsigned count)
{
    const unsigned lane = threadIdx.x % 32, below = (1u << lane) - 1;
    // The lengths are of these symbols, in their order: 16 17 18 0 8 7 9 6 10 5 11 ...
    const unsigned symbol = lane < 3        ? 16 + lane
                            : lane == 3     ? 0
                            : lane % 2 == 0 ? 6 + lane / 2
                                            : 9 - lane / 2;
    if (lane < GZIP_PRECODES)
        codes.precode_lengths[symbol] =
            static_cast<uint8_t>(lane < count ? gzip_bits(input.words, bit + 3 * lane) & 7 : 0);
    __syncwarp();
    const unsigned length = lane < GZIP_PRECODES ? codes.precode_lengths[lane] : 0;
    unsigned code = 0, own = 0;
    for (unsigned l = 1; l <= GZIP_PRECODE_BITS; l++) {
        const unsigned same = __ballot_sync(all_lanes, length == l);
        code *= 2;
        if (length == l)
            own = code + static_cast<unsigned>(__popc(same & below));
        code += static_cast<unsigned>(__popc(same));
    }
    if (code != 1u << GZIP_PRECODE_BITS)
        return false;
    if (length > 0)
        for (unsigned i = __brev(own) >> (32 - length); i < 1u << GZIP_PRECODE_BITS;
             i += 1u << length)
            codes.precode[i] = static_cast<uint8_t>(lane << 3 | length);
    __syncwarp();
    return true;
}

// Reads `total` lengths of codes that are written in the precode, from *bit on, which goes on.
// Lanes look at a bit each, as if a code began there; those where one does are then gone through.
DEVICE_INLINE gzip_read gzip_read_lengths(gzip_codes &codes, const gzip_input &input, unsigned *bit,
                                          unsigned total)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned length = 0; // the last one
    for (unsigned count = 0; count < total;) {
        const unsigned bits = gzip_bits(input.words, *bit + lane);
        const unsigned entry = codes.precode[bits & ((1u << GZIP_PRECODE_BITS) - 1)];
        const unsigned symbol = entry >> 3, rest = bits >> (entry & 7);
        const unsigned extra = symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
        const unsigned lowest = symbol < 16 ? 1 : symbol < 18 ? 3 : 11;
        // From the lowest bit: 4 bits, how many bits the code and the extra ones after it take; 8
        // bits, how many lengths it stands for; 4 bits, each of them; 1 bit, they are as the last
        // one was.
        const unsigned own = ((entry & 7) + extra) | (lowest + (rest & ((1u << extra) - 1))) << 4 |
                             (symbol < 16 ? symbol : 0) << 12 | (symbol == 16 ? 1u : 0u) << 16;
        unsigned offset = 0;
        while (offset < 32 && count < total) {
            const unsigned here = __shfl_sync(all_lanes, own, static_cast<int>(offset));
            const unsigned times = here >> 4 & 255, is_again = here >> 16;
            offset += here & 15;
            if (*bit + offset > input.end)
                return GZIP_SHORT;
            if ((is_again && count == 0) || times > total - count)
                return GZIP_WRONG;
            length = is_again ? length : here >> 12 & 15;
            for (unsigned i = lane; i < times; i += 32)
                codes.lengths[count + i] = static_cast<uint8_t>(length);
            count += times;
        }
        *bit += offset;
    }
    __syncwarp();
    return GZIP_READ;
}

// Reads the codes of a dynamic block from *bit on, which goes on, and makes their tables.
DEVICE_INLINE gzip_read gzip_read_codes(gzip_codes &codes, const gzip_input &input, unsigned *bit)
{
    const unsigned bits = gzip_bits(input.words, *bit);
    const unsigned literals = (bits & 31) + 257, distances = (bits >> 5 & 31) + 1;
    const unsigned precodes = (bits >> 10 & 15) + 4;
    const unsigned begin = *bit + 14;
    *bit = begin + 3 * precodes;
    __syncwarp(); // whoever still uses the codes before
    if (*bit > input.end)
        return GZIP_SHORT;
    if (literals > 286 || distances > 30 || !gzip_read_precode(codes, input, begin, precodes))
        return GZIP_WRONG;
    const gzip_read read = gzip_read_lengths(codes, input, bit, literals + distances);
    if (read != GZIP_READ)
        return read;
    const bool are_good = codes.lengths[GZIP_END_CODE] > 0 &&
                          gzip_make_code<GZIP_LITERAL_BITS>(codes.literals, codes.literal_table,
                                                            codes.lengths, literals) &&
                          gzip_make_code<GZIP_DISTANCE_BITS>(codes.distances, codes.distance_table,
                                                             codes.lengths + literals, distances);
    return are_good ? GZIP_READ : GZIP_WRONG;
}

// Makes the tables of the fixed codes.
DEVICE_INLINE void gzip_fixed_codes(gzip_codes &codes)
{
    __syncwarp(); // whoever still uses the codes before
    for (unsigned i = threadIdx.x % 32; i < GZIP_LITERAL_CODES + GZIP_DISTANCE_CODES; i += 32)
        codes.lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5;
    __syncwarp();
    gzip_make_code<GZIP_LITERAL_BITS>(codes.literals, codes.literal_table, codes.lengths,
                                      GZIP_LITERAL_CODES);
    gzip_make_code<GZIP_DISTANCE_BITS>(codes.distances, codes.distance_table,
                                       codes.lengths + GZIP_LITERAL_CODES, GZIP_DISTANCE_CODES);
}

#endif
