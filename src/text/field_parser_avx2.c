/* SPDX-License-Identifier: MIT */
/* Parses numbers with AVX2, four tokens at a time. White space is found 64 bytes at a time.
 *
 * Each token is put into a lane of 16 bytes, its end at the lane's end; a vector has two lanes.
 * Masks of 64 bits, 16 a lane, say which bytes are digits, dots and signs. The digits before the
 * dot are moved over it. Neighbours are joined to numbers of two, four, eight and 16 digits, and
 * divided by the power of ten that the dot stands for. That rounds once: either there is no dot, or
 * there are at most 15 digits, which a double holds. Tokens that are longer than a lane or not
 * plain numbers are parsed one by one, except words, dates and the like, which have a byte that is
 * in no number ("alien"). */
#include "field_parser.h"
#include "number.h"
#include "src/base/byte_masks.h"
#include "src/base/cpu_features.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>
#include <math.h>

#define TARGET __attribute__((target("avx2,bmi,popcnt")))
#define INLINE static inline __attribute__((always_inline))

TARGET INLINE __m256i half_of(const unsigned char *at, unsigned half)
{
    return _mm256_loadu_si256((const void *)(at + 32 * half));
}

TARGET INLINE uint64_t mask_of_halves(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

TARGET INLINE uint64_t bytes_equal(const unsigned char *at, unsigned char byte)
{
    const __m256i all = _mm256_set1_epi8((char)byte);
    return mask_of_halves(_mm256_cmpeq_epi8(half_of(at, 0), all),
                          _mm256_cmpeq_epi8(half_of(at, 1), all));
}

TARGET INLINE uint64_t bytes_low(const unsigned char *at)
{
    const __m256i space = _mm256_set1_epi8(' '), low = half_of(at, 0), high = half_of(at, 1);
    return mask_of_halves(_mm256_cmpeq_epi8(_mm256_min_epu8(low, space), low),
                          _mm256_cmpeq_epi8(_mm256_min_epu8(high, space), high));
}

TARGET INLINE void copy_32(unsigned char *to, const unsigned char *from)
{
    _mm256_storeu_si256((void *)to, half_of(from, 0));
}

/* A mark with bit 5 set is told by its four low bits, and so is a space. */
TARGET INLINE struct json_bytes json_bytes_at(const unsigned char *at)
{
    const __m256i marks = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}', 0, 0,
                                           0, 0, 0, 0, 0, 0, 0, 0, 0, 0, ':', '{', ',', '}', 0, 0);
    const __m256i spaces = _mm256_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', 0, 0, 0, '\r', 0, 0,
                                            ' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', 0, 0, 0, '\r', 0, 0);
    const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\');
    const __m256i bit = _mm256_set1_epi8(0x20), max = _mm256_set1_epi8(0x1f);
    const __m256i low = half_of(at, 0), high = half_of(at, 1);
    return (struct json_bytes){
        .quotes = mask_of_halves(_mm256_cmpeq_epi8(low, quote), _mm256_cmpeq_epi8(high, quote)),
        .backslashes =
            mask_of_halves(_mm256_cmpeq_epi8(low, backslash), _mm256_cmpeq_epi8(high, backslash)),
        .marks = mask_of_halves(
            _mm256_cmpeq_epi8(_mm256_or_si256(low, bit), _mm256_shuffle_epi8(marks, low)),
            _mm256_cmpeq_epi8(_mm256_or_si256(high, bit), _mm256_shuffle_epi8(marks, high))),
        .spaces = mask_of_halves(_mm256_cmpeq_epi8(low, _mm256_shuffle_epi8(spaces, low)),
                                 _mm256_cmpeq_epi8(high, _mm256_shuffle_epi8(spaces, high))),
        .controls = mask_of_halves(_mm256_cmpeq_epi8(_mm256_min_epu8(low, max), low),
                                   _mm256_cmpeq_epi8(_mm256_min_epu8(high, max), high))};
}

TARGET INLINE void json_write_positions(uint64_t bits, unsigned offset, uint16_t *to)
{
    mask_positions(bits, offset, to);
}

#include "json_loop.h"

/* --- numbers --- */

#define APART __attribute__((noinline)) /* so that the caller keeps its registers */

#define TOKENS 4

/* Where no number is plain, one in RETRY groups of tokens is tried. */
#define RETRY 8

/* After a token that is not a plain number, WARY windows are checked for alien bytes. */
#define WARY 16

#define LANE 16

/* Repeats a mask of 16 bits for each of the four lanes. */
#define EACH_LANE(mask) (UINT64_C(0x0001000100010001) * (mask))

static bool runs_here(void)
{
    return cpu_has(AVX2, "avx2") && cpu_has(BMI1, "bmi") && cpu_has(POPCNT, "popcnt");
}

struct token {
    const unsigned char *end;
    size_t len;
};

/* Two tokens in their lanes, and masks of 16 bits for each. */
struct pair {
    __m256i digits; /* 0 for other bytes */
    uint32_t token, is_digit, dot, minus;
};

TARGET INLINE __m256i load_two(const void *low, const void *high)
{
    __m128i a = _mm_loadu_si128((const __m128i *)low), b = _mm_loadu_si128((const __m128i *)high);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

TARGET INLINE uint32_t mask_of(__m256i bytes)
{
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

TARGET INLINE uint32_t white_half(const unsigned char *at)
{
    /* The white space that ends with each lower half of a byte. */
    const __m256i spaces = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', '\v', '\f', '\r', 0, 0));
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);
    return mask_of(_mm256_cmpeq_epi8(bytes, _mm256_shuffle_epi8(spaces, bytes)));
}

TARGET INLINE uint64_t white_space(const unsigned char *at)
{
    return (uint64_t)white_half(at + WINDOW / 2) << 32 | white_half(at);
}

/* A byte can be in a number if its halves have a bit in common: 1 for + - and the dot, 2 for
 * digits, 4 and 8 for the letters of exponents and infinity. */
TARGET INLINE uint32_t alien_half(const unsigned char *at)
{
    const __m256i low = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(2, 2, 2, 2, 2 | 8, 2 | 4, 2 | 4, 2, 2, 2 | 4 | 8, 0, 1, 0, 1, 1 | 4, 0));
    const __m256i high =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 1, 2, 4, 8, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0));
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0f));
    __m256i common =
        _mm256_and_si256(_mm256_shuffle_epi8(low, bytes), _mm256_shuffle_epi8(high, upper));
    return mask_of(_mm256_cmpeq_epi8(common, _mm256_setzero_si256()));
}

/* Finds the bytes that are in no number. White space is among them. */
TARGET INLINE uint64_t alien_bytes(const unsigned char *at)
{
    return (uint64_t)alien_half(at + WINDOW / 2) << 32 | alien_half(at);
}

/* Returns a mask of the last bytes of each lane. */
TARGET INLINE __m256i last_bytes(size_t low, size_t high)
{
    static const uint8_t mask[2 * LANE] = {[LANE] = 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                           0xff,          0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    return load_two(mask + low, mask + high);
}

TARGET INLINE struct pair pair_of(struct token low, struct token high)
{
    __m256i bytes = load_two(low.end - LANE, high.end - LANE);
    __m256i token = last_bytes(low.len, high.len);
    __m256i digits = _mm256_and_si256(_mm256_sub_epi8(bytes, _mm256_set1_epi8('0')), token);
    __m256i is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(digits, _mm256_set1_epi8(9)), digits);
    struct pair pair = {.digits = _mm256_and_si256(digits, is_digit)};
    pair.token = mask_of(token);
    pair.is_digit = mask_of(is_digit) & pair.token;
    pair.dot = mask_of(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('.'))) & pair.token;
    pair.minus = mask_of(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('-'))) & pair.token;
    return pair;
}

/* Returns the highest bit of each lane that is not empty. */
INLINE uint64_t not_empty(uint64_t lanes)
{
    const uint64_t others = EACH_LANE(0x7fff);
    return (((lanes & others) + others) | lanes) & ~others;
}

INLINE uint64_t both(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* Returns how many bytes of a lane follow the dot, given those up to it; all without a dot. */
TARGET INLINE unsigned bytes_after_dot(uint64_t front, unsigned lane)
{
    return LANE - (unsigned)__builtin_popcount((uint16_t)(front >> LANE * lane));
}

/* Returns the divisors of the lanes, in the order of tokens. */
TARGET INLINE __m256d scales_of(const unsigned after_dot[TOKENS])
{
    /* If all bytes follow the dot, there is none. */
    static const double scales[LANE + 1] = {1,   1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                            1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1};
    return _mm256_setr_pd(scales[after_dot[0]], scales[after_dot[2]], scales[after_dot[1]],
                          scales[after_dot[3]]);
}

/* Returns the sign bits of the lanes that have a bit, in the order of tokens. */
TARGET INLINE __m256d signs_of(uint64_t negative)
{
    const uint64_t signs = not_empty(negative), sign = UINT64_C(1) << 63;
    return _mm256_castsi256_pd(
        _mm256_setr_epi64x((long long)(signs << 48), (long long)(signs << 16 & sign),
                           (long long)(signs << 32 & sign), (long long)(signs & sign)));
}

/* Joins digits to numbers of four. */
TARGET INLINE __m256i quads_of(__m256i digits, unsigned after_dot_low, unsigned after_dot_high)
{
    digits = _mm256_blendv_epi8(_mm256_bslli_epi128(digits, 1), digits,
                                last_bytes(after_dot_low, after_dot_high));
    __m256i pairs = _mm256_maddubs_epi16(digits, _mm256_set1_epi16(1 << 8 | 10));
    return _mm256_madd_epi16(pairs, _mm256_set1_epi32(1 << 16 | 100));
}

/* Writes four values. Returns a mask of lanes, in the order of tokens 0, 2, 1, 3, with bits set
 * where the value is still unknown. Reads the 16 bytes before each token's end. */
TARGET INLINE uint64_t plain_numbers(const struct token tokens[TOKENS], double *values)
{
    struct pair low = pair_of(tokens[0], tokens[2]), high = pair_of(tokens[1], tokens[3]);
    const uint64_t token = both(low.token, high.token), dot = both(low.dot, high.dot);
    const uint64_t is_digit = both(low.is_digit, high.is_digit);
    const uint64_t negative = both(low.minus, high.minus) & ~(token << 1 & EACH_LANE(0xfffe));
    const uint64_t other_dots =
        dot - (not_empty(dot) >> 15);        /* and the bytes before the first dot */
    const uint64_t front = dot ^ other_dots; /* up to the dot; none without one */
    const unsigned after_dot[TOKENS] = {bytes_after_dot(front, 0), bytes_after_dot(front, 1),
                                        bytes_after_dot(front, 2), bytes_after_dot(front, 3)};

    /* Pack both into one vector, in order: two numbers of eight digits for each token. */
    __m256i quads = _mm256_packus_epi32(quads_of(low.digits, after_dot[0], after_dot[1]),
                                        quads_of(high.digits, after_dot[2], after_dot[3]));
    __m256i eights = _mm256_madd_epi16(quads, _mm256_set1_epi32(1 << 16 | 10000));
    eights = _mm256_permutevar8x32_epi32(eights, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
    __m256d upper = _mm256_cvtepi32_pd(_mm256_castsi256_si128(eights));
    __m256d lower = _mm256_cvtepi32_pd(_mm256_extracti128_si256(eights, 1));
    /* The product is exact, as it is a multiple of 2^8. */
    __m256d mantissas = _mm256_add_pd(_mm256_mul_pd(upper, _mm256_set1_pd(1e8)), lower);
    __m256d numbers = _mm256_div_pd(mantissas, scales_of(after_dot));
    if (negative)
        numbers = _mm256_or_pd(numbers, signs_of(negative));
    _mm256_storeu_pd(values, numbers);

    return (token ^ is_digit ^ dot ^ negative) | (dot & other_dots) |
           (~not_empty(is_digit) & EACH_LANE(0x8000));
}

/* Parses plain numbers as plain_numbers, from tokens that may be longer than a lane. */
TARGET APART static uint64_t long_numbers(const struct token tokens[TOKENS], double *values)
{
    static const unsigned lane_of_token[TOKENS] = {0, 2, 1, 3};
    struct token cut[TOKENS];
    uint64_t others = 0;
    for (unsigned i = 0; i < TOKENS; i++) {
        bool is_long = tokens[i].len > LANE;
        cut[i] = (struct token){tokens[i].end, is_long ? LANE : tokens[i].len};
        others |= (uint64_t)is_long << LANE * lane_of_token[i];
    }
    return others | plain_numbers(cut, values);
}

TARGET INLINE uint64_t four_numbers(const struct token tokens[TOKENS], double *values)
{
    /* No token is empty, so a long one has a bit from 16 on. */
    size_t lens =
        (tokens[0].len - 1) | (tokens[1].len - 1) | (tokens[2].len - 1) | (tokens[3].len - 1);
    return __builtin_expect(lens >= LANE, 0) ? long_numbers(tokens, values)
                                             : plain_numbers(tokens, values);
}

/* Parses the tokens whose lanes have a bit, one by one. */
static void other_numbers(const struct token tokens[TOKENS], uint64_t which,
                          const unsigned char *limit, double *values)
{
    static const unsigned token_of_lane[TOKENS] = {0, 2, 1, 3};
    for (unsigned lane = 0; lane < TOKENS; lane++) {
        const unsigned i = token_of_lane[lane];
        if (which >> LANE * lane & 0xffff)
            values[i] = number_of_token(tokens[i].end - tokens[i].len, tokens[i].end, limit);
    }
}

TARGET INLINE struct token next_token(const unsigned char *window, uint64_t *begins, uint64_t *ends)
{
    size_t begin = (size_t)__builtin_ctzll(*begins), end = (size_t)__builtin_ctzll(*ends);
    *begins &= *begins - 1;
    *ends &= *ends - 1;
    return (struct token){window + end, end - begin};
}

/* Sets values[indices[i]] to the value of token i, for n tokens. There is room for a group more. */
TARGET INLINE void numbers_among(struct token *tokens, uint8_t *indices, unsigned n,
                                 const unsigned char *limit, double *values)
{
    double four[TOKENS];
    for (unsigned i = n; i % TOKENS; i++) /* fill up the last group */
        tokens[i] = tokens[0], indices[i] = indices[0];
    for (unsigned i = 0; i < n; i += TOKENS) {
        uint64_t others = four_numbers(tokens + i, four);
        if (others)
            other_numbers(tokens + i, others, limit, four);
        for (unsigned k = 0; k < TOKENS; k++)
            values[indices[i + k]] = four[k];
    }
}

/* Parses a window in which some tokens have alien bytes: writes a value for each token that ends
 * there. Returns how many. */
TARGET APART static unsigned mixed_window(const unsigned char *window, uint64_t white,
                                          uint64_t alien, const unsigned char *limit,
                                          double *values)
{
    const uint64_t after_white = white << 1 | 1;
    uint64_t begins = ~white & after_white, ends = white & ~after_white;
    /* A carry runs from where a token begins to its first alien byte or white space. */
    uint64_t stops = (begins + ~alien) & alien;
    struct token tokens[WINDOW / 2 + TOKENS];
    uint8_t indices[WINDOW / 2 + TOKENS];
    unsigned found = 0, numbers = 0;
    for (; ends; found++) {
        const bool is_number = __builtin_ctzll(stops) == __builtin_ctzll(ends);
        stops &= stops - 1;
        values[found] = NAN;
        indices[numbers] = (uint8_t)found;
        tokens[numbers] = next_token(window, &begins, &ends);
        numbers += is_number;
    }
    numbers_among(tokens, indices, numbers, limit, values);
    return found;
}

TARGET static size_t parse_numbers(const unsigned char *text, size_t len, double *values,
                                   size_t cap, size_t *used)
{
    const unsigned char *at = text, *limit = text + len;
    size_t count = 0;
    /* The bytes before a token are read, too. */
    while (count < cap && at < limit && at - text < LANE)
        count += numbers_by_token(&at, limit, values + count, 1);
    unsigned skip = 0; /* groups to parse one by one */
    unsigned wary = 0; /* windows to check for alien bytes */
    while (limit - at >= WINDOW && cap - count >= WINDOW / 2) {
        if (skip) {
            count += numbers_by_token(&at, limit, values + count, TOKENS);
            skip--;
            continue;
        }
        /* A token begins after white space or at the window, and ends before white space. */
        const uint64_t white = white_space(at), after_white = white << 1 | 1;
        uint64_t begins = ~white & after_white, ends = white & ~after_white;
        if (white == UINT64_MAX) {
            at += WINDOW;
            continue;
        }
        const unsigned char *window = at;
        const uint64_t alien = wary ? alien_bytes(at) : white;
        wary -= wary > 0;
        if (alien != white && ends) {
            wary = WARY;
            count += mixed_window(window, white, alien, limit, values + count);
            at = window + WINDOW - 1 - __builtin_clzll(ends);
            continue;
        }
        for (unsigned left = (unsigned)__builtin_popcountll(ends); left >= TOKENS; left -= TOKENS) {
            struct token tokens[TOKENS];
            tokens[0] = next_token(window, &begins, &ends);
            tokens[1] = next_token(window, &begins, &ends);
            tokens[2] = next_token(window, &begins, &ends);
            tokens[3] = next_token(window, &begins, &ends);
            uint64_t others = four_numbers(tokens, values + count);
            skip = 0;
            if (others) {
                other_numbers(tokens, others, limit, values + count);
                wary = WARY;
                skip = not_empty(others) == EACH_LANE(0x8000) ? RETRY - 1 : 0;
            }
            count += TOKENS;
            at = tokens[3].end;
        }
        if (at == window)
            skip = RETRY - 1; /* long tokens, or far apart */
    }
    size_t rest;
    count +=
        number_parser_portable.parse(at, (size_t)(limit - at), values + count, cap - count, &rest);
    *used = (size_t)(at - text) + rest;
    return count;
}

const struct number_parser number_parser_avx2 = {
    .name = "avx2",
    .runs_here = runs_here,
    .parse = parse_numbers,
    .find = find_string,
    .read_fields = read_fields,
};

#endif
