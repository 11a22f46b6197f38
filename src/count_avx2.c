/* Letters with AVX2: classes by two lookups, counted by carry-save adders. */
#include "count.h"

#if defined __x86_64__ && defined __GNUC__

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,popcnt")))
#define INLINE static inline __attribute__((always_inline))

#define VECTOR 32
#define ROUND (16 * VECTOR) /* bytes between two popcounts */

/* Where the classes' data stand in a count_plan's table. */
#define LOW_NIBBLE 0
#define HIGH_NIBBLE 16

/* A group is gone through so many bytes at a time, which stay in the L1 cache for the next group.
 */
#define STRETCH ((size_t)16 << 10)

static bool avx2_runs_here(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}

/* The low nibbles with which a high nibble makes a byte of the bin, a bit each. */
static unsigned low_nibbles(const struct histogram *histogram, unsigned bin, unsigned high)
{
    unsigned set = 0;
    for (unsigned low = 0; low < 16; low++)
        if (histogram->bin_of[high << 4 | low] == bin)
            set |= 1u << low;
    return set;
}

/* A class is a set of low nibbles with one or more high nibbles: a byte is in it if the class's bit
 * is set in both its nibbles' entries. A bin takes as many classes as it has different sets. */
static void avx2_prepare(struct count_plan *plan)
{
    unsigned sets[CLASS_GROUPS * 8];
    for (unsigned bin = 0; bin < plan->histogram->bins; bin++) {
        unsigned first = plan->classes;
        for (unsigned high = 0; high < 16; high++) {
            unsigned set = low_nibbles(plan->histogram, bin, high), class = first;
            if (set == 0)
                continue;
            while (class < plan->classes && sets[class] != set)
                class ++;
            uint8_t *table = plan->table[class / 8], bit = (uint8_t)(1u << class % 8);
            if (class == plan->classes) {
                sets[plan->classes++] = set;
                plan->bin_of_class[class] = (uint8_t)bin;
                for (unsigned low = 0; low < 16; low++)
                    if (set >> low & 1)
                        table[LOW_NIBBLE + low] |= bit;
            }
            table[HIGH_NIBBLE + high] |= bit;
        }
    }
}

/* Counts of eight classes, a bit of every byte each, in planes of weight 1, 2, 4 and 8. */
struct planes {
    __m256i ones, twos, fours, eights;
};

struct lookup {
    __m256i low, high;
};

/* A lookup gives 0 for an index with its highest bit set: what is not ASCII is in no class. */
AVX2 INLINE __m256i classes_at(const unsigned char *data, const struct lookup *lookup)
{
    __m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)data);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0f));
    return _mm256_and_si256(_mm256_shuffle_epi8(lookup->low, bytes),
                            _mm256_shuffle_epi8(lookup->high, high));
}

/* Adds two to a plane, and gives what carries over to the next. */
AVX2 INLINE __m256i add_two(__m256i *plane, __m256i a, __m256i b)
{
    __m256i half = _mm256_xor_si256(*plane, a);
    __m256i carry = _mm256_or_si256(_mm256_and_si256(*plane, a), _mm256_and_si256(half, b));
    *plane = _mm256_xor_si256(half, b);
    return carry;
}

AVX2 INLINE __m256i add_2(struct planes *planes, const unsigned char *data, const struct lookup *by)
{
    return add_two(&planes->ones, classes_at(data, by), classes_at(data + VECTOR, by));
}

AVX2 INLINE __m256i add_4(struct planes *planes, const unsigned char *data, const struct lookup *by)
{
    __m256i carry = add_2(planes, data, by);
    return add_two(&planes->twos, carry, add_2(planes, data + 2 * VECTOR, by));
}

AVX2 INLINE __m256i add_8(struct planes *planes, const unsigned char *data, const struct lookup *by)
{
    __m256i carry = add_4(planes, data, by);
    return add_two(&planes->fours, carry, add_4(planes, data + 4 * VECTOR, by));
}

/* Adds the classes' bits of a plane to their totals; the last class's is the highest bit. */
AVX2 INLINE void add_plane(uint64_t totals[8], __m256i plane, unsigned weight)
{
    for (unsigned class = 8; class -- > 0; plane = _mm256_add_epi8(plane, plane))
        totals[class] +=
            weight * (uint64_t)__builtin_popcount((unsigned)_mm256_movemask_epi8(plane));
}

AVX2 INLINE __m256i sixteen_twice(const uint8_t *table)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
}

/* One group of classes over whole rounds. */
AVX2 static void count_group(const uint8_t *table, const unsigned char *data, size_t len,
                             uint64_t totals[8])
{
    struct lookup by = {sixteen_twice(table + LOW_NIBBLE), sixteen_twice(table + HIGH_NIBBLE)};
    struct planes planes = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                            _mm256_setzero_si256()};
    for (size_t i = 0; i < len; i += ROUND) {
        __m256i carry = add_8(&planes, data + i, &by);
        carry = add_two(&planes.eights, carry, add_8(&planes, data + i + 8 * VECTOR, &by));
        add_plane(totals, carry, 16);
    }
    add_plane(totals, planes.eights, 8);
    add_plane(totals, planes.fours, 4);
    add_plane(totals, planes.twos, 2);
    add_plane(totals, planes.ones, 1);
}

AVX2 static void avx2_letters(const struct count_plan *plan, const unsigned char *data, size_t len,
                              uint64_t *counts)
{
    uint64_t totals[CLASS_GROUPS * 8] = {0};
    while (len >= ROUND) {
        size_t stretch = len < STRETCH ? len / ROUND * ROUND : STRETCH;
        for (unsigned first = 0; first < plan->classes; first += 8)
            count_group(plan->table[first / 8], data, stretch, totals + first);
        data += stretch;
        len -= stretch;
    }
    for (unsigned class = 0; class < plan->classes; class ++)
        counts[plan->bin_of_class[class]] += totals[class];
    count_few(plan->histogram, data, len, counts);
}

const struct counter counter_avx2 = {"avx2",       "AVX2",       avx2_runs_here,
                                     avx2_prepare, avx2_letters, count_bytes_portable};

#endif
