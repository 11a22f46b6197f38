/* SPDX-License-Identifier: MIT */
#include "parse_queue.h"

#include <stdlib.h>

static void parse(struct parse_slot *slot)
{
    struct parse_queue *queue = slot->queue;
    queue->format->run_parse(slot->run, queue->loops);
    pthread_mutex_lock(&queue->lock);
    slot->is_parsed = true;
    pthread_cond_signal(&queue->parsed);
    pthread_mutex_unlock(&queue->lock);
}

static int run_job(struct job *job, struct worker *worker)
{
    (void)worker;
    parse((struct parse_slot *)job);
    return 0;
}

/* Opens the next slot. False: out of memory. */
static bool open_slot(struct parse_queue *queue)
{
    void *run = calloc(1, queue->format->run_size);
    if (!run || queue->format->run_open(run, queue->loops) != 0) {
        free(run);
        return false;
    }
    queue->slots[queue->count++] =
        (struct parse_slot){.job = {.run = run_job, .kind = JOB_PIECE}, .queue = queue, .run = run};
    return true;
}

int parse_queue_open(struct parse_queue *queue, unsigned count)
{
    queue->slots = calloc(count, sizeof *queue->slots);
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->parsed, NULL);
    while (queue->slots && queue->count < count && open_slot(queue))
        ;
    if (queue->count == count)
        return 0;
    parse_queue_close(queue);
    return -1;
}

void parse_queue_close(struct parse_queue *queue)
{
    while (queue->count > 0) {
        void *run = queue->slots[--queue->count].run;
        queue->format->run_close(run);
        free(run);
    }
    free(queue->slots);
    pthread_cond_destroy(&queue->parsed);
    pthread_mutex_destroy(&queue->lock);
}

/* Returns the i-th slot from the first one on. */
static struct parse_slot *slot_at(const struct parse_queue *queue, unsigned i)
{
    return &queue->slots[(queue->first + i) % queue->count];
}

void *parse_queue_next(const struct parse_queue *queue)
{
    return queue->used < queue->count ? slot_at(queue, queue->used)->run : NULL;
}

void parse_queue_push(struct parse_queue *queue)
{
    struct parse_slot *slot = slot_at(queue, queue->used++);
    slot->is_parsed = false; /* nobody else has it yet */
    work_queue_offer(queue->queue, &slot->job);
}

/* Takes back the first run that nobody has begun to parse; NULL: there is none. */
static struct parse_slot *reclaim(struct parse_queue *queue)
{
    for (unsigned i = 0; i < queue->used; i++)
        if (work_queue_reclaim(queue->queue, &slot_at(queue, i)->job))
            return slot_at(queue, i);
    return NULL;
}

static bool is_parsed(struct parse_queue *queue, const struct parse_slot *slot)
{
    pthread_mutex_lock(&queue->lock);
    const bool parsed = slot->is_parsed;
    pthread_mutex_unlock(&queue->lock);
    return parsed;
}

static void await(struct parse_queue *queue, const struct parse_slot *slot)
{
    pthread_mutex_lock(&queue->lock);
    while (!slot->is_parsed)
        pthread_cond_wait(&queue->parsed, &queue->lock);
    pthread_mutex_unlock(&queue->lock);
}

const void *parse_queue_first(struct parse_queue *queue)
{
    if (queue->used == 0)
        return NULL;
    struct parse_slot *first = slot_at(queue, 0), *mine;
    while (!is_parsed(queue, first) && (mine = reclaim(queue)))
        parse(mine);
    await(queue, first);
    return first->run;
}

void parse_queue_pop(struct parse_queue *queue)
{
    queue->first = (queue->first + 1) % queue->count;
    queue->used--;
}

void parse_queue_clear(struct parse_queue *queue)
{
    for (; queue->used > 0; parse_queue_pop(queue)) {
        struct parse_slot *first = slot_at(queue, 0);
        if (!work_queue_reclaim(queue->queue, &first->job))
            await(queue, first);
    }
}
