/* SPDX-License-Identifier: MIT */
/* Content that is copied back and hashed, batch by batch, from a device that gives it, or is lost
 * at any copy: a frame that goes on has its checksum verified if all of it came, and in no batch
 * after the loss, whatever still arrives of these. */
#include "gpu/decode/content_run.h"
#include "src/hash/xxh64.h"

#include <stdio.h>
#include <string.h>

#define PART 64
#define BATCHES 4
#define BATCH (5 * PART + 7) /* bytes of content of each */

static unsigned cases, wrong;

static void check(bool right, const char *what, unsigned lost_at)
{
    cases++;
    wrong += !right;
    if (!right)
        printf("FAIL: %s, lost at call %u\n", what, lost_at);
}

static unsigned char content[BATCHES * BATCH];

/* A device that is lost at one call: copies that other threads have asked for before it may still
 * arrive. */
struct device {
    unsigned batch; /* whose content is copied */
    unsigned calls;
    unsigned lost_at; /* the call that fails, from 1; 0: none */
    bool is_lost;
};

static bool call_fails(struct device *device)
{
    bool fails = ++device->calls == device->lost_at;
    device->is_lost |= fails;
    return fails;
}

static int fake_read(void *arg, const struct device_work *work)
{
    const struct device_content *part = &work->content;
    struct device *device = arg;
    if (call_fails(device))
        return -1;
    memcpy(part->to, content + (size_t)device->batch * BATCH + part->begin, part->len);
    return 0;
}

static int fake_arrived(void *arg, unsigned number)
{
    (void)number;
    return call_fails(arg) ? -1 : 1;
}

/* One frame over all batches, whose checksum is stated so, and gives the verdict unless the device
 * is lost. Returns whether it was. */
static bool go_through(unsigned lost_at, uint32_t checksum, enum content_verdict verdict)
{
    struct device device = {.lost_at = lost_at};
    const struct content_source source = {
        .arg = &device, .read = fake_read, .arrived = fake_arrived};
    unsigned char memory[CONTENT_PARTS * PART];
    const struct content_parts parts = {memory, PART, 0};
    struct content_links links;
    content_links_open(&links);
    for (unsigned batch = 0; batch < BATCHES; batch++) {
        bool is_last = batch == BATCHES - 1;
        struct decode_frame frame = {.begins = batch == 0, .ends = is_last};
        struct decode_frame_end end = {.has_checksum = is_last, .checksum = checksum};
        const struct decode_plan plan = {.frame = &frame, .frame_end = &end, .frames = 1};
        const uint32_t frame_end = BATCH;
        struct content_job job = {
            .plan = &plan, .frame_ends = &frame_end, .number = batch + 1, .frames = 1};
        struct content_run run = {.links = &links, .job = &job, .end = 1};
        device.batch = batch;
        content_run_hash(&run, &source, &parts);
        const enum content_verdict due = device.is_lost ? CONTENT_LOST
                                         : is_last      ? verdict
                                                        : CONTENT_GOOD;
        check(run.verdict == due, "another verdict", lost_at);
    }
    content_links_close(&links);
    return device.is_lost;
}

int main(void)
{
    struct xxh64 hash;
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (unsigned char)(i * i >> 3);
    xxh64_begin(&hash);
    xxh64_add(&hash, content, sizeof content);
    const uint32_t checksum = (uint32_t)xxh64_value(&hash);
    go_through(0, checksum, CONTENT_GOOD);
    go_through(0, checksum + 1, CONTENT_CORRUPT);
    unsigned lost_at = 1;
    while (go_through(lost_at, checksum, CONTENT_GOOD))
        lost_at++;
    check(lost_at > 2 * sizeof content / PART, "there were not so many calls", lost_at);
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong != 0;
}
