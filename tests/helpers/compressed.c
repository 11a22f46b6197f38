/* SPDX-License-Identifier: MIT */
#include "tests/helpers/compressed.h"

#include <string.h>

#define FRAME_BLOCK_MAX ((size_t)128 << 10)
#define MEMBER_BLOCK_MAX ((size_t)65535)

static unsigned char *put_word(unsigned char *out, uint64_t word, size_t len)
{
    for (size_t i = 0; i < len; i++)
        *out++ = (unsigned char)(word >> 8 * i);
    return out;
}

static unsigned char *put_data(unsigned char *out, const unsigned char *data, size_t len)
{
    if (len > 0)
        memcpy(out, data, len);
    return out + len;
}

static unsigned char *put_frame_header(unsigned char *out, const struct frame_shape *shape,
                                       size_t len)
{
    bool is_single = shape->sized && shape->window_log == 0;
    out = put_word(out, 0xfd2fb528, 4);
    out = put_word(out, (shape->sized ? 0xc0u : 0) | (is_single ? 0x20u : 0), 1);
    if (!is_single)
        out = put_word(out, (shape->window_log ? shape->window_log - 10u : 7u) << 3, 1);
    if (shape->sized)
        out = put_word(out, shape->is_misstated ? shape->stated : len, 8);
    return out;
}

size_t frame_put(unsigned char *out, const struct frame_shape *shape, const unsigned char *data,
                 size_t len)
{
    unsigned char *begin = out;
    size_t max = shape->block ? shape->block : FRAME_BLOCK_MAX, at = 0;
    bool is_last = false;
    out = put_frame_header(out, shape, len);
    if (shape->window_log && max > (size_t)1 << shape->window_log)
        max = (size_t)1 << shape->window_log; /* no block may be larger */
    while (!is_last) {
        size_t block = len - at < max ? len - at : max;
        is_last = at == len || (!shape->is_misstated && at + block == len);
        out = put_word(out, block << 3 | is_last, 3);
        if (block > 0) /* without content, data may be NULL */
            out = put_data(out, data + at, block);
        at += block;
    }
    return (size_t)(out - begin);
}

size_t skippable_put(unsigned char *out, size_t len)
{
    put_word(out, 0x184d2a50, 4);
    put_word(out + 4, len, 4);
    memset(out + 8, '5', len);
    return 8 + len;
}

static uint32_t crc_of(const unsigned char *data, size_t len)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < len; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

/* Writes the part of a member after its header. */
static unsigned char *put_body(unsigned char *out, const unsigned char *data, size_t len)
{
    size_t at = 0;
    do {
        size_t block = len - at < MEMBER_BLOCK_MAX ? len - at : MEMBER_BLOCK_MAX;
        *out++ = at + block == len;
        out = put_word(out, block | (~block & 0xffff) << 16, 4);
        out = put_data(out, data + at, block);
        at += block;
    } while (at < len);
    out = put_word(out, crc_of(data, len), 4);
    return put_word(out, len, 4);
}

size_t member_put(unsigned char *out, const unsigned char *data, size_t len)
{
    unsigned char *body = put_word(out, 0x088b1f, 8);
    body = put_word(body, 0xff00, 2);
    return (size_t)(put_body(body, data, len) - out);
}

size_t bgzf_put(unsigned char *out, const unsigned char *data, size_t len, int over)
{
    unsigned char *body = put_word(out, 0x04088b1f, 8);
    body = put_word(body, 0x0006ff00, 4);
    body = put_word(body, 0x00024342, 6);
    const size_t size = (size_t)(put_body(body, data, len) - out);
    put_word(body - 2, size - 1 + (size_t)over, 2);
    return size;
}
