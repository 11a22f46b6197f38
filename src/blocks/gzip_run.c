/* SPDX-License-Identifier: MIT */
#include "gzip_run.h"

#include <stdlib.h>
#include <string.h>

/* Room of a run: for literals even if hardly anything is compressed, and twice what logs need for
 * operations. */
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

void gzip_run_parse(struct gzip_run *run)
{
    const struct deflate_input input = {run->in, 8 * (uint64_t)run->len};
    const uint64_t until = 8 * (uint64_t)run->piece;
    uint64_t from = 0;
    do {
        run->begin = deflate_find(&input, from, until);
        if (run->begin == DEFLATE_NONE)
            return;
        run->end = (struct deflate_place){.bit = run->begin};
        run->stop = deflate_parse(&run->parser, &input, &run->end, until, &run->parsed);
        from = run->begin + 1;
    } while (run->stop == DEFLATE_CORRUPT);
}

void gzip_cutter_begin(struct gzip_cutter *cutter, struct gzip_run *run)
{
    const bool was_full = run->begin != DEFLATE_NONE && run->stop == DEFLATE_FULL;
    if (was_full && run->piece == cutter->piece && cutter->piece >= 2 * GZIP_PIECE_LEAST)
        cutter->piece /= 2;
    run->begin = DEFLATE_NONE;
    memcpy(run->in, cutter->kept, cutter->kept_len);
    run->len = cutter->kept_len;
    run->len_max = cutter->piece + GZIP_BEYOND(cutter->piece);
    run->at = cutter->at;
}

size_t gzip_run_fill(struct gzip_run *run, const unsigned char *in, size_t len)
{
    const size_t room = run->len_max - run->len, some = len < room ? len : room;
    memcpy(run->in + run->len, in, some);
    run->len += some;
    return some;
}

bool gzip_cutter_end(struct gzip_cutter *cutter, struct gzip_run *run)
{
    const bool is_last = run->len < run->len_max;
    run->piece = is_last ? run->len : cutter->piece;
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
