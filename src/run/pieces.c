/* SPDX-License-Identifier: MIT */
#include "pieces.h"
#include "src/policy/policy.h"

#include <string.h>

/* Slots of the ring, beside two for each worker. */
#define SLOTS_MORE 2

/* Of content to compressed bytes, as long as it is not known. */
#define CONTENT_RATIO 3

/* The fewest bytes that are counted where they are, without a copy. */
#define BORROWED_MIN ((size_t)16 << 10)

/* --- counting --- */

static void give_back(struct borrowed *borrowed)
{
    (void)borrowed; /* it was counted by the thread that lent it */
}

int piece_count_begin(struct piece_counting *counting, struct worker *worker, struct file *file,
                      uint64_t segment, uint64_t position)
{
    struct extent *extent = &counting->extent;
    *counting = (struct piece_counting){.extent = {.worker = worker, .file = file},
                                        .borrowed = {give_back}};
    if (file->in_stream) {
        extent->segment =
            (struct segment){.records = &file->input.records, .at = file->at, .begin = position};
        return 0;
    }
    return segment_begin_at(extent, segment, position, 0) == 0
               ? 0
               : source_fail_for_memory(worker, file);
}

/* True if the chunk, which begins with `waited` bytes, may have content where it is. */
static bool may_borrow(const struct extent *extent, const struct chunk *chunk, size_t waited,
                       const unsigned char *data, size_t len, size_t before)
{
    const struct segment *segment = &extent->segment;
    return chunk->may_borrow && len >= BORROWED_MIN && !segment_is_stream(extent) &&
           !segment->records->too_long && (!segment->span || segment->span->has_boundary) &&
           waited <= before && (waited == 0 || memcmp(data - waited, chunk->data, waited) == 0);
}

/* Gives the next bytes to a chunk. Returns how many. */
static size_t fill(struct piece_counting *counting, struct chunk *chunk, size_t waited,
                   const unsigned char *data, size_t len, size_t before)
{
    const size_t limit = source_fill_limit(&counting->extent.file->input, chunk, waited);
    const size_t some = len < limit - waited ? len : limit - waited;
    if (may_borrow(&counting->extent, chunk, waited, data, some, before)) {
        chunk->borrowed = &counting->borrowed;
        chunk->data = (unsigned char *)data - waited; /* which nobody writes to */
    } else if (some > 0) {
        memcpy(chunk->data + waited, data, some);
    }
    chunk->len = waited + some;
    return some;
}

/* Counts some of data[0..len) by one chunk, which ends a segment or the file if `end` says so and
 * it has all of that. Returns how much, or -1: the run has failed. */
static ssize_t count_chunk(struct piece_counting *counting, const unsigned char *data, size_t len,
                           size_t before, enum chunk_end end)
{
    struct extent *extent = &counting->extent;
    struct chunk *chunk = runner_choose(extent->worker, FLOW_DECODED);
    if (!chunk)
        return -1;
    const size_t waited = segment_begin_chunk(extent, chunk),
                 some = fill(counting, chunk, waited, data, len, before);
    const bool is_last = some == len;
    extent->segment.content += some;
    const int rc = segment_cut(extent, chunk, waited, is_last && end == ENDS_FILE);
    if (rc != 0)
        chunk->len = chunk->begin = chunk->origin.bytes = 0;
    chunk->origin.end = is_last ? end : ENDS_NOTHING;
    counting->is_ended |= is_last && end == ENDS_SEGMENT;
    chunk->give &= segment_is_stream(extent); /* otherwise every worker has content to count */
    return runner_push(extent->worker, chunk, FLOW_DECODED) == 0 && rc == 0 ? (ssize_t)some : -1;
}

int piece_count(struct piece_counting *counting, const unsigned char *data, size_t len,
                size_t before, bool is_last)
{
    struct extent *extent = &counting->extent;
    const struct content_range *range = &extent->file->input.plan.range;
    const uint64_t position = extent->segment.begin + extent->segment.content;
    const bool is_stream = segment_is_stream(extent);
    struct error fault;
    len = content_left(range, position, len);
    if (content_check(range, position + len, false, &fault) != 0)
        return source_fail_of(extent->worker, extent->file, fault.text);
    const uint64_t left_out = position < range->begin ? range->begin - position : 0;
    size_t done = left_out < len ? (size_t)left_out : len;
    extent->segment.content += done;
    while (done < len) {
        const ssize_t some = count_chunk(counting, data + done, len - done, before + done,
                                         is_last && !is_stream ? ENDS_SEGMENT : ENDS_NOTHING);
        if (some < 0)
            return -1;
        done += (size_t)some;
    }
    return 0;
}

int piece_count_end(struct piece_counting *counting)
{
    struct extent *extent = &counting->extent;
    if (segment_is_stream(extent)) {
        extent->file->at = extent->segment.at;
        return 0;
    }
    if (!counting->is_ended && count_chunk(counting, NULL, 0, 0, ENDS_SEGMENT) < 0)
        return -1;
    return segment_end(extent);
}

/* --- the end of a file --- */

/* Leaves the rest of the file to the codec's own decoder, which skips what was counted. */
static void leave_rest(struct pieces *pieces)
{
    struct file *file = pieces->file;
    const struct piece_restart *at = &pieces->restart;
    const uint64_t read = at->offset - file->input.frames.pending.offset;
    remaining_add_read(pieces->source, file, (int64_t)read - pieces->read, 0);
    frames_seek(&file->input.frames, at->offset);
    file->content = at->position;
    file->skip = pieces->position - at->position;
    file->is_alone = true;
}

/* Counts the last record of a file that is one stream. 0, or -1: the run has failed. */
static int end_stream(struct worker *worker, struct file *file)
{
    struct piece_counting counting;
    (void)piece_count_begin(&counting, worker, file, 0, file->content);
    return count_chunk(&counting, NULL, 0, 0, ENDS_FILE) < 0 ? -1 : 0;
}

/* All workers have left: ends the file. 0, or -1: the run has failed. */
static int end(struct worker *worker, struct pieces *pieces)
{
    struct source *source = pieces->source;
    struct file *file = pieces->file;
    uint64_t size = pieces->end;
    struct error unused;
    int rc = 0;
    if (!pieces->has_failed && !pieces->is_stopped &&
        (!pieces->format->is_complete(pieces) ||
         bytes_find_end(&file->input.bytes, &size, &unused) != 0 || size != pieces->end)) {
        pieces->is_stopped = true; /* it is cut short, or has grown */
        pieces->restart = pieces->format->restart(pieces);
    }
    const bool is_left = !pieces->has_failed && pieces->is_stopped && !pieces->is_enough;
    if (is_left)
        leave_rest(pieces);
    source_remove_pieces(source, file, is_left);
    if (pieces->has_failed) {
        source_leave(source, file);
        rc = -1;
    } else if (!is_left) {
        frames_seek(&file->input.frames, pieces->end);
        file->content = pieces->position;
        rc = pieces->in_order ? end_stream(worker, file) : 0;
        if (rc != 0)
            source_leave(source, file);
        else
            rc = serial_end_file(&(struct extent){.worker = worker, .file = file});
    }
    const size_t memory = pieces->memory;
    pieces->format->close(pieces);
    decode_memory_release_shared(source, memory);
    decode_memory_end(worker);
    return rc;
}

/* Ends a job. 0, or -1: the run has failed. */
static int leave(struct worker *worker, struct pieces *pieces)
{
    pthread_mutex_lock(&pieces->lock);
    const bool is_last = --pieces->users == 0, has_failed = pieces->has_failed;
    pthread_mutex_unlock(&pieces->lock);
    const int rc = is_last ? end(worker, pieces) : 0;
    return has_failed ? -1 : rc;
}

bool pieces_go_on(const struct pieces *pieces)
{
    return content_left(&pieces->file->input.plan.range, pieces->position, 1) > 0;
}

bool pieces_are_beyond(const struct pieces *pieces)
{
    const uint64_t end = pieces->file->input.plan.range.end;
    return pieces->position > 0 && pieces->position - 1 > end;
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
    if (pieces->in_order && slot_of(pieces, pieces->retired) != piece)
        return;
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

/* The content of a piece was counted, or it has none. */
static void finish(struct pieces *pieces, struct piece *piece)
{
    piece->state = PIECE_DONE;
    while (pieces->retired < pieces->chained &&
           slot_of(pieces, pieces->retired)->state == PIECE_DONE) {
        struct piece *first = slot_of(pieces, pieces->retired++);
        struct piece_restart restart;
        first->state = PIECE_FREE;
        pieces->read += (int64_t)first->compressed;
        remaining_add_read(pieces->source, pieces->file, (int64_t)first->compressed,
                           first->content);
        if (!pieces->format->retire(pieces, first, &restart)) {
            stop(pieces, restart);
            if (!content_is_partial(&pieces->file->input.plan.range))
                pieces->file->wrong = WRONG_IN_BLOCKS; /* unless the codec's decoder refuses it */
        }
    }
    struct piece *next = slot_of(pieces, pieces->retired);
    if (pieces->in_order && pieces->retired < pieces->chained && next != piece &&
        next->state == PIECE_CHAINED)
        offer_count(pieces, next);
    offer(pieces);
}

/* Chains the next piece, which is prepared. False: not yet. */
static bool chain(struct worker *worker, struct pieces *pieces, bool at_once)
{
    struct piece *piece = slot_of(pieces, pieces->chained);
    const bool is_next = pieces->retired == pieces->chained;
    pieces->is_chaining = true;
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
    else if (chained == PIECE_ENOUGH && !pieces->is_stopped)
        pieces->is_stopped = pieces->is_enough = true;
    piece->state = PIECE_CHAINED;
    if (!piece->has_content)
        finish(pieces, piece);
    else if (!at_once)
        offer_count(pieces, piece);
    return true;
}

/* Chains all pieces that can be. */
static void chain_all(struct worker *worker, struct pieces *pieces)
{
    while (!pieces->is_chaining && !pieces->is_stopped && pieces->chained < pieces->next &&
           slot_of(pieces, pieces->chained)->state == PIECE_PREPARED &&
           chain(worker, pieces, false))
        ;
}

/* --- jobs --- */

/* Counts a piece that is chained. 0, or -1: the run has failed. */
static int count(struct worker *worker, struct pieces *pieces, struct piece *piece, bool at_once)
{
    const bool fails = pieces->format->count(worker, pieces, piece, at_once) != 0;
    pthread_mutex_lock(&pieces->lock);
    pieces->has_failed |= fails;
    if (!pieces->has_failed)
        finish(pieces, piece);
    if (!pieces->has_failed && pieces->in_order)
        chain_all(worker, pieces); /* what waited for this piece */
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
    work_queue_leave(&pieces->source->queue, &worker->waiter);
    if (begin_work(worker, pieces, piece))
        (void)count(worker, pieces, piece, false);
    return leave(worker, pieces);
}

/* Prepares a piece, and chains what can be. */
static void prepare(struct worker *worker, struct pieces *pieces, struct piece *piece)
{
    pieces->format->prepare(worker, pieces, piece);
    pthread_mutex_lock(&pieces->lock);
    const bool at_once = !pieces->is_chaining && !pieces->is_stopped &&
                         slot_of(pieces, pieces->chained) == piece &&
                         (!pieces->in_order || pieces->retired == pieces->chained);
    if (!at_once) {
        pthread_mutex_unlock(&pieces->lock);
        pieces->format->map(worker, pieces, piece);
        pthread_mutex_lock(&pieces->lock);
        piece->state = PIECE_PREPARED;
    } else {
        (void)chain(worker, pieces, true);
    }
    const bool counts = at_once && piece->state == PIECE_CHAINED;
    chain_all(worker, pieces);
    pthread_mutex_unlock(&pieces->lock);
    if (counts)
        (void)count(worker, pieces, piece, true);
}

/* Takes the next piece. NULL: nothing more is to be taken. */
static struct piece *take(struct worker *worker, struct pieces *pieces)
{
    struct piece *piece = NULL;
    pthread_mutex_lock(&pieces->lock);
    pieces->is_offered = false;
    if (!pieces->is_stopped && !pieces->has_failed) {
        piece = slot_of(pieces, pieces->next++);
        piece->state = PIECE_BEGUN;
        piece->job.owner = worker;
        piece->has_content = false;
        piece->content = 0;
        pieces->has_all = !pieces->format->cut(pieces, piece);
        offer(pieces);
    }
    pthread_mutex_unlock(&pieces->lock);
    return piece;
}

static int run_piece(struct job *job, struct worker *worker)
{
    struct pieces *pieces = (struct pieces *)job;
    work_queue_leave(&pieces->source->queue, &worker->waiter);
    struct piece *piece = take(worker, pieces);
    if (piece && begin_work(worker, pieces, piece))
        prepare(worker, pieces, piece);
    return leave(worker, pieces);
}

/* --- the beginning of a file --- */

/* Returns the format of a codec; NULL: it is not decoded in pieces. */
static const struct piece_format *find_format(const struct codec *codec)
{
#if HAVE_ISAL
    if (codec == &codec_gzip)
        return &piece_format_gzip;
#endif
    (void)codec;
    return NULL;
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
    const struct piece_format *format = find_format(file->input.frames.codec);
    if (!format || !pays(extent, workers))
        return 0;
    decode_memory_release(worker, 0);
    struct pieces *pieces =
        format->open(worker, file, file->input.frames.pending.offset, 2 * workers + SLOTS_MORE);
    if (!pieces)
        return 0;
    pieces->format = format;
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
