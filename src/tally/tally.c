/* SPDX-License-Identifier: MIT */
#include "tally.h"
#include "histogram_spec.h"
#include "src/bins/sums.h"

#include <stdlib.h>

#define READ_ROWS 1024 /* together, in a tally without blocks */
#define SHIFT_MIN 6    /* bits: 64 rows are 512 bytes of counts */

int tally_open(struct tally *tally, const struct histogram_spec *spec)
{
    const struct histogram_spec *also = spec->also;
    *tally = (struct tally){.bins = spec->bins, .channels = histogram_spec_channels(spec)};
    tally->counts = calloc(tally->bins, sizeof tally->counts[0]);
    if (spec->has_moments)
        tally->moments = calloc(tally->channels, sizeof *tally->moments);
    if (also)
        tally->also = calloc(1, sizeof *tally->also);
    if (tally->counts && (tally->moments || !spec->has_moments) &&
        (!also || (tally->also && tally_open(tally->also, also) == 0)))
        return 0;
    tally_close(tally);
    return -1;
}

void tally_close(struct tally *tally)
{
    if (tally->also)
        tally_close(tally->also);
    free(tally->also);
    free(tally->counts);
    free(tally->moments);
    *tally = (struct tally){0};
}

void tally_clear(struct tally *tally)
{
    tally->samples = tally->bytes = tally->newlines = 0;
    memset(tally->counts, 0, tally->bins * sizeof tally->counts[0]);
    if (tally->moments)
        memset(tally->moments, 0, tally->channels * sizeof *tally->moments);
    if (tally->also)
        tally_clear(tally->also);
}

void tally_clear_blocks(struct tally *tally)
{
    for (size_t row = 0, end; (row = tally_next_block(tally, row, &end)) < tally->bins; row = end)
        memset(tally->counts + row, 0, (end - row) * sizeof tally->counts[0]);
    row_blocks_clear(tally->blocks, tally->bins);
    tally->samples = 0;
    for (unsigned i = 0; tally->moments && i < tally->channels; i++)
        moments_clear(&tally->moments[i]);
}

void tally_add(struct tally *into, const struct tally *from)
{
    into->samples += from->samples;
    into->bytes += from->bytes;
    into->newlines += from->newlines;
    if (!from->blocks)
        into->blocks = NULL;
    for (size_t row = 0, end; (row = tally_next_block(from, row, &end)) < into->bins;) {
        if (into->blocks)
            row_blocks_mark(into->blocks, row);
        for (; row < end; row++)
            into->counts[row] += from->counts[row];
    }
    for (unsigned i = 0; from->moments && i < from->channels; i++)
        moments_merge(&into->moments[i], &from->moments[i]);
    if (from->also)
        tally_add(into->also, from->also);
}

struct tally tally_of_channel(const struct tally *tally, unsigned channel)
{
    const size_t rows = tally->bins / tally->channels;
    return (struct tally){
        .bins = rows,
        .samples = tally->samples / tally->channels,
        .counts = tally->counts + channel * rows,
        .moments = tally->moments ? &tally->moments[channel] : NULL,
        .channels = 1,
    };
}

/* --- blocks --- */

void row_blocks_clear(struct row_blocks *blocks, size_t rows)
{
    *blocks = (struct row_blocks){.shift = SHIFT_MIN};
    while ((rows - 1) >> blocks->shift >= ROW_BLOCKS)
        blocks->shift++;
}

/* Returns the first row from `row` on whose block is marked, or SIZE_MAX. */
static size_t next_marked(const struct row_blocks *blocks, size_t row)
{
    const size_t block = row >> blocks->shift;
    size_t word = block / 64;
    if (block >= ROW_BLOCKS)
        return SIZE_MAX;
    uint64_t marked = blocks->marked[word] >> block % 64 << block % 64;
    while (marked == 0 && ++word < ROW_BLOCKS / 64)
        marked = blocks->marked[word];
    if (marked == 0)
        return SIZE_MAX;
    const size_t next = (word * 64 + (size_t)__builtin_ctzll(marked)) << blocks->shift;
    return next > row ? next : row;
}

size_t tally_next_block(const struct tally *tally, size_t row, size_t *end)
{
    const size_t bins = tally->bins;
    if (tally->blocks)
        row = next_marked(tally->blocks, row);
    if (row >= bins)
        return bins;
    *end = tally->blocks ? row_blocks_end(tally->blocks, row) : row + READ_ROWS;
    *end = *end < bins ? *end : bins;
    return row;
}

/* --- rows --- */

/* Returns the first row of [row, end) whose count is not 0, or end. */
static inline size_t next_counted(const uint64_t *counts, size_t row, size_t end)
{
    for (; row + 8 <= end; row += 8) {
        const uint64_t *some = counts + row;
        if (some[0] | some[1] | some[2] | some[3] | some[4] | some[5] | some[6] | some[7])
            break;
    }
    while (row < end && counts[row] == 0)
        row++;
    return row;
}

size_t tally_next_counted(const struct tally *tally, size_t row)
{
    size_t end;
    while ((row = tally_next_block(tally, row, &end)) < tally->bins) {
        row = next_counted(tally->counts, row, end);
        if (row < end)
            return row;
    }
    return tally->bins;
}

uint64_t tally_sum(const struct tally *tally, size_t from, size_t to)
{
    uint64_t sum = 0;
    for (size_t row = from, end; (row = tally_next_block(tally, row, &end)) < to; row = end) {
        end = end < to ? end : to;
        for (; row < end; row++)
            sum += tally->counts[row];
    }
    return sum;
}

uint64_t tally_counted(const struct tally *tally)
{
    return tally_sum(tally, 0, tally->bins);
}

void tally_seen_decades(const struct tally *tally, const struct histogram_spec *spec,
                        struct row_range seen[2])
{
    const struct binning *binning = &spec->binning;
    const size_t others = binning->is_whole ? 1 : 3;           /* zero, and what is next to it */
    const size_t above = binning->bins - binning->decade_bins; /* bins up to these */
    seen[0] = seen[1] = (struct row_range){0, 0};
    if (binning->decade_bins == 0)
        return;
    for (size_t at = 0; (at = tally_next_counted(tally, at)) < tally->bins; at++) {
        const size_t row = at % ROWS(binning);
        struct row_range *range = &seen[row > above];
        if (row < 1 || row > binning->bins || (row > above - others && row <= above))
            continue;
        range->begin = range->end == 0 || row < range->begin ? row : range->begin;
        range->end = row + 1 > range->end ? row + 1 : range->end;
    }
}

void tally_skip_invalid(struct tally *tally, const struct histogram_spec *spec)
{
    for (size_t row = 0; (row = tally_next_counted(tally, row)) < tally->bins; row++)
        if (histogram_spec_row_kind(spec, row) == ROW_KIND_INVALID) {
            tally->samples -= tally->counts[row];
            tally->counts[row] = 0;
        }
}

bool tally_adds_up(const struct tally *tally, const struct histogram_spec *spec)
{
    return histogram_spec_adds_up(spec, tally_counted(tally), tally->samples);
}
