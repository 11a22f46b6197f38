/* SPDX-License-Identifier: MIT */
/* Files that are full of work (tests/helpers/hostile.h), decoded in pieces: the work is counted,
 * not the time. Beside that of decoding each block once it is limited by the bytes of the file and
 * of its content, as doc/decoding.md says. */
#include "src/parallel/gzip_pieces.h"
#include "src/parallel/zstd_blocks.h"
#include "tests/helpers/hostile.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/readers.h"
#include "tests/helpers/scale.h"
#include "src/input/input.h"
#include "src/tally/histogram_spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Steps of runs for each byte of a gzip file. All bits are tried, and a piece costs 1/4 and 4 times
 * its bits; a run may have half a piece more, which its last block takes. And those of a few
 * pieces. */
#define GZIP_STEPS (8 + 2 + 32 + 12)
#define GZIP_STEPS_MORE (2 * GZIP_PIECE * GZIP_STEPS)

/* The same for zstd: what runs take, and tables that are made again for them. Each run counts as so
 * many steps. */
#define ZSTD_STEPS 32
#define ZSTD_STEPS_MORE 100000
#define ZSTD_RUN_STEPS 4096

/* What was done since it was zeroed. */
static struct {
    uint64_t tried;   /* bits with which a block of deflate may begin */
    uint64_t run;     /* steps for runs of gzip: these; what was read of headers and parsed, in
                       * bits; operations, and entries of tables */
    uint64_t chained; /* bits that the chain of gzip has parsed itself */
    uint64_t again;   /* entries of tables that runs of zstd make again */
    uint64_t runs;    /* of zstd */
} work;

static bool in_run;                      /* a run of gzip is parsed */
static const struct definitions *before; /* of the run of zstd that is parsed */

static unsigned cases, wrong;
static struct histogram_spec spec; /* of bytes */

/* --- counting: the linker has src/parallel call __wrap_..., and these __real_... --- */

void __real_gzip_run_parse(struct gzip_run *run);
void __wrap_gzip_run_parse(struct gzip_run *run);
uint64_t __real_deflate_find(const struct block_loops *loops, const struct deflate_input *input,
                             uint64_t from, uint64_t to, int64_t *budget);
uint64_t __wrap_deflate_find(const struct block_loops *loops, const struct deflate_input *input,
                             uint64_t from, uint64_t to, int64_t *budget);
enum deflate_stop __real_deflate_read_codes(const struct deflate_input *input, uint64_t *bit,
                                            struct deflate_codes *codes);
enum deflate_stop __wrap_deflate_read_codes(const struct deflate_input *input, uint64_t *bit,
                                            struct deflate_codes *codes);
enum deflate_stop __real_deflate_parse(struct deflate_parser *parser,
                                       const struct deflate_input *input,
                                       struct deflate_position *position, uint64_t until,
                                       struct parsed_run *run);
enum deflate_stop __wrap_deflate_parse(struct deflate_parser *parser,
                                       const struct deflate_input *input,
                                       struct deflate_position *position, uint64_t until,
                                       struct parsed_run *run);
void __real_deflate_tables_build(struct deflate_tables *tables, const struct deflate_codes *codes);
void __wrap_deflate_tables_build(struct deflate_tables *tables, const struct deflate_codes *codes);
bool __real_zstd_parse(struct zstd_run *run, const struct block_loops *loops);
bool __wrap_zstd_parse(struct zstd_run *run, const struct block_loops *loops);
int __real_sequence_table_read(struct sequence_table *table, enum sequence_kind kind,
                               enum table_mode mode, const unsigned char *in, size_t len);
int __wrap_sequence_table_read(struct sequence_table *table, enum sequence_kind kind,
                               enum table_mode mode, const unsigned char *in, size_t len);
int __real_huffman_table_read(struct huffman_table *table, const unsigned char *in, size_t len);
int __wrap_huffman_table_read(struct huffman_table *table, const unsigned char *in, size_t len);

void __wrap_gzip_run_parse(struct gzip_run *run)
{
    in_run = true;
    __real_gzip_run_parse(run);
    in_run = false;
}

uint64_t __wrap_deflate_find(const struct block_loops *loops, const struct deflate_input *input,
                             uint64_t from, uint64_t to, int64_t *budget)
{
    const uint64_t found = __real_deflate_find(loops, input, from, to, budget);
    const uint64_t end = found == DEFLATE_NONE ? to : found;
    work.tried += end > from ? end - from : 0;
    work.run += end > from ? end - from : 0;
    return found;
}

enum deflate_stop __wrap_deflate_read_codes(const struct deflate_input *input, uint64_t *bit,
                                            struct deflate_codes *codes)
{
    const uint64_t begin = *bit;
    const enum deflate_stop read = __real_deflate_read_codes(input, bit, codes);
    work.run += in_run ? *bit - begin : 0;
    return read;
}

enum deflate_stop __wrap_deflate_parse(struct deflate_parser *parser,
                                       const struct deflate_input *input,
                                       struct deflate_position *position, uint64_t until,
                                       struct parsed_run *run)
{
    const uint64_t begin = position->bit, operations = run->operations_len;
    const enum deflate_stop stop = __real_deflate_parse(parser, input, position, until, run);
    if (in_run)
        work.run += position->bit - begin + run->operations_len - operations;
    else
        work.chained += position->bit - begin;
    return stop;
}

void __wrap_deflate_tables_build(struct deflate_tables *tables, const struct deflate_codes *codes)
{
    work.run += in_run ? (1 << LITERAL_BITS) + (1 << DISTANCE_BITS) : 0;
    __real_deflate_tables_build(tables, codes);
}

bool __wrap_zstd_parse(struct zstd_run *run, const struct block_loops *loops)
{
    before = &run->before;
    work.runs++;
    return __real_zstd_parse(run, loops);
}

/* A table was made of a description. */
static void add_table(const unsigned char *in, unsigned log)
{
    const unsigned char *begin = (const unsigned char *)before;
    if (before && in >= begin && in < begin + sizeof *before)
        work.again += UINT64_C(1) << log;
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

/* --- files --- */

static void check(const char *name, const char *what, uint64_t is, uint64_t max)
{
    cases++;
    wrong += is > max;
    if (is > max)
        printf("FAIL: %s: %s: %llu, more than %llu\n", name, what, (unsigned long long)is,
               (unsigned long long)max);
}

/* Decodes a file in pieces, or as much of it as is right. Returns the bytes of content. */
static size_t decode(const struct hostile_file *file, const struct count_plan *plan)
{
    char path[32], *name = path;
    const struct input_options options = {.decoding.memlimit = 1 << 27,
                                          .record = record_kind_of_all(&spec),
                                          .piece_size = PIECES_OF_ALL};
    struct reading reading = {.plan = plan, .chunk_size = 1 << 20, .readers = 2};
    const int fd = memfd_create("hostile", MFD_CLOEXEC);
    if (fd < 0 || pwrite(fd, file->bytes, file->len, 0) != (ssize_t)file->len)
        abort();
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    struct source *source = need(source_open(&name, 1, &options));
    if (tally_open(&reading.tally, &spec) != 0)
        abort();
    memset(&work, 0, sizeof work);
    (void)readers_read(source, &reading);
    const size_t made = (size_t)reading.tally.bytes;
    tally_close(&reading.tally);
    source_close(source);
    close(fd);
    return made;
}

int main(void)
{
    const size_t size = scale_of(2000000, 10000000, 10000000);
    histogram_spec_bytes(&spec);
    const struct count_plan plan = count_plan(cpu_kernels_find(NULL), &spec);
    struct hostile_file file;
    struct error error;
    if (codec_gzip.load(&error) != 0 || codec_zstd.load(&error) != 0) {
        printf("skipped: %s\n", error.text);
        return 77;
    }
    for (size_t i = 0; (file = hostile_make("gzip-", i, size)).bytes; i++) {
        decode(&file, &plan);
        check(file.name, "steps of runs", work.run, GZIP_STEPS * file.len + GZIP_STEPS_MORE);
        check(file.name, "bits that are tried", work.tried, 8 * file.len);
        check(file.name, "bits that are chained", work.chained, 8 * file.len);
        free(file.bytes);
    }
    for (size_t i = 0; (file = hostile_make("zstd-", i, size)).bytes; i++) {
        const size_t made = decode(&file, &plan);
        check(file.name, "steps of runs", work.again + ZSTD_RUN_STEPS * work.runs,
              ZSTD_STEPS * file.len + made / 8 + ZSTD_STEPS_MORE);
        free(file.bytes);
    }
    printf("%u cases, %u wrong\n", cases, wrong);
    return wrong > 0;
}
