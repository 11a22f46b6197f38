/* SPDX-License-Identifier: MIT */
#include "group_map.h"
#include "src/tally/characters.h"

#include <stdlib.h>
#include <string.h>

static size_t pages_of(const struct character_groups *groups)
{
    return CHARACTER_INVALID >> groups->shift >> groups->bits;
}

/* Returns the number of units that the pages refer to. */
static size_t units_of(const struct character_groups *groups)
{
    size_t last = 0;
    for (size_t page = 0; page < pages_of(groups); page++)
        if (groups->pages[page] > last)
            last = groups->pages[page];
    return (last + 1) << groups->bits;
}

struct group_map group_map_of(const struct histogram_spec *spec)
{
    const struct character_groups *groups = spec->groups;
    if (!groups)
        return (struct group_map){0};
    return (struct group_map){
        .shift = groups->shift, .bits = groups->bits, .units_at = (unsigned)pages_of(groups)};
}

void *group_table(const struct histogram_spec *spec, size_t *size)
{
    const struct character_groups *groups = spec->groups;
    const size_t pages = pages_of(groups), units = units_of(groups);
    *size = (pages + units) * sizeof(uint16_t);
    uint16_t *table = malloc(*size);
    if (!table)
        return NULL;
    memcpy(table, groups->pages, pages * sizeof *table);
    memcpy(table + pages, groups->units, units * sizeof *table);
    return table;
}
