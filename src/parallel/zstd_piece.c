/* SPDX-License-Identifier: MIT */
#include "zstd_piece.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MIB ((size_t)1 << 20)

/* --- the plan --- */

/* Bytes that always stand before a piece, for records that end in it. */
#define BEFORE_MIN ((uint32_t)64 << 10)

/* With larger pieces less is executed in order, but they take more memory, which is new at first,
 * and there are fewer of them to share out. With lists they have two tails and more, but not less
 * than CONTENT_WITH_LISTS. */
#define CONTENT_BESIDE_TAILS (1 * MIB)
#define CONTENT_WITH_LISTS (4 * MIB)
#define CONTENT_WITHOUT (1 * MIB)
#define CONTENT_OF_FEW (8 * MIB) /* compressed bytes: beside it, making tables is cheap */

/* Lists take processor time; with fewer workers the chain is not what all wait for. */
#define LISTS_WORKERS_MIN 8
#define LISTS_SLOTS_MIN 6
/* With so many slots larger pieces gain more than further slots do, as the chain limits. */
#define LISTS_SLOTS_ENOUGH 18

/* Compressed bytes, literals, operations, and content of a piece, a byte of content. */
#define MEMORY_A_BYTE 3

static size_t memory_of(const struct zstd_piece_plan *plan, unsigned workers)
{
    const size_t content = plan->content, scratch = plan->makes_lists ? content / 2 : 0;
    return plan->slots * (MEMORY_A_BYTE * content + sizeof(struct zstd_piece)) + content +
           2 * (size_t)plan->tail + workers * scratch;
}

/* Returns how much of the content before a piece blocks can need. */
static uint64_t window_of(const struct zstd_frame_header *header)
{
    return header->content < header->window ? header->content : header->window;
}

static uint32_t tail_of(const struct zstd_frame_header *header)
{
    const uint64_t window = window_of(header);
    return window > BEFORE_MIN ? (uint32_t)window : BEFORE_MIN;
}

/* Makes the pieces of a plan as large as memory allows. False: they are less than the least. */
static bool fit(struct zstd_piece_plan *plan, size_t max, unsigned workers, size_t memory)
{
    plan->content = 0;
    const size_t fixed = memory_of(plan, workers);
    plan->content = 64; /* no part of a byte is lost */
    const size_t a_byte = (memory_of(plan, workers) - fixed) / 64 + 1;
    const size_t content = memory > fixed ? (memory - fixed) / a_byte : 0;
    plan->content = (uint32_t)(content < max ? content : max);
    plan->memory = memory_of(plan, workers);
    return plan->content >= plan->least;
}

bool zstd_piece_plan(struct zstd_piece_plan *plan, const struct zstd_frame_header *header,
                     unsigned workers, size_t memory, size_t content)
{
    struct zstd_walk walk;
    if (!zstd_walk_begin(&walk, header) || workers == 0)
        return false;
    const uint32_t tail = tail_of(header);
    if (content > 0) {
        *plan = (struct zstd_piece_plan){.slots = workers + 2,
                                         .content = (uint32_t)content,
                                         .least = 1,
                                         .tail = tail,
                                         .makes_lists = true};
        plan->memory = memory_of(plan, workers);
        return plan->memory <= memory;
    }
    const size_t least = tail + tail / 4 + MIB;
    size_t max = 2 * (size_t)tail + CONTENT_BESIDE_TAILS;
    if (max < CONTENT_WITH_LISTS)
        max = CONTENT_WITH_LISTS;
    if (header->content / workers < max)
        max = (size_t)(header->content / workers);
    *plan = (struct zstd_piece_plan){.begins = workers,
                                     .few = CONTENT_OF_FEW,
                                     .least = (uint32_t)least,
                                     .tail = tail,
                                     .makes_lists = true};
    for (plan->slots = workers + workers / 8 + 1;
         workers >= LISTS_WORKERS_MIN && plan->slots >= LISTS_SLOTS_MIN; plan->slots--)
        if (fit(plan, max, workers, memory) &&
            (plan->content == max || plan->slots <= LISTS_SLOTS_ENOUGH))
            return true;
    *plan =
        (struct zstd_piece_plan){.few = CONTENT_OF_FEW, .least = BLOCK_CONTENT_MAX, .tail = tail};
    plan->slots = workers < 10 ? 2 * workers + 4 : 24;
    while (!fit(plan, CONTENT_WITHOUT, workers, memory))
        if (--plan->slots < 3)
            return false;
    return true;
}

/* --- memory --- */

/* Bytes of a huge page on most machines. */
#define HUGE_PAGE (2 * MIB)
#define PAGE 4096 /* or less than a page */

void zstd_list_scratch_close(struct zstd_list_scratch *scratch)
{
    free(scratch->bits);
    free(scratch->ranks);
    free(scratch->needed);
    *scratch = (struct zstd_list_scratch){.bits = NULL};
}

/* Returns the limits of pieces. Where blocks have less content than they could, a piece has more of
 * them. */
static struct zstd_run_limits limits_of(const struct zstd_piece_plan *plan)
{
    const size_t content = plan->content, content_max = 2 * content + BLOCK_CONTENT_MAX;
    return (struct zstd_run_limits){.in = content + 3 * BLOCK_CONTENT_MAX,
                                    .literals = content_max,
                                    .content = content_max > plan->few ? content_max : plan->few,
                                    .content_usual = content_max,
                                    .operations = content / 4 * 3 + BLOCK_OPERATIONS_MAX};
}

int zstd_list_scratch_open(struct zstd_list_scratch *scratch, const struct zstd_piece_plan *plan)
{
    const struct zstd_run_limits limits = limits_of(plan);
    const size_t words = limits.content / 64 + 4;
    *scratch = (struct zstd_list_scratch){.needed_max = limits.operations / 2};
    scratch->bits = malloc(words * sizeof *scratch->bits);
    scratch->ranks = malloc(words * sizeof *scratch->ranks);
    scratch->needed = malloc(scratch->needed_max * sizeof *scratch->needed);
    if (scratch->bits && scratch->ranks && scratch->needed)
        return 0;
    zstd_list_scratch_close(scratch);
    return -1;
}

/* Returns the bytes of the ring that are used, unless pieces have more content than planned. */
static size_t ring_usual(const struct zstd_piece_plan *plan)
{
    return (plan->slots + 1) * (size_t)plan->content + 2 * (size_t)plan->tail + COPY_SLACK;
}

static int open_ring(struct zstd_pieces *pieces, size_t len)
{
    pieces->ring_len = (len + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    pieces->ring = aligned_alloc(HUGE_PAGE, pieces->ring_len);
    pieces->touched = COPY_SLACK;
#ifdef MADV_HUGEPAGE
    /* Matches reach all over a window. */
    if (pieces->ring)
        (void)madvise(pieces->ring, pieces->ring_len, MADV_HUGEPAGE); /* only faster: may fail */
#endif
    return pieces->ring ? 0 : -1;
}

static int open_slots(struct zstd_pieces *pieces)
{
    const struct zstd_piece_plan *plan = &pieces->plan;
    const struct zstd_run_limits limits = limits_of(plan);
    pieces->pieces = calloc(plan->slots, sizeof *pieces->pieces);
    for (; pieces->pieces && pieces->opened < plan->slots; pieces->opened++) {
        struct zstd_piece *piece = &pieces->pieces[pieces->opened];
        if (zstd_run_open(&piece->run, &limits) != 0)
            return -1;
        if (plan->makes_lists &&
            parsed_run_open(&piece->list, limits.literals, limits.operations / 2) != 0) {
            zstd_run_close(&piece->run);
            return -1;
        }
    }
    return pieces->pieces ? 0 : -1;
}

void zstd_pieces_close(struct zstd_pieces *pieces)
{
    for (unsigned i = 0; i < pieces->opened; i++) {
        zstd_run_close(&pieces->pieces[i].run);
        parsed_run_close(&pieces->pieces[i].list);
    }
    free(pieces->pieces);
    free(pieces->ring);
    *pieces = (struct zstd_pieces){.pieces = NULL};
}

int zstd_pieces_open(struct zstd_pieces *pieces, const struct zstd_piece_plan *plan,
                     const struct zstd_frame_header *header, const struct block_loops *loops,
                     bool checks)
{
    const size_t content = limits_of(plan).content, tail = plan->tail;
    /* Pieces may have more content than planned, and need a copy of the window before them. */
    const size_t ring_len =
        ring_usual(plan) + (plan->slots + 1) * (content + (tail < content ? tail : content));
    *pieces = (struct zstd_pieces){.plan = *plan, .loops = loops, .checks = checks};
    atomic_init(&pieces->density, 1024);
    atomic_init(&pieces->released, 0);
    if (open_ring(pieces, ring_len) == 0 && open_slots(pieces) == 0 &&
        zstd_pieces_begin_frame(pieces, header))
        return 0;
    zstd_pieces_close(pieces);
    return -1;
}

bool zstd_pieces_begin_frame(struct zstd_pieces *pieces, const struct zstd_frame_header *header)
{
    pieces->checksum_len = 0;
    return zstd_walk_begin(&pieces->walk, header) && window_of(header) <= pieces->plan.tail;
}

/* --- cut --- */

/* Begins the next piece, and says where it ends. */
static void begin_piece(struct zstd_pieces *pieces, struct zstd_piece *piece)
{
    const struct zstd_piece_plan *plan = &pieces->plan;
    const struct zstd_frame_header *header = &pieces->walk.parts.header;
    const size_t max = limits_of(plan).content,
                 density = atomic_load_explicit(&pieces->density, memory_order_relaxed);
    size_t content = plan->content;
    if (pieces->cut < plan->begins)
        content = content * (size_t)(pieces->cut + 1) / plan->begins;
    content = (content > plan->least ? content : plan->least) * 1024 / density;
    content = content < max ? content : max;
    content = content > BLOCK_CONTENT_MAX ? content : BLOCK_CONTENT_MAX;
    piece->run.limits.content_usual = content;
    piece->run.limits.content = content > plan->few ? content : plan->few;
    piece->is_first = pieces->walk.is_first;
    piece->stated = header->content;
    piece->has_checksum = header->has_checksum;
    zstd_walk_begin_run(&pieces->walk, &piece->run);
    pieces->is_cutting = true;
}

/* Ends a piece, and shares out memory that nobody has touched so far. All content up to this
 * piece's is less than what pieces were taken for, so chain has not come to that memory. */
static void end_piece(struct zstd_pieces *pieces, struct zstd_piece *piece)
{
    const size_t usual = ring_usual(&pieces->plan),
                 more = usual > pieces->touched ? usual - pieces->touched : 0;
    piece->bound = pieces->walk.content;
    piece->touch = pieces->ring + pieces->touched;
    pieces->touched += piece->bound < more ? (size_t)piece->bound : more;
    piece->touch_end = pieces->ring + pieces->touched;
    piece->head = piece->executed = (struct run_position){.content = 0};
    piece->block = 0;
    pieces->is_cutting = false;
    pieces->cut++;
}

enum walked zstd_pieces_cut(struct zstd_pieces *pieces, const unsigned char *in, size_t len,
                            size_t *used)
{
    struct zstd_piece *piece = zstd_piece_at(pieces, pieces->cut);
    struct zstd_run *run = &piece->run;
    *used = 0;
    if (!pieces->is_cutting)
        begin_piece(pieces, piece);
    const size_t checksum = piece->has_checksum ? ZSTD_CHECKSUM_SIZE : 0;
    if (!run->is_last || pieces->walk.in_block) {
        const enum walked walked = zstd_walk_fill(&pieces->walk, run, in, len, used);
        if (walked != WALKED_RUN)
            return walked;
    }
    if (run->is_last)
        while (pieces->checksum_len < checksum) {
            if (*used == len)
                return WALKED_ALL;
            piece->checksum[pieces->checksum_len++] = in[(*used)++];
        }
    end_piece(pieces, piece);
    return WALKED_RUN;
}

enum walked zstd_pieces_skim(struct zstd_pieces *pieces, const struct zstd_reader *reader,
                             size_t *len)
{
    struct zstd_piece *piece = zstd_piece_at(pieces, pieces->cut);
    struct zstd_run *run = &piece->run;
    begin_piece(pieces, piece);
    const enum walked walked = zstd_walk_skim(&pieces->walk, run, reader);
    const size_t checksum =
        walked == WALKED_RUN && run->is_last && piece->has_checksum ? ZSTD_CHECKSUM_SIZE : 0;
    *len = run->len + checksum;
    if (reader->read(reader, piece->checksum, checksum, run->len) < checksum)
        return WALKED_ALL;
    if (walked == WALKED_RUN)
        end_piece(pieces, piece);
    return walked;
}

unsigned char *zstd_pieces_space(struct zstd_pieces *pieces, size_t *len)
{
    struct zstd_piece *piece = zstd_piece_at(pieces, pieces->cut);
    if (!pieces->is_cutting)
        begin_piece(pieces, piece);
    *len = piece->run.limits.in + ZSTD_CHECKSUM_SIZE - piece->run.len;
    return piece->run.in + piece->run.len;
}

bool zstd_pieces_cut_short(struct zstd_pieces *pieces, const unsigned char **rest, size_t *rest_len)
{
    struct zstd_piece *piece = zstd_piece_at(pieces, pieces->cut);
    const struct zstd_walk *walk = &pieces->walk;
    struct zstd_run *run = &piece->run;
    const unsigned whole = run->count - walk->in_block;
    if (!pieces->is_cutting || (run->is_last && !walk->in_block) || whole == 0)
        return false;
    const size_t next = walk->in_block ? run->blocks[whole].at : walk->wanted,
                 end = next - ZSTD_BLOCK_HEADER_SIZE;
    *rest = run->in + end;
    *rest_len = run->len - end;
    run->is_last = false;
    run->count = whole;
    run->len = end;
    end_piece(pieces, piece);
    return true;
}

/* --- parse, list --- */

bool zstd_piece_parse(struct zstd_piece *piece, const struct block_loops *loops)
{
    for (; piece->touch < piece->touch_end; piece->touch += PAGE)
        *(volatile unsigned char *)piece->touch = 0;
    return zstd_parse(&piece->run, loops) &&
           piece->run.parsed.content <= piece->bound; /* or the file was changed */
}

void zstd_piece_list(const struct zstd_pieces *pieces, struct zstd_piece *piece,
                     struct zstd_list_scratch *scratch)
{
    struct parsed_run *parsed = &piece->run.parsed;
    struct zstd_listing listing = {
        .run = parsed, .tail = pieces->plan.tail, .scratch = scratch, .list = piece->list};
    if (piece->run.is_last) { /* nobody needs anything of it */
        piece->list.content = 0;
        piece->head =
            (struct run_position){parsed->operations_len, parsed->literals_len, parsed->content};
    } else if (pieces->plan.makes_lists && pieces->loops->make_list(&listing)) {
        piece->list = listing.list;
        piece->head = listing.head;
    }
}

/* --- chain --- */

/* True if no piece from `first` on has content, or content before it, in the ring's `len` bytes
 * from `at` on. */
static bool is_free(const struct zstd_pieces *pieces, uint64_t first, const unsigned char *at,
                    size_t len)
{
    if (len > (size_t)(pieces->ring + pieces->ring_len - at))
        return false;
    for (uint64_t k = first; k < pieces->chained; k++) {
        const struct zstd_piece *piece = zstd_piece_at(pieces, k);
        if (at < piece->content + piece->len && at + len > piece->content - piece->before_len)
            return false;
    }
    return true;
}

/* Returns the place with the lowest address for so many bytes. NULL: there is none. */
static unsigned char *find_place(const struct zstd_pieces *pieces, uint64_t first, size_t len)
{
    unsigned char *place = is_free(pieces, first, pieces->ring, len) ? pieces->ring : NULL;
    for (uint64_t k = first; k < pieces->chained; k++) {
        const struct zstd_piece *piece = zstd_piece_at(pieces, k);
        unsigned char *end = piece->content + piece->len;
        if ((!place || end < place) && is_free(pieces, first, end, len))
            place = end;
    }
    return place;
}

/* Gives the next piece its place: behind the one before, or, where the ring ends, behind a copy of
 * the content that must stand before it. False: there is no room, as long as others are at hand. */
static bool place_piece(struct zstd_pieces *pieces, struct zstd_piece *piece)
{
    const size_t len = piece->run.parsed.content + COPY_SLACK, usual = ring_usual(&pieces->plan);
    const uint64_t first = atomic_load_explicit(&pieces->released, memory_order_acquire);
    const uint32_t tail = pieces->plan.tail;
    unsigned char *end = pieces->ring;
    piece->before_len = pieces->content < tail ? (uint32_t)pieces->content : tail;
    if (pieces->chained > 0) {
        const struct zstd_piece *before = zstd_piece_at(pieces, pieces->chained - 1);
        end = before->content + before->len;
    }
    if ((size_t)(end - pieces->ring) + len > usual || !is_free(pieces, first, end, len)) {
        unsigned char *place = find_place(pieces, first, piece->before_len + len);
        if (!place)
            return false;
        memmove(place, end - piece->before_len, piece->before_len);
        end = place + piece->before_len;
    }
    piece->content = end;
    piece->len = piece->run.parsed.content;
    return true;
}

/* Executes the operations of a piece between two positions. */
static bool execute_part(const struct zstd_piece *piece, const struct block_loops *loops,
                         const struct run_position *from, size_t to)
{
    struct parsed_run part = piece->run.parsed;
    struct execution execution = piece->before;
    part.operations += from->operations;
    part.operations_len = to - from->operations;
    part.literals += from->literals;
    execution.skipped = from->content;
    return loops->execute(&part, &execution, piece->content);
}

/* Executes the list, and the tail: all that is behind the head. */
static bool execute_in_order(const struct block_loops *loops, const struct zstd_piece *piece)
{
    const struct run_position *head = &piece->head;
    const size_t end = piece->run.parsed.operations_len;
    if (head->operations == end)
        return true;
    if (head->content > 0) {
        if (!loops->execute(&piece->list, &piece->before, piece->content))
            return false;
        memmove(piece->content + head->content - COPY_MAX,
                piece->content + piece->list.content - COPY_MAX, COPY_MAX);
    }
    return execute_part(piece, loops, head, end);
}

/* Goes on with what pieces really have of what they were taken for. */
static void adapt(struct zstd_pieces *pieces, const struct zstd_piece *piece)
{
    const unsigned before = atomic_load_explicit(&pieces->density, memory_order_relaxed),
                   is = (unsigned)((uint64_t)piece->len * 1024 / (piece->bound + 1)),
                   density = (3 * before + is) / 4;
    atomic_store_explicit(&pieces->density, density < 256 ? 256 : density, memory_order_relaxed);
}

enum zstd_chained zstd_pieces_chain(struct zstd_pieces *pieces)
{
    struct zstd_piece *piece = zstd_piece_at(pieces, pieces->chained);
    const struct parsed_run *parsed = &piece->run.parsed;
    if (piece->is_first) {
        pieces->repeat_offsets = (struct repeat_offsets){{1, 4, 8}};
        pieces->content = 0;
    }
    if (parsed->content > piece->stated - pieces->content)
        return ZSTD_CHAIN_FALLBACK;
    if (!place_piece(pieces, piece))
        return ZSTD_CHAIN_LATER;
    piece->before =
        (struct execution){.repeat_offsets = pieces->repeat_offsets, .history = piece->before_len};
    for (int i = 0; i < 3; i++) /* an offset of 0: versions of libzstd differ */
        if (pieces->repeat_offsets.offset[i] <= parsed->less[i])
            return ZSTD_CHAIN_FALLBACK;
    if (parsed->reach > piece->before_len || !execute_in_order(pieces->loops, piece))
        return ZSTD_CHAIN_FALLBACK;
    for (int i = 0; i < 3; i++)
        pieces->repeat_offsets.offset[i] =
            offset_resolve(parsed->after.offset[i], &piece->before.repeat_offsets);
    adapt(pieces, piece);
    pieces->content += piece->len;
    pieces->chained++;
    return ZSTD_CHAINED;
}

/* --- execute --- */

/* Returns the beginning of the last operations of the head, which make COPY_SLACK bytes or all: the
 * loops would write beyond them. */
static struct run_position last_operations(const struct zstd_piece *piece)
{
    struct run_position last = piece->head;
    while (last.operations > 0 && piece->head.content - last.content < COPY_SLACK) {
        const operation op = piece->run.parsed.operations[--last.operations];
        last.literals -= operation_literals(op);
        last.content -= operation_literals(op) + operation_match(op);
    }
    return last;
}

/* Executes the last operations byte by byte, as others may read the tail. */
static bool execute_last(struct zstd_piece *piece)
{
    const struct parsed_run *parsed = &piece->run.parsed;
    const struct run_position *head = &piece->head;
    struct run_position *done = &piece->executed;
    while (done->operations < head->operations) {
        const operation op = parsed->operations[done->operations++];
        unsigned char *at = piece->content + done->content;
        memcpy(at, parsed->literals + done->literals, operation_literals(op));
        at += operation_literals(op);
        const unsigned char *source = piece->content + (int32_t)(uint32_t)op;
        if (op & OPERATION_SYMBOLIC) {
            const uint32_t offset = offset_resolve((uint32_t)op, &piece->before.repeat_offsets);
            if (offset == 0 || offset > (size_t)(at - piece->content) + piece->before.history)
                return false;
            source = at - offset;
        }
        for (unsigned i = 0; i < operation_match(op); i++)
            at[i] = source[i];
        done->literals += operation_literals(op);
        done->content += operation_literals(op) + operation_match(op);
    }
    return true;
}

bool zstd_piece_execute(struct zstd_piece *piece, const struct block_loops *loops, uint32_t max,
                        uint32_t *complete)
{
    const struct run_position last = last_operations(piece);
    struct run_position to = piece->executed;
    while (to.operations < last.operations && to.content - piece->executed.content < max) {
        const struct run_position *end = &piece->run.blocks[piece->block++].end;
        to = end->operations < last.operations ? *end : last;
    }
    if (to.operations > piece->executed.operations &&
        !execute_part(piece, loops, &piece->executed, to.operations))
        return false;
    piece->executed = to;
    *complete = to.operations < last.operations ? to.content : piece->len;
    return to.operations < last.operations || execute_last(piece);
}

/* --- verify --- */

bool zstd_pieces_verify(struct zstd_pieces *pieces, const struct zstd_piece *piece)
{
    const bool checks = pieces->checks && piece->has_checksum;
    if (piece->is_first) {
        xxh64_begin(&pieces->hash);
        pieces->verified = 0;
    }
    pieces->verified += piece->len;
    if (checks)
        xxh64_add(&pieces->hash, piece->content, piece->len);
    (void)atomic_fetch_add_explicit(&pieces->released, 1, memory_order_release);
    if (!piece->run.is_last)
        return true;
    const uint64_t hash = checks ? xxh64_value(&pieces->hash) : 0;
    bool is_right = piece->stated == ZSTD_SIZE_UNKNOWN || piece->stated == pieces->verified;
    for (int i = 0; checks && i < ZSTD_CHECKSUM_SIZE; i++)
        is_right &= piece->checksum[i] == (unsigned char)(hash >> 8 * i);
    return is_right;
}
