/* SPDX-License-Identifier: MIT */
/* The decoder that the GPU's is compared with, against libzstd: the same content from all that
 * libzstd's compressor writes, and never another where both take what was altered. */
#include "tests/helpers/naive_zstd.h"
#include "tests/helpers/compressed.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/zstd_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTENT_MAX ((size_t)3 * 131072 + 5000)
#define FRAMES_MAX (2 * CONTENT_MAX + 65536)

static unsigned long cases, wrong, refused, stricter;
static unsigned char *data, *frames;

static void wrong_case(const char *what, size_t len, const char *why)
{
    wrong++;
    printf("FAIL: %zu bytes, %s: %s\n", len, what, why ? why : "");
}

/* The parts of what was decoded add up to the content: the sequences of each block, executed. */
static int adds_up(const struct naive_zstd *naive)
{
    size_t content = 0, literals = 0, sequences = 0;
    for (size_t i = 0; i < naive->blocks_count; i++) {
        const struct naive_block *block = &naive->blocks[i];
        size_t size = block->literals, used = 0;
        for (size_t k = 0; k < block->sequences; k++) {
            const struct naive_sequence *sequence = &naive->sequences[sequences + k];
            size += sequence->match;
            used += sequence->literals;
        }
        if (block->type == NAIVE_COMPRESSED && (size != block->content || used > block->literals))
            return 0;
        if (block->first_content != content || block->first_literal != literals ||
            block->first_sequence != sequences)
            return 0;
        content += block->content;
        literals += block->literals;
        sequences += block->sequences;
    }
    return content == naive->content_size && literals == naive->literals_size &&
           sequences == naive->sequences_count;
}

/* What libzstd wrote decodes to what was compressed. */
static void check_taken(const unsigned char *in, size_t len, const unsigned char *due, size_t size)
{
    struct naive_zstd naive;
    cases++;
    if (!naive_zstd_decode(&naive, in, len))
        wrong_case("refused", len, naive.why);
    else if (naive.content_size != size || (size && memcmp(naive.content, due, size) != 0))
        wrong_case("other content", len, NULL);
    else if (!adds_up(&naive))
        wrong_case("its parts do not add up", len, NULL);
    naive_zstd_free(&naive);
}

/* What it takes of anything is what libzstd makes of it. */
static void check_any(const unsigned char *in, size_t len)
{
    struct naive_zstd naive;
    unsigned char *due;
    size_t size;
    int taken = naive_zstd_decode(&naive, in, len);
    bool right = frame_reference(in, len, &due, &size);
    cases++;
    if (taken && !right)
        wrong_case("libzstd refuses it", len, NULL);
    else if (taken &&
             (naive.content_size != size || (size && memcmp(naive.content, due, size) != 0)))
        wrong_case("altered: other content", len, NULL);
    refused += !taken;
    stricter += !taken && right;
    if (!taken && right && getenv("VERBOSE"))
        printf("stricter: %s\n", naive.why);
    naive_zstd_free(&naive);
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
    for (int level = -5; level <= 22; level++)
        for (int kind = 0; kind < CONTENT_KINDS; kind++) {
            if (scale_is_small() && (level + kind) % 4 != 0)
                continue;
            size_t len = random_below(3) ? random_below(CONTENT_MAX) : random_below(3000);
            struct frame_settings settings = frame_settings_random(level);
            check_taken(frames, make_frame((enum frame_content)kind, &settings, len), data, len);
        }
}

/* Every size from 0, and around the ends of blocks. */
static void check_sizes(void)
{
    static const size_t middles[] = {131072, 2 * 131072, 3 * 131072};
    for (size_t len = 0; len < 600; len += scale_is_small() ? 1 + random_below(6) : 1) {
        struct frame_settings settings = frame_settings_random((int)random_below(20));
        check_taken(frames, make_frame(CONTENT_TEXT, &settings, len), data, len);
    }
    for (size_t i = 0; i < 3; i++)
        for (size_t len = middles[i] - 2; len <= middles[i] + 2; len++) {
            struct frame_settings settings = frame_settings_random(3);
            check_taken(frames, make_frame(CONTENT_MIXED, &settings, len), data, len);
        }
}

/* Many frames of all kinds, with skippable ones between them. */
static void check_many(void)
{
    size_t at = 0, len = 0;
    for (unsigned i = 0; i < 60; i++) {
        struct frame_settings settings = frame_settings_random((int)random_below(12));
        size_t size = random_below(5000);
        if (random_below(3) == 0)
            at += skippable_put(frames + at, random_below(100));
        frame_content((enum frame_content)random_below(CONTENT_KINDS), data + len, size);
        at += frame_compress(frames + at, FRAMES_MAX - at, &settings, data + len, size);
        len += size;
    }
    check_taken(frames, at, data, len);
    check_taken(frames, 0, data, 0);
}

/* Frames cut at every byte, and with every byte altered. */
static void check_altered(void)
{
    unsigned char *altered = malloc(FRAMES_MAX);
    if (!altered)
        exit(1);
    for (unsigned round = 0; round < (scale_is_small_or_slow() ? 24u : 400u); round++) {
        struct frame_settings settings = frame_settings_random((int)random_below(20));
        settings.flush = random_below(3) ? 0 : 1 + random_below(200);
        size_t size = 1 + random_below(random_below(4) ? 700 : 3000);
        size_t len = make_frame((enum frame_content)random_below(CONTENT_KINDS), &settings, size);
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

int main(void)
{
    data = malloc(CONTENT_MAX);
    frames = malloc(FRAMES_MAX);
    if (!data || !frames)
        return 1;
    check_sizes();
    check_levels();
    check_many();
    check_altered();
    free(data);
    free(frames);
    printf("%lu cases, %lu of them refused, %lu by this decoder alone, %lu wrong\n", cases, refused,
           stricter, wrong);
    return wrong != 0;
}
