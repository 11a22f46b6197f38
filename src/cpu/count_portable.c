/* Bytes by tables, in C alone; letters are counted as bytes and mapped. */
#include "characters_ascii.h"
#include "count.h"
#include "src/base/byte_word.h"

#include <string.h>

#define TARGET
#define OWN(name) portable_##name
#define INLINE static inline __attribute__((always_inline))
#define PAIRS_VECTOR 16

/* Whether 64 bytes are all below 128. */
static inline bool step_is_ascii(const unsigned char *data)
{
    uint64_t words[8];
    memcpy(words, data, sizeof words);
    return ((words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] |
             words[7]) &
            0x8080808080808080u) == 0;
}

#include "count_pairs.h"

void portable_count_bytes(const unsigned char *data, size_t len, uint64_t *counts)
{
    portable_count_in_pieces(data, len, counts);
}

static void portable_count_letters(const struct count_plan *plan, const unsigned char *data,
                                   size_t len, uint64_t *counts)
{
    if (len < BYTES_FEW) {
        count_byte_by_byte(plan->histogram, data, len, counts);
        return;
    }
    uint64_t bytes[256] = {0};
    portable_count_bytes(data, len, bytes);
    histogram_map(plan->histogram, bytes, counts);
}

static void portable_prepare_letters(struct count_plan *plan)
{
    (void)plan; /* the histogram has all that is needed */
}

#include "count_values.h"

/* --- characters --- */

/* Of 64 bytes, a bit each: which ones are not ASCII, and which begin characters of two bytes or
 * more, of three or more, and of four, by their upper bits alone. */
struct portable_firsts {
    uint64_t beyond, two, three, four;
};

/* The lowest bits of eight bytes. */
INLINE uint64_t low_bits(uint64_t word)
{
    return (word & EACH_BYTE(1)) * 0x0102040810204080u >> 56;
}

/* Whether there may be characters: no byte is beyond 0xf7, which is seen soon in what is not text.
 */
INLINE bool portable_find_firsts(const unsigned char *data, struct portable_firsts *sorted)
{
    struct portable_firsts firsts = {0};
    for (unsigned i = 0; i < 64; i += 8) {
        const uint64_t word = byte_word(data + i);
        const uint64_t beyond = word >> 7, two = beyond & word >> 6, three = two & word >> 5;
        const uint64_t four = three & word >> 4;
        if (four & word >> 3 & EACH_BYTE(1))
            return false;
        firsts.beyond |= low_bits(beyond) << i;
        firsts.two |= low_bits(two) << i;
        firsts.three |= low_bits(three) << i;
        firsts.four |= low_bits(four) << i;
    }
    *sorted = firsts;
    return true;
}

/* The six bits of a byte that continues a character. */
INLINE uint32_t six_bits(unsigned char byte)
{
    return byte & 0x3f;
}

INLINE uint32_t decode_2(const unsigned char *at)
{
    return (at[0] & 0x1fu) << 6 | six_bits(at[1]);
}

INLINE uint32_t decode_3(const unsigned char *at)
{
    return (at[0] & 0xfu) << 12 | six_bits(at[1]) << 6 | six_bits(at[2]);
}

INLINE bool is_wrong_3(uint32_t point)
{
    return point < 0x800 || point - 0xd800 < 0x800;
}

/* Adds characters one after the other that all have two bytes, or all three, as decode_by_size. */
INLINE uint32_t *decode_run(const unsigned char *data, unsigned size, unsigned used, uint32_t *row)
{
    bool wrong = false;
    if (size == 2)
        for (unsigned i = 0; i < used; i += 2) {
            *row = decode_2(data + i);
            wrong |= *row++ < 0x80;
        }
    else
        for (unsigned i = 0; i < used; i += 3) {
            *row = decode_3(data + i);
            wrong |= is_wrong_3(*row++);
        }
    return wrong ? NULL : row;
}

/* Adds the characters of two bytes, of three, and of four, each of which has as many bytes as its
 * first one says. Returns where the rows end; or NULL if some are not what their size allows. */
INLINE uint32_t *decode_by_size(const unsigned char *data, struct portable_firsts firsts,
                                uint32_t *row)
{
    bool wrong = false;
    for (uint64_t of_2 = firsts.two & ~firsts.three; of_2 != 0; of_2 &= of_2 - 1) {
        const unsigned char *at = data + __builtin_ctzll(of_2);
        *row = decode_2(at);
        wrong |= *row++ < 0x80;
    }
    for (uint64_t of_3 = firsts.three & ~firsts.four; of_3 != 0; of_3 &= of_3 - 1) {
        const unsigned char *at = data + __builtin_ctzll(of_3);
        *row = decode_3(at);
        wrong |= is_wrong_3(*row++);
    }
    for (uint64_t of_4 = firsts.four; of_4 != 0; of_4 &= of_4 - 1) {
        const unsigned char *at = data + __builtin_ctzll(of_4);
        *row =
            (at[0] & 0xfu) << 18 | six_bits(at[1]) << 12 | six_bits(at[2]) << 6 | six_bits(at[3]);
        wrong |= *row++ - 0x10000 > 0xfffff;
    }
    return wrong ? NULL : row;
}

/* Characters of each size are decoded by themselves, as nobody can foresee which follows which in
 * text of several scripts; their order does not matter. */
INLINE size_t portable_find_characters(const unsigned char *data, uint32_t *rows, size_t *n,
                                       struct character_bytes *bytes)
{
    if (characters_are_ascii(data))
        return CHARACTERS_ASCII;
    struct portable_firsts firsts;
    if (!portable_find_firsts(data, &firsts))
        return 0;
    const uint64_t expected = firsts.two << 1 | firsts.three << 2 | firsts.four << 3;
    if (expected != (firsts.beyond & ~firsts.two))
        return 0;
    const uint64_t cut =
        (firsts.two & 1ull << 63) | (firsts.three & 1ull << 62) | (firsts.four & 1ull << 61);
    const unsigned used = cut ? (unsigned)__builtin_ctzll(cut) : 64;
    if (firsts.beyond == UINT64_MAX && (firsts.three == 0 || firsts.three == firsts.two) &&
        firsts.four == 0) {
        const uint32_t *last = decode_run(data, firsts.three ? 3 : 2, used, rows + *n);
        if (last)
            *n = (size_t)(last - rows);
        return last ? used : 0;
    }
    const uint64_t inside = used < 64 ? (1ull << used) - 1 : UINT64_MAX;
    firsts.two &= inside;
    firsts.three &= inside;
    firsts.four &= inside;
    const uint32_t *end = decode_by_size(data, firsts, rows + *n);
    if (!end)
        return 0;
    *n = (size_t)(end - rows);
    unsigned char *to = bytes->gathered + bytes->len;
    for (uint64_t ascii = ~firsts.beyond & inside; ascii != 0; ascii &= ascii - 1)
        *to++ = data[__builtin_ctzll(ascii)];
    bytes->len = (size_t)(to - bytes->gathered);
    return used;
}

#include "count_characters.h"

void portable_count_characters(const struct count_plan *plan, const unsigned char *data, size_t len,
                               struct tally *tally, struct paged_counts *paged)
{
    portable_count_all_characters(plan, data, len, tally, paged);
}

static bool portable_runs_here(void)
{
    return true;
}

const struct counter counter_portable = {
    .name = "portable",
    .about = "tables",
    .runs_here = portable_runs_here,
    .prepare_letters = portable_prepare_letters,
    .count_letters = portable_count_letters,
    .count_bytes = portable_count_bytes,
    .count_values = portable_count_values,
    .count_numbers = portable_count_numbers,
    .count_characters = portable_count_characters,
    .parser = &number_parser_portable,
};
