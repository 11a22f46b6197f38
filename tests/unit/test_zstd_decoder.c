/* SPDX-License-Identifier: MIT */
/* The codec of zstd gives one verdict on a file, one message and the same content before it,
 * however the bytes come and go: all at once or one at a time, to much room or little, and with
 * whatever the decoder did before. The frames are libzstd's, of which bytes, headers of blocks or
 * the window are then altered; and a few are made by hand. */
#include "src/codec/codec.h"
#include "tests/helpers/compressed.h"
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/zstd_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)1 << 20)    /* bytes of a file */
#define CONTENT_MAX ((size_t)4 << 20) /* bytes of content that are looked at */
#define BLOCK_MAX ((size_t)128 << 10) /* bytes of content of a block */

/* How a file is decoded. */
struct way {
    const char *name;
    size_t in, out;      /* bytes of a step at most; 0: any number, another one each time */
    bool is_after_other; /* by a decoder that has decoded another file */
};

static const struct way ways[] = {
    {"at once", SIZE_MAX, CONTENT_MAX, false},
    {"at once, after another file", SIZE_MAX, CONTENT_MAX, true},
    {"from a slow pipe", 1, CONTENT_MAX, false},
    {"from a pipe, after another file", 1000, 65536, true},
    {"to small chunks", SIZE_MAX, 100, false},
    {"in any steps", 0, 0, false},
    {"in any steps, after another file", 0, 0, true},
};
#define WAYS (sizeof ways / sizeof ways[0])

/* What came of it. */
struct result {
    char message[128]; /* "": the file is right */
    size_t frame;      /* where the frame begins that is wrong, or goes on after the file */
    size_t len;
    unsigned char content[CONTENT_MAX];
};

static unsigned char file[FILE_MAX], other[FILE_MAX];
static size_t file_len, other_len;
static struct result results[2];
static unsigned long cases, right, odd, wrong;

/* --- decoding --- */

static size_t draw_step(size_t max)
{
    return max > 0 ? max : 1 + random_below(random_below(2) ? 40 : 70000);
}

/* Decodes on, to the end of the file or to what is wrong. */
static void decode(struct decoder *decoder, const struct way *way, const unsigned char *in,
                   size_t len, struct result *result)
{
    const struct codec *codec = decoder->codec;
    struct error error = {""};
    struct decode_step step = {.made = 0};
    enum decode_status status = DECODE_OK;
    size_t at = 0, end = 0;
    result->len = result->frame = 0;
    while (status == DECODE_OK) {
        const bool is_dry = step.made == 0 || step.made < step.cap || codec->complete(decoder);
        if (codec->complete(decoder))
            result->frame = at;
        if (at == end && is_dry) {
            if (at == len)
                break;
            const size_t some = draw_step(way->in);
            end = some < len - at ? at + some : len;
        }
        const size_t space = CONTENT_MAX - result->len, cap = draw_step(way->out);
        step = (struct decode_step){.in = in + at,
                                    .in_len = end - at,
                                    .out = result->content + result->len,
                                    .cap = cap < space ? cap : space};
        if (space == 0)
            break;
        status = codec->decode(decoder, &step, &error);
        at += step.used;
        result->len += step.made;
    }
    const char *verdict = status == DECODE_NO_MEMORY   ? "out of memory"
                          : status == DECODE_FAULT     ? error.text
                          : result->len == CONTENT_MAX ? "too long"
                          : codec->complete(decoder)   ? ""
                                                       : "truncated";
    snprintf(result->message, sizeof result->message, "%s", verdict);
}

static void decode_file(const struct way *way, struct result *result)
{
    const struct codec_options options = {.memlimit = 1 << 23};
    struct decoder *decoder = need(codec_zstd.open(&options));
    if (way->is_after_other) {
        if (codec_zstd.reserve(decoder, other, other_len, true) != 0)
            abort();
        decode(decoder, way, other, random_below(2) ? other_len : other_len / 2, result);
        if (codec_zstd.reserve(decoder, file, file_len, true) != 0)
            abort();
    }
    decode(decoder, way, file, file_len, result);
    decoder_close(decoder);
}

/* Returns how many bytes of content the decoder that is written from RFC 8878 gives of the file
 * before something that this forbids. */
static size_t allowed_content(void)
{
    struct naive_zstd naive;
    (void)naive_zstd_decode(&naive, file, file_len);
    const size_t allowed = naive.content_size;
    naive_zstd_free(&naive);
    return allowed;
}

/* True if both results have the same content. libzstd takes matches that go back farther than the
 * window, and what they find there may be anything. Before an error, a part of a block may be
 * given.
 */
static bool is_same_content(const struct result *a, const struct result *b)
{
    const size_t len = a->len < b->len ? a->len : b->len, more = a->len + b->len - 2 * len;
    size_t same = 0;
    if (more > (a->message[0] ? BLOCK_MAX : 0))
        return false;
    if (memcmp(a->content, b->content, len) == 0)
        return true;
    while (a->content[same] == b->content[same])
        same++;
    odd++;
    return allowed_content() <= same;
}

/* Decodes the file in all ways. Returns the message. */
static const char *check_file(const char *what)
{
    struct result *first = &results[0], *next = &results[1];
    cases++;
    decode_file(&ways[0], first);
    right += first->message[0] == '\0';
    for (size_t i = 1; i < WAYS; i++) {
        decode_file(&ways[i], next);
        const bool is_same = strcmp(first->message, next->message) == 0 &&
                             first->frame == next->frame && is_same_content(first, next);
        if (!is_same && wrong++ < 20)
            printf("wrong: %s, %s: '%s' in the frame at %zu after %zu bytes, not '%s' at %zu after "
                   "%zu (case %lu)\n",
                   what, ways[i].name, next->message, next->frame, next->len, first->message,
                   first->frame, first->len, cases);
    }
    return first->message;
}

/* --- files --- */

/* Adds a frame. */
static void add_frame(unsigned char *bytes, size_t *bytes_len,
                      const struct frame_settings *settings, const unsigned char *content,
                      size_t len)
{
    if (frame_bound(settings, len) <= FILE_MAX - *bytes_len)
        *bytes_len +=
            frame_compress(bytes + *bytes_len, FILE_MAX - *bytes_len, settings, content, len);
}

static void draw_frame(unsigned char *bytes, size_t *bytes_len)
{
    static unsigned char content[300000];
    const size_t len = random_below(random_below(4) ? 6000 : sizeof content);
    struct frame_settings settings = frame_settings_random((int)random_below(6) - 1);
    settings.flush = random_below(3) ? 0 : 1 + random_below(1500);
    frame_content((enum frame_content)random_below(CONTENT_KINDS), content, len);
    add_frame(bytes, bytes_len, &settings, content, len);
}

/* Where a block of the file has its header, a random one of the first frame; 0: there is none. */
static size_t draw_block(void)
{
    struct zstd_frame_header header;
    size_t at, drawn = 0;
    if (zstd_parse_frame(file, file_len, &header) != ZSTD_PARSED || header.is_skippable)
        return 0;
    at = header.size;
    for (unsigned seen = 1; at + ZSTD_BLOCK_HEADER_SIZE <= file_len; seen++) {
        const struct zstd_block_header block = zstd_parse_block(file + at);
        if (random_below(seen) == 0)
            drawn = at;
        if (block.is_last)
            break;
        at += ZSTD_BLOCK_HEADER_SIZE + block.stored;
    }
    return drawn;
}

static void write_block_header(unsigned char *at, unsigned type, size_t size, bool is_last)
{
    const size_t header = size << 3 | type << 1 | is_last;
    for (unsigned i = 0; i < ZSTD_BLOCK_HEADER_SIZE; i++)
        at[i] = (unsigned char)(header >> 8 * i);
}

/* Alters the header of a block: its type, its size, or whether it is the last one. */
static void alter_block(void)
{
    const size_t at = draw_block();
    if (at == 0)
        return;
    const struct zstd_block_header block = zstd_parse_block(file + at);
    size_t size = block.size;
    unsigned type = block.type;
    bool is_last = block.is_last;
    switch (random_below(4)) {
    case 0:
        is_last = !is_last;
        break;
    case 1:
        type = random_below(4);
        break;
    case 2:
        size = random_below(2) ? random_below(3000) : random_below(200000);
        break;
    default:
        type = ZSTD_STORED_RLE;
        size = random_below(150000);
    }
    write_block_header(file + at, type, size, is_last);
}

static void alter_bytes(void)
{
    const size_t at = random_below((unsigned)file_len), left = file_len - at;
    size_t some = 1 + random_below(8);
    switch (random_below(4)) {
    case 0:
        file[at] ^= (unsigned char)(1u << random_below(8));
        break;
    case 1:
        file[at] = (unsigned char)random_below(256);
        break;
    case 2:
        some = some < left ? some : left;
        memmove(file + at, file + at + some, left - some);
        file_len -= some;
        break;
    default:
        file_len = at;
    }
}

/* Adds a frame with matches that go back farther than the window that it states, which its blocks
 * fit. Some versions of libzstd have room for 128 KiB more than the window. */
static void draw_narrow_frame(void)
{
    static unsigned char content[300000];
    const size_t len = 2000 + random_below(random_below(4) ? 20000 : sizeof content - 2000);
    const struct frame_settings settings = {.level = 3,
                                            .window_log = 18,
                                            .checksum = random_below(4) == 0,
                                            .is_unsized = random_below(2),
                                            .flush = 200 + random_below(825)};
    frame_content(CONTENT_RANDOM, content, len);
    for (size_t at = 2000, some; at < len; at += some + random_below((unsigned)len / 8)) {
        some = len - at < 300 ? len - at : 300;
        memcpy(content + at, content + random_below((unsigned)at - 300), some);
    }
    add_frame(file, &file_len, &settings, content, len);
    if (file[4] & 0x20) { /* the window is the content, and is not stated */
        memmove(file + 6, file + 5, file_len++ - 5);
        file[4] ^= 0x20;
    }
    file[5] = (unsigned char)random_below(16);
}

static void draw_file(void)
{
    file_len = 0;
    if (random_below(3) == 0)
        draw_narrow_frame();
    for (unsigned frames = random_below(3) + (file_len == 0); frames > 0; frames--)
        draw_frame(file, &file_len);
    if (random_below(8) == 0 && file_len + 100 < FILE_MAX)
        file_len += skippable_put(file + file_len, random_below(50));
    for (unsigned faults = random_below(3); faults > 0 && file_len > 0; faults--)
        if (random_below(2))
            alter_bytes();
        else
            alter_block();
}

/* --- by hand --- */

/* Begins a frame of `window` bytes at most 255, which is its content, too; or, above that, of a
 * window of so many KiB. */
static void begin_frame(bool is_single, size_t window)
{
    memcpy(file, "\x28\xb5\x2f\xfd", 4);
    file[4] = is_single ? 0x20 : 0;
    file[5] = (unsigned char)window;
    file_len = 6;
}

static void add_block(unsigned type, size_t size, bool is_last, const void *bytes, size_t len)
{
    write_block_header(file + file_len, type, size, is_last);
    memcpy(file + file_len + ZSTD_BLOCK_HEADER_SIZE, bytes, len);
    file_len += ZSTD_BLOCK_HEADER_SIZE + len;
}

static void expect(const char *what, const char *due)
{
    const char *message = check_file(what);
    if (strcmp(message, due) != 0 && wrong++ < 20)
        printf("wrong: %s: '%s', not '%s'\n", what, message, due);
}

/* Blocks as large as RFC 8878 allows, and larger ones. */
static void check_block_sizes(void)
{
    static const unsigned char zeros[(128 << 10) + 1];
    static const char *const large = "corrupt zstd data (a block is larger than its frame allows)";
    begin_frame(false, 0);
    add_block(ZSTD_STORED_RAW, 1024, false, zeros, 1024);
    add_block(ZSTD_STORED_RLE, 1024, true, zeros, 1);
    expect("blocks as large as the window", "");
    begin_frame(false, 0);
    add_block(ZSTD_STORED_RAW, 1025, true, zeros, 1025);
    expect("a raw block larger than the window", large);
    begin_frame(false, 0);
    add_block(ZSTD_STORED_RLE, 1025, true, zeros, 1);
    expect("an RLE block larger than the window", large);
    begin_frame(false, 10 << 3);
    add_block(ZSTD_STORED_RAW, 128 << 10, false, zeros, 128 << 10);
    add_block(ZSTD_STORED_RLE, 128 << 10, true, zeros, 1);
    expect("blocks of 128 KiB", "");
    begin_frame(false, 10 << 3);
    add_block(ZSTD_STORED_RAW, (128 << 10) + 1, true, zeros, (128 << 10) + 1);
    expect("a raw block of more than 128 KiB", large);
    begin_frame(false, 10 << 3);
    add_block(ZSTD_STORED_RLE, (128 << 10) + 1, true, zeros, 1);
    expect("an RLE block of more than 128 KiB", large);
    begin_frame(true, 100);
    add_block(ZSTD_STORED_RLE, 101, true, zeros, 1);
    expect("a block larger than all of the content", large);
    begin_frame(true, 2);
    add_block(ZSTD_STORED_COMPRESSED, 4, true, "\x10xy", 4);
    expect("a compressed block larger than the window", large);
    begin_frame(false, 0);
    add_block(ZSTD_STORED_COMPRESSED, 0, true, zeros, 0);
    expect("a compressed block of no bytes", "corrupt zstd data");
    begin_frame(false, 0);
    add_block(ZSTD_STORED_COMPRESSED, 2, true, zeros, 2);
    expect("a compressed block of no content", "");
    begin_frame(false, 0);
    add_block(3, 1, true, zeros, 1);
    expect("a block of a reserved type", "corrupt zstd data");
    begin_frame(false, 0);
    file[4] |= 8;
    add_block(ZSTD_STORED_RAW, 1, true, zeros, 1);
    expect("a reserved bit in the header", "corrupt zstd data");
    /* Literals of one byte, 1500 times. */
    begin_frame(false, 0);
    add_block(ZSTD_STORED_COMPRESSED, 4, true, "\xc5\x5dx\0", 4);
    expect("a block whose content is larger than the window", "corrupt zstd data");
    begin_frame(false, 1 << 3);
    add_block(ZSTD_STORED_COMPRESSED, 4, true, "\xc5\x5dx\0", 4);
    expect("a block whose content is smaller than the window", "");
    begin_frame(true, 3);
    add_block(ZSTD_STORED_RAW, 2, false, zeros, 2);
    add_block(ZSTD_STORED_RAW, 2, true, zeros, 2);
    expect("more content than is stated", "corrupt zstd data");
    begin_frame(true, 3);
    add_block(ZSTD_STORED_RAW, 2, false, zeros, 2);
    add_block(ZSTD_STORED_RAW, 0, true, zeros, 0);
    expect("less content than is stated", "corrupt zstd data");
}

int main(void)
{
    struct error unused;
    if (codec_zstd.load(&unused) != 0)
        abort();
    other_len = 0;
    draw_frame(other, &other_len);
    check_block_sizes();
    for (unsigned long times = scale_is_small_or_slow() ? 2000 : 50000; times > 0; times--) {
        if (times % 10 == 0) {
            other_len = 0;
            draw_frame(other, &other_len);
        }
        draw_file();
        check_file("a file");
    }
    printf("%lu cases, %lu of them right, %lu odd, %lu wrong\n", cases, right, odd, wrong);
    return wrong > 0;
}
