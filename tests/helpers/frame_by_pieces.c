/* SPDX-License-Identifier: MIT */
#include "tests/helpers/frame_by_pieces.h"

#include "tests/helpers/frame_by_blocks.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"

#include <pthread.h>
#include <string.h>

#define SLOTS_MAX 16
#define CONTENT_LIMIT ((size_t)1 << 30)

enum state { FREE, CUT, PARSED, LISTED, CHAINED, EXECUTED };

enum step { STEP_CUT, STEP_PARSE, STEP_LIST, STEP_CHAIN, STEP_EXECUTE, STEP_FINISH, STEPS };

/* A frame that is being decoded. All is guarded by the lock, except what a step works on. */
struct decoding {
    const struct by_pieces *by;
    const unsigned char *in;
    size_t len, at; /* bytes of the input, and how many were cut */
    unsigned char *out;
    size_t out_size;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum state states[SLOTS_MAX];
    bool is_taken[SLOTS_MAX];
    size_t begins[SLOTS_MAX];        /* of the content of pieces, in the frame's */
    uint64_t cut, chained, finished; /* pieces */
    bool is_cut, is_wrong;
    unsigned running;
};

struct by_pieces by_pieces_random(const struct block_loops *loops)
{
    return (struct by_pieces){.loops = loops,
                              .slots = 2 + random_below(SLOTS_MAX - 1),
                              .content = 1000 + random_below(random_below(2) ? 300000 : 3000),
                              .tail = 32 + random_below(random_below(2) ? 100000 : 1000),
                              .threads = 1,
                              .portion = 1 + random_below(random_below(3) ? 300000 : 100),
                              .verifies = true,
                              .is_file = random_below(2)};
}

static bool can(const struct decoding *decoding, enum step step, uint64_t i)
{
    const unsigned slot = (unsigned)(i % decoding->by->slots);
    const enum state state = decoding->states[slot];
    switch (step) {
    case STEP_CUT:
        return !decoding->is_cut && i == decoding->cut &&
               i < decoding->finished + decoding->by->slots;
    case STEP_PARSE:
        return i < decoding->cut && state == CUT;
    case STEP_LIST:
        return i < decoding->cut && state == PARSED;
    case STEP_CHAIN:
        return i < decoding->cut && (state == PARSED || state == LISTED) && i == decoding->chained;
    case STEP_EXECUTE:
        return i < decoding->chained && state == CHAINED;
    default:
        return i < decoding->chained && state == EXECUTED && i == decoding->finished;
    }
}

/* Chooses a step that can be taken, with the lock. False: there is none. */
static bool choose(const struct decoding *decoding, enum step *step, uint64_t *i)
{
    unsigned found = 0;
    for (uint64_t k = decoding->finished; k <= decoding->cut; k++)
        for (int s = 0; s < STEPS; s++)
            if (!decoding->is_taken[k % decoding->by->slots] && can(decoding, (enum step)s, k) &&
                random_below(++found) == 0) {
                *step = (enum step)s;
                *i = k;
            }
    return found > 0;
}

/* Cuts a portion, or ends a piece before its time. */
static bool cut_some(struct decoding *decoding, size_t portion, bool is_short, bool in_place)
{
    struct zstd_pieces *pieces = decoding->by->pieces;
    const unsigned char *in = decoding->in + decoding->at, *rest;
    const size_t left = decoding->len - decoding->at;
    size_t used, rest_len, space;
    if (is_short && zstd_pieces_cut_short(pieces, &rest, &rest_len)) {
        decoding->at -= rest_len;
        if (memcmp(rest, decoding->in + decoding->at, rest_len) != 0)
            abort();
        return true;
    }
    portion = portion < left ? portion : left;
    if (in_place) {
        unsigned char *to = zstd_pieces_space(pieces, &space);
        portion = portion < space ? portion : space;
        memcpy(to, in, portion);
        in = to;
    }
    const enum walked cut = zstd_pieces_cut(pieces, in, portion, &used);
    decoding->at += used;
    if (cut == WALKED_ALL && used != portion)
        abort();
    return cut != WALKED_WRONG && (cut != WALKED_ALL || left > 0);
}

/* Makes blocks of five bytes as large as they may be: a byte, repeated. */
static void enlarge(const struct zstd_run *run)
{
    for (unsigned i = 0; i < run->count; i++)
        if (run->blocks[i].size == 5)
            memcpy(run->in + run->blocks[i].at, "\x0d\0\x20x", 5);
}

/* Cuts a piece of a file. */
static bool cut_of_file(struct decoding *decoding)
{
    const struct by_pieces *by = decoding->by;
    const struct memory_reader memory = {
        {memory_reader_read}, decoding->in + decoding->at, decoding->len - decoding->at};
    const struct zstd_run *run = &zstd_piece_at(by->pieces, by->pieces->cut)->run;
    size_t len;
    if (zstd_pieces_skim(by->pieces, &memory.reader, &len) != WALKED_RUN || len > memory.len)
        return false;
    memcpy(run->in, memory.in, run->len);
    decoding->at += len;
    if (by->changes)
        enlarge(run);
    return true;
}

/* Copies content that is complete, and compares what stands before. */
static bool finish(struct decoding *decoding, uint64_t i)
{
    const struct zstd_piece *piece = zstd_piece_at(decoding->by->pieces, i);
    const size_t begin = decoding->begins[i % decoding->by->slots];
    if (piece->before_len > begin ||
        memcmp(piece->content - piece->before_len, decoding->out + begin - piece->before_len,
               piece->before_len) != 0)
        abort();
    memcpy(decoding->out + begin, piece->content, piece->len);
    return zstd_pieces_verify(decoding->by->pieces, piece);
}

/* Returns the bytes of the frame's content before a piece that is chained next. */
static size_t content_before(const struct by_pieces *by, uint64_t i)
{
    return zstd_piece_at(by->pieces, i)->is_first ? 0 : (size_t)by->pieces->content;
}

/* Takes a step, without the lock. False: it needs the fallback. */
static bool take(struct decoding *decoding, enum step step, uint64_t i, unsigned chance,
                 struct zstd_list_scratch *scratch, bool *is_complete)
{
    const struct by_pieces *by = decoding->by;
    struct zstd_piece *piece = zstd_piece_at(by->pieces, i);
    enum zstd_chained chained;
    uint32_t complete;
    bool is_right;
    *is_complete = true;
    switch (step) {
    case STEP_CUT:
        if (by->is_file)
            return cut_of_file(decoding);
        is_right = cut_some(decoding, 1 + chance % by->portion, chance % 7 == 0, chance % 2 == 0);
        *is_complete = by->pieces->cut > i;
        return is_right;
    case STEP_PARSE:
        return zstd_piece_parse(piece, by->loops);
    case STEP_LIST:
        zstd_piece_list(by->pieces, piece, scratch);
        return true;
    case STEP_CHAIN:
        decoding->begins[i % by->slots] = content_before(by, i);
        chained = zstd_pieces_chain(by->pieces);
        *is_complete = chained != ZSTD_CHAIN_LATER;
        return chained != ZSTD_CHAIN_FALLBACK;
    case STEP_EXECUTE:
        is_right = zstd_piece_execute(piece, by->loops, 1 + chance % 100000, &complete);
        *is_complete = !is_right || complete == piece->len;
        return is_right;
    default:
        return finish(decoding, i);
    }
}

/* Makes room for the content of a piece that is to be chained, which nobody copies meanwhile. */
static bool make_room(struct decoding *decoding, uint64_t i)
{
    const struct by_pieces *by = decoding->by;
    const size_t size = content_before(by, i) + zstd_piece_at(by->pieces, i)->run.parsed.content;
    if (size > CONTENT_LIMIT)
        return false;
    if (size >= decoding->out_size) { /* also for none */
        decoding->out_size = size * 2 + 1;
        decoding->out = need(realloc(decoding->out, decoding->out_size));
    }
    return true;
}

static void after(struct decoding *decoding, enum step step, uint64_t i)
{
    static const enum state states[] = {CUT, PARSED, LISTED, CHAINED, EXECUTED, FREE};
    decoding->states[i % decoding->by->slots] = states[step];
    if (step == STEP_CUT)
        decoding->is_cut = zstd_piece_at(decoding->by->pieces, decoding->cut++)->run.is_last;
    decoding->chained += step == STEP_CHAIN;
    decoding->finished += step == STEP_FINISH;
}

static bool is_over(const struct decoding *decoding)
{
    return decoding->is_wrong || (decoding->is_cut && decoding->finished == decoding->cut);
}

static void *work(void *arg)
{
    struct decoding *decoding = arg;
    struct zstd_list_scratch scratch;
    enum step step = STEP_CUT;
    uint64_t i = 0;
    bool is_complete;
    if (zstd_list_scratch_open(&scratch, &decoding->by->pieces->plan) != 0)
        abort();
    pthread_mutex_lock(&decoding->lock);
    while (!is_over(decoding)) {
        if (!choose(decoding, &step, &i)) {
            if (decoding->running == 0)
                abort(); /* nobody can go on */
            pthread_cond_wait(&decoding->changed, &decoding->lock);
            continue;
        }
        const unsigned slot = (unsigned)(i % decoding->by->slots), chance = random_below(1u << 31);
        decoding->is_taken[slot] = true;
        decoding->running++;
        /* The output moves when it grows: a thread that copies to it holds the lock. */
        const bool is_locked = step == STEP_FINISH;
        bool is_right = step != STEP_CHAIN || make_room(decoding, i);
        if (!is_locked)
            pthread_mutex_unlock(&decoding->lock);
        is_right = is_right && take(decoding, step, i, chance, &scratch, &is_complete);
        if (!is_locked)
            pthread_mutex_lock(&decoding->lock);
        if (is_right && is_complete)
            after(decoding, step, i);
        decoding->is_wrong |= !is_right;
        decoding->is_taken[slot] = false;
        decoding->running--;
        pthread_cond_broadcast(&decoding->changed);
    }
    pthread_cond_broadcast(&decoding->changed);
    pthread_mutex_unlock(&decoding->lock);
    zstd_list_scratch_close(&scratch);
    return NULL;
}

/* Begins a frame: one that follows another one in its memory, if the plan is for both. */
static void begin(const struct by_pieces *by, const struct zstd_frame_header *header)
{
    const uint32_t window = (uint32_t)header->window;
    const struct zstd_piece_plan plan = {.slots = by->slots,
                                         .begins = by->threads,
                                         .content = by->content,
                                         .tail = window > by->tail ? window : by->tail,
                                         .makes_lists = true};
    if (by->pieces->opened > 0 && zstd_pieces_begin_frame(by->pieces, header))
        return;
    zstd_pieces_close(by->pieces);
    if (zstd_pieces_open(by->pieces, &plan, header, by->loops, by->verifies) != 0)
        abort();
}

/* Returns the bytes of the frame, or 0: it needs the fallback. */
static size_t decode_frame(struct decoding *decoding, const struct zstd_frame_header *header)
{
    const struct by_pieces *by = decoding->by;
    struct zstd_walk walk;
    pthread_t threads[16];
    if (!zstd_walk_begin(&walk, header))
        return 0;
    begin(by, header);
    decoding->at = header->size;
    decoding->cut = decoding->chained = decoding->finished = by->pieces->cut;
    for (unsigned i = 1; i < by->threads; i++)
        if (pthread_create(&threads[i], NULL, work, decoding) != 0)
            abort();
    work(decoding);
    for (unsigned i = 1; i < by->threads; i++)
        pthread_join(threads[i], NULL);
    return decoding->is_wrong ? 0 : decoding->at;
}

/* Decodes frames until one needs the fallback. True if none does. */
static bool decode_all(const struct by_pieces *by, const unsigned char *in, size_t len,
                       unsigned char **content, size_t *size)
{
    for (size_t at = 0; at < len;) {
        struct decoding decoding = {.by = by,
                                    .in = in + at,
                                    .len = len - at,
                                    .lock = PTHREAD_MUTEX_INITIALIZER,
                                    .changed = PTHREAD_COND_INITIALIZER};
        struct zstd_frame_header header;
        if (zstd_parse_frame(in + at, len - at, &header) != ZSTD_PARSED ||
            header.skipped > len - at - header.size)
            return false;
        if (header.is_skippable) {
            at += (size_t)(header.size + header.skipped);
            continue;
        }
        const size_t some = decode_frame(&decoding, &header);
        if (some > 0) {
            const size_t more = (size_t)by->pieces->content;
            *content = need(realloc(*content, *size + more + 1));
            if (more > 0)
                memcpy(*content + *size, decoding.out, more);
            *size += more;
        }
        free(decoding.out);
        if (some == 0)
            return false;
        at += some;
    }
    return true;
}

bool frame_by_pieces(const struct by_pieces *by, const unsigned char *in, size_t len,
                     unsigned char **content, size_t *size)
{
    struct zstd_pieces pieces = {.pieces = NULL};
    struct by_pieces own = *by;
    own.pieces = &pieces;
    *content = need(malloc(1));
    *size = 0;
    const bool is_right = decode_all(&own, in, len, content, size);
    zstd_pieces_close(&pieces);
    return is_right;
}
