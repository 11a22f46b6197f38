/* SPDX-License-Identifier: MIT */
/* All under the engine's lock, which is free while bytes are hashed and copies are waited for. */
#include "decoder_internal.h"

/* Small frames are taken so many bytes at a time. */
#define CHECK_RUN ((uint32_t)1 << 20)

/* Copies of parts have numbers of their own, after that of the decoder's own copy. */
#define CHECK_FIRST_READ 1

_Static_assert(CHECK_FIRST_READ + CHECK_THREADS * CHECK_PARTS <= DEVICE_READS, "one for each part");

/* A run: frames [frame, end) of a batch, which one thread copies back and hashes. */
struct content_run {
    struct decoder_batch *batch;
    uint32_t frame, end;
    uint32_t at; /* bytes of the batch's content before what comes next */
    bool is_in_frame;
    struct xxh64 hash;
};

/* --- hashing --- */

/* Waits for the state in which the batch before left a frame. False: the device was lost there,
 * though copies that were asked for since may still have come. */
static bool begin_frame(struct gpu_decoder *decoder, struct content_run *run)
{
    const struct decoder_batch *batch = run->batch;
    if (batch->work.plan.frame[run->frame].begins) {
        xxh64_begin(&run->hash);
    } else {
        while (!batch->before->has_hash && !decoder->gpu->is_lost)
            pthread_cond_wait(&decoder->check.changed, &decoder->gpu->lock);
        run->hash = batch->before->hash;
    }
    run->is_in_frame = true;
    return !decoder->gpu->is_lost;
}

static void end_frame(struct gpu_decoder *decoder, struct content_run *run)
{
    struct decoder_batch *batch = run->batch;
    const struct decode_frame_end *end = &batch->work.plan.frame_end[run->frame];
    if (batch->work.plan.frame[run->frame].ends) {
        batch->is_corrupt |= end->checksum != (uint32_t)xxh64_value(&run->hash);
        batch->ending--;
    } else {
        batch->hash = run->hash;
        batch->has_hash = true;
        pthread_cond_broadcast(&decoder->check.changed);
    }
    batch->left--;
    run->frame++;
    run->is_in_frame = false;
}

/* Goes on with data[0..len) of the content, and ends the frames that end there. False: the device
 * is lost. */
static bool hash_part(struct gpu_decoder *decoder, struct content_run *run,
                      const unsigned char *data, size_t len)
{
    struct gpu_engine *gpu = decoder->gpu;
    while (run->frame < run->end) {
        if (!run->is_in_frame && !begin_frame(decoder, run))
            return false;
        const uint32_t left = run->batch->work.frame_ends[run->frame] - run->at;
        const size_t some = left < len ? left : len;
        pthread_mutex_unlock(&gpu->lock);
        const struct timespec begin = clock_now();
        xxh64_add(&run->hash, data, some);
        const double seconds = clock_seconds_since(&begin);
        pthread_mutex_lock(&gpu->lock);
        gpu->times.feeding.hashing += seconds;
        run->at += (uint32_t)some;
        data += some;
        len -= some;
        if (some < left)
            return true;
        end_frame(decoder, run);
    }
    return true;
}

/* Copies and hashes the frames, until the device is lost. Waits for the batch before if the first
 * frame has begun there. */
static void check_run(struct check_thread *thread, struct content_run *run)
{
    struct gpu_decoder *decoder = thread->decoder;
    struct gpu_engine *gpu = decoder->gpu;
    const size_t size = decoder->memory.fetch_size;
    const unsigned first =
        CHECK_FIRST_READ + (unsigned)(thread - decoder->check.threads) * CHECK_PARTS;
    const uint32_t end = run->batch->work.frame_ends[run->end - 1];
    uint32_t sent = run->at;
    unsigned next = 0, under_way = 0;
    while (sent < end || under_way > 0) {
        for (; sent < end && under_way < CHECK_PARTS; under_way++) {
            const unsigned part = (next + under_way) % CHECK_PARTS;
            const size_t len = end - sent < size ? end - sent : size;
            const struct device_work work = {
                .kind = WORK_READ_CONTENT,
                .slot = run->batch->slot.index,
                .copy = first + part,
                .content = {sent, len, thread->pinned.memory + part * size},
            };
            gpu_post(gpu, &work);
            sent += (uint32_t)len;
        }
        int arrived;
        while ((arrived = gpu_poll(gpu, WORK_READ_CONTENT, first + next, true)) == 0)
            gpu_pause_unlocked(gpu);
        const size_t len = end - run->at < size ? end - run->at : size;
        if (arrived < 0 || !hash_part(decoder, run, thread->pinned.memory + next * size, len))
            return;
        next = (next + 1) % CHECK_PARTS;
        under_way--;
    }
    (void)hash_part(decoder, run, NULL, 0); /* frames without content */
}

/* --- runs --- */

static bool frame_is_hashed(const struct decoder_batch *batch, uint32_t frame)
{
    const struct decode_plan *plan = &batch->work.plan;
    return plan->frame[frame].ends ? plan->frame_end[frame].has_checksum : batch->goes_on;
}

/* True if a frame is only partly in the batch. */
static bool frame_is_cut(const struct decoder_batch *batch, uint32_t frame)
{
    return !batch->work.plan.frame[frame].begins || !batch->work.plan.frame[frame].ends;
}

/* Takes frames of the oldest batch that has some: one that is cut, or whole ones that follow each
 * other. True if there are some. */
static bool acquire_run(struct content_check *check, struct content_run *run)
{
    struct decoder_batch *batch = check->oldest;
    if (!batch)
        return false;
    const uint32_t frames = batch->work.plan.frames, *const ends = batch->work.frame_ends;
    const uint32_t first = batch->next, begin = first == 0 ? 0 : ends[first - 1];
    uint32_t end = first + 1;
    if (!frame_is_cut(batch, first))
        while (end < frames && ends[end - 1] - begin < CHECK_RUN && frame_is_hashed(batch, end) &&
               !frame_is_cut(batch, end))
            end++;
    *run = (struct content_run){.batch = batch, .frame = first, .end = end, .at = begin};
    while (end < frames && !frame_is_hashed(batch, end))
        end++;
    batch->next = end;
    if (end == frames)
        check->oldest = batch->after;
    return true;
}

static void *check_thread(void *arg)
{
    struct check_thread *thread = arg;
    struct content_check *check = &thread->decoder->check;
    pthread_mutex_t *lock = &thread->decoder->gpu->lock;
    struct content_run run;
    pthread_mutex_lock(lock);
    for (;;) {
        if (acquire_run(check, &run)) {
            check->busy++;
            check_run(thread, &run);
            check->busy--;
            if (thread->decoder->gpu->is_lost) /* whoever waits for a frame finds out the same */
                pthread_cond_broadcast(&check->changed);
        } else if (check->is_closing) {
            break;
        } else {
            pthread_cond_wait(&check->changed, lock);
        }
    }
    pthread_mutex_unlock(lock);
    return NULL;
}

/* Starts one more thread. True if there is one. */
static bool start_thread(struct gpu_decoder *decoder)
{
    struct content_check *check = &decoder->check;
    struct check_thread *thread = &check->threads[check->count];
    const size_t size = CHECK_PARTS * decoder->memory.fetch_size;
    *thread = (struct check_thread){.decoder = decoder};
    if (pinned_open(&thread->pinned, size, decoder->gpu->thread) != 0)
        return false;
    if (pthread_create(&thread->thread, NULL, check_thread, thread) != 0) {
        pinned_close(&thread->pinned);
        return false;
    }
    check->count++;
    decoder->gpu->times.decoding.host += size;
    return true;
}

void content_check_open(struct gpu_decoder *decoder)
{
    decoder->check = (struct content_check){.count = 0};
    pthread_cond_init(&decoder->check.changed, NULL);
    if (!start_thread(decoder))
        pthread_cond_destroy(&decoder->check.changed);
}

void content_check_begin(struct gpu_decoder *decoder, struct decoder_batch *batch)
{
    struct content_check *check = &decoder->check;
    const struct decode_plan *plan = &batch->work.plan;
    const uint32_t runs = batch->work.frame_ends[plan->frames - 1] / CHECK_RUN + 1;
    batch->before = check->last;
    batch->after = NULL;
    check->last = batch;
    for (uint32_t i = plan->frames; i-- > 0;) {
        if (!frame_is_hashed(batch, i))
            continue;
        batch->next = i;
        batch->left++;
        batch->ending += plan->frame[i].ends;
    }
    if (batch->left == 0)
        return;
    /* As many threads as find something to do. If it is one frame that goes on, two take turns: one
     * copies while the other hashes. */
    const unsigned max = batch->left == 1 && frame_is_cut(batch, batch->next) ? 2 : CHECK_THREADS;
    const unsigned wanted = check->busy + (batch->left < runs ? batch->left : runs);
    while (check->count < (wanted < max ? wanted : max) && start_thread(decoder))
        continue;
    if (check->oldest)
        check->newest->after = batch;
    else
        check->oldest = batch;
    check->newest = batch;
    pthread_cond_broadcast(&check->changed);
}

void content_check_close(struct gpu_decoder *decoder)
{
    struct content_check *check = &decoder->check;
    if (check->count == 0)
        return;
    check->is_closing = true;
    pthread_cond_broadcast(&check->changed);
    pthread_mutex_unlock(&decoder->gpu->lock);
    for (unsigned i = 0; i < check->count; i++)
        pthread_join(check->threads[i].thread, NULL);
    pthread_mutex_lock(&decoder->gpu->lock);
    for (unsigned i = 0; i < check->count; i++)
        pinned_close(&check->threads[i].pinned);
    pthread_cond_destroy(&check->changed);
    check->count = 0;
}
