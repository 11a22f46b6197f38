/* SPDX-License-Identifier: MIT */
/* Jobs that any worker may take, chunks that others leave to be counted, and the workers that wait
 * for either: a monitor. */
#include "worker.h"

void work_queue_open(struct work_queue *queue)
{
    *queue = (struct work_queue){.sleepers = NULL};
    queue->last_job = &queue->jobs;
    pthread_mutex_init(&queue->lock, NULL);
}

void work_queue_close(struct work_queue *queue)
{
    pthread_mutex_destroy(&queue->lock);
}

void waiter_open(struct waiter *waiter)
{
    *waiter = (struct waiter){.sleeps = false};
    pthread_cond_init(&waiter->wake, NULL);
}

void waiter_close(struct waiter *waiter)
{
    pthread_cond_destroy(&waiter->wake);
}

uint64_t work_queue_news(struct work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    uint64_t ticket = queue->news;
    pthread_mutex_unlock(&queue->lock);
    return ticket;
}

/* Under the lock. */
static void wake_one(struct work_queue *queue)
{
    struct waiter *waiter = queue->sleepers;
    if (!waiter)
        return;
    queue->sleepers = waiter->next;
    waiter->sleeps = false;
    pthread_cond_signal(&waiter->wake);
}

void work_queue_wake_all(struct work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->news++;
    while (queue->sleepers)
        wake_one(queue);
    pthread_mutex_unlock(&queue->lock);
}

/* Under the lock. */
static void sleep_until_woken(struct work_queue *queue, struct waiter *waiter)
{
    waiter->sleeps = true;
    waiter->next = queue->sleepers;
    queue->sleepers = waiter;
    while (waiter->sleeps)
        pthread_cond_wait(&waiter->wake, &queue->lock);
}

/* Under the lock. */
static void set_counts(struct work_queue *queue, struct waiter *waiter, bool counts)
{
    queue->count += counts;
    queue->count -= waiter->counts;
    waiter->counts = counts;
}

/* Takes a job off the list, to which `link` points. Under the lock. */
static struct job *unlink_job(struct work_queue *queue, struct job **link)
{
    struct job *job = *link;
    *link = job->next;
    if (!job->next)
        queue->last_job = link;
    return job;
}

/* Takes the chunk that was handed off last; NULL: there is none. Under the lock. */
static struct chunk *acquire_handed_off(struct work_queue *queue)
{
    if (queue->handed_off_count == 0)
        return NULL;
    queue->taken_count++;
    return queue->handed_off[--queue->handed_off_count];
}

struct chunk *work_queue_wait(struct work_queue *queue, struct waiter *waiter, uint64_t ticket)
{
    pthread_mutex_lock(&queue->lock);
    set_counts(queue, waiter, true);
    while (queue->handed_off_count == 0 && queue->news == ticket && !queue->jobs)
        sleep_until_woken(queue, waiter);
    struct chunk *handed_off = acquire_handed_off(queue);
    set_counts(queue, waiter, handed_off || queue->jobs);
    pthread_mutex_unlock(&queue->lock);
    return handed_off;
}

bool work_queue_is_pending(struct work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    bool pending = queue->handed_off_count > 0 || queue->jobs;
    pthread_mutex_unlock(&queue->lock);
    return pending;
}

void work_queue_leave(struct work_queue *queue, struct waiter *waiter)
{
    if (!waiter->counts) /* written by this worker's thread alone */
        return;
    pthread_mutex_lock(&queue->lock);
    set_counts(queue, waiter, false);
    pthread_mutex_unlock(&queue->lock);
}

bool work_queue_hand_off(struct work_queue *queue, struct chunk *chunk)
{
    pthread_mutex_lock(&queue->lock);
    bool handed_off = queue->count > 0 && queue->handed_off_count < HANDED_OFF_MAX;
    if (handed_off)
        queue->handed_off[queue->handed_off_count++] = chunk;
    if (handed_off && queue->handed_off_count >= HANDED_OFF_MAX / 2)
        wake_one(queue);
    pthread_mutex_unlock(&queue->lock);
    return handed_off;
}

struct chunk *work_queue_acquire(struct work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    struct chunk *handed_off = acquire_handed_off(queue);
    pthread_mutex_unlock(&queue->lock);
    return handed_off;
}

void work_queue_counted(struct work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->taken_count--;
    pthread_mutex_unlock(&queue->lock);
}

bool work_queue_has_handed_off(struct work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    const bool has = queue->handed_off_count + queue->taken_count > 0;
    pthread_mutex_unlock(&queue->lock);
    return has;
}

void work_queue_offer(struct work_queue *queue, struct job *job)
{
    pthread_mutex_lock(&queue->lock);
    job->next = NULL;
    *queue->last_job = job;
    queue->last_job = &job->next;
    wake_one(queue);
    pthread_mutex_unlock(&queue->lock);
}

struct job *work_queue_take(struct work_queue *queue, const struct worker *worker)
{
    pthread_mutex_lock(&queue->lock);
    struct job **piece = NULL, **rest = NULL, **own = NULL;
    for (struct job **link = &queue->jobs; *link && !own; link = &(*link)->next) {
        struct job ***first = (*link)->kind == JOB_PIECE ? &piece
                              : (*link)->owner == worker ? &own
                                                         : &rest;
        if (!*first)
            *first = link;
    }
    struct job **best = own ? own : piece ? piece : rest;
    struct job *job = best ? unlink_job(queue, best) : NULL;
    pthread_mutex_unlock(&queue->lock);
    return job;
}

void work_queue_hurry(struct work_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    for (unsigned i = 0; i < queue->handed_off_count; i++)
        wake_one(queue);
    pthread_mutex_unlock(&queue->lock);
}
