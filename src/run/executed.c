/* SPDX-License-Identifier: MIT */
#include "executed.h"

static void give_back(struct lent *lent)
{
    struct piece *piece = (struct piece *)lent;
    struct executed *executed = piece->executed;
    pthread_mutex_lock(&executed->lock);
    piece->data = NULL;
    pthread_cond_signal(&executed->changed);
    pthread_mutex_unlock(&executed->lock);
}

/* --- hashing --- */

/* Hashes the pieces that are there, in order. Called under the lock, which is released
 * meanwhile. */
static void hash_all(struct executed *executed)
{
    struct piece *piece;
    while ((piece = executed->first) != NULL) {
        pthread_mutex_unlock(&executed->lock);
        executed->format->hash(executed->stream, piece->data, piece->len);
        pthread_mutex_lock(&executed->lock);
        executed->first = piece->next;
        piece->data = NULL;
    }
    executed->last = &executed->first;
    executed->is_hashing = false;
    pthread_cond_signal(&executed->changed);
}

static void run_task(struct task *task)
{
    struct executed *executed = (struct executed *)task;
    pthread_mutex_lock(&executed->lock);
    hash_all(executed);
    pthread_mutex_unlock(&executed->lock);
}

/* Hashes pieces that nobody else has begun to hash. True if there were some. */
static bool hash_here(struct executed *executed)
{
    if (!work_queue_reclaim(executed->queue, &executed->task))
        return false;
    run_task(&executed->task);
    return true;
}

void executed_await_hash(struct executed *executed)
{
    if (hash_here(executed))
        return;
    pthread_mutex_lock(&executed->lock);
    while (executed->is_hashing)
        pthread_cond_wait(&executed->changed, &executed->lock);
    pthread_mutex_unlock(&executed->lock);
}

/* --- pieces --- */

/* Returns a piece that is now in use; NULL: all are. Under the lock. */
static struct piece *use_piece(struct executed *executed, const unsigned char *data, size_t len)
{
    for (size_t i = 0; i < PIECES_MAX; i++) {
        struct piece *piece = &executed->pieces[i];
        if (piece->data)
            continue;
        piece->data = data;
        piece->len = len;
        piece->next = NULL;
        return piece;
    }
    return NULL;
}

/* Offers appended content to be hashed. False: too much is waiting already. */
static bool offer_hash(struct executed *executed, const unsigned char *data, size_t len)
{
    pthread_mutex_lock(&executed->lock);
    struct piece *piece = use_piece(executed, data, len);
    const bool is_new = piece && !executed->is_hashing;
    if (piece) {
        *executed->last = piece;
        executed->last = &piece->next;
        executed->is_hashing = true;
    }
    pthread_mutex_unlock(&executed->lock);
    if (is_new)
        work_queue_offer(executed->queue, &executed->task);
    return piece != NULL;
}

/* True if nobody needs the bytes that a run would overwrite. */
static bool has_room(struct executed *executed, const struct parsed_run *run)
{
    bool has = true;
    pthread_mutex_lock(&executed->lock);
    for (size_t i = 0; i < PIECES_MAX; i++) {
        const struct piece *piece = &executed->pieces[i];
        has &= !piece->data ||
               !window_overwrites(&executed->window, run->content, piece->data, piece->len);
    }
    pthread_mutex_unlock(&executed->lock);
    return has;
}

enum appended executed_append(struct executed *executed, const struct block_loops *loops,
                              const struct parsed_run *run, const unsigned char **data)
{
    const bool hashes = run->content > 0 && executed->format->hashes(executed->stream);
    while (run->content > 0 && !has_room(executed, run)) /* without, there may be very many */
        if (!hash_here(executed))
            return APPEND_LATER;
    *data = window_append(&executed->window, loops, run);
    if (!*data)
        return APPEND_WRONG;
    if (hashes && !offer_hash(executed, *data, run->content)) {
        executed_await_hash(executed);
        executed->format->hash(executed->stream, *data, run->content);
    }
    return APPENDED;
}

struct lent *executed_lend(struct executed *executed, const unsigned char *data, size_t len)
{
    pthread_mutex_lock(&executed->lock);
    struct piece *piece = use_piece(executed, data, len);
    pthread_mutex_unlock(&executed->lock);
    return piece ? &piece->lent : NULL;
}

/* True if a piece is in use. Under the lock. */
static bool is_used(const struct executed *executed)
{
    bool used = false;
    for (size_t i = 0; i < PIECES_MAX; i++)
        used |= executed->pieces[i].data != NULL;
    return used;
}

bool executed_is_lent(struct executed *executed)
{
    pthread_mutex_lock(&executed->lock);
    const bool is_lent = is_used(executed);
    pthread_mutex_unlock(&executed->lock);
    return is_lent;
}

void executed_await(struct executed *executed)
{
    pthread_mutex_lock(&executed->lock);
    if (is_used(executed))
        pthread_cond_wait(&executed->changed, &executed->lock);
    pthread_mutex_unlock(&executed->lock);
}

/* --- opening and closing --- */

void executed_open(struct executed *executed)
{
    executed->task.run = run_task;
    executed->last = &executed->first;
    for (size_t i = 0; i < PIECES_MAX; i++)
        executed->pieces[i] = (struct piece){.lent = {give_back}, .executed = executed};
    pthread_mutex_init(&executed->lock, NULL);
    pthread_cond_init(&executed->changed, NULL);
}

void executed_close(struct executed *executed)
{
    window_close(&executed->window);
    pthread_cond_destroy(&executed->changed);
    pthread_mutex_destroy(&executed->lock);
}
