/* SPDX-License-Identifier: MIT */
/* zstd data of every shape, so that the tests need no zstd command: make_zstd [OPTION]... < data
 *
 *     -l LEVEL   of compression (3)
 *     -w LOG     window of 2^LOG bytes, even for a smaller input
 *     -c         with a checksum
 *     -n         without the content's size, as when a pipe is compressed
 *     -f SIZE    a new frame every SIZE bytes
 *     -k SIZE    a skippable frame of SIZE bytes before every frame
 *     -K SIZE    a skippable frame of SIZE bytes and nothing else; reads no input
 *     -S SIZE    headers that state SIZE bytes of content, whatever is in the frame, and an empty
 *                last block: libzstd's streaming decoder does not notice that the size is wrong */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

struct shape {
    int level, window_log;
    int checksum, sized;
    size_t frame, skippable;
    bool restated;
    unsigned long long stated;
};

static FILE *sink; /* where put writes */

static void die(const char *why)
{
    fprintf(stderr, "make_zstd: %s\n", why);
    exit(1);
}

static size_t checked(size_t rc)
{
    if (ZSTD_isError(rc))
        die(ZSTD_getErrorName(rc));
    return rc;
}

static void put(const void *data, size_t len)
{
    if (fwrite(data, 1, len, sink) != len)
        die("cannot write");
}

static void put_little_endian(unsigned long long value, size_t len)
{
    for (size_t i = 0; i < len; i++)
        put(&(unsigned char){(unsigned char)(value >> 8 * i)}, 1);
}

/* Written by hand: the format is simple, and libzstd's function for it is new. */
static void put_skippable(size_t size)
{
    static const unsigned char magic[4] = {0x5a, 0x2a, 0x4d, 0x18};
    put(magic, sizeof magic);
    put_little_endian(size, 4);
    for (size_t i = 0; i < size; i++)
        put(&"skip me: aaaa"[i % 13], 1);
}

/* Returns where the blocks of a frame begin. */
static size_t header_size(const unsigned char *frame)
{
    static const size_t dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
    unsigned flags = frame[4], single = flags >> 5 & 1;
    return 6 - single + dictionary[flags & 3] + content[flags >> 6] + (single && flags >> 6 == 0);
}

/* Puts the frame with another header, which has a window of its own and states another size, and
 * with an empty block as the last one. */
static void put_restated(const unsigned char *frame, const struct shape *shape)
{
    unsigned char checksum = frame[4] & 4;
    int window_log = shape->window_log ? shape->window_log : 23;
    size_t at = header_size(frame);
    put(frame, 4);
    put_little_endian(0xc0u | checksum, 1);
    put_little_endian((unsigned)(window_log - 10) << 3, 1);
    put_little_endian(shape->stated, 8);
    for (bool last = false; !last;) {
        unsigned header = frame[at] | (unsigned)frame[at + 1] << 8 | (unsigned)frame[at + 2] << 16;
        size_t size = (header >> 1 & 3) == 1 ? 1 : header >> 3; /* 1: a byte over and over */
        last = header & 1;
        put_little_endian(header & ~1u, 3);
        put(frame + at + 3, size);
        at += 3 + size;
    }
    put_little_endian(1, 3);
    put(frame + at, checksum ? 4 : 0);
}

static void put_frame(ZSTD_CCtx *context, const struct shape *shape, const void *data, size_t len)
{
    checked(ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters));
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, shape->level));
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, shape->checksum));
    checked(ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, shape->sized));
    if (shape->window_log)
        checked(ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, shape->window_log));
    if (shape->sized)
        checked(ZSTD_CCtx_setPledgedSrcSize(context, len));
    ZSTD_inBuffer in = {data, len, 0};
    static unsigned char buffer[1 << 16];
    /* The first call must not end a frame without a size: libzstd would know the size after all. */
    ZSTD_EndDirective how = shape->sized ? ZSTD_e_end : ZSTD_e_continue;
    for (;;) {
        ZSTD_outBuffer out = {buffer, sizeof buffer, 0};
        size_t left = checked(ZSTD_compressStream2(context, &out, &in, how));
        put(buffer, out.pos);
        if (how == ZSTD_e_end && left == 0)
            break;
        if (in.pos == in.size)
            how = ZSTD_e_end;
    }
}

static void put_shaped(ZSTD_CCtx *context, const struct shape *shape, const void *data, size_t len)
{
    char *frame = NULL;
    size_t size = 0;
    if (!shape->restated) {
        put_frame(context, shape, data, len);
        return;
    }
    sink = open_memstream(&frame, &size);
    if (!sink)
        die("out of memory");
    put_frame(context, shape, data, len);
    if (fclose(sink) != 0)
        die("out of memory");
    sink = stdout;
    put_restated((const unsigned char *)frame, shape);
    free(frame);
}

int main(int argc, char **argv)
{
    struct shape shape = {.level = 3, .sized = 1};
    sink = stdout;
    for (int option; (option = getopt(argc, argv, "l:w:cnf:k:K:S:")) != -1;) {
        switch (option) {
        case 'l':
            shape.level = atoi(optarg);
            break;
        case 'w':
            shape.window_log = atoi(optarg);
            break;
        case 'c':
            shape.checksum = 1;
            break;
        case 'n':
            shape.sized = 0;
            break;
        case 'f':
            shape.frame = strtoul(optarg, NULL, 10);
            break;
        case 'k':
            shape.skippable = strtoul(optarg, NULL, 10) + 1;
            break;
        case 'K':
            put_skippable(strtoul(optarg, NULL, 10));
            return fflush(stdout) == 0 ? 0 : 1;
        case 'S':
            shape.restated = true;
            shape.stated = strtoull(optarg, NULL, 10);
            break;
        default:
            return 2;
        }
    }
    size_t len = 0, cap = 1 << 20;
    char *data = malloc(cap);
    for (size_t got; data && (got = fread(data + len, 1, cap - len, stdin)) > 0;) {
        len += got;
        if (len == cap)
            data = realloc(data, cap *= 2);
    }
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (!data || !context)
        die("out of memory");
    size_t at = 0;
    do {
        size_t size = shape.frame && shape.frame < len - at ? shape.frame : len - at;
        if (shape.skippable)
            put_skippable(shape.skippable - 1);
        put_shaped(context, &shape, data + at, size);
        at += size;
    } while (at < len);
    ZSTD_freeCCtx(context);
    free(data);
    return fflush(stdout) == 0 ? 0 : 1;
}
