#include "content_check.h"

#ifdef HAVE_XXHASH

#include "pinned.h"
#include "src/base/clock.h"

#include <pthread.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A core hashes 8 to 15 GB/s, so this many keep up with the device. */
#define CHECK_THREADS 4

/* Parts that a thread has under way: the copies of three hide how long one takes to be seen. */
#define CHECK_PARTS 4

/* Small frames are taken so many bytes at a time. */
#define CHECK_RUN ((uint32_t)1 << 20)

/* Between looks at a copy that has not arrived. */
#define CHECK_POLL_NS 20000

/* A frame that goes on is handed over from batch to batch: more places than there are batches. */
#define CHECK_LINKS 16

_Static_assert(CHECK_THREADS *CHECK_PARTS <= CONTENT_PARTS_MOST, "each part has a number");

/* The state of a frame between two batches. */
struct check_link {
    XXH64_state_t state;
    uint64_t number; /* of the batch that it goes on in, from 1, once it is there */
};

struct check_thread {
    struct content_check *check;
    pthread_t thread;
    unsigned first_read; /* number of its first copy */
    struct pinned parts;
};

struct content_check {
    struct device *device;
    struct content_source source;
    size_t part;

    uint64_t jobs; /* that were begun */
    struct check_thread threads[CHECK_THREADS];
    unsigned count; /* of these */

    pthread_mutex_t lock; /* guards the rest, and jobs that were begun */
    pthread_cond_t begun, linked;
    struct content_job *oldest; /* of those that have frames no thread has taken */
    struct content_job *newest;
    struct check_link links[CHECK_LINKS];
    unsigned busy; /* threads that have a run */
    bool is_closing;
    double seconds;
};

/* Frames of a job that a thread has taken: [frame, end), and how far it is. */
struct check_run {
    struct content_check *check;
    struct content_job *job;
    uint32_t frame, end;
    uint32_t at; /* bytes of the batch's content before what comes next */
    bool is_in_frame;
    enum content_verdict verdict;
    XXH64_state_t state;
    double seconds;
};

/* --- frames --- */

/* The graver one: what was counted already cannot be taken back. */
static enum content_verdict graver(enum content_verdict a, enum content_verdict b)
{
    return a > b ? a : b;
}

static bool frame_is_hashed(const struct content_job *job, uint32_t frame)
{
    const struct zstd_plan *plan = job->plan;
    return plan->frame[frame].ends ? plan->frame_end[frame].has_checksum : job->goes_on;
}

/* Whether a frame is only partly in the batch. */
static bool frame_is_cut(const struct content_job *job, uint32_t frame)
{
    return !job->plan->frame[frame].begins || !job->plan->frame[frame].ends;
}

static uint32_t frame_begin(const struct content_job *job, uint32_t frame)
{
    return frame == 0 ? 0 : job->frame_ends[frame - 1];
}

/* Waits for the state in which the batch before left a frame. */
static void take_link(struct check_run *run)
{
    struct content_check *check = run->check;
    const uint64_t number = run->job->number;
    struct check_link *link = &check->links[number % CHECK_LINKS];
    pthread_mutex_lock(&check->lock);
    while (link->number != number)
        pthread_cond_wait(&check->linked, &check->lock);
    run->state = link->state;
    pthread_mutex_unlock(&check->lock);
}

static void leave_link(struct check_run *run)
{
    struct content_check *check = run->check;
    const uint64_t number = run->job->number + 1;
    struct check_link *link = &check->links[number % CHECK_LINKS];
    pthread_mutex_lock(&check->lock);
    link->state = run->state;
    link->number = number;
    pthread_cond_broadcast(&check->linked);
    pthread_mutex_unlock(&check->lock);
}

static void begin_frame(struct check_run *run)
{
    if (run->job->plan->frame[run->frame].begins)
        XXH64_reset(&run->state, 0);
    else
        take_link(run);
    run->is_in_frame = true;
}

static void end_frame(struct check_run *run)
{
    const struct zstd_frame *frame = &run->job->plan->frame[run->frame];
    const struct zstd_frame_end *end = &run->job->plan->frame_end[run->frame];
    if (!frame->ends)
        leave_link(run);
    else if (end->checksum != (uint32_t)XXH64_digest(&run->state))
        run->verdict = graver(run->verdict, frame->begins ? CONTENT_CORRUPT : CONTENT_WRONG);
    run->frame++;
    run->is_in_frame = false;
}

/* Goes on with data[0..len) of the content, and ends the frames that end there. */
static void hash_part(struct check_run *run, const unsigned char *data, size_t len)
{
    while (run->frame < run->end) {
        if (!run->is_in_frame)
            begin_frame(run);
        const uint32_t left = run->job->frame_ends[run->frame] - run->at;
        const size_t some = left < len ? left : len;
        const struct timespec begin = clock_now();
        if (some > 0)
            XXH64_update(&run->state, data, some);
        run->seconds += clock_seconds_since(&begin);
        run->at += (uint32_t)some;
        data += some;
        len -= some;
        if (some < left)
            return;
        end_frame(run);
    }
}

/* --- copies --- */

/* Waits for a copy. 0, or -1: the device is lost. */
static int wait_for_copy(const struct content_source *source, unsigned number)
{
    int arrived;
    while ((arrived = source->arrived(source->arg, number)) == 0)
        nanosleep(&(struct timespec){.tv_nsec = CHECK_POLL_NS}, NULL);
    return arrived == 1 ? 0 : -1;
}

/* Copies and hashes the frames of a run. 0, or -1: the device is lost. */
static int hash_run(const struct check_thread *thread, struct check_run *run)
{
    const struct content_source *source = &thread->check->source;
    const size_t size = thread->check->part;
    const uint32_t end = run->job->frame_ends[run->end - 1];
    uint32_t sent = run->at;
    unsigned next = 0, under_way = 0;
    while (sent < end || under_way > 0) {
        for (; sent < end && under_way < CHECK_PARTS; under_way++) {
            const unsigned part = (next + under_way) % CHECK_PARTS;
            const size_t len = end - sent < size ? end - sent : size;
            if (source->read(source->arg, run->job->slot, sent, len,
                             thread->parts.memory + part * size, thread->first_read + part) != 0)
                return -1;
            sent += (uint32_t)len;
        }
        if (wait_for_copy(source, thread->first_read + next) != 0)
            return -1;
        const size_t len = end - run->at < size ? end - run->at : size;
        hash_part(run, thread->parts.memory + next * size, len);
        next = (next + 1) % CHECK_PARTS;
        under_way--;
    }
    hash_part(run, NULL, 0); /* frames without content */
    return 0;
}

/* --- runs --- */

static void drop_oldest(struct content_check *check)
{
    check->oldest = check->oldest->after;
    if (!check->oldest)
        check->newest = NULL;
}

/* Takes frames of the oldest job that has some: one that is cut, or whole ones that follow each
 * other. Whether there are some. Under the lock. */
static bool take_run(struct content_check *check, struct check_run *run)
{
    struct content_job *job = check->oldest;
    while (job && job->next == job->frames) {
        drop_oldest(check);
        job = check->oldest;
    }
    if (!job)
        return false;
    uint32_t end = job->next + 1;
    const uint32_t begin = frame_begin(job, job->next);
    if (!frame_is_cut(job, job->next))
        while (end < job->frames && job->frame_ends[end - 1] - begin < CHECK_RUN &&
               frame_is_hashed(job, end) && !frame_is_cut(job, end))
            end++;
    *run =
        (struct check_run){.check = check, .job = job, .frame = job->next, .end = end, .at = begin};
    job->next = end;
    while (job->next < job->frames && !frame_is_hashed(job, job->next))
        job->next++;
    if (job->next == job->frames)
        drop_oldest(check);
    return true;
}

/* Sees a run through, without the lock. */
static void check_one_run(struct check_thread *thread, struct check_run *run)
{
    struct content_check *check = thread->check;
    struct content_job *job = run->job;
    const uint32_t frames = run->end - run->frame;
    uint32_t ending = 0;
    for (uint32_t i = run->frame; i < run->end; i++)
        ending += job->plan->frame[i].ends;
    const bool is_lost = hash_run(thread, run) != 0;
    if (is_lost && ending < frames)
        leave_link(run); /* whoever waits for it finds out the same */
    pthread_mutex_lock(&check->lock);
    job->verdict = graver(job->verdict, is_lost ? CONTENT_LOST : run->verdict);
    job->ending -= ending;
    job->left -= frames;
    check->seconds += run->seconds;
    pthread_mutex_unlock(&check->lock);
}

static void *check_thread(void *arg)
{
    struct check_thread *thread = arg;
    struct content_check *check = thread->check;
    struct check_run run;
    pthread_mutex_lock(&check->lock);
    for (;;) {
        if (take_run(check, &run)) {
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

/* Starts one more thread. Whether there is one. */
static bool start_thread(struct content_check *check)
{
    struct check_thread *thread = &check->threads[check->count];
    *thread = (struct check_thread){.check = check,
                                    .first_read = CONTENT_FIRST_READ + check->count * CHECK_PARTS};
    if (pinned_open(&thread->parts, CHECK_PARTS * check->part, check->device) != 0)
        return false;
    if (pthread_create(&thread->thread, NULL, check_thread, thread) != 0) {
        pinned_close(&thread->parts, check->device);
        return false;
    }
    check->count++;
    return true;
}

struct content_check *content_check_open(struct device *device, const struct content_source *source,
                                         size_t part)
{
    struct content_check *check = calloc(1, sizeof *check);
    if (!check)
        return NULL;
    check->device = device;
    check->source = *source;
    check->part = part;
    pthread_mutex_init(&check->lock, NULL);
    pthread_cond_init(&check->begun, NULL);
    pthread_cond_init(&check->linked, NULL);
    if (start_thread(check))
        return check;
    content_check_close(check, false);
    return NULL;
}

/* How many threads find something to do in a job. Where it is one frame that goes on, one takes
 * turns with the other: it copies while that one hashes. */
static unsigned runs_of(const struct content_job *job)
{
    uint32_t bytes = job->frame_ends[job->frames - 1];
    uint32_t runs = job->left < bytes / CHECK_RUN + 1 ? job->left : bytes / CHECK_RUN + 1;
    return runs < CHECK_THREADS ? runs : CHECK_THREADS;
}

/* Sets what is counted of a job's frames. */
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

/* Has as many threads as find something to do. */
static void start_threads(struct content_check *check, const struct content_job *job)
{
    const unsigned most = frame_is_cut(job, job->next) && job->left == 1 ? 2 : CHECK_THREADS;
    pthread_mutex_lock(&check->lock);
    unsigned wanted = check->busy + runs_of(job);
    pthread_mutex_unlock(&check->lock);
    if (wanted > most)
        wanted = most;
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
    pthread_mutex_lock(&check->lock);
    double seconds = check->seconds;
    pthread_mutex_unlock(&check->lock);
    return seconds;
}

uint64_t content_check_memory(struct content_check *check)
{
    return (uint64_t)check->count * CHECK_PARTS * check->part;
}

void content_check_close(struct content_check *check, bool is_lost)
{
    if (!check)
        return;
    pthread_mutex_lock(&check->lock);
    check->is_closing = true;
    pthread_cond_broadcast(&check->begun);
    pthread_mutex_unlock(&check->lock);
    for (unsigned i = 0; i < check->count; i++) {
        pthread_join(check->threads[i].thread, NULL);
        if (!is_lost)
            pinned_close(&check->threads[i].parts, check->device);
    }
    pthread_cond_destroy(&check->linked);
    pthread_cond_destroy(&check->begun);
    pthread_mutex_destroy(&check->lock);
    free(check);
}

#else

struct content_check *content_check_open(struct device *device, const struct content_source *source,
                                         size_t part)
{
    (void)device, (void)source, (void)part;
    return NULL;
}

void content_check_begin(struct content_check *check, struct content_job *job)
{
    (void)check, (void)job;
}

enum content_verdict content_check_verdict(struct content_check *check,
                                           const struct content_job *job)
{
    (void)check, (void)job;
    return CONTENT_CORRUPT;
}

bool content_check_is_done(struct content_check *check, const struct content_job *job)
{
    (void)check, (void)job;
    return true;
}

double content_check_seconds(struct content_check *check)
{
    (void)check;
    return 0;
}

uint64_t content_check_memory(struct content_check *check)
{
    (void)check;
    return 0;
}

void content_check_close(struct content_check *check, bool is_lost)
{
    (void)check, (void)is_lost;
}

#endif
