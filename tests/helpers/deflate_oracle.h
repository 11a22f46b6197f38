/* SPDX-License-Identifier: MIT */
/* Deflate parsed and executed, beside zlib. One thread. */
#ifndef GPUHISTO_TESTS_DEFLATE_ORACLE_H
#define GPUHISTO_TESTS_DEFLATE_ORACLE_H

#include "execute_bytes.h"
#include "src/parallel/deflate.h"

#define DEFLATE_CONTENT_MAX ((size_t)4 << 20) /* bytes that are decoded; the rest is left */
#define DEFLATE_INPUT_MAX ((size_t)5 << 20)

/* The way in which a stream is parsed. */
struct deflate_course {
    size_t capacity; /* of a run, for literals and operations; four sizes at most */
    bool by_blocks;  /* a run for each block */
    bool portable;   /* by loops in plain C */
    size_t step;     /* bytes of input that come at a time; 0: all at once */
};

/* The result of a decoding. */
struct deflate_verdict {
    enum deflate_stop stop;   /* DEFLATE_ENDED, DEFLATE_CUT or DEFLATE_CORRUPT */
    struct made_content made; /* in static memory; right as far as it goes */
    uint64_t taken;           /* bytes up to the end */
};

/* Returns what parses by the fastest loops that run here, or by those in plain C. */
struct deflate_parser *deflate_parser(bool portable);

/* Returns a run with this much room, which is kept. */
struct parsed_run *deflate_run(size_t capacity);

/* Returns a copy of the bytes with DEFLATE_SLACK more, before memory that must not be touched. The
 * next call replaces it. */
struct deflate_input deflate_input_at_edge(const unsigned char *in, size_t len);

struct deflate_verdict inflate_by_zlib(const unsigned char *in, size_t len);

/* Sets *fault to NULL or to what the runs say that is wrong whatever zlib says. */
struct deflate_verdict inflate_by_runs(const unsigned char *in, size_t len,
                                       const struct deflate_course *course, const char **fault);

/* Compares verdicts and content. Returns NULL or what is wrong. */
const char *deflate_compare(const unsigned char *in, size_t len,
                            const struct deflate_course *course);

#endif
