/* SPDX-License-Identifier: MIT */
/* Counts letters with vectors that look up 16 entries at a time: two lookups by a byte's nibbles,
 * then carry-save adders (Harley and Seal). The body of a file of kernels, which defines first
 *     TARGET, INLINE  as for count_numbers.h
 *     vector          a type of VECTOR bytes
 *     struct lookup   two tables of 16 entries; lookup_of(low, high) makes one
 *     classes_at(data, by)             low[b & 15] & high[b >> 4] for VECTOR bytes
 *     add_two(plane, a, b)             adds two to a plane and returns the carry
 *     add_plane(totals, plane, weight) adds a plane's bits times weight to 8 totals
 * and gets prepare_letters and count_letters for its struct cpu_kernels. */
#include "count.h"
#include "src/tally/histogram_spec.h"

#define ROUND (16 * VECTOR) /* bytes between two popcounts */

/* The places of the nibbles' entries in the table of a group. */
#define LOW_NIBBLE 0
#define HIGH_NIBBLE 16

/* Bytes that are counted for one group after the other while they are in the L1 cache. */
#define STRETCH ((size_t)16 << 10)

/* Returns the low nibbles, a bit each, that make a byte of the bin with a high nibble. */
static unsigned low_nibbles(const struct histogram_spec *spec, unsigned bin, unsigned high)
{
    unsigned set = 0;
    for (unsigned low = 0; low < 16; low++)
        if (spec->bin_of[high << 4 | low] == bin)
            set |= 1u << low;
    return set;
}

/* A class is a set of low nibbles with one or more high nibbles: a byte is in it if both its
 * nibbles' entries have the class's bit. A bin takes one class for each different set. */
static void prepare_letters(struct count_plan *plan)
{
    unsigned sets[CLASS_GROUPS * 8];
    for (unsigned bin = 0; bin < plan->spec->bins; bin++) {
        unsigned first = plan->letters.count;
        for (unsigned high = 0; high < 16; high++) {
            unsigned set = low_nibbles(plan->spec, bin, high), kind = first;
            if (set == 0)
                continue;
            while (kind < plan->letters.count && sets[kind] != set)
                kind++;
            uint8_t *table = plan->letters.table[kind / 8], bit = (uint8_t)(1u << kind % 8);
            if (kind == plan->letters.count) {
                sets[plan->letters.count++] = set;
                plan->letters.bin_of[kind] = (uint8_t)bin;
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
    vector ones, twos, fours, eights;
};

TARGET INLINE vector add_2(struct planes *planes, const unsigned char *data,
                           const struct lookup *by)
{
    return add_two(&planes->ones, classes_at(data, by), classes_at(data + VECTOR, by));
}

TARGET INLINE vector add_4(struct planes *planes, const unsigned char *data,
                           const struct lookup *by)
{
    vector carry = add_2(planes, data, by);
    return add_two(&planes->twos, carry, add_2(planes, data + 2 * VECTOR, by));
}

TARGET INLINE vector add_8(struct planes *planes, const unsigned char *data,
                           const struct lookup *by)
{
    vector carry = add_4(planes, data, by);
    return add_two(&planes->fours, carry, add_4(planes, data + 4 * VECTOR, by));
}

/* Counts one group of classes over whole rounds. */
TARGET static void count_group(const uint8_t *table, const unsigned char *data, size_t len,
                               uint64_t totals[8])
{
    struct lookup by = lookup_of(table + LOW_NIBBLE, table + HIGH_NIBBLE);
    struct planes planes = {0};
    for (size_t i = 0; i < len; i += ROUND) {
        vector carry = add_8(&planes, data + i, &by);
        carry = add_two(&planes.eights, carry, add_8(&planes, data + i + 8 * VECTOR, &by));
        add_plane(totals, carry, 16);
    }
    add_plane(totals, planes.eights, 8);
    add_plane(totals, planes.fours, 4);
    add_plane(totals, planes.twos, 2);
    add_plane(totals, planes.ones, 1);
}

static void count_letters(const struct count_plan *plan, const unsigned char *data, size_t len,
                          uint64_t *counts)
{
    uint64_t totals[CLASS_GROUPS * 8] = {0};
    while (len >= ROUND) {
        size_t stretch = len < STRETCH ? len / ROUND * ROUND : STRETCH;
        for (unsigned first = 0; first < plan->letters.count; first += 8)
            count_group(plan->letters.table[first / 8], data, stretch, totals + first);
        data += stretch;
        len -= stretch;
    }
    for (unsigned kind = 0; kind < plan->letters.count; kind++)
        counts[plan->letters.bin_of[kind]] += totals[kind];
    count_byte_by_byte(plan->spec, data, len, counts);
}
