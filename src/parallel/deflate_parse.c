/* SPDX-License-Identifier: MIT */
/* Finds blocks of deflate, and parses them one after another. Loops of deflate_loop.h take the
 * time. */
#include "block_loops.h"

#include <string.h>

/* --- finding --- */

uint64_t deflate_find(const struct block_loops *loops, const struct deflate_input *input,
                      uint64_t from, uint64_t to, int64_t *budget)
{
    uint64_t found[PRECODES_MAX], at = from / 8 * 8;
    to = to < input->bits ? to : input->bits;
    if (budget && *budget < 0)
        return DEFLATE_NONE;
    while (at < to) {
        /* Nearly all bits are ruled out by the first bits of a block and by its precode. Where
         * these fit, the codes are read: one bit in some 2000. */
        const unsigned count = loops->find_precodes(input, &at, to, found);
        for (unsigned i = 0; i < count; i++) {
            struct deflate_codes codes;
            uint64_t end = found[i] + DEFLATE_TYPE_SIZE;
            if (found[i] < from)
                continue;
            const enum deflate_stop read = deflate_read_codes(input, &end, &codes);
            if (budget)
                *budget -= (int64_t)(end - found[i]);
            if (read == DEFLATE_ENDED)
                return found[i];
            if (budget && *budget < 0)
                return DEFLATE_NONE;
        }
    }
    return DEFLATE_NONE;
}

/* --- parsing --- */

/* More room than one round of a loop takes. */
#define LITERALS_MARGIN 16
#define OPERATIONS_MARGIN 32

/* Bits of input that take as long to parse as a block takes to begin, with its header and tables;
 * and as an operation, of which two bits may make thirteen. */
#define BLOCK_WORK 4096
#define OPERATION_WORK 2

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Sets the next stops, with which any literals and matches fit: half the room for content is for
 * either, and half that for operations is for literals before the next match. False: the run is
 * full. */
static bool set_stops(struct filling *filling)
{
    const struct parsed_run *run = filling->run;
    const uint32_t pending = pending_literals(filling);
    const size_t content = DEFLATE_RUN_CONTENT_MAX - filling->writer.content - pending;
    const size_t operations =
        run->operations_max - pending / COPY_MAX - (size_t)(filling->writer.next - run->operations);
    const size_t literals = min_of(min_of(content / 2, operations / 2 * COPY_MAX),
                                   run->literals_max - (size_t)(filling->literal - run->literals));
    const size_t matches = min_of(content / 2 / COPY_MAX, operations / 2);
    if (literals <= LITERALS_MARGIN || matches <= OPERATIONS_MARGIN)
        return false;
    filling->literals_stop = filling->literal + literals - LITERALS_MARGIN;
    filling->operations_stop = filling->writer.next + matches - OPERATIONS_MARGIN;
    return true;
}

/* Copies the bytes that are there of a stored block. */
static enum deflate_stop parse_stored(struct deflate_position *position, struct filling *filling)
{
    const struct deflate_input *input = filling->input;
    size_t left = position->header.size, here = (input->bits - position->bit) / 8;
    while (left > 0 && here > 0 && set_stops(filling)) {
        const size_t space = (size_t)(filling->literals_stop - filling->literal),
                     some = min_of(min_of(left, here), space);
        memcpy(filling->literal, input->bytes + position->bit / 8, some);
        filling->literal += some;
        position->bit += 8 * some;
        left -= some;
        here -= some;
    }
    position->header.size = (uint32_t)left;
    return left == 0 ? DEFLATE_ENDED : here == 0 ? DEFLATE_CUT : DEFLATE_FULL;
}

/* Parses the block that begins at the place, or the rest of the one it is in. DEFLATE_ENDED: the
 * block ended. */
static enum deflate_stop parse_block(struct deflate_parser *parser,
                                     struct deflate_position *position, struct filling *filling)
{
    const struct deflate_header *header = &position->header;
    enum deflate_stop stop = DEFLATE_ENDED;
    if (!position->is_inside)
        stop = deflate_read_header(filling->input, &position->bit, &position->header);
    if (stop != DEFLATE_ENDED)
        return stop;
    if (header->type == DEFLATE_STORED) {
        stop = parse_stored(position, filling);
    } else {
        if (header->type != DEFLATE_FIXED || !parser->is_fixed)
            deflate_tables_build(&parser->tables, &header->codes);
        parser->is_fixed = header->type == DEFLATE_FIXED;
        filling->bit = position->bit;
        stop = DEFLATE_FULL;
        while (stop == DEFLATE_FULL && set_stops(filling))
            stop = parser->loops->parse_symbols(filling);
        position->bit = filling->bit;
    }
    position->is_inside = stop != DEFLATE_ENDED;
    return stop;
}

/* Returns how far before content that was added its matches begin: operations from `from` on,
 * before which the run has `before` bytes of content. Only matches of the first bytes can begin
 * there. */
static uint32_t reach_of(const struct parsed_run *run, size_t from, uint32_t before)
{
    const operation *next = run->operations + from, *end = run->operations + run->operations_len;
    int32_t min = (int32_t)before;
    for (uint32_t content = 0; next < end && content < DEFLATE_WINDOW; next++) {
        const int32_t source = (int32_t)(uint32_t)*next;
        min = source < min ? source : min;
        content += operation_literals(*next) + operation_match(*next);
    }
    return before - (uint32_t)min;
}

enum deflate_stop deflate_parse(struct deflate_parser *parser, const struct deflate_input *input,
                                struct deflate_position *position, uint64_t until,
                                struct parsed_run *run)
{
    const size_t from = run->operations_len;
    const uint32_t before = run->content;
    struct filling filling = {.run = run,
                              .input = input,
                              .tables = &parser->tables,
                              .writer = {.next = run->operations + from, .content = before},
                              .literal = run->literals + run->literals_len,
                              .added = run->literals + run->literals_len};
    const uint64_t begin = position->bit,
                   work_max = parser->work_max ? parser->work_max : UINT64_MAX;
    uint64_t blocks = 0;
    enum deflate_stop stop;
    do {
        stop = parse_block(parser, position, &filling);
        if (pending_literals(&filling) > 0)
            operations_add_long(&filling.writer, pending_literals(&filling), 0, 0);
        filling.added = filling.literal;
        run->operations_len = (size_t)(filling.writer.next - run->operations);
        parser->work = ++blocks * BLOCK_WORK + (position->bit - begin) +
                       OPERATION_WORK * (uint64_t)(run->operations_len - from);
        if (stop != DEFLATE_ENDED || position->header.is_last)
            break;
        if (position->bit >= until || parser->work > work_max)
            stop = DEFLATE_REACHED;
    } while (stop == DEFLATE_ENDED);
    run->literals_len = (size_t)(filling.literal - run->literals);
    run->content = filling.writer.content;
    run->reach = reach_of(run, from, before);
    run->needs_fallback = stop == DEFLATE_CORRUPT;
    return stop;
}
