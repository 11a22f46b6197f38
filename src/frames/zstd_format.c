/* SPDX-License-Identifier: MIT */
#include "zstd_format.h"

#define MAGIC_SKIPPABLE 0x184d2a50u /* to 0x184d2a5f */
#define MAGIC_FRAME 0xfd2fb528u
#define SKIPPABLE_HEADER_SIZE 8 /* bytes of a magic number and a size */

/* Returns the next `bytes` bytes, up to 8, as a number. */
static uint64_t little_endian(const unsigned char *in, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)in[i] << 8 * i;
    return value;
}

/* True if a number of which the first `seen` bytes are there may be a magic number. */
static bool may_be(uint32_t magic, uint32_t ignored, uint64_t value, size_t seen)
{
    uint64_t mask = (((uint64_t)1 << 8 * seen) - 1) & ~(uint64_t)ignored;
    return (value & mask) == (magic & mask);
}

static enum zstd_parsed parse_skippable(const unsigned char *in, size_t len,
                                        struct zstd_frame_header *header)
{
    header->is_skippable = true;
    header->size = SKIPPABLE_HEADER_SIZE;
    if (len < SKIPPABLE_HEADER_SIZE)
        return ZSTD_SHORT;
    header->content = 0;
    header->skipped = little_endian(in + ZSTD_MAGIC_SIZE, 4);
    return ZSTD_PARSED;
}

static uint64_t window_of(unsigned descriptor)
{
    uint64_t power = (uint64_t)1 << (10 + (descriptor >> 3));
    return power + power / 8 * (descriptor & 7);
}

/* Reads the fields after the magic number. */
static enum zstd_parsed parse_fields(const unsigned char *in, size_t len,
                                     struct zstd_frame_header *header)
{
    static const uint8_t dictionaries[4] = {0, 1, 2, 4}, contents[4] = {0, 2, 4, 8};
    const unsigned descriptor = *in++;
    const bool is_single_segment = descriptor >> 5 & 1; /* the window is the content */
    const size_t window = is_single_segment ? 0 : 1, dictionary = dictionaries[descriptor & 3];
    size_t content = contents[descriptor >> 6];
    if (descriptor & 8)
        return ZSTD_WRONG;
    if (is_single_segment && content == 0)
        content = 1;
    header->has_checksum = descriptor >> 2 & 1;
    header->size = (uint32_t)(ZSTD_MAGIC_SIZE + 1 + window + dictionary + content);
    if (window > 0 && len > 1)
        header->window = window_of(*in++);
    if (ZSTD_MAGIC_SIZE + len < header->size)
        return ZSTD_SHORT;
    header->dictionary = (uint32_t)little_endian(in, dictionary);
    if (content > 0)
        header->content = little_endian(in + dictionary, content) + (content == 2 ? 256 : 0);
    if (is_single_segment)
        header->window = header->content;
    return ZSTD_PARSED;
}

enum zstd_parsed zstd_parse_frame(const unsigned char *in, size_t len,
                                  struct zstd_frame_header *header)
{
    const size_t seen = len < ZSTD_MAGIC_SIZE ? len : ZSTD_MAGIC_SIZE;
    const uint64_t magic = little_endian(in, seen);
    const bool is_frame = may_be(MAGIC_FRAME, 0, magic, seen);
    *header = (struct zstd_frame_header){.size = ZSTD_MAGIC_SIZE, .content = ZSTD_SIZE_UNKNOWN};
    if (!is_frame && !may_be(MAGIC_SKIPPABLE, 15, magic, seen))
        return ZSTD_WRONG;
    if (seen < ZSTD_MAGIC_SIZE)
        return ZSTD_SHORT;
    if (!is_frame)
        return parse_skippable(in, len, header);
    header->size = ZSTD_MAGIC_SIZE + 1;
    return len < header->size ? ZSTD_SHORT
                              : parse_fields(in + ZSTD_MAGIC_SIZE, len - ZSTD_MAGIC_SIZE, header);
}

struct zstd_block_header zstd_parse_block(const unsigned char *in)
{
    const uint32_t header = (uint32_t)little_endian(in, ZSTD_BLOCK_HEADER_SIZE);
    const enum zstd_stored_type type = header >> 1 & 3;
    const uint32_t size = header >> 3;
    return (struct zstd_block_header){.type = type,
                                      .size = size,
                                      .stored = type == ZSTD_STORED_RLE ? 1 : size,
                                      .is_last = header & 1};
}

uint64_t zstd_block_max(uint64_t window)
{
    return window < ZSTD_BLOCK_MAX ? window : ZSTD_BLOCK_MAX;
}

enum zstd_parsed zstd_part_read(struct zstd_parts *parts, const unsigned char *in, size_t len,
                                uint64_t *size)
{
    if (parts->next == ZSTD_HEADER) {
        const enum zstd_parsed parsed = zstd_parse_frame(in, len, &parts->header);
        *size = parts->header.size;
        return parsed;
    }
    *size = parts->next == ZSTD_BLOCK ? ZSTD_BLOCK_HEADER_SIZE : ZSTD_CHECKSUM_SIZE;
    if (len < *size)
        return ZSTD_SHORT;
    if (parts->next == ZSTD_CHECKSUM)
        return ZSTD_PARSED;
    parts->block = zstd_parse_block(in);
    if (parts->block.type == ZSTD_STORED_RESERVED ||
        parts->block.size > zstd_block_max(parts->header.window))
        return ZSTD_WRONG;
    *size += parts->block.stored;
    return ZSTD_PARSED;
}

void zstd_part_pass(struct zstd_parts *parts)
{
    const struct zstd_frame_header *header = &parts->header;
    if (parts->next == ZSTD_HEADER)
        parts->next = header->is_skippable ? ZSTD_HEADER : ZSTD_BLOCK;
    else if (parts->next == ZSTD_CHECKSUM || (parts->block.is_last && !header->has_checksum))
        parts->next = ZSTD_HEADER;
    else if (parts->block.is_last)
        parts->next = ZSTD_CHECKSUM;
}
