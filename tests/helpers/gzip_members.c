/* SPDX-License-Identifier: MIT */
#include "gzip_members.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FLUSH_EVERY ((size_t)100000)

static void need_room(size_t len, size_t capacity)
{
    if (len <= capacity)
        return;
    fputs("gzip_members: no room\n", stderr);
    exit(99);
}

static void fill_with_text(unsigned char *content, size_t len)
{
    static const char *const words[] = {"GET /index.html", " 200 ", "\n10.0.", "Mozilla/5.0 "};
    for (size_t at = 0, some; at < len; at += some) {
        char text[32];
        some = (size_t)snprintf(text, sizeof text, "%s%u", words[random_below(4)],
                                random_below(10000));
        some = some < len - at ? some : len - at;
        memcpy(content + at, text, some);
    }
}

static void add_content(struct gzip_file *file, size_t len, enum member_content kind)
{
    unsigned char *content = file->content + file->content_len;
    need_room(len, file->content_cap - file->content_len);
    file->content_len += len;
    if (kind == MEMBER_TEXT)
        fill_with_text(content, len);
    else if (kind == MEMBER_ZEROS)
        memset(content, 0, len);
    for (size_t at = 0; kind == MEMBER_RANDOM && at < len; at += sizeof(uint64_t)) {
        const uint64_t word = random_word();
        memcpy(content + at, &word, len - at < sizeof word ? len - at : sizeof word);
    }
}

void gzip_file_add(struct gzip_file *file, const struct gzip_member_settings *settings)
{
    const size_t begin = file->content_len;
    z_stream zlib = {.next_in = file->content + begin, .next_out = file->bytes + file->len};
    gz_header header = {.name = (Bytef *)(random_below(2) ? "name" : ""),
                        .hcrc = random_below(2) == 1};
    need_room(file->members + 1, GZIP_MEMBERS_MAX);
    file->member[file->members].at = file->len;
    file->member[file->members++].content = begin;
    add_content(file, settings->len, settings->content);
    zlib.avail_out = (unsigned)(file->cap - file->len);
    if (deflateInit2(&zlib, settings->level, Z_DEFLATED, 31, 8, 0) != Z_OK ||
        deflateSetHeader(&zlib, &header) != Z_OK)
        exit(99);
    for (size_t left = settings->len, some; left > 0; left -= some) {
        some = left < FLUSH_EVERY ? left : FLUSH_EVERY;
        zlib.avail_in = (unsigned)some;
        if (deflate(&zlib, settings->is_flushed ? Z_SYNC_FLUSH : Z_NO_FLUSH) != Z_OK)
            exit(99);
    }
    if (deflate(&zlib, Z_FINISH) != Z_STREAM_END)
        exit(99);
    deflateEnd(&zlib);
    file->len += zlib.total_out;
}

void gzip_file_add_random(struct gzip_file *file, size_t len)
{
    const struct gzip_member_settings settings = {
        .len = len,
        .content = (enum member_content)random_below(MEMBER_CONTENTS),
        .level = (int)random_below(10),
        .is_flushed = random_below(2)};
    gzip_file_add(file, &settings);
}

void gzip_file_pad(struct gzip_file *file, unsigned char byte, size_t len)
{
    need_room(len, file->cap - file->len);
    memset(file->bytes + file->len, byte, len);
    file->len += len;
}

static bool is_padding(const unsigned char *in, size_t len)
{
    while (len > 0 && *in == 0)
        in++, len--;
    return len == 0;
}

bool gzip_reference(const unsigned char *in, size_t len, unsigned char *content, size_t cap,
                    size_t *size)
{
    z_stream zlib = {.next_in = (unsigned char *)in,
                     .avail_in = (unsigned)len,
                     .next_out = content,
                     .avail_out = (unsigned)cap};
    if (inflateInit2(&zlib, 31) != Z_OK)
        exit(99);
    int rc = len > 0 ? inflate(&zlib, Z_FINISH) : Z_STREAM_END;
    while (rc == Z_STREAM_END && len > 0 && !is_padding(zlib.next_in, zlib.avail_in)) {
        inflateReset(&zlib);
        rc = inflate(&zlib, Z_FINISH);
    }
    *size = (size_t)(zlib.next_out - content);
    inflateEnd(&zlib);
    return rc == Z_STREAM_END;
}
