/* SPDX-License-Identifier: MIT */
/* Parses blocks of deflate (RFC 1951) to the operations of a run. Any place in a stream will do to
 * begin with: matches that go back farther than the run are sources before it, at most
 * DEFLATE_WINDOW bytes. */
#ifndef GPUHISTO_DEFLATE_PARSE_H
#define GPUHISTO_DEFLATE_PARSE_H

#include "deflate_tables.h"
#include "operations.h"

/* Where parsing goes on: at the beginning of a block, or in its middle, if a run has no room for
 * all of it. A place is all that has to be kept: the header of the block is read again. */
struct deflate_place {
    uint64_t block;   /* the bit with which the block begins */
    uint64_t bit;     /* the next one; block: nothing of it was parsed */
    uint64_t content; /* bytes of the block that were parsed */
};

/* Why parsing stopped. Whatever it was, what the run has is right if the beginning was. */
enum deflate_stop {
    DEFLATE_REACHED, /* a block ended at `until` or after it, and another one follows */
    DEFLATE_ENDED,   /* the last block ended; place->bit follows it */
    DEFLATE_FULL,    /* the run has no room */
    DEFLATE_CUT,     /* the input ends before a block does */
    DEFLATE_CORRUPT, /* at place->bit is what zlib would refuse, too */
};

/* What parsing needs; its content does not matter. */
struct deflate_scratch {
    struct deflate_header header;
    struct deflate_tables tables;
};

/* Parses from *place on, and moves it to where it stopped. Replaces what the run had. A run must
 * have room for at least DEFLATE_ROOM bytes of literals and as many operations; it may be full
 * before it has all that fit.
 *
 * The caller compares where one run ended with where the next one began, and run->reach with the
 * content before it: farther matches are corrupt. Any thread; one at a time uses the scratch. */
#define DEFLATE_ROOM 1024
enum deflate_stop deflate_parse(const struct deflate_input *input, struct deflate_place *place,
                                uint64_t until, struct deflate_scratch *scratch,
                                struct parsed_run *run);

#endif
