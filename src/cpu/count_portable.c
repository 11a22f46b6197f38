/* Bytes by tables, in C alone; letters are counted as bytes and mapped. */
#include "characters_ascii.h"
#include "count.h"

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

/* The characters are found one by one. */
static inline size_t portable_find_characters(const unsigned char *data, uint32_t *rows, size_t *n,
                                              struct character_bytes *bytes)
{
    (void)rows, (void)n, (void)bytes;
    return characters_are_ascii(data) ? CHARACTERS_ASCII : 0;
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
