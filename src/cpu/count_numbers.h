/* SPDX-License-Identifier: MIT */
/* Counts numbers: values of two bytes and more, numbers in text, and these by key. With any vectors
 * that the compiler finds a use for: the body of a file of kernels. That file defines first
 *     TARGET      the attribute of functions that use its instructions, or nothing
 *     INLINE      what functions are declared with that must be inlined
 * and gets count_values and count_numbers for its struct cpu_kernels. A batch of numbers becomes a
 * batch of rows, which are then counted one by one. */
#include "batch_sums.h"
#include "src/tally/keyed_counts.h"
#include "src/tally/paged_counts.h"

/* --- values --- */

/* Few bins have four tables, used alternately, so that equal neighbours do not wait for each other.
 * The tables are added up after PERIOD values, which costs next to nothing. */
#define FEW_BINS 1024
#define TURNS 4
#define PERIOD ((size_t)64 * BATCH)

/* A batch under way. */
struct batch_state {
    union batch values;
    ALIGNED uint32_t rows[BATCH];
    struct batch_moments moments;
};

/* Finds the rows of values of `size` bytes, a constant; narrower ones were widened. Adds the first
 * n to the moments, or begins with them. */
TARGET INLINE void find_rows_of_size(const struct count_plan *plan, struct batch_state *state,
                                     size_t size, size_t n)
{
    const struct value_type *type = &plan->spec->type;
    bool swapped = type->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    if (swapped && type->size == size)
        swap_bytes(&state->values, size);
    if (state->moments.moments)
        add_value_moments(&state->moments, type, &state->values, n, size);
    if (type->kind == 'f')
        rows_of_floats(plan, &state->values, state->rows, size);
    else if (type->kind == 'i')
        rows_of_wholes(plan, &state->values, state->rows, size, 'i');
    else
        rows_of_wholes(plan, &state->values, state->rows, size, 'u');
}

/* Finds the rows of n values at data, BATCH at most; zeros stand for those that are missing. Adds
 * the values to the moments, or begins with them: batch_moments_end must follow before the next
 * batch. */
TARGET static void find_rows(const struct count_plan *plan, const unsigned char *data, size_t n,
                             struct batch_state *state)
{
    size_t size = plan->spec->type.size;
    if (size == 3) {
        widen_3_bytes(&plan->spec->type, data, n, &state->values);
    } else {
        memcpy(state->values.bytes, data, n * size);
        memset(state->values.bytes + n * size, 0, (BATCH - n) * size);
    }
    if (size == 2)
        find_rows_of_size(plan, state, 2, n);
    else if (size <= 4)
        find_rows_of_size(plan, state, 4, n);
    else
        find_rows_of_size(plan, state, 8, n);
}

/* Counts n rows, in pages unless `paged` is NULL. */
TARGET static void count_rows(const uint32_t *rows, size_t n, uint64_t *counts,
                              struct paged_counts *paged)
{
    if (paged)
        paged_count(paged, rows, n);
    else
        count_unrolled(rows, n, counts);
}

/* Tables that are used alternately, for FEW_BINS + 3 rows from `base` on. */
struct turns {
    uint32_t base;
    uint32_t tables[TURNS][FEW_BINS + 3];
};

/* Counts a batch, and adds it to the moments if it was begun. */
TARGET INLINE void count_in_turns(struct turns *turns, struct batch_state *state)
{
    const uint32_t base = turns->base, *rows = state->rows;
    for (size_t block = 0; block < BATCH; block += PARTS_BLOCK) {
        batch_moments_block(&state->moments, block);
        for (size_t i = block; i < block + PARTS_BLOCK; i += TURNS) {
            turns->tables[0][rows[i] - base]++;
            turns->tables[1][rows[i + 1] - base]++;
            turns->tables[2][rows[i + 2] - base]++;
            turns->tables[3][rows[i + 3] - base]++;
        }
    }
    batch_moments_end(&state->moments);
}

/* Adds the tables to counts, of `bins` entries, and begins anew from another base. */
static void end_turns(struct turns *turns, uint64_t *counts, size_t bins, uint32_t base)
{
    for (size_t row = 0; row < FEW_BINS + 3 && turns->base + row < bins; row++)
        for (size_t turn = 0; turn < TURNS; turn++)
            counts[turns->base + row] += turns->tables[turn][row];
    memset(turns->tables, 0, sizeof turns->tables);
    turns->base = base;
}

TARGET static void count_few_bins(const struct count_plan *plan, const unsigned char *data,
                                  size_t batches, struct tally *tally)
{
    struct batch_state state;
    struct turns turns = {0};
    batch_moments_open(&state.moments, tally->moments);
    for (; batches; batches--, data += BATCH * plan->spec->type.size) {
        find_rows(plan, data, BATCH, &state);
        count_in_turns(&turns, &state);
    }
    end_turns(&turns, tally->counts, plan->spec->bins, 0);
}

/* Counts interleaved channels without moments. A batch begins with the first channel. */
static void count_channels(const struct count_plan *plan, const unsigned char *data, size_t values,
                           struct tally *tally, struct paged_counts *paged)
{
    const struct histogram_spec *spec = plan->spec;
    const size_t channels = spec->channels, max = BATCH - BATCH % channels;
    const uint32_t each = (uint32_t)histogram_spec_rows(spec);
    struct batch_state state;
    ALIGNED uint32_t first[BATCH];
    for (size_t i = 0; i < max; i++)
        first[i] = (uint32_t)(i % channels) * each;
    batch_moments_open(&state.moments, NULL);
    while (values > 0) {
        size_t now = values < max ? values : max;
        find_rows(plan, data, now, &state);
        for (size_t i = 0; i < now; i++)
            state.rows[i] += first[i];
        count_rows(state.rows, now, tally->counts, paged);
        tally->samples += now;
        data += now * spec->type.size;
        values -= now;
    }
}

/* Copies n values, one every `step` bytes. The size is a constant. */
TARGET INLINE void gather_size(const unsigned char *data, size_t step, size_t n,
                               unsigned char *restrict values, size_t size)
{
    for (size_t i = 0; i < n; i++)
        memcpy(values + i * size, data + i * step, size);
}

/* Copies n values of one channel. */
TARGET static void gather_channel(const struct histogram_spec *spec, const unsigned char *data,
                                  size_t n, unsigned char *values)
{
    const size_t size = spec->type.size, step = spec->channels * size;
    if (size == 2)
        gather_size(data, step, n, values, 2);
    else if (size == 3)
        gather_size(data, step, n, values, 3);
    else if (size == 4)
        gather_size(data, step, n, values, 4);
    else
        gather_size(data, step, n, values, 8);
}

/* Counts interleaved channels with moments, which take a batch of each channel. */
static void count_channels_apart(const struct count_plan *plan, const unsigned char *data,
                                 size_t values, struct tally *tally, struct paged_counts *paged)
{
    const struct histogram_spec *spec = plan->spec;
    const size_t channels = spec->channels, size = spec->type.size;
    const uint32_t each = (uint32_t)histogram_spec_rows(spec);
    unsigned char gathered[BATCH * 8];
    struct batch_state state;
    tally->samples += values;
    for (size_t left = values / channels, now; left > 0; left -= now) {
        now = left < BATCH ? left : BATCH;
        for (size_t channel = 0; channel < channels; channel++) {
            gather_channel(spec, data + channel * size, now, gathered);
            batch_moments_open(&state.moments, &tally->moments[channel]);
            find_rows(plan, gathered, now, &state);
            batch_moments_end_all(&state.moments);
            for (size_t i = 0; i < now; i++)
                state.rows[i] += (uint32_t)channel * each;
            count_rows(state.rows, now, tally->counts, paged);
        }
        data += now * channels * size;
    }
}

/* Counts a batch after the other, in pages unless `paged` is NULL. */
TARGET static void count_batches(const struct count_plan *plan, const unsigned char *data,
                                 size_t values, struct tally *tally, struct paged_counts *paged)
{
    struct batch_state state;
    batch_moments_open(&state.moments, tally->moments);
    for (size_t now; values > 0; values -= now, data += now * plan->spec->type.size) {
        now = values < BATCH ? values : BATCH;
        find_rows(plan, data, now, &state);
        if (state.moments.values && !paged) {
            batch_moments_end_counting(&state.moments, state.rows, tally->counts);
            continue;
        }
        batch_moments_end_all(&state.moments);
        count_rows(state.rows, now, tally->counts, paged);
    }
}

static void count_values(const struct count_plan *plan, const unsigned char *data, size_t len,
                         struct tally *tally, struct paged_counts *paged)
{
    const struct histogram_spec *spec = plan->spec;
    size_t size = spec->type.size, values = len / size;
    if (spec->channels > 1) {
        if (tally->moments)
            count_channels_apart(plan, data, values, tally, paged);
        else
            count_channels(plan, data, values, tally, paged);
        return;
    }
    tally->samples += values;
    while (!paged && spec->bins <= FEW_BINS + 3 && values >= BATCH) {
        size_t max = values < PERIOD ? values : PERIOD, batches = max / BATCH;
        count_few_bins(plan, data, batches, tally);
        data += batches * BATCH * size;
        values -= batches * BATCH;
    }
    count_batches(plan, data, values, tally, paged);
}

/* --- numbers in text --- */

#define NEWLINE_LANES 64
#define NEWLINE_LANE_MAX 255 /* the most that a byte can count */

TARGET static uint64_t count_newlines(const struct record_text *whole)
{
    const unsigned char *text = whole->at;
    size_t len = (size_t)(whole->limit - text);
    uint64_t newlines = 0;
    while (len >= NEWLINE_LANES) {
        uint8_t lanes[NEWLINE_LANES] = {0};
        size_t rounds =
            len / NEWLINE_LANES < NEWLINE_LANE_MAX ? len / NEWLINE_LANES : NEWLINE_LANE_MAX;
        for (size_t round = 0; round < rounds; round++, text += NEWLINE_LANES)
            for (size_t i = 0; i < NEWLINE_LANES; i++)
                lanes[i] = (uint8_t)(lanes[i] + (text[i] == '\n'));
        for (size_t i = 0; i < NEWLINE_LANES; i++)
            newlines += lanes[i];
        len -= rounds * NEWLINE_LANES;
    }
    for (size_t i = 0; i < len; i++)
        newlines += text[i] == '\n';
    return newlines;
}

/* True if some of a batch are not numbers. Checks a quarter, which finds them if they are one in a
 * hundred; where they are fewer, to check all would cost more than it saves. */
TARGET INLINE bool meets_invalid(const union batch *batch)
{
    uint32_t invalid = 0;
    for (size_t i = 0; i < BATCH / 4; i++)
        invalid |= batch->doubles[i] != batch->doubles[i];
    return invalid;
}

/* Copies a batch, with one of its numbers, or 0, in place of what is not a number. */
TARGET static void copy_numbers(const union batch *batch, union batch *numbers)
{
    double number = 0;
    for (size_t i = 0; i < BATCH && number == 0; i++)
        number = batch->doubles[i] == batch->doubles[i] ? batch->doubles[i] : 0;
    for (size_t i = 0; i < BATCH; i++) {
        const double value = batch->doubles[i];
        numbers->doubles[i] = value == value ? value : number;
    }
}

/* Finds the rows of a batch of n numbers; zeros stand for those that are missing. Fast loops would
 * leave what is not a number to a slow one, so a number takes its place first. */
TARGET static void rows_of_tokens(const struct count_plan *plan, union batch *batch, size_t n,
                                  uint32_t *restrict rows)
{
    memset(batch->doubles + n, 0, (BATCH - n) * sizeof batch->doubles[0]);
    const uint32_t invalid = (uint32_t)ROW_INVALID(&plan->spec->binning);
    const bool is_mixed = meets_invalid(batch);
    union batch numbers;
    if (is_mixed)
        copy_numbers(batch, &numbers);
    rows_of_floats(plan, is_mixed ? &numbers : batch, rows, sizeof batch->doubles[0]);
    for (size_t i = 0; is_mixed && i < BATCH; i++)
        rows[i] = batch->doubles[i] == batch->doubles[i] ? rows[i] : invalid;
}

/* Adds what was rounded off the large numbers of a batch. */
static void add_large_numbers(struct line_reader *lines, size_t n, struct moments *moments)
{
    const struct listed_number *listed = line_reader_list(lines);
    struct large_numbers large = {.any = false};
    for (size_t i = 0; i < n; i++)
        if (listed[i].is_whole)
            large_numbers_add(&large, (double)listed[i].number, listed[i].number);
    moments_add_large(moments, &large);
}

/* Counts a batch, and marks its rows; in turns if they are close together, as in most columns. Adds
 * it to the moments if it was begun. */
TARGET static void count_rows_of_numbers(struct batch_state *state, struct turns *turns,
                                         struct tally *tally)
{
    const uint32_t *rows = state->rows;
    uint64_t *counts = tally->counts;
    uint32_t min = rows[0], max = rows[0];
    for (size_t i = 0; i < BATCH; i++) {
        min = rows[i] < min ? rows[i] : min;
        max = rows[i] > max ? rows[i] : max;
    }
    if (tally->blocks)
        row_blocks_mark_range(tally->blocks, min, max);
    if (max - min >= FEW_BINS) {
        count_rows(rows, BATCH, counts, NULL);
        batch_moments_end_all(&state->moments);
        return;
    }
    if (min < turns->base || max - turns->base >= FEW_BINS) {
        uint32_t space = (FEW_BINS - (max - min)) / 2;
        end_turns(turns, counts, tally->bins, min > space ? min - space : 0);
    }
    count_in_turns(turns, state);
}

/* Adds the values of a batch that are numbers to sums, or what these cannot take to moments. */
static void add_weighted_values(struct line_reader *lines, const struct line_batch *batch,
                                struct key_sums *sums, struct moments *moments)
{
    const double *values = batch->values;
    const struct listed_number *listed =
        has_large(values, batch->count) ? line_reader_list(lines) : NULL;
    for (size_t i = 0; i < batch->count; i++) {
        const uint64_t weight = batch->weights[i];
        if (weight == 0 || isnan(values[i]))
            continue;
        if (listed && listed[i].is_whole && fabs(values[i]) >= MOMENTS_LARGE)
            moments_add_rounded(moments, values[i], listed[i].number, weight);
        else if (!key_sums_add_times(sums, values[i], weight))
            moments_add_double(moments, values[i], weight);
    }
}

/* Counts numbers of records that have weights. */
static __attribute__((noinline)) void count_weighted_numbers(const struct count_plan *plan,
                                                             struct line_reader *lines,
                                                             struct tally *tally)
{
    union batch values;
    ALIGNED uint32_t rows[BATCH];
    struct key_span spans[1][BATCH];
    uint64_t weights[BATCH];
    struct line_batch batch = {.values = values.doubles, .keys = spans, .weights = weights};
    struct key_sums sums = {.moments = NULL};
    while (line_reader_next(lines, &batch)) {
        rows_of_tokens(plan, &values, batch.count, rows);
        for (size_t i = 0; i < batch.count; i++) {
            tally->counts[rows[i]] += weights[i];
            tally->samples += weights[i];
        }
        if (tally->moments)
            add_weighted_values(lines, &batch, &sums, tally->moments);
    }
    if (tally->moments)
        key_sums_add_to(&sums, tally->moments);
    key_sums_close(&sums);
}

_Static_assert(BATCH == LINES_MAX, "the memory of a batch");

/* Counts numbers by the keys of their records. */
static __attribute__((noinline)) void count_keyed_numbers(const struct count_plan *plan,
                                                          struct line_reader *lines,
                                                          struct keyed_counts *keyed)
{
    union batch values;
    ALIGNED uint32_t rows[BATCH];
    struct line_batch batch = {
        .values = values.doubles, .keys = keyed->spans, .weights = keyed->weights};
    while (line_reader_next(lines, &batch)) {
        rows_of_tokens(plan, &values, batch.count, rows);
        const bool is_large = plan->spec->has_moments && has_large(values.doubles, batch.count);
        keyed_count(keyed, &batch, rows, is_large ? line_reader_list(lines) : NULL);
    }
}

static void count_numbers(const struct count_plan *plan, struct line_reader *lines,
                          struct tally *tally, struct paged_counts *paged,
                          struct keyed_counts *keyed)
{
    tally->newlines += count_newlines(&lines->all);
    if (keyed) {
        count_keyed_numbers(plan, lines, keyed);
        return;
    }
    if (lines->spec->has_weight) {
        count_weighted_numbers(plan, lines, tally);
        return;
    }
    struct batch_state state;
    struct line_batch batch = {.values = state.values.doubles};
    struct turns turns = {0};
    bool has_turns = false;
    batch_moments_open(&state.moments, tally->moments);
    while (line_reader_next(lines, &batch)) {
        if (tally->moments)
            batch_moments_add(&state.moments, batch.values, batch.count);
        if (tally->moments && batch_moments_has_large(&state.moments, batch.values, batch.count))
            add_large_numbers(lines, batch.count, tally->moments);
        rows_of_tokens(plan, &state.values, batch.count, state.rows);
        tally->samples += batch.count;
        if (batch.count == BATCH && !paged) {
            count_rows_of_numbers(&state, &turns, tally);
            has_turns = true;
        } else {
            batch_moments_end_all(&state.moments);
            for (size_t i = 0; tally->blocks && i < batch.count; i++)
                row_blocks_mark(tally->blocks, state.rows[i]);
            count_rows(state.rows, batch.count, tally->counts, paged);
        }
    }
    if (has_turns)
        end_turns(&turns, tally->counts, plan->spec->bins, 0);
}
