// SPDX-License-Identifier: MIT
// The first stages of gzip: find lists the bits of a batch with which a dynamic block may begin, if
// all of its header is there, and right, and sort sorts them. Those of blocks that are not the last
// of a member are the same that deflate_find finds (src/parallel/deflate.c).
//
// find takes in[DECODE_CARRY..in_size); gives candidates, and their number in the counters, which
// begin zeroed. If there are too many for the memory, any of them are left out.
//
// A CUDA block has a piece. Each thread rules out most beginnings of a word together, one bit of a
// mask for each: by the type, by the counts of codes, and by what the precode fills modulo 4. One
// in 18 is left; a table gives how much its precode fills, four lengths at a time. Two in a
// thousand pass and are queued, and threads then take beginnings from the queue, so that no lane
// reads lengths of codes while 31 have nothing to do. If there is no room in the queue, threads go
// on once it is empty.
//
// Shared memory: 13 KiB for find, 32 KiB for sort.
#ifndef GPUHISTO_GPU_DECODE_GZIP_FIND_CUH
#define GPUHISTO_GPU_DECODE_GZIP_FIND_CUH

#include "gpu/decode/gzip/codes.cuh"
#include "gpu/decode/stages.h"

constexpr unsigned GZIP_FIND_THREADS = 256;
constexpr unsigned GZIP_FIND_EACH = 16; // words of a thread: to be tuned
constexpr unsigned GZIP_FIND_PIECE = GZIP_FIND_THREADS * GZIP_FIND_EACH;
constexpr unsigned GZIP_FIND_QUEUE = 512; // random bytes have 230 entries in a piece
constexpr unsigned GZIP_SORT_THREADS = 1024;

constexpr unsigned find_header = 17; // bits before the precode: type, and counts of codes
constexpr unsigned find_space = 1u << GZIP_CODE_MAX; // what the codes of a complete code fill
constexpr unsigned long long find_each_byte = 0x0101010101010101;

// --- most beginnings of a word together ---

// Returns a bit for each beginning in word[0]: 1 if the i-th length of the precode is there. Their
// number less 4 is written 13 bits after the beginning.
DEVICE_INLINE unsigned find_has_length(const unsigned (&word)[4], unsigned i)
{
    const unsigned one = __funnelshift_r(word[0], word[1], 13),
                   two = __funnelshift_r(word[0], word[1], 14),
                   four = __funnelshift_r(word[0], word[1], 15),
                   eight = __funnelshift_r(word[0], word[1], 16);
    const unsigned all = 0xffffffff;
    // Masks of beginnings whose number's lower two bits, or upper two, are at least the index.
    const unsigned low[4] = {all, one | two, two, one & two},
                   high[5] = {all, four | eight, eight, four & eight, 0};
    if (i < 4)
        return all;
    return high[(i - 3) / 4 + 1] | (high[(i - 3) / 4] & low[(i - 3) % 4]);
}

// Returns a bit for each beginning in word[0]: 1 if the part of 128 that its precode fills is a
// multiple of 4. A code of 7 bits fills 1, one of 6 bits 2, and the others multiples of 4.
DEVICE_INLINE unsigned find_fills_fours(const unsigned (&word)[4])
{
    unsigned sixes[4], sevens[4]; // such a length would begin there
    UNROLL for (unsigned i = 0; i < 4; i++)
    {
        const unsigned next = i < 3 ? word[i + 1] : 0; // no length is that far
        const unsigned two = __funnelshift_r(word[i], next, 1),
                       four = __funnelshift_r(word[i], next, 2);
        sixes[i] = ~word[i] & two & four;
        sevens[i] = word[i] & two & four;
    }
    unsigned ones = 0, twos = 0; // the lowest bits of the sums
    UNROLL for (unsigned i = 0; i < GZIP_PRECODES; i++)
    {
        const unsigned at = find_header + 3 * i, is_there = find_has_length(word, i);
        const unsigned six =
            __funnelshift_r(sixes[at / 32], sixes[at / 32 + 1], at % 32) & is_there;
        const unsigned seven =
            __funnelshift_r(sevens[at / 32], sevens[at / 32 + 1], at % 32) & is_there;
        twos ^= six ^ (ones & seven);
        ones ^= seven;
    }
    return ~(ones | twos);
}

// True if the precode of a block is complete; the number of its lengths begins with this bit of
// word[0].
DEVICE_INLINE bool find_has_precode(const unsigned char *table, const unsigned (&word)[3],
                                    unsigned bit)
{
    const unsigned low = __funnelshift_r(word[0], word[1], bit),
                   high = __funnelshift_r(word[1], word[2], bit);
    unsigned long long lengths = static_cast<unsigned long long>(high) << 32 | low;
    const unsigned count = (low & 15) + 4;
    lengths = lengths >> 4 & ((1ull << 3 * count) - 1);
    unsigned sum = 0;
    UNROLL for (unsigned i = 0; i < 5; i++) sum += table[lengths >> 12 * i & 4095];
    return sum == 128;
}

// --- the lengths of codes, by a thread ---

// The bits of the input, from any bit on. At most 12 bytes after its end are read.
struct find_bits {
    const unsigned *next;
    unsigned long long word;
    unsigned count; // of those in `word`

    __device__ __forceinline__ find_bits(const gzip_input &input, unsigned bit)
        : next(input.words + bit / 32 + 1), word(input.words[bit / 32] >> bit % 32),
          count(32 - bit % 32)
    {
    }

    // Loads bits, so that at least 32 are there.
    __device__ __forceinline__ void fill()
    {
        if (count < 32) {
            word |= static_cast<unsigned long long>(*next++) << count;
            count += 32;
        }
    }

    __device__ __forceinline__ void skip(unsigned bits)
    {
        word >>= bits;
        count -= bits;
    }
};

// A canonical code of up to 7 bits that is complete. Byte l of the words says of the codes of up to
// l bits how much they fill of 128, and how many they are.
struct find_precode {
    unsigned long long filled, ranks;
    unsigned char *symbols; // in the order of their codes

    // Makes the code of lengths that are in the order of the stream; those that are not there are
    // 0. `memory` has room for the symbols.
    __device__ __forceinline__ find_precode(unsigned long long lengths, unsigned char *memory)
        : symbols(memory)
    {
        // The place in the stream of each symbol's length.
        constexpr unsigned positions[GZIP_PRECODES] = {3, 17, 15, 13, 11, 9,  7, 5, 4, 6,
                                                       8, 10, 12, 14, 16, 18, 0, 1, 2};
        unsigned long long counts = 0, parts = 0; // byte l: of codes of l bits
        UNROLL for (unsigned i = 0; i < GZIP_PRECODES; i++)
        {
            const unsigned length = lengths >> 3 * i & 7;
            counts += 1ull << 8 * length;
            parts += 128ull << 7 * length & ~255ull; // 128 >> length in its byte
        }
        filled = parts * find_each_byte;
        ranks = (counts & ~255ull) * find_each_byte;
        unsigned long long next = ranks << 8; // byte l: the rank of the next code of l bits
        UNROLL for (unsigned symbol = 0; symbol < GZIP_PRECODES; symbol++)
        {
            const unsigned length = lengths >> 3 * positions[symbol] & 7;
            if (length > 0)
                symbols[next >> 8 * length & 255] = static_cast<unsigned char>(symbol);
            next += 1ull << 8 * length;
        }
    }

    // Takes a symbol.
    __device__ __forceinline__ unsigned take(find_bits &bits) const
    {
        const unsigned code = __brev(static_cast<unsigned>(bits.word)) >> 25;
        // A byte's highest bit says whether the code is beyond all codes of so few bits. That of
        // byte 0 is set.
        const unsigned long long beyond =
            ((code * find_each_byte | 128 * find_each_byte) - filled) & 128 * find_each_byte;
        const unsigned length = static_cast<unsigned>(__popcll(beyond)), shorter = 8 * (length - 1);
        const unsigned rank = ranks >> shorter & 255, first = filled >> shorter & 255;
        bits.skip(length);
        return symbols[rank + ((code - first) >> (7 - length))];
    }
};

// What is known so far of one of the two codes of a block.
struct find_code {
    unsigned filled = 0; // of find_space
    unsigned codes = 0;

    __device__ __forceinline__ void add(unsigned length, unsigned times)
    {
        filled += times * (find_space >> length & (find_space - 1));
        codes += length > 0 ? times : 0;
    }

    // True if the code fills all of its space, or is one code of one bit.
    __device__ __forceinline__ bool is_complete() const
    {
        return filled == find_space || (codes == 1 && filled == find_space / 2);
    }
};

// Reads lengths of codes, `literals` and then `distances`, which begin with this bit. True if both
// codes are complete and a block can end.
DEVICE_INLINE bool find_reads_lengths(const gzip_input &input, unsigned bit,
                                      const find_precode &precode, unsigned literals,
                                      unsigned distances)
{
    find_bits bits(input, bit);
    find_code literal, distance;
    const unsigned total = literals + distances;
    unsigned length = 0, count = 0;
    while (count < total) {
        bits.fill();
        const unsigned before = bits.count, symbol = precode.take(bits);
        // The three symbols repeat the last length, zero a few times, and zero many times.
        const unsigned extra = symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
        const unsigned lowest = symbol < 16 ? 1 : symbol == 18 ? 11 : 3;
        const unsigned times = lowest + (static_cast<unsigned>(bits.word) & ((1u << extra) - 1));
        if (symbol == 16 && count == 0)
            return false;
        length = symbol < 16 ? symbol : symbol == 16 ? length : 0;
        bits.skip(extra);
        bit += before - bits.count;
        const unsigned of_literals = min(times, literals - min(literals, count));
        literal.add(length, of_literals);
        distance.add(length, times - of_literals);
        if (length == 0 && GZIP_END_CODE - count < times)
            return false;
        count += times;
        if (bit > input.end || literal.filled > find_space || distance.filled > find_space)
            return false;
    }
    return count == total && literal.is_complete() &&
           (distance.is_complete() || distance.codes == 0);
}

// True if a dynamic block may begin with this bit; its precode is known to be complete. `symbols`
// has room for the symbols of a precode.
DEVICE_INLINE bool find_has_codes(const gzip_input &input, unsigned bit, unsigned char *symbols)
{
    find_bits bits(input, bit);
    bits.fill();
    const unsigned counts = static_cast<unsigned>(bits.word) >> 3;
    const unsigned literals = (counts & 31) + 257, distances = (counts >> 5 & 31) + 1;
    const unsigned precodes = (counts >> 10 & 15) + 4;
    bits.skip(find_header);
    bits.fill();
    unsigned long long lengths = bits.word & 0xffffffff;
    bits.skip(32);
    bits.fill();
    lengths |= bits.word << 32;
    lengths &= (1ull << 3 * precodes) - 1;
    bit += find_header + 3 * precodes;
    return bit <= input.end &&
           find_reads_lengths(input, bit, find_precode(lengths, symbols), literals, distances);
}

// --- find ---

// The position of a thread in the words of a piece.
struct find_position {
    unsigned word, end;
    unsigned left;    // beginnings in the word that are yet to be looked at
    unsigned read[3]; // what comes 13 bits after them: lengths of precodes, and their numbers
};

// Queues beginnings with a complete precode until none is left, or there is no room.
DEVICE_INLINE void find_queue(const gzip_input &input, const unsigned char *table,
                              find_position &position, unsigned *queue, unsigned *queued)
{
    for (; position.word < position.end; position.word += GZIP_FIND_THREADS) {
        if (position.left == 0) {
            unsigned word[4];
            UNROLL for (unsigned i = 0; i < 4; i++) word[i] = input.words[position.word + i];
            UNROLL for (unsigned i = 0; i < 3; i++) position.read[i] =
                __funnelshift_r(word[i], word[i + 1], find_header - 4);
            // Blocks that are dynamic, and neither of whose counts of codes is 30 or 31.
            const unsigned long long bits =
                                         static_cast<unsigned long long>(word[1]) << 32 | word[0],
                                     two = bits & bits >> 1, four = two & two >> 2; // set bits
            position.left =
                static_cast<unsigned>(~(bits >> 1) & bits >> 2 & ~(four >> 4) & ~(four >> 9)) &
                find_fills_fours(word);
        }
        for (; position.left; position.left &= position.left - 1) {
            const unsigned i = static_cast<unsigned>(__ffs(static_cast<int>(position.left))) - 1;
            if (!find_has_precode(table, position.read, i))
                continue;
            const unsigned entry = atomicAdd(queued, 1);
            if (entry >= GZIP_FIND_QUEUE)
                return;
            queue[entry] = 32 * position.word + i;
        }
    }
}

// Finds the candidates of a piece. Four CUDA blocks are to be there at a time.
static __global__ void __launch_bounds__(GZIP_FIND_THREADS, 4) gzip_find(decode_batch batch)
{
    __shared__ unsigned char table[1 << 12];
    __shared__ unsigned char symbols[GZIP_FIND_THREADS][20];
    __shared__ unsigned queue[GZIP_FIND_QUEUE];
    __shared__ unsigned queued;
    const gzip_input input = gzip_input_of(batch);
    const unsigned words = (input.end + 31) / 32, first = blockIdx.x * GZIP_FIND_PIECE;
    find_position position = {first + threadIdx.x, min(words, first + GZIP_FIND_PIECE), 0, {}};
    // The part of 128 that four lengths of a precode fill; 255 stands for more, too.
    for (unsigned i = threadIdx.x; i < 1u << 12; i += blockDim.x) {
        unsigned sum = 0;
        for (unsigned shift = 0; shift < 12; shift += 3)
            sum += 128u >> (i >> shift & 7) & 127;
        table[i] = static_cast<unsigned char>(min(sum, 255u));
    }
    if (threadIdx.x == 0)
        queued = 0;
    __syncthreads();
    do {
        find_queue(input, table, position, queue, &queued);
        __syncthreads();
        const unsigned count = min(queued, GZIP_FIND_QUEUE);
        for (unsigned i = threadIdx.x; i < count; i += GZIP_FIND_THREADS) {
            if (!find_has_codes(input, queue[i], symbols[threadIdx.x]))
                continue;
            const unsigned at = atomicAdd(&batch.gzip.counters->candidates, 1);
            if (at < batch.gzip.candidates_max)
                batch.gzip.candidates[at] = queue[i];
        }
        __syncthreads();
        if (threadIdx.x == 0)
            queued = 0;
    } while (__syncthreads_or(position.word < position.end));
}

// --- sort ---

// Sorts the candidates, by one CUDA block in shared memory (bitonic: Batcher, 1968).
static __global__ void __launch_bounds__(GZIP_SORT_THREADS) gzip_sort(decode_batch batch)
{
    __shared__ unsigned bits[GZIP_CANDIDATES_MAX];
    const gzip_batch &gzip = batch.gzip;
    const unsigned count = min(gzip.counters->candidates, gzip.candidates_max);
    unsigned size = 1; // a power of two, to which they are filled up
    while (size < count)
        size *= 2;
    for (unsigned i = threadIdx.x; i < size; i += GZIP_SORT_THREADS)
        bits[i] = i < count ? gzip.candidates[i] : UINT32_MAX;
    __syncthreads();
    for (unsigned run = 2; run <= size; run *= 2)
        for (unsigned by = run / 2; by > 0; by /= 2) {
            for (unsigned i = threadIdx.x; i < size / 2; i += GZIP_SORT_THREADS) {
                const unsigned low = 2 * i - i % by, high = low + by;
                const unsigned a = bits[low], b = bits[high];
                if ((a > b) == ((low & run) == 0)) {
                    bits[low] = b;
                    bits[high] = a;
                }
            }
            __syncthreads();
        }
    for (unsigned i = threadIdx.x; i < count; i += GZIP_SORT_THREADS)
        gzip.candidates[i] = bits[i];
}

#endif
