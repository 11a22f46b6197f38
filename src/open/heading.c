/* SPDX-License-Identifier: MIT */
#include "heading.h"
#include "header.h"

#include <stdlib.h>
#include <string.h>

void heading_seek(struct heading *heading)
{
    *heading = (struct heading){.is_sought = true, .wanted = 1};
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
    struct header header;
    heading->len += len;
    switch (header_look(heading->data, heading->len, &heading->wanted, &header, fault)) {
    case HEADER_PART:
        return 0;
    case HEADER_NONE:
        heading->is_sought = false;
        return content_without_header(options, fault);
    case HEADER_FOUND: /* no more was decoded than was wanted */
        heading->is_sought = false;
        heading->given = heading->len;
        return content_follow(range, &header, options, fault);
    default:
        return -1;
    }
}

int heading_end(struct heading *heading, const struct content_options *options,
                struct reason *fault)
{
    struct header header;
    heading->is_sought = false;
    if (header_look_at_all(heading->data, heading->len, &header, fault) == HEADER_WRONG)
        return -1;
    return content_without_header(options, fault);
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
