/* SPDX-License-Identifier: MIT */
/* The table of kernels, and how each mode is counted: by a loop of the kernels, or by one here that
 * needs no vectors, which are values of one byte, pairs and records by their keys alone. A chunk
 * loses its header on the way. */
#include "count.h"
#include "src/base/byte_masks.h"
#include "src/base/byte_word.h"
#include "src/bins/sums.h"
#include "src/input/engine.h"
#include "src/tally/histogram_spec.h"
#include "src/tally/keyed_counts.h"
#include "src/tally/paged_counts.h"
#include "src/text/field_parser.h"

#include <string.h>

const struct cpu_kernels *const all_kernels[] = {
#if defined __x86_64__ && defined __GNUC__
    &cpu_kernels_avx512,
    &cpu_kernels_avx2,
#elif defined __aarch64__ && defined __ARM_NEON
    &cpu_kernels_neon,
#endif
    &cpu_kernels_portable,
    NULL,
};

const struct cpu_kernels *cpu_kernels_find(const char *name)
{
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++)
        if ((!name || strcmp((*kernels)->name, name) == 0) && (*kernels)->runs_here())
            return *kernels;
    return NULL;
}

/* --- values of one byte --- */

/* Adds counts of bytes to a channel's rows as values, and to its moments unless these are NULL. */
static void add_byte_values(const struct histogram_spec *spec, const uint64_t bytes[256],
                            uint64_t *counts, struct moments *moments)
{
    bool is_signed = spec->type.kind == 'i';
    for (int byte = 0; byte < 256; byte++) {
        int128 value = is_signed && byte >= 128 ? byte - 256 : byte;
        counts[binning_row_whole(&spec->binning, value)] += bytes[byte];
        if (moments)
            moments_add_times(moments, value, bytes[byte]);
    }
}

/* Counts values of one byte in interleaved channels. */
static void count_byte_channels(const struct histogram_spec *spec, const unsigned char *data,
                                size_t len, struct tally *tally)
{
    const size_t channels = spec->channels, rows = histogram_spec_rows(spec);
    for (size_t channel = 0; channel < channels; channel++) {
        uint64_t bytes[2][256] = {{0}}; /* used alternately, as neighbours are often equal */
        size_t at = channel;
        for (; at + channels < len; at += 2 * channels) {
            bytes[0][data[at]]++;
            bytes[1][data[at + channels]]++;
        }
        if (at < len)
            bytes[0][data[at]]++;
        for (unsigned byte = 0; byte < 256; byte++)
            bytes[0][byte] += bytes[1][byte];
        add_byte_values(spec, bytes[0], tally->counts + channel * rows,
                        tally->moments ? &tally->moments[channel] : NULL);
    }
    tally->samples += len;
}

static void count_values(const struct count_plan *plan, const unsigned char *data, size_t len,
                         struct tally *tally, struct paged_counts *paged)
{
    const struct histogram_spec *spec = plan->spec;
    if (spec->type.size > 1) {
        plan->kernels->count_values(plan, data, len, tally, paged);
    } else if (spec->channels > 1) {
        count_byte_channels(spec, data, len, tally);
    } else {
        uint64_t bytes[256] = {0};
        plan->kernels->count_bytes(data, len, bytes);
        add_byte_values(spec, bytes, tally->counts, tally->moments);
        tally->samples += len;
    }
}

/* --- pairs of bytes --- */

/* Counts pairs of bytes by one table of 8-bit counters: 64 KiB, most of which the L1 cache holds
 * even if the data are random. Wider counters or a second table would not fit. A counter that wraps
 * adds 256 to the tally.
 *
 * The two halves of the data alternate: neighbouring pairs are often equal, as in a row of blanks,
 * and each would wait for the increment before it to leave the store buffer. */
#define INLINE static inline __attribute__((always_inline))

/* Bytes of each half in a turn. */
#define TURN 8

/* Fewer bytes than this are not worth setting up the table. */
#define PAIRS_FEW ((size_t)16 << 10)

/* Rows that are checked at once: in text, most pairs never occur. */
#define ROWS_AT_ONCE 64

struct pair_counts {
    uint64_t *counts; /* the tally's */
    struct paged_counts *paged;
    uint8_t table[PAIR_ROWS];
};

static void add_times(struct pair_counts *pairs, uint32_t row, uint64_t times)
{
    if (pairs->paged)
        paged_count_times(pairs->paged, row, times);
    else
        pairs->counts[row] += times;
}

static __attribute__((noinline, cold)) void carry(struct pair_counts *pairs, uint32_t row)
{
    add_times(pairs, row, 256);
}

/* Counts the pair that a word ends with. The address is computed first: if it is in one register,
 * the processor forwards the counter from the last store to it much sooner, which makes equal pairs
 * 2.5 times as fast. */
INLINE void count_pair(struct pair_counts *pairs, uint64_t word)
{
    uint8_t *at = pairs->table + (word & 0xffff);
    __asm__("" : "+r"(at));
    if (__builtin_expect(++*at == 0, 0))
        carry(pairs, (uint32_t)(at - pairs->table));
}

/* Returns eight bytes, the first one highest, so that a pair is a 16-bit number in it. */
INLINE uint64_t word_of_pairs(const unsigned char *data)
{
    return __builtin_bswap64(byte_word(data));
}

/* Counts the pairs that begin in the next eight bytes of each half. */
INLINE void count_turn(struct pair_counts *pairs, const unsigned char *one,
                       const unsigned char *other, bool is_aligned)
{
    const uint64_t a = word_of_pairs(one), b = word_of_pairs(other);
    const uint64_t a_odd = is_aligned ? 0 : word_of_pairs(one + 1);
    const uint64_t b_odd = is_aligned ? 0 : word_of_pairs(other + 1);
#pragma GCC unroll 4
    for (unsigned shift = 64; shift > 0; shift -= 16) {
        count_pair(pairs, a >> (shift - 16));
        count_pair(pairs, b >> (shift - 16));
        if (!is_aligned) {
            count_pair(pairs, a_odd >> (shift - 16));
            count_pair(pairs, b_odd >> (shift - 16));
        }
    }
}

/* Counts the pairs that begin in data[begin..end). data[end] may be the last byte. */
static void count_one_by_one(struct pair_counts *pairs, const unsigned char *data, size_t begin,
                             size_t end, size_t step)
{
    for (size_t i = begin; i < end; i += step)
        add_times(pairs, (uint32_t)data[i] << 8 | data[i + 1], 1);
}

/* Adds ROWS_AT_ONCE rows. Skipping zeros would cost more: no processor can predict them. */
static void add_rows(struct pair_counts *pairs, uint32_t begin)
{
    const uint8_t *rows = pairs->table + begin;
    if (pairs->paged) {
        for (uint32_t i = 0; i < ROWS_AT_ONCE; i++)
            paged_count_times(pairs->paged, begin + i, rows[i]);
        return;
    }
    uint64_t *counts = pairs->counts + begin;
    for (uint32_t i = 0; i < ROWS_AT_ONCE; i++)
        counts[i] += rows[i];
}

static void add_table(struct pair_counts *pairs)
{
    for (uint32_t row = 0; row < PAIR_ROWS; row += ROWS_AT_ONCE) {
        uint64_t any = 0;
        for (uint32_t i = 0; i < ROWS_AT_ONCE; i += sizeof any)
            any |= byte_word(pairs->table + row + i);
        if (any > 0)
            add_rows(pairs, row);
    }
}

/* Counts the pairs that begin in data[0..begins). */
INLINE void count_all_pairs(struct pair_counts *pairs, const unsigned char *data, size_t begins,
                            bool is_aligned)
{
    const size_t step = is_aligned ? 2 : 1;
    const size_t half = begins / 2 & ~(size_t)(TURN - 1);
    memset(pairs->table, 0, sizeof pairs->table);
    for (size_t i = 0; i < half; i += TURN)
        count_turn(pairs, data + i, data + half + i, is_aligned);
    add_table(pairs);
    count_one_by_one(pairs, data, 2 * half, begins, step);
}

void count_byte_pairs(const unsigned char *data, size_t len, bool is_aligned, struct tally *tally,
                      struct paged_counts *paged)
{
    struct pair_counts pairs;
    const size_t begins = len > 0 ? len - 1 : 0;
    pairs.counts = tally->counts;
    pairs.paged = paged;
    tally->samples += is_aligned ? len / 2 : begins;
    if (begins < PAIRS_FEW)
        count_one_by_one(&pairs, data, 0, begins, is_aligned ? 2 : 1);
    else if (is_aligned)
        count_all_pairs(&pairs, data, begins, true);
    else
        count_all_pairs(&pairs, data, begins, false);
}

/* --- any mode --- */

static void count_all(const struct count_plan *plan, const unsigned char *data, size_t len,
                      struct tally *tally, struct paged_counts *paged)
{
    const struct cpu_kernels *kernels = plan->kernels;
    switch (plan->spec->mode->id) {
    case MODE_BYTES:
        kernels->count_bytes(data, len, tally->counts);
        tally->samples += len;
        break;
    case MODE_LETTERS:
        kernels->count_letters(plan, data, len, tally->counts);
        tally->samples += len;
        break;
    case MODE_VALUES:
        count_values(plan, data, len, tally, paged);
        break;
    case MODE_CHARACTERS:
    case MODE_CATEGORIES:
    case MODE_BLOCKS:
        kernels->count_characters(plan, data, len, tally, paged);
        break;
    case MODE_PAIRS:
        count_byte_pairs(data, len, plan->spec->is_aligned, tally, paged);
        break;
    case MODE_NUMBERS: /* count_text */
    case MODE_LINES:
    case MODES:
        break;
    }
}

/* --- text --- */

/* Counts records that are nothing but their keys. */
static void count_keys(struct line_reader *lines, struct keyed_counts *keyed)
{
    struct line_batch batch = {.keys = keyed->spans, .weights = keyed->weights};
    while (line_reader_next(lines, &batch))
        keyed_count(keyed, &batch, NULL, NULL);
}

/* The place where samples are counted. */
struct destination {
    struct tally *tally;
    struct paged_counts *paged; /* NULL: in the tally */
    struct keyed_counts *keyed; /* NULL: there are no keys */
};

/* Counts the records of a chunk, as count_chunk does, by their description in its file. Not
 * inlined, as the reader takes some pages of the stack. */
static __attribute__((noinline)) bool
count_records(const struct count_plan *plan, const struct line_spec *spec,
              struct line_buffers *buffers, const struct chunk *chunk, const struct destination *to)
{
    const struct origin *origin = &chunk->origin;
    const unsigned char *data = chunk->data + chunk->begin;
    const size_t len = chunk->len - chunk->begin;
    const bool has_numbers = plan->spec->mode->id == MODE_NUMBERS;
    struct line_reader lines;
    struct error failure;
    /* The header's last newline stays, which then is an empty record. */
    const size_t header = origin->has_header ? field_header_len(&spec->field, data, len) : 0;
    to->tally->newlines += byte_count(data, has_numbers ? header : len, '\n');
    line_reader_open(&lines, spec, plan->parser, plan->weight_total, buffers, data + header,
                     len - header);
    if (has_numbers)
        plan->kernels->count_numbers(plan, &lines, to->tally, to->paged, to->keyed);
    else if (to->keyed)
        count_keys(&lines, to->keyed);
    if (line_reader_close(&lines, &failure) == 0)
        return true;
    if (origin->name)
        error_begin(&failure, origin->name);
    line_filter_fail(&spec->filter, &failure);
    return false;
}

/* Not inlined either, as the buffers take many more. */
static __attribute__((noinline)) bool count_in_buffers(const struct count_plan *plan,
                                                       const struct line_spec *spec,
                                                       const struct chunk *chunk,
                                                       const struct destination *to)
{
    struct line_buffers buffers;
    return count_records(plan, spec, &buffers, chunk, to);
}

static bool count_text(const struct count_plan *plan, const struct line_spec *spec,
                       const struct chunk *chunk, const struct destination *to)
{
    return line_filter_is_used(&spec->filter) || field_is_list(&spec->field)
               ? count_in_buffers(plan, spec, chunk, to)
               : count_records(plan, spec, NULL, chunk, to);
}

/* Counts records by the columns of their file. Nor is this inlined, as a description takes some. */
static __attribute__((noinline)) bool count_columns(const struct count_plan *plan,
                                                    const struct chunk *chunk,
                                                    const struct destination *to)
{
    struct line_spec of_file = plan->spec->lines;
    line_spec_set_columns(&of_file, &chunk->origin.columns);
    return count_text(plan, &of_file, chunk, to);
}

struct count_plan count_plan(const struct cpu_kernels *kernels, const struct histogram_spec *spec)
{
    struct count_plan plan = {.kernels = kernels, .spec = spec};
    if (spec->mode->is_binned)
        plan.rows = row_plan_of(spec);
    if (spec->mode->is_text)
        plan.parser = number_parser_find(kernels->parser);
    else if (spec->mode->id == MODE_LETTERS)
        kernels->prepare_letters(&plan);
    return plan;
}

bool count_can_page(const struct histogram_spec *spec)
{
    return (spec->mode->has_characters && !spec->groups) || spec->mode->has_pairs ||
           (spec->mode->is_binned && spec->type.size > 1 && !spec->lines.has_weight);
}

bool count_marks_blocks(const struct histogram_spec *spec)
{
    return spec->mode->id == MODE_NUMBERS && !spec->lines.has_weight;
}

bool count_chunk(const struct count_plan *plan, const struct chunk *chunk, struct tally *tally,
                 struct paged_counts *paged, struct keyed_counts *keyed)
{
    const struct destination to = {tally, paged, keyed};
    const struct line_spec *lines = &plan->spec->lines;
    const unsigned char *data = chunk->data + chunk->begin;
    size_t len = chunk->len - chunk->begin;
    tally->bytes += chunk->origin.bytes;
    if (plan->spec->mode->is_text)
        return line_spec_has_names(lines) ? count_columns(plan, chunk, &to)
                                          : count_text(plan, lines, chunk, &to);
    if (plan->skip_repeated) {
        data += chunk->repeated;
        len = chunk->origin.bytes;
    }
    count_all(plan, data, len, tally, paged);
    return true;
}

void count_samples(const struct count_plan *plan, const unsigned char *data, size_t len,
                   struct tally *tally)
{
    const struct chunk chunk = {.data = (unsigned char *)data, .len = len};
    (void)count_chunk(plan, &chunk, tally, NULL, NULL);
}
