/* SPDX-License-Identifier: MIT */
/* For libFuzzer: files whose blocks take as much work as can be found, which is counted. A file is
 * a few bytes over and over. Whatever they are, the work is limited by the bytes of the file and of
 * its content. The first byte says what they become, the second one where that is cut:
 *
 *     0  the content of stored blocks of a gzip member
 *     1  blocks, or members, at any bit
 *     2  a list of blocks of a zstd frame: type, size, and so many bytes
 *
 * It is decoded in pieces. Work is how often any part of src/parallel and of what calls it was run:
 * fuzzers.mk has the compiler count it. What takes more of it than all before is kept; with
 * FUZZ_WORK in the environment it is printed how much. `make fuzz` builds it if there is ISA-L. */
#include "src/codec/codec.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/need.h"
#include "tests/helpers/random.h"
#include "tests/helpers/readers.h"
#include "src/input/input.h"
#include "src/tally/histogram_spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BODY_MAX 4000
#define FILE_SIZE ((size_t)600000) /* of stored blocks, which are quick */
#define GZIP_SIZE (FILE_SIZE / 4)
#define ZSTD_SIZE (FILE_SIZE / 16)

/* Of work: for each byte of a file, by what its first byte says, as an empty block is made tables
 * for, and stored bytes are not; for each byte of content; and for every file. */
static const uint64_t for_byte[] = {100, 1200, 1200};
#define FOR_CONTENT 40
#define FOR_FILE 4000000

static unsigned char file[FILE_SIZE + 3 * BODY_MAX];
static size_t len;
static int fd; /* of memory that it is a file in */
static struct histogram_spec spec;
static struct count_plan plan;

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

/* Puts the first bits over and over: eight times they are whole bytes. */
static void put_bits(const unsigned char *body, size_t bits)
{
    static unsigned char octet[8 * BODY_MAX];
    memset(octet, 0, bits);
    for (size_t at = 0; at < 8 * bits; at++)
        if (body[at % bits / 8] >> at % bits % 8 & 1)
            octet[at / 8] |= (unsigned char)(1 << at % 8);
    while (len + bits <= GZIP_SIZE)
        put(octet, bits);
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
        put(type == 1 ? bytes : body + at + 2, stored);
    }
}

static void put_file(unsigned kind, unsigned cut, const unsigned char *body, size_t size)
{
    static const unsigned char member[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255},
                               frame[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3},
                               raw[3 + 100] = {32, 3, 0}; /* so that offsets lead somewhere */
    len = 0;
    if (kind < 2) {
        put(member, sizeof member);
        if (kind == 0)
            put_stored(body, size, 65535 - 200 * cut);
        else
            put_bits(body, 8 * size - (cut & 7));
        return;
    }
    put(frame, sizeof frame);
    put(raw, sizeof raw);
    while (len < ZSTD_SIZE)
        put_blocks(body, size);
}

/* --- decoding --- */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    struct error error;
    (void)argc;
    (void)argv;
    fuzz_require(codec_gzip.load(&error) == 0 && codec_zstd.load(&error) == 0, error.text);
    fd = memfd_create("work", 0);
    fuzz_require(fd >= 0, "out of memory");
    histogram_spec_bytes(&spec);
    plan = count_plan(cpu_kernels_find(NULL), &spec);
    return 0;
}

/* Decodes the file, or as much of it as is right. Returns the bytes of content. */
static uint64_t decode(void)
{
    char name[64], *operand = name;
    const struct input_options options = {.decoding.memlimit = 1 << 27,
                                          .record = record_kind_of_all(&spec),
                                          .piece_size = PIECES_OF_ALL};
    struct reading reading = {.plan = &plan, .chunk_size = 1 << 20, .readers = 2};
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    fuzz_require(ftruncate(fd, 0) == 0 && pwrite(fd, file, len, 0) == (ssize_t)len, "no memory");
    struct source *source = source_open(&operand, 1, &options);
    fuzz_require(source && tally_open(&reading.tally, &spec) == 0, "out of memory");
    (void)readers_read(source, &reading);
    const uint64_t made = reading.tally.bytes;
    tally_close(&reading.tally);
    source_close(source);
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t max[3]; /* of work for each byte, so far */
    if (size < 4 || size > BODY_MAX)
        return -1;
    const unsigned kind = data[0] % 3;
    put_file(kind, data[1], data + 2, size - 2);
    (void)work_done();
    random_seed(size);
    const uint64_t made = decode(), work = work_done();
    if (work / len > max[kind]) {
        max[kind] = work / len;
        if (getenv("FUZZ_WORK"))
            fprintf(stderr, "%u: %llu a byte, with %llu bytes of content\n", kind,
                    (unsigned long long)max[kind], (unsigned long long)made);
    }
    reward((double)work, len);
    fuzz_require(work <= for_byte[kind] * len + FOR_CONTENT * made + FOR_FILE,
                 "more work than the file is worth");
    return 0;
}
