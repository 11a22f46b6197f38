/* SPDX-License-Identifier: MIT */
/* Blocks one after another. How symbols become operations is in deflate_symbols.h. */
#include "deflate_parse.h"
#include "deflate_symbols.h"

#include <string.h>

#define OPERATIONS_MAX ((size_t)1 << 25) /* they make less than 2 GiB of content */

static void filling_begin(struct filling *filling, const struct parsed_run *run)
{
    const size_t operations =
        run->operations_max < OPERATIONS_MAX ? run->operations_max : OPERATIONS_MAX;
    *filling = (struct filling){
        .writer = {.next = run->operations},
        .literal = run->literals,
        .added = run->literals,
        .literals_end = run->literals + run->literals_max - LITERALS_MARGIN,
        .operations_end = run->operations + operations - OPERATIONS_MARGIN,
    };
}

/* Makes operations of pending literals. */
static void add_pending(struct filling *filling)
{
    const uint32_t literals = pending_literals(filling);
    if (literals > 0)
        operations_add_long(&filling->writer, literals, 0, 0);
    filling->added = filling->literal;
}

/* Returns how many literals are sure to fit. */
static size_t literals_room(const struct filling *filling)
{
    const size_t operations = (size_t)(filling->operations_end - filling->writer.next),
                 by_operations = operations * COPY_MAX - pending_literals(filling),
                 by_literals = (size_t)(filling->literals_end - filling->literal);
    return by_operations < by_literals ? by_operations : by_literals;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Copies what there is of a stored block. */
static enum deflate_stop parse_stored(const struct deflate_input *input,
                                      struct deflate_place *place, struct filling *filling)
{
    const uint64_t left = place->header.size, here = (input->bits - place->bit) / 8;
    const size_t room = filling_is_full(filling) ? 0 : literals_room(filling);
    const size_t some = least_of(left, least_of(here, room));
    memcpy(filling->literal, input->bytes + place->bit / 8, some);
    filling->literal += some;
    place->bit += 8 * some;
    place->header.size -= (uint32_t)some;
    return some == left ? DEFLATE_ENDED : some == here ? DEFLATE_CUT : DEFLATE_FULL;
}

/* Parses the block that begins at the place, or the rest of the one it is in. DEFLATE_ENDED: the
 * block ended. */
static enum deflate_stop parse_block(const struct deflate_input *input, struct deflate_place *place,
                                     struct deflate_tables *tables, struct filling *filling)
{
    enum deflate_stop stop;
    if (!place->is_inside) {
        const enum deflate_read read = deflate_read_header(input, &place->bit, &place->header);
        if (read != DEFLATE_READ)
            return read == DEFLATE_SHORT ? DEFLATE_CUT : DEFLATE_CORRUPT;
    }
    if (place->header.type == DEFLATE_STORED) {
        stop = parse_stored(input, place, filling);
    } else {
        deflate_tables_build(tables, &place->header.codes);
        stop = parse_symbols(input, tables, &place->bit, filling);
    }
    place->is_inside = stop != DEFLATE_ENDED;
    return stop;
}

enum deflate_stop deflate_parse(const struct deflate_input *input, struct deflate_place *place,
                                uint64_t until, struct deflate_tables *tables,
                                struct parsed_run *run)
{
    struct filling filling;
    enum deflate_stop stop;
    bool goes_on;
    filling_begin(&filling, run);
    do {
        stop = parse_block(input, place, tables, &filling);
        add_pending(&filling);
        goes_on = stop == DEFLATE_ENDED && !place->header.is_last;
        if (goes_on && place->bit >= until) {
            stop = DEFLATE_REACHED;
            goes_on = false;
        }
    } while (goes_on);
    run->literals_len = (size_t)(filling.literal - run->literals);
    run->operations_len = (size_t)(filling.writer.next - run->operations);
    run->content = filling.writer.content;
    run->reach = 0 - (uint32_t)filling.writer.least;
    run->is_doubtful = stop == DEFLATE_CORRUPT;
    return stop;
}
