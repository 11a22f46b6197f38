/* SPDX-License-Identifier: MIT */
/* The kernels with AVX-512. */
#include "count.h"

#if defined __x86_64__ && defined __GNUC__

#define TARGET                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,"              \
                          "avx512vbmi2,avx512bitalg,gfni,popcnt")))
#define INLINE static inline __attribute__((always_inline))
#define SQUARE_BY_FMA
#define SUM_BY_IFMA
#define HAS_QUICK_DIGITS

#include "digits_avx512.h"
#include "count_values.h"
#include "count_numbers.h"
#include "count_keys.h"
#include "words_avx512.h"
#include "characters_avx512.h"
#include "count_characters.h"

static bool avx512_runs_here(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("gfni") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("popcnt");
}

/* A letter has one class, which is its entry in a table of 128. */
static void prepare_letters(struct count_plan *plan)
{
    struct letter_classes *letters = &plan->letters;
    letters->count = (unsigned)plan->spec->bins;
    for (unsigned bin = 0; bin < letters->count; bin++)
        letters->bin_of[bin] = (uint8_t)bin;
    for (unsigned value = 0; value < 128; value++) {
        unsigned bin = plan->spec->bin_of[value];
        if (bin != NO_BIN)
            letters->table[bin / 8][value] = (uint8_t)(1u << bin % 8);
    }
}

TARGET static void count_letter_group(const uint8_t *table, const unsigned char *data,
                                      size_t rounds, uint64_t *totals)
{
    struct lookup by = {true, {_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64)}};
    count_rounds(data, rounds, &by, totals);
}

static void count_letters(const struct count_plan *plan, const unsigned char *data, size_t len,
                          uint64_t *counts)
{
    const struct letter_classes *letters = &plan->letters;
    uint64_t totals[CLASS_GROUPS * 8] = {0};
    while (len >= ROUND) {
        size_t rounds = len / ROUND < ROUNDS_MAX ? len / ROUND : ROUNDS_MAX;
        for (unsigned first = 0; first < letters->count; first += 8)
            count_letter_group(letters->table[first / 8], data, rounds, totals + first);
        data += rounds * ROUND;
        len -= rounds * ROUND;
    }
    for (unsigned kind = 0; kind < letters->count; kind++)
        counts[letters->bin_of[kind]] += totals[kind];
    count_byte_by_byte(plan->spec, data, len, counts);
}

static void count_values_or_words(const struct count_plan *plan, const unsigned char *data,
                                  size_t len, struct tally *tally, struct paged_counts *paged)
{
    const struct histogram_spec *spec = plan->spec;
    size_t done = 0;
    if (spec->channels <= 1 && spec->type.size == 4 && !spec->type.big_endian &&
        spec->binning.bins <= BYTE_BINS && plan->rows.way == PLAN_OFFSETS &&
        plan->rows.bits == 32 && !tally->moments && !paged)
        done = count_words_in_byte_bins(plan, data, len, tally->counts);
    tally->samples += done / 4;
    count_values(plan, data + done, len - done, tally, paged);
}

const struct cpu_kernels cpu_kernels_avx512 = {
    .name = "avx512",
    .about = "AVX-512",
    .runs_here = avx512_runs_here,
    .prepare_letters = prepare_letters,
    .count_letters = count_letters,
    .count_bytes = count_bytes,
    .count_values = count_values_or_words,
    .count_numbers = count_numbers,
    .count_keyed_numbers = count_keyed_numbers,
    .count_characters = count_characters,
    .parser = &number_parser_avx512,
};

#endif
