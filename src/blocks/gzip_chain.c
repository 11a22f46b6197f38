/* SPDX-License-Identifier: MIT */
#include "gzip_chain.h"

/* The memory for blocks that are parsed here: runs must not be too short, as these blocks may be
 * most of a file. */
#define LITERALS_MAX ((size_t)256 << 10)
#define OPERATIONS_MAX ((size_t)64 << 10)

int gzip_chain_open(struct gzip_chain *chain, const struct block_loops *loops)
{
    chain->parser = (struct deflate_parser){.loops = loops};
    gzip_chain_begin(chain);
    return parsed_run_open(&chain->parsed, LITERALS_MAX, OPERATIONS_MAX);
}

void gzip_chain_begin(struct gzip_chain *chain)
{
    chain->members = (struct gzip_members){.next = GZIP_AT_FIRST};
    chain->position = (struct deflate_position){.bit = 0};
    chain->cut = 0;
    chain->member = chain->content = chain->crc = 0;
}

void gzip_chain_close(struct gzip_chain *chain)
{
    parsed_run_close(&chain->parsed);
}

/* Takes at least one byte that does not belong to a block. Returns NULL, or what is wrong. */
static const char *take_bytes(struct gzip_chain *chain, const unsigned char *in, size_t len)
{
    struct gzip_members *members = &chain->members;
    const bool was_between = gzip_members_are_complete(members),
               was_trailer = members->next == GZIP_AT_TRAILER;
    size_t used = 0;
    const char *fault = gzip_members_read(members, in, len, &used);
    if (was_between && !gzip_members_are_complete(members)) {
        chain->member = chain->position.bit / 8;
        chain->content = chain->crc = 0;
    }
    chain->position.bit += 8 * (uint64_t)used;
    if (was_trailer && members->next == GZIP_AT_NEXT &&
        members->trailer != (chain->content << 32 | chain->crc))
        fault = GZIP_FAULT_CHECKSUM;
    return fault;
}

/* Returns where the chain is in a run, in bits. */
static uint64_t position_in(const struct gzip_chain *chain, const struct gzip_run *run)
{
    return chain->position.bit - 8 * run->at;
}

/* Sets *parsed to the run's own blocks if they begin here. Otherwise parses up to where they begin,
 * or to the end of the piece. */
static enum deflate_stop parse_blocks(struct gzip_chain *chain, const struct gzip_run *run,
                                      const struct parsed_run **parsed)
{
    const struct deflate_input input = {run->in, 8 * (uint64_t)run->len};
    const uint64_t from = position_in(chain, run), piece_end = 8 * (uint64_t)run->piece;
    enum deflate_stop stop = run->stop;
    if (run->begin == from && !chain->position.is_inside) {
        *parsed = &run->parsed;
        chain->position = run->end;
    } else {
        const bool is_before = run->begin != DEFLATE_NONE && run->begin > from;
        *parsed = &chain->parsed;
        chain->position.bit = from;
        stop = deflate_parse(&chain->parser, &input, &chain->position,
                             is_before ? run->begin : piece_end, &chain->parsed);
    }
    chain->position.bit += 8 * run->at;
    return stop;
}

static enum gzip_chained take_blocks(struct gzip_chain *chain, const struct gzip_run *run,
                                     const struct parsed_run **parsed, const char **why)
{
    const enum deflate_stop stop = parse_blocks(chain, run, parsed);
    *why = NULL;
    if ((*parsed)->reach > chain->content)
        *why = GZIP_FAULT_DISTANCE;
    else if (stop == DEFLATE_CORRUPT)
        *why = chain->position.is_inside ? GZIP_FAULT_CODE : GZIP_FAULT_BLOCK;
    if (*why)
        return GZIP_WRONG;
    /* If a run has some of the next piece, a block is only cut beyond its own: no header is
     * longer. */
    if (stop == DEFLATE_CUT && run->piece == run->len)
        chain->cut = run->at + run->len;
    if (stop == DEFLATE_ENDED) {
        chain->position.bit = (chain->position.bit + 7) / 8 * 8;
        chain->members = (struct gzip_members){.next = GZIP_AT_TRAILER};
    }
    return GZIP_CHAINED;
}

enum gzip_chained gzip_chain_next(struct gzip_chain *chain, const struct gzip_run *run,
                                  const struct parsed_run **parsed, const char **why)
{
    while (chain->cut != run->at + run->len && position_in(chain, run) < 8 * (uint64_t)run->piece) {
        const size_t at = position_in(chain, run) / 8;
        if (chain->members.next == GZIP_AT_BLOCKS)
            return take_blocks(chain, run, parsed, why);
        *why = take_bytes(chain, run->in + at, run->len - at);
        if (*why)
            return GZIP_WRONG;
    }
    return GZIP_PASSED;
}

void gzip_chain_add(struct gzip_chain *chain, size_t len)
{
    chain->content += len;
}

bool gzip_chain_is_complete(const struct gzip_chain *chain)
{
    return gzip_members_are_complete(&chain->members);
}
