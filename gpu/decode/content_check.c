/* SPDX-License-Identifier: MIT */
#include "decoder_internal.h"
#include "src/hash/xxh64.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* The most threads. A core hashes 10 GB/s and more, so this many keep up with the device. */
#define CHECK_THREADS 4

/* Small frames are taken so many bytes at a time. */
#define CHECK_RUN ((uint32_t)1 << 20)

/* The time between looks at a copy that has not arrived. */
#define RUN_POLL_NS 20000

/* Parts that a thread has under way. The copies of three hide how long one takes to be seen. */
#define CONTENT_PARTS 4

/* The memory for these parts, one after the other. */
struct content_parts {
    unsigned char *memory; /* pinned */
    size_t size;           /* bytes, of each */
    unsigned first_read;   /* the number of the first one's copies; the others' follow */
};

/* Places for frames that go on in the next batch: more than there are batches. */
#define CONTENT_LINKS 16

/* The state of a frame between two batches. */
struct content_link {
    struct xxh64 hash;
    bool is_lost;    /* the device was lost before it was known */
    uint64_t number; /* of the batch in which the frame goes on, once the state is there */
};

struct content_links {
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t left;
    struct content_link link[CONTENT_LINKS];
};

/* A run: frames [frame, end) of a job, and its progress. The caller sets the first five members. */
struct content_run {
    struct content_links *links;
    struct content_job *job;
    uint32_t frame, end;
    uint32_t at; /* bytes of the batch's content before what comes next */
    bool is_in_frame;
    enum content_verdict verdict;
    struct xxh64 hash;
    double seconds; /* spent hashing */
};

/* Returns the graver verdict, as counts cannot be taken back. */
static inline enum content_verdict content_graver(enum content_verdict a, enum content_verdict b)
{
    return a > b ? a : b;
}

_Static_assert(CHECK_THREADS *CONTENT_PARTS <= CONTENT_PARTS_MAX, "each part has a number");

struct check_thread {
    struct content_check *check;
    pthread_t thread;
    struct pinned pinned;
    struct content_parts parts; /* there */
};

struct content_check {
    struct gpu_engine *gpu;
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

/* --- a run: frames of one batch that one thread copies back and hashes --- */

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

/* Has content copied to the host. 0, or -1: the device is lost. */
static int read_content(struct gpu_engine *gpu, const struct device_work *work)
{
    pthread_mutex_lock(&gpu->lock);
    if (device_thread_post(gpu->thread, work) != 0)
        gpu_lose_by_call(gpu);
    int rc = gpu->is_lost ? -1 : 0;
    pthread_mutex_unlock(&gpu->lock);
    return rc;
}

/* Waits for a copy. 0, or -1: the device is lost. */
static int wait_for_copy(struct gpu_engine *gpu, unsigned number)
{
    for (;;) {
        pthread_mutex_lock(&gpu->lock);
        const int arrived = gpu_judge_poll(
            gpu, device_thread_arrived(gpu->thread, WORK_READ_CONTENT, number), true);
        pthread_mutex_unlock(&gpu->lock);
        if (arrived != 0)
            return arrived == 1 ? 0 : -1;
        nanosleep(&(struct timespec){.tv_nsec = RUN_POLL_NS}, NULL);
    }
}

/* Copies and hashes the frames as hash_run does, but leaves no state for the next batch if
 * the device is lost. */
static int copy_and_hash(struct content_run *run, struct gpu_engine *gpu,
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
            if (read_content(gpu, &work) != 0)
                return -1;
            sent += (uint32_t)len;
        }
        if (wait_for_copy(gpu, parts->first_read + next) != 0)
            return -1;
        const size_t len = end - run->at < parts->size ? end - run->at : parts->size;
        if (hash_part(run, parts->memory + next * parts->size, len) != 0)
            return -1;
        next = (next + 1) % CONTENT_PARTS;
        under_way--;
    }
    return hash_part(run, NULL, 0); /* frames without content */
}

/* Copies and hashes the frames, and sets the verdict. Waits for the batch before if the first frame
 * has begun there. */
static void hash_run(struct content_run *run, struct gpu_engine *gpu,
                     const struct content_parts *parts)
{
    const bool goes_on = !run->job->plan->frame[run->end - 1].ends;
    if (copy_and_hash(run, gpu, parts) == 0)
        return;
    run->verdict = CONTENT_LOST;
    if (goes_on)
        leave_link(run); /* whoever waits for it finds out the same */
}

/* --- the threads --- */

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
    hash_run(run, check->gpu, &thread->parts);
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

/* Starts one more thread. True if there is one. */
static bool start_thread(struct content_check *check)
{
    struct check_thread *thread = &check->threads[check->count];
    *thread = (struct check_thread){.check = check};
    if (pinned_open(&thread->pinned, CONTENT_PARTS * check->part, check->gpu->thread) != 0)
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

struct content_check *content_check_open(struct gpu_engine *gpu, size_t part)
{
    struct content_check *check = calloc(1, sizeof *check);
    if (!check)
        return NULL;
    check->gpu = gpu;
    check->part = part;
    pthread_mutex_init(&check->lock, NULL);
    pthread_cond_init(&check->begun, NULL);
    pthread_mutex_init(&check->links.lock, NULL);
    pthread_cond_init(&check->links.left, NULL);
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
    pthread_cond_destroy(&check->links.left);
    pthread_mutex_destroy(&check->links.lock);
    pthread_cond_destroy(&check->begun);
    pthread_mutex_destroy(&check->lock);
    free(check);
    return seconds;
}
