/* SPDX-License-Identifier: MIT */
#include "pieces.h"
#include "src/schedule/policy.h"

/* Of content to compressed bytes, as long as it is not known. */
#define CONTENT_RATIO 3

/* --- the end of a file --- */

/* All workers have left: parks the file, which goes on behind what was chained. If the codec's own
 * decoder must decode some of that again, it skips what was counted. 0, or -1: the run has failed.
 */
static int end(struct worker *worker, struct pieces *pieces)
{
    struct source *source = pieces->source;
    struct file *file = pieces->file;
    const bool has_failed = pieces->has_failed;
    if (!pieces->is_stopped)
        pieces->restart = pieces->format->restart(pieces);
    const struct piece_restart *at = &pieces->restart;
    const uint64_t read = at->offset - file->input.frames.pending.offset;
    const bool goes_on = !pieces->is_stopped && read > 0;
    remaining_add_read(source, file, (int64_t)read - pieces->read, 0);
    frames_seek(&file->input.frames, at->offset);
    file->content = at->position;
    file->skip = pieces->position - at->position;
    file->is_alone = file->skip > 0 || !(goes_on || pieces->is_enough);
    source_remove_pieces(source, file, !has_failed);
    if (has_failed)
        source_leave(source, file);
    const size_t memory = pieces->memory;
    pthread_mutex_destroy(&pieces->lock);
    pieces->format->close(pieces);
    decode_memory_release_shared(source, memory);
    decode_memory_end(worker);
    return has_failed ? -1 : 0;
}

/* Begins a job. */
static void enter(struct worker *worker, struct pieces *pieces)
{
    work_queue_leave(&pieces->source->queue, &worker->waiter);
    pthread_mutex_lock(&pieces->lock);
    worker->scratch = pieces->scratch[--pieces->scratch_count];
    pthread_mutex_unlock(&pieces->lock);
}

/* Ends a job. 0, or -1: the run has failed. */
static int leave(struct worker *worker, struct pieces *pieces)
{
    pthread_mutex_lock(&pieces->lock);
    pieces->scratch[pieces->scratch_count++] = worker->scratch;
    worker->scratch = NULL;
    const bool is_last = --pieces->users == 0, has_failed = pieces->has_failed;
    pthread_mutex_unlock(&pieces->lock);
    const int rc = is_last ? end(worker, pieces) : 0;
    return has_failed ? -1 : rc;
}

/* --- in file order; called under the lock, which is released meanwhile --- */

static struct piece *slot_of(const struct pieces *pieces, uint64_t number)
{
    return pieces->slots[number % pieces->count];
}

static void stop(struct pieces *pieces, struct piece_restart restart)
{
    if (!pieces->is_stopped || pieces->is_enough || restart.offset < pieces->restart.offset)
        pieces->restart = restart;
    pieces->is_stopped = true;
    pieces->is_enough = false;
}

/* Offers the job that counts a piece, once it may be counted. */
static void offer_count(struct pieces *pieces, struct piece *piece)
{
    if (piece->state != PIECE_CHAINED ||
        (pieces->in_order && slot_of(pieces, pieces->retired) != piece))
        return;
    piece->state = PIECE_COUNTING;
    pieces->users++;
    work_queue_offer(&pieces->source->queue, &piece->job);
}

/* Offers the job that takes a piece, if there is one to be taken and a slot for it. */
static void offer(struct pieces *pieces)
{
    if (pieces->is_offered || pieces->is_stopped || pieces->has_failed || pieces->has_all ||
        pieces->next - pieces->retired == pieces->count)
        return;
    pieces->is_offered = true;
    pieces->users++;
    work_queue_offer(&pieces->source->queue, &pieces->job);
}

/* Retires the next piece, which was counted. */
static void retire(struct pieces *pieces)
{
    struct piece *piece = slot_of(pieces, pieces->retired);
    struct piece_restart restart;
    pthread_mutex_unlock(&pieces->lock);
    const bool is_right = pieces->format->retire(pieces, piece, &restart);
    pthread_mutex_lock(&pieces->lock);
    if (!is_right) {
        stop(pieces, restart);
        if (!content_is_partial(&pieces->file->input.plan.range))
            pieces->file->is_wrong = true; /* unless the codec's decoder refuses it */
    }
    pieces->read += (int64_t)piece->compressed;
    remaining_add_read(pieces->source, pieces->file, (int64_t)piece->compressed, piece->content);
    piece->state = PIECE_FREE;
    pieces->retired++;
}

/* The content of a piece was counted, or it has none. Whoever finishes a piece chains what can be
 * after it. */
static void finish(struct pieces *pieces, struct piece *piece)
{
    piece->state = PIECE_DONE;
    if (pieces->is_retiring)
        return; /* somebody else goes on */
    pieces->is_retiring = true;
    while (pieces->retired < pieces->chained &&
           slot_of(pieces, pieces->retired)->state == PIECE_DONE) {
        retire(pieces);
        offer(pieces);
    }
    pieces->is_retiring = false;
    if (pieces->in_order && pieces->retired < pieces->chained)
        offer_count(pieces, slot_of(pieces, pieces->retired));
}

/* Chains the next piece, which is prepared. False: not yet. *counts: the caller is to count it. */
static bool chain(struct worker *worker, struct pieces *pieces, bool at_once, bool *counts)
{
    struct piece *piece = slot_of(pieces, pieces->chained);
    const bool is_next = pieces->retired == pieces->chained;
    pieces->is_chaining = true;
    *counts = false;
    pthread_mutex_unlock(&pieces->lock);
    const enum piece_chained chained =
        pieces->format->chain(worker, pieces, piece, at_once, is_next);
    pthread_mutex_lock(&pieces->lock);
    pieces->is_chaining = false;
    if (chained == PIECE_LATER) {
        piece->state = PIECE_PREPARED;
        return pieces->retired == pieces->chained; /* by now it can be */
    }
    pieces->chained++;
    if (chained == PIECE_STOP)
        stop(pieces, pieces->format->restart(pieces));
    else if (chained == PIECE_ENOUGH && !pieces->is_stopped) {
        pieces->restart = (struct piece_restart){pieces->end, pieces->position};
        pieces->is_stopped = pieces->is_enough = true;
    }
    *counts = at_once && piece->has_content;
    piece->state = *counts ? PIECE_COUNTING : PIECE_CHAINED;
    if (!piece->has_content)
        finish(pieces, piece);
    else
        offer_count(pieces, piece);
    return true;
}

/* Chains all pieces that can be. */
static void chain_all(struct worker *worker, struct pieces *pieces)
{
    bool none;
    while (!pieces->is_chaining && !pieces->is_stopped && pieces->chained < pieces->next &&
           slot_of(pieces, pieces->chained)->state == PIECE_PREPARED &&
           chain(worker, pieces, false, &none))
        ;
}

/* --- jobs --- */

/* Counts a piece that is chained. 0, or -1: the run has failed. */
static int count(struct worker *worker, struct pieces *pieces, struct piece *piece, bool at_once)
{
    const bool fails = pieces->format->count(worker, pieces, piece, at_once) != 0;
    pthread_mutex_lock(&pieces->lock);
    pieces->has_failed |= fails;
    if (!pieces->has_failed) {
        finish(pieces, piece);
        chain_all(worker, pieces);
    }
    pthread_mutex_unlock(&pieces->lock);
    return fails ? -1 : 0;
}

/* Begins to work on a piece. False: the run has failed before that. */
static bool begin_work(struct worker *worker, struct pieces *pieces, const struct piece *piece)
{
    const bool begins = source_begin_work_at(worker, pieces->file, piece->offset);
    pthread_mutex_lock(&pieces->lock);
    pieces->has_failed |= !begins;
    const bool goes_on = !pieces->has_failed;
    pthread_mutex_unlock(&pieces->lock);
    return goes_on;
}

static int run_count(struct job *job, struct worker *worker)
{
    struct piece *piece = (struct piece *)job;
    struct pieces *pieces = piece->pieces;
    enter(worker, pieces);
    if (begin_work(worker, pieces, piece))
        (void)count(worker, pieces, piece, false);
    return leave(worker, pieces);
}

/* Prepares a piece, and chains what can be. */
static void prepare(struct worker *worker, struct pieces *pieces, struct piece *piece)
{
    bool counts = false;
    pieces->format->prepare(worker, pieces, piece);
    pthread_mutex_lock(&pieces->lock);
    const bool at_once = !pieces->is_chaining && !pieces->is_stopped &&
                         slot_of(pieces, pieces->chained) == piece &&
                         (!pieces->in_order || pieces->retired == pieces->chained);
    if (at_once) {
        (void)chain(worker, pieces, true, &counts);
    } else {
        pthread_mutex_unlock(&pieces->lock);
        pieces->format->map(worker, pieces, piece);
        pthread_mutex_lock(&pieces->lock);
        piece->state = PIECE_PREPARED;
    }
    chain_all(worker, pieces);
    pthread_mutex_unlock(&pieces->lock);
    if (counts)
        (void)count(worker, pieces, piece, true);
}

/* Takes the next piece, and lets others take those that follow. NULL: nothing more is to be taken.
 */
static struct piece *take(struct worker *worker, struct pieces *pieces)
{
    struct piece *piece = NULL;
    bool goes_on = false;
    pthread_mutex_lock(&pieces->lock);
    if (!pieces->is_stopped && !pieces->has_failed) {
        piece = slot_of(pieces, pieces->next);
        piece->job.owner = worker;
        piece->has_content = false;
        piece->content = 0;
        pthread_mutex_unlock(&pieces->lock);
        goes_on = pieces->format->cut(pieces, piece);
        pthread_mutex_lock(&pieces->lock);
        piece->state = PIECE_BEGUN;
        pieces->next++;
    }
    pieces->has_all = !goes_on;
    pieces->is_offered = false;
    offer(pieces);
    pthread_mutex_unlock(&pieces->lock);
    return piece;
}

static int run_piece(struct job *job, struct worker *worker)
{
    struct pieces *pieces = (struct pieces *)job;
    enter(worker, pieces);
    struct piece *piece = take(worker, pieces);
    if (piece && begin_work(worker, pieces, piece))
        prepare(worker, pieces, piece);
    return leave(worker, pieces);
}

/* --- the beginning of a file --- */

/* Returns the format of a file; NULL: it is not decoded in pieces. Those of zstd take as long on 16
 * cores as parallel_decoder.h, and more processor time, so tests alone ask for them. */
static const struct piece_format *find_format(const struct codec *codec, size_t piece_size)
{
#if HAVE_ISAL
    if (codec == &codec_gzip)
        return &piece_format_gzip;
#endif
    return codec == &codec_zstd && piece_size > 0 ? &piece_format_zstd : NULL;
}

/* True if the file is to be decoded in pieces: it is large, and all of it is there to be read. */
static bool pays(const struct extent *extent, unsigned workers)
{
    const struct file *file = extent->file;
    const struct input *input = &file->input;
    const struct shard_edges *edges = &input->plan.edges;
    struct source *source = extent->worker->source;
    const uint64_t begin = input->frames.pending.offset, end = input->bytes.opened_size;
    if (!input->bytes.regular || input->bytes.may_be_short || file->skip > 0 || file->is_alone ||
        edges->next < edges->file_end || begin >= end)
        return false;
    if (source->options.piece_size > 0)
        return workers > 1;
    const double content = (double)(end - begin) * CONTENT_RATIO,
                 wanted = (double)content_left(&input->plan.range, file->content, SIZE_MAX);
    const struct frame_offer offer = {.compressed = (double)(end - begin),
                                      .content = content < wanted ? content : wanted,
                                      .workers_max = workers,
                                      .taken = source_taken(source, file),
                                      .rest = (double)source_rest(source)};
    return policy_helps(&offer);
}

static int run_jobs(struct extent *extent)
{
    return runner_run_jobs(extent->worker);
}

int pieces_acquire(struct extent *extent)
{
    struct worker *worker = extent->worker;
    struct source *source = worker->source;
    struct file *file = extent->file;
    const unsigned workers = worker->sink->workers ? worker->sink->workers(worker->sink->arg) : 1;
    const struct piece_format *format =
        find_format(file->input.frames.codec, source->options.piece_size);
    if (!format || !pays(extent, workers))
        return 0;
    decode_memory_release(worker, 0);
    struct pieces *pieces = format->open(worker, file, workers);
    if (!pieces)
        return 0;
    pieces->format = format;
    pieces->end = file->input.bytes.opened_size;
    pieces->job = (struct job){.run = run_piece, .kind = JOB_PIECE};
    pieces->source = source;
    pieces->file = file;
    pieces->position = file->content;
    pieces->in_order = file->in_stream;
    for (unsigned i = 0; i < pieces->count; i++) {
        pieces->slots[i]->job = (struct job){.run = run_count, .kind = JOB_REST};
        pieces->slots[i]->pieces = pieces;
    }
    pthread_mutex_init(&pieces->lock, NULL);
    source_add_pieces(source, file);
    decode_memory_begin(worker);
    source_set_current(source, NULL);
    pthread_mutex_lock(&pieces->lock);
    offer(pieces);
    pthread_mutex_unlock(&pieces->lock);
    extent->run = run_jobs;
    return 1;
}
