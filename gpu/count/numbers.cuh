// SPDX-License-Identifier: MIT
// numbers: decimal text, taken apart and counted by warps, a token a lane.
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
#ifndef GPUHISTO_GPU_COUNT_NUMBERS_CUH
#define GPUHISTO_GPU_COUNT_NUMBERS_CUH

#include "gpu/count/counting.cuh"

extern "C" {
#include "src/text/number.h"
}

// --- one token: its value by the rules of src/text/number.h, to the bit ---
//
// Most tokens are decided by one operation on exact doubles, the others by a product of 128 bits
// (src/text/number.h). What is left are tokens of more than 19 digits that lie so near
// to the middle of two doubles that the digits after the 19th decide: those are compared with that
// middle, both as natural numbers.

// The least number of 19 digits: with so many, a mantissa takes no more.
constexpr unsigned long long number_full = 1000000000000000000;

// Exponents stop to grow here, far beyond what the digits of a token can make up for.
constexpr int number_exponent_far = 100000;

static __device__ const double number_ten_to[] = TEN_TO;

// The part of a number before an exponent: digits, with at most one point among them.
struct number_digits {
    unsigned long long mantissa; // of the first 19 that count
    int power;                   // of the ten that it is multiplied with
    bool more;                   // it is larger than that, but smaller than with the next mantissa
    bool any;
    const unsigned char *end;
};

DEVICE_INLINE number_digits read_number_digits(const unsigned char *at, const unsigned char *end)
{
    number_digits taken = {0, 0, false, false, at};
    int fraction = 0; // 1 after the point
    for (; at < end; at++) {
        const unsigned digit = *at - '0';
        if (digit < 10) {
            taken.any = true;
            if (taken.mantissa < number_full) {
                taken.mantissa = taken.mantissa * 10 + digit;
                taken.power -= fraction;
            } else {
                taken.power += 1 - fraction;
                taken.more |= digit != 0;
            }
        } else if (*at == '.' && !fraction) {
            fraction = 1;
        } else {
            break;
        }
    }
    taken.end = at;
    return taken;
}

// Adds the exponent at..end to *power; false if it is not one.
DEVICE_INLINE bool read_number_exponent(const unsigned char *at, const unsigned char *end,
                                        int *power)
{
    if ((*at | 0x20) != 'e')
        return false;
    at++;
    const bool negative = at < end && *at == '-';
    at += negative || (at < end && *at == '+');
    int exponent = 0;
    if (at == end)
        return false;
    for (; at < end; at++) {
        const unsigned digit = *at - '0';
        if (digit >= 10)
            return false;
        if (exponent < number_exponent_far)
            exponent = exponent * 10 + static_cast<int>(digit);
    }
    *power += negative ? -exponent : exponent;
    return true;
}

// Sets *magnitude to the double nearest to what was taken. False if that takes more digits: it is
// then this one or the next.
DEVICE_INLINE bool round_number(const struct power *powers, const number_digits &taken,
                                double *magnitude)
{
    if (taken.mantissa <= 1ull << 53 && !taken.more && taken.power >= -TEN_TO_MAX &&
        taken.power <= TEN_TO_MAX) {
        // One operation on two numbers that are exact (Clinger, as in src/text/number.c). It
        // must stay one: not be joined with what is done to the value next.
        const double mantissa = static_cast<double>(taken.mantissa);
        *magnitude = taken.power < 0 ? __ddiv_rn(mantissa, number_ten_to[-taken.power])
                                     : __dmul_rn(mantissa, number_ten_to[taken.power]);
        return true;
    }
    // Mantissas of 64 bits never fail here (Mushtak and Lemire, "Fast Number Parsing Without
    // Fallback", Software: Practice and Experience 53 (7), 2023).
    double next = 0;
    *magnitude = 0; // what decimal_to_double sets, but a compiler cannot know
    decimal_to_double(powers, taken.mantissa, taken.power, magnitude);
    if (!taken.more)
        return true;
    decimal_to_double(powers, taken.mantissa + 1, taken.power, &next);
    return *magnitude == next;
}

// Sets *value to the value of the token begin..end, of at least one byte and no white space; NaN if
// it is not a number. False if only number_exactly can tell: *value is then the one of two
// neighbours that is nearer to zero. `powers` is a copy of number_powers().
DEVICE_INLINE bool number_of(const struct power *powers, const unsigned char *begin,
                             const unsigned char *end, double *value)
{
    const bool negative = *begin == '-';
    begin += negative || *begin == '+';
    number_digits taken = read_number_digits(begin, end);
    const auto is_infinity = [=] { // "inf" or "infinity", in any case
        const long long len = end - begin;
        unsigned long long word = 0;
        for (unsigned i = 0; i < len && (len == 3 || len == 8); i++)
            word |= (begin[i] | 0x20ull) << 8 * i;
        return word == (len == 3 ? 0x666e69ull : 0x7974696e69666e69ull);
    };
    bool decided = true;
    if (taken.any && (taken.end == end || read_number_exponent(taken.end, end, &taken.power)))
        decided = round_number(powers, taken, value);
    else if (!taken.any && is_infinity())
        *value = __longlong_as_double(0x7ff0000000000000);
    else
        *value = __longlong_as_double(0x7ff8000000000000);
    if (negative)
        *value = -*value;
    return decided;
}

// --- exactly ---

// The middle of two doubles has 768 significant digits at most; from there on it only matters
// whether any other digit follows. 800 digits take 2658 bits; the middle times a power of five
// that makes up for them, 5^1124 at most, 2664.
constexpr unsigned number_digits_max = 800;
constexpr unsigned natural_limbs = 88;

// A natural number of 32-bit limbs, the lowest first; limbs lie `stride` words apart.
struct natural {
    unsigned *limbs;
    unsigned stride, count;
};

DEVICE_INLINE unsigned &limb_of(const natural &number, unsigned i)
{
    return number.limbs[i * number.stride];
}

// Computes number = number * factor + addend.
DEVICE_INLINE void multiply_and_add(natural &number, unsigned factor, unsigned addend)
{
    unsigned long long carry = addend;
    for (unsigned i = 0; i < number.count; i++) {
        carry += static_cast<unsigned long long>(limb_of(number, i)) * factor;
        limb_of(number, i) = static_cast<unsigned>(carry);
        carry >>= 32;
    }
    if (carry)
        limb_of(number, number.count++) = static_cast<unsigned>(carry);
}

// Multiplies by a power of Base, as much at a time as a limb holds.
template <unsigned Base> DEVICE_INLINE void multiply_by_power(natural &number, unsigned power)
{
    while (power > 0) {
        unsigned factor = 1;
        for (; power > 0 && factor <= ~0u / Base; power--)
            factor *= Base;
        multiply_and_add(number, factor, 0);
    }
}

// Reads the significant digits of a number without a sign, up to as many as can matter; returns the
// power of ten that they are multiplied with. *more is set if the rest is not zero.
DEVICE_INLINE int read_all_digits(const unsigned char *at, const unsigned char *end,
                                  natural &digits, bool *more)
{
    unsigned count = 0, group = 0, scale = 1; // of the digits that are not in `digits` yet
    int power = 0, fraction = 0;
    *more = false;
    for (; at < end && (*at | 0x20) != 'e'; at++) {
        const unsigned digit = *at - '0';
        if (*at == '.') {
            fraction = 1;
        } else if (count == number_digits_max) {
            power += 1 - fraction;
            *more |= digit != 0;
        } else {
            power -= fraction;
            count += count > 0 || digit > 0;
            group = group * 10 + digit;
            scale *= 10;
        }
        if (scale == 1000000000) {
            multiply_and_add(digits, scale, group);
            group = 0, scale = 1;
        }
    }
    multiply_and_add(digits, scale, group);
    if (at < end)
        read_number_exponent(at, end, &power);
    return power;
}

// Returns the value of a token that number_of did not decide, where it gave `value`; `scratch` is 2
// * natural_limbs words that lie `stride` apart. Slow: some ten thousand steps.
DEVICE_INLINE double number_exactly(const unsigned char *begin, const unsigned char *end,
                                    double value, unsigned *scratch, unsigned stride)
{
    natural left = {scratch, stride, 0}, right = {scratch + natural_limbs * stride, stride, 0};
    bool more;
    const int power = read_all_digits(begin + (*begin == '-' || *begin == '+'), end, left, &more);

    // The middle: (2 * mantissa + 1) * 2^exponent.
    const unsigned long long bits =
        static_cast<unsigned long long>(__double_as_longlong(value)) & ~0ull >> 1;
    const int biased = static_cast<int>(bits >> 52);
    const unsigned long long mantissa = (bits & ~0ull >> 12) | (biased ? 1ull << 52 : 0);
    const unsigned long long middle = 2 * mantissa + 1;
    const int exponent = (biased ? biased : 1) - 1076;
    multiply_and_add(right, 1, static_cast<unsigned>(middle >> 32));
    multiply_and_add(right, 1u << 16, static_cast<unsigned>(middle >> 16) & 0xffff);
    multiply_and_add(right, 1u << 16, static_cast<unsigned>(middle) & 0xffff);

    const int shift = power - exponent;
    multiply_by_power<5>(power < 0 ? right : left,
                         static_cast<unsigned>(power < 0 ? -power : power));
    multiply_by_power<2>(shift < 0 ? right : left,
                         static_cast<unsigned>(shift < 0 ? -shift : shift));
    bool up = left.count > right.count;
    if (left.count == right.count) {
        unsigned i = left.count; // limbs that are alike so far
        while (i > 0 && limb_of(left, i - 1) == limb_of(right, i - 1))
            i--;
        up = i > 0 ? limb_of(left, i - 1) > limb_of(right, i - 1) : more || mantissa % 2 != 0;
    }
    // The next double away from zero has the next bits.
    return __longlong_as_double(__double_as_longlong(value) + up);
}

// --- the texts of warps ---

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

DEVICE_INLINE unsigned row_of_number(const count_args &args, double value)
{
    return row_of_bits(args.map.rows, static_cast<unsigned long long>(__double_as_longlong(value)));
}

DEVICE_INLINE void count_number(row_cache &cache, const count_args &args, double value)
{
    constexpr unsigned slots = row_cache::slots;
    const unsigned row = row_of_number(args, value);
    if (!count_at(cache, row % slots, row) && !count_at(cache, (row + slots / 2) % slots, row))
        atomicAdd(&args.counts[row], 1ull);
}

// --- finding tokens ---

// Returns the highest bit of every byte that equals the one repeated in `all`, or that is white
// space.
DEVICE_INLINE unsigned bytes_equal(unsigned word, unsigned all)
{
    const unsigned other = word ^ all;
    return ~(((other & 0x7f7f7f7fu) + 0x7f7f7f7fu) | other) & 0x80808080u;
}

DEVICE_INLINE unsigned bytes_space(unsigned word)
{
    const unsigned low = word & 0x7f7f7f7fu;
    const unsigned from_tab = low + 0x77777777u, beyond_return = low + 0x72727272u;
    return bytes_equal(word, 0x20202020u) | (from_tab & ~beyond_return & ~word & 0x80808080u);
}

// Returns the highest bits of four bytes as the lowest four, in their order.
DEVICE_INLINE unsigned gather_bits(unsigned highest)
{
    return highest * 0x00204081u >> 28;
}

// Returns the white space of four words, a bit a byte; adds their newlines to *lines.
DEVICE_INLINE unsigned spaces_of(const uint4 &vector, unsigned *lines)
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

// Returns the bits of a piece whose bytes begin a token; `before` is the white space of the piece
// before.
DEVICE_INLINE unsigned beginnings(unsigned spaces, unsigned before)
{
    return ~spaces & __funnelshift_l(before, spaces, 1);
}

// The warp together: lists the tokens that begin in its text, and returns how many. `before` has
// the white space before it in its highest bit.
DEVICE_INLINE unsigned list_tokens(warp_text *own, unsigned before)
{
    const unsigned lane = threadIdx.x % 32;
    const unsigned first = beginnings(own->spaces[lane], lane ? own->spaces[lane - 1] : before);
    const unsigned second = beginnings(own->spaces[lane + 32], own->spaces[lane + 31]);
    // Both halves' counts in one word: 32 pieces have 512 tokens at most.
    const unsigned counts = static_cast<unsigned>(__popc(first) | __popc(second) << 16);
    const unsigned sums = warp_sum(counts), totals = warp_last(sums), ahead = sums - counts;
    const unsigned half = totals & 0xffff;
    const auto list = [](unsigned begins, unsigned piece, unsigned short *at) {
        for (; begins; begins &= begins - 1)
            *at++ = static_cast<unsigned short>(
                piece * piece_bytes + static_cast<unsigned>(__ffs(static_cast<int>(begins))) - 1);
    };
    list(first, lane, own->begins + (ahead & 0xffff));
    list(second, lane + 32, own->begins + half + (ahead >> 16));
    return half + (totals >> 16);
}

// Tokens: what the kernels below count, which are templates over that (fields.cuh has lines).
struct number_tokens {
    DEVICE_INLINE bool is_end(unsigned char c)
    {
        return number_is_space(c);
    }

    // Returns a bit for each byte of a piece, at an offset: it ends what is before it. Adds the
    // newlines in it to *lines.
    DEVICE_INLINE unsigned ends_of(const text_span &, unsigned long long, const uint4 &a,
                                   const uint4 &b, unsigned *lines)
    {
        return spaces_of(a, lines) | spaces_of(b, lines) << 16;
    }

    // Counts what begins in the warp's text at an offset, and in the data at `there`; false if that
    // is for numbers_rest to do.
    DEVICE_INLINE bool count(const count_args &args, row_cache &cache, const warp_text *own,
                             unsigned begin, const unsigned char *)
    {
        const unsigned piece = begin / piece_bytes;
        const unsigned spaces =
            __funnelshift_r(own->spaces[piece], own->spaces[piece + 1], begin % piece_bytes);
        const unsigned char *const token =
            reinterpret_cast<const unsigned char *>(own->text) + begin;
        double value;
        if (!spaces ||
            !number_of(args.powers, token, token + __ffs(static_cast<int>(spaces)) - 1, &value))
            return false;
        count_number(cache, args, value);
        return true;
    }

    // Finds the token begin..*end, of any length, for numbers_rest. False if it is too long.
    DEVICE_INLINE bool find(const count_args &args, const unsigned char **begin,
                            const unsigned char **end)
    {
        const unsigned char *const limit = args.data + args.len, *at = *begin;
        while (at < limit && at - *begin <= NUMBER_MAX && !number_is_space(*at))
            at++;
        *end = at;
        return at - *begin <= NUMBER_MAX;
    }
};

// --- the kernels ---

template <class Of>
__global__ void __launch_bounds__(NUMBERS_BLOCK, numbers_resident) numbers(count_args args)
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
        const bool begins = offset == 0 || Of::is_end(args.data[offset - span.begin - 1]);
        for (unsigned piece = lane; piece <= warp_pieces; piece += 32) {
            const unsigned long long at = offset + piece * piece_bytes;
            const uint4 a = vector_at(span, at, ' '), b = vector_at(span, at + 16, ' ');
            unsigned found = 0;
            own->text[2 * piece] = a;
            own->text[2 * piece + 1] = b;
            own->spaces[piece] = Of::ends_of(span, at, a, b, &found);
            lines += piece < warp_pieces ? found : 0; // the last piece is the next text's
        }
        __syncwarp();
        const unsigned tokens = list_tokens(own, begins ? 1u << 31 : 0);
        __syncwarp();
        for (unsigned i = lane; i < tokens; i += 32) {
            const unsigned begin = own->begins[i];
            const unsigned long long there = offset + begin - span.begin;
            if (!Of::count(args, *cache, own, begin, args.data + there))
                args.rest[1 + atomicAdd(&args.rest[0], 1u)] = static_cast<unsigned>(there);
        }
        __syncwarp();
    }
    // The word after the rows: how many newline characters there are (gpu/engine/device.h).
    for (int by = 16; by > 0; by /= 2)
        lines += __shfl_xor_sync(0xffffffffu, lines, by);
    if (lane == 0)
        add_to_counts(args, args.map.bins, lines);
    __syncthreads();
    merge_cache(*cache, args);
}

// Counts what `numbers` has put off, a token a thread.
template <class Of>
__global__ void __launch_bounds__(NUMBERS_REST_BLOCK) numbers_rest(count_args args)
{
    __shared__ unsigned scratch[2 * natural_limbs * NUMBERS_REST_BLOCK]; // a column a thread
    const unsigned lane = threadIdx.x % 32, rest = args.rest[0];
    for (unsigned long long warp = grid_thread() - lane; warp < rest; warp += grid_threads()) {
        unsigned row = no_bin;
        if (warp + lane < rest) {
            const unsigned char *begin = args.data + args.rest[1 + warp + lane], *end;
            double value = __longlong_as_double(0x7ff8000000000000);
            if (Of::find(args, &begin, &end) && !number_of(args.powers, begin, end, &value))
                value =
                    number_exactly(begin, end, value, scratch + threadIdx.x, NUMBERS_REST_BLOCK);
            row = row_of_number(args, value);
        }
        __syncwarp();
        add_alike(args, row);
    }
}

#endif
