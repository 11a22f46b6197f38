/* SPDX-License-Identifier: MIT */
/* zstd frames that several threads decode, against what was compressed: with no, one or several
 * idle workers beside, in steps of any size. What libzstd refuses needs the fallback, whoever
 * notices it.
 */
#include "src/blocks/zstd_blocks.h"
#include "tests/helpers/block_courses.h"
#include "tests/helpers/hostile.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/zstd_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define FILE_SIZE_MAX ((size_t)5 << 20)
#define SIZE_LONG ((size_t)40 << 20) /* more than the window has room for */
#define FRAME_MAX (FILE_SIZE_MAX + FILE_SIZE_MAX / 8)
#define FRAME_LONG (SIZE_LONG + SIZE_LONG / 8)

static unsigned long cases, wrong, fallbacks;
static unsigned char *data, *frame, *content;
static struct helpers helpers;

/* Decodes frame[0..len) to content. */
static struct block_result decode(struct parallel_decoder **decoder, const struct course *course,
                                  size_t len)
{
    return course_decode(decoder, &helpers, &block_format_zstd, course, frame, len, content,
                         FILE_SIZE_MAX + 1);
}

static void report(const char *what, size_t len)
{
    wrong++;
    printf("FAIL: a frame of %zu bytes, %u helpers: %s\n", len, helpers.count, what);
}

/* What was given is the first of `size` bytes of content, and libzstd can go on from there. */
static void check_part(const struct block_result *result, const char *what, size_t size, size_t len)
{
    if (result->made > size || memcmp(content, data, result->made) != 0)
        report(what, len);
    if (result->restart.at != 0 || result->restart.content != result->made)
        report("not to be decoded again", len);
}

static size_t make_frame(size_t *size)
{
    const struct frame_settings settings = {.level = 1 + (int)random_below(8),
                                            .window_log =
                                                random_below(2) ? 0 : 10 + (int)random_below(12),
                                            .checksum = random_below(2),
                                            .is_unsized = random_below(2),
                                            .flush = random_below(3) ? 0 : 1 + random_below(70000)};
    *size = random_below(4) ? random_below(FILE_SIZE_MAX) : random_below(3000);
    frame_content((enum frame_content)random_below(CONTENT_KINDS), data, *size);
    return frame_compress(frame, FRAME_MAX, &settings, data, *size);
}

/* A frame that is executed over and over into the same memory, of which parts are borrowed. */
static void check_long(struct parallel_decoder **decoder)
{
    const struct frame_settings settings = {.level = 1, .checksum = true};
    const struct course course = {.in_max = 600000, .out_max = 1 << 20, .stop = SIZE_MAX};
    const size_t half = SIZE_LONG / 2;
    unsigned char *longer = need(malloc(SIZE_LONG)), *made = need(malloc(SIZE_LONG + 1)),
                  *compressed = need(malloc(FRAME_LONG));
    frame_content((enum frame_content)random_below(CONTENT_KINDS), longer, FILE_SIZE_MAX);
    for (size_t at = FILE_SIZE_MAX; at < SIZE_LONG; at++)
        longer[at] = (unsigned char)(longer[at - FILE_SIZE_MAX] + (at % half == 0));
    const size_t len = frame_compress(compressed, FRAME_LONG, &settings, longer, SIZE_LONG);
    const struct block_result result = course_decode(decoder, &helpers, &block_format_zstd, &course,
                                                     compressed, len, made, SIZE_LONG + 1);
    cases++;
    if (result.outcome != DECODED || result.made != SIZE_LONG ||
        memcmp(made, longer, SIZE_LONG) != 0)
        report("a long frame", len);
    free(longer);
    free(made);
    free(compressed);
}

/* Returns how much libzstd gives of a frame that does not end. */
static size_t size_of_part(size_t len)
{
    ZSTD_DStream *stream = need(ZSTD_createDStream());
    ZSTD_inBuffer in = {frame, len, 0};
    ZSTD_outBuffer out = {content, FILE_SIZE_MAX + 1, 0};
    size_t before;
    do {
        before = in.pos + out.pos;
        if (ZSTD_isError(ZSTD_decompressStream(stream, &out, &in)))
            abort();
    } while (in.pos + out.pos > before);
    ZSTD_freeDStream(stream);
    return out.pos;
}

/* A frame of which no more comes for now: all is given that libzstd would give, except that it
 * does not wait for the end of a block that is stored. */
static void check_stalled(struct parallel_decoder **decoder, size_t size, size_t len)
{
    struct course course = course_random(FILE_SIZE_MAX);
    const size_t due = size_of_part(len);
    course.stalls = true;
    const struct block_result result = decode(decoder, &course, len);
    if (result.outcome != STALLED || result.made > due || due - result.made >= BLOCK_CONTENT_MAX)
        report("what has come is not given", len);
    check_part(&result, "stalled: other content", size, len);
}

/* A frame as libzstd wrote it, cut off, stalled, and left in the middle. */
static void check_right(struct parallel_decoder **decoder)
{
    size_t size;
    const size_t len = make_frame(&size);
    struct course course = course_random(FILE_SIZE_MAX);
    struct block_result result = decode(decoder, &course, len);
    cases++;
    if (result.outcome != DECODED)
        report("not decoded", len);
    else if (result.made != size || memcmp(content, data, size) != 0)
        report("other content", len);
    const size_t cut = 18 + random_below((unsigned)len);
    if (cut < len) {
        result = decode(decoder, &course, cut);
        if (result.outcome != CUT)
            report("cut off, and not known to be", len);
        check_part(&result, "cut off: other content", size, len);
        check_stalled(decoder, size, cut);
    }
    course.stop = random_below(FILE_SIZE_MAX);
    result = decode(decoder, &course, len);
    if (result.outcome == STOPPED)
        check_part(&result, "stopped: other content", size, len);
}

/* A frame with an altered byte. */
static void check_altered(struct parallel_decoder **decoder)
{
    size_t size, due_size;
    unsigned char *due;
    const size_t len = make_frame(&size);
    const struct course course = course_random(FILE_SIZE_MAX);
    frame[4 + random_below((unsigned)len - 4)] ^= (unsigned char)(1 << random_below(8));
    const struct block_result result = decode(decoder, &course, len);
    const size_t made = result.made;
    const bool is_right = frame_reference(frame, len, &due, &due_size);
    cases++;
    fallbacks += result.outcome == FALLBACK;
    if (result.outcome == DECODED &&
        (!is_right || made != due_size || memcmp(due, content, made) != 0))
        report("altered: other content", len);
    if (result.outcome == DECODED && !course.no_check &&
        (made != size || memcmp(data, content, made) != 0) && (frame[4] & 4))
        report("altered: the checksum was not verified", len);
    free(due);
}

/* Frames that are full of work, one after another: the first ones leave tables and offsets. */
static void check_hostile(struct parallel_decoder **decoder)
{
    struct hostile_file file;
    for (size_t i = 0; (file = hostile_make("zstd-", i, 30000)).bytes; i++) {
        unsigned char *due;
        size_t due_size;
        const struct course course = course_random(FILE_SIZE_MAX);
        const struct block_result result =
            course_decode(decoder, &helpers, &block_format_zstd, &course, file.bytes, file.len,
                          content, FILE_SIZE_MAX + 1);
        cases++;
        if (!frame_reference(file.bytes, file.len, &due, &due_size) ||
            (result.outcome != DECODED && result.outcome != HUNGRY))
            report(file.name, file.len);
        else if (result.made > due_size || memcmp(content, due, result.made) != 0 ||
                 (result.outcome == DECODED && result.made != due_size))
            report("full of work: other content", file.len);
        free(due);
        free(file.bytes);
    }
}

int main(void)
{
    static const unsigned counts[] = {0, 1, 2, HELPERS_MAX};
    const unsigned rounds = scale_of(6, 60, 600);
    data = need(malloc(FILE_SIZE_MAX));
    frame = need(malloc(FRAME_MAX));
    content = need(malloc(FILE_SIZE_MAX + 1));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct parallel_decoder *decoder = NULL;
        helpers_start(&helpers, counts[i]);
        for (unsigned round = 0; round < rounds; round++) {
            check_right(&decoder);
            check_altered(&decoder);
        }
        check_hostile(&decoder);
        check_hostile(&decoder);
        check_long(&decoder);
        parallel_decoder_close(decoder);
        helpers_end(&helpers);
    }
    free(data);
    free(frame);
    free(content);
    printf("%lu cases, %lu doubtful, %lu wrong\n", cases, fallbacks, wrong);
    return wrong != 0;
}
