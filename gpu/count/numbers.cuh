// SPDX-License-Identifier: MIT
// numbers: decimal text, taken apart and counted by warps, a token a lane. What a token is worth
// says gpu/count/parse_number.cuh.
//
// A warp takes 2 KiB of text at a time, and the 32 bytes after these, into shared memory; each
// lane finds the white space in pieces of 32 bytes by arithmetic on words, and keeps it as a bit a
// byte. A token belongs to the 2 KiB in which it begins: there is white space, or nothing, before
// it. A prefix sum gives every beginning a place in a list, from which the lanes then take tokens
// in turn, so that all have work however tokens are spread; the bits tell where a token ends.
//
//     text     1 2 . 5 \n 7 \n - 3 \n ...           32 bytes of a lane
//     spaces   0 0 0 0 1  0 1  0 0 1                a word
//     begins   ^          ^    ^                    -> 0, 5, 7, ... -> lanes 0, 1, 2, ...
//
// Rows are counted in a cache in shared memory, which a row enters where its number modulo the
// cache's size says, or half of that further on, if no other is there: neighbouring rows, which
// values mostly are in, never meet. One that finds both places taken is counted in the histogram
// itself.
//
// Tokens of 32 bytes or more, and those that only number_exactly can tell, are put on a list in
// global memory. The kernel numbers_rest, launched after this one, counts them: a token a thread.
#ifndef GPUHISTO_NUMBERS_CUH
#define GPUHISTO_NUMBERS_CUH

#include "gpu/count/bin_cache.cuh"
#include "gpu/count/counting.cuh"
#include "gpu/count/parse_number.cuh"
#include "gpu/count/text_span.cuh"

// Bytes whose white space is a word of bits, and those that a warp takes at a time.
constexpr unsigned piece_bytes = 32;
constexpr unsigned warp_pieces = 64;
constexpr unsigned warp_bytes = warp_pieces * piece_bytes;

// A block's counters.
using row_cache = bin_cache<1024>;

// A warp's text, with one piece more, its white space, and where its tokens begin.
struct warp_text {
    uint4 text[(warp_bytes + piece_bytes) / 16];
    unsigned spaces[warp_pieces + 1];
    unsigned short begins[warp_bytes / 2];
};

// Blocks of NUMBERS_BLOCK that a multiprocessor has threads for.
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
constexpr unsigned numbers_resident = 4;
#else
constexpr unsigned numbers_resident = 5;
#endif

// --- counting ---

static __device__ __forceinline__ void count_row(row_cache &cache, const count_args &args,
                                                 unsigned row)
{
    constexpr unsigned slots = row_cache::slots;
    if (!count_at(cache, row % slots, row) && !count_at(cache, (row + slots / 2) % slots, row))
        atomicAdd(&args.counts[row], 1ull);
}

// The word after the rows: how many newline characters there are (gpu/engine/device.h).
static __device__ __forceinline__ void count_lines(const count_args &args, unsigned lines)
{
    for (unsigned by = 16; by > 0; by /= 2)
        lines += __shfl_xor_sync(0xffffffffu, lines, static_cast<int>(by));
    if (threadIdx.x % 32 == 0)
        add_to_counts(args, args.map.bins, lines);
}

static __device__ __forceinline__ unsigned row_of_number(const count_args &args, double value)
{
    return row_of_bits(args.map.rows, static_cast<unsigned long long>(__double_as_longlong(value)));
}

// --- finding tokens ---

// Returns the highest bit of every byte that equals the one repeated in `all`, or that is white
// space.
static __device__ __forceinline__ unsigned bytes_equal(unsigned word, unsigned all)
{
    const unsigned other = word ^ all;
    return ~(((other & 0x7f7f7f7fu) + 0x7f7f7f7fu) | other) & 0x80808080u;
}

static __device__ __forceinline__ unsigned bytes_space(unsigned word)
{
    const unsigned low = word & 0x7f7f7f7fu;
    const unsigned from_tab = low + 0x77777777u, beyond_return = low + 0x72727272u;
    return bytes_equal(word, 0x20202020u) | (from_tab & ~beyond_return & ~word & 0x80808080u);
}

// Returns the highest bits of four bytes as the lowest four, in their order.
static __device__ __forceinline__ unsigned gather_bits(unsigned highest)
{
    return highest * 0x00204081u >> 28;
}

// Returns the white space of four words, a bit a byte; adds their newlines to *lines.
static __device__ __forceinline__ unsigned spaces_of(const uint4 &vector, unsigned *lines)
{
    const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
    unsigned spaces = 0;
    UNROLL for (unsigned i = 0; i < 4; i++)
    {
        spaces |= gather_bits(bytes_space(words[i])) << 4 * i;
        *lines += static_cast<unsigned>(__popc(bytes_equal(words[i], 0x0a0a0a0au)));
    }
    return spaces;
}

// The warp together: takes the text from an offset on. Returns this lane's newlines in it.
static __device__ __forceinline__ unsigned take_text(const text_span &span,
                                                     unsigned long long offset, warp_text *own)
{
    const unsigned lane = threadIdx.x % 32;
    unsigned lines = 0;
    for (unsigned piece = lane; piece <= warp_pieces; piece += 32) {
        const unsigned long long at = offset + piece * piece_bytes;
        const uint4 a = vector_at(span, at, ' '), b = vector_at(span, at + 16, ' ');
        unsigned found = 0;
        own->text[2 * piece] = a;
        own->text[2 * piece + 1] = b;
        own->spaces[piece] = spaces_of(a, &found) | spaces_of(b, &found) << 16;
        lines += piece < warp_pieces ? found : 0; // the last piece is the next text's
    }
    return lines;
}

// Returns the bits of a piece whose bytes begin a token; `before` is the white space of the piece
// before.
static __device__ __forceinline__ unsigned beginnings(unsigned spaces, unsigned before)
{
    return ~spaces & __funnelshift_l(before, spaces, 1);
}

static __device__ __forceinline__ void list_beginnings(unsigned begins, unsigned piece,
                                                       unsigned short *list)
{
    for (; begins; begins &= begins - 1)
        *list++ = static_cast<unsigned short>(
            piece * piece_bytes + static_cast<unsigned>(__ffs(static_cast<int>(begins))) - 1);
}

// The warp together: lists the tokens that begin in its text, and returns how many. `before` has
// the white space before it in its highest bit.
static __device__ __forceinline__ unsigned list_tokens(warp_text *own, unsigned before)
{
    const unsigned lane = threadIdx.x % 32, all = 0xffffffffu;
    const unsigned first = beginnings(own->spaces[lane], lane ? own->spaces[lane - 1] : before);
    const unsigned second = beginnings(own->spaces[lane + 32], own->spaces[lane + 31]);
    // Both halves' counts in one word: 32 pieces have 512 tokens at most.
    const unsigned counts = static_cast<unsigned>(__popc(first) | __popc(second) << 16);
    unsigned sums = counts;
    for (unsigned by = 1; by < 32; by *= 2) {
        const unsigned other = __shfl_up_sync(all, sums, by);
        sums += lane >= by ? other : 0;
    }
    const unsigned totals = __shfl_sync(all, sums, 31), ahead = sums - counts;
    const unsigned half = totals & 0xffff;
    list_beginnings(first, lane, own->begins + (ahead & 0xffff));
    list_beginnings(second, lane + 32, own->begins + half + (ahead >> 16));
    return half + (totals >> 16);
}

// --- the kernels ---

// Puts a token off for numbers_rest, by its offset in the data.
static __device__ __forceinline__ void put_off(const count_args &args, unsigned long long offset)
{
    args.rest[1 + atomicAdd(&args.rest[0], 1u)] = static_cast<unsigned>(offset);
}

// Counts a token of the warp's text; false if that is for numbers_rest to do.
static __device__ __forceinline__ bool count_token(const count_args &args, row_cache &cache,
                                                   const warp_text *own, unsigned begin)
{
    const unsigned piece = begin / piece_bytes;
    const unsigned spaces =
        __funnelshift_r(own->spaces[piece], own->spaces[piece + 1], begin % piece_bytes);
    const unsigned char *const token = reinterpret_cast<const unsigned char *>(own->text) + begin;
    double value;
    if (!spaces ||
        !number_of(args.powers, token, token + __ffs(static_cast<int>(spaces)) - 1, &value))
        return false;
    count_row(cache, args, row_of_number(args, value));
    return true;
}

static __global__ void __launch_bounds__(NUMBERS_BLOCK, numbers_resident) numbers(count_args args)
{
    DYNAMIC_SHARED(row_cache, cache);
    unsigned char *const texts = reinterpret_cast<unsigned char *>(cache + 1);
    warp_text *const own =
        reinterpret_cast<warp_text *>(texts + threadIdx.x / 32 * sizeof(warp_text));
    const unsigned lane = threadIdx.x % 32;
    const text_span span = span_of(args);
    unsigned lines = 0;
    open_cache(*cache);
    __syncthreads();

    for (unsigned long long offset = grid_thread() / 32 * warp_bytes; offset < span.end;
         offset += grid_threads() / 32 * warp_bytes) {
        const bool spaced = offset == 0 || number_is_space(args.data[offset - span.begin - 1]);
        lines += take_text(span, offset, own);
        __syncwarp();
        const unsigned tokens = list_tokens(own, spaced ? 1u << 31 : 0);
        __syncwarp();
        for (unsigned token = lane; token < tokens; token += 32)
            if (!count_token(args, *cache, own, own->begins[token]))
                put_off(args, offset + own->begins[token] - span.begin);
        __syncwarp();
    }
    count_lines(args, lines);
    __syncthreads();
    merge_cache(*cache, args);
}

// Returns the value of the token that begins here, which may be of any length.
static __device__ __forceinline__ double
number_from(const count_args &args, const unsigned char *begin, unsigned *scratch, unsigned stride)
{
    const unsigned char *const limit = args.data + args.len, *end = begin;
    double value;
    while (end < limit && end - begin <= NUMBER_MAX && !number_is_space(*end))
        end++;
    if (end - begin > NUMBER_MAX)
        return __longlong_as_double(0x7ff8000000000000);
    return number_of(args.powers, begin, end, &value)
               ? value
               : number_exactly(begin, end, value, scratch, stride);
}

// Counts what the kernel numbers has put off.
static __global__ void __launch_bounds__(NUMBERS_REST_BLOCK) numbers_rest(count_args args)
{
    __shared__ unsigned scratch[2 * natural_limbs * NUMBERS_REST_BLOCK]; // a column a thread
    const unsigned lane = threadIdx.x % 32, tokens = args.rest[0];
    for (unsigned long long warp = grid_thread() - lane; warp < tokens; warp += grid_threads()) {
        unsigned row = no_bin;
        if (warp + lane < tokens)
            row = row_of_number(args, number_from(args, args.data + args.rest[1 + warp + lane],
                                                  scratch + threadIdx.x, NUMBERS_REST_BLOCK));
        __syncwarp();
        add_alike(args, row);
    }
}

#endif
