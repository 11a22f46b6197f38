/* SPDX-License-Identifier: MIT */
/* XXH64 with AVX-512, which multiplies eight 64-bit words at once. */
#include "xxh64_variant.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512dq")))
#define INLINE static inline __attribute__((always_inline))

/* Stripes whose products are computed while those of the round before are added. */
#define ROUND 4
#define ROUND_BYTES ((size_t)ROUND * XXH64_STRIPE)
#define VECTORS (ROUND_BYTES / 64)

static bool avx512_runs_here(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
}

AVX512 INLINE void avx512_multiply(const unsigned char *data, uint64_t *products)
{
    const __m512i prime = _mm512_set1_epi64((long long)XXH64_PRIME_2);
    for (size_t i = 0; i < VECTORS; i++) {
        __builtin_prefetch(data + XXH64_AHEAD + 64 * i);
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
            a = xxh64_step(a, now[i]);
            b = xxh64_step(b, now[i + 1]);
            c = xxh64_step(c, now[i + 2]);
            d = xxh64_step(d, now[i + 3]);
            XXH64_KEEP_APART(a, b, c, d);
        }
    }
    lanes[0] = a, lanes[1] = b, lanes[2] = c, lanes[3] = d;
    xxh64_portable.add(lanes, data, count % ROUND);
}

const struct xxh64_variant xxh64_avx512 = {"avx512", avx512_runs_here, avx512_add};

#endif
