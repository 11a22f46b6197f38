/* SPDX-License-Identifier: MIT */
/* The stages that decompress zstd, on a device: frames of all kinds, in batches of any size that
 * are in flight together, against libzstd; and frames that were damaged, of which the device must
 * take none that libzstd refuses, nor decode any otherwise. Through the seam, as test_strategies
 * is. */
#include "gpu/decode/plan.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/seam.h"
#include "tests/helpers/zstd_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCHES 4
#define CONTENT_MAX ((size_t)24 << 20)

static unsigned files, damaged, taken, wrong;

/* A batch, from being planned until its content was read. */
struct turn {
    struct decode_plan plan;
    struct decode_verdict verdict;
    uint32_t *frame_ends;
};

static struct device *device;
static unsigned slots;
static struct device_decoding decoding;
static struct turn turns[BATCHES];
static unsigned char *content;

static void die(const char *doing)
{
    fprintf(stderr, "test_zstd_device: %s: %s\n", doing, device_error(device));
    exit(1);
}

static void must(int rc, const char *doing)
{
    if (rc != 0)
        die(doing);
}

static void wait_for(enum device_work_kind kind, unsigned number, const char *doing)
{
    int arrived;
    while ((arrived = device_arrived(device, kind, number)) == 0)
        ;
    must(arrived - 1, doing);
}

/* --- decoding --- */

struct progress {
    size_t size;              /* bytes of content that were read */
    unsigned submitted, done; /* batches */
    bool is_refused;
};

/* Waits for the oldest batch, and reads its content. */
static void finish_batch(struct progress *progress)
{
    const unsigned turn = progress->done++ % BATCHES;
    const struct decode_verdict *verdict = &turns[turn].verdict;
    wait_for(WORK_DECODE, slots + turn, "decoding");
    progress->is_refused |= verdict->refused < turns[turn].plan.blocks;
    if (progress->is_refused || verdict->content == 0)
        return;
    if (verdict->content > CONTENT_MAX - progress->size) {
        progress->is_refused = true; /* a frame that was damaged may hold anything */
        return;
    }
    const struct device_work all = {
        .kind = WORK_READ_CONTENT,
        .slot = slots + turn,
        .content = {.len = verdict->content, .to = content + progress->size},
    };
    must(device_enqueue(device, &all), "reading content");
    wait_for(WORK_READ_CONTENT, 0, "reading content");
    progress->size += verdict->content;
}

static void submit_batch(struct progress *progress, const unsigned char *bytes, bool begins)
{
    const unsigned turn = progress->submitted++ % BATCHES;
    struct turn *batch = &turns[turn];
    const struct device_work copy = {
        .kind = WORK_COPY_BLOCKS,
        .slot = slots + turn,
        .blocks = {.bytes = bytes, .len = batch->plan.in_size},
    };
    const struct device_work decode = {
        .kind = WORK_DECODE,
        .slot = slots + turn,
        .batch = {batch->plan, begins, &batch->verdict, batch->frame_ends},
    };
    must(device_enqueue(device, &copy), "copying");
    wait_for(WORK_COPY_BLOCKS, 0, "copying");
    must(device_enqueue(device, &decode), "decoding");
}

/* Has the device decode bytes[0..len), `max` of them a batch at most, to `content`. True if it
 * takes them. */
static bool decode(const unsigned char *bytes, size_t len, size_t max, size_t *size)
{
    struct zstd_walk walk = {.window_max = decoding.capacity.window};
    struct progress progress = {0};
    size_t at = 0;
    bool is_left = false;
    while (at < len && !is_left && !progress.is_refused) {
        while (progress.submitted - progress.done >= BATCHES - 1)
            finish_batch(&progress); /* the next one's memory is written to as well */
        struct decode_plan *plan = &turns[progress.submitted % BATCHES].plan;
        size_t part = len - at < max ? len - at : max;
        decode_plan_clear(plan);
        enum decode_planned planned = zstd_plan_blocks(&walk, plan, bytes + at, part);
        is_left = planned == DECODE_LEFT || (planned == DECODE_NEEDS_MORE && plan->taken == 0 &&
                                             (part == len - at || part == decoding.capacity.in));
        if (planned == DECODE_PLANNED)
            submit_batch(&progress, bytes + at, progress.submitted == 0);
        if (planned == DECODE_NEEDS_MORE && plan->taken == 0)
            max = decoding.capacity.in; /* a block is longer than that */
        at += plan->taken <= len - at ? (size_t)plan->taken : len - at + 1;
    }
    while (progress.done < progress.submitted)
        finish_batch(&progress);
    *size = progress.size;
    return !is_left && !progress.is_refused && at == len && walk.parts.next == ZSTD_HEADER;
}

/* --- checking --- */

static void check(const unsigned char *bytes, size_t len, size_t max, bool must_take,
                  const char *what)
{
    unsigned char *due;
    size_t due_size, size;
    bool is_valid = frame_reference(bytes, len, &due, &due_size);
    bool is_taken = decode(bytes, len, max, &size);
    const char *fault = is_taken && !is_valid                    ? "libzstd refuses it"
                        : is_taken && size != due_size           ? "another size"
                        : is_taken && memcmp(content, due, size) ? "other content"
                        : must_take && !is_taken                 ? "refused"
                                                                 : NULL;
    if (fault && wrong++ < 20)
        fprintf(stderr, "FAIL: %s, %zu bytes, %zu a batch: %s\n", what, len, max, fault);
    taken += is_taken;
    free(due);
}

/* Frames of `size` bytes in all, of parts of at most `frame` each. */
static unsigned char *make(enum frame_content kind, const struct frame_settings *settings,
                           size_t size, size_t frame, size_t *len)
{
    unsigned char *data = need(malloc(size + 1)), *bytes = NULL;
    frame_content(kind, data, size);
    *len = 0;
    for (size_t at = 0; at < size || at == 0; at += frame) {
        size_t part = size - at < frame ? size - at : frame, bound = frame_bound(settings, part);
        bytes = need(realloc(bytes, *len + bound));
        *len += frame_compress(bytes + *len, bound, settings, data + at, part);
    }
    free(data);
    return bytes;
}

/* The logarithm of a window that the device has memory for; or 0, which leaves the window to
 * libzstd, where it sees all content at once and so takes none that is larger than that. */
static int some_window_log(bool sees_all)
{
    unsigned max = 10;
    while (max < 22 && (uint32_t)1 << (max + 1) <= decoding.capacity.window)
        max++;
    return (int)(sees_all && random_below(3) ? 0 : 10 + random_below(max - 9));
}

static void go_through_frames(void)
{
    static const int levels[] = {1, 3, -5, 9, 19};
    const unsigned count = scale_of(10, 300, 3000);
    for (unsigned i = 0; i < count; i++) {
        const size_t flush = random_below(4) ? 0 : 1 + random_below(70000);
        const struct frame_settings settings = {.level = levels[random_below(5)],
                                                .window_log = some_window_log(flush == 0),
                                                .checksum = random_below(2),
                                                .is_unsized = random_below(2),
                                                .flush = flush};
        size_t size = random_below(10) ? random_below(400000) : random_below(6000000), len;
        if (seam_is_emulated())
            size %= 300000;
        const size_t frame = random_below(2) ? size + 1 : 1 + random_below(100000) + size / 500;
        unsigned char *bytes =
            make((enum frame_content)random_below(CONTENT_KINDS), &settings, size, frame, &len);
        const size_t max = random_below(2) ? decoding.capacity.in : 1000 + random_below(500000);
        check(bytes, len, max, true, "a whole frame");
        free(bytes);
        files++;
    }
}

/* Frames of much the same size, over several batches, each of which stands alone: their matches are
 * copied side by side. */
static void go_through_many(void)
{
    const unsigned count = scale_of(2, 20, 200);
    for (unsigned i = 0; i < count; i++) {
        const struct frame_settings settings = {.level = 1 + (int)random_below(9),
                                                .checksum = random_below(2),
                                                .is_unsized = i % 4 == 3};
        const size_t size = seam_is_emulated() ? 400000 : CONTENT_MAX - 1;
        const size_t frame = size / 2000 + random_below((unsigned)(size / 300));
        size_t len;
        unsigned char *bytes =
            make((enum frame_content)random_below(CONTENT_KINDS), &settings, size, frame, &len);
        check(bytes, len, decoding.capacity.in, true, "many frames");
        free(bytes);
        files++;
    }
}

static void damage(unsigned char *bytes, size_t *len)
{
    if (random_below(10) == 0)
        *len = random_below((unsigned)*len);
    for (unsigned changes = 1 + random_below(3); changes > 0 && *len > 0; changes--)
        bytes[random_below((unsigned)*len)] ^= (unsigned char)(1u << random_below(8));
}

static void go_through_damage(void)
{
    const unsigned count = scale_of(15, 1000, 20000);
    unsigned char *sound = NULL;
    size_t sound_len = 0;
    for (unsigned i = 0; i < count; i++) {
        if (i % 10 == 0) {
            const struct frame_settings settings = {.level = (int)random_below(12),
                                                    .is_unsized = random_below(2)};
            free(sound);
            sound = make((enum frame_content)random_below(CONTENT_KINDS), &settings,
                         1 + random_below(seam_is_emulated() ? 30000 : 300000), SIZE_MAX / 2,
                         &sound_len);
        }
        unsigned char *bytes = need(malloc(sound_len));
        size_t len = sound_len;
        memcpy(bytes, sound, sound_len);
        damage(bytes, &len);
        check(bytes, len, decoding.capacity.in, false, "a damaged frame");
        free(bytes);
        damaged++;
    }
    free(sound);
}

/* --- the device --- */

static void open_turns(void)
{
    for (unsigned i = 0; i < BATCHES; i++) {
        struct decode_plan *plan = &turns[i].plan;
        plan->capacity = decoding.capacity;
        plan->block = need(calloc(decoding.capacity.blocks, sizeof *plan->block));
        plan->frame = need(calloc(decoding.capacity.frames, sizeof *plan->frame));
        plan->frame_end = need(calloc(decoding.capacity.frames, sizeof *plan->frame_end));
        turns[i].frame_ends = need(calloc(decoding.capacity.frames, sizeof(uint32_t)));
    }
    content = need(malloc(CONTENT_MAX));
}

static void close_turns(void)
{
    for (unsigned i = 0; i < BATCHES; i++) {
        free(turns[i].plan.block);
        free(turns[i].plan.frame);
        free(turns[i].plan.frame_end);
        free(turns[i].frame_ends);
    }
    free(content);
}

int main(void)
{
    struct histogram_spec spec;
    struct error error;
    if (!seam_has_device())
        return SEAM_SKIP;
    histogram_spec_bytes(&spec);
    device = seam_open(STRATEGY_lanes, &spec, 1 << 20, &error);
    if (!device) {
        fprintf(stderr, "test_zstd_device: %s\n", error.text);
        return 1;
    }
    slots = 2; /* of seam_open */
    decoding = (struct device_decoding){
        .capacity = {4u << 20, 2048, 2048, 8u << 20, 8u << 20},
        .batches = BATCHES,
    };
    must(device_open_decoding(device, &decoding), "preparing to decompress");
    if (decoding.batches != BATCHES) {
        fputs("test_zstd_device: the device decompresses nothing\n", stderr);
        return 1;
    }
    open_turns();
    go_through_frames();
    go_through_many();
    go_through_damage();
    device_close(device);
    close_turns();
    printf("%u files, %u damaged ones, %u taken, %u wrong\n", files, damaged, taken, wrong);
    return wrong != 0;
}
