/* SPDX-License-Identifier: MIT */
/* Counts numbers in text: a part of a file of kernels after count_values.h, for which it defines
 * the same. Gives count_numbers for the struct cpu_kernels. */
#include "src/tally/large_numbers.h"

#define NEWLINE_LANES 64
#define NEWLINE_LANE_MAX 255 /* the most that a byte can count */

TARGET static uint64_t count_newlines(const unsigned char *text, size_t len)
{
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

/* Finds the rows of a batch of tokens. Fast loops would leave what is not a number to a slow one,
 * so a number takes its place first. */
TARGET static void rows_of_tokens(const struct count_plan *plan, const union batch *batch,
                                  uint32_t *restrict rows)
{
    const uint32_t invalid = (uint32_t)ROW_INVALID(&plan->spec->binning);
    const bool is_mixed = meets_invalid(batch);
    union batch numbers;
    if (is_mixed)
        copy_numbers(batch, &numbers);
    rows_of_floats(plan, is_mixed ? &numbers : batch, rows, sizeof batch->doubles[0]);
    for (size_t i = 0; is_mixed && i < BATCH; i++)
        rows[i] = batch->doubles[i] == batch->doubles[i] ? rows[i] : invalid;
}

/* Finds the rows of the next numbers of the text, BATCH at most, and moves text->at. Returns how
 * many. Adds them to the moments, or begins with them: batch_moments_end must follow before the
 * next batch. */
TARGET static size_t find_rows_of_numbers(const struct count_plan *plan, struct record_text *text,
                                          struct batch_state *state)
{
    const unsigned char *begin = text->at;
    double *values = state->values.doubles;
    size_t n = fields_parse(plan->parser, &plan->field, text, values, BATCH);
    if (state->moments.moments && n > 0) {
        batch_moments_add(&state->moments, values, n);
        if (batch_moments_has_large(&state->moments, values, n))
            large_numbers_read(plan->parser, &plan->field,
                               (struct record_text){begin, begin, text->at},
                               state->moments.moments);
    }
    memset(values + n, 0, (BATCH - n) * sizeof values[0]);
    rows_of_tokens(plan, &state->values, state->rows);
    return n;
}

/* Counts a batch; in turns if its rows are close together, as in most columns. Adds it to the
 * moments if it was begun. */
TARGET static void count_rows_of_numbers(struct batch_state *state, struct turns *turns,
                                         uint64_t *counts, size_t bins)
{
    const uint32_t *rows = state->rows;
    uint32_t min = rows[0], max = rows[0];
    for (size_t i = 0; i < BATCH; i++) {
        min = rows[i] < min ? rows[i] : min;
        max = rows[i] > max ? rows[i] : max;
    }
    if (max - min >= FEW_BINS) {
        count_rows(rows, BATCH, counts, NULL);
        batch_moments_end_all(&state->moments);
        return;
    }
    if (min < turns->base || max - turns->base >= FEW_BINS) {
        uint32_t space = (FEW_BINS - (max - min)) / 2;
        end_turns(turns, counts, bins, min > space ? min - space : 0);
    }
    count_in_turns(turns, state);
}

static void count_numbers(const struct count_plan *plan, const unsigned char *data, size_t len,
                          struct tally *tally, struct paged_counts *paged)
{
    const size_t bins = plan->spec->bins;
    struct record_text text = {data, data, data + len};
    struct batch_state state;
    struct turns turns = {0};
    size_t numbers, whole_batches = 0;
    tally->newlines += count_newlines(data, len);
    batch_moments_open(&state.moments, tally->moments);
    while ((numbers = find_rows_of_numbers(plan, &text, &state)) == BATCH) {
        whole_batches++;
        if (paged) {
            batch_moments_end_all(&state.moments);
            paged_count(paged, state.rows, BATCH);
        } else {
            count_rows_of_numbers(&state, &turns, tally->counts, bins);
        }
    }
    count_rows(state.rows, numbers, tally->counts, paged);
    if (whole_batches > 0 && !paged)
        end_turns(&turns, tally->counts, bins, 0);
    tally->samples += whole_batches * BATCH + numbers;
}
