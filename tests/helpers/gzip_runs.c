/* SPDX-License-Identifier: MIT */
#include "gzip_runs.h"
#include "execute_bytes.h"
#include "gzip_members.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define RUNS 16 /* that are parsed before they are chained */

/* The result of a decoding. */
struct gunzipped {
    bool is_whole;     /* the file ends where it may */
    const char *why;   /* by runs: NULL, or what is wrong with the file */
    const char *fault; /* by runs: NULL, or what is wrong with themselves */
    size_t passed, used;
    struct made_content made;
    uint64_t member; /* bytes of content of it, */
    uint32_t crc;    /* and of that */
};

/* Executes once more what was made of a run, as the program does: by all loops that run here, in
 * turn. */
static bool is_executed_so(const struct parsed_run *parsed, const struct gunzipped *to,
                           size_t before)
{
    static unsigned char content[GUNZIPPED_MAX + EXECUTE_SLACK];
    static unsigned turn;
    const struct block_loops *loops = turn++ % 2 ? &block_loops_portable : block_loops_find(NULL);
    struct run_cursor cursor = {.next = parsed->operations,
                                .end = parsed->operations + parsed->operations_len,
                                .literals = parsed->literals};
    unsigned char *begin = content + before, *end = begin + parsed->content;
    return loops->execute_some(&cursor, begin, end) == end &&
           memcmp(begin, to->made.bytes + before, parsed->content) == 0;
}

/* Executes what was parsed, in which `count` members end. False: stop. */
static bool add_parsed(const struct parsed_run *parsed, const struct gzip_end *ends, unsigned count,
                       struct gunzipped *to)
{
    size_t before = to->made.len;
    const size_t end = before + parsed->content;
    bool is_too_far;
    to->fault = execute_bytes(parsed, &to->made, &is_too_far);
    if (is_too_far)
        to->fault = "a match before the content";
    if (!to->fault && !is_executed_so(parsed, to, before))
        to->fault = "loops execute it to other content";
    if (to->fault || to->made.len != end)
        return false;
    for (unsigned i = 0; i < count; i++) {
        const size_t len = end - parsed->content + ends[i].content - before;
        to->crc = (uint32_t)crc32(to->crc, to->made.bytes + before, (unsigned)len);
        to->member += len;
        if (ends[i].trailer != gzip_trailer(to->member, to->crc))
            to->why = "a wrong checksum or length";
        before += len;
        to->crc = 0;
        to->member = 0;
    }
    to->crc = (uint32_t)crc32(to->crc, to->made.bytes + before, (unsigned)(end - before));
    to->member += end - before;
    return !to->why;
}

/* False: stop. */
static bool chain_run(struct gzip_chain *chain, struct gzip_cutter *cutter,
                      const struct gzip_run *run, struct gunzipped *to)
{
    const size_t piece = cutter->piece;
    const struct parsed_run *parsed;
    enum gzip_chained chained;
    while ((chained = gzip_chain_next(chain, run, &parsed)) < GZIP_PASSED) {
        if (chained == GZIP_ENDED && chain->members.number != gzip_trailer(to->member, to->crc))
            to->why = "a wrong checksum or length";
        if (to->why)
            return false;
        if (chained == GZIP_ENDED) {
            to->crc = 0;
            to->member = 0;
            continue;
        }
        const bool is_own = parsed == &run->parsed;
        to->used += is_own;
        if (parsed->content > to->made.cap - to->made.len ||
            !add_parsed(parsed, run->ends, is_own ? run->ends_len : 0, to))
            return false;
    }
    to->why = chained == GZIP_WRONG ? "what zlib would refuse" : NULL;
    to->passed++;
    gzip_cutter_learn(cutter, run, &chain->uses_run);
    if (cutter->piece > piece) /* no larger than the caller wants them */
        cutter->piece = piece;
    return chained == GZIP_PASSED;
}

size_t gzip_run_fill(struct gzip_run *run, const unsigned char *in, size_t len)
{
    const size_t space = run->len_max - run->len, some = len < space ? len : space;
    memcpy(run->in + run->len, in, some);
    run->len += some;
    return some;
}

static void gunzip_by_runs(const unsigned char *in, size_t len, size_t piece, struct gunzipped *to)
{
    static struct gzip_run runs[RUNS];
    static struct gzip_chain chain;
    const struct block_loops *loops = block_loops_find(NULL);
    struct gzip_cutter cutter = {.piece = piece};
    bool more = true;
    size_t at = 0;
    if (gzip_chain_open(&chain, loops) != 0)
        exit(99);
    while (more) {
        size_t count = 0;
        for (; count < RUNS && more; count++) {
            if (!runs[count].in && gzip_run_open(&runs[count], loops) != 0)
                exit(99);
            gzip_cutter_begin(&cutter, &runs[count]);
            at += gzip_run_fill(&runs[count], in + at, len - at);
            more = gzip_cutter_end(&cutter, &runs[count]);
        }
        for (size_t i = count; i-- > 0;)
            gzip_run_parse(&runs[i]);
        for (size_t i = 0; i < count; i++)
            if (!chain_run(&chain, &cutter, &runs[i], to))
                more = false, count = 0;
    }
    to->is_whole = !to->why && gzip_members_are_complete(&chain.members);
    gzip_chain_close(&chain);
}

const char *gunzip_compare(const unsigned char *in, size_t len, size_t piece, unsigned *percent)
{
    static unsigned char bytes[2][GUNZIPPED_MAX];
    struct gunzipped actual = {.made = {bytes[0], 0, GUNZIPPED_MAX}},
                     expected = {.made = {bytes[1], 0, GUNZIPPED_MAX}};
    gunzip_by_runs(in, len, piece, &actual);
    expected.is_whole =
        gzip_reference(in, len, expected.made.bytes, GUNZIPPED_MAX, &expected.made.len);
    *percent = actual.passed ? (unsigned)(100 * actual.used / actual.passed) : 0;
    if (actual.fault || expected.made.len == GUNZIPPED_MAX)
        return actual.fault;
    if (actual.is_whole != expected.is_whole)
        return actual.is_whole ? "taken, and zlib refuses it" : actual.why ? actual.why : "refused";
    if (!actual.is_whole)
        return NULL;
    if (actual.made.len != expected.made.len ||
        memcmp(actual.made.bytes, expected.made.bytes, expected.made.len) != 0)
        return "other content than zlib's";
    return NULL;
}
