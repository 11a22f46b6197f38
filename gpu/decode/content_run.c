/* SPDX-License-Identifier: MIT */
#include "content_run.h"
#include "src/base/clock.h"

/* The time between looks at a copy that has not arrived. */
#define RUN_POLL_NS 20000

void content_links_open(struct content_links *links)
{
    *links = (struct content_links){.link[0].number = 0};
    pthread_mutex_init(&links->lock, NULL);
    pthread_cond_init(&links->left, NULL);
}

void content_links_close(struct content_links *links)
{
    pthread_cond_destroy(&links->left);
    pthread_mutex_destroy(&links->lock);
}

/* --- frames --- */

/* Waits for the state in which the batch before left a frame. 0, or -1: the device was lost there,
 * though copies that were asked for since may still have come. */
static int take_link(struct content_run *run)
{
    struct content_links *links = run->links;
    const uint64_t number = run->job->number;
    struct content_link *link = &links->link[number % CONTENT_LINKS];
    pthread_mutex_lock(&links->lock);
    while (link->number != number)
        pthread_cond_wait(&links->left, &links->lock);
    run->hash = link->hash;
    const bool is_lost = link->is_lost;
    pthread_mutex_unlock(&links->lock);
    return is_lost ? -1 : 0;
}

static void leave_link(struct content_run *run)
{
    struct content_links *links = run->links;
    const uint64_t number = run->job->number + 1;
    struct content_link *link = &links->link[number % CONTENT_LINKS];
    pthread_mutex_lock(&links->lock);
    link->hash = run->hash;
    link->is_lost = run->verdict == CONTENT_LOST;
    link->number = number;
    pthread_cond_broadcast(&links->left);
    pthread_mutex_unlock(&links->lock);
}

static int begin_frame(struct content_run *run)
{
    if (run->job->plan->frame[run->frame].begins)
        xxh64_begin(&run->hash);
    else if (take_link(run) != 0)
        return -1;
    run->is_in_frame = true;
    return 0;
}

static void end_frame(struct content_run *run)
{
    const struct decode_frame *frame = &run->job->plan->frame[run->frame];
    const struct decode_frame_end *end = &run->job->plan->frame_end[run->frame];
    if (!frame->ends)
        leave_link(run);
    else if (end->checksum != (uint32_t)xxh64_value(&run->hash))
        run->verdict = content_graver(run->verdict, CONTENT_CORRUPT);
    run->frame++;
    run->is_in_frame = false;
}

/* Goes on with data[0..len) of the content, and ends the frames that end there. 0, or -1: the
 * device is lost. */
static int hash_part(struct content_run *run, const unsigned char *data, size_t len)
{
    while (run->frame < run->end) {
        if (!run->is_in_frame && begin_frame(run) != 0)
            return -1;
        const uint32_t left = run->job->frame_ends[run->frame] - run->at;
        const size_t some = left < len ? left : len;
        const struct timespec begin = clock_now();
        xxh64_add(&run->hash, data, some);
        run->seconds += clock_seconds_since(&begin);
        run->at += (uint32_t)some;
        data += some;
        len -= some;
        if (some < left)
            return 0;
        end_frame(run);
    }
    return 0;
}

/* --- copies --- */

/* Waits for a copy. 0, or -1: the device is lost. */
static int wait_for_copy(const struct content_source *source, unsigned number)
{
    int arrived;
    while ((arrived = source->arrived(source->arg, number)) == 0)
        nanosleep(&(struct timespec){.tv_nsec = RUN_POLL_NS}, NULL);
    return arrived == 1 ? 0 : -1;
}

/* Copies and hashes the frames as content_run_hash does, but leaves no state for the next batch if
 * the device is lost. */
static int copy_and_hash(struct content_run *run, const struct content_source *source,
                         const struct content_parts *parts)
{
    const uint32_t end = run->job->frame_ends[run->end - 1];
    uint32_t sent = run->at;
    unsigned next = 0, under_way = 0;
    while (sent < end || under_way > 0) {
        for (; sent < end && under_way < CONTENT_PARTS; under_way++) {
            const unsigned part = (next + under_way) % CONTENT_PARTS;
            const size_t len = end - sent < parts->size ? end - sent : parts->size;
            const struct device_work work = {
                .kind = WORK_READ_CONTENT,
                .slot = run->job->slot,
                .copy = parts->first_read + part,
                .content = {sent, len, parts->memory + part * parts->size},
            };
            if (source->read(source->arg, &work) != 0)
                return -1;
            sent += (uint32_t)len;
        }
        if (wait_for_copy(source, parts->first_read + next) != 0)
            return -1;
        const size_t len = end - run->at < parts->size ? end - run->at : parts->size;
        if (hash_part(run, parts->memory + next * parts->size, len) != 0)
            return -1;
        next = (next + 1) % CONTENT_PARTS;
        under_way--;
    }
    return hash_part(run, NULL, 0); /* frames without content */
}

void content_run_hash(struct content_run *run, const struct content_source *source,
                      const struct content_parts *parts)
{
    const bool goes_on = !run->job->plan->frame[run->end - 1].ends;
    if (copy_and_hash(run, source, parts) == 0)
        return;
    run->verdict = CONTENT_LOST;
    if (goes_on)
        leave_link(run); /* whoever waits for it finds out the same */
}
