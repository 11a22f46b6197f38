/* SPDX-License-Identifier: MIT */
/* Frames decoded in pieces, whose steps are taken in any order by one or several threads, against
 * libzstd: the same content from all that its compressor writes, and nothing of what it refuses.
 * Pieces are tiny, so that small frames have many. */
#include "tests/helpers/compressed.h"
#include "tests/helpers/frame_by_pieces.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/zstd_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTENT_MAX ((size_t)4 << 20)
#define FRAMES_MAX (2 * CONTENT_MAX + 65536)

static unsigned long cases, wrong, fallbacks, stricter;
static unsigned char *data, *frames;

static void report(const struct by_pieces *by, const char *what, size_t len)
{
    wrong++;
    printf("FAIL: %s, %u threads, %u slots, pieces of %u, a frame of %zu bytes: %s\n",
           by->loops->name, by->threads, by->slots, by->content, len, what);
}

/* frames[0..len) is taken, and decodes to data[0..size). */
static void check_taken(struct by_pieces *by, size_t len, size_t size)
{
    unsigned char *content;
    size_t made;
    cases++;
    if (!frame_by_pieces(by, frames, len, &content, &made))
        report(by, "needs the fallback", len);
    else if (made != size || memcmp(content, data, size) != 0)
        report(by, "other content", len);
    free(content);
}

static void check_by_all(size_t len, size_t size)
{
    for (const struct block_loops *const *loops = block_loops; *loops; loops++) {
        struct by_pieces by = by_pieces_random(*loops);
        if ((*loops)->runs_here())
            check_taken(&by, len, size);
    }
}

/* What is taken of in[0..len) is what libzstd makes of it. */
static void check_any(const unsigned char *in, size_t len)
{
    unsigned char *due, *content;
    size_t size, made;
    const bool is_right = frame_reference(in, len, &due, &size);
    for (const struct block_loops *const *loops = block_loops; *loops; loops++) {
        if (!(*loops)->runs_here())
            continue;
        struct by_pieces by = by_pieces_random(*loops);
        by.verifies = false; /* the reference does not look at checksums */
        cases++;
        const bool taken = frame_by_pieces(&by, in, len, &content, &made);
        if (taken && !is_right)
            report(&by, "libzstd refuses it", len);
        else if (taken && (made != size || (size > 0 && memcmp(content, due, size) != 0)))
            report(&by, "altered: other content", len);
        fallbacks += !taken;
        stricter += !taken && is_right;
        free(content);
    }
    free(due);
}

/* Fills `data`, and compresses it. Returns the frame's bytes. */
static size_t make_frame(enum frame_content kind, const struct frame_settings *settings, size_t len)
{
    frame_content(kind, data, len);
    return frame_compress(frames, FRAMES_MAX, settings, data, len);
}

/* Every size from 0, and around the ends of blocks. */
static void check_sizes(void)
{
    for (size_t len = 0; len < 600; len += 1 + random_below(scale_of(20, 1, 1))) {
        const struct frame_settings settings = frame_settings_random((int)random_below(20));
        check_by_all(make_frame(CONTENT_TEXT, &settings, len), len);
    }
    for (size_t blocks = 1; blocks <= 16; blocks *= 2)
        for (size_t len = blocks * 131072 - 1; len <= blocks * 131072 + 1; len++) {
            const struct frame_settings settings = frame_settings_random(3);
            check_by_all(make_frame(CONTENT_MIXED, &settings, len), len);
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
    check_by_all(at, len);
}

/* Windows far smaller than the content, so that pieces have heads and lists. */
static void check_windows(void)
{
    static const int levels[] = {1, 3, 9, 19};
    for (int log = 10; log <= 23; log++)
        for (int kind = 0; kind < CONTENT_KINDS; kind++)
            for (unsigned round = 0; round < scale_of(1, 4, 20); round++) {
                const struct frame_settings settings = {.level = levels[random_below(4)],
                                                        .window_log = log,
                                                        .checksum = random_below(2),
                                                        .is_unsized = random_below(2)};
                const size_t most = (size_t)20 << log,
                             len = random_below(
                                 (unsigned)(most < CONTENT_MAX / 4 ? most : CONTENT_MAX / 4));
                check_by_all(make_frame((enum frame_content)kind, &settings, len), len);
            }
}

/* All else that the compressor can be told. */
static void check_levels(void)
{
    for (int level = -5; level <= 19; level++)
        for (unsigned round = 0; round < scale_of(2, 8, 40); round++) {
            const struct frame_settings settings = frame_settings_random(level);
            const size_t len = random_below(4) ? random_below(CONTENT_MAX / 4) : random_below(3000);
            const enum frame_content kind = (enum frame_content)random_below(CONTENT_KINDS);
            check_by_all(make_frame(kind, &settings, len), len);
        }
}

/* Blocks of a few bytes: pieces begin with tables and offsets of pieces before. */
static void check_tiny_blocks(void)
{
    for (unsigned flush = 1; flush < 2000; flush += 1 + flush / scale_of(1, 8, 50)) {
        struct frame_settings settings = frame_settings_random((int)random_below(20));
        const size_t len = 300 * flush < 200000 ? 300 * flush : 200000;
        settings.flush = flush;
        settings.window_log = 10 + (int)random_below(6);
        const enum frame_content kind = (enum frame_content)random_below(CONTENT_KINDS);
        check_by_all(make_frame(kind, &settings, len), len);
    }
}

/* Several threads, and several frames in the same memory. */
static void check_threads(void)
{
    for (unsigned round = 0; round < scale_of(12, 60, 400); round++) {
        struct frame_settings settings = frame_settings_random(1 + (int)random_below(9));
        settings.window_log = 10 + (int)random_below(10);
        size_t len = 0, size = 0;
        for (unsigned i = 1 + random_below(3); i > 0; i--) {
            const size_t some = random_below(CONTENT_MAX / 4);
            frame_content((enum frame_content)random_below(CONTENT_KINDS), data + size, some);
            len += frame_compress(frames + len, FRAMES_MAX - len, &settings, data + size, some);
            size += some;
        }
        struct by_pieces by = by_pieces_random(block_loops_find(NULL));
        by.threads = 2 + random_below(4);
        by.content = 1000 + random_below(300000);
        check_taken(&by, len, size);
    }
}

/* Pieces as large as a program has them. */
static void check_large(void)
{
    const struct frame_settings settings = {.level = 1, .window_log = 18, .checksum = true};
    for (unsigned round = 0; round < scale_of(2, 10, 40); round++) {
        const size_t len =
            make_frame(round % 2 ? CONTENT_LINES : CONTENT_MIXED, &settings, CONTENT_MAX);
        struct by_pieces by = by_pieces_random(block_loops_find(NULL));
        by.content = 700000 + random_below(1000000);
        by.threads = 1 + random_below(4);
        by.tail = 1;
        check_taken(&by, len, CONTENT_MAX);
    }
}

/* Windows far larger than pieces: what must stand before them fills most of the memory. */
static void check_wide(void)
{
    for (int log = 17; log <= 21; log++)
        for (unsigned round = 0; round < scale_of(6, 20, 100); round++) {
            const struct frame_settings settings = {
                .level = 1, .window_log = log, .is_unsized = true};
            const size_t len =
                make_frame(round % 2 ? CONTENT_LINES : CONTENT_MIXED, &settings, CONTENT_MAX);
            struct by_pieces by = by_pieces_random(block_loops_find(NULL));
            by.slots = 2 + random_below(15);
            by.content = 1000 + random_below(10000);
            by.threads = 1 + random_below(4);
            check_taken(&by, len, CONTENT_MAX);
        }
}

static void check_altered(void)
{
    unsigned char *altered = need(malloc(FRAMES_MAX));
    for (unsigned round = 0; round < scale_of(12, 60, 600); round++) {
        struct frame_settings settings = frame_settings_random((int)random_below(20));
        settings.flush = random_below(3) ? 1 + random_below(700) : 0;
        settings.window_log = 10;
        const size_t size = 1 + random_below(random_below(4) ? 700 : 6000);
        const size_t len =
            make_frame((enum frame_content)random_below(CONTENT_KINDS), &settings, size);
        for (size_t cut = 0; cut < len; cut += 1 + random_below(4))
            check_any(frames, cut);
        memcpy(altered, frames, len);
        for (size_t at = 4; at < len; at++) {
            altered[at] = (unsigned char)(random_below(2) ? frames[at] ^ 1u << random_below(8)
                                                          : random_word());
            check_any(altered, len);
            altered[at] = frames[at];
        }
    }
    free(altered);
    for (unsigned round = 0; round < scale_of(20, 200, 2000); round++) {
        struct frame_settings settings = frame_settings_random((int)random_below(12));
        settings.window_log = 10 + (int)random_below(8);
        const size_t size = 100000 + random_below(500000);
        const size_t len =
            make_frame((enum frame_content)random_below(CONTENT_KINDS), &settings, size);
        for (unsigned k = 1 + random_below(3); k > 0; k--)
            frames[18 + random_word() % (len - 18)] ^= (unsigned char)(1 << random_below(8));
        check_any(frames, len);
    }
}

/* A checksum and a stated size that are wrong. */
static void check_stated(void)
{
    const struct frame_settings settings = {.level = 3, .window_log = 12, .checksum = true};
    struct by_pieces by = by_pieces_random(block_loops_find(NULL));
    const size_t len = make_frame(CONTENT_TEXT, &settings, 60000);
    unsigned char *content;
    size_t made;
    for (size_t at = len - 4; at < len; at++) {
        cases++;
        frames[at] ^= 16;
        if (frame_by_pieces(&by, frames, len, &content, &made))
            report(&by, "a wrong checksum", len);
        free(content);
        frames[at] ^= 16;
    }
    check_taken(&by, len, 60000);
    for (int by_how_much = -1; by_how_much <= 1; by_how_much += 2) {
        cases++;
        frames[6] = (unsigned char)(frames[6] + by_how_much);
        if (frame_by_pieces(&by, frames, len, &content, &made))
            report(&by, "a wrong size", len);
        free(content);
        frames[6] = (unsigned char)(frames[6] - by_how_much);
    }
}

/* A file that is changed after its blocks were walked over: no more is parsed than there is memory
 * for. */
static void check_changed(void)
{
    static const unsigned char head[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0x50},
                               block[] = {44, 0, 0, 0x1d, 0, 0, 'x', 0};
    struct by_pieces by = by_pieces_random(block_loops_find(NULL));
    const unsigned blocks = 2000;
    const size_t len = sizeof head + blocks * sizeof block;
    unsigned char *content;
    size_t made;
    memcpy(frames, head, sizeof head);
    for (unsigned i = 0; i < blocks; i++)
        memcpy(frames + sizeof head + i * sizeof block, block, sizeof block);
    frames[len - sizeof block] |= 1; /* the last one */
    memset(data, 'x', blocks);
    by.is_file = true;
    by.content = 1 << 20;
    check_taken(&by, len, blocks);
    by.changes = true;
    cases++;
    if (frame_by_pieces(&by, frames, len, &content, &made))
        report(&by, "more content than there was room for", len);
    free(content);
}

/* Plans are within memory, and refuse what they cannot do. */
static void check_plans(void)
{
    for (int log = 10; log <= 28; log++)
        for (unsigned workers = 0; workers <= 64; workers++)
            for (size_t memory = 1 << 20; memory <= (size_t)4 << 30; memory *= 2) {
                const struct zstd_frame_header header = {.window = (uint64_t)1 << log,
                                                         .content = ZSTD_SIZE_UNKNOWN};
                struct zstd_piece_plan plan;
                cases++;
                if (!zstd_piece_plan(&plan, &header, workers, memory, 0))
                    continue;
                if (plan.memory > memory || plan.tail < header.window || plan.slots < 3 ||
                    plan.content < plan.least || (plan.makes_lists && plan.least <= plan.tail) ||
                    workers == 0 || log > 27) {
                    wrong++;
                    printf("FAIL: a plan for a window of 2^%d, %u workers, %zu bytes\n", log,
                           workers, memory);
                }
            }
}

int main(void)
{
    data = need(malloc(CONTENT_MAX));
    frames = need(malloc(FRAMES_MAX));
    check_plans();
    check_sizes();
    check_many();
    check_windows();
    check_levels();
    check_tiny_blocks();
    check_threads();
    check_large();
    check_wide();
    check_stated();
    check_changed();
    check_altered();
    free(data);
    free(frames);
    printf("%lu cases, %lu of them need the fallback, %lu only here, %lu wrong\n", cases, fallbacks,
           stricter, wrong);
    return wrong != 0;
}
