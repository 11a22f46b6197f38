/* SPDX-License-Identifier: MIT */
/* The loops with AVX2, and with BMI2, which shifts by any register and cuts bits off. */
#include "block_loops.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define INLINE static inline __attribute__((always_inline))

TARGET INLINE void copy_max(unsigned char *to, const unsigned char *from)
{
    _mm256_storeu_si256((__m256i *)(void *)to,
                        _mm256_loadu_si256((const __m256i *)(const void *)from));
}

TARGET INLINE void widen(uint16_t *to, const unsigned char *from, size_t len)
{
    for (size_t i = 0; i < len; i += 8) {
        const __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)(from + i));
        _mm_storeu_si128((__m128i *)(void *)(to + i), _mm_cvtepu8_epi16(bytes));
    }
}

/* Returns the lowest `count` bits, at most 64. */
TARGET INLINE uint64_t low_bits(uint64_t word, unsigned count)
{
    return _bzhi_u64(word, count);
}

#include "deflate_loop.h"
#include "execute_loop.h"
#include "huffman_streams.h"
#include "last_offsets_avx2.h"
#include "sequence_loop.h"
#include "zstd_list_loop.h"

static bool avx2_runs_here(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

const struct block_loops block_loops_avx2 = {
    .name = "avx2",
    .runs_here = avx2_runs_here,
    .read_stream = read_stream,
    .read_streams = read_streams,
    .parse_sequences = parse_sequences,
    .parse_symbols = parse_symbols,
    .execute = execute,
    .execute_some = execute_some,
    .execute_symbols = execute_symbols,
    .make_list = make_list,
};

#endif
