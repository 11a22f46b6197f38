/* SPDX-License-Identifier: MIT */
#include "header.h"

#include <string.h>

static const struct header_format *const formats[] = {&header_npy, &header_wav, &header_pnm};
#define FORMATS (sizeof formats / sizeof formats[0])

/* Sets *format to whose header the content begins with, or may begin with. */
static enum header_status look(const unsigned char *data, size_t len, size_t *wanted,
                               struct header *header, const struct header_format **format,
                               struct reason *fault)
{
    enum header_status status = HEADER_NONE;
    for (size_t i = 0; i < FORMATS && status == HEADER_NONE; i++) {
        *format = formats[i];
        status = formats[i]->look(data, len, wanted, header, fault);
    }
    if (status == HEADER_FOUND)
        header->format = (*format)->name;
    return status;
}

enum header_status header_look(const unsigned char *data, size_t len, size_t *wanted,
                               struct header *header, struct reason *fault)
{
    const struct header_format *format;
    return len == 0 ? header_need(1, wanted) : look(data, len, wanted, header, &format, fault);
}

enum header_status header_look_at_all(const unsigned char *data, size_t len, struct header *header,
                                      struct reason *fault)
{
    const struct header_format *format;
    size_t wanted;
    if (len == 0)
        return HEADER_NONE;
    enum header_status status = look(data, len, &wanted, header, &format, fault);
    if (status != HEADER_PART)
        return status;
    if (len < format->magic_size)
        return HEADER_NONE;
    reason_set(fault, "ends within its %s header", format->name);
    return HEADER_WRONG;
}

bool header_fits(const struct header *header, const char *type, unsigned channels,
                 struct reason *fault)
{
    if (!header->type[0])
        reason_set(fault, "holds %s, which --values does not count", header->holds);
    else if (strcmp(header->type, type) != 0)
        reason_set(fault, "holds %s; use --values=%s", header->holds, header->type);
    else if (channels > 1 && header->is_planar)
        reason_set(fault, "is in Fortran order, in which channels do not take turns");
    else if (channels > 1 && header->channels == 1)
        reason_set(fault, "has one channel; leave out --channels");
    else if (channels > 1 && header->channels > 0 && header->channels != channels)
        reason_set(fault, "has %u channels; use --channels=%u", header->channels, header->channels);
    else
        return true;
    return false;
}

enum header_status header_need(size_t size, size_t *wanted)
{
    *wanted = size;
    return HEADER_PART;
}

enum header_status header_wrong(const char *format, const char *what, struct reason *fault)
{
    reason_set(fault, "invalid %s header (%s)", format, what);
    return HEADER_WRONG;
}
