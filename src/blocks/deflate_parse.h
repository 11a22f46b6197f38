/* SPDX-License-Identifier: MIT */
/* Parses blocks of deflate (RFC 1951) to the operations of a run. Parsing may begin at any place in
 * a stream: matches that go back farther than the run have sources before it, at most
 * DEFLATE_WINDOW bytes. */
#ifndef GPUHISTO_DEFLATE_PARSE_H
#define GPUHISTO_DEFLATE_PARSE_H

#include "block_loops.h"

/* The place where parsing goes on: at the beginning of a block, or inside one if a run or the input
 * ended there. Parsing needs to know nothing else of the input before it. */
struct deflate_position {
    uint64_t bit;
    bool is_inside;               /* a block, of which this is the header; */
    struct deflate_header header; /* if it is stored, `size` bytes of it are left */
};

/* A parser; at first all but its loops is zeroed. It may be used again for any input; one thread at
 * a time. */
struct deflate_parser {
    const struct block_loops *loops;
    uint64_t work;     /* of the last parse: bits of input, and what takes as long as so many */
    uint64_t work_max; /* with more it stops after a block, as if `until` were there; 0: any */
    bool is_fixed;     /* the tables are those of fixed codes */
    struct deflate_tables tables;
};

/* A run gets no more content than this, whatever room it has; less than 2 GiB. */
#define DEFLATE_RUN_CONTENT_MAX ((uint32_t)8 << 20)

/* A run has at least this much room for literals, and for operations. */
#define DEFLATE_CAPACITY 1024

/* Parses from *position on, and moves it to where it stopped. Replaces what the run had. It may be
 * full before it has all that fits.
 *
 * The caller compares where one run ended with where the next one began, and run->reach with the
 * content before it: farther matches are corrupt. */
enum deflate_stop deflate_parse(struct deflate_parser *parser, const struct deflate_input *input,
                                struct deflate_position *position, uint64_t until,
                                struct parsed_run *run);

#endif
