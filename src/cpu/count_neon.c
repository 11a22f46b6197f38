/* SPDX-License-Identifier: MIT */
/* The kernels with NEON, which every 64-bit ARM processor has. */
#include "count.h"
#include "src/text/field_parser.h"

#if defined __aarch64__ && defined __ARM_NEON

#include <arm_neon.h>

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define VECTOR 16

typedef uint8x16_t vector;

struct lookup {
    vector low, high;
};

INLINE struct lookup lookup_of(const uint8_t *low, const uint8_t *high)
{
    return (struct lookup){vld1q_u8(low), vld1q_u8(high)};
}

/* The upper half of the tables is empty, so what is not ASCII is in no class. */
INLINE vector classes_at(const unsigned char *data, const struct lookup *by)
{
    vector bytes = vld1q_u8(data);
    return vandq_u8(vqtbl1q_u8(by->low, vandq_u8(bytes, vdupq_n_u8(0x0f))),
                    vqtbl1q_u8(by->high, vshrq_n_u8(bytes, 4)));
}

INLINE vector add_two(vector *plane, vector a, vector b)
{
    vector half = veorq_u8(*plane, a);
    vector carry = vbslq_u8(half, b, a); /* if the two are equal they carry, otherwise b does */
    *plane = veorq_u8(half, b);
    return carry;
}

/* The first class's bit is the lowest. */
INLINE void add_plane(uint64_t totals[8], vector plane, unsigned weight)
{
    for (unsigned kind = 0; kind < 8; kind++, plane = vshrq_n_u8(plane, 1))
        totals[kind] += weight * (uint64_t)vaddvq_u8(vandq_u8(plane, vdupq_n_u8(1)));
}

#include "count_letters.h"
#define SQUARE_BY_FMA
#include "count_numbers.h"

static bool neon_runs_here(void)
{
    return true;
}

const struct cpu_kernels cpu_kernels_neon = {
    .name = "neon",
    .about = "NEON",
    .runs_here = neon_runs_here,
    .prepare_letters = prepare_letters,
    .count_letters = count_letters,
    .count_bytes = portable_count_bytes,
    .count_values = count_values,
    .count_characters = portable_count_characters,
    .count_numbers = count_numbers,
    .parser = &number_parser_portable,
};

#endif
