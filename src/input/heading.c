/* SPDX-License-Identifier: MIT */
#include "heading.h"
#include "npy.h"

#include <stdlib.h>
#include <string.h>

void heading_seek(struct heading *heading)
{
    *heading = (struct heading){.is_sought = true, .wanted = NPY_MAGIC_SIZE};
}

unsigned char *heading_room(struct heading *heading, size_t *cap)
{
    unsigned char *data = realloc(heading->data, heading->wanted);
    if (!data)
        return NULL;
    heading->data = data;
    *cap = heading->wanted - heading->len;
    return data + heading->len;
}

int heading_add(struct heading *heading, size_t len, const struct content_options *options,
                struct content_range *range, struct reason *fault)
{
    struct npy_header header;
    heading->len += len;
    switch (npy_look(heading->data, heading->len, &heading->wanted, &header, fault)) {
    case NPY_PART:
        return 0;
    case NPY_NONE:
        heading->is_sought = false;
        return 0;
    case NPY_HEADER:
        heading->is_sought = false;
        heading->given = heading->len;
        return content_follow(range, &header, options, fault);
    default:
        return -1;
    }
}

int heading_end(struct heading *heading, struct reason *fault)
{
    heading->is_sought = false;
    return heading->len < NPY_MAGIC_SIZE ? 0 : npy_truncated(fault);
}

bool heading_waits(const struct heading *heading)
{
    return !heading->is_sought && heading->given < heading->len;
}

size_t heading_give(struct heading *heading, const struct content_range *range, unsigned char *out,
                    size_t cap)
{
    size_t last = content_room(range, 0, heading->len), left = last - heading->given;
    size_t len = left < cap ? left : cap;
    memcpy(out, heading->data + heading->given, len);
    heading->given = len == left ? heading->len : heading->given + len;
    return len;
}

void heading_free(struct heading *heading)
{
    free(heading->data);
    *heading = (struct heading){0};
}
