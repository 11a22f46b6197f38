/* SPDX-License-Identifier: MIT */
/* The table of header formats. */
#include "header.h"

#include <string.h>

static const struct header_format *const formats[] = {&header_npy, &header_wav, &header_pnm};
#define FORMATS (sizeof formats / sizeof formats[0])

enum header_status header_peek(const unsigned char *data, size_t len, size_t *wanted,
                               struct header *header, struct error *fault)
{
    const struct header_format *format = formats[0];
    enum header_status status = len > 0 ? HEADER_NONE : HEADER_PART;
    size_t min = 1;
    for (size_t i = 0; i < FORMATS && status == HEADER_NONE; i++) {
        format = formats[i];
        status = format->peek(data, len, &min, header, fault);
    }
    if (status == HEADER_FOUND)
        header->format = format->name;
    if (status == HEADER_PART && wanted)
        *wanted = min;
    if (status != HEADER_PART || wanted)
        return status;
    if (len < format->magic_size)
        return HEADER_NONE;
    error_set(fault, "ends inside its %s header", format->name);
    return HEADER_WRONG;
}

bool header_fits(const struct header *header, const char *type, unsigned channels,
                 struct error *fault)
{
    if (!header->type[0])
        error_set(fault, "holds %s, which --values cannot count", header->holds);
    else if (strcmp(header->type, type) != 0)
        error_set(fault, "holds %s; use --values=%s", header->holds, header->type);
    else if (channels > 1 && header->is_planar)
        error_set(fault, "is in Fortran order, so its channels are not interleaved");
    else if (channels > 1 && header->channels == 1)
        error_set(fault, "has one channel; leave out --channels");
    else if (channels > 1 && header->channels > 0 && header->channels != channels)
        error_set(fault, "has %u channels; use --channels=%u", header->channels, header->channels);
    else
        return true;
    return false;
}
