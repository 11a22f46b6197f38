/* SPDX-License-Identifier: MIT */
/* Files that are full of work (tests/helpers/hostile.h), decoded by blocks: the work is counted,
 * not the time. Beside that of decoding each block once it is limited by the bytes of the file, as
 * doc/decoding.md says. */
#include "src/blocks/gzip_chain.h"
#include "tests/helpers/block_courses.h"
#include "tests/helpers/hostile.h"
#include "tests/helpers/need.h"
#include "tests/helpers/scale.h"
#include "tests/helpers/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTENT_CAP ((size_t)100 << 20)

/* Steps for each byte of a gzip file. All bits are tried, and a piece costs 1/4 and 4 times its
 * bits; a run may have half a piece more, which its last block takes. And those of a few pieces. */
#define GZIP_STEPS (8 + 2 + 32 + 12)
#define GZIP_STEPS_MORE (4 * GZIP_PIECE * GZIP_STEPS)

/* The same for zstd: what runs take, and tables that are made again for them. */
#define ZSTD_STEPS 32
#define ZSTD_STEPS_MORE 100000

static unsigned cases, wrong;
static unsigned char *content;
static struct helpers helpers; /* none: all is done in one thread */

/* Returns the steps that it takes to decode each block of a gzip file once. */
static uint64_t steps_once(const struct hostile_file *file)
{
    static struct gzip_run run;
    static struct gzip_chain chain;
    struct gzip_cutter cutter = {.piece = GZIP_PIECE};
    const struct block_loops *loops = block_loops_find(NULL);
    const struct parsed_run *parsed;
    const char *unused;
    enum gzip_chained chained = GZIP_PASSED;
    bool more = true;
    work = (struct work){.tried = 0};
    if (gzip_run_open(&run, loops) != 0 || gzip_chain_open(&chain, loops) != 0)
        exit(99);
    for (size_t at = 0; more && chained == GZIP_PASSED;) {
        gzip_cutter_begin(&cutter, &run);
        at += gzip_run_fill(&run, file->bytes + at, file->len - at);
        more = gzip_cutter_end(&cutter, &run);
        while ((chained = gzip_chain_next(&chain, &run, &parsed, &unused)) == GZIP_CHAINED) {
            gzip_chain_add(&chain, parsed->content);
            work.executed += parsed->content;
        }
    }
    gzip_run_close(&run);
    gzip_chain_close(&chain);
    return work_steps();
}

static void report(const char *name, const char *what, uint64_t is, uint64_t most)
{
    cases++;
    wrong += is > most;
    if (is > most)
        printf("FAIL: %s: %s: %llu, more than %llu\n", name, what, (unsigned long long)is,
               (unsigned long long)most);
}

/* Decodes a file, in steps of any size. */
static struct block_result decode(const struct hostile_file *file,
                                  const struct block_format *format)
{
    struct block_decoder *decoder = NULL;
    const struct course course = course_random((size_t)1 << 20);
    const struct block_result result = course_decode(&decoder, &helpers, format, &course,
                                                     file->bytes, file->len, content, CONTENT_CAP);
    block_decoder_close(decoder);
    return result;
}

static void check_gzip(const char *name, const struct hostile_file *file)
{
    const uint64_t once = steps_once(file), most = once + GZIP_STEPS * file->len + GZIP_STEPS_MORE;
    work = (struct work){.tried = 0};
    work_max = 2 * most;
    work_of = name;
    (void)decode(file, &block_format_gzip);
    report(name, "steps", work_steps(), most);
    report(name, "bits that are tried", work.tried, 8 * file->len);
    work_max = UINT64_MAX;
}

static void check_zstd(const char *name, const struct hostile_file *file)
{
    work = (struct work){.tried = 0};
    const struct block_result result = decode(file, &block_format_zstd);
    report(name, "steps of runs", work_steps_of_runs(),
           ZSTD_STEPS * file->len + result.made / 8 + ZSTD_STEPS_MORE);
}

int main(void)
{
    const size_t size = scale_of(2000000, 10000000, 10000000);
    const char *name;
    struct reason why;
    content = need(malloc(CONTENT_CAP));
    helpers_start(&helpers, 0);
    if (codec_gzip.load(&why) != 0) {
        printf("skipped: %s\n", why.text);
        return 77;
    }
    for (size_t kind = 0; (name = hostile_name(kind)); kind++) {
        struct hostile_file file = hostile_make(name, size);
        if (strncmp(name, "gzip", 4) == 0)
            check_gzip(name, &file);
        else
            check_zstd(name, &file);
        hostile_free(&file);
    }
    helpers_end(&helpers);
    free(content);
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong > 0;
}
