/* SPDX-License-Identifier: MIT */
#include "work.h"
#include "src/blocks/deflate_find.h"
#include "src/blocks/deflate_parse.h"
#include "src/blocks/window.h"
#include "src/blocks/zstd_parse.h"

#include <stdio.h>
#include <stdlib.h>

/* Steps that a block, or a run, takes beside what is counted of it. */
#define BLOCK_STEPS 64
#define RUN_STEPS 4096

struct work work;

static const struct definitions *before; /* of the run of zstd that is parsed */

uint64_t work_max = UINT64_MAX;
const char *work_of = "";

uint64_t work_steps(void)
{
    return work.tried + work.headers + work.parsed + work.operations + work.tables + work.executed +
           BLOCK_STEPS * work.blocks + RUN_STEPS * work.runs;
}

uint64_t work_steps_of_runs(void)
{
    return work.again + RUN_STEPS * work.runs;
}

static void check(void)
{
    if (work_steps() <= work_max)
        return;
    printf("FAIL: %s: more than %llu steps\n", work_of, (unsigned long long)work_max);
    exit(1);
}

/* The linker has src/blocks call these, and these what they are named after. */
uint64_t __real_deflate_find(const struct deflate_input *input, uint64_t from, uint64_t to,
                             int64_t *budget);
uint64_t __wrap_deflate_find(const struct deflate_input *input, uint64_t from, uint64_t to,
                             int64_t *budget);
enum deflate_read __real_deflate_read_codes(const struct deflate_input *input, uint64_t *bit,
                                            struct deflate_codes *codes);
enum deflate_read __wrap_deflate_read_codes(const struct deflate_input *input, uint64_t *bit,
                                            struct deflate_codes *codes);
enum deflate_stop __real_deflate_parse(struct deflate_parser *parser,
                                       const struct deflate_input *input,
                                       struct deflate_place *place, uint64_t until,
                                       struct parsed_run *run);
enum deflate_stop __wrap_deflate_parse(struct deflate_parser *parser,
                                       const struct deflate_input *input,
                                       struct deflate_place *place, uint64_t until,
                                       struct parsed_run *run);
enum deflate_read __real_deflate_read_header(const struct deflate_input *input, uint64_t *bit,
                                             struct deflate_header *header);
enum deflate_read __wrap_deflate_read_header(const struct deflate_input *input, uint64_t *bit,
                                             struct deflate_header *header);
void __real_deflate_tables_build(struct deflate_tables *tables, const struct deflate_codes *codes);
void __wrap_deflate_tables_build(struct deflate_tables *tables, const struct deflate_codes *codes);
void __real_zstd_parse(struct zstd_run *run, const struct block_loops *loops);
void __wrap_zstd_parse(struct zstd_run *run, const struct block_loops *loops);
int __real_sequence_table_read(struct sequence_table *table, enum sequence_kind kind,
                               enum table_mode mode, const unsigned char *in, size_t len);
int __wrap_sequence_table_read(struct sequence_table *table, enum sequence_kind kind,
                               enum table_mode mode, const unsigned char *in, size_t len);
int __real_huffman_table_read(struct huffman_table *table, const unsigned char *in, size_t len);
int __wrap_huffman_table_read(struct huffman_table *table, const unsigned char *in, size_t len);
const unsigned char *__real_window_append(struct window *window, const struct block_loops *loops,
                                          const struct parsed_run *run);
const unsigned char *__wrap_window_append(struct window *window, const struct block_loops *loops,
                                          const struct parsed_run *run);

/* --- deflate --- */

uint64_t __wrap_deflate_find(const struct deflate_input *input, uint64_t from, uint64_t to,
                             int64_t *budget)
{
    const uint64_t found = __real_deflate_find(input, from, to, budget);
    const uint64_t end = found == DEFLATE_NONE ? to : found;
    work.tried += end > from ? end - from : 0;
    check();
    return found;
}

enum deflate_read __wrap_deflate_read_codes(const struct deflate_input *input, uint64_t *bit,
                                            struct deflate_codes *codes)
{
    const uint64_t begin = *bit;
    const enum deflate_read read = __real_deflate_read_codes(input, bit, codes);
    work.headers += *bit - begin;
    check();
    return read;
}

enum deflate_stop __wrap_deflate_parse(struct deflate_parser *parser,
                                       const struct deflate_input *input,
                                       struct deflate_place *place, uint64_t until,
                                       struct parsed_run *run)
{
    const uint64_t begin = place->bit;
    const enum deflate_stop stop = __real_deflate_parse(parser, input, place, until, run);
    work.parsed += place->bit - begin;
    work.operations += run->operations_len;
    check();
    return stop;
}

enum deflate_read __wrap_deflate_read_header(const struct deflate_input *input, uint64_t *bit,
                                             struct deflate_header *header)
{
    work.blocks++;
    return __real_deflate_read_header(input, bit, header);
}

void __wrap_deflate_tables_build(struct deflate_tables *tables, const struct deflate_codes *codes)
{
    work.tables += (1 << LITERAL_BITS) + (1 << DISTANCE_BITS);
    __real_deflate_tables_build(tables, codes);
}

/* --- zstd --- */

void __wrap_zstd_parse(struct zstd_run *run, const struct block_loops *loops)
{
    before = &run->before;
    __real_zstd_parse(run, loops);
    work.runs++;
    work.blocks += run->count;
    if (!run->parsed.is_doubtful)
        work.operations += run->parsed.operations_len;
    check();
}

/* A table was made of a description. */
static void add_table(const unsigned char *in, unsigned log)
{
    const unsigned char *begin = (const unsigned char *)before;
    const bool is_again = before && in >= begin && in < begin + sizeof *before;
    work.tables += UINT64_C(1) << log;
    work.again += is_again ? UINT64_C(1) << log : 0;
}

int __wrap_sequence_table_read(struct sequence_table *table, enum sequence_kind kind,
                               enum table_mode mode, const unsigned char *in, size_t len)
{
    const int used = __real_sequence_table_read(table, kind, mode, in, len);
    if (used >= 0 && table && mode != TABLE_REPEATED)
        add_table(in, table->log);
    return used;
}

int __wrap_huffman_table_read(struct huffman_table *table, const unsigned char *in, size_t len)
{
    const int used = __real_huffman_table_read(table, in, len);
    if (used >= 0)
        add_table(in, table->log);
    return used;
}

/* --- both --- */

const unsigned char *__wrap_window_append(struct window *window, const struct block_loops *loops,
                                          const struct parsed_run *run)
{
    work.executed += run->content;
    return __real_window_append(window, loops, run);
}
