/* SPDX-License-Identifier: MIT */
/* Frames that several threads decode, against what was compressed: with no, one or several idle
 * workers beside, in steps of any size. What libzstd refuses is doubtful, whoever notices it. */
#include "src/run/block_decoder.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/zstd_frames.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MOST ((size_t)5 << 20)
#define FRAME_MAX (SIZE_MOST + SIZE_MOST / 8)
#define HELPERS_MAX 7

static unsigned long cases, wrong, doubtful;
static unsigned char *data, *frame, *content;

/* --- idle workers --- */

static struct idle idle;
static atomic_bool is_over;

static void *help(void *arg)
{
    struct idle_counter counter;
    (void)arg;
    idle_counter_open(&counter);
    for (;;) {
        const uint64_t ticket = idle_news(&idle);
        if (atomic_load(&is_over))
            break;
        if (idle_wait(&idle, &counter, ticket))
            abort(); /* nobody donates chunks */
    }
    idle_leave(&idle, &counter);
    idle_counter_close(&counter);
    return NULL;
}

static void start_helpers(pthread_t *threads, unsigned helpers)
{
    atomic_store(&is_over, false);
    for (unsigned i = 0; i < helpers; i++)
        if (pthread_create(&threads[i], NULL, help, NULL) != 0)
            abort();
}

static void end_helpers(const pthread_t *threads, unsigned helpers)
{
    atomic_store(&is_over, true);
    idle_wake_all(&idle);
    for (unsigned i = 0; i < helpers; i++)
        pthread_join(threads[i], NULL);
}

/* --- decoding --- */

/* How a frame is decoded. */
struct course {
    unsigned workers;
    size_t in_most, out_most; /* bytes of a step */
    bool no_check;
    bool stops; /* it is left in the middle */
};

static struct course random_course(unsigned workers)
{
    const bool is_large = random_below(3);
    return (struct course){.workers = workers,
                           .in_most = is_large ? 600000 : 1 + random_below(3000),
                           .out_most = is_large ? SIZE_MOST : 1 + random_below(100000),
                           .no_check = random_below(2)};
}

/* What came of it. */
enum outcome { DECODED, DOUBTFUL, HUNGRY, STOPPED };

/* Takes steps until something has come of it. */
static enum outcome take_steps(struct block_decoder *decoder, const struct course *course,
                               size_t len, size_t *made)
{
    const size_t stop = course->stops ? random_below(SIZE_MOST) : SIZE_MAX;
    size_t at = 0;
    for (;;) {
        const size_t in = 1 + random_below((unsigned)course->in_most),
                     out = 1 + random_below((unsigned)course->out_most);
        struct decode_step step = {.in = frame + at,
                                   .in_len = in < len - at ? in : len - at,
                                   .out = content + *made,
                                   .cap =
                                       out < SIZE_MOST + 1 - *made ? out : SIZE_MOST + 1 - *made};
        const enum block_step is = block_decoder_step(decoder, &step);
        at += step.used;
        *made += step.made;
        if (is == BLOCKS_END)
            return at == len ? DECODED : HUNGRY;
        if (is == BLOCKS_DOUBTFUL || *made > SIZE_MOST)
            return DOUBTFUL;
        if (at == len && step.used == 0 && step.made < step.cap)
            return HUNGRY;
        if (*made > stop)
            return STOPPED;
    }
}

/* Decodes frame[0..len) to content[0..*made). */
static enum outcome decode(struct block_decoder **decoder, const struct course *course, size_t len,
                           size_t *made)
{
    const struct codec_options decoding = {.memlimit = (uint64_t)1 << 27,
                                           .no_check = course->no_check};
    const struct block_options options = {&block_format_zstd, &decoding, course->workers};
    *made = 0;
    if (block_decoder_memory(&options, frame, len) == 0)
        return DOUBTFUL;
    if (block_decoder_begin(decoder, &idle, &options, frame, len) != 0)
        abort();
    const enum outcome outcome = take_steps(*decoder, course, len, made);
    block_decoder_stop(*decoder);
    return outcome;
}

static void report(const char *what, size_t len, unsigned workers)
{
    wrong++;
    printf("FAIL: a frame of %zu bytes, %u workers: %s\n", len, workers, what);
}

static size_t make_frame(size_t *size)
{
    const struct frame_settings settings = {.level = 1 + (int)random_below(8),
                                            .window_log =
                                                random_below(2) ? 0 : 10 + (int)random_below(12),
                                            .checksum = random_below(2),
                                            .is_unsized = random_below(2),
                                            .flush = random_below(3) ? 0 : 1 + random_below(70000)};
    *size = random_below(4) ? random_below(SIZE_MOST) : random_below(3000);
    frame_content((enum frame_content)random_below(CONTENT_KINDS), data, *size);
    return frame_compress(frame, FRAME_MAX, &settings, data, *size);
}

/* A frame as libzstd wrote it, cut off, and left in the middle. */
static void check_right(struct block_decoder **decoder, unsigned workers)
{
    size_t size, made;
    const size_t len = make_frame(&size);
    struct course course = random_course(workers);
    cases++;
    if (decode(decoder, &course, len, &made) != DECODED)
        report("not decoded", len, workers);
    else if (made != size || memcmp(content, data, size) != 0)
        report("other content", len, workers);
    const size_t cut = 18 + random_below((unsigned)len);
    if (cut < len && decode(decoder, &course, cut, &made) != HUNGRY)
        report("cut off, and not hungry", len, workers);
    if (cut < len && (made > size || memcmp(content, data, made) != 0))
        report("cut off: other content", len, workers);
    course.stops = true;
    (void)decode(decoder, &course, len, &made);
    if (made > size || memcmp(content, data, made) != 0)
        report("stopped: other content", len, workers);
}

/* A frame with an altered byte. */
static void check_altered(struct block_decoder **decoder, unsigned workers)
{
    size_t size, made, due_size;
    unsigned char *due;
    const size_t len = make_frame(&size);
    const struct course course = random_course(workers);
    frame[4 + random_below((unsigned)len - 4)] ^= (unsigned char)(1 << random_below(8));
    const enum outcome outcome = decode(decoder, &course, len, &made);
    const bool is_right = frame_reference(frame, len, &due, &due_size);
    cases++;
    doubtful += outcome == DOUBTFUL;
    if (outcome == DECODED && (!is_right || made != due_size || memcmp(due, content, made) != 0))
        report("altered: other content", len, workers);
    if (outcome == DECODED && !course.no_check &&
        (made != size || memcmp(data, content, made) != 0) && (frame[4] & 4))
        report("altered: the checksum was not verified", len, workers);
    free(due);
}

int main(void)
{
    static const unsigned workers[] = {1, 2, 3, HELPERS_MAX + 1};
    const unsigned rounds = scale_of(6, 60, 600);
    data = need(malloc(SIZE_MOST));
    frame = need(malloc(FRAME_MAX));
    content = need(malloc(SIZE_MOST + 1));
    idle_open(&idle);
    for (size_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        struct block_decoder *decoder = NULL;
        pthread_t threads[HELPERS_MAX];
        start_helpers(threads, workers[i] - 1);
        for (unsigned round = 0; round < rounds; round++) {
            check_right(&decoder, workers[i]);
            check_altered(&decoder, workers[i]);
        }
        block_decoder_close(decoder);
        end_helpers(threads, workers[i] - 1);
    }
    idle_close(&idle);
    free(data);
    free(frame);
    free(content);
    printf("%lu cases, %lu doubtful, %lu wrong\n", cases, doubtful, wrong);
    return wrong != 0;
}
