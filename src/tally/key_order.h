/* SPDX-License-Identifier: MIT */
/* Keys in the order of their names: by bytes as in the C locale, or by value if all are numbers. */
#ifndef GPUHISTO_KEY_ORDER_H
#define GPUHISTO_KEY_ORDER_H

#include "key_table.h"
#include "src/base/radix_sort.h"

#include <stdbool.h>

/* Keys of several tables, in order. */
struct key_list {
    struct radix_pair *list; /* the value is what key_position_table and key_position_key take */
    size_t count;
};

static inline uint32_t key_position_table(const struct radix_pair *position)
{
    return (uint32_t)(position->value >> 32);
}

static inline uint32_t key_position_key(const struct radix_pair *position)
{
    return (uint32_t)position->value;
}

/* Lists the keys of `count` tables, by as many threads as are given. All keys differ, except for
 * KEY_MISSING. The caller frees the list. 0, or -1 if memory is short, and there is no list. */
int key_list_make(struct key_list *keys, const struct key_table *const *tables, size_t count,
                  unsigned threads);

/* Sorts the first `top` keys of a list by name. After number_prepare. */
void key_list_sort_first(struct key_list *keys, const struct key_table *const *tables, size_t top);

/* True if a name is a number, or a point in time such as 10:05 or 2026-11-22T10:05. After
 * number_prepare. */
bool key_is_number_or_time(const struct key_entry *entry);

#endif
