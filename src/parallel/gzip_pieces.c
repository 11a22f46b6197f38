/* SPDX-License-Identifier: MIT */
#include "gzip_pieces.h"

#include <stdlib.h>
#include <string.h>

/* --- runs --- */

/* The memory of a run: for literals, enough even if hardly anything is compressed; for operations,
 * twice as much as logs need. */
#define LITERALS_MAX ((size_t)512 << 10)
#define OPERATIONS_MAX ((size_t)320 << 10)

int gzip_run_open(struct gzip_run *run, const struct block_loops *loops)
{
    *run = (struct gzip_run){.begin = DEFLATE_NONE, .parser = {.loops = loops}};
    run->in = calloc(GZIP_RUN_MAX + DEFLATE_SLACK, 1);
    if (run->in && parsed_run_open(&run->parsed, LITERALS_MAX, OPERATIONS_MAX) == 0)
        return 0;
    gzip_run_close(run);
    return -1;
}

void gzip_run_close(struct gzip_run *run)
{
    free(run->in);
    parsed_run_close(&run->parsed);
    run->in = NULL;
}

size_t gzip_run_memory(void)
{
    return sizeof(struct gzip_run) + GZIP_RUN_MAX + LITERALS_MAX +
           OPERATIONS_MAX * sizeof(operation);
}

/* A run that used less than this part of its room was short. */
#define CAPACITY_PART 8

/* The budget for reading and parsing in vain is this part of a piece; random bytes take a third of
 * it, for headers that do not fit. The last attempt to parse may take so many times the piece. */
#define BUDGET_PART 4
#define BUDGET_TIMES 4

/* After so many pieces that were searched in vain, only one of so many is searched. */
#define VAIN_MAX 4
#define VAIN_EACH 4

/* Bits in which a block is looked for before a member is. */
#define SEARCHED_AT_ONCE ((uint64_t)8 << 15)

/* Bytes of a header that are looked at: hardly any is longer. */
#define HEADER_MAX 512

/* Returns the first byte in [from, to) with which a member may begin, or `to`. */
static size_t find_member(const struct gzip_run *run, size_t from, size_t to)
{
    while (from < to) {
        const unsigned char *at = memchr(run->in + from, gzip_magic[0], to - from);
        if (!at)
            return to;
        from = (size_t)(at - run->in);
        if (run->len - from >= GZIP_MAGIC_SIZE && memcmp(at, gzip_magic, GZIP_MAGIC_SIZE) == 0)
            return from;
        from++;
    }
    return to;
}

/* Sets run->begin to what may be a beginning, from bit *from on, or to DEFLATE_NONE, and moves
 * *from on. */
static void find_beginning(struct gzip_run *run, const struct deflate_input *input, uint64_t *from,
                           int64_t *budget)
{
    const uint64_t until = 8 * (uint64_t)run->piece;
    run->begin = DEFLATE_NONE;
    while (run->begin == DEFLATE_NONE && *from < until && *budget >= 0) {
        const uint64_t left = until - *from,
                       end = *from + (left < SEARCHED_AT_ONCE ? left : SEARCHED_AT_ONCE),
                       member = 8 * (uint64_t)find_member(run, (size_t)((*from + 7) / 8),
                                                          (size_t)(end + 7) / 8);
        run->begin =
            deflate_find(run->parser.loops, input, *from, member < end ? member : end, budget);
        run->is_member = run->begin == DEFLATE_NONE && member < end;
        if (run->is_member)
            run->begin = member;
        *from = run->begin == DEFLATE_NONE ? end : run->begin + 1;
    }
}

/* Parses from a bit where a block begins, or a member, and adds that to what the run has. False: it
 * is wrong, or the member has a long header. */
static bool parse_from(struct gzip_run *run, const struct deflate_input *input, uint64_t begin,
                       bool is_member)
{
    struct deflate_position position = {.bit = begin};
    run->parser.work = 0;
    if (is_member) {
        const size_t at = (size_t)(begin / 8), left = run->len - at;
        struct gzip_members members = {.next = GZIP_AT_FIRST};
        size_t used = 0;
        if (gzip_members_read(&members, run->in + at, left < HEADER_MAX ? left : HEADER_MAX,
                              &used) ||
            members.next != GZIP_AT_BLOCKS)
            return false;
        position.bit += 8 * (uint64_t)used;
    }
    const enum deflate_stop stop =
        deflate_parse(&run->parser, input, &position, 8 * (uint64_t)run->piece, &run->parsed);
    if (stop == DEFLATE_CORRUPT || (is_member && run->parsed.reach > 0))
        return false;
    run->stop = stop;
    run->end = position;
    return true;
}

/* Adds the member that follows the one that has ended. False: there is none, or it is of no use. */
static bool add_member(struct gzip_run *run, const struct deflate_input *input)
{
    const struct parsed_run before = run->parsed;
    struct gzip_members members = {.next = GZIP_AT_TRAILER};
    size_t next = (size_t)((run->end.bit + 7) / 8), used = 0;
    (void)gzip_members_read(&members, run->in + next, run->len - next, &used);
    next += used;
    if (members.next != GZIP_AT_NEXT || next >= run->piece || run->ends_len == GZIP_ENDS_MAX)
        return false;
    if (!parse_from(run, input, 8 * (uint64_t)next, true)) {
        run->parsed = before; /* whoever comes to it sees what is wrong */
        return false;
    }
    run->parsed.reach = before.reach;
    run->ends[run->ends_len++] = (struct gzip_end){
        .content = before.content, .next = (uint32_t)next, .trailer = members.number};
    return true;
}

void gzip_run_parse(struct gzip_run *run)
{
    const struct deflate_input input = {run->in, 8 * (uint64_t)run->len};
    const int64_t bits = 8 * (int64_t)run->piece;
    int64_t budget = bits / BUDGET_PART, left = BUDGET_TIMES * bits;
    uint64_t from = 0;
    bool has_tried = false, is_right = false;
    if (atomic_load(run->vain) >= VAIN_MAX && run->number % VAIN_EACH > 0)
        return;
    run->parser.work_max = (uint64_t)left;
    while (!is_right) {
        find_beginning(run, &input, &from, &budget);
        if (run->begin == DEFLATE_NONE) {
            run->is_given_up = budget < 0 && has_tried;
            atomic_fetch_add(run->vain, 1);
            return;
        }
        has_tried = true;
        parsed_run_clear(&run->parsed);
        is_right = parse_from(run, &input, run->begin, run->is_member);
        budget -= (int64_t)run->parser.work + (run->is_member ? 8 * HEADER_MAX : 0);
    }
    while (run->stop == DEFLATE_ENDED) {
        left -= (int64_t)run->parser.work;
        run->parser.work_max = left > 0 ? (uint64_t)left : 0;
        if (left <= 0 || !add_member(run, &input))
            break;
    }
}

void gzip_cutter_begin(struct gzip_cutter *cutter, struct gzip_run *run)
{
    run->begin = DEFLATE_NONE;
    run->is_given_up = run->is_member = false;
    run->ends_len = 0;
    run->vain = &cutter->vain;
    run->number = cutter->pieces++;
    memcpy(run->in, cutter->kept, cutter->kept_len);
    run->len = cutter->kept_len;
    run->piece = cutter->piece;
    run->len_max = run->piece + GZIP_BEYOND(run->piece);
    if (run->len_max < run->len) /* pieces were halved more than once */
        run->len_max = run->len;
    run->at = cutter->at;
}

bool gzip_cutter_end(struct gzip_cutter *cutter, struct gzip_run *run)
{
    const bool is_last = run->len < run->len_max;
    if (is_last)
        run->piece = run->len;
    cutter->kept_len = run->len - run->piece;
    memcpy(cutter->kept, run->in + run->piece, cutter->kept_len);
    cutter->at += run->piece;
    return !is_last;
}

bool gzip_cutter_cut(struct gzip_cutter *cutter, struct gzip_run *run)
{
    if (run->len <= cutter->kept_len)
        return false;
    run->piece = run->len;
    cutter->kept_len = run->len < GZIP_CUT_BEYOND ? run->len : GZIP_CUT_BEYOND;
    memcpy(cutter->kept, run->in + run->len - cutter->kept_len, cutter->kept_len);
    cutter->at += run->len - cutter->kept_len;
    return true;
}

bool gzip_cutter_claim(struct gzip_cutter *cutter, struct gzip_run *run, uint64_t size)
{
    gzip_cutter_begin(cutter, run);
    const uint64_t left = size - run->at;
    run->len = left < run->len_max ? (size_t)left : run->len_max;
    run->piece = left < run->piece ? (size_t)left : run->piece;
    cutter->at += run->piece;
    return run->piece < left;
}

/* True if a run has used so little of its room that pieces may be twice as large. */
static bool has_room(const struct gzip_run *run)
{
    return run->parsed.literals_len < LITERALS_MAX / CAPACITY_PART &&
           run->parsed.operations_len < OPERATIONS_MAX / CAPACITY_PART &&
           run->parsed.content < DEFLATE_RUN_CONTENT_MAX / CAPACITY_PART;
}

void gzip_cutter_learn(struct gzip_cutter *cutter, const struct gzip_run *run, bool *was_used)
{
    const bool is_used = *was_used;
    *was_used = false;
    if (!is_used) {
        if (run->begin != DEFLATE_NONE)
            atomic_fetch_add(&cutter->vain, 1);
        return;
    }
    atomic_store(&cutter->vain, 0);
    if (run->piece != cutter->piece)
        return;
    const bool is_full = run->stop == DEFLATE_FULL || run->ends_len == GZIP_ENDS_MAX;
    if (is_full && cutter->piece >= 2 * GZIP_PIECE_MIN)
        cutter->piece /= 2;
    else if (has_room(run) && cutter->piece <= GZIP_PIECE / 2)
        cutter->piece *= 2;
}

/* --- the chain --- */

/* The memory for blocks that are parsed here: runs must not be too short, as these blocks may be
 * most of a file. */
#define CHAIN_LITERALS_MAX ((size_t)256 << 10)
#define CHAIN_OPERATIONS_MAX ((size_t)64 << 10)

/* Bytes of content that the chain may parse itself, more than others have parsed for it. In small
 * members, stored blocks and fixed ones, no beginnings are found, and ISA-L is faster alone. */
#define ALONE_MAX (8 << 20)

/* Two things count as so many of these bytes: a member that ends, as passing on and verifying its
 * content, however little, takes as long; and a piece that was given up before any run was of use.
 */
#define ALONE_MEMBER (16 << 10)
#define ALONE_WRONG (4 << 20)

/* Bytes of content for each compressed one at which ISA-L alone is as fast as executing. The ratio
 * is checked once a member has given so much. */
#define RATIO_MAX 16
#define RATIO_MIN (4 << 20)

/* A member that has given more than this is not begun anew for either reason. */
#define AGAIN_MAX (64 << 20)

int gzip_chain_open(struct gzip_chain *chain, const struct block_loops *loops)
{
    *chain = (struct gzip_chain){.parser = {.loops = loops}};
    return parsed_run_open(&chain->parsed, CHAIN_LITERALS_MAX, CHAIN_OPERATIONS_MAX);
}

void gzip_chain_close(struct gzip_chain *chain)
{
    parsed_run_close(&chain->parsed);
}

/* Returns where the chain is in a run, in bits. */
static uint64_t position_in(const struct gzip_chain *chain, const struct gzip_run *run)
{
    return chain->position.bit - 8 * run->at;
}

/* True if what a run has begins where the chain is. */
static bool is_next(const struct gzip_chain *chain, const struct gzip_run *run)
{
    const enum gzip_at next = chain->members.next;
    if (run->begin != position_in(chain, run))
        return false;
    return run->is_member ? next == GZIP_AT_FIRST || next == GZIP_AT_NEXT
                          : next == GZIP_AT_BLOCKS && !chain->position.is_inside;
}

static void begin_member(struct gzip_chain *chain)
{
    chain->member = chain->position.bit / 8;
    chain->content = 0;
}

/* Takes at least one byte that does not belong to a block. False: it is wrong. */
static bool take_bytes(struct gzip_chain *chain, const unsigned char *in, size_t len)
{
    const bool was_between = gzip_members_are_complete(&chain->members);
    size_t used = 0;
    const char *fault = gzip_members_read(&chain->members, in, len, &used);
    if (was_between && !gzip_members_are_complete(&chain->members))
        begin_member(chain);
    chain->position.bit += 8 * (uint64_t)used;
    return !fault;
}

static void add_alone(struct gzip_chain *chain, int64_t len)
{
    const int64_t alone = chain->alone + len;
    chain->alone = alone < 0 ? 0 : alone <= ALONE_MAX ? alone : ALONE_MAX + 1;
}

/* Takes the run's own blocks, which begin here. */
static enum deflate_stop take_run(struct gzip_chain *chain, const struct gzip_run *run)
{
    const uint32_t content = run->parsed.content;
    if (run->is_member)
        begin_member(chain);
    if (run->parsed.reach > chain->content)
        return DEFLATE_CORRUPT;
    chain->position = run->end;
    chain->position.bit += 8 * run->at;
    chain->content += content;
    if (run->ends_len > 0) {
        const struct gzip_end *last = &run->ends[run->ends_len - 1];
        chain->member = run->at + last->next;
        chain->content = content - last->content;
    }
    chain->uses_run = chain->has_used = true;
    add_alone(chain, -(int64_t)content);
    return run->stop;
}

/* Parses blocks up to where those of the run begin, or to the end of the piece. */
static enum deflate_stop parse_blocks(struct gzip_chain *chain, const struct gzip_run *run)
{
    const struct deflate_input input = {run->in, 8 * (uint64_t)run->len};
    const uint64_t from = position_in(chain, run),
                   until = run->begin != DEFLATE_NONE && run->begin > from
                               ? run->begin
                               : 8 * (uint64_t)run->piece;
    chain->position.bit = from;
    parsed_run_clear(&chain->parsed);
    const enum deflate_stop stop =
        deflate_parse(&chain->parser, &input, &chain->position, until, &chain->parsed);
    if (chain->parsed.reach > chain->content)
        return DEFLATE_CORRUPT;
    chain->position.bit += 8 * run->at;
    chain->content += chain->parsed.content;
    add_alone(chain, (int64_t)chain->parsed.content + (stop == DEFLATE_ENDED ? ALONE_MEMBER : 0));
    return stop;
}

enum gzip_chained gzip_chain_next(struct gzip_chain *chain, const struct gzip_run *run,
                                  const struct parsed_run **parsed)
{
    const uint64_t piece_end = 8 * (run->at + run->piece);
    while (chain->cut != run->at + run->len && chain->position.bit < piece_end) {
        const bool is_own = is_next(chain, run);
        if (is_own || chain->members.next == GZIP_AT_BLOCKS) {
            const enum deflate_stop stop = is_own ? take_run(chain, run) : parse_blocks(chain, run);
            if (stop == DEFLATE_CORRUPT)
                return GZIP_WRONG;
            /* If a run has much of the next piece, a block is only cut beyond its own: no header is
             * longer. Where the file ends it may have little of it. */
            if (stop == DEFLATE_CUT && (run->piece == run->len || chain->position.bit < piece_end))
                chain->cut = run->at + run->len;
            chain->members.next = GZIP_AT_BLOCKS;
            if (stop == DEFLATE_ENDED) {
                chain->position.bit = (chain->position.bit + 7) / 8 * 8;
                chain->members.next = GZIP_AT_TRAILER;
            }
            *parsed = is_own ? &run->parsed : &chain->parsed;
            return GZIP_CHAINED;
        }
        const bool is_trailer = chain->members.next == GZIP_AT_TRAILER;
        const size_t at = position_in(chain, run) / 8;
        if (!take_bytes(chain, run->in + at, run->len - at))
            return GZIP_WRONG;
        if (is_trailer && chain->members.next == GZIP_AT_NEXT)
            return GZIP_ENDED;
    }
    if (!chain->has_used && run->is_given_up)
        add_alone(chain, ALONE_WRONG);
    return GZIP_PASSED;
}

bool gzip_chain_is_worth_it(const struct gzip_chain *chain, uint64_t again)
{
    const uint64_t compressed = chain->position.bit / 8 - chain->member;
    if (chain->content > AGAIN_MAX || compressed > again)
        return true;
    return chain->alone <= ALONE_MAX &&
           (chain->members.next != GZIP_AT_BLOCKS || chain->content < RATIO_MIN ||
            chain->content / RATIO_MAX < compressed);
}
