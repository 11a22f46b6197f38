/* SPDX-License-Identifier: MIT */
/* The kernels in plain C. Letters are counted as bytes and mapped. */
#include "count.h"

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define PAIRS_VECTOR 16

#include "characters_ascii.h"
#define step_is_ascii characters_are_ascii
#include "count_bytes.h"

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

#include "count_values.h"
#include "count_numbers.h"
#include "count_keys.h"

#include "characters_portable.h"
#include "count_characters.h"

void portable_count_characters(const struct count_plan *plan, const unsigned char *data, size_t len,
                               struct tally *tally, struct paged_counts *paged)
{
    count_characters(plan, data, len, tally, paged);
}

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
    .count_keyed_numbers = count_keyed_numbers,
    .count_characters = portable_count_characters,
    .parser = &number_parser_portable,
};
