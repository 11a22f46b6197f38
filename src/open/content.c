/* SPDX-License-Identifier: MIT */
#include "content.h"

#include <string.h>

struct content_range content_range_of(const struct content_options *options)
{
    struct content_range range = {.begin = options->skip, .end = CONTENT_TO_END};
    if (options->has_length)
        range.end = options->skip + options->length;
    return range;
}

int content_follow(struct content_range *range, const struct header *header,
                   const struct content_options *options, struct error *fault)
{
    const char *type = options->header_type;
    if (options->needs_header && header->type[0] && strcmp(header->type, type) != 0)
        return error_set(fault,
                         "holds %s, but another file holds values of %s; count them separately",
                         header->holds, type);
    if (!header_fits(header, type, options->channels, fault))
        return -1;
    const bool is_cut = options->has_length && options->length < header->bytes;
    const bool is_open = header->extent == HEADER_OPEN || header->bytes == HEADER_TO_END;
    *range = (struct content_range){
        .begin = header->size,
        .end = content_add(header->size, is_cut ? options->length : header->bytes),
        .stated = is_open ? NULL : header->format,
        .is_whole = header->extent == HEADER_EXACT && !is_cut,
    };
    return 0;
}

int content_check(const struct content_range *range, uint64_t position, bool at_end,
                  struct error *fault)
{
    const bool is_short = at_end && position < range->end;
    const bool is_long = range->is_whole && position > range->end;
    if (!range->stated || (!is_short && !is_long))
        return 0;
    return error_set(fault, "the %s header states %llu bytes of values, but %s follow",
                     range->stated, (unsigned long long)(range->end - range->begin),
                     is_short ? "fewer" : "more");
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

size_t content_left(const struct content_range *range, uint64_t position, size_t max)
{
    const uint64_t end = range->end + range->is_whole;
    const uint64_t left = position < end ? end - position : 0;
    return left < max ? (size_t)left : max;
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
