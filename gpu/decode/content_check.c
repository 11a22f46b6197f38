/* SPDX-License-Identifier: MIT */
#include "content_check.h"
#include "content_run.h"
#include "gpu/engine/pinned.h"

#include <stdlib.h>

/* The most threads. A core hashes 10 GB/s and more, so this many keep up with the device. */
#define CHECK_THREADS 4

/* Small frames are taken so many bytes at a time. */
#define CHECK_RUN ((uint32_t)1 << 20)

_Static_assert(CHECK_THREADS *CONTENT_PARTS <= CONTENT_PARTS_MAX, "each part has a number");

struct check_thread {
    struct content_check *check;
    pthread_t thread;
    struct pinned pinned;
    struct content_parts parts; /* there */
};

struct content_check {
    struct device_thread *thread;
    struct content_source source;
    size_t part;

    struct content_links links;
    uint64_t jobs; /* that were begun */
    struct check_thread threads[CHECK_THREADS];
    unsigned count; /* of these */

    pthread_mutex_t lock; /* guards the rest, and jobs that were begun */
    pthread_cond_t begun;
    struct content_job *oldest; /* of those that have frames no thread has taken */
    struct content_job *newest;
    unsigned busy; /* threads that have a run */
    bool is_closing;
    double seconds;
};

/* --- runs --- */

static bool frame_is_hashed(const struct content_job *job, uint32_t frame)
{
    const struct decode_plan *plan = job->plan;
    return plan->frame[frame].ends ? plan->frame_end[frame].has_checksum : job->goes_on;
}

/* True if a frame is only partly in the batch. */
static bool frame_is_cut(const struct content_job *job, uint32_t frame)
{
    return !job->plan->frame[frame].begins || !job->plan->frame[frame].ends;
}

static uint32_t frame_begin(const struct content_job *job, uint32_t frame)
{
    return frame == 0 ? 0 : job->frame_ends[frame - 1];
}

static void drop_oldest(struct content_check *check)
{
    check->oldest = check->oldest->after;
    if (!check->oldest)
        check->newest = NULL;
}

/* Takes frames of the oldest job that has some: one that is cut, or whole ones that follow each
 * other. True if there are some. Under the lock. */
static bool acquire_run(struct content_check *check, struct content_run *run)
{
    struct content_job *job = check->oldest;
    if (!job)
        return false;
    uint32_t end = job->next + 1;
    const uint32_t begin = frame_begin(job, job->next);
    if (!frame_is_cut(job, job->next))
        while (end < job->frames && job->frame_ends[end - 1] - begin < CHECK_RUN &&
               frame_is_hashed(job, end) && !frame_is_cut(job, end))
            end++;
    *run = (struct content_run){
        .links = &check->links, .job = job, .frame = job->next, .end = end, .at = begin};
    job->next = end;
    while (job->next < job->frames && !frame_is_hashed(job, job->next))
        job->next++;
    if (job->next == job->frames)
        drop_oldest(check);
    return true;
}

/* Copies and hashes a run, without the lock. */
static void check_one_run(struct check_thread *thread, struct content_run *run)
{
    struct content_check *check = thread->check;
    struct content_job *job = run->job;
    const uint32_t frames = run->end - run->frame;
    uint32_t ending = 0;
    for (uint32_t i = run->frame; i < run->end; i++)
        ending += job->plan->frame[i].ends;
    content_run_hash(run, &check->source, &thread->parts);
    pthread_mutex_lock(&check->lock);
    job->verdict = content_graver(job->verdict, run->verdict);
    job->ending -= ending;
    job->left -= frames;
    check->seconds += run->seconds;
    pthread_mutex_unlock(&check->lock);
}

static void *check_thread(void *arg)
{
    struct check_thread *thread = arg;
    struct content_check *check = thread->check;
    struct content_run run;
    pthread_mutex_lock(&check->lock);
    for (;;) {
        if (acquire_run(check, &run)) {
            check->busy++;
            pthread_mutex_unlock(&check->lock);
            check_one_run(thread, &run);
            pthread_mutex_lock(&check->lock);
            check->busy--;
        } else if (check->is_closing) {
            break;
        } else {
            pthread_cond_wait(&check->begun, &check->lock);
        }
    }
    pthread_mutex_unlock(&check->lock);
    return NULL;
}

/* --- threads --- */

/* Starts one more thread. True if there is one. */
static bool start_thread(struct content_check *check)
{
    struct check_thread *thread = &check->threads[check->count];
    *thread = (struct check_thread){.check = check};
    if (pinned_open(&thread->pinned, CONTENT_PARTS * check->part, check->thread) != 0)
        return false;
    thread->parts =
        (struct content_parts){.memory = thread->pinned.memory,
                               .size = check->part,
                               .first_read = CONTENT_FIRST_READ + check->count * CONTENT_PARTS};
    if (pthread_create(&thread->thread, NULL, check_thread, thread) != 0) {
        pinned_close(&thread->pinned);
        return false;
    }
    check->count++;
    return true;
}

struct content_check *content_check_open(struct device_thread *thread,
                                         const struct content_source *source, size_t part)
{
    struct content_check *check = calloc(1, sizeof *check);
    if (!check)
        return NULL;
    check->thread = thread;
    check->source = *source;
    check->part = part;
    pthread_mutex_init(&check->lock, NULL);
    pthread_cond_init(&check->begun, NULL);
    content_links_open(&check->links);
    if (start_thread(check))
        return check;
    content_check_close(check);
    return NULL;
}

/* Returns how many threads find something to do in a job. If it is one frame that goes on, two
 * threads take turns: one copies while the other hashes. */
static unsigned runs_of(const struct content_job *job)
{
    uint32_t bytes = job->frame_ends[job->frames - 1];
    uint32_t runs = job->left < bytes / CHECK_RUN + 1 ? job->left : bytes / CHECK_RUN + 1;
    return runs < CHECK_THREADS ? runs : CHECK_THREADS;
}

/* Sets the numbers of a job's frames. */
static void count_frames(struct content_job *job)
{
    job->frames = job->plan->frames;
    job->next = job->frames;
    job->left = job->ending = 0;
    job->verdict = CONTENT_GOOD;
    job->after = NULL;
    for (uint32_t i = job->frames; i-- > 0;) {
        if (!frame_is_hashed(job, i))
            continue;
        job->next = i;
        job->left++;
        job->ending += job->plan->frame[i].ends;
    }
}

/* Starts threads until there are as many as find something to do. */
static void start_threads(struct content_check *check, const struct content_job *job)
{
    const unsigned max = frame_is_cut(job, job->next) && job->left == 1 ? 2 : CHECK_THREADS;
    pthread_mutex_lock(&check->lock);
    unsigned wanted = check->busy + runs_of(job);
    pthread_mutex_unlock(&check->lock);
    if (wanted > max)
        wanted = max;
    while (check->count < wanted && start_thread(check))
        continue;
}

void content_check_begin(struct content_check *check, struct content_job *job)
{
    count_frames(job);
    job->number = ++check->jobs;
    if (job->left == 0)
        return;
    start_threads(check, job);
    pthread_mutex_lock(&check->lock);
    if (check->newest)
        check->newest->after = job;
    else
        check->oldest = job;
    check->newest = job;
    pthread_cond_broadcast(&check->begun);
    pthread_mutex_unlock(&check->lock);
}

/* --- what came of it --- */

enum content_verdict content_check_verdict(struct content_check *check,
                                           const struct content_job *job)
{
    pthread_mutex_lock(&check->lock);
    enum content_verdict verdict = job->verdict;
    if (verdict != CONTENT_LOST && job->ending > 0)
        verdict = CONTENT_PENDING;
    pthread_mutex_unlock(&check->lock);
    return verdict;
}

bool content_check_is_done(struct content_check *check, const struct content_job *job)
{
    pthread_mutex_lock(&check->lock);
    bool is_done = job->left == 0;
    pthread_mutex_unlock(&check->lock);
    return is_done;
}

double content_check_seconds(struct content_check *check)
{
    if (!check)
        return 0;
    pthread_mutex_lock(&check->lock);
    double seconds = check->seconds;
    pthread_mutex_unlock(&check->lock);
    return seconds;
}

uint64_t content_check_memory(struct content_check *check)
{
    return check ? (uint64_t)check->count * CONTENT_PARTS * check->part : 0;
}

double content_check_close(struct content_check *check)
{
    if (!check)
        return 0;
    pthread_mutex_lock(&check->lock);
    check->is_closing = true;
    pthread_cond_broadcast(&check->begun);
    pthread_mutex_unlock(&check->lock);
    for (unsigned i = 0; i < check->count; i++) {
        pthread_join(check->threads[i].thread, NULL);
        pinned_close(&check->threads[i].pinned);
    }
    const double seconds = check->seconds;
    content_links_close(&check->links);
    pthread_cond_destroy(&check->begun);
    pthread_mutex_destroy(&check->lock);
    free(check);
    return seconds;
}
