/* SPDX-License-Identifier: MIT */
/* The inner loop of XXH64, one variant for each instruction set, and everything around whole
 * stripes.
 *
 * Input is taken in stripes of 32 bytes, one word for each of four lanes. A word is multiplied and
 * added to its lane; the lane is rotated and multiplied again. Only the second multiplication
 * depends on the stripe before. A core has one scalar multiplier, which both multiplications of
 * four lanes keep busy for eight cycles a stripe; the chain itself takes five. Vectors take over
 * the first multiplication. */
#include "xxh64.h"
#include "src/base/byte_word.h"
#include "src/base/cpu_features.h"

#include <string.h>

#define PRIME_1 UINT64_C(0x9e3779b185ebca87)
#define PRIME_2 UINT64_C(0xc2b2ae3d27d4eb4f)
#define PRIME_3 UINT64_C(0x165667b19e3779f9)
#define PRIME_4 UINT64_C(0x85ebca77c2b2ae63)
#define PRIME_5 UINT64_C(0x27d4eb2f165667c5)

/* Prefetch distance, bytes: the hardware prefetcher stops at the end of a page. */
#define AHEAD 4096

#define INLINE static inline __attribute__((always_inline))

static inline uint64_t rotate(uint64_t word, unsigned by)
{
    return word << by | word >> (64 - by);
}

/* Returns a lane after one more word, given that word times the second prime. */
static inline uint64_t step(uint64_t lane, uint64_t product)
{
    return rotate(lane + product, 31) * PRIME_1;
}

/* Keeps the lanes in scalar registers. Compilers would put them into one vector, whose
 * multiplication takes three times as long. */
#define KEEP_APART(a, b, c, d) __asm__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d))

/* Adds stripes in plain C. Inlined, as the caller may have used vectors: gcc 12 would call it
 * without clearing their upper halves, which slows down what comes next. */
INLINE void add_stripes(uint64_t lanes[XXH64_LANES], const unsigned char *data, size_t count)
{
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
    for (const unsigned char *end = data + count * XXH64_STRIPE; data < end; data += XXH64_STRIPE) {
        __builtin_prefetch(data + AHEAD);
        a = step(a, byte_word(data) * PRIME_2);
        b = step(b, byte_word(data + 8) * PRIME_2);
        c = step(c, byte_word(data + 16) * PRIME_2);
        d = step(d, byte_word(data + 24) * PRIME_2);
        KEEP_APART(a, b, c, d);
    }
    lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
}

/* --- plain C --- */

static bool portable_runs_here(void)
{
    return true;
}

static void portable_add(uint64_t lanes[XXH64_LANES], const unsigned char *data, size_t count)
{
    add_stripes(lanes, data, count);
}

static const struct xxh64_variant xxh64_portable = {"portable", portable_runs_here, portable_add};

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

/* --- AVX2 --- */

/* A 64-bit product takes three 32-bit vector multiplications, so every other stripe is left to the
 * scalar multiplier, which has time for it. */
#define AVX2 __attribute__((target("avx2")))

static bool avx2_runs_here(void)
{
    return cpu_has(AVX2, "avx2");
}

/* Stores the low 64 bits of a stripe's words times the second prime. The product of both upper
 * halves is above these bits. */
AVX2 INLINE void avx2_multiply(const unsigned char *data, uint64_t *products)
{
    const __m256i low = _mm256_set1_epi64x((long long)(PRIME_2 & UINT32_MAX)),
                  high = _mm256_set1_epi64x((long long)(PRIME_2 >> 32)),
                  words = _mm256_loadu_si256((const __m256i *)(const void *)data);
    const __m256i upper = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(words, 32), low),
                                           _mm256_mul_epu32(words, high));
    _mm256_store_si256((__m256i *)(void *)products, _mm256_add_epi64(_mm256_mul_epu32(words, low),
                                                                     _mm256_slli_epi64(upper, 32)));
}

AVX2 static void avx2_add(uint64_t lanes[XXH64_LANES], const unsigned char *data, size_t count)
{
    _Alignas(32) uint64_t products[2][XXH64_LANES];
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
    size_t rounds = count / 2;
    if (rounds > 0)
        avx2_multiply(data, products[0]);
    for (size_t round = 0; round < rounds; round++) {
        const uint64_t *now = products[round % 2];
        const unsigned char *odd = data + XXH64_STRIPE;
        data += 2 * (size_t)XXH64_STRIPE;
        __builtin_prefetch(data + AHEAD);
        if (round + 1 < rounds)
            avx2_multiply(data, products[(round + 1) % 2]);
        a = step(step(a, now[0]), byte_word(odd) * PRIME_2);
        b = step(step(b, now[1]), byte_word(odd + 8) * PRIME_2);
        c = step(step(c, now[2]), byte_word(odd + 16) * PRIME_2);
        d = step(step(d, now[3]), byte_word(odd + 24) * PRIME_2);
        KEEP_APART(a, b, c, d);
    }
    lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
    add_stripes(lanes, data, count % 2);
}

static const struct xxh64_variant xxh64_avx2 = {"avx2", avx2_runs_here, avx2_add};

/* --- AVX-512 --- */

/* Multiplies eight 64-bit words at once. */
#define AVX512 __attribute__((target("avx512f,avx512dq")))

/* Stripes whose products are computed while those of the round before are added. */
#define ROUND 4
#define ROUND_BYTES ((size_t)ROUND * XXH64_STRIPE)
#define VECTORS (ROUND_BYTES / 64)

static bool avx512_runs_here(void)
{
    return cpu_has(AVX512F, "avx512f") && cpu_has(AVX512DQ, "avx512dq");
}

AVX512 INLINE void avx512_multiply(const unsigned char *data, uint64_t *products)
{
    const __m512i prime = _mm512_set1_epi64((long long)PRIME_2);
    for (size_t i = 0; i < VECTORS; i++) {
        __builtin_prefetch(data + AHEAD + 64 * i);
        _mm512_store_si512(products + 8 * i,
                           _mm512_mullo_epi64(_mm512_loadu_si512(data + 64 * i), prime));
    }
}

AVX512 static void avx512_add(uint64_t lanes[XXH64_LANES], const unsigned char *data, size_t count)
{
    _Alignas(64) uint64_t products[2][ROUND * XXH64_LANES];
    uint64_t a = lanes[0], b = lanes[1], c = lanes[2], d = lanes[3];
    size_t rounds = count / ROUND;
    if (rounds > 0)
        avx512_multiply(data, products[0]);
    for (size_t round = 0; round < rounds; round++) {
        const uint64_t *now = products[round % 2];
        data += ROUND_BYTES;
        if (round + 1 < rounds)
            avx512_multiply(data, products[(round + 1) % 2]);
        for (size_t i = 0; i < ROUND * XXH64_LANES; i += XXH64_LANES) {
            a = step(a, now[i]);
            b = step(b, now[i + 1]);
            c = step(c, now[i + 2]);
            d = step(d, now[i + 3]);
            KEEP_APART(a, b, c, d);
        }
    }
    lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
    add_stripes(lanes, data, count % ROUND);
}

static const struct xxh64_variant xxh64_avx512 = {"avx512", avx512_runs_here, avx512_add};

#endif

/* --- the hash --- */

const struct xxh64_variant *const xxh64_variants[] = {
#if defined __x86_64__ && defined __GNUC__
    &xxh64_avx512,
    &xxh64_avx2,
#endif
    &xxh64_portable,
    NULL,
};

void xxh64_begin_with(struct xxh64 *hash, const struct xxh64_variant *variant)
{
    *hash =
        (struct xxh64){.variant = variant, .lanes = {PRIME_1 + PRIME_2, PRIME_2, 0, 0 - PRIME_1}};
}

void xxh64_begin(struct xxh64 *hash)
{
    const struct xxh64_variant *const *variant = xxh64_variants;
    while (!(*variant)->runs_here())
        variant++;
    xxh64_begin_with(hash, *variant);
}

void xxh64_add(struct xxh64 *hash, const void *data, size_t len)
{
    const unsigned char *at = data;
    const size_t held = hash->len % XXH64_STRIPE;
    hash->len += len;
    if (len == 0)
        return;
    if (held > 0) {
        const size_t wanted = XXH64_STRIPE - held, some = len < wanted ? len : wanted;
        memcpy(hash->rest + held, at, some);
        if (some < wanted)
            return;
        hash->variant->add(hash->lanes, hash->rest, 1);
        at += some;
        len -= some;
    }
    hash->variant->add(hash->lanes, at, len / XXH64_STRIPE);
    memcpy(hash->rest, at + len / XXH64_STRIPE * XXH64_STRIPE, len % XXH64_STRIPE);
}

static uint64_t value_of_lanes(const struct xxh64 *hash)
{
    static const unsigned by[XXH64_LANES] = {1, 7, 12, 18};
    uint64_t value = 0;
    if (hash->len < XXH64_STRIPE)
        return PRIME_5;
    for (int i = 0; i < XXH64_LANES; i++)
        value += rotate(hash->lanes[i], by[i]);
    for (int i = 0; i < XXH64_LANES; i++)
        value = (value ^ step(0, hash->lanes[i] * PRIME_2)) * PRIME_1 + PRIME_4;
    return value;
}

/* Adds the bytes after the last whole stripe: words, half a word, and bytes. */
static uint64_t add_rest(uint64_t value, const unsigned char *at, size_t len)
{
    for (; len >= 8; at += 8, len -= 8) {
        value ^= step(0, byte_word(at) * PRIME_2);
        value = rotate(value, 27) * PRIME_1 + PRIME_4;
    }
    if (len >= 4) {
        const uint64_t half =
            at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
        value = rotate(value ^ half * PRIME_1, 23) * PRIME_2 + PRIME_3;
        at += 4, len -= 4;
    }
    for (; len > 0; at++, len--)
        value = rotate(value ^ *at * PRIME_5, 11) * PRIME_1;
    return value;
}

uint64_t xxh64_value(const struct xxh64 *hash)
{
    uint64_t value =
        add_rest(value_of_lanes(hash) + hash->len, hash->rest, hash->len % XXH64_STRIPE);
    value = (value ^ value >> 33) * PRIME_2;
    value = (value ^ value >> 29) * PRIME_3;
    return value ^ value >> 32;
}
