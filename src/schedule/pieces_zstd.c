/* SPDX-License-Identifier: MIT */
/* The pieces of one zstd frame, by the steps of src/parallel/zstd_piece.h. The window behind a
 * piece is all that the next one needs of it. So whoever prepares a piece lists what that window is
 * made of; in file order only the list and the window are executed, and all the rest by whoever
 * counts the piece. What follows the frame is left to whoever has the file next. */
#include "pieces.h"
#include "src/parallel/zstd_piece.h"

#include <limits.h>
#include <stdlib.h>

/* Bytes that are read at a time. What is read of the next piece is moved to that. */
#define PORTION ((size_t)256 << 10)

/* Content that is executed and counted at a time: a cache has it. */
#define STRIDE ((uint32_t)256 << 10)

struct zstd_slot {
    struct piece piece; /* first */
    struct zstd_piece *own;
    bool is_wrong; /* libzstd decodes the frame: */
    bool is_cut;   /* the input ends in it */
    bool is_last;
};

struct zstd_file {
    struct pieces pieces; /* first */
    struct zstd_pieces frame;
    struct piece_restart begin; /* of the frame */
    uint64_t at;                /* byte of the file that is cut next: */
    const unsigned char *rest;  /* so many bytes from there on were read, */
    size_t rest_len;            /* and lie in the slot of the last piece */
    bool is_whole;              /* all of the frame was retired, and it is as it states */
    bool is_cut;                /* all of it was chained that there is */
};

/* --- opening and closing --- */

static void close_file(struct pieces *pieces)
{
    struct zstd_file *all = (struct zstd_file *)pieces;
    zstd_pieces_close(&all->frame);
    for (unsigned i = 0; i < pieces->scratch_count; i++) {
        zstd_list_scratch_close(pieces->scratch[i]);
        free(pieces->scratch[i]);
    }
    for (unsigned i = 0; i < pieces->count; i++)
        free(pieces->slots[i]);
    free(pieces->scratch);
    free(pieces->slots);
    free(all);
}

/* Opens slots, and memory for lists for so many workers. False: out of memory. */
static bool open_slots(struct pieces *pieces, const struct zstd_piece_plan *plan, unsigned workers)
{
    pieces->scratch = calloc(workers, sizeof *pieces->scratch);
    pieces->slots = calloc(plan->slots, sizeof *pieces->slots);
    bool opens = pieces->scratch && pieces->slots;
    while (opens && pieces->scratch_count < workers) {
        struct zstd_list_scratch *scratch = calloc(1, sizeof *scratch);
        opens = scratch && zstd_piece_scratch_open(scratch, plan) == 0;
        if (scratch)
            pieces->scratch[pieces->scratch_count++] = scratch;
    }
    while (opens && pieces->count < plan->slots) {
        struct zstd_slot *slot = calloc(1, sizeof *slot);
        opens = slot != NULL;
        if (slot)
            pieces->slots[pieces->count++] = &slot->piece;
    }
    return opens;
}

/* True if libzstd takes a window: it counts them in powers of two. */
static bool is_within(uint64_t window, uint64_t limit)
{
    uint64_t max = 1;
    while (max <= limit / 2)
        max *= 2;
    return window <= max;
}

/* Plans the pieces of a frame, and reserves their memory: half as much each time it is short. 0: it
 * is left to libzstd. */
static size_t reserve(struct zstd_piece_plan *plan, struct source *source,
                      const struct zstd_frame_header *header, unsigned workers)
{
    const size_t piece_size = source->options.piece_size;
    size_t memory = decode_memory_max(workers);
    if (piece_size > 0 && piece_size != PIECES_OF_ALL) {
        zstd_piece_plan_small(plan, header, workers, piece_size);
        return decode_memory_reserve_shared(source, plan->memory, workers) ? plan->memory : 0;
    }
    if (!zstd_piece_plan(plan, header, workers, memory))
        memory = DECODE_MEMORY_PIECES; /* for a wide window */
    for (; zstd_piece_plan(plan, header, workers, memory); memory /= 2)
        if (decode_memory_reserve_shared(source, plan->memory, workers))
            return plan->memory;
    return 0;
}

static struct pieces *open_file(struct worker *worker, struct file *file, unsigned workers)
{
    struct source *source = worker->source;
    const struct codec_options *decoding = &source->options.decoding;
    const struct frame_batch *pending = &file->input.frames.pending;
    struct zstd_frame_header header;
    struct zstd_piece_plan plan;
    struct zstd_walk unused;
    if (zstd_parse_frame(pending->data, pending->len, &header) != ZSTD_PARSED ||
        !zstd_walk_begin(&unused, &header) || !is_within(header.window, decoding->memlimit))
        return NULL;
    struct zstd_file *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    const size_t memory = reserve(&plan, source, &header, workers);
    all->begin = (struct piece_restart){pending->offset, file->content, false};
    all->at = pending->offset + header.size;
    all->pieces.ahead = pending->data + header.size;
    all->pieces.ahead_len = pending->len - header.size;
    if (memory > 0 && open_slots(&all->pieces, &plan, workers) &&
        zstd_pieces_begin(&all->frame, &plan, &header, block_loops_find(decoding->instructions),
                          header.has_checksum && !decoding->no_check) == 0) {
        all->pieces.memory = memory;
        return &all->pieces;
    }
    decode_memory_release_shared(source, memory);
    close_file(&all->pieces);
    return NULL;
}

/* --- steps --- */

/* Reads bytes for the next piece. Returns how many; 0: the file ends, or a stream does for now, and
 * then the piece ends with its last whole block. */
static size_t read_more(struct zstd_file *all, bool *is_short)
{
    struct pieces *pieces = &all->pieces;
    struct error unused; /* libzstd meets it again */
    size_t space;
    unsigned char *to = zstd_pieces_space(&all->frame, &space);
    const size_t cap = space < PORTION ? space : PORTION;
    ssize_t got;
    if (!pieces_are_of_stream(pieces)) {
        got = bytes_read_at(&pieces->file->input.bytes, to, cap, all->at, &unused);
    } else {
        got = pieces_read(pieces, to, cap, false);
        *is_short =
            got == PIECES_DRY && zstd_pieces_cut_short(&all->frame, &all->rest, &all->rest_len);
        if (got == PIECES_DRY && !*is_short)
            got = pieces_read(pieces, to, cap, true);
    }
    if (got <= 0)
        return 0;
    all->rest = to;
    all->rest_len = (size_t)got;
    return (size_t)got;
}

static bool cut(struct pieces *pieces, struct piece *piece)
{
    struct zstd_file *all = (struct zstd_file *)pieces;
    struct zstd_slot *slot = (struct zstd_slot *)piece;
    enum zstd_cut result;
    bool is_short = false;
    piece->offset = all->at;
    slot->own = zstd_piece_at(&all->frame, all->frame.cut);
    do {
        size_t used;
        result = zstd_pieces_cut(&all->frame, all->rest, all->rest_len, &used);
        all->rest += used;
        all->rest_len -= used;
        all->at += used;
    } while (result == ZSTD_CUT_ALL && read_more(all, &is_short) > 0);
    if (is_short) {
        result = ZSTD_CUT_PIECE;
        all->at -= all->rest_len; /* the beginning of a block, which is moved to the next piece */
    }
    piece->compressed = (size_t)(all->at - piece->offset);
    slot->is_cut = result == ZSTD_CUT_ALL;
    slot->is_wrong = slot->is_cut || result == ZSTD_CUT_WRONG;
    slot->is_last = result == ZSTD_CUT_LAST;
    return result == ZSTD_CUT_PIECE;
}

static void prepare(struct worker *worker, struct pieces *pieces, struct piece *piece)
{
    const struct zstd_file *all = (struct zstd_file *)pieces;
    struct zstd_slot *slot = (struct zstd_slot *)piece;
    bool complete;
    (void)worker;
    slot->is_wrong =
        slot->is_wrong || !zstd_piece_parse(slot->own, all->frame.loops, UINT_MAX, &complete);
}

/* Lists what must be executed in order. */
static void map(struct worker *worker, struct pieces *pieces, struct piece *piece)
{
    const struct zstd_file *all = (struct zstd_file *)pieces;
    struct zstd_slot *slot = (struct zstd_slot *)piece;
    if (!slot->is_wrong && all->frame.plan.makes_lists)
        zstd_piece_list(&all->frame, slot->own, worker->scratch);
}

static enum piece_chained chain(struct worker *worker, struct pieces *pieces, struct piece *piece,
                                bool at_once, bool is_next)
{
    struct zstd_file *all = (struct zstd_file *)pieces;
    struct zstd_slot *slot = (struct zstd_slot *)piece;
    (void)worker;
    (void)at_once;
    (void)is_next;
    all->is_cut = slot->is_cut;
    slot->is_wrong = slot->is_wrong || !zstd_pieces_chain(&all->frame);
    if (slot->is_wrong)
        return PIECE_STOP;
    if (slot->own->len > 0 && !pieces_go_on(pieces))
        return PIECE_ENOUGH;
    piece->has_content = slot->own->len > 0;
    piece->content = slot->own->len;
    piece->segment = piece->has_content ? pieces_next_segment(pieces) : 0;
    piece->position = pieces->position;
    pieces->position += slot->own->len;
    return pieces_are_beyond(pieces) ? PIECE_ENOUGH : PIECE_ALL;
}

static int count(struct worker *worker, struct pieces *pieces, struct piece *piece, bool at_once)
{
    const struct zstd_file *all = (struct zstd_file *)pieces;
    struct zstd_slot *slot = (struct zstd_slot *)piece;
    struct zstd_piece *own = slot->own;
    struct piece_counting counting;
    uint32_t done = 0, complete = 0;
    int rc = piece_count_begin(&counting, worker, pieces->file, piece->segment, piece->position);
    (void)at_once;
    if (rc != 0)
        return -1;
    while (rc == 0 && done < own->len) {
        slot->is_wrong =
            complete < own->len && !zstd_piece_execute(own, all->frame.loops, STRIDE, &complete);
        if (slot->is_wrong)
            break;
        const uint32_t some = complete - done < 2 * STRIDE ? complete - done : STRIDE;
        rc = piece_count(&counting, own->content + done, some, own->before_len + done,
                         done + some == own->len);
        done += some;
    }
    return piece_count_end(&counting) == 0 ? rc : -1;
}

static bool retire(struct pieces *pieces, struct piece *piece, struct piece_restart *restart)
{
    struct zstd_file *all = (struct zstd_file *)pieces;
    const struct zstd_slot *slot = (struct zstd_slot *)piece;
    *restart = all->begin;
    if (slot->is_wrong) {
        pieces->file->is_wrong |= piece->has_content; /* some of it may not have been counted */
        return !piece->has_content;
    }
    if (!piece->has_content && slot->own->len > 0)
        return true; /* the range has ended before it */
    if (all->frame.verifies)
        zstd_pieces_hash(&all->frame, slot->own);
    if (slot->is_last)
        all->is_whole = zstd_pieces_are_as_stated(&all->frame);
    return !slot->is_last || all->is_whole;
}

static struct piece_restart restart(const struct pieces *pieces, bool at_end)
{
    (void)at_end;
    const struct zstd_file *all = (const struct zstd_file *)pieces;
    struct piece_restart begin = all->begin;
    begin.is_cut = all->is_cut;
    return all->is_whole ? (struct piece_restart){all->at, pieces->position, false} : begin;
}

const struct piece_format piece_format_zstd = {
    .open = open_file,
    .close = close_file,
    .cut = cut,
    .prepare = prepare,
    .map = map,
    .chain = chain,
    .count = count,
    .retire = retire,
    .restart = restart,
};
