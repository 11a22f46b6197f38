// SPDX-License-Identifier: MIT
// One token on the device: its value by the rules of src/text/number.h, to the bit. Finding
// tokens and counting their rows is done in gpu/count/numbers.cuh.
//
// Most tokens are decided by one operation on exact doubles, the others by a product of 128 bits
// (src/text/number.h). What is left are tokens of more than 19 digits that lie so near
// to the middle of two doubles that the digits after the 19th decide: those are compared with that
// middle, both as natural numbers.
#ifndef GPUHISTO_NUMBER_CUH
#define GPUHISTO_NUMBER_CUH

extern "C" {
#include "src/text/number.h"
}

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

static __device__ __forceinline__ number_digits read_number_digits(const unsigned char *at,
                                                                   const unsigned char *end)
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
static __device__ __forceinline__ bool read_number_exponent(const unsigned char *at,
                                                            const unsigned char *end, int *power)
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

// True if at..end is "inf" or "infinity", in any case.
static __device__ __forceinline__ bool is_infinity(const unsigned char *at,
                                                   const unsigned char *end)
{
    const long long len = end - at;
    unsigned long long word = 0;
    if (len != 3 && len != 8)
        return false;
    for (unsigned i = 0; i < len; i++)
        word |= (at[i] | 0x20ull) << 8 * i;
    return word == (len == 3 ? 0x666e69ull : 0x7974696e69666e69ull);
}

// Sets *magnitude to the double nearest to what was taken. False if that takes more digits: it is
// then this one or the next.
static __device__ __forceinline__ bool round_number(const struct power *powers,
                                                    const number_digits &taken, double *magnitude)
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
static __device__ __forceinline__ bool number_of(const struct power *powers,
                                                 const unsigned char *begin,
                                                 const unsigned char *end, double *value)
{
    const bool negative = *begin == '-';
    begin += negative || *begin == '+';
    number_digits taken = read_number_digits(begin, end);
    bool decided = true;
    if (taken.any && (taken.end == end || read_number_exponent(taken.end, end, &taken.power)))
        decided = round_number(powers, taken, value);
    else if (!taken.any && is_infinity(begin, end))
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

static __device__ __forceinline__ unsigned &limb_of(const natural &number, unsigned i)
{
    return number.limbs[i * number.stride];
}

// Computes number = number * factor + addend.
static __device__ __forceinline__ void multiply_and_add(natural &number, unsigned factor,
                                                        unsigned addend)
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

static __device__ __forceinline__ void multiply_by_five_to(natural &number, unsigned power)
{
    constexpr unsigned five_to_13 = 1220703125; // the last that a limb holds
    for (; power >= 13; power -= 13)
        multiply_and_add(number, five_to_13, 0);
    for (; power > 0; power--)
        multiply_and_add(number, 5, 0);
}

static __device__ __forceinline__ void shift_left(natural &number, unsigned by)
{
    const unsigned limbs = by / 32, bits = by % 32;
    if (number.count == 0)
        return;
    limb_of(number, number.count) = 0;
    for (unsigned i = number.count + 1; i-- > 0;) {
        const unsigned high = limb_of(number, i), low = i ? limb_of(number, i - 1) : 0;
        limb_of(number, i + limbs) = __funnelshift_l(low, high, bits);
    }
    for (unsigned i = 0; i < limbs; i++)
        limb_of(number, i) = 0;
    number.count += limbs;
    number.count += limb_of(number, number.count) != 0;
}

// Returns a number below, at or above 0 as a is below, equal to or above b.
static __device__ __forceinline__ int compare(const natural &a, const natural &b)
{
    if (a.count != b.count)
        return a.count < b.count ? -1 : 1;
    for (unsigned i = a.count; i-- > 0;)
        if (limb_of(a, i) != limb_of(b, i))
            return limb_of(a, i) < limb_of(b, i) ? -1 : 1;
    return 0;
}

// Reads the significant digits of a number without a sign, up to as many as can matter; returns the
// power of ten that they are multiplied with. *more is set if the rest is not zero.
static __device__ __forceinline__ int
read_all_digits(const unsigned char *at, const unsigned char *end, natural &digits, bool *more)
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
static __device__ __forceinline__ double number_exactly(const unsigned char *begin,
                                                        const unsigned char *end, double value,
                                                        unsigned *scratch, unsigned stride)
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
    multiply_and_add(right, 0, static_cast<unsigned>(middle >> 32));
    shift_left(right, 32);
    multiply_and_add(right, 1, static_cast<unsigned>(middle));

    multiply_by_five_to(power < 0 ? right : left,
                        static_cast<unsigned>(power < 0 ? -power : power));
    const int shift = power - exponent;
    shift_left(shift < 0 ? right : left, static_cast<unsigned>(shift < 0 ? -shift : shift));
    const int order = compare(left, right);
    const bool up = order > 0 || (order == 0 && (more || mantissa % 2 != 0));
    // The next double away from zero has the next bits.
    return __longlong_as_double(__double_as_longlong(value) + up);
}

#endif
