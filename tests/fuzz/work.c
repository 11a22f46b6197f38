/* SPDX-License-Identifier: MIT */
/* For libFuzzer: files whose blocks take as much work as can be found, which is counted: a file is
 * a few bytes over and over. Whatever they are, the work is limited by the bytes of the file and of
 * its content. The first byte says what they become, the second one where that is cut:
 *
 *     0  the content of stored blocks of a member of gzip
 *     1  blocks of one, at any bit
 *     2  blocks of members without content
 *     3  a list of blocks of a zstd frame: type, size, and so many bytes
 *     4  blocks of a frame, as they are
 *
 * Work is how often any part of src/blocks and of what calls it was run: fuzzers.mk has the
 * compiler count it. What takes more of it than all before is kept. `make fuzz` builds it if there
 * is ISA-L. */
#include "src/blocks/gzip_chain.h"
#include "src/frames/codec.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/block_courses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BODY_MAX 4000
#define FILE_SIZE ((size_t)800000)
#define CONTENT_MAX ((size_t)32 << 20)

/* Of work: for each byte of a file, beside decoding each block once, which of zstd is not known;
 * for each byte of content; and for every file. */
#define FOR_GZIP 400
#define FOR_ZSTD 1600
#define FOR_CONTENT 40
#define FOR_FILE 30000000

static unsigned char file[FILE_SIZE + 3 * BODY_MAX], *content;
static size_t len;
static struct helpers helpers; /* none: all is done in one thread */

/* --- counting --- */

/* Those of the compiler. To define the last one leaves out what would write them to a file. */
uint64_t *__llvm_profile_begin_counters(void);
uint64_t *__llvm_profile_end_counters(void);
void __llvm_profile_reset_counters(void);
extern int __llvm_profile_runtime;
int __llvm_profile_runtime;

static uint64_t work_done(void)
{
    uint64_t work = 0;
    for (const uint64_t *at = __llvm_profile_begin_counters(); at < __llvm_profile_end_counters();
         at++)
        work += *at;
    __llvm_profile_reset_counters();
    return work;
}

/* libFuzzer keeps an input with which one of these is set for the first time. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t levels[1024];

/* Rewards work for each byte: 24 levels for twice as much. */
static void reward(double work, size_t bytes)
{
    const double level = 24 * log2(1 + work / (double)bytes);
    levels[level < 1023 ? (size_t)level : 1023] = 1;
}

/* --- files --- */

static void put(const void *bytes, size_t count)
{
    fuzz_require(count <= sizeof file - len, "the file is too long");
    memcpy(file + len, bytes, count);
    len += count;
}

static void put_stored(const unsigned char *body, size_t size, size_t block)
{
    static unsigned char stored[FILE_SIZE];
    for (size_t at = 0; at < sizeof stored; at += size)
        memcpy(stored + at, body, size < sizeof stored - at ? size : sizeof stored - at);
    for (size_t at = 0, some; at < sizeof stored && len < FILE_SIZE; at += some) {
        some = block < sizeof stored - at ? block : sizeof stored - at;
        const unsigned char header[5] = {0, (unsigned char)some, (unsigned char)(some >> 8),
                                         (unsigned char)~some, (unsigned char)(~some >> 8)};
        put(header, sizeof header);
        put(stored + at, some < FILE_SIZE - len ? some : FILE_SIZE - len);
    }
}

/* Puts the first bits over and over. */
static void put_bits(const unsigned char *body, size_t bits)
{
    const size_t begin = len;
    memset(file + begin, 0, FILE_SIZE - begin);
    for (size_t at = 0; at < 8 * (FILE_SIZE - begin); at++)
        if (body[at % bits / 8] >> at % bits % 8 & 1)
            file[begin + at / 8] |= (unsigned char)(1 << at % 8);
    len = FILE_SIZE;
}

static void put_blocks(const unsigned char *body, size_t size)
{
    for (size_t at = 0, some; at + 2 <= size; at += 2 + some) {
        const unsigned type = body[at] % 3;
        some = body[at + 1] < size - at - 2 ? body[at + 1] : size - at - 2;
        const size_t stated = type == 1 ? some * 500 : some, stored = type == 1 ? 1 : some;
        const size_t header = type << 1 | stated << 3;
        const unsigned char bytes[3] = {(unsigned char)header, (unsigned char)(header >> 8),
                                        (unsigned char)(header >> 16)};
        put(bytes, sizeof bytes);
        put(body + at + 2, stored);
    }
}

static void put_file(unsigned kind, unsigned cut, const unsigned char *body, size_t size)
{
    static const unsigned char member[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, zeros[8],
                               frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3}, raw[] = {32, 3, 0};
    len = 0;
    if (kind < 3)
        put(member, sizeof member);
    else
        put(frame, sizeof frame);
    if (kind == 0)
        put_stored(body, size, 65535 - 200 * cut);
    else if (kind == 1)
        put_bits(body, 8 * size - (cut & 7));
    else if (kind > 2) {
        put(raw, sizeof raw);
        put(body, size < 100 ? size : 100);
        for (size_t i = size; i < 100; i++)
            put(zeros, 1);
    }
    while (len < FILE_SIZE) {
        if (kind == 2) {
            put(body, size);
            put(zeros, sizeof zeros);
            put(member, sizeof member);
        } else if (kind == 3) {
            put_blocks(body, size);
        } else {
            put(body, size);
        }
    }
}

/* --- decoding --- */

/* Returns the work of decoding each block of a gzip file once. */
static uint64_t work_once(void)
{
    static struct gzip_run run;
    static struct gzip_chain chain;
    struct gzip_cutter cutter = {.piece = GZIP_PIECE};
    const struct parsed_run *parsed;
    const char *unused;
    enum gzip_chained chained = GZIP_PASSED;
    bool more = true;
    if (!run.in && (gzip_run_open(&run, block_loops_find(NULL)) != 0 ||
                    gzip_chain_open(&chain, block_loops_find(NULL)) != 0))
        abort();
    gzip_chain_begin(&chain);
    (void)work_done();
    for (size_t at = 0; more && chained == GZIP_PASSED && chain.content < CONTENT_MAX;) {
        gzip_cutter_begin(&cutter, &run);
        at += gzip_run_fill(&run, file + at, len - at);
        more = gzip_cutter_end(&cutter, &run);
        while ((chained = gzip_chain_next(&chain, &run, &parsed, &unused)) == GZIP_CHAINED &&
               chain.content < CONTENT_MAX)
            gzip_chain_add(&chain, parsed->content);
    }
    return work_done();
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct reason why;
    (void)argc;
    (void)argv;
    fuzz_require(codec_gzip.load(&why) == 0, "no ISA-L");
    content = malloc(CONTENT_MAX);
    fuzz_require(content, "out of memory");
    helpers_start(&helpers, 0);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct block_decoder *decoders[2];
    if (size < 4 || size > BODY_MAX)
        return -1;
    const unsigned kind = data[0] % 5;
    const bool is_zstd = kind > 2;
    put_file(kind, data[1], data + 2, size - 2);
    const uint64_t once = is_zstd ? 0 : work_once();
    const struct course course = {
        .in_most = 500000, .out_most = CONTENT_MAX, .stop = CONTENT_MAX / 2};
    (void)work_done();
    const struct block_result result = course_decode(
        &decoders[is_zstd], &helpers, is_zstd ? &block_format_zstd : &block_format_gzip, &course,
        file, len, content, CONTENT_MAX);
    const uint64_t work = work_done(), beside = work > once ? work - once : 0;
    const size_t of_file = is_zstd ? FOR_ZSTD : FOR_GZIP;
    if (getenv("FUZZ_WORK"))
        printf("kind %u: outcome %d, %zu bytes of content, work %.1f a byte, beside %.1f\n", kind,
               (int)result.outcome, result.made, (double)work / (double)len,
               (double)beside / (double)len);
    reward((double)work, len + result.made);
    reward((double)beside * 16, len);
    fuzz_require(beside <= of_file * len + FOR_CONTENT * result.made + FOR_FILE,
                 "more work than the file is worth");
    return 0;
}
