/* SPDX-License-Identifier: MIT */
/* The kernels in plain C. Letters are counted as bytes and mapped. Characters are found with
 * vectors of four words, which any compiler makes the best of. */
#include "count.h"
#include "src/base/byte_masks.h"
#include "src/text/field_parser.h"

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define PAIRS_VECTOR 16

#include "count_characters.h"
#define step_is_ascii characters_are_ascii
#include "count_bytes.h"
#include "count_numbers.h"

/* --- bytes and letters --- */

void count_byte_by_byte(const struct histogram_spec *spec, const unsigned char *data, size_t len,
                        uint64_t *counts)
{
    for (size_t i = 0; i < len; i++)
        if (spec->bin_of[data[i]] != NO_BIN)
            counts[spec->bin_of[data[i]]]++;
}

void portable_count_bytes(const unsigned char *data, size_t len, uint64_t *counts)
{
    count_in_pieces(data, len, counts);
}

static void count_letters(const struct count_plan *plan, const unsigned char *data, size_t len,
                          uint64_t *counts)
{
    if (len < BYTES_FEW) {
        count_byte_by_byte(plan->spec, data, len, counts);
        return;
    }
    uint64_t bytes[256] = {0};
    portable_count_bytes(data, len, bytes);
    histogram_spec_map(plan->spec, bytes, counts);
}

static void prepare_letters(struct count_plan *plan)
{
    (void)plan; /* the histogram is enough */
}

/* --- characters --- */

/* Above this number of ASCII bytes among 64, all bytes are gathered. */
#define ASCII_MUCH 16

/* Four characters, a word each. */
typedef uint32_t words __attribute__((vector_size(16)));
typedef int32_t signed_words __attribute__((vector_size(16)));

/* Masks of 64 bytes: those that are not ASCII, and those that begin characters of at least two,
 * three and four bytes, by their upper bits alone. */
struct portable_firsts {
    uint64_t beyond, two, three, four;
};

INLINE struct portable_firsts find_firsts(const unsigned char *data)
{
    struct portable_firsts firsts;
    firsts.beyond = byte_mask_bit(data, 7);
    firsts.two = firsts.beyond & byte_mask_bit(data, 6);
    firsts.three = firsts.two & byte_mask_bit(data, 5);
    firsts.four = firsts.three & byte_mask_bit(data, 4);
    return firsts;
}

/* Returns which words are less than others, all below 2^31: all bits, or none. */
INLINE words words_below(words some, words others)
{
    return (words)((signed_words)some < (signed_words)others);
}

/* Returns the code points of four characters, given a word of bytes for each, the first byte
 * lowest; bytes after a character's own may be any. If has_4 is false, none has four bytes. Adds to
 * *wrong the characters that have another number of bytes than they need. Six bits of each byte are
 * joined, and those of other bytes shifted out; a first byte of four leaves its fifth bit, which is
 * always set. */
INLINE words points_of(words bytes, bool has_4, words *wrong)
{
    const words twelves = (bytes & 0x003f001f) << 6 | (bytes & 0x3f003f00) >> 8;
    const words all = (twelves << 12 | twelves >> 16) & 0xffffff;
    const words of_3 = (words)((bytes & 0x20) != 0);
    words points = (of_3 & all >> 6) | (~of_3 & all >> 12);
    words min = (of_3 & 0x780) + 0x80;
    if (has_4) {
        const words of_4 = (words)((bytes & 0x30) == 0x30);
        points = (of_4 & (all ^ 0x400000)) | (~of_4 & points);
        min += of_4 & 0xf800;
        *wrong |= words_below((words){0} + 0x10ffff, points);
    }
    *wrong |= words_below(points, min) | (words)((points & 0x1ff800) == 0xd800);
    return points;
}

/* Decodes the characters that begin at the bits of `first`, and repeats the last one up to three
 * times. False if some are wrong. */
INLINE bool decode(const unsigned char *data, uint64_t first, unsigned count, bool has_4,
                   uint32_t *rows)
{
    const uint64_t last = mask_highest(first);
    words wrong = {0};
    for (unsigned i = 0; i < count; i += 4) {
        words four;
#pragma GCC unroll 4
        for (unsigned j = 0; j < 4; j++) {
            four[j] = byte_word_of_4(data + __builtin_ctzll(first | last));
            first &= first - 1;
        }
        four = points_of(four, has_4, &wrong);
        memcpy(rows + i, &four, sizeof four);
    }
    uint64_t halves[2];
    memcpy(halves, &wrong, sizeof halves);
    return (halves[0] | halves[1]) == 0;
}

/* Gathers the ASCII of 64 bytes, or all of them if that is much. */
INLINE void gather_ascii(const unsigned char *data, uint64_t ascii, struct character_bytes *bytes)
{
    const unsigned count = mask_count(ascii);
    unsigned char *to = bytes->gathered + bytes->len;
    if (count > ASCII_MUCH) {
        characters_gather_all(data, bytes);
        return;
    }
    for (unsigned i = 0; i < count; i += 4)
#pragma GCC unroll 4
        for (unsigned j = 0; j < 4; j++) {
            to[i + j] = data[__builtin_ctzll(ascii | 1ull << 63)];
            ascii &= ascii - 1;
        }
    bytes->len += count;
}

/* Branches only on what is predictable in text of several scripts: the number of characters, by
 * fours, and whether some have four bytes. */
INLINE size_t find_characters(const unsigned char *data, uint32_t *rows, size_t *n,
                              struct character_bytes *bytes)
{
    const struct portable_firsts firsts = find_firsts(data);
    if (firsts.beyond == 0)
        return CHARACTERS_ASCII;
    const uint64_t expected = firsts.two << 1 | firsts.three << 2 | firsts.four << 3;
    if (expected != (firsts.beyond & ~firsts.two))
        return 0;
    const uint64_t cut =
        (firsts.two & 1ull << 63) | (firsts.three & 1ull << 62) | (firsts.four & 1ull << 61);
    const unsigned used = cut ? (unsigned)__builtin_ctzll(cut) : 64;
    const uint64_t inside = used < 64 ? (1ull << used) - 1 : UINT64_MAX;
    const uint64_t first = firsts.two & inside;
    const unsigned count = mask_count(first);
    const bool is_right = (firsts.four & inside) ? decode(data, first, count, true, rows + *n)
                                                 : decode(data, first, count, false, rows + *n);
    if (!is_right)
        return 0;
    *n += count;
    gather_ascii(data, ~firsts.beyond, bytes);
    return used;
}

void portable_count_characters(const struct count_plan *plan, const unsigned char *data, size_t len,
                               struct tally *tally, struct paged_counts *paged)
{
    count_characters(plan, data, len, tally, paged);
}

/* --- the kernels --- */

static bool portable_runs_here(void)
{
    return true;
}

const struct cpu_kernels cpu_kernels_portable = {
    .name = "portable",
    .about = "tables",
    .runs_here = portable_runs_here,
    .prepare_letters = prepare_letters,
    .count_letters = count_letters,
    .count_bytes = portable_count_bytes,
    .count_values = count_values,
    .count_numbers = count_numbers,
    .count_characters = portable_count_characters,
    .parser = &number_parser_portable,
};
