#include "content.h"

#include <string.h>

struct content_range content_range_of(const struct content_options *options)
{
    struct content_range range = {.begin = options->skip, .end = CONTENT_TO_END};
    if (options->has_length)
        range.end = options->skip + options->length;
    return range;
}

bool content_is_partial(const struct content_range *range)
{
    return range->begin > 0 || range->end != CONTENT_TO_END;
}

uint64_t content_before(const struct content_range *range, uint64_t position)
{
    uint64_t last = position < range->end ? position : range->end;
    return last > range->begin ? last - range->begin : 0;
}

size_t content_room(const struct content_range *range, uint64_t position, size_t most)
{
    uint64_t left = range->end - position;
    return left < most ? (size_t)left : most;
}

size_t content_keep(const struct content_range *range, uint64_t position, unsigned char *data,
                    size_t len)
{
    if (position >= range->begin)
        return len;
    uint64_t left_out = range->begin - position;
    if (left_out >= len)
        return 0;
    memmove(data, data + left_out, len - (size_t)left_out);
    return len - (size_t)left_out;
}
