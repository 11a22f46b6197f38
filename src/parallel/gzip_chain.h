/* SPDX-License-Identifier: MIT */
/* Joins the runs of a gzip file in their order: each must begin where the one before it ended. The
 * parts that no run has are parsed here: headers and trailers of members, blocks before the first
 * beginning that was found in a piece, and those for which a run had no room. Nothing is accepted
 * that zlib refuses. */
#ifndef GPUHISTO_GZIP_CHAIN_H
#define GPUHISTO_GZIP_CHAIN_H

#include "gzip_run.h"
#include "src/codec/codec.h"

/* A chain. Opened or begun anew, it is at the beginning of a file. Owns its memory. */
struct gzip_chain {
    struct gzip_members members;
    struct deflate_position position; /* what comes next, in bits of the file */
    uint64_t cut; /* byte of the file that nobody has yet, and that a block goes on with; 0: none */
    uint64_t member;  /* byte of the file with which the member begins */
    uint64_t content; /* bytes of it so far; the window is the last of them */
    int64_t
        alone; /* bytes of content that were parsed here, less those that runs had; at least 0 */
    bool uses_run; /* the run at hand was of use; */
    bool has_used; /* one was so far */
    struct deflate_parser parser;
    struct parsed_run parsed; /* what no run has */
};

enum gzip_chained {
    GZIP_CHAINED, /* *parsed is the content that comes next */
    GZIP_ENDED,   /* a member: members.trailer is what it states, as gzip_trailer gives it */
    GZIP_PASSED,  /* the run is of no more use: the next one is needed, or the file ends */
    GZIP_WRONG,   /* *why says what */
};

/* Opens a chain. 0, or -1: out of memory. */
int gzip_chain_open(struct gzip_chain *chain, const struct block_loops *loops);
void gzip_chain_begin(struct gzip_chain *chain);
void gzip_chain_close(struct gzip_chain *chain);

/* Goes on in a run that was parsed; call it with the same run until it is passed. */
enum gzip_chained gzip_chain_next(struct gzip_chain *chain, const struct gzip_run *run,
                                  const struct parsed_run **parsed, const char **why);

/* Returns the trailer of a member with so much content, and such a CRC-32. */
static inline uint64_t gzip_trailer(uint64_t content, uint32_t crc)
{
    return content << 32 | crc;
}

/* True if it is worth it to go on, if a member can be begun anew after `again` compressed bytes of
 * it; false: ISA-L alone is faster. */
bool gzip_chain_is_worth_it(const struct gzip_chain *chain, uint64_t again);

/* True if the file may end here: after a member, or before the first. */
bool gzip_chain_is_complete(const struct gzip_chain *chain);

#endif
