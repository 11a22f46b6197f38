/* SPDX-License-Identifier: MIT */
#include "output_window.h"

static void give_back(struct borrowed *borrowed)
{
    struct piece *piece = (struct piece *)borrowed;
    struct output_window *output = piece->output;
    pthread_mutex_lock(&output->lock);
    piece->data = NULL;
    pthread_cond_signal(&output->changed);
    pthread_mutex_unlock(&output->lock);
}

/* --- hashing --- */

/* Hashes the pieces that are there, in order. Called under the lock, which is released
 * meanwhile. */
static void hash_all(struct output_window *output)
{
    struct piece *piece;
    while ((piece = output->first) != NULL) {
        pthread_mutex_unlock(&output->lock);
        output->format->hash(output->stream, piece->data, piece->len);
        pthread_mutex_lock(&output->lock);
        output->first = piece->next;
        piece->data = NULL;
    }
    output->last = &output->first;
    output->is_hashing = false;
    pthread_cond_signal(&output->changed);
}

static int run_job(struct job *job, struct worker *worker)
{
    struct output_window *output = (struct output_window *)job;
    (void)worker;
    pthread_mutex_lock(&output->lock);
    hash_all(output);
    pthread_mutex_unlock(&output->lock);
    return 0;
}

/* Hashes pieces that nobody else has begun to hash. True if there were some. */
static bool hash_here(struct output_window *output)
{
    if (!work_queue_reclaim(output->queue, &output->job))
        return false;
    (void)run_job(&output->job, NULL);
    return true;
}

void output_window_await_hash(struct output_window *output)
{
    if (hash_here(output))
        return;
    pthread_mutex_lock(&output->lock);
    while (output->is_hashing)
        pthread_cond_wait(&output->changed, &output->lock);
    pthread_mutex_unlock(&output->lock);
}

/* --- pieces --- */

/* Returns a piece that is now in use; NULL: all are. Under the lock. */
static struct piece *use_piece(struct output_window *output, const unsigned char *data, size_t len)
{
    for (size_t i = 0; i < PIECES_MAX; i++) {
        struct piece *piece = &output->pieces[i];
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
static bool offer_hash(struct output_window *output, const unsigned char *data, size_t len)
{
    pthread_mutex_lock(&output->lock);
    struct piece *piece = use_piece(output, data, len);
    const bool is_new = piece && !output->is_hashing;
    if (piece) {
        *output->last = piece;
        output->last = &piece->next;
        output->is_hashing = true;
    }
    pthread_mutex_unlock(&output->lock);
    if (is_new)
        work_queue_offer(output->queue, &output->job);
    return piece != NULL;
}

/* True if nobody needs the bytes that a run would overwrite. */
static bool has_room(struct output_window *output, const struct parsed_run *run)
{
    bool has = true;
    pthread_mutex_lock(&output->lock);
    for (size_t i = 0; i < PIECES_MAX; i++) {
        const struct piece *piece = &output->pieces[i];
        has &= !piece->data ||
               !window_overwrites(&output->window, run->content, piece->data, piece->len);
    }
    pthread_mutex_unlock(&output->lock);
    return has;
}

enum appended output_window_append(struct output_window *output, const struct block_loops *loops,
                                   const struct parsed_run *run, const unsigned char **data)
{
    const bool hashes = run->content > 0 && output->format->hashes(output->stream);
    while (run->content > 0 && !has_room(output, run)) /* without, there may be very many */
        if (!hash_here(output))
            return APPEND_LATER;
    *data = window_append(&output->window, loops, run);
    if (!*data)
        return APPEND_WRONG;
    if (hashes && !offer_hash(output, *data, run->content)) {
        output_window_await_hash(output);
        output->format->hash(output->stream, *data, run->content);
    }
    return APPENDED;
}

struct borrowed *output_window_lend(struct output_window *output, const unsigned char *data,
                                    size_t len)
{
    pthread_mutex_lock(&output->lock);
    struct piece *piece = use_piece(output, data, len);
    pthread_mutex_unlock(&output->lock);
    return piece ? &piece->borrowed : NULL;
}

/* True if a piece is in use. Under the lock. */
static bool is_used(const struct output_window *output)
{
    bool used = false;
    for (size_t i = 0; i < PIECES_MAX; i++)
        used |= output->pieces[i].data != NULL;
    return used;
}

bool output_window_is_borrowed(struct output_window *output)
{
    pthread_mutex_lock(&output->lock);
    const bool is_borrowed = is_used(output);
    pthread_mutex_unlock(&output->lock);
    return is_borrowed;
}

void output_window_await(struct output_window *output)
{
    pthread_mutex_lock(&output->lock);
    if (is_used(output))
        pthread_cond_wait(&output->changed, &output->lock);
    pthread_mutex_unlock(&output->lock);
}

/* --- opening and closing --- */

void output_window_open(struct output_window *output)
{
    output->job = (struct job){.run = run_job, .kind = JOB_PIECE};
    output->last = &output->first;
    for (size_t i = 0; i < PIECES_MAX; i++)
        output->pieces[i] = (struct piece){.borrowed = {give_back}, .output = output};
    pthread_mutex_init(&output->lock, NULL);
    pthread_cond_init(&output->changed, NULL);
}

void output_window_close(struct output_window *output)
{
    window_close(&output->window);
    pthread_cond_destroy(&output->changed);
    pthread_mutex_destroy(&output->lock);
}
