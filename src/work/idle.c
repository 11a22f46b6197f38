/* SPDX-License-Identifier: MIT */
#include "idle.h"

void idle_open(struct idle *idle)
{
    *idle = (struct idle){.sleepers = NULL};
    idle->last_task = &idle->tasks;
    pthread_mutex_init(&idle->lock, NULL);
}

void idle_close(struct idle *idle)
{
    pthread_mutex_destroy(&idle->lock);
}

void idle_counter_open(struct idle_counter *counter)
{
    *counter = (struct idle_counter){.sleeps = false};
    pthread_cond_init(&counter->wake, NULL);
}

void idle_counter_close(struct idle_counter *counter)
{
    pthread_cond_destroy(&counter->wake);
}

uint64_t idle_news(struct idle *idle)
{
    pthread_mutex_lock(&idle->lock);
    uint64_t ticket = idle->news;
    pthread_mutex_unlock(&idle->lock);
    return ticket;
}

/* Under the lock. */
static void wake_one(struct idle *idle)
{
    struct idle_counter *counter = idle->sleepers;
    if (!counter)
        return;
    idle->sleepers = counter->next;
    counter->sleeps = false;
    pthread_cond_signal(&counter->wake);
}

void idle_wake_all(struct idle *idle)
{
    pthread_mutex_lock(&idle->lock);
    idle->news++;
    while (idle->sleepers)
        wake_one(idle);
    pthread_mutex_unlock(&idle->lock);
}

/* Under the lock. */
static void sleep_until_woken(struct idle *idle, struct idle_counter *counter)
{
    counter->sleeps = true;
    counter->next = idle->sleepers;
    idle->sleepers = counter;
    while (counter->sleeps)
        pthread_cond_wait(&counter->wake, &idle->lock);
}

/* Under the lock. */
static void set_counts(struct idle *idle, struct idle_counter *counter, bool counts)
{
    idle->count += counts;
    idle->count -= counter->counts;
    counter->counts = counts;
}

/* Takes a task off the list, to which `link` points. Under the lock. */
static void unlink_task(struct idle *idle, struct task **link)
{
    struct task *task = *link;
    *link = task->next;
    if (!task->next)
        idle->last_task = link;
}

/* Runs the oldest task, without the lock, under which it is called. False: there is none. */
static bool run_task(struct idle *idle)
{
    struct task *task = idle->tasks;
    if (!task)
        return false;
    unlink_task(idle, &idle->tasks);
    pthread_mutex_unlock(&idle->lock);
    task->run(task);
    pthread_mutex_lock(&idle->lock);
    return true;
}

/* Takes the chunk that was donated last; NULL: there is none. Under the lock. */
static struct chunk *acquire_donated(struct idle *idle)
{
    if (idle->donated_count == 0)
        return NULL;
    idle->taken_count++;
    return idle->donated[--idle->donated_count];
}

struct chunk *idle_wait(struct idle *idle, struct idle_counter *counter, uint64_t ticket)
{
    pthread_mutex_lock(&idle->lock);
    set_counts(idle, counter, true);
    while (idle->donated_count == 0 && idle->news == ticket)
        if (!run_task(idle))
            sleep_until_woken(idle, counter);
    struct chunk *donated = acquire_donated(idle);
    set_counts(idle, counter, donated != NULL);
    pthread_mutex_unlock(&idle->lock);
    return donated;
}

bool idle_is_pending(struct idle *idle)
{
    pthread_mutex_lock(&idle->lock);
    bool pending = idle->donated_count > 0;
    pthread_mutex_unlock(&idle->lock);
    return pending;
}

void idle_leave(struct idle *idle, struct idle_counter *counter)
{
    if (!counter->counts) /* written by this worker's thread alone */
        return;
    pthread_mutex_lock(&idle->lock);
    set_counts(idle, counter, false);
    pthread_mutex_unlock(&idle->lock);
}

bool idle_donate(struct idle *idle, struct chunk *chunk)
{
    pthread_mutex_lock(&idle->lock);
    bool donated = idle->count > 0 && idle->donated_count < DONATED_MAX;
    if (donated)
        idle->donated[idle->donated_count++] = chunk;
    if (donated && idle->donated_count >= DONATED_MAX / 2)
        wake_one(idle);
    pthread_mutex_unlock(&idle->lock);
    return donated;
}

struct chunk *idle_acquire(struct idle *idle)
{
    pthread_mutex_lock(&idle->lock);
    struct chunk *donated = acquire_donated(idle);
    pthread_mutex_unlock(&idle->lock);
    return donated;
}

void idle_counted(struct idle *idle)
{
    pthread_mutex_lock(&idle->lock);
    idle->taken_count--;
    pthread_mutex_unlock(&idle->lock);
}

bool idle_has_donated(struct idle *idle)
{
    pthread_mutex_lock(&idle->lock);
    const bool has = idle->donated_count + idle->taken_count > 0;
    pthread_mutex_unlock(&idle->lock);
    return has;
}

void idle_offer(struct idle *idle, struct task *task)
{
    pthread_mutex_lock(&idle->lock);
    task->next = NULL;
    *idle->last_task = task;
    idle->last_task = &task->next;
    wake_one(idle);
    pthread_mutex_unlock(&idle->lock);
}

bool idle_reclaim(struct idle *idle, struct task *task)
{
    pthread_mutex_lock(&idle->lock);
    struct task **link = &idle->tasks;
    while (*link && *link != task)
        link = &(*link)->next;
    const bool is_there = *link;
    if (is_there)
        unlink_task(idle, link);
    pthread_mutex_unlock(&idle->lock);
    return is_there;
}

void idle_hurry(struct idle *idle)
{
    pthread_mutex_lock(&idle->lock);
    for (unsigned i = 0; i < idle->donated_count; i++)
        wake_one(idle);
    pthread_mutex_unlock(&idle->lock);
}
