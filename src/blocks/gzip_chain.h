/* SPDX-License-Identifier: MIT */
/* Joins the runs of a gzip file in their order: each must begin where the one before it ended. The
 * parts that no run has are parsed here: headers and trailers of members, blocks before the first
 * beginning that was found in a piece, and those for which a run had no room. Nothing is accepted
 * that zlib refuses. */
#ifndef GPUHISTO_GZIP_CHAIN_H
#define GPUHISTO_GZIP_CHAIN_H

#include "gzip_run.h"
#include "src/frames/codec.h"

/* A chain. Opened or begun anew, it is at the beginning of a file. Owns its memory. */
struct gzip_chain {
    struct gzip_members members;
    struct deflate_position position; /* what comes next, in bits of the file */
    uint64_t cut; /* byte of the file that nobody has yet, and that a block goes on with; 0: none */
    uint64_t member;  /* byte of the file with which the member begins */
    uint64_t content; /* bytes of the member that were executed; the window is the last of them */
    uint32_t crc; /* CRC-32 of these, as far as the caller has set it; compared in the trailer */
    struct deflate_parser parser;
    struct parsed_run parsed; /* what no run has */
};

enum gzip_chained {
    GZIP_CHAINED, /* *parsed is what comes next: to be executed, and then added */
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

/* Adds content of the member that was executed, before the next call. */
void gzip_chain_add(struct gzip_chain *chain, size_t len);

/* True if the file may end here: after a member, or before the first. */
bool gzip_chain_is_complete(const struct gzip_chain *chain);

#endif
