/* Bytes by tables, in C alone; letters are counted as bytes and mapped. */
#include "count.h"

#include <string.h>

/* Tables take turns, so that neighbours that are alike do not wait for each other's increment to
 * come back from the store buffer (the idea is Yann Collet's, of zstd and FSE). */
#define TABLES 8

/* Two tables of 1 KiB would have every fourth of them 4 KiB away, where a load seems to need the
 * store before it: words between the tables keep them apart. */
#define TABLE_WORDS (256 + 16)

/* Bytes a turn of the loop; with 16 gcc generates slower code. */
#define STEP 64

/* How far ahead data are fetched from memory, bytes: a page's end stops the processor's own
 * prefetching. Out of the L2 cache it costs nothing. */
#define AHEAD 2048

/* As many bytes as a table's 32 bits can count, even if they are all alike. */
#define BLOCK ((size_t)1 << 30)

/* Fewer bytes than this are not worth setting up the tables. */
#define FEW 512

static inline uint64_t word_at(const unsigned char *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof word);
    return word;
}

static inline void count_word_in_tables(uint64_t word, uint32_t (*tables)[TABLE_WORDS])
{
    tables[0][word & 0xff]++;
    tables[1][word >> 8 & 0xff]++;
    tables[2][word >> 16 & 0xff]++;
    tables[3][word >> 24 & 0xff]++;
    tables[4][word >> 32 & 0xff]++;
    tables[5][word >> 40 & 0xff]++;
    tables[6][word >> 48 & 0xff]++;
    tables[7][word >> 56]++;
}

/* Whether STEP bytes are all the same. */
static inline bool step_is_run(const unsigned char *data)
{
    uint64_t first = word_at(data);
    for (size_t i = 8; i < STEP; i += 8)
        if (word_at(data + i) != first)
            return false;
    return first == (first << 8 | first >> 56);
}

/* Counts bytes [0, the result) of data, a multiple of STEP. A run goes at once: all increments
 * would be to the same eight counters. */
static size_t count_bytes_in_tables(const unsigned char *data, size_t len,
                                    uint32_t (*tables)[TABLE_WORDS])
{
    size_t i = 0;
    for (; i + STEP <= len; i += STEP) {
        __builtin_prefetch(data + i + AHEAD);
        if (step_is_run(data + i)) {
            tables[0][data[i]] += STEP;
            continue;
        }
        for (size_t word = 0; word < STEP; word += 8)
            count_word_in_tables(word_at(data + i + word), tables);
    }
    return i;
}

void portable_count_bytes(const unsigned char *data, size_t len, uint64_t *counts)
{
    while (len >= FEW) {
        uint32_t tables[TABLES][TABLE_WORDS] = {{0}};
        size_t done = count_bytes_in_tables(data, len < BLOCK ? len : BLOCK, tables);
        for (unsigned value = 0; value < 256; value++)
            for (unsigned table = 0; table < TABLES; table++)
                counts[value] += tables[table][value];
        data += done;
        len -= done;
    }
    for (size_t i = 0; i < len; i++)
        counts[data[i]]++;
}

static void portable_count_letters(const struct count_plan *plan, const unsigned char *data,
                                   size_t len, uint64_t *counts)
{
    if (len < FEW) {
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

#define TARGET
#define OWN(name) portable_##name
#define INLINE static inline __attribute__((always_inline))
#include "count_values.h"

static bool portable_runs_here(void)
{
    return true;
}

const struct counter counter_portable = {
    .name = "portable",
    .about = "eight tables",
    .runs_here = portable_runs_here,
    .prepare_letters = portable_prepare_letters,
    .count_letters = portable_count_letters,
    .count_bytes = portable_count_bytes,
    .count_values = portable_count_values,
    .count_numbers = portable_count_numbers,
    .parser = &number_parser_portable,
};
