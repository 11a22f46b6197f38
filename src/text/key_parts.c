/* SPDX-License-Identifier: MIT */
#include "key_parts.h"

#include <string.h>

struct key_name key_parts_join(const struct key_name *parts, unsigned count, unsigned char *to)
{
    unsigned char *end = to;
    for (unsigned i = 0; i < count; i++) {
        memcpy(end, parts[i].bytes, parts[i].len);
        end += parts[i].len;
    }
    for (unsigned i = 0; i + 1 < count; i++) {
        const uint32_t len = (uint32_t)parts[i].len; /* of KEY_SIZE_MAX at most, or of a table */
        memcpy(end, &len, sizeof len);
        end += sizeof len;
    }
    return (struct key_name){to, (size_t)(end - to)};
}

struct key_name key_parts_get(struct key_name name, unsigned count, unsigned i)
{
    const size_t content = name.len - (count - 1) * sizeof(uint32_t);
    const unsigned char *lengths = name.bytes + content;
    size_t begin = 0;
    uint32_t len = 0;
    for (unsigned part = 0; part + 1 < count && part <= i; part++) {
        begin += len;
        memcpy(&len, lengths + part * sizeof len, sizeof len);
    }
    if (i + 1 < count)
        return (struct key_name){name.bytes + begin, len};
    return (struct key_name){name.bytes + begin + len, content - begin - len};
}
