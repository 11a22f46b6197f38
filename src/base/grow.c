/* SPDX-License-Identifier: MIT */
#include "grow.h"

#include <stdlib.h>

#define MIN_ROOM 16

void *grow_list(void *list, size_t *room, size_t count, size_t size)
{
    if (count <= *room)
        return list;
    size_t more = *room ? *room : MIN_ROOM;
    while (more < count)
        more *= 2;
    void *longer = realloc(list, more * size);
    if (longer)
        *room = more;
    return longer;
}

void *grow_by_one(void *list, size_t count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0)
        return list;
    return realloc(list, (count ? 2 * count : 1) * size);
}
