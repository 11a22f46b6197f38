/* SPDX-License-Identifier: MIT */
/* Counts of bytes by all kernels that this processor can run, against a naive count: what tables
 * of pairs of bytes can get wrong. Data are mostly one pair, so that narrow counters come round,
 * but for the bytes that are looked at to choose a table; lengths are around those of pieces and
 * blocks; a byte that is not ASCII is at every place of a step; all lie between pages that must not
 * be touched. */
#include "src/cpu/count.h"
#include "tests/helpers/guarded.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <string.h>

#define CAPACITY ((size_t)1 << 20)

/* As in src/cpu/count_bytes.h. */
#define BLOCK ((size_t)32 << 10)
#define PIECE ((size_t)65535 * 4 / 64 * 64)
#define LOOK_EVERY ((size_t)4 << 10)
#define LOOK 68

enum looks { LOOKS_ASCII, LOOKS_ANY, LOOKS_HALF };

static unsigned cases, wrong;

static void check(const struct cpu_kernels *kernels, const char *what, const unsigned char *data,
                  size_t len)
{
    uint64_t expected[256] = {0}, counts[256] = {0};
    for (size_t i = 0; i < len; i++)
        expected[data[i]]++;
    for (unsigned value = 0; value < 256; value++) /* they are added to */
        expected[value] += counts[value] = value * 3;
    kernels->count_bytes(data, len, counts);
    cases++;
    if (memcmp(counts, expected, sizeof counts) == 0)
        return;
    fprintf(stderr, "FAIL: %s, %s, %zu bytes\n", kernels->name, what, len);
    wrong++;
}

static unsigned char random_byte(enum looks looks)
{
    return (unsigned char)random_below(
        looks == LOOKS_ANY || (looks == LOOKS_HALF && random_below(2)) ? 256 : 128);
}

/* Fills data[0..len) with a pair, but for the bytes that are looked at in pieces of so many. */
static void fill_pair(unsigned char *data, size_t len, size_t piece, enum looks looks,
                      const char *pair)
{
    for (size_t i = 0; i < len; i++)
        data[i] = i % piece % LOOK_EVERY < LOOK ? random_byte(looks) : (unsigned char)pair[i % 2];
}

/* One pair over and over, in pieces of all the lengths that are treated apart. */
static void check_pairs(const struct cpu_kernels *kernels, unsigned char *scratch)
{
    static const char pairs[][3] = {"ab", "aa", "\xff\xff", "\200a", "a\x80", "\x7f\x7f", "zz"};
    static const size_t lengths[] = {0,
                                     1,
                                     511,
                                     512,
                                     513,
                                     32767,
                                     32768,
                                     49151,
                                     49152,
                                     49153,
                                     2 * BLOCK - 1,
                                     BLOCK + 28739,
                                     BLOCK + 28740,
                                     3 * BLOCK + 63,
                                     4 * BLOCK - 1,
                                     4 * BLOCK,
                                     131072,
                                     PIECE - 65,
                                     PIECE - 64,
                                     PIECE - 1,
                                     PIECE,
                                     PIECE + 1,
                                     PIECE + 63,
                                     262140,
                                     262144,
                                     262145,
                                     PIECE + 49152,
                                     2 * PIECE,
                                     2 * PIECE + 3,
                                     CAPACITY - 1,
                                     CAPACITY};
    for (size_t pair = 0; pair < sizeof pairs / sizeof pairs[0]; pair++)
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
            for (int looks = LOOKS_ASCII; looks <= LOOKS_HALF; looks++) {
                size_t len = lengths[i];
                unsigned char *data = looks % 2 ? scratch : scratch + CAPACITY - len;
                fill_pair(data, len, PIECE, (enum looks)looks, pairs[pair]);
                check(kernels, "one pair", data, len);
                fill_pair(data, len, CAPACITY, (enum looks)looks, pairs[pair]);
                check(kernels, "one pair in large pieces", data, len);
            }
}

/* A pair as often as a counter of 8 bits takes to come round once or more, and once more or less,
 * one after the other or every third. */
static void check_carries(const struct cpu_kernels *kernels, unsigned char *scratch)
{
    static const unsigned often[] = {254, 255, 256, 257, 511, 512, 513, 768, 32768, 65279, 65280};
    for (size_t i = 0; i < sizeof often / sizeof often[0]; i++)
        for (unsigned every = 1; every <= 3; every += 2) {
            unsigned left = often[i];
            for (size_t at = 0; at < PIECE; at += 2) {
                bool looked_at = at % LOOK_EVERY < LOOK;
                scratch[at] = (unsigned char)random_below(254);
                scratch[at + 1] = (unsigned char)random_below(256);
                if (left > 0 && !looked_at && at / 2 % every == 0) {
                    scratch[at] = 254;
                    scratch[at + 1] = 255;
                    left--;
                }
            }
            check(kernels, "a pair some times", scratch, PIECE);
        }
}

/* One byte that is not ASCII, at every place of a step, of text or of one pair. */
static void check_positions(const struct cpu_kernels *kernels, unsigned char *scratch, bool quick)
{
    const size_t len = 4 * BLOCK;
    for (size_t at = 0; at < 64; at++)
        for (unsigned value = 0x80; value <= 0xff; value += quick ? 127 : 1) {
            fill_pair(scratch, len, PIECE, LOOKS_ASCII, "et");
            for (size_t step = 128; step < len; step += 4096)
                scratch[step + at] = (unsigned char)value;
            check(kernels, "a byte that is not ASCII", scratch, len);
        }
}

/* Kinds of data by turns, so that all tables are used in one piece, at all alignments. */
static void check_turns(const struct cpu_kernels *kernels, unsigned char *scratch, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        size_t begin = random_below(130), len = CAPACITY - begin - random_below(700000);
        unsigned kind = 0, shift = 10 + random_below(8);
        for (size_t i = 0; i < len; i++) {
            if (i % ((size_t)1 << shift) == 0)
                kind = random_below(5);
            scratch[begin + i] = kind == 0   ? (unsigned char)('a' + random_below(26))
                                 : kind == 1 ? (unsigned char)random_below(256)
                                 : kind == 2 ? 'x'
                                 : kind == 3 ? (unsigned char)(i % 2 ? 0 : 0xc3)
                                             : (unsigned char)(random_below(9) ? ' ' : 0xe2);
        }
        check(kernels, "kinds by turns", scratch + begin, len);
    }
}

/* Many calls one after the other, of odd lengths, that add to the same counts. */
static void check_calls(const struct cpu_kernels *kernels, unsigned char *scratch)
{
    uint64_t expected[256] = {0}, counts[256] = {0};
    fill_pair(scratch, CAPACITY, PIECE, LOOKS_HALF, "e ");
    for (size_t at = 0, len; at < CAPACITY; at += len) {
        len = (random_below(90000) | 1);
        if (len > CAPACITY - at)
            len = CAPACITY - at;
        kernels->count_bytes(scratch + at, len, counts);
    }
    for (size_t i = 0; i < CAPACITY; i++)
        expected[scratch[i]]++;
    cases++;
    if (memcmp(counts, expected, sizeof counts) != 0) {
        fprintf(stderr, "FAIL: %s, calls of odd lengths\n", kernels->name);
        wrong++;
    }
}

int main(void)
{
    bool quick = scale_is_small_or_slow();
    unsigned char *scratch = guarded_memory(CAPACITY);
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++) {
        if (!(*kernels)->runs_here()) {
            printf("left out: %s: this processor lacks it\n", (*kernels)->name);
            continue;
        }
        check_pairs(*kernels, scratch);
        check_carries(*kernels, scratch);
        check_positions(*kernels, scratch, quick);
        check_turns(*kernels, scratch, scale_of(10, 60, 600));
        for (int round = 0; round < 5; round++)
            check_calls(*kernels, scratch);
        printf("%s: %u counts so far, %u wrong\n", (*kernels)->name, cases, wrong);
    }
    return wrong != 0;
}
