/* SPDX-License-Identifier: MIT */
/* XXH64 in every variant that runs here: against the definition taken literally, and published
 * values. tests/unit/test_zstd_piece.c has the checksums that libzstd writes. */
#include "src/hash/xxh64.h"
#include "tests/helpers/guarded.h"
#include "tests/helpers/random.h"
#include "tests/helpers/scale.h"

#include <stdio.h>
#include <string.h>

#define SIZE ((size_t)1 << 16)
#define GUARDED ((size_t)4096) /* bytes before a page that faults */

static unsigned long cases, wrong;

static void expect(const char *what, size_t len, uint64_t value, uint64_t expected)
{
    cases++;
    if (value == expected)
        return;
    if (wrong++ < 20)
        printf("%s, %zu bytes: %016llx instead of %016llx\n", what, len, (unsigned long long)value,
               (unsigned long long)expected);
}

/* --- the definition --- */

static const uint64_t prime[] = {0,
                                 11400714785074694791u,
                                 14029467366897019727u,
                                 1609587929392839161u,
                                 9650029242287828579u,
                                 2870177450012600261u};

static uint64_t rotated(uint64_t word, int by)
{
    for (; by > 0; by--)
        word = word * 2 + (word >> 63);
    return word;
}

static uint64_t number_of(const unsigned char *at, int bytes)
{
    uint64_t number = 0;
    while (bytes-- > 0)
        number = number * 256 + at[bytes];
    return number;
}

static uint64_t turn(uint64_t lane, uint64_t word)
{
    return rotated(lane + word * prime[2], 31) * prime[1];
}

static uint64_t by_definition(const unsigned char *data, size_t len)
{
    uint64_t lane[4] = {prime[1] + prime[2], prime[2], 0, -prime[1]}, value = prime[5];
    size_t at = 0;
    for (; len - at >= 32; at += 32)
        for (int i = 0; i < 4; i++)
            lane[i] = turn(lane[i], number_of(data + at + 8 * (size_t)i, 8));
    if (len >= 32) {
        value =
            rotated(lane[0], 1) + rotated(lane[1], 7) + rotated(lane[2], 12) + rotated(lane[3], 18);
        for (int i = 0; i < 4; i++)
            value = (value ^ turn(0, lane[i])) * prime[1] + prime[4];
    }
    value += len;
    for (; len - at >= 8; at += 8)
        value = rotated(value ^ turn(0, number_of(data + at, 8)), 27) * prime[1] + prime[4];
    for (; len - at >= 4; at += 4)
        value = rotated(value ^ number_of(data + at, 4) * prime[1], 23) * prime[2] + prime[3];
    for (; at < len; at++)
        value = rotated(value ^ data[at] * prime[5], 11) * prime[1];
    value = (value ^ value >> 33) * prime[2];
    value = (value ^ value >> 29) * prime[3];
    return value ^ value >> 32;
}

/* --- the cases --- */

static uint64_t whole(const struct xxh64_variant *variant, const void *data, size_t len)
{
    struct xxh64 hash;
    xxh64_begin_with(&hash, variant);
    xxh64_add(&hash, data, len);
    return xxh64_value(&hash);
}

/* Nothing is read beyond the end, wherever the data lie. */
static void all_lengths(const struct xxh64_variant *variant, unsigned char *memory, size_t max)
{
    for (size_t len = 0; len <= max; len++) {
        unsigned char *data = memory + GUARDED - len;
        for (size_t i = 0; i < len; i++)
            data[i] = (unsigned char)random_word();
        expect(variant->name, len, whole(variant, data, len), by_definition(data, len));
    }
}

/* Added in pieces of any length, with looks at the value between; and copied in between. */
static void all_cuts(const struct xxh64_variant *variant, const unsigned char *data, int times)
{
    for (int i = 0; i < times; i++) {
        const size_t max = (size_t)1 << random_word() % 10, len = random_word() % (max * 64);
        struct xxh64 hash, copy;
        xxh64_begin_with(&hash, variant);
        for (size_t at = 0, some; at < len; at += some) {
            some = random_word() % (max + 1);
            some = some < len - at ? some : len - at;
            copy = hash;
            xxh64_add(&copy, data + at, some);
            if (random_word() % 8 == 0)
                expect("on the way", at + some, xxh64_value(&copy), by_definition(data, at + some));
            hash = copy;
        }
        expect("in pieces", len, xxh64_value(&hash), by_definition(data, len));
    }
}

/* As printed in descriptions of the algorithm. */
static void published(const struct xxh64_variant *variant)
{
    static const struct {
        const char *text;
        uint64_t value;
    } known[] = {{"", 0xef46db3751d8e999}, {"a", 0xd24ec4f1a98c6e5b}, {"abc", 0x44bc2cf5ad770999}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        expect(known[i].text, strlen(known[i].text),
               whole(variant, known[i].text, strlen(known[i].text)), known[i].value);
}

int main(void)
{
    static unsigned char data[SIZE];
    const bool is_small = scale_is_small();
    unsigned char *memory = guarded_memory(GUARDED);
    for (size_t i = 0; i < SIZE; i++)
        data[i] = (unsigned char)random_word();
    for (const struct xxh64_variant *const *variant = xxh64_variants; *variant; variant++) {
        if (!(*variant)->runs_here()) {
            printf("%s: left out: this processor cannot\n", (*variant)->name);
            continue;
        }
        published(*variant);
        all_lengths(*variant, memory, is_small ? 600 : 2000);
        all_cuts(*variant, data, is_small ? 50 : 500);
    }
    struct xxh64 hash;
    xxh64_begin(&hash);
    xxh64_add(&hash, NULL, 0);
    xxh64_add(&hash, data, SIZE);
    expect("the fastest", SIZE, xxh64_value(&hash), by_definition(data, SIZE));
    printf("%lu hashes, %lu wrong\n", cases, wrong);
    return wrong > 0;
}
