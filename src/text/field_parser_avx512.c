/* SPDX-License-Identifier: MIT */
/* Parses numbers with AVX-512: up to eight tokens at a time, those that end within 64 bytes.
 *
 * Each token is put into a lane of 16 bytes, its end at the lane's end. Masks of 64 bits, 16 a
 * lane, say which bytes are digits, dots and signs. The digits before the dot are moved over it.
 * Neighbours are joined to numbers of two, four, eight and 16 digits, and divided by the power of
 * ten that the dot stands for. That rounds once: either there is no dot, or there are at most 15
 * digits, which a double holds.
 *
 * With an exponent, the lane ends at the e, and one product or quotient of exact numbers gives the
 * value. Words, dates and the like have a byte that is in no number ("alien"). What has nothing but
 * digits, dots and minus signs, but is no plain number, is no number. All other tokens are parsed
 * one by one: those of up to 32 bytes before the exponent with all digits in one vector. */
#include "field_parser.h"
#include "number.h"
#include "src/base/cpu_features.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>
#include <math.h>

#define TARGET                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,"             \
                          "avx512bitalg,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline))

TARGET INLINE uint64_t bytes_equal(const unsigned char *at, unsigned char byte)
{
    uint64_t bits = _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(at), _mm512_set1_epi8((char)byte));
    __asm__("" : "+r"(bits)); /* or compilers wait for bits that are moved back, to mask others */
    return bits;
}

TARGET INLINE uint64_t bytes_low(const unsigned char *at)
{
    return _mm512_cmple_epu8_mask(_mm512_loadu_si512(at), _mm512_set1_epi8(' '));
}

TARGET INLINE void copy_32(unsigned char *to, const unsigned char *from)
{
    _mm256_storeu_si256((void *)to, _mm256_loadu_si256((const void *)from));
}

/* A mark with bit 5 set is told by its four low bits, and so is a space. */
TARGET INLINE struct json_bytes json_bytes_at(const unsigned char *at)
{
    const __m512i marks = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}', 0, 0));
    const __m512i spaces = _mm512_broadcast_i32x4(
        _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', 0, 0, 0, '\r', 0, 0));
    const __m512i bytes = _mm512_loadu_si512(at);
    const __m512i folded = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
    return (struct json_bytes){
        .quotes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')),
        .backslashes = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')),
        .marks = _mm512_cmpeq_epi8_mask(folded, _mm512_shuffle_epi8(marks, bytes)),
        .spaces = _mm512_cmpeq_epi8_mask(bytes, _mm512_shuffle_epi8(spaces, bytes)),
        .controls = _mm512_cmple_epu8_mask(bytes, _mm512_set1_epi8(0x1f))};
}

/* 0, 1, 2, ... */
TARGET INLINE __m512i numbered(void)
{
    static const uint8_t numbers[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    return _mm512_loadu_si512(numbers);
}

TARGET INLINE void json_write_positions(uint64_t bits, unsigned offset, uint16_t *to)
{
    const __m512i positions = _mm512_maskz_compress_epi8(bits, numbered());
    const __m512i from = _mm512_set1_epi16((short)offset);
    const __m512i low = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(positions));
    const __m512i high = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(positions, 1));
    _mm512_storeu_si512(to, _mm512_add_epi16(low, from));
    _mm512_storeu_si512(to + 32, _mm512_add_epi16(high, from));
}

#include "json_loop.h"

/* --- numbers --- */

#define APART __attribute__((noinline)) /* so that the caller keeps its registers */

#define TOKENS 8
#define LANE 16
#define LONG 32

/* Where no number is plain, one in RETRY windows is tried. */
#define RETRY 8

/* Repeats a mask of 16 bits for each of the four lanes. */
#define EACH_LANE(mask) (UINT64_C(0x0001000100010001) * (mask))

static bool runs_here(void)
{
    return cpu_has(AVX512F, "avx512f") && cpu_has(AVX512BW, "avx512bw") &&
           cpu_has(AVX512DQ, "avx512dq") && cpu_has(AVX512VL, "avx512vl") &&
           cpu_has(AVX512_VBMI, "avx512vbmi") && cpu_has(AVX512_VBMI2, "avx512vbmi2") &&
           cpu_has(AVX512_BITALG, "avx512bitalg") && cpu_has(BMI1, "bmi") &&
           cpu_has(BMI2, "bmi2") && cpu_has(POPCNT, "popcnt");
}

/* The places where the tokens of a window begin, stop (at the end, or at the e of an exponent) and
 * end, a byte each. */
struct tokens {
    __m512i bytes, begins, stops, ends;
    const unsigned char *window; /* set for other_numbers only */
};

/* Four tokens. */
struct lanes {
    __m512i quads;     /* digits joined to numbers of four, with zeros before them */
    uint64_t front;    /* the bytes up to the dot; none without a dot */
    uint64_t negative; /* a bit for a minus sign */
    uint64_t odd;      /* not 0 if this is no plain number */
};

TARGET INLINE uint64_t white_space(__m512i bytes)
{
    /* The white space that ends with each lower half of a byte. */
    const __m512i spaces = _mm512_broadcast_i32x4(
        _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', '\v', '\f', '\r', 0, 0));
    return _mm512_cmpeq_epi8_mask(bytes, _mm512_shuffle_epi8(spaces, bytes));
}

/* Kinds of bytes. OTHER is in some numbers, but not in plain ones: plus signs and letters of
 * exponents and infinity. ALIEN is in no number. A byte that is not ASCII has the bit of ALIEN
 * itself. */
#define OTHER 1
#define ALIEN 0x80

TARGET INLINE __m512i kinds_of(__m512i bytes)
{
#define A ALIEN
#define O OTHER
    static const uint8_t kinds[128] = {
        A, A, A, A, A, A, A, A, A, 0, 0, 0, 0, 0, A, A, /* \t to \r */
        A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A, /* */
        0, A, A, A, A, A, A, A, A, A, A, O, A, 0, 0, A, /* space + - . */
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, A, A, A, A, A, A, /* digits */
        A, A, A, A, A, O, O, A, A, O, A, A, A, A, O, A, /* E F I N */
        A, A, A, A, O, A, A, A, A, O, A, A, A, A, A, A, /* T Y */
        A, A, A, A, A, O, O, A, A, O, A, A, A, A, O, A, /* e f i n */
        A, A, A, A, O, A, A, A, A, O, A, A, A, A, A, A, /* t y */
    };
#undef A
#undef O
    return _mm512_permutex2var_epi8(_mm512_loadu_si512(kinds), bytes,
                                    _mm512_loadu_si512(kinds + 64));
}

TARGET INLINE uint64_t alien_bytes(__m512i bytes)
{
    return _mm512_movepi8_mask(_mm512_or_si512(bytes, kinds_of(bytes)));
}

TARGET INLINE uint64_t other_bytes(__m512i bytes)
{
    return _mm512_test_epi8_mask(kinds_of(bytes), _mm512_set1_epi8(OTHER));
}

/* Returns which tokens, a bit each in order, have some of these bytes. A carry runs from where a
 * token begins to its first such byte or white space. */
TARGET INLINE unsigned tokens_with(uint64_t some, uint64_t begins, uint64_t white)
{
    const uint64_t others = ~(white | some), stops = (begins + others) & ~others;
    return (unsigned)_pext_u64(some, stops);
}

TARGET INLINE uint64_t letters_e(__m512i bytes)
{
    return _mm512_cmpeq_epi8_mask(_mm512_or_si512(bytes, _mm512_set1_epi8(0x20)),
                                  _mm512_set1_epi8('e'));
}

/* Returns the highest bit of each lane that is not empty. */
INLINE uint64_t not_empty(uint64_t lanes)
{
    const uint64_t others = EACH_LANE(0x7fff);
    return (((lanes & others) + others) | lanes) & ~others;
}

/* Reads the tokens `first`, first + 2 and so on. */
TARGET INLINE struct lanes lanes_of(const struct tokens *tokens, char first)
{
    const __m512i from_stop = _mm512_broadcast_i32x4(
        _mm_setr_epi8(-16, -15, -14, -13, -12, -11, -10, -9, -8, -7, -6, -5, -4, -3, -2, -1));
    const __m512i which = _mm512_add_epi8(
        _mm512_set1_epi8(first),
        _mm512_set_epi64(0x0606060606060606, 0x0606060606060606, 0x0404040404040404,
                         0x0404040404040404, 0x0202020202020202, 0x0202020202020202, 0, 0));
    __m512i begin = _mm512_permutexvar_epi8(which, tokens->begins);
    __m512i stop = _mm512_permutexvar_epi8(which, tokens->stops);
    __m512i at = _mm512_add_epi8(stop, from_stop);
    __m512i bytes = _mm512_permutexvar_epi8(at, tokens->bytes);
    __m512i digits = _mm512_sub_epi8(bytes, _mm512_set1_epi8('0'));

    uint64_t token = _mm512_cmpge_epi8_mask(at, begin);
    __mmask64 is_digit = _mm512_mask_cmplt_epu8_mask(token, digits, _mm512_set1_epi8(10));
    uint64_t dot = _mm512_mask_cmpeq_epi8_mask(token, bytes, _mm512_set1_epi8('.'));
    uint64_t minus = _mm512_mask_cmpeq_epi8_mask(token, bytes, _mm512_set1_epi8('-'));

    struct lanes lanes;
    lanes.negative = minus & ~(token << 1 & EACH_LANE(0xfffe));
    uint64_t other_dots = dot - (not_empty(dot) >> 15); /* and the bytes before the first dot */
    lanes.front = dot ^ other_dots;
    lanes.odd = (token ^ is_digit ^ dot ^ lanes.negative) | (dot & other_dots) |
                (~not_empty(is_digit) & EACH_LANE(0x8000));

    digits = _mm512_maskz_mov_epi8(is_digit, digits);
    digits = _mm512_mask_mov_epi8(digits, lanes.front, _mm512_bslli_epi128(digits, 1));
    __m512i pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(1 << 8 | 10));
    lanes.quads = _mm512_madd_epi16(pairs, _mm512_set1_epi32(1 << 16 | 100));
    return lanes;
}

/* Returns sixteen bits for each token, in order. */
TARGET INLINE __m128i in_order(uint64_t even, uint64_t odd)
{
    return _mm_unpacklo_epi16(_mm_cvtsi64_si128((long long)even),
                              _mm_cvtsi64_si128((long long)odd));
}

/* Returns a bit for each byte that is not 0. */
TARGET INLINE __mmask8 not_zero(uint64_t bytes)
{
    __m128i vector = _mm_cvtsi64_si128((long long)bytes);
    return (__mmask8)_mm_test_epi8_mask(vector, vector);
}

/* Sets *exponents to what follows the e, up to eight bytes, in eight lanes of 64 bits. Returns a
 * bit for each that is no exponent. */
TARGET INLINE __mmask8 exponents_of(const struct tokens *tokens, __m512i *exponents)
{
    const __m512i from_end = _mm512_set1_epi64((long long)0xfffefdfcfbfaf9f8); /* -8 to -1 */
    const __m512i which = _mm512_set_epi64(
        0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
        0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    __m512i stop = _mm512_permutexvar_epi8(which, tokens->stops);
    __m512i end = _mm512_permutexvar_epi8(which, tokens->ends);
    __m512i at = _mm512_add_epi8(end, from_end);
    __m512i bytes = _mm512_permutexvar_epi8(at, tokens->bytes);
    __m512i digits = _mm512_sub_epi8(bytes, _mm512_set1_epi8('0'));

    uint64_t exponent = _mm512_cmpgt_epi8_mask(at, stop);
    uint64_t first = exponent & ~(exponent << 1 & EACH_BYTE(0xfe));
    uint64_t minus = _mm512_mask_cmpeq_epi8_mask(first, bytes, _mm512_set1_epi8('-'));
    uint64_t plus = _mm512_mask_cmpeq_epi8_mask(first, bytes, _mm512_set1_epi8('+'));
    uint64_t is_digit = _mm512_mask_cmplt_epu8_mask(exponent, digits, _mm512_set1_epi8(10));
    __m512i lens = _mm512_sub_epi8(end, stop); /* with the e */

    __m512i pairs = _mm512_maddubs_epi16(_mm512_maskz_mov_epi8(is_digit, digits),
                                         _mm512_set1_epi16(1 << 8 | 10));
    __m512i quads = _mm512_madd_epi16(pairs, _mm512_set1_epi32(1 << 16 | 100));
    __m512i magnitudes = _mm512_add_epi64(_mm512_mul_epu32(quads, _mm512_set1_epi64(10000)),
                                          _mm512_srli_epi64(quads, 32));
    *exponents =
        _mm512_mask_sub_epi64(magnitudes, not_zero(minus), _mm512_setzero_si512(), magnitudes);
    return (__mmask8)(not_zero(exponent ^ is_digit ^ minus ^ plus) | ~not_zero(is_digit) |
                      not_zero(_mm512_cmpgt_epi8_mask(lens, _mm512_set1_epi8(9))));
}

/* Sets the values in `which` to mantissas times powers of ten. Returns a bit for each whose factors
 * are not exact, so that it might be rounded twice. */
TARGET INLINE __mmask8 scale_by_powers(__m512i mantissas, __m512i powers, __mmask8 which,
                                       __m512d *values)
{
    static const double ten_to[] = TEN_TO;
    const __m512i max = _mm512_set1_epi64(TEN_TO_MAX);
    __m512i magnitudes = _mm512_abs_epi64(powers);
    __mmask8 exact = _mm512_cmple_epu64_mask(magnitudes, max) &
                     _mm512_cmple_epu64_mask(mantissas, _mm512_set1_epi64(INT64_C(1) << 53));
    __m512d scale = _mm512_i64gather_pd(_mm512_min_epu64(magnitudes, max), ten_to, 8);
    __m512d mantissa = _mm512_cvtepu64_pd(mantissas), value = _mm512_mul_pd(mantissa, scale);
    value = _mm512_mask_div_pd(value, _mm512_movepi64_mask(powers), mantissa, scale);
    *values = _mm512_mask_mov_pd(*values, which, value);
    return which & (__mmask8)~exact;
}

/* Writes eight values; those in `with_exponent` have an exponent. Returns a bit for each that is
 * still unknown. */
TARGET INLINE unsigned plain_numbers(const struct tokens *tokens, __mmask8 with_exponent,
                                     double *values)
{
    const __m512d ten_to_low = _mm512_setr_pd(1, 1e15, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9);
    const __m512d ten_to_high = _mm512_setr_pd(1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1);
    struct lanes even = lanes_of(tokens, 0), odd = lanes_of(tokens, 1);

    __m512i quads = _mm512_packus_epi32(even.quads, odd.quads);
    __m512i eights = _mm512_madd_epi16(quads, _mm512_set1_epi32(1 << 16 | 10000));
    __m512i mantissas = _mm512_add_epi64(_mm512_mul_epu32(eights, _mm512_set1_epi64(100000000)),
                                         _mm512_srli_epi64(eights, 32));

    /* If the dot comes last, all 16 bytes are up to it: there is no fraction, as without a dot. */
    __m512i front = _mm512_cvtepu16_epi64(_mm_popcnt_epi16(in_order(even.front, odd.front)));
    __m512d scale = _mm512_permutex2var_pd(ten_to_low, front, ten_to_high);
    __m512d magnitudes = _mm512_div_pd(_mm512_cvtepu64_pd(mantissas), scale);

    __m128i not_plain = in_order(even.odd, odd.odd);
    unsigned others = _mm_test_epi16_mask(not_plain, not_plain);
    if (with_exponent) {
        __m512i fractions = _mm512_and_si512(_mm512_sub_epi64(_mm512_setzero_si512(), front),
                                             _mm512_set1_epi64(LANE - 1));
        __m512i exponents;
        others |= exponents_of(tokens, &exponents) & with_exponent;
        others |= scale_by_powers(mantissas, _mm512_sub_epi64(exponents, fractions), with_exponent,
                                  &magnitudes);
    }

    __m128i negative = in_order(even.negative, odd.negative);
    _mm512_storeu_pd(values, _mm512_mask_xor_pd(magnitudes, _mm_test_epi16_mask(negative, negative),
                                                magnitudes, _mm512_set1_pd(-0.0)));
    return others;
}

/* Reads an exponent of up to eight digits, [at, end). Eight bytes from each of its bytes on are
 * readable. */
INLINE bool exponent_of(const unsigned char *at, const unsigned char *end, int64_t *exponent)
{
    const bool negative = *at == '-';
    at += negative || *at == '+';
    uint64_t digits = byte_word(at) ^ EACH_BYTE('0');
    const ptrdiff_t count = end - at;
    if (count < 1 || count > 8)
        return false;
    digits <<= 64 - 8 * count;
    if ((((digits & EACH_BYTE(0x7f)) + EACH_BYTE(0x76)) | digits) & EACH_BYTE(0x80))
        return false;
    const int64_t magnitude = (int64_t)number_of_digits(digits);
    *exponent = negative ? -magnitude : magnitude;
    return true;
}

/* A token of up to LONG bytes before its exponent. */
struct long_token {
    uint64_t mantissa;
    int64_t power; /* of ten, to multiply by */
    bool negative;
};

/* Reads digits, which may have a sign and a dot: the `len` bytes before stop, LONG at most, before
 * which as many are readable. False if they are something else, or more than 19 digits matter. */
TARGET INLINE bool read_digits(const unsigned char *stop, unsigned len, struct long_token *token)
{
    const __m256i one_before =
        _mm256_sub_epi8(_mm512_castsi512_si256(numbered()), _mm256_set1_epi8(1));
    const uint32_t all = (uint32_t)(UINT64_C(0xffffffff00000000) >> len);
    const __m256i bytes = _mm256_loadu_si256((const void *)(stop - LONG));
    __m256i digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
    const uint32_t is_digit = _mm256_mask_cmplt_epu8_mask(all, digits, _mm256_set1_epi8(10));
    const uint32_t dot = _mm256_mask_cmpeq_epi8_mask(all, bytes, _mm256_set1_epi8('.'));
    const uint32_t front = (dot - (dot != 0)) ^ dot; /* the bytes up to the dot */
    const unsigned char first = stop[-(int)len];
    const uint32_t sign = first == '-' || first == '+' ? all & -all : 0;

    digits = _mm256_maskz_mov_epi8(is_digit, digits);
    digits =
        _mm256_mask_mov_epi8(digits, front, _mm256_maskz_permutexvar_epi8(~1u, one_before, digits));
    __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(1 << 8 | 10));
    __m256i quads = _mm256_madd_epi16(pairs, _mm256_set1_epi32(1 << 16 | 100));
    __m256i eights =
        _mm256_madd_epi16(_mm256_packus_epi32(quads, quads), _mm256_set1_epi32(1 << 16 | 10000));
    __m256i halves = _mm256_add_epi64(_mm256_mul_epu32(eights, _mm256_set1_epi64x(100000000)),
                                      _mm256_srli_epi64(eights, 32));
    const uint64_t high = (uint64_t)_mm256_extract_epi64(halves, 0);
    token->mantissa =
        high * UINT64_C(10000000000000000) + (uint64_t)_mm256_extract_epi64(halves, 2);
    token->power = dot ? -__builtin_popcount(is_digit & ~front) : 0;
    token->negative = first == '-';
    return ((is_digit | dot | sign) == all) & ((dot & (dot - 1)) == 0) & (is_digit != 0) &
           (high < 1000);
}

/* Writes the value. False if that takes more bits than are computed. */
TARGET INLINE bool round_token(const struct long_token *token, double *value)
{
    double magnitude = (double)token->mantissa;
    if (token->power != 0 &&
        !decimal_to_double(number_powers(), token->mantissa, token->power, &magnitude))
        return false;
    *value = token->negative ? -magnitude : magnitude;
    return true;
}

/* Parses the tokens in `which`. All are read before all are rounded, so that a processor works on
 * several at a time. `has_room` says that LONG bytes before the window are readable. */
TARGET APART static void other_numbers(const struct tokens *tokens, unsigned which, bool has_room,
                                       const unsigned char *limit, double *values)
{
    const unsigned char *window = tokens->window;
    uint8_t begins[16], stops[16], ends[16];
    _mm_storeu_si128((__m128i *)(void *)begins, _mm512_castsi512_si128(tokens->begins));
    _mm_storeu_si128((__m128i *)(void *)stops, _mm512_castsi512_si128(tokens->stops));
    _mm_storeu_si128((__m128i *)(void *)ends, _mm512_castsi512_si128(tokens->ends));

    struct long_token longs[TOKENS];
    unsigned known = 0;
    for (unsigned rest = has_room ? which : 0; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest), len = (unsigned)(stops[i] - begins[i]);
        if (len > LONG || !read_digits(window + stops[i], len, &longs[i]))
            continue;
        int64_t exponent = 0;
        if (stops[i] != ends[i] &&
            (limit - window < ends[i] + 8 ||
             !exponent_of(window + stops[i] + 1, window + ends[i], &exponent)))
            continue;
        longs[i].power += exponent;
        known |= 1u << i;
    }
    for (; which; which &= which - 1) {
        const unsigned i = (unsigned)__builtin_ctz(which);
        if (!(known >> i & 1) || !round_token(&longs[i], &values[i]))
            values[i] = number_of_token(window + begins[i], window + ends[i], limit);
    }
}

/* Sets the values in `which` to NaN. */
TARGET INLINE void not_numbers(unsigned which, double *values)
{
    _mm512_mask_storeu_pd(values, (__mmask8)which, _mm512_set1_pd(NAN));
}

/* Sets where the tokens that end at these bits begin, stop and end. Returns all beginnings. A carry
 * runs from where a token begins to its first e or white space. */
TARGET INLINE uint64_t add_tokens(struct tokens *tokens, uint64_t white, uint64_t ends)
{
    const uint64_t begins = ~white & (white << 1 | 1);
    const uint64_t before_e = ~(white | letters_e(tokens->bytes));
    tokens->begins = _mm512_maskz_compress_epi8(begins, numbered());
    tokens->stops = _mm512_maskz_compress_epi8((begins + before_e) & ~before_e, numbered());
    tokens->ends = _mm512_maskz_compress_epi8(ends, numbered());
    return begins;
}

TARGET static size_t parse_numbers(const unsigned char *text, size_t len, double *values,
                                   size_t cap, size_t *used)
{
    const unsigned char *at = text, *limit = text + len;
    size_t count = 0;
    unsigned dull = 0; /* windows in a row of which all tokens were parsed one by one */
    while (limit - at >= WINDOW && cap - count >= TOKENS) {
        struct tokens tokens = {.bytes = _mm512_loadu_si512(at)};
        /* A token begins after white space or at the window, and ends before white space. */
        uint64_t white = white_space(tokens.bytes), after_white = white << 1 | 1;
        uint64_t ends = _pdep_u64((1 << TOKENS) - 1, white & ~after_white);
        if (ends == 0) {
            if (white == UINT64_MAX)
                at += WINDOW;
            else
                count += numbers_by_token(&at, limit, values + count, 1);
            continue;
        }
        const uint64_t begins = add_tokens(&tokens, white, ends);
        unsigned found = (unsigned)__builtin_popcountll(ends), all = (1u << found) - 1;
        __m128i stop = _mm512_castsi512_si128(tokens.stops);
        __m128i lens = _mm_sub_epi8(stop, _mm512_castsi512_si128(tokens.begins));
        unsigned wide = _mm_cmpgt_epi8_mask(lens, _mm_set1_epi8(LANE)) & all;
        const uint64_t alien = alien_bytes(tokens.bytes);
        unsigned wrong = alien ? tokens_with(alien, begins, white) & all : 0;
        unsigned others = wide | wrong;
        if (others != all && dull % RETRY == 0) {
            unsigned with_e = _mm_cmpneq_epi8_mask(stop, _mm512_castsi512_si128(tokens.ends)) & all;
            others |= plain_numbers(&tokens, (__mmask8)with_e, values + count) & all;
            unsigned odd = others & ~(wide | wrong);
            if (odd)
                wrong |= odd & ~tokens_with(other_bytes(tokens.bytes), begins, white);
        } else {
            others = all;
        }
        if (wrong)
            not_numbers(wrong, values + count);
        others &= ~wrong;
        dull = others == all ? dull + 1 : 0;
        if (others) {
            tokens.window = at;
            other_numbers(&tokens, others, at - text >= LONG, limit, values + count);
        }
        count += found;
        at += WINDOW - __builtin_clzll(ends);
    }
    size_t rest;
    count +=
        number_parser_portable.parse(at, (size_t)(limit - at), values + count, cap - count, &rest);
    *used = (size_t)(at - text) + rest;
    return count;
}

const struct number_parser number_parser_avx512 = {
    .name = "avx512",
    .runs_here = runs_here,
    .parse = parse_numbers,
    .find = find_string,
    .read_fields = read_fields,
};

#endif
