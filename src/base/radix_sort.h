/* SPDX-License-Identifier: MIT */
/* Sorts whole numbers by their digits, the lowest first: in time that grows with the number of bits
 * in which they differ, not with what is in order already. Equal ones keep their order. */
#ifndef GPUHISTO_RADIX_SORT_H
#define GPUHISTO_RADIX_SORT_H

#include <stddef.h>
#include <stdint.h>

/* A number by which is sorted, and what goes with it. */
struct radix_pair {
    uint64_t key, value;
};

/* Each sorts `count` of them, with as much room again. Returns where they are in order: in the list
 * or in the room; the other has nothing that counts. */
uint64_t *radix_sort(uint64_t *list, uint64_t *room, size_t count);
struct radix_pair *radix_sort_pairs(struct radix_pair *list, struct radix_pair *room, size_t count);

#endif
