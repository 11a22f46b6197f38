/* SPDX-License-Identifier: MIT */
/* Values and numbers, for any vectors that the compiler finds a use for: the body of a counter's
 * file. That file defines first
 *     TARGET      the attribute of functions that use its instructions, or nothing
 *     INLINE      what functions are declared with that must be inlined
 *     OWN(name)   the name with the counter's in front
 * and gets OWN(count_values) and OWN(count_numbers) for its struct counter.
 *
 * A batch of values becomes a batch of rows in loops without a branch, one for each type; the rows
 * are then counted one by one. Which loop it is says the plan of src/count/row_plan.h. */
#include "count.h"
#include "field_parser.h"
#include "large_numbers.h"

#include <string.h>

/* Values at a time: their rows stay in the L1 cache. */
#define BATCH 1024

/* Few bins have four tables that take turns, so that neighbours that are alike do not wait for each
 * other; these are added up after so many values, which repays it. */
#define FEW_BINS 1024
#define TURNS 4
#define PERIOD ((size_t)64 * BATCH)

/* --- values --- */

/* Bytes of the longest vectors, and of a line of the cache. Whether arrays begin with a line must
 * not depend on what else is on the stack: a vector in two lines takes twice as long. */
#define ALIGNED _Alignas(64)

/* A batch where it is aligned, and in this machine's byte order: what a vectorizer understands. */
union batch {
    ALIGNED unsigned char bytes[BATCH * 8];
    uint16_t bits16[BATCH];
    uint32_t bits32[BATCH];
    uint64_t bits64[BATCH];
    float singles[BATCH];
    double doubles[BATCH];
};

/* Value i; size and kind are constants wherever it is used. */
TARGET INLINE uint64_t whole_at(const union batch *batch, size_t i, size_t size, char kind)
{
    if (size == 2)
        return kind == 'i' ? (uint64_t)(int16_t)batch->bits16[i] : batch->bits16[i];
    if (size == 4)
        return kind == 'i' ? (uint64_t)(int32_t)batch->bits32[i] : batch->bits32[i];
    return batch->bits64[i];
}

TARGET INLINE double double_at(const union batch *batch, size_t i, size_t size)
{
    return size == 4 ? (double)batch->singles[i] : batch->doubles[i];
}

TARGET INLINE uint64_t double_bits_at(const union batch *batch, size_t i, size_t size)
{
    const double value = double_at(batch, i, size);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

TARGET INLINE void swap_bytes(union batch *batch, size_t size)
{
    for (size_t i = 0; i < BATCH; i++)
        if (size == 2)
            batch->bits16[i] = __builtin_bswap16(batch->bits16[i]);
        else if (size == 4)
            batch->bits32[i] = __builtin_bswap32(batch->bits32[i]);
        else
            batch->bits64[i] = __builtin_bswap64(batch->bits64[i]);
}

/* Values of 3 bytes, as many as there are, in whole words of this machine's byte order, with their
 * sign; zeros stand for those that are missing. */
TARGET INLINE void widen_3_bytes(const struct value_type *type, const unsigned char *data,
                                 size_t values, union batch *batch)
{
    const size_t low = type->big_endian ? 2 : 0, high = 2 - low;
    const uint32_t sign = type->kind == 'i' ? (uint32_t)1 << 23 : 0;
    for (size_t i = 0; i < values; i++, data += 3) {
        uint32_t bits = data[low] | (uint32_t)data[1] << 8 | (uint32_t)data[high] << 16;
        batch->bits32[i] = (bits ^ sign) - sign;
    }
    memset(batch->bits32 + values, 0, (BATCH - values) * sizeof batch->bits32[0]);
}

/* Counts eight rows. How fast a loop over single ones is depends on where its code happens to lie.
 */
TARGET INLINE void count_eight(const uint32_t *rows, uint64_t *counts)
{
    counts[rows[0]]++;
    counts[rows[1]]++;
    counts[rows[2]]++;
    counts[rows[3]]++;
    counts[rows[4]]++;
    counts[rows[5]]++;
    counts[rows[6]]++;
    counts[rows[7]]++;
}

#include "batch_moments.h"

/* --- rows --- */

/* Equal bins of values of up to 32 bits between edges of as many, by offsets of 32 bits. */
TARGET INLINE void rows_by_32_bits(const struct binning *binning, const union batch *batch,
                                   uint32_t *restrict rows, size_t size, char kind)
{
    const uint32_t first = (uint32_t)binning->first, last = (uint32_t)(binning->span - 1);
    const uint64_t high = binning->reciprocal >> 32, low = (uint32_t)binning->reciprocal;
    const uint32_t above = (uint32_t)ROW_ABOVE(binning), own = binning->reciprocal == 0;
    for (size_t i = 0; i < BATCH; i++) {
        uint32_t value = (uint32_t)whole_at(batch, i, size, kind), offset = value - first;
        uint32_t bin = (uint32_t)((offset * high + (offset * low >> 32)) >> 32);
        bool below = kind == 'i' ? (int32_t)value < (int32_t)first : value < first;
        uint32_t outside = below ? ROW_BELOW : above;
        rows[i] = offset > last ? outside : 1 + (own ? offset : bin);
    }
}

/* Equal bins of values of any size, by offsets of 64 bits. */
TARGET INLINE void rows_by_64_bits(const struct binning *binning, const union batch *batch,
                                   uint32_t *restrict rows, size_t size, char kind)
{
    const struct binning copy = *binning; /* which rows cannot point into */
    const uint64_t first = (uint64_t)copy.first, last = (uint64_t)(copy.span - 1);
    const uint32_t above = (uint32_t)ROW_ABOVE(binning);
    for (size_t i = 0; i < BATCH; i++) {
        uint64_t value = whole_at(batch, i, size, kind), offset = value - first;
        uint64_t bin = copy.reciprocal ? binning_of_offset(&copy, offset) : offset;
        bool below = kind == 'i' ? (int64_t)value < (int64_t)first : value < first;
        uint32_t outside = below ? ROW_BELOW : above;
        rows[i] = offset <= last ? 1 + (uint32_t)bin : outside;
    }
}

/* Bins that no other way serves, a value at a time. */
TARGET INLINE void rows_one_by_one(const struct binning *binning, const union batch *batch,
                                   uint32_t *restrict rows, size_t size, char kind)
{
    for (size_t i = 0; i < BATCH; i++) {
        if (kind == 'f') {
            rows[i] = (uint32_t)binning_row(binning, double_at(batch, i, size));
            continue;
        }
        uint64_t value = whole_at(batch, i, size, kind);
        whole number = kind == 'i' ? (whole)(int64_t)value : (whole)value;
        rows[i] = (uint32_t)binning_row_whole(binning, number);
    }
}

/* With fewer edges than this it is quicker to compare with all of them than to search. */
#define FEW_EDGES 32

/* Bins of doubles between few edges: the row is how many edges are not above the value. */
TARGET INLINE void rows_by_edges(const struct binning *binning, const union batch *batch,
                                 uint32_t *restrict rows)
{
    const uint32_t invalid = (uint32_t)ROW_INVALID(binning);
    memset(rows, 0, BATCH * sizeof rows[0]);
    for (size_t k = 0; k <= binning->bins; k++) {
        const double edge = binning->edges[k];
        for (size_t i = 0; i < BATCH; i++)
            rows[i] += batch->doubles[i] >= edge;
    }
    for (size_t i = 0; i < BATCH; i++)
        rows[i] = batch->doubles[i] == batch->doubles[i] ? rows[i] : invalid;
}

#define NOT_PROVEN UINT32_MAX

/* Equal bins of doubles, as binning_row finds them; guesses that were wrong are left to it. */
TARGET INLINE void rows_of_doubles(const struct binning *binning, const union batch *batch,
                                   uint32_t *restrict rows, size_t size)
{
    const double min = binning->min, max = binning->max, step = binning->step;
    const double per_step = binning->per_step, bins = (double)binning->bins;
    const uint32_t above = (uint32_t)ROW_ABOVE(binning), invalid = (uint32_t)ROW_INVALID(binning);
    uint32_t wrong = 0;
    for (size_t i = 0; i < BATCH; i++) {
        double value = double_at(batch, i, size), guess = (value - min) * per_step;
        guess = guess > 0 ? guess : 0; /* also instead of NaN */
        guess = guess < bins - 1 ? guess : bins - 1;
        int32_t bin = (int32_t)guess;
        double from = (double)bin * step + min, to = (double)(bin + 1) * step + min;
        to = bin + 1 < (int32_t)binning->bins ? to : max;
        uint32_t row = value >= from && value < to ? (uint32_t)bin + 1 : NOT_PROVEN;
        row = value < min ? ROW_BELOW : row;
        row = value >= max ? above : row;
        rows[i] = value == value ? row : invalid;
        wrong |= rows[i] == NOT_PROVEN;
    }
    for (size_t i = 0; wrong && i < BATCH; i++)
        if (rows[i] == NOT_PROVEN)
            rows[i] = (uint32_t)binning_row(binning, double_at(batch, i, size));
}

/* Log-linear bins of doubles, nearly all of which are not negative. */
TARGET INLINE void rows_log_linear(const union batch *batch, uint32_t *restrict rows)
{
    const uint64_t infinity = (uint64_t)0x7ff << 52, first = ROW_ABOVE_ZERO;
    uint64_t others = 0;
    for (size_t i = 0; i < BATCH; i++) {
        uint64_t bits = batch->bits64[i];
        rows[i] = (uint32_t)(first + (bits >> LOG_LINEAR_SHIFT) - (bits == 0));
        others |= bits > infinity;
    }
    for (size_t i = 0; others && i < BATCH; i++)
        rows[i] = binning_row_log_linear(batch->doubles[i]);
}

/* Bins of decimal digits, of doubles that are neither very small nor very large, and of zeros; the
 * shift is that of the layout. Whether there are no others, which get NOT_PROVEN.
 *
 * The middle between a value and the next, times 64 bits of the scale, is exact if that is a power
 * of ten with a positive exponent. Otherwise it is a quotient that was rounded up, and middles are
 * so few bits long that none comes to the next whole number by that. */
TARGET INLINE bool rows_by_steps(const struct digits_layout *layout, const union batch *batch,
                                 uint32_t *restrict rows, size_t size, uint32_t shift,
                                 bool with_signs)
{
    const uint64_t least = (uint64_t)(1023 + DIGITS_STEP_FIRST);
    const unsigned unit = size == 4 ? 29 : 0; /* the last bit of a float, as a double */
    const uint64_t beyond = UINT64_C(1) << 63 | UINT64_C(1) << (unit + 10); /* what is not stored */
    const uint32_t side = DIGITS_SIDE(layout->per_decade), mirror = 2 * side + 4;
    const struct digits_step *const steps = layout->steps;
    uint32_t all = 0;
    for (size_t i = 0; i < BATCH; i++) {
        if (!with_signs && i % 64 == 0 && all > NOT_PROVEN / 2)
            return false; /* as soon as there is a sign, the other loop is faster */
        const uint64_t bits = double_bits_at(batch, i, size),
                       negative = with_signs ? bits >> 63 : 0;
        const uint64_t magnitude = with_signs ? (bits & INT64_MAX) - (negative << unit) : bits;
        const uint64_t exponent = (magnitude >> 52) - least;
        const struct digits_step *const step =
            &steps[exponent < DIGITS_STEPS ? exponent : DIGITS_STEPS];
        const bool next = magnitude >= step->next;
        uint64_t unused;
        const uint64_t product =
            number_product(magnitude << 11 | beyond, step->scale[next], &unused);
        uint32_t row = step->row[next] + (uint32_t)(product >> shift);
        row = bits << with_signs == 0 ? side + 2 : row; /* without its sign */
        all |= row;
        const uint32_t sign = 0 - (uint32_t)negative; /* mirror - row is mirror + 1 + ~row */
        rows[i] = with_signs ? (row ^ sign) + (sign & (mirror + 1)) : row;
    }
    return all <= NOT_PROVEN / 2;
}

/* Bins of decimal digits. */
TARGET INLINE void rows_of_digits(const struct binning *binning, const union batch *batch,
                                  uint32_t *restrict rows, size_t size)
{
    const struct digits_layout layout = binning->digits; /* which rows cannot point into */
    const uint32_t shift = layout.shift, usual = 53;     /* of DIGITS_DEFAULT */
#ifdef QUICK_DIGITS
    if (size == 8 && QUICK_DIGITS(&layout, batch->doubles, rows))
        return;
#endif
    if ((shift == usual ? rows_by_steps(&layout, batch, rows, size, usual, false)
                        : rows_by_steps(&layout, batch, rows, size, shift, false)) ||
        rows_by_steps(&layout, batch, rows, size, shift, true))
        return;
    for (size_t i = 0; i < BATCH; i++)
        /* What was not proven may have been mirrored, to the row of NaN. */
        if (rows[i] == NOT_PROVEN || rows[i] == ROW_INVALID(binning))
            rows[i] = digits_row(&layout, double_bits_at(batch, i, size));
}

/* --- the rows of a batch --- */

TARGET INLINE void rows_of_wholes(const struct count_plan *plan, const union batch *batch,
                                  uint32_t *rows, size_t size, char kind)
{
    /* The loops compare values as their type does. */
    const struct binning *binning = &plan->histogram->binning;
    const struct row_plan *by = &plan->rows;
    bool by_offset = by->way == PLAN_OFFSETS && by->is_signed == (kind == 'i');
    if (by_offset && by->bits == 32 && size <= 4)
        rows_by_32_bits(binning, batch, rows, size, kind);
    else if (by_offset && by->bits == 64)
        rows_by_64_bits(binning, batch, rows, size, kind);
    else
        rows_one_by_one(binning, batch, rows, size, kind);
}

TARGET INLINE void rows_of_floats(const struct count_plan *plan, const union batch *batch,
                                  uint32_t *rows, size_t size)
{
    const struct binning *binning = &plan->histogram->binning;
    const enum row_plan_way way = plan->rows.way;
    if (way == PLAN_EQUAL_DOUBLES)
        rows_of_doubles(binning, batch, rows, size);
    else if (way == PLAN_DOUBLE_EDGES && size == 8 && binning->bins < FEW_EDGES)
        rows_by_edges(binning, batch, rows);
    else if (way == PLAN_LOG_LINEAR && size == 8)
        rows_log_linear(batch, rows);
    else if (way == PLAN_DIGITS)
        rows_of_digits(binning, batch, rows, size);
    else
        rows_one_by_one(binning, batch, rows, size, 'f');
}

/* The rows of a batch of values of so many bytes. Those of a narrower type were widened. Adds the
 * first `values` to moments, if there are any, or begins with them. */
TARGET INLINE void rows_of_size(const struct count_plan *plan, union batch *batch, uint32_t *rows,
                                size_t size, struct batch_moments *moments, size_t values)
{
    const struct value_type *type = &plan->histogram->type;
    bool swapped = type->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    if (swapped && type->size == size)
        swap_bytes(batch, size);
    if (moments->moments)
        add_value_moments(moments, type, batch, values, size);
    if (type->kind == 'f')
        rows_of_floats(plan, batch, rows, size);
    else if (type->kind == 'i')
        rows_of_wholes(plan, batch, rows, size, 'i');
    else
        rows_of_wholes(plan, batch, rows, size, 'u');
}

/* The rows of the values at data, BATCH at most; zeros stand for those that are missing. Adds the
 * values to moments, if there are any, or begins with them: batch_moments_end must follow while
 * `batch` is there, which becomes the values. */
TARGET static void find_rows(const struct count_plan *plan, const unsigned char *data,
                             size_t values, union batch *batch, uint32_t *rows,
                             struct batch_moments *moments)
{
    size_t size = plan->histogram->type.size;
    if (size == 3) {
        widen_3_bytes(&plan->histogram->type, data, values, batch);
    } else {
        memcpy(batch->bytes, data, values * size);
        memset(batch->bytes + values * size, 0, (BATCH - values) * size);
    }
    if (size == 2)
        rows_of_size(plan, batch, rows, 2, moments, values);
    else if (size <= 4)
        rows_of_size(plan, batch, rows, 4, moments, values);
    else
        rows_of_size(plan, batch, rows, 8, moments, values);
}

/* --- counting --- */

/* Counts a batch, and adds up the one whose moments were begun. */
TARGET static void count_and_add_up(const uint32_t rows[BATCH], uint64_t *counts,
                                    struct batch_moments *moments)
{
    for (size_t i = 0; i < BATCH; i += PARTS_BLOCK)
        parts_add_block(&moments->parts, moments->values + i, rows + i, counts);
    batch_moments_end(moments);
}

TARGET static void count_many_bins(const struct count_plan *plan, const unsigned char *data,
                                   size_t batches, struct tally *tally)
{
    uint64_t *counts = tally->counts;
    union batch batch;
    struct batch_moments moments;
    ALIGNED uint32_t rows[BATCH];
    batch_moments_open(&moments, tally->moments);
    for (; batches; batches--, data += BATCH * plan->histogram->type.size) {
        find_rows(plan, data, BATCH, &batch, rows, &moments);
        if (moments.values)
            count_and_add_up(rows, counts, &moments);
        else
            for (size_t i = 0; i < BATCH; i += 8)
                count_eight(rows + i, counts);
    }
}

/* Tables that take turns, for FEW_BINS + 3 rows from `base` on. */
struct turns {
    uint32_t base;
    uint32_t tables[TURNS][FEW_BINS + 3];
};

/* Counts a batch, and adds up the one whose moments were begun. */
TARGET INLINE void count_in_turns(struct turns *turns, const uint32_t rows[BATCH],
                                  struct batch_moments *moments)
{
    const uint32_t base = turns->base;
    for (size_t block = 0; block < BATCH; block += PARTS_BLOCK) {
        batch_moments_block(moments, block);
        for (size_t i = block; i < block + PARTS_BLOCK; i += TURNS) {
            turns->tables[0][rows[i] - base]++;
            turns->tables[1][rows[i + 1] - base]++;
            turns->tables[2][rows[i + 2] - base]++;
            turns->tables[3][rows[i + 3] - base]++;
        }
    }
    batch_moments_end(moments);
}

/* Adds what was counted to counts, of `bins` entries, and begins anew from another base. */
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
    union batch batch;
    struct batch_moments moments;
    ALIGNED uint32_t rows[BATCH];
    struct turns turns = {0};
    batch_moments_open(&moments, tally->moments);
    for (; batches; batches--, data += BATCH * plan->histogram->type.size) {
        find_rows(plan, data, BATCH, &batch, rows, &moments);
        count_in_turns(&turns, rows, &moments);
    }
    end_turns(&turns, tally->counts, plan->histogram->bins, 0);
}

/* Channels take turns, and a batch begins with the first one. Without moments. */
static void count_channels(const struct count_plan *plan, const unsigned char *data, size_t values,
                           struct tally *tally, struct paged_counts *paged)
{
    const struct histogram *histogram = plan->histogram;
    const size_t channels = histogram->channels, most = BATCH - BATCH % channels;
    union batch batch;
    struct batch_moments moments;
    ALIGNED uint32_t rows[BATCH], first[BATCH];
    const uint32_t each = (uint32_t)histogram_rows(histogram);
    for (size_t i = 0; i < most; i++)
        first[i] = (uint32_t)(i % channels) * each;
    batch_moments_open(&moments, NULL);
    while (values > 0) {
        size_t now = values < most ? values : most;
        find_rows(plan, data, now, &batch, rows, &moments);
        for (size_t i = 0; i < now; i++)
            rows[i] += first[i];
        if (paged)
            paged_count(paged, rows, now);
        for (size_t i = 0; !paged && i < now; i++)
            tally->counts[rows[i]]++;
        tally->samples += now;
        data += now * histogram->type.size;
        values -= now;
    }
}

/* Copies n values of so many bytes, of which one stands every `step` bytes; the size is a constant.
 */
TARGET INLINE void gather_size(const unsigned char *data, size_t step, size_t n,
                               unsigned char *restrict values, size_t size)
{
    for (size_t i = 0; i < n; i++)
        memcpy(values + i * size, data + i * step, size);
}

/* Copies n values of a channel. */
TARGET static void gather_channel(const struct histogram *histogram, const unsigned char *data,
                                  size_t n, unsigned char *values)
{
    const size_t size = histogram->type.size, step = histogram->channels * size;
    if (size == 2)
        gather_size(data, step, n, values, 2);
    else if (size == 3)
        gather_size(data, step, n, values, 3);
    else if (size == 4)
        gather_size(data, step, n, values, 4);
    else
        gather_size(data, step, n, values, 8);
}

/* The same with moments, which take a batch of each channel. */
static void count_channels_apart(const struct count_plan *plan, const unsigned char *data,
                                 size_t values, struct tally *tally, struct paged_counts *paged)
{
    const struct histogram *histogram = plan->histogram;
    const size_t channels = histogram->channels, size = histogram->type.size;
    const uint32_t each = (uint32_t)histogram_rows(histogram);
    unsigned char gathered[BATCH * 8];
    union batch batch;
    struct batch_moments moments;
    ALIGNED uint32_t rows[BATCH];
    tally->samples += values;
    for (size_t left = values / channels, now; left > 0; left -= now) {
        now = left < BATCH ? left : BATCH;
        for (size_t channel = 0; channel < channels; channel++) {
            gather_channel(histogram, data + channel * size, now, gathered);
            batch_moments_open(&moments, &tally->moments[channel]);
            find_rows(plan, gathered, now, &batch, rows, &moments);
            batch_moments_end_all(&moments);
            for (size_t i = 0; i < now; i++)
                rows[i] += (uint32_t)channel * each;
            if (paged)
                paged_count(paged, rows, now);
            for (size_t i = 0; !paged && i < now; i++)
                tally->counts[rows[i]]++;
        }
        data += now * channels * size;
    }
}

static void count_values_in_pages(const struct count_plan *plan, const unsigned char *data,
                                  size_t values, struct tally *tally, struct paged_counts *paged)
{
    union batch batch;
    struct batch_moments moments;
    ALIGNED uint32_t rows[BATCH];
    batch_moments_open(&moments, tally->moments);
    tally->samples += values;
    for (size_t now; values > 0; values -= now, data += now * plan->histogram->type.size) {
        now = values < BATCH ? values : BATCH;
        find_rows(plan, data, now, &batch, rows, &moments);
        batch_moments_end_all(&moments);
        paged_count(paged, rows, now);
    }
}

/* Counts fewer values than a batch has. */
static void count_last_values(const struct count_plan *plan, const unsigned char *data,
                              size_t values, struct tally *tally)
{
    union batch batch;
    struct batch_moments moments;
    ALIGNED uint32_t rows[BATCH];
    batch_moments_open(&moments, tally->moments);
    find_rows(plan, data, values, &batch, rows, &moments);
    for (size_t i = 0; i < values; i++)
        tally->counts[rows[i]]++;
}

static void OWN(count_values)(const struct count_plan *plan, const unsigned char *data, size_t len,
                              struct tally *tally, struct paged_counts *paged)
{
    const struct histogram *histogram = plan->histogram;
    size_t size = histogram->type.size, values = len / size;
    bool few = histogram->bins <= FEW_BINS + 3;
    if (histogram->channels > 1) {
        if (tally->moments)
            count_channels_apart(plan, data, values, tally, paged);
        else
            count_channels(plan, data, values, tally, paged);
        return;
    }
    if (paged) {
        count_values_in_pages(plan, data, values, tally, paged);
        return;
    }
    while (values >= BATCH) {
        size_t most = values < PERIOD ? values : PERIOD, batches = most / BATCH;
        if (few)
            count_few_bins(plan, data, batches, tally);
        else
            count_many_bins(plan, data, batches, tally);
        data += batches * BATCH * size;
        values -= batches * BATCH;
    }
    if (values)
        count_last_values(plan, data, values, tally);
    tally->samples += len / size;
}

/* --- numbers in text --- */

#define LANES 64
#define LANE_MOST 255 /* what a byte can count */

TARGET static uint64_t count_newlines(const unsigned char *text, size_t len)
{
    uint64_t newlines = 0;
    while (len >= LANES) {
        uint8_t lanes[LANES] = {0};
        size_t rounds = len / LANES < LANE_MOST ? len / LANES : LANE_MOST;
        for (size_t round = 0; round < rounds; round++, text += LANES)
            for (size_t i = 0; i < LANES; i++)
                lanes[i] = (uint8_t)(lanes[i] + (text[i] == '\n'));
        for (size_t i = 0; i < LANES; i++)
            newlines += lanes[i];
        len -= rounds * LANES;
    }
    for (size_t i = 0; i < len; i++)
        newlines += text[i] == '\n';
    return newlines;
}

/* Whether some of a batch are not numbers. Only a part is looked at, which finds them if they are
 * as many as one in a hundred; looking at all would cost more than it saves where they are fewer.
 */
TARGET INLINE bool meets_invalid(const union batch *batch)
{
    uint32_t invalid = 0;
    for (size_t i = 0; i < BATCH / 4; i++)
        invalid |= batch->doubles[i] != batch->doubles[i];
    return invalid;
}

/* Copies a batch, with one of its numbers, or 0, instead of what is none. */
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

/* The rows of a batch of tokens. What makes rows quickly would leave what is not a number to be
 * done by itself, so that has a number's row first. */
TARGET static void rows_of_tokens(const struct count_plan *plan, const union batch *batch,
                                  uint32_t *restrict rows)
{
    const uint32_t invalid = (uint32_t)ROW_INVALID(&plan->histogram->binning);
    const bool is_mixed = meets_invalid(batch);
    union batch numbers;
    if (is_mixed)
        copy_numbers(batch, &numbers);
    rows_of_floats(plan, is_mixed ? &numbers : batch, rows, sizeof batch->doubles[0]);
    for (size_t i = 0; is_mixed && i < BATCH; i++)
        rows[i] = batch->doubles[i] == batch->doubles[i] ? rows[i] : invalid;
}

/* The rows of the next numbers of the text, BATCH at most. How many; *used is set to the bytes.
 * Adds them to moments, if there are any, or begins with them: batch_moments_end must follow while
 * `batch` is there, which becomes the numbers. */
TARGET static size_t find_rows_of_numbers(const struct count_plan *plan, const unsigned char *text,
                                          size_t len, union batch *batch, uint32_t *rows,
                                          size_t *used, struct batch_moments *moments)
{
    size_t numbers =
        fields_parse(plan->parser, &plan->field, text, len, batch->doubles, BATCH, used);
    if (moments->moments && numbers > 0) {
        batch_moments_add(moments, batch->doubles, numbers);
        if (batch_moments_has_large(moments, batch->doubles, numbers))
            large_numbers_read(plan->parser, &plan->field, text, *used, moments->moments);
    }
    memset(batch->doubles + numbers, 0, (BATCH - numbers) * sizeof batch->doubles[0]);
    rows_of_tokens(plan, batch, rows);
    return numbers;
}

/* Counts a batch; in turns if its rows are close together, as they are in most columns. Adds up the
 * one whose moments were begun. */
TARGET static void count_rows(const uint32_t rows[BATCH], struct turns *turns, uint64_t *counts,
                              size_t bins, struct batch_moments *moments)
{
    uint32_t least = rows[0], most = rows[0];
    for (size_t i = 0; i < BATCH; i++) {
        least = rows[i] < least ? rows[i] : least;
        most = rows[i] > most ? rows[i] : most;
    }
    if (most - least >= FEW_BINS) {
        for (size_t i = 0; i < BATCH; i++)
            counts[rows[i]]++;
        batch_moments_end_all(moments);
        return;
    }
    if (least < turns->base || most - turns->base >= FEW_BINS) {
        uint32_t room = (FEW_BINS - (most - least)) / 2;
        end_turns(turns, counts, bins, least > room ? least - room : 0);
    }
    count_in_turns(turns, rows, moments);
}

static void count_numbers_in_pages(const struct count_plan *plan, const unsigned char *text,
                                   size_t len, struct tally *tally, struct paged_counts *paged)
{
    union batch batch;
    struct batch_moments moments;
    ALIGNED uint32_t rows[BATCH];
    size_t numbers, used;
    batch_moments_open(&moments, tally->moments);
    do {
        numbers = find_rows_of_numbers(plan, text, len, &batch, rows, &used, &moments);
        batch_moments_end_all(&moments);
        paged_count(paged, rows, numbers);
        tally->samples += numbers;
        text += used;
        len -= used;
    } while (numbers == BATCH);
}

static void OWN(count_numbers)(const struct count_plan *plan, const unsigned char *text, size_t len,
                               struct tally *tally, struct paged_counts *paged)
{
    uint64_t *counts = tally->counts;
    union batch batch;
    struct batch_moments moments;
    ALIGNED uint32_t rows[BATCH];
    struct turns turns = {0};
    uint64_t sum = 0;
    size_t numbers, used;
    tally->newlines += count_newlines(text, len);
    if (paged) {
        count_numbers_in_pages(plan, text, len, tally, paged);
        return;
    }
    batch_moments_open(&moments, tally->moments);
    for (;; text += used, len -= used) {
        numbers = find_rows_of_numbers(plan, text, len, &batch, rows, &used, &moments);
        sum += numbers;
        if (numbers < BATCH)
            break;
        count_rows(rows, &turns, counts, plan->histogram->bins, &moments);
    }
    for (size_t i = 0; i < numbers; i++)
        counts[rows[i]]++;
    if (sum > numbers)
        end_turns(&turns, counts, plan->histogram->bins, 0);
    tally->samples += sum;
}
