/* SPDX-License-Identifier: MIT */
#include "pieces.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Of content to compressed bytes, as long as it is not known. */
#define CONTENT_RATIO 3

/* Bytes of a stream that must have come at once before it is decoded in pieces: more where the
 * frame does not state that it is worth that. */
#define GATHERED_STATED ((size_t)1 << 20)
#define GATHERED_MAX ((size_t)13 << 19)

/* A file is as large as another one if it has so much of its compressed bytes. */
#define AS_LARGE 0.75

/* With PIECES_OF_ALL, smaller frames are not decoded in pieces all the same. */
#define SMALL_FRAME (64 << 10)

/* Milliseconds to wait for a stream before a piece is cut that is shorter than it could be. */
#define HURRY_MS 10

/* How often it is looked, while a stream is waited for, whether it is still wanted. */
#define WANTED_MS 50

/* --- reading a stream --- */

/* Drops what is kept before what may be begun anew; and of a frame or member that is too long all
 * but its end. */
static void limit_kept(struct pieces *pieces)
{
    struct bytes *bytes = &pieces->file->input.bytes;
    pthread_mutex_lock(&pieces->lock);
    const uint64_t anew = pieces->anew;
    const uint64_t counted = /* or it is the piece that is cut now */
        pieces->slots[pieces->retired % pieces->count]->offset;
    pthread_mutex_unlock(&pieces->lock);
    window_drop(&bytes->window, anew);
    const bool is_kept = bytes->window.begin <= anew; /* if not, it was too long before */
    if (is_kept && bytes->taken - bytes->window.begin <= PIECES_KEPT_MAX)
        return;
    const uint64_t ahead = bytes->taken > PIECES_KEPT_AHEAD ? bytes->taken - PIECES_KEPT_AHEAD : 0;
    window_drop(&bytes->window, counted < ahead ? counted : ahead);
}

/* False: the range that is counted has ended, say, or the run has failed. */
static bool is_wanted(struct pieces *pieces)
{
    pthread_mutex_lock(&pieces->lock);
    const bool is_wanted = !pieces->is_stopped && !pieces->has_failed;
    pthread_mutex_unlock(&pieces->lock);
    return is_wanted;
}

ssize_t pieces_read(struct pieces *pieces, unsigned char *to, size_t cap, bool patient)
{
    struct bytes *bytes = &pieces->file->input.bytes;
    if (pieces->ahead_len > 0) {
        const size_t some = cap < pieces->ahead_len ? cap : pieces->ahead_len;
        memcpy(to, pieces->ahead, some);
        pieces->ahead += some;
        pieces->ahead_len -= some;
        return (ssize_t)some;
    }
    if (!patient && !bytes_ready(bytes, HURRY_MS))
        return PIECES_DRY;
    while (!bytes_ready(bytes, WANTED_MS))
        if (!is_wanted(pieces))
            return 0;
    const ssize_t got = bytes_read(bytes, to, cap, &pieces->fault);
    limit_kept(pieces);
    return got < 0 ? 0 : got;
}

/* --- the end of a file --- */

/* Has a stream read again from where it is to be begun anew. 0, or -1: that is not kept, so nobody
 * can say what is wrong, and the run has failed. */
static int rewind_stream(struct worker *worker, struct pieces *pieces)
{
    struct file *file = pieces->file;
    struct bytes *bytes = &file->input.bytes;
    const struct piece_restart *at = &pieces->restart;
    if (bytes_rewind(bytes, at->offset) == 0)
        return 0;
    if (*pieces->fault.text)
        return source_fail(worker, &pieces->fault);
    if (bytes->has_lost)
        return source_fail_for_memory(worker, file);
    if (at->is_cut)
        return source_fail_truncated(worker, file, bytes_end(bytes));
    return source_fail_of(worker, file,
                          "corrupt %s data, at byte %" PRIu64
                          "; the pipe cannot be read again to find out more, so use --threads=1",
                          file->input.frames.codec->name, at->offset);
}

/* All workers have left: parks the file, which goes on behind what was chained. If the codec's own
 * decoder must decode some of that again, it skips what was counted. 0, or -1: the run has failed.
 */
static int end(struct worker *worker, struct pieces *pieces)
{
    struct source *source = pieces->source;
    struct file *file = pieces->file;
    struct piece_restart *at = &pieces->restart;
    struct file **link = &source->in_pieces;
    const size_t memory = pieces->memory;
    bool has_failed = pieces->has_failed;
    if (!pieces->is_stopped) {
        *at = pieces->format->restart(pieces, true);
        at->is_cut = true; /* unless it ends where the file does */
    }
    if (pieces->is_enough)
        *at = (struct piece_restart){bytes_end(&file->input.bytes), pieces->position, false};
    if (pieces_are_of_stream(pieces) && !has_failed) {
        (void)source_begin_work_at(worker, file->order, at->offset);
        has_failed = rewind_stream(worker, pieces) != 0;
    }
    const uint64_t read = at->offset - file->input.frames.pending.offset;
    const bool goes_on = !pieces->is_stopped && read > 0;
    remaining_add_read(source, file, (int64_t)read - pieces->read, 0);
    frames_seek(&file->input.frames, at->offset);
    file->content = at->position;
    file->skip = pieces->position - at->position;
    file->is_alone = file->skip > 0 || !(goes_on || pieces->is_enough);
    pthread_mutex_destroy(&pieces->lock);
    pieces->format->close(pieces);
    decode_memory_release_shared(source, memory); /* whoever takes the file next may need it */
    pthread_mutex_lock(&source->lock);
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    if (!has_failed) {
        file->next = source->parked;
        source->parked = file;
    }
    pthread_cond_broadcast(&source->wake);
    pthread_mutex_unlock(&source->lock);
    if (has_failed)
        source_leave(source, file);
    decode_memory_end(worker);
    return has_failed ? -1 : 0;
}

/* Begins a job. */
static void enter(struct worker *worker, struct pieces *pieces)
{
    work_queue_leave(worker);
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
    work_queue_offer(pieces->source, &piece->job);
}

/* Offers the job that takes a piece, if there is one to be taken and a slot for it. */
static void offer(struct pieces *pieces)
{
    if (pieces->is_offered || pieces->is_stopped || pieces->has_failed || pieces->has_all ||
        pieces->next - pieces->retired == pieces->count)
        return;
    pieces->is_offered = true;
    pieces->users++;
    work_queue_offer(pieces->source, &pieces->job);
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
    if (!pieces->is_stopped) /* otherwise at `restart` */
        pieces->anew = piece->anew;
    pieces->read += (int64_t)piece->compressed;
    remaining_add_read(pieces->source, pieces->file, (int64_t)piece->compressed, piece->content);
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
    piece->anew = pieces->format->restart(pieces, false).offset;
    pthread_mutex_lock(&pieces->lock);
    pieces->is_chaining = false;
    if (chained == PIECE_LATER) {
        piece->state = PIECE_PREPARED;
        return pieces->retired == pieces->chained; /* by now it can be */
    }
    pieces->chained++;
    if (chained == PIECE_STOP)
        stop(pieces, pieces->format->restart(pieces, false));
    else if (chained == PIECE_ENOUGH && !pieces->is_stopped)
        pieces->is_stopped = pieces->is_enough = true;
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

/* A piece was counted, or could not be: retires and chains what can be. */
static void counted(struct worker *worker, struct pieces *pieces, struct piece *piece, int rc)
{
    pthread_mutex_lock(&pieces->lock);
    pieces->has_failed |= rc != 0;
    if (!pieces->has_failed) {
        finish(pieces, piece);
        chain_all(worker, pieces);
    }
    pthread_mutex_unlock(&pieces->lock);
}

/* Begins to work on a piece. False: the run has failed before that. */
static bool begin_work(struct worker *worker, struct pieces *pieces, const struct piece *piece)
{
    const bool begins = source_begin_work_at(worker, pieces->file->order, piece->offset);
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
        counted(worker, pieces, piece, pieces->format->count(worker, pieces, piece, false));
    return leave(worker, pieces);
}

/* Takes the next piece, and lets others take those that follow. NULL: nothing more is to be taken.
 */
static struct piece *take(struct worker *worker, struct pieces *pieces)
{
    struct piece *piece = NULL;
    bool goes_on = false;
    pthread_mutex_lock(&pieces->lock);
    if (!pieces->is_stopped && !pieces->has_failed) {
        /* The slot that was free last: it may be in caches, and has memory. */
        struct piece **next = &pieces->slots[pieces->next % pieces->count],
                     **last = &pieces->slots[(pieces->retired + pieces->count - 1) % pieces->count];
        piece = *last;
        *last = *next;
        *next = piece;
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

/* True if whoever chains is at a piece before this one that had to wait, or one waits. */
static bool is_behind(const struct pieces *pieces, const struct piece *piece)
{
    uint64_t i = pieces->chained;
    while (slot_of(pieces, i) != piece && slot_of(pieces, i)->state != PIECE_PREPARED)
        i++;
    return pieces->is_chaining && slot_of(pieces, i) != piece;
}

/* Takes a piece, prepares it, chains what can be, and counts the piece if its turn has come. */
static int run_piece(struct job *job, struct worker *worker)
{
    struct pieces *pieces = (struct pieces *)job;
    bool counts = false;
    enter(worker, pieces);
    struct piece *piece = take(worker, pieces);
    if (!piece || !begin_work(worker, pieces, piece))
        return leave(worker, pieces);
    pieces->format->prepare(worker, pieces, piece);
    pthread_mutex_lock(&pieces->lock);
    if (!pieces->is_chaining && !pieces->is_stopped && slot_of(pieces, pieces->chained) == piece &&
        (!pieces->in_order || pieces->retired == pieces->chained)) {
        (void)chain(worker, pieces, true, &counts);
    } else {
        const bool waits = is_behind(pieces, piece);
        pthread_mutex_unlock(&pieces->lock);
        pieces->format->map(worker, pieces, piece, waits);
        pthread_mutex_lock(&pieces->lock);
        piece->state = PIECE_PREPARED;
    }
    chain_all(worker, pieces);
    pthread_mutex_unlock(&pieces->lock);
    if (counts)
        counted(worker, pieces, piece, pieces->format->count(worker, pieces, piece, true));
    return leave(worker, pieces);
}

/* --- the beginning of a file --- */

/* Returns how many workers have something else to decode, or will find a file other than this one
 * that is as large; no more than all of them. */
static unsigned count_others(struct source *source, const struct file *but, double compressed,
                             unsigned workers)
{
    pthread_mutex_lock(&source->lock);
    size_t others = source->memory.busy - source->memory.waiting;
    others += source->current && source->current != but;
    for (const struct file *parked = source->parked; parked; parked = parked->next)
        others++;
    for (size_t i = source->opened; i < source->count && others < workers; i++, others++)
        if (atomic_load(&source->remaining.is_shared) || /* GPUs may have them */
            (source->remaining.size > 0 &&               /* the longest file is the first one */
             (double)source->operands[i].size < compressed * AS_LARGE))
            break;
    pthread_mutex_unlock(&source->lock);
    return others < workers ? (unsigned)others : workers;
}

/* True if what begins with ahead->data is large enough, while others are decoded; the worker may
 * have it already, among those. *stated: the bytes of content that it states, or FRAME_UNSIZED. */
static bool pays(struct source *source, const struct file *file, const struct frame_batch *ahead,
                 unsigned workers, bool is_begun, uint64_t *stated)
{
    const struct input *input = &file->input;
    const struct codec *codec = input->frames.codec;
    const uint64_t end = input->bytes.regular ? input->bytes.opened_size : BYTES_MAX;
    struct codec_frame frame;
    double compressed = (double)(end - ahead->offset);
    const enum frame_extent known = codec->peek(ahead->data, ahead->len, &frame);
    if (!codec->is_chain && known == FRAME_WHOLE)
        compressed = (double)frame.size; /* those that follow may be small, too */
    double content = compressed * CONTENT_RATIO;
    if (!codec->is_chain && frame.content != FRAME_UNSIZED)
        content = (double)frame.content;
    struct remaining *remaining = &source->remaining;
    const double left = atomic_load(&remaining->is_shared)
                            ? (double)atomic_load(&remaining->left[false])
                            : (double)remaining->size - (double)atomic_load(&remaining->read);
    const double wanted = (double)content_left(&input->plan.range, file->content, SIZE_MAX);
    const unsigned others = count_others(source, file, compressed, workers);
    const struct frame_offer offer = {.compressed = compressed,
                                      .content = content < wanted ? content : wanted,
                                      .workers_max = workers,
                                      .others = others - (is_begun && others > 0),
                                      .rest = fmax(left, 0)};
    *stated = frame.content;
    if (source->options.piece_size > 0)
        return workers > 1 &&
               (source->options.piece_size != PIECES_OF_ALL || compressed >= SMALL_FRAME);
    return policy_helps(&offer);
}

bool pieces_pay_on(const struct pieces *pieces, unsigned workers, const struct frame_batch *next)
{
    const struct file *file = pieces->file;
    const struct frames *frames = &file->input.frames;
    struct codec_frame frame;
    struct frame_walk walk;
    struct error unused;
    uint64_t stated;
    if (pieces->source->options.piece_size == 0) { /* small ones are decoded a worker each */
        if (pieces_are_of_stream(pieces)) {
            if (next->len < FRAMES_SIZE_FIRST ||
                frames->codec->peek(next->data, next->len, &frame) == FRAME_WHOLE)
                return false;
        } else {
            const uint64_t left = pieces->end - next->offset;
            frame_walk_begin(&walk, frames->bytes, frames->codec, next->offset,
                             next->offset + (left < FRAMES_SIZE_MAX ? left : FRAMES_SIZE_MAX));
            if (frame_walk_next(&walk, &unused) == WALK_FRAME)
                return false;
        }
    }
    return pays(pieces->source, file, next, workers, true, &stated);
}

/* Reserves memory, and opens the pieces. NULL: memory is short, or it is not worth it. */
static struct pieces *open_pieces(struct extent *extent, const struct piece_format *format,
                                  unsigned workers)
{
    struct source *source = extent->worker->source;
    struct bytes *bytes = &extent->file->input.bytes;
    const struct frame_batch *pending = &extent->file->input.frames.pending;
    const size_t kept = bytes->regular ? 0 : GATHERED_MAX + (size_t)PIECES_KEPT_MAX;
    struct pieces *pieces = NULL;
    decode_memory_release(extent->worker, 0);
    if (!decode_memory_reserve_shared(source, kept, workers))
        return NULL;
    if (bytes->regular || bytes_keep(bytes, pending->data, pending->len, false) == 0)
        pieces = format->open(extent->worker, extent->file, workers);
    if (pieces) {
        pieces->memory += kept;
        return pieces;
    }
    if (!bytes->regular)
        bytes_keep_no_more(bytes);
    decode_memory_release_shared(source, kept);
    return NULL;
}

int pieces_acquire(struct extent *extent, const struct piece_format *format, bool is_current)
{
    struct worker *worker = extent->worker;
    struct source *source = worker->source;
    struct file *file = extent->file;
    struct input *input = &file->input;
    const unsigned workers = worker_max(worker);
    uint64_t stated;
    /* all of a file must be there to be read, or it is a stream */
    const bool may_begin =
        format && !input->bytes.may_be_short && file->skip == 0 && !file->is_alone &&
        (!input->bytes.regular || input->frames.pending.offset < input->bytes.opened_size);
    if (!may_begin || !pays(source, file, &input->frames.pending, workers, false, &stated))
        return 0;
    if (!input->bytes.regular) { /* which is too slow unless so much comes at once */
        const size_t wanted = stated == FRAME_UNSIZED ? GATHERED_MAX : GATHERED_STATED,
                     min = source->options.piece_size > 0 ? 1 : wanted;
        struct error error;
        const int gathered = frames_gather(&input->frames, &input->frames.pending, min, &error);
        if (gathered <= 0)
            return gathered < 0 ? source_fail(worker, &error) : 0;
    }
    struct pieces *pieces = open_pieces(extent, format, workers);
    if (!pieces)
        return 0;
    pieces->format = format;
    pieces->end = input->bytes.regular ? input->bytes.opened_size : UINT64_MAX;
    pieces->job = (struct job){.run = run_piece, .kind = JOB_PIECE};
    pieces->source = source;
    pieces->file = file;
    pieces->position = file->content;
    pieces->in_order = file->in_stream;
    pieces->anew = input->frames.pending.offset;
    for (unsigned i = 0; i < pieces->count; i++) {
        pieces->slots[i]->job = (struct job){.run = run_count, .kind = JOB_REST};
        pieces->slots[i]->pieces = pieces;
    }
    pthread_mutex_init(&pieces->lock, NULL);
    pthread_mutex_lock(&source->lock);
    file->next = source->in_pieces;
    source->in_pieces = file;
    pthread_mutex_unlock(&source->lock);
    if (is_current) /* before others can end it */
        source_set_current(source, NULL);
    decode_memory_begin(worker);
    pthread_mutex_lock(&pieces->lock);
    offer(pieces);
    pthread_mutex_unlock(&pieces->lock);
    if (worker->sink->call_for_help)
        worker->sink->call_for_help(worker->sink->arg);
    return 1;
}
