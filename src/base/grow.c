/* SPDX-License-Identifier: MIT */
#include "grow.h"

#include <stdlib.h>

#define CAPACITY_MIN 16

void *grow_list(void *list, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return list;
    size_t more = *capacity ? *capacity : CAPACITY_MIN;
    while (more < count)
        more *= 2;
    void *longer = realloc(list, more * size);
    if (longer)
        *capacity = more;
    return longer;
}

void *grow_by_one(void *list, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return list;
    return realloc(list, (count ? 2 * count : 1) * size);
}
