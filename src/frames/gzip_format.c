/* SPDX-License-Identifier: MIT */
#include "gzip_format.h"

#include <string.h>

#define FLAGS_UNKNOWN 0xe0u
#define FLAG_EXTRA 4u

const unsigned char gzip_magic[GZIP_MAGIC_SIZE] = {0x1f, 0x8b, 0x08};

/* The flag that announces a field, and its bytes; 0: those that the header states, or up to a zero
 * byte. */
static const struct {
    unsigned flag;
    size_t size;
} fields[] = {
    [GZIP_FIXED] = {0, 10},         [GZIP_EXTRA_SIZE] = {FLAG_EXTRA, 2},
    [GZIP_EXTRA] = {FLAG_EXTRA, 0}, [GZIP_NAME] = {8, 0},
    [GZIP_COMMENT] = {16, 0},       [GZIP_CHECKSUM] = {2, 2},
};

static void next_field(struct gzip_header *header)
{
    bool is_there = false;
    header->at = 0;
    while (!is_there && ++header->field != GZIP_HEADER_ENDED) {
        is_there = header->flags & fields[header->field].flag;
        if (header->field == GZIP_EXTRA)
            is_there &= header->number > 0;
        else
            header->number = 0;
    }
}

static const char *read_fixed(struct gzip_header *header, unsigned char byte)
{
    if (header->at < GZIP_MAGIC_SIZE && byte != gzip_magic[header->at])
        return "not gzip data (no member begins here)";
    if (header->at != GZIP_MAGIC_SIZE)
        return NULL;
    header->flags = byte;
    return byte & FLAGS_UNKNOWN ? "corrupt gzip data (unknown flags in a header)" : NULL;
}

/* CRC-32 of one byte more. */
static uint32_t add_to_crc(uint32_t crc, unsigned char byte)
{
    crc = ~crc ^ byte;
    for (int bit = 0; bit < 8; bit++)
        crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    return ~crc;
}

/* Takes the next byte. NULL; or what is wrong, and the header is of no more use. */
static const char *read_byte(struct gzip_header *header, unsigned char byte)
{
    const enum gzip_field field = header->field;
    const size_t size = field == GZIP_EXTRA ? header->number : fields[field].size;
    const char *fault = field == GZIP_FIXED ? read_fixed(header, byte) : NULL;
    if (field == GZIP_EXTRA_SIZE || field == GZIP_CHECKSUM)
        header->number |= (unsigned)byte << 8 * header->at;
    if (field != GZIP_CHECKSUM)
        header->crc = add_to_crc(header->crc, byte);
    header->at++;
    if (size > 0 ? header->at < size : byte != 0)
        return fault;
    if (field == GZIP_CHECKSUM && header->number != (header->crc & 0xffff))
        fault = "corrupt gzip data (wrong checksum of a header)";
    next_field(header);
    return fault;
}

/* Takes bytes in[0..len) up to the end of the header, and adds their number to *used. NULL; or what
 * is wrong. */
static const char *read_header(struct gzip_header *header, const unsigned char *in, size_t len,
                               size_t *used)
{
    const char *fault = NULL;
    size_t taken = 0;
    while (taken < len && header->field != GZIP_HEADER_ENDED && !fault)
        fault = read_byte(header, in[taken++]);
    *used += taken;
    return fault;
}

bool gzip_members_are_complete(const struct gzip_members *members)
{
    return members->next == GZIP_FIRST || members->next == GZIP_NEXT || members->next == GZIP_ZEROS;
}

static size_t read_trailer(struct gzip_members *members, const unsigned char *in, size_t len)
{
    size_t taken = 0;
    while (taken < len && members->trailer_len < GZIP_TRAILER_SIZE)
        members->trailer |= (uint64_t)in[taken++] << 8 * members->trailer_len++;
    if (members->trailer_len == GZIP_TRAILER_SIZE)
        members->next = GZIP_NEXT;
    return taken;
}

const char *gzip_members_read(struct gzip_members *members, const unsigned char *in, size_t len,
                              size_t *used)
{
    const char *fault = NULL;
    size_t zeros = 0;
    if (members->next == GZIP_TRAILER) {
        *used += read_trailer(members, in, len);
        return NULL;
    }
    if (gzip_members_are_complete(members) && len > 0) {
        while (members->next != GZIP_FIRST && zeros < len && in[zeros] == 0)
            zeros++;
        *used += zeros;
        if (zeros == 0 && members->next == GZIP_ZEROS)
            return "not gzip data (after zero bytes, which end it)";
        members->next = zeros > 0 ? GZIP_ZEROS : GZIP_HEADER;
        members->header = (struct gzip_header){.field = GZIP_FIXED};
    }
    if (members->next == GZIP_HEADER) {
        fault = read_header(&members->header, in, len, used);
        if (members->header.field == GZIP_HEADER_ENDED)
            members->next = GZIP_BLOCKS;
    }
    return fault;
}

size_t bgzf_size(const unsigned char *head)
{
    static const unsigned char name_and_size[] = {'B', 'C', 2, 0};
    const unsigned flags = head[3] & (FLAGS_UNKNOWN | FLAG_EXTRA);
    const bool has_room = head[10] >= 6 || head[11] > 0;
    if (memcmp(head, gzip_magic, GZIP_MAGIC_SIZE) != 0 || flags != FLAG_EXTRA || !has_room ||
        memcmp(head + 12, name_and_size, sizeof name_and_size) != 0)
        return 0;
    return (head[16] | (size_t)head[17] << 8) + 1;
}

bool bgzf_may_begin(const unsigned char *in, size_t len)
{
    unsigned char head[BGZF_HEAD_SIZE] = {0x1f, 0x8b, 8, FLAG_EXTRA, [11] = 1, [12] = 'B', 'C', 2};
    memcpy(head, in, len);
    return bgzf_size(head) > 0;
}
