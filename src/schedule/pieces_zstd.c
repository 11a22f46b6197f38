/* SPDX-License-Identifier: MIT */
/* The pieces of zstd frames, by the steps of src/parallel/zstd_piece.h. The window behind a piece
 * is all that the next one needs of it. So whoever prepares a piece lists what that window is made
 * of; in file order only the list and the window are executed, and all the rest by whoever counts
 * the piece. Frames that are worth it follow each other; what comes after them is left to whoever
 * has the file next. */
#include "pieces.h"
#include "src/parallel/zstd_piece.h"

#include <stdlib.h>

/* Bytes of a stream that are read at a time. What is read of the next piece is moved to that. */
#define PORTION ((size_t)256 << 10)

/* Content that is executed and counted at a time: a cache has it. */
#define STRIDE ((uint32_t)256 << 10)

struct zstd_slot {
    struct piece piece; /* first */
    struct zstd_piece *own;
    uint64_t blocks; /* of a regular file, the byte with which its blocks begin */
    bool is_wrong;   /* libzstd decodes the frame: */
    bool is_cut;     /* the input ends in it */
};

struct zstd_file {
    struct pieces pieces; /* first */
    struct zstd_pieces frames;
    unsigned workers;
    uint64_t at;               /* byte of the file that is cut next: */
    const unsigned char *rest; /* of a stream: so many bytes from there on were read, */
    size_t rest_len;           /* and lie in the slot of the last piece */
    size_t header;             /* bytes of the header that stands there; 0: none does */
    /* Where a frame is begun anew: that which is chained, and that which is retired. */
    struct piece_restart begin, unverified;
};

/* --- opening and closing --- */

static void close_file(struct pieces *pieces)
{
    struct zstd_file *all = (struct zstd_file *)pieces;
    zstd_pieces_close(&all->frames);
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
        opens = scratch && zstd_list_scratch_open(scratch, plan) == 0;
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

/* Plans the pieces of a frame within so much memory. False: it is left to libzstd. */
static bool plan_pieces(struct zstd_piece_plan *plan, const struct source *source,
                        const struct zstd_frame_header *header, unsigned workers, size_t memory)
{
    const size_t asked = source->options.piece_size;
    return zstd_piece_plan(plan, header, workers, memory, asked == PIECES_OF_ALL ? 0 : asked);
}

/* The same, and reserves the memory: half as much each time it is short. */
static bool reserve(struct zstd_piece_plan *plan, struct source *source,
                    const struct zstd_frame_header *header, unsigned workers)
{
    size_t memory = decode_memory_max(workers) / 4 * 3; /* other files need some, too */
    if (!plan_pieces(plan, source, header, workers, memory))
        memory = DECODE_MEMORY_PIECES; /* for a wide window */
    for (; plan_pieces(plan, source, header, workers, memory); memory /= 2)
        if (decode_memory_reserve_shared(source, plan->memory, workers))
            return true;
    return false;
}

/* Reads the header of a frame. False: there is none, or such a frame is not decoded in pieces. */
static bool read_header(struct zstd_frame_header *header, const unsigned char *data, size_t len,
                        const struct codec_options *decoding)
{
    struct zstd_walk unused;
    return zstd_parse_frame(data, len, header) == ZSTD_PARSED && zstd_walk_begin(&unused, header) &&
           header->window <= zstd_window_max(decoding->memlimit);
}

static struct pieces *open_file(struct worker *worker, struct file *file, unsigned workers)
{
    struct source *source = worker->source;
    const struct codec_options *decoding = &source->options.decoding;
    const struct frame_batch *pending = &file->input.frames.pending;
    struct zstd_frame_header header;
    struct zstd_piece_plan plan;
    if (!read_header(&header, pending->data, pending->len, decoding) ||
        !reserve(&plan, source, &header, workers))
        return NULL;
    struct zstd_file *all = calloc(1, sizeof *all);
    if (all && open_slots(&all->pieces, &plan, workers) &&
        zstd_pieces_open(&all->frames, &plan, &header, block_loops_find(decoding->instructions),
                         !decoding->no_check) == 0) {
        all->workers = workers;
        all->at = pending->offset;
        all->header = header.size;
        all->pieces.ahead = pending->data + header.size;
        all->pieces.ahead_len = pending->len - header.size;
        all->pieces.memory = plan.memory;
        return &all->pieces;
    }
    if (all)
        close_file(&all->pieces);
    decode_memory_release_shared(source, plan.memory);
    return NULL;
}

/* --- steps --- */

/* Reads bytes of a stream for the next piece. Returns how many; 0: the stream ends, or does for
 * now, and then the piece ends with its last whole block. */
static size_t read_more(struct zstd_file *all, bool *is_short)
{
    struct pieces *pieces = &all->pieces;
    size_t space;
    unsigned char *to = zstd_pieces_space(&all->frames, &space);
    const size_t cap = space < PORTION ? space : PORTION;
    ssize_t got = pieces_read(pieces, to, cap, false);
    *is_short =
        got == PIECES_DRY && zstd_pieces_cut_short(&all->frames, &all->rest, &all->rest_len);
    if (got == PIECES_DRY && !*is_short)
        got = pieces_read(pieces, to, cap, true);
    if (got <= 0)
        return 0;
    all->rest = to;
    all->rest_len = (size_t)got;
    return (size_t)got;
}

/* Goes on with the frame that follows, if that is worth it. */
static bool begin_frame(struct zstd_file *all)
{
    const struct pieces *pieces = &all->pieces;
    const struct source *source = pieces->source;
    const bool is_regular = !pieces_are_of_stream(pieces);
    unsigned char head[ZSTD_FRAME_HEADER_MAX];
    struct frame_batch next = {
        .data = (unsigned char *)all->rest, .len = all->rest_len, .offset = all->at};
    struct zstd_frame_header header;
    struct zstd_piece_plan plan;
    struct error unused;
    if (is_regular) {
        const ssize_t got =
            bytes_read_at(&pieces->file->input.bytes, head, sizeof head, all->at, &unused);
        next.data = head;
        next.len = got > 0 ? (size_t)got : 0;
    }
    if (all->at >= pieces->end ||
        !read_header(&header, next.data, next.len, &source->options.decoding) ||
        !plan_pieces(&plan, source, &header, all->workers, all->frames.plan.memory) ||
        plan.content / 2 > all->frames.plan.content /* it is worth more memory */ ||
        !pieces_pay_on(pieces, all->workers, &next) ||
        !zstd_pieces_begin_frame(&all->frames, &header))
        return false;
    all->header = header.size;
    return true;
}

/* Cuts the next piece of a stream. */
static bool cut_stream(struct zstd_file *all, struct zstd_slot *slot)
{
    enum walked result;
    bool is_short = false;
    if (all->rest_len > 0) {
        all->rest += all->header;
        all->rest_len -= all->header;
    }
    do {
        size_t used;
        result = zstd_pieces_cut(&all->frames, all->rest, all->rest_len, &used);
        all->rest += used;
        all->rest_len -= used;
        all->at += used;
    } while (result == WALKED_ALL && read_more(all, &is_short) > 0);
    if (is_short) {
        result = WALKED_RUN;
        all->at -= all->rest_len; /* the beginning of a block, which is moved to the next piece */
    }
    slot->is_cut = result == WALKED_ALL;
    return result == WALKED_RUN;
}

struct file_reader {
    struct zstd_reader reader; /* first */
    const struct bytes *bytes;
    uint64_t begin; /* of the run */
};

static size_t read_file(const struct zstd_reader *reader, unsigned char *to, size_t len, size_t at)
{
    const struct file_reader *file = (const struct file_reader *)reader;
    struct error unused; /* libzstd meets it again */
    const ssize_t got = bytes_read_at(file->bytes, to, len, file->begin + at, &unused);
    return got > 0 ? (size_t)got : 0;
}

/* Cuts the next piece of a regular file, which whoever prepares it reads: one thread that read all
 * would be what the others wait for. */
static bool cut_file(struct zstd_file *all, struct zstd_slot *slot)
{
    const struct file_reader file = {{read_file}, &all->pieces.file->input.bytes, all->at};
    size_t len;
    const enum walked result = zstd_pieces_skim(&all->frames, &file.reader, &len);
    slot->blocks = all->at;
    all->at += len;
    return result == WALKED_RUN;
}

static bool cut(struct pieces *pieces, struct piece *piece)
{
    struct zstd_file *all = (struct zstd_file *)pieces;
    struct zstd_slot *slot = (struct zstd_slot *)piece;
    piece->offset = all->at;
    slot->own = zstd_piece_at(&all->frames, all->frames.cut);
    all->at += all->header;
    slot->is_wrong = !(pieces_are_of_stream(pieces) ? cut_stream(all, slot) : cut_file(all, slot));
    all->header = 0;
    piece->compressed = (size_t)(all->at - piece->offset);
    return !slot->is_wrong && (!slot->own->run.is_last || begin_frame(all));
}

static void prepare(struct worker *worker, struct pieces *pieces, struct piece *piece)
{
    const struct zstd_file *all = (struct zstd_file *)pieces;
    struct zstd_slot *slot = (struct zstd_slot *)piece;
    struct zstd_run *run = &slot->own->run;
    struct error unused; /* libzstd meets it again */
    (void)worker;
    if (!slot->is_wrong && !pieces_are_of_stream(pieces))
        slot->is_wrong = bytes_read_at(&pieces->file->input.bytes, run->in, run->len, slot->blocks,
                                       &unused) != (ssize_t)run->len;
    slot->is_wrong = slot->is_wrong || !zstd_piece_parse(slot->own, all->frames.loops);
}

/* Lists what must be executed in order. */
static void map(struct worker *worker, struct pieces *pieces, struct piece *piece, bool is_behind)
{
    const struct zstd_file *all = (struct zstd_file *)pieces;
    struct zstd_slot *slot = (struct zstd_slot *)piece;
    if (!slot->is_wrong && is_behind && all->frames.plan.makes_lists)
        zstd_piece_list(&all->frames, slot->own, worker->scratch);
}

static enum piece_chained chain(struct worker *worker, struct pieces *pieces, struct piece *piece,
                                bool at_once, bool is_next)
{
    struct zstd_file *all = (struct zstd_file *)pieces;
    struct zstd_slot *slot = (struct zstd_slot *)piece;
    (void)worker;
    (void)at_once;
    (void)is_next;
    if (slot->own->is_first)
        all->begin = (struct piece_restart){piece->offset, pieces->position, false};
    all->begin.is_cut = slot->is_cut;
    const enum zstd_chained chained =
        slot->is_wrong ? ZSTD_CHAIN_FALLBACK : zstd_pieces_chain(&all->frames);
    if (chained == ZSTD_CHAIN_LATER)
        return PIECE_LATER;
    slot->is_wrong = chained == ZSTD_CHAIN_FALLBACK;
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
    struct segment counting;
    uint32_t done = 0, complete = 0;
    int rc = piece_count_begin(&counting, worker, pieces->file, piece->segment, piece->position);
    (void)at_once;
    if (rc != 0)
        return -1;
    while (rc == 0 && done < own->len) {
        slot->is_wrong =
            complete < own->len && !zstd_piece_execute(own, all->frames.loops, STRIDE, &complete);
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
    if (slot->own->is_first)
        all->unverified = (struct piece_restart){piece->offset, piece->position, false};
    *restart = all->unverified;
    if (slot->is_wrong) {
        pieces->file->is_wrong |= piece->has_content; /* some of it may not have been counted */
        return !piece->has_content;
    }
    if (!piece->has_content && slot->own->len > 0)
        return true; /* the range has ended before it */
    return zstd_pieces_verify(&all->frames, slot->own);
}

static struct piece_restart restart(const struct pieces *pieces, bool at_end)
{
    const struct zstd_file *all = (const struct zstd_file *)pieces;
    return at_end ? (struct piece_restart){all->at, pieces->position, false} : all->begin;
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
