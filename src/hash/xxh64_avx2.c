/* SPDX-License-Identifier: MIT */
/* XXH64 with AVX2. A 64-bit product takes three 32-bit vector multiplications, so every other
 * stripe is left to the scalar multiplier, which has time for it. */
#include "xxh64_variant.h"
#include "src/base/byte_word.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline))

static bool avx2_runs_here(void)
{
    return __builtin_cpu_supports("avx2");
}

/* Stores the low 64 bits of a stripe's words times the second prime. The product of both upper
 * halves is above these bits. */
AVX2 INLINE void avx2_multiply(const unsigned char *data, uint64_t *products)
{
    const __m256i low = _mm256_set1_epi64x((long long)(XXH64_PRIME_2 & UINT32_MAX)),
                  high = _mm256_set1_epi64x((long long)(XXH64_PRIME_2 >> 32)),
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
        __builtin_prefetch(data + XXH64_AHEAD);
        if (round + 1 < rounds)
            avx2_multiply(data, products[(round + 1) % 2]);
        a = xxh64_step(xxh64_step(a, now[0]), byte_word(odd) * XXH64_PRIME_2);
        b = xxh64_step(xxh64_step(b, now[1]), byte_word(odd + 8) * XXH64_PRIME_2);
        c = xxh64_step(xxh64_step(c, now[2]), byte_word(odd + 16) * XXH64_PRIME_2);
        d = xxh64_step(xxh64_step(d, now[3]), byte_word(odd + 24) * XXH64_PRIME_2);
        XXH64_KEEP_APART(a, b, c, d);
    }
    lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
    xxh64_portable.add(lanes, data, count % 2);
}

const struct xxh64_variant xxh64_avx2 = {"avx2", avx2_runs_here, avx2_add};

#endif
