/* SPDX-License-Identifier: MIT */
#include "gzip_format.h"

#define FIXED_SIZE 10
#define FLAGS_UNKNOWN 0xe0u

const unsigned char gzip_magic[GZIP_MAGIC_SIZE] = {0x1f, 0x8b, 0x08};

/* The flag that announces a field. */
static const unsigned field_flags[] = {
    [GZIP_EXTRA_SIZE] = 0x04, [GZIP_EXTRA] = 0x04,    [GZIP_NAME] = 0x08,
    [GZIP_COMMENT] = 0x10,    [GZIP_CHECKSUM] = 0x02,
};

/* True if the header lacks this field. */
static bool lacks_field(const struct gzip_header *header, enum gzip_field field)
{
    if (field == GZIP_HEADER_ENDED)
        return false;
    return !(header->flags & field_flags[field]) ||
           (field == GZIP_EXTRA && header->extra_size == 0);
}

static void next_field(struct gzip_header *header)
{
    header->at = 0;
    do
        header->field++;
    while (lacks_field(header, header->field));
}

static const char *take_fixed(struct gzip_header *header, unsigned char byte)
{
    if (header->at < GZIP_MAGIC_SIZE && byte != gzip_magic[header->at])
        return "not gzip data (no member begins here)";
    if (header->at != GZIP_MAGIC_SIZE)
        return NULL;
    header->flags = byte;
    return byte & FLAGS_UNKNOWN ? "corrupt gzip data (unknown flags in a header)" : NULL;
}

/* Adds the next byte of a little-endian number. */
static unsigned add_byte(unsigned number, unsigned char byte, size_t at)
{
    return number | (unsigned)byte << 8 * at;
}

/* CRC-32 of one byte more. */
static uint32_t add_to_crc(uint32_t crc, unsigned char byte)
{
    crc = ~crc ^ byte;
    for (int bit = 0; bit < 8; bit++)
        crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    return ~crc;
}

static const char *take_byte(struct gzip_header *header, unsigned char byte)
{
    const char *fault = NULL;
    bool last = false;
    if (header->field != GZIP_CHECKSUM)
        header->crc = add_to_crc(header->crc, byte);
    switch (header->field) {
    case GZIP_FIXED:
        fault = take_fixed(header, byte);
        last = header->at + 1 == FIXED_SIZE;
        break;
    case GZIP_EXTRA_SIZE:
        header->extra_size = add_byte(header->extra_size, byte, header->at);
        last = header->at == 1;
        break;
    case GZIP_EXTRA:
        last = header->at + 1 == header->extra_size;
        break;
    case GZIP_CHECKSUM:
        header->stated = add_byte(header->stated, byte, header->at);
        last = header->at == 1;
        if (last && header->stated != (header->crc & 0xffff))
            fault = "corrupt gzip data (wrong checksum of a header)";
        break;
    default: /* the name and the comment end with a zero byte */
        last = byte == 0;
        break;
    }
    header->at++;
    if (last)
        next_field(header);
    return fault;
}

const char *gzip_header_take(struct gzip_header *header, const unsigned char *in, size_t len,
                             size_t *used)
{
    const char *fault = NULL;
    size_t taken = 0;
    while (taken < len && header->field != GZIP_HEADER_ENDED && !fault)
        fault = take_byte(header, in[taken++]);
    *used += taken;
    return fault;
}
