/* The algorithm of Eisel and Lemire: Daniel Lemire, "Number Parsing at a Gigabyte per Second",
 * Software: Practice and Experience 51 (8), 2021, sections 5 to 9. The mantissa is multiplied by
 * the first 128 bits of the power of five; the powers of two only count in the exponent. */
#include "number_nearest.h"

#include <math.h>
#include <string.h>

/* A mantissa of 64 bits times a smaller power is less than half of the least double, times a
 * greater one more than the largest. */
#define POWER_MIN (-342)
#define POWER_MAX 308

/* Down to this one, the quotient of a mantissa and a power of five can be an integer. Such powers
 * are rounded up, so that the product does not come out just below. */
#define EXACT_MIN (-27)

/* Bits of a double's mantissa that are stored, and those of the product that are looked at: these,
 * the one that is not stored, one to round by, one more as the product's first bit may be 0. */
#define STORED 52
#define WANTED (STORED + 3)

#define EXPONENT_MAX 0x7ff
#define EXPONENT_BIAS 1023

/* The first bits of 5^power, with the highest bit set. */
struct power {
    uint64_t high, low;
};

static struct power powers[POWER_MAX - POWER_MIN + 1];

/* An integer large enough for 5^308 (716 bits), and for 2^BIG_BITS / 5^342 (795 bits less) to have
 * 128 bits left. The lowest limb is first. */
#define BIG_LIMBS 32
#define BIG_BITS (32 * BIG_LIMBS - 1)

struct big {
    uint32_t limbs[BIG_LIMBS];
};

static void times_five(struct big *big)
{
    uint64_t carry = 0;
    for (unsigned i = 0; i < BIG_LIMBS; i++) {
        carry += (uint64_t)big->limbs[i] * 5;
        big->limbs[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* Rounds down. That is exact even if done again and again, as floor(floor(x / 5) / 5) is
 * floor(x / 25). */
static void divide_by_five(struct big *big)
{
    uint64_t rest = 0;
    for (unsigned i = BIG_LIMBS; i-- > 0;) {
        rest = rest << 32 | big->limbs[i];
        big->limbs[i] = (uint32_t)(rest / 5);
        rest %= 5;
    }
}

/* The first 128 bits, the rest is dropped; zeros are added if there are fewer. */
static struct power first_bits(const struct big *big)
{
    unsigned top = BIG_LIMBS;
    while (top > 1 && big->limbs[top - 1] == 0)
        top--;
    uint32_t limbs[5];
    for (unsigned i = 0; i < 5; i++)
        limbs[i] = top > i ? big->limbs[top - 1 - i] : 0;
    unsigned shift = (unsigned)__builtin_clz(limbs[0]);
    for (unsigned i = 0; i < 4; i++)
        limbs[i] = (uint32_t)(((uint64_t)limbs[i] << 32 | limbs[i + 1]) << shift >> 32);
    return (struct power){(uint64_t)limbs[0] << 32 | limbs[1], (uint64_t)limbs[2] << 32 | limbs[3]};
}

void number_nearest_prepare(void)
{
    struct big big = {{1}};
    for (int power = 0; power <= POWER_MAX; power++) {
        powers[power - POWER_MIN] = first_bits(&big);
        times_five(&big);
    }
    big = (struct big){{0}};
    big.limbs[BIG_LIMBS - 1] = (uint32_t)1 << 31;
    for (int power = -1; power >= POWER_MIN; power--) {
        divide_by_five(&big);
        struct power bits = first_bits(&big);
        if (power >= EXACT_MIN && ++bits.low == 0)
            bits.high++;
        powers[power - POWER_MIN] = bits;
    }
}

/* The high word of the product; *low is the other one. */
static inline uint64_t multiply(uint64_t a, uint64_t b, uint64_t *low)
{
#ifdef __SIZEOF_INT128__
    unsigned __int128 product = (unsigned __int128)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    *low = a * b;
    return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

/* floor(log2(10^power)) */
static inline int binary_exponent(int power)
{
    return 217706 * power >> 16;
}

/* A mantissa with one bit to round by, whatever is below having been dropped: to the nearest. */
static inline uint64_t rounded(uint64_t mantissa)
{
    return (mantissa + (mantissa & 1)) >> 1;
}

static inline double from_bits(uint64_t exponent, uint64_t mantissa)
{
    uint64_t bits = exponent << STORED | (mantissa & ((UINT64_C(1) << STORED) - 1));
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Below the least normal double all that is lacking in the exponent is cut from the mantissa; such
 * powers of ten are never half way between two doubles. */
static double subnormal(int exponent, uint64_t mantissa)
{
    if (exponent <= -63)
        return 0;
    mantissa = rounded(mantissa >> (1 - exponent));
    return from_bits(mantissa >> STORED, mantissa);
}

bool number_nearest(uint64_t mantissa, int64_t power, double *value)
{
    if (mantissa == 0 || power < POWER_MIN) {
        *value = 0;
        return true;
    }
    if (power > POWER_MAX) {
        *value = HUGE_VAL;
        return true;
    }
    const struct power *five = &powers[power - POWER_MIN];
    const int zeros = __builtin_clzll(mantissa);
    const uint64_t below = UINT64_MAX >> WANTED;
    uint64_t low, high = multiply(mantissa << zeros, five->high, &low);
    if ((high & below) == below) {
        /* What the other half of the power adds may be carried up to the bits that are wanted. */
        uint64_t unused, more = multiply(mantissa << zeros, five->low, &unused);
        low += more;
        high += low < more;
    }
    if (low == UINT64_MAX && (power < EXACT_MIN || power > 55))
        return false; /* 5^55 is the last that 128 bits hold exactly */

    const int first = (int)(high >> 63), shift = 64 - WANTED + first;
    uint64_t bits = high >> shift;
    int exponent = binary_exponent((int)power) + 63 + first - zeros + EXPONENT_BIAS;
    if (exponent <= 0) {
        *value = subnormal(exponent, bits);
        return true;
    }
    /* Half way, to be rounded down to an even one: only where nothing was dropped. With other
     * powers what is half way has more than 64 bits. */
    if (low == 0 && power >= -4 && power <= 23 && (bits & 3) == 1 && bits << shift == high)
        bits--;
    bits = rounded(bits);
    if (bits >> (STORED + 1)) {
        bits >>= 1;
        exponent++;
    }
    *value = exponent >= EXPONENT_MAX ? HUGE_VAL : from_bits((uint64_t)exponent, bits);
    return true;
}
