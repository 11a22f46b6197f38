/* SPDX-License-Identifier: MIT */
#include "gzip_run.h"

#include <stdlib.h>
#include <string.h>

/* The memory of a run: for literals, enough even if hardly anything is compressed; for operations,
 * twice as much as logs need. */
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

/* A run that used less than this part of its room was short. */
#define CAPACITY_PART 8

/* The budget for reading and parsing in vain is this part of a piece; random bytes take a third of
 * it, for headers that do not fit. The last attempt to parse may take so many times the piece. */
#define BUDGET_PART 4
#define BUDGET_TIMES 4

/* After so many pieces that were searched in vain, only one of so many is searched. */
#define VAIN_MAX 4
#define VAIN_EACH 4

void gzip_run_parse(struct gzip_run *run)
{
    const struct deflate_input input = {run->in, 8 * (uint64_t)run->len};
    const uint64_t until = 8 * (uint64_t)run->piece;
    int64_t budget = (int64_t)until / BUDGET_PART;
    uint64_t from = 0;
    if (atomic_load(run->vain) >= VAIN_MAX && run->number % VAIN_EACH > 0)
        return;
    run->parser.work_max = BUDGET_TIMES * until;
    do {
        run->begin = deflate_find(run->parser.loops, &input, from, until, &budget);
        if (run->begin == DEFLATE_NONE)
            break;
        run->end = (struct deflate_position){.bit = run->begin};
        run->stop = deflate_parse(&run->parser, &input, &run->end, until, &run->parsed);
        from = run->begin + 1;
        budget -= (int64_t)run->parser.work;
    } while (run->stop == DEFLATE_CORRUPT);
    run->is_given_up = run->begin == DEFLATE_NONE && budget < 0 && from > 0;
    if (run->begin == DEFLATE_NONE)
        atomic_fetch_add(run->vain, 1);
}

void gzip_cutter_begin(struct gzip_cutter *cutter, struct gzip_run *run)
{
    run->begin = DEFLATE_NONE;
    run->is_given_up = false;
    run->vain = &cutter->vain;
    run->number = cutter->pieces++;
    memcpy(run->in, cutter->kept, cutter->kept_len);
    run->len = cutter->kept_len;
    run->piece = cutter->piece;
    run->len_max = run->piece + GZIP_BEYOND(run->piece);
    if (run->len_max < run->len) /* pieces were halved more than once */
        run->len_max = run->len;
    run->at = cutter->at;
}

size_t gzip_run_fill(struct gzip_run *run, const unsigned char *in, size_t len)
{
    const size_t space = run->len_max - run->len, some = len < space ? len : space;
    memcpy(run->in + run->len, in, some);
    run->len += some;
    return some;
}

bool gzip_cutter_end(struct gzip_cutter *cutter, struct gzip_run *run)
{
    const bool is_last = run->len < run->len_max;
    if (is_last)
        run->piece = run->len;
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

bool gzip_cutter_claim(struct gzip_cutter *cutter, struct gzip_run *run, uint64_t size)
{
    gzip_cutter_begin(cutter, run);
    const uint64_t left = size - run->at;
    run->len = left < run->len_max ? (size_t)left : run->len_max;
    run->piece = left < run->piece ? (size_t)left : run->piece;
    cutter->at += run->piece;
    return run->piece < left;
}

/* True if a run has used so little of its room that pieces may be twice as large. */
static bool has_room(const struct gzip_run *run)
{
    return run->parsed.literals_len < LITERALS_MAX / CAPACITY_PART &&
           run->parsed.operations_len < OPERATIONS_MAX / CAPACITY_PART &&
           run->parsed.content < DEFLATE_RUN_CONTENT_MAX / CAPACITY_PART;
}

void gzip_cutter_learn(struct gzip_cutter *cutter, const struct gzip_run *run, bool *was_used)
{
    const bool is_used = *was_used;
    *was_used = false;
    if (!is_used) {
        if (run->begin != DEFLATE_NONE)
            atomic_fetch_add(&cutter->vain, 1);
        return;
    }
    atomic_store(&cutter->vain, 0);
    if (run->piece != cutter->piece)
        return;
    if (run->stop == DEFLATE_FULL && cutter->piece >= 2 * GZIP_PIECE_MIN)
        cutter->piece /= 2;
    else if (has_room(run) && cutter->piece <= GZIP_PIECE / 2)
        cutter->piece *= 2;
}
