/* SPDX-License-Identifier: MIT */
/* Sorts whole numbers by their digits, the lowest first. The time grows with the number of bits in
 * which they differ, and does not depend on their order. Equal numbers keep their order. */
#ifndef GPUHISTO_RADIX_SORT_H
#define GPUHISTO_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

/* A number to sort by, and the value that goes with it. */
struct radix_pair {
    uint64_t key, value;
};

/* Each sorts `count` elements and uses `scratch`, which has space for as many. Returns where they
 * are in order, which is the list or the room; the other one holds garbage. */
uint64_t *radix_sort(uint64_t *list, uint64_t *scratch, size_t count);
struct radix_pair *radix_sort_pairs(struct radix_pair *list, struct radix_pair *scratch,
                                    size_t count);

#endif
