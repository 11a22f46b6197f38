/* SPDX-License-Identifier: MIT */
/* Frames parsed to operations and executed, against libzstd: the same content from all that its
 * compressor writes, with every set of loops; and of what was altered, nothing that it refuses and
 * never another content. */
#include "tests/helpers/compressed.h"
#include "tests/helpers/frame_by_blocks.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/zstd_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTENT_MAX ((size_t)20 * 131072 + 5000) /* three runs */
#define FRAMES_MAX (2 * CONTENT_MAX + 65536)

static unsigned long cases, wrong, fallbacks, stricter;
static unsigned char *data, *frames;
static struct zstd_run *run;

static void wrong_case(const struct block_loops *loops, const char *what, size_t len)
{
    wrong++;
    printf("FAIL: %s, %zu bytes: %s\n", loops->name, len, what);
}

static size_t random_piece(void)
{
    if (random_below(4) == 0)
        return 0;
    return random_below(3) ? 1 + random_below(100000) : 1 + random_below(50);
}

/* What libzstd wrote decodes to what was compressed. */
static void check_taken(const unsigned char *in, size_t len, const unsigned char *due, size_t size)
{
    for (const struct block_loops *const *loops = block_loops; *loops; loops++) {
        unsigned char *content;
        size_t made;
        if (!(*loops)->runs_here())
            continue;
        cases++;
        const struct by_blocks by = {*loops, run, random_piece()};
        if (!frame_by_blocks(&by, in, len, &content, &made))
            wrong_case(*loops, "doubtful", len);
        else if (made != size || (size && memcmp(content, due, size) != 0))
            wrong_case(*loops, "other content", len);
        free(content);
    }
}

/* What is taken of anything is what libzstd makes of it. */
static void check_any(const unsigned char *in, size_t len)
{
    unsigned char *due;
    size_t size;
    const bool is_right = frame_reference(in, len, &due, &size);
    for (const struct block_loops *const *loops = block_loops; *loops; loops++) {
        unsigned char *content;
        size_t made;
        if (!(*loops)->runs_here())
            continue;
        cases++;
        const struct by_blocks by = {*loops, run, random_piece()};
        const bool taken = frame_by_blocks(&by, in, len, &content, &made);
        if (taken && !is_right)
            wrong_case(*loops, "libzstd refuses it", len);
        else if (taken && (made != size || (size && memcmp(content, due, size) != 0)))
            wrong_case(*loops, "altered: other content", len);
        fallbacks += !taken;
        stricter += !taken && is_right;
        free(content);
    }
    free(due);
}

/* Fills `data`, and compresses it. The frame's bytes. */
static size_t make_frame(enum frame_content kind, const struct frame_settings *settings, size_t len)
{
    frame_content(kind, data, len);
    return frame_compress(frames, FRAMES_MAX, settings, data, len);
}

static void check_levels(void)
{
    for (int level = -5; level <= 19; level++)
        for (int kind = 0; kind < CONTENT_KINDS; kind++) {
            if (scale_is_small_or_slow() && (level + kind) % 4 != 0)
                continue;
            const size_t len = random_below(3) ? random_below(CONTENT_MAX) : random_below(3000);
            const struct frame_settings settings = frame_settings_random(level);
            check_taken(frames, make_frame((enum frame_content)kind, &settings, len), data, len);
        }
}

/* Every size from 0, and around the ends of blocks and runs. */
static void check_sizes(void)
{
    static const size_t blocks[] = {1, 2, 8, 16};
    for (size_t len = 0; len < 600; len += scale_is_small_or_slow() ? 1 + random_below(20) : 1) {
        const struct frame_settings settings = frame_settings_random((int)random_below(20));
        check_taken(frames, make_frame(CONTENT_TEXT, &settings, len), data, len);
    }
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (size_t len = blocks[i] * 131072 - 1; len <= blocks[i] * 131072 + 1; len++) {
            const struct frame_settings settings = frame_settings_random(3);
            check_taken(frames, make_frame(CONTENT_MIXED, &settings, len), data, len);
        }
}

/* Blocks of a few bytes, so that runs begin with tables and offsets of runs before. */
static void check_tiny_blocks(void)
{
    for (unsigned flush = 1; flush < 400; flush += scale_is_small_or_slow() ? 37 : 3) {
        const size_t len = 100 * flush < 30000 ? 100 * flush : 30000;
        struct frame_settings settings = frame_settings_random((int)random_below(20));
        settings.flush = flush;
        const enum frame_content kind = (enum frame_content)random_below(CONTENT_KINDS);
        check_taken(frames, make_frame(kind, &settings, len), data, len);
    }
}

/* Matches that reach to the beginning of the smallest windows. */
static void check_windows(void)
{
    for (int log = 10; log <= 21; log++)
        for (int kind = 0; kind < CONTENT_KINDS; kind++) {
            if (scale_is_small_or_slow() && (log + kind) % 4 != 0)
                continue;
            const struct frame_settings settings = {
                .level = 1 + (int)random_below(12), .window_log = log, .is_unsized = true};
            const size_t len = ((size_t)1 << log) + random_below(1u << log);
            const size_t max = len < CONTENT_MAX ? len : CONTENT_MAX;
            check_taken(frames, make_frame((enum frame_content)kind, &settings, max), data, max);
        }
}

/* Many frames of all kinds, with skippable ones between them. */
static void check_many(void)
{
    size_t at = 0, len = 0;
    for (unsigned i = 0; i < 60; i++) {
        const struct frame_settings settings = frame_settings_random((int)random_below(12));
        const size_t size = random_below(5000);
        if (random_below(3) == 0)
            at += skippable_put(frames + at, random_below(100));
        frame_content((enum frame_content)random_below(CONTENT_KINDS), data + len, size);
        at += frame_compress(frames + at, FRAMES_MAX - at, &settings, data + len, size);
        len += size;
    }
    check_taken(frames, at, data, len);
}

/* Frames cut at every byte, and with every byte altered. */
static void check_altered(void)
{
    unsigned char *altered = malloc(FRAMES_MAX);
    if (!altered)
        exit(1);
    for (unsigned round = 0; round < (scale_is_small_or_slow() ? 12u : 200u); round++) {
        struct frame_settings settings = frame_settings_random((int)random_below(20));
        settings.flush = random_below(3) ? 0 : 1 + random_below(200);
        const size_t size = 1 + random_below(random_below(4) ? 700 : 3000);
        const size_t len =
            make_frame((enum frame_content)random_below(CONTENT_KINDS), &settings, size);
        for (size_t cut = 0; cut < len; cut++)
            check_any(frames, cut);
        memcpy(altered, frames, len);
        for (size_t at = 4; at < len; at++) {
            for (unsigned k = 0; k < 3; k++) {
                altered[at] =
                    (unsigned char)(k == 0 ? frames[at] ^ 1u << random_below(8) : random_word());
                check_any(altered, len);
            }
            altered[at] = frames[at];
        }
    }
    free(altered);
}

/* Bytes of long frames altered: content before the error must not be executed wrongly, either. */
static void check_altered_long(void)
{
    for (unsigned round = 0; round < (scale_is_small_or_slow() ? 30u : 400u); round++) {
        const struct frame_settings settings = frame_settings_random((int)random_below(12));
        const size_t size = 300000 + random_below(500000);
        const size_t len =
            make_frame((enum frame_content)random_below(CONTENT_KINDS), &settings, size);
        for (unsigned k = 1 + random_below(3); k > 0; k--)
            frames[18 + random_word() % (len - 18)] ^= (unsigned char)(1 << random_below(8));
        check_any(frames, len);
    }
}

int main(void)
{
    data = malloc(CONTENT_MAX);
    frames = malloc(FRAMES_MAX);
    if (!data || !frames)
        return 1;
    run = by_blocks_run();
    check_sizes();
    check_levels();
    check_tiny_blocks();
    check_windows();
    check_many();
    check_altered();
    check_altered_long();
    free(data);
    free(frames);
    zstd_run_close(run);
    free(run);
    printf("%lu cases, %lu of them doubtful, %lu only here, %lu wrong\n", cases, fallbacks,
           stricter, wrong);
    return wrong != 0;
}
